//! The grid equations at one point, and their control functions: pure functions of coordinates.

pub mod control;
mod equations;
mod point;

pub use equations::{EllipticData, WallTerms};
pub use point::{Metrics, Stencil, StencilBlocks, Vec2, residual};
pub(crate) use point::{merit_weight, row_weight};

use self::control::ControlSettings;

/// Settings of the grid equations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EllipticSettings {
    /// Control functions.
    pub control: ControlSettings,
    /// Height of the first cell, in chords.
    pub first_cell: f64,
}
