//! The grid equations as a nonlinear problem: unknowns, Jacobian and preconditioner.

mod jacobian;
mod preconditioner;
mod problem;

pub use crate::pde::EllipticSettings;
pub use jacobian::GridJacobian;
pub use preconditioner::GridPreconditioner;
pub use problem::{GridProblem, Guessed};
