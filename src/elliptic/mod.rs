//! The grid equations as a nonlinear problem: unknowns, Jacobian and preconditioner.

mod jacobian;
mod preconditioner;
mod problem;

pub use jacobian::GridJacobian;
pub use preconditioner::GridPreconditioner;
pub use problem::{EllipticSettings, GridProblem, elliptic_data};
