//! What the programs that meshes are written for will have against them.

use super::span;
use crate::case::Case;
use crate::formats::openfoam::{self, Measure, Objection};
use crate::grid::{Grid, Topology};

/// Distance from the trailing edge, in chords, within which faces are its own.
const AT_THE_EDGE: f64 = 0.05;

/// What OpenFOAM's `checkMesh` will say of the mesh that a case asks for, one sentence each with what
/// can be done; nothing where the case asks for no such mesh.
pub(super) fn objections(case: &Case, grid: &Grid) -> Vec<String> {
    if !case.output.formats.iter().any(|format| format.name == openfoam::NAME) {
        return Vec::new();
    }
    let objections = openfoam::objections(grid, span(case));
    let sentence = |objection| format!("{objection}; {}", remedy(case, grid, objection));
    objections.iter().map(sentence).collect()
}

/// What can be done about an objection, as measured in docs/validation.md.
fn remedy(case: &Case, grid: &Grid, objection: &Objection) -> String {
    let edge = match grid.topology {
        Topology::O(_) | Topology::Half(_) => grid.point(grid.ni - 1, 0),
        Topology::C { wake } => grid.point(wake, 0),
    };
    let off = f64::hypot(objection.at[0] - edge[0], objection.at[1] - edge[1]);
    let at_the_edge = off < AT_THE_EDGE * case.geometry.chord;
    let cut = matches!(grid.topology, Topology::C { .. });
    match objection.measure {
        Measure::Skewness if at_the_edge => format!(
            "grid.trailing_edge_spacing = {:.1e}, the height of the first cell, mends that",
            case.grid.first_cell
        ),
        Measure::Skewness => "closer points there lessen that".to_owned(),
        Measure::AspectRatio => "low first cells cost that, and OpenFOAM runs with them".to_owned(),
        Measure::NonOrthogonality if at_the_edge && cut => {
            "it lets that pass, and a smaller grid.trailing_edge_spacing lessens it".to_owned()
        }
        Measure::NonOrthogonality => {
            "it lets that pass, and more points or a larger grid.first_cell lessen it".to_owned()
        }
    }
}
