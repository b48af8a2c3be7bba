//! Results on disk: meshes, history, pictures and the report. Takes finished data.
//!
//! Every file is written under a temporary name and renamed when it is complete
//! ([`atomic::write`]); the files of a run replace those of the last one together
//! ([`output::Output`]). A grid that is not good says so in the names of its files
//! ([`FileKind::file_name`]).

pub mod atomic;
pub mod cgns;
mod contents;
mod error;
pub mod folder;
pub mod history;
pub mod limits;
pub mod linear_system;
pub mod matrix_market;
pub mod nmf;
pub mod openfoam;
pub mod output;
mod paced;
pub mod page;
mod pieces;
pub mod plot;
pub mod plot3d;
pub mod read;
pub mod report;
pub mod restart;
mod rows;
pub mod solution;
pub mod span;
pub mod su2;
pub mod vtk;
pub mod vts;
mod welded;
mod zlib;

use std::path::{Path, PathBuf};

pub use crate::digest;
pub use error::IoError;

use self::plot::{ConvergenceFigure, GridFigure, QualityFigure};
use self::plot3d::{Dimensions, Flavour};
use self::span::Span;
use crate::grid::Grid;
use crate::grid::quality::{Quality, nonorthogonality};
use crate::solver::history::History;

/// Name of the report in the output folder, the same for good and failed runs.
pub const REPORT_FILE: &str = "report.json";

/// Name of the page in the output folder, the same for good and failed runs.
pub const PAGE_FILE: &str = "report.html";

/// Name of the restart file in the output folder.
pub const RESTART_FILE: &str = "restart.bin";

/// Name of the resolved case in the output folder.
pub const CASE_FILE: &str = "case.toml";

/// The files a run can write besides its report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// `mesh.vts`: VTK XML structured grid with cell quality.
    Vts,
    /// `mesh.vtk`: legacy VTK structured grid with cell quality.
    Vtk,
    /// `mesh.p3d`: `Plot3D`, two planes of a three-dimensional block.
    Plot3d,
    /// `mesh.2d.p3d`: `Plot3D`, plane.
    #[serde(rename = "plot3d-2d")]
    Plot3dPlanar,
    /// `mesh.nmf`: what the faces of the block in `mesh.p3d` are.
    Nmf,
    /// `mesh.su2`: mesh for SU2.
    Su2,
    /// `openfoam`: a folder, case for OpenFOAM.
    Openfoam,
    /// `mesh.cgns`: one structured zone with named boundaries.
    Cgns,
    /// `convergence.csv`: one line a Newton step.
    HistoryCsv,
    /// `convergence.svg`: the residual against steps and iterations.
    ConvergenceSvg,
    /// `grid.svg`: four views of the grid.
    GridSvg,
    /// `grid.png`: the same as a bitmap.
    GridPng,
    /// `quality.svg`: maps of four measures of quality.
    QualitySvg,
    /// `quality.png`: the same as a bitmap.
    QualityPng,
}

impl FileKind {
    /// All kinds, in the order in which they are best written: meshes first.
    pub const ALL: [Self; 14] = [
        Self::Vts,
        Self::Vtk,
        Self::Plot3d,
        Self::Plot3dPlanar,
        Self::Nmf,
        Self::Su2,
        Self::Openfoam,
        Self::Cgns,
        Self::HistoryCsv,
        Self::ConvergenceSvg,
        Self::GridSvg,
        Self::GridPng,
        Self::QualitySvg,
        Self::QualityPng,
    ];

    /// Name of the file. Files that hold or show the grid are named `….failed.…` when it is not
    /// good, so that no program takes them for a mesh; the history is of interest either way.
    #[must_use]
    pub fn file_name(self, good: bool) -> &'static str {
        match (self, good) {
            (Self::Vts, true) => "mesh.vts",
            (Self::Vts, false) => "mesh.failed.vts",
            (Self::Vtk, true) => "mesh.vtk",
            (Self::Vtk, false) => "mesh.failed.vtk",
            (Self::Plot3d, true) => "mesh.p3d",
            (Self::Plot3d, false) => "mesh.failed.p3d",
            (Self::Plot3dPlanar, true) => "mesh.2d.p3d",
            (Self::Plot3dPlanar, false) => "mesh.2d.failed.p3d",
            (Self::Nmf, true) => "mesh.nmf",
            (Self::Nmf, false) => "mesh.failed.nmf",
            (Self::Su2, true) => "mesh.su2",
            (Self::Su2, false) => "mesh.failed.su2",
            (Self::Openfoam, true) => "openfoam",
            (Self::Openfoam, false) => "openfoam.failed",
            (Self::Cgns, true) => "mesh.cgns",
            (Self::Cgns, false) => "mesh.failed.cgns",
            (Self::HistoryCsv, _) => "convergence.csv",
            (Self::ConvergenceSvg, _) => "convergence.svg",
            (Self::GridSvg, true) => "grid.svg",
            (Self::GridSvg, false) => "grid.failed.svg",
            (Self::GridPng, true) => "grid.png",
            (Self::GridPng, false) => "grid.failed.png",
            (Self::QualitySvg, true) => "quality.svg",
            (Self::QualitySvg, false) => "quality.failed.svg",
            (Self::QualityPng, true) => "quality.png",
            (Self::QualityPng, false) => "quality.failed.png",
        }
    }
}

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
/// are not to be lost, write into [`output::Output::files`].
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
