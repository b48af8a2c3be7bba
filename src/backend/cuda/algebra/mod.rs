//! Vectors and ELL matrices.

mod matrix;
mod vector;

pub use self::matrix::CudaMatrix;
pub use self::vector::CudaVector;

pub(super) use self::matrix::{CudaJacobi, InvertibleDiagonal, checked, outer_columns};
