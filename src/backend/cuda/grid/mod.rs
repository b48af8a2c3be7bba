//! Grids and the grid equations: march, control functions, residual and Jacobian, movement, quality.

mod elliptic;
mod initial;
mod movement;
mod nodes;
mod quality;

pub use self::elliptic::CudaElliptic;
pub use self::nodes::CudaGrid;
