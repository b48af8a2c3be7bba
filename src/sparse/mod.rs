//! Layout of sparse matrices: which entries there are and where they stand. No arithmetic.

mod csr;
mod ell;

pub use csr::Csr;
pub use ell::{EllPattern, Structure};
