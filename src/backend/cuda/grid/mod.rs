//! Grids and the grid equations: march, control functions, residual and Jacobian, quality.

mod control;
mod cyclic;
mod elliptic;
mod march;
mod outcome;
mod quality;

pub use self::elliptic::CudaElliptic;
pub use self::march::CudaGrid;
