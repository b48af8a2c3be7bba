//! Layout of sparse matrices: which entries there are and where they stand. No arithmetic.

mod csr;
mod elimination;
mod ell;

pub use csr::Csr;
pub use elimination::{Elimination, Schedule, TILE};
pub(crate) use ell::STENCIL;
pub use ell::{EllPattern, Structure};
