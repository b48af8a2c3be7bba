//! Grids and the grid equations: march, control functions, residual and Jacobian, movement, quality.

mod control;
mod elliptic;
mod march;
mod movement;
mod nodes;
mod quality;

pub use self::elliptic::CudaElliptic;
pub use self::nodes::CudaGrid;
