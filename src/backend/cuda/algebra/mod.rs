//! Vectors and ELL matrices.

mod jacobi;
mod matrix;
mod vector;

pub use self::matrix::CudaMatrix;
pub use self::vector::CudaVector;

pub(super) use self::jacobi::{CudaJacobi, InvertibleDiagonal, checked};
pub(super) use self::matrix::outer_columns;
