//! The grid equations at one point and their control functions: pure functions of coordinates.

pub mod control;
mod point;
mod wall;

pub use point::{Blocks, Metrics, Stencil, Vec2, merit_weight, residual, row_weight};
pub use wall::decay;
