//! The files that a case asks for.

use crate::case::{Case, Format};
use crate::io::plot3d::Flavour;
use crate::io::span::Span;
use crate::io::{FileKind, IoError, limits};
use std::path::Path;

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
