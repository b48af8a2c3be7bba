//! The span of a plane grid in the third dimension.

use serde::{Deserialize, Serialize};

use crate::grid::Topology;

/// The kind of the two planes at the ends of the span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sides {
    /// Planes of symmetry.
    Symmetry,
    /// The last repeats the first.
    Periodic,
}

/// A plane grid repeated from z = 0 to z = `length`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Length in the unit of the grid.
    pub length: f64,
    /// Cells over it, at least one.
    pub cells: usize,
    /// The kind of its ends.
    pub sides: Sides,
}

impl Span {
    /// One cell over one unit: what programs without two dimensions take for a plane.
    pub const ONE: Self = Self { length: 1.0, cells: 1, sides: Sides::Symmetry };

    /// Planes of nodes.
    pub fn planes(&self) -> usize {
        self.cells + 1
    }

    /// z of a plane.
    pub fn z(&self, plane: usize) -> f64 {
        // The last one bit for bit.
        if plane == self.cells {
            self.length
        } else {
            self.length * plane as f64 / self.cells as f64
        }
    }
}

/// Number of planes of a grid that is extruded or stays in the plane z = 0.
pub(super) fn count(span: Option<Span>) -> usize {
    span.map_or(1, |span| span.planes())
}

/// Layers of cells of a grid that is extruded; one of a grid that stays in the plane.
pub(super) fn layers(span: Option<Span>) -> usize {
    span.map_or(1, |span| span.cells)
}

/// z of these planes.
pub(super) fn planes(span: Option<Span>) -> impl Iterator<Item = f64> {
    (0..count(span)).map(move |k| span.map_or(0.0, |span| span.z(k)))
}

/// Names of the patches at the ends of the span; they are one where that has no other plane of symmetry.
pub(super) fn ends(span: Option<Span>, topology: Topology) -> &'static [&'static str] {
    let plane_is_symmetry = topology.half().is_some();
    match span {
        None => &[],
        Some(span) if span.sides == Sides::Symmetry && !plane_is_symmetry => &["symmetry"],
        Some(_) => &["back", "front"],
    }
}
