//! Results of a run beside its meshes: history, pictures, page and `report.json`.

pub mod history;
mod json;
pub mod page;
pub mod plot;

use std::path::{Path, PathBuf};

pub use self::json::{GridReport, LinearReport, NewtonReport, Report, Timing, write_json};
use self::plot::{ConvergenceFigure, GridFigure, QualityFigure};
use crate::files::{IoError, atomic};
use crate::formats::plot3d::{self, Dimensions, Flavour};
use crate::formats::span::Span;
use crate::formats::{FileKind, cgns, nmf, openfoam, su2, vtk, vts};
use crate::grid::Grid;
use crate::grid::quality::{Quality, nonorthogonality};
use crate::solver::history::History;

/// What a run has to write besides its report.
#[derive(Debug, Clone, Copy)]
pub struct Artifacts<'a> {
    /// Name of the case, the title of the pictures.
    pub name: &'a str,
    /// The grid.
    pub grid: &'a Grid,
    /// Its quality.
    pub quality: &'a Quality,
    /// The Newton steps.
    pub history: &'a History,
    /// Newton residual below which the solve has converged.
    pub tolerance: f64,
    /// Whether the grid converged and passed the quality gate.
    pub good: bool,
    /// How the grid goes on in the third dimension; none where it is plane.
    pub span: Option<Span>,
    /// Layout of `Plot3D` files; the kind of file decides on the dimensions.
    pub plot3d: plot3d::Flavour,
    /// Compression of `mesh.vts`.
    pub compression: vts::Compression,
    /// What the force coefficients of an OpenFOAM case refer to.
    pub reference: openfoam::Reference,
}

/// Writes files of the given kinds into `folder`, which is created unless it exists, and returns
/// their paths in the same order. Files of the same names are replaced: where there may be some that
/// are not to be lost, write into [`crate::files::output::Output::files`].
///
/// # Errors
///
/// [`IoError`] of the first file that cannot be written; those before it stay.
pub fn write_all(
    folder: &Path,
    artifacts: &Artifacts<'_>,
    kinds: &[FileKind],
) -> Result<Vec<PathBuf>, IoError> {
    atomic::create_folder(folder)?;
    kinds
        .iter()
        .map(|&kind| {
            let path = folder.join(kind.file_name(artifacts.good));
            write_one(&path, artifacts, kind)?;
            Ok(path)
        })
        .collect()
}

fn write_one(path: &Path, artifacts: &Artifacts<'_>, kind: FileKind) -> Result<(), IoError> {
    let &Artifacts { name, grid, quality, history, tolerance, good, span, .. } = artifacts;
    let &Artifacts { plot3d: flavour, compression, reference, .. } = artifacts;
    let grid_figure = GridFigure { name, grid, quality, good };
    let maps = |write: fn(&Path, &QualityFigure<'_>) -> Result<(), IoError>| {
        let nonorthogonality = &nonorthogonality(grid);
        write(path, &QualityFigure { grid: grid_figure, nonorthogonality })
    };
    match kind {
        FileKind::Vts => vts::write(path, grid, span, compression),
        FileKind::Vtk => vtk::write(path, grid, span),
        FileKind::Plot3d => {
            plot3d::write(path, grid, span, Flavour { dimensions: Dimensions::Three, ..flavour })
        }
        FileKind::Plot3dPlanar => {
            plot3d::write(path, grid, None, Flavour { dimensions: Dimensions::Two, ..flavour })
        }
        FileKind::Nmf => nmf::write(path, grid, span, flavour.axes),
        FileKind::Su2 => su2::write(path, grid, span),
        FileKind::Openfoam => openfoam::make(path, grid, span, reference),
        FileKind::Cgns => cgns::write(path, grid, span),
        FileKind::HistoryCsv => history::write_csv(path, history),
        FileKind::ConvergenceSvg => {
            plot::write_convergence_svg(path, &ConvergenceFigure { name, history, tolerance })
        }
        FileKind::GridSvg => plot::write_grid_svg(path, &grid_figure),
        FileKind::GridPng => plot::write_grid_png(path, &grid_figure),
        FileKind::QualitySvg => maps(plot::write_quality_svg),
        FileKind::QualityPng => maps(plot::write_quality_png),
    }
}
