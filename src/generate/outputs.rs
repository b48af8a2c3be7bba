//! The files that a case asks for.

use super::export;
use crate::case::{Case, Format};
use crate::files::{self, IoError};
use crate::formats::openfoam::{self, Reference};
use crate::formats::plot3d::Flavour;
use crate::formats::span::Span;
use crate::formats::{FileKind, limits};
use crate::grid::FAR_FIELD_CENTRE;
use std::path::Path;

/// Point of a section of unit chord that moments are taken about, and about which an angle turns it.
const QUARTER: [f64; 2] = [0.25, 0.0];

/// How the grid of a case goes on in the third dimension, in the unit of its files.
pub(super) fn span(case: &Case) -> Option<Span> {
    let output = &case.output;
    let length = output.span * case.geometry.chord;
    let (cells, sides) = (output.span_cells, output.sides);
    (cells > 0).then_some(Span { length, cells, sides })
}

/// The files of a case besides its report.
pub(super) fn file_kinds(case: &Case) -> Vec<FileKind> {
    let output = &case.output;
    let mesh = output.formats.iter().flat_map(|format| -> &[FileKind] {
        match format {
            Format::Vts => &[FileKind::Vts],
            Format::Vtk => &[FileKind::Vtk],
            Format::Plot3d if output.plot3d_dimensions == 2 => &[FileKind::Plot3dPlanar],
            Format::Plot3d => &[FileKind::Plot3d, FileKind::Nmf],
            Format::Su2 => &[FileKind::Su2],
            Format::Openfoam => &[FileKind::Openfoam],
            Format::Cgns => &[FileKind::Cgns],
        }
    });
    let pictures: &[FileKind] = if output.pictures {
        &[FileKind::ConvergenceSvg, FileKind::GridSvg, FileKind::GridPng]
    } else {
        &[]
    };
    let maps: &[FileKind] =
        if output.quality_maps { &[FileKind::QualitySvg, FileKind::QualityPng] } else { &[] };
    mesh.chain(&[FileKind::HistoryCsv]).chain(pictures).chain(maps).copied().collect()
}

/// Refuses meshes that their formats cannot number or the disk of `folder` has no room for.
///
/// # Errors
///
/// [`IoError`] of the first such file.
pub(super) fn check_limits(case: &Case, folder: &Path) -> Result<(), IoError> {
    let size = [case.grid.ni, case.grid.nj];
    file_kinds(case).into_iter().try_for_each(|kind| {
        limits::check(&folder.join(kind.file_name(true)), kind, size, span(case))
    })
}

/// Names of all files that a run of a case may write, good or failed, with the linear system of a
/// Newton step where that is asked for.
pub(super) fn names(case: &Case, export: Option<usize>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for kind in file_kinds(case) {
        for name in [true, false].map(|good| kind.file_name(good)) {
            match kind {
                FileKind::Openfoam => names.extend(openfoam::mesh_files(name)),
                _ => names.push(name.to_owned()),
            }
        }
    }
    let others = [files::REPORT_FILE, files::CASE_FILE, files::RESTART_FILE].map(str::to_owned);
    names.extend(others);
    names.extend(case.output.report.then(|| files::PAGE_FILE.to_owned()));
    names.extend(export.into_iter().flat_map(export::names));
    names
}

/// What force coefficients refer to, in the unit of the files: chord and quarter point of a section,
/// the middle of a smooth contour, whose grid was moved by `shift`.
pub(super) fn reference(case: &Case, shift: [f64; 2]) -> Reference {
    let chord = case.geometry.chord;
    let centre = if case.geometry.contour.is_smooth() {
        [0, 1].map(|c| FAR_FIELD_CENTRE[c] + shift[c])
    } else {
        QUARTER
    };
    Reference { length: chord, centre: centre.map(|c| c * chord) }
}

/// Layout of `Plot3D` files; the kind of file decides on the dimensions.
pub(super) fn flavour(case: &Case) -> Flavour {
    let output = &case.output;
    Flavour {
        encoding: output.plot3d_encoding,
        precision: output.plot3d_precision,
        byte_order: output.plot3d_byte_order,
        block_count: output.plot3d_block_count,
        blanking: output.plot3d_blanking,
        axes: output.plot3d_axes,
        ..Flavour::default()
    }
}
