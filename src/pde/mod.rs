//! The grid equations at one point, and their control functions: pure functions of coordinates.

pub mod control;
mod equations;
mod point;

pub use equations::{EllipticData, WallTerms};
pub(crate) use equations::{at_unknown_points, moved};
pub use point::{Metrics, Stencil, StencilBlocks, Vec2, residual};
pub(crate) use point::{merit_weight, row_weight};

use self::control::{ControlSettings, Wall};
use crate::grid::Topology;
use crate::grid::initial::first_heights;
use crate::sparse::WalledSides;

/// Settings of the grid equations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EllipticSettings<'a> {
    /// Control functions.
    pub control: ControlSettings,
    /// Height of the first cell, in chords.
    pub first_cell: f64,
    /// Heights of the first cells at the points of the line j = 0; `None` means [`first_heights`].
    pub heights: Option<&'a [f64]>,
    /// Whether the row of points next to the outer line keeps the place that it has in the initial grid, as that
    /// beside the wall does.
    pub outer_wall: bool,
}

impl EllipticSettings<'_> {
    /// The sides with wall terms.
    pub(crate) fn walled_sides(&self) -> WalledSides {
        let coupled = self.control.wall == Wall::Coupled;
        WalledSides([coupled, coupled && self.outer_wall, false, false])
    }

    /// Heights of the first cells at these points of the line j = 0.
    pub(crate) fn heights(&self, topology: Topology, points: &[[f64; 2]]) -> Vec<f64> {
        let own = || first_heights(topology, points, self.first_cell);
        self.heights.map_or_else(own, <[f64]>::to_vec)
    }
}
