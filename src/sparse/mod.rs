//! Layout of sparse matrices: which entries there are and where they stand. No arithmetic.

mod ell;

pub(crate) use ell::STENCIL;
pub use ell::{EllPattern, Structure};
