//! The grid equations at one point and their control functions: pure functions of coordinates.

pub mod control;
mod point;
mod wall;

pub(crate) use point::merit_weight;
pub use point::{Blocks, Metrics, Stencil, Vec2, residual, row_weight};
pub use wall::decay;
pub(crate) use wall::{PSI_REACH, decay_lengths};

use self::control::ControlSettings;

/// What the equations ask of a grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EllipticSettings {
    /// Control functions.
    pub control: ControlSettings,
    /// Height of the first cell, in chords.
    pub first_cell: f64,
}
