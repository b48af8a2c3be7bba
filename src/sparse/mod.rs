//! Layout of sparse matrices: which entries there are and where they stand. No arithmetic.

mod elimination;
mod ell;

pub use elimination::{Elimination, Schedule, TILE};
pub use ell::{EllPattern, Structure};
