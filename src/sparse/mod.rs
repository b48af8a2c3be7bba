//! Layout of sparse matrices: which entries there are and where they stand. No arithmetic.

mod csr;
mod cuthill_mckee;
mod elimination;
mod ell;
mod graph;

pub use csr::Csr;
pub use cuthill_mckee::reverse_cuthill_mckee;
pub use elimination::{Elimination, Schedule, TILE};
pub(crate) use ell::STENCIL;
pub use ell::{EllPattern, Structure};
pub use graph::Graph;
