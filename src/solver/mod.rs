//! Inexact Newton, Krylov methods and preconditioners, written once for all backends.

pub mod history;
pub mod krylov;
pub mod linear;
pub mod newton;
pub mod precond;
mod stop;

pub use crate::backend::{LinearOperator, Preconditioner, PreconditionerFailure, SolverError};
pub use stop::{LinearStop, NewtonStop};

use crate::backend::{Backend, CellGuard, DeviceError, Real, Scaling};

/// A system F(u) = 0 with a row-scaled residual and an exact Jacobian.
pub trait NonlinearProblem<B: Backend> {
    /// Precision of the Jacobian and of the linear solve.
    type Real: Real;
    /// The Jacobian as an operator.
    type Jacobian: LinearOperator<B, Self::Real>;

    /// Number of unknowns.
    fn unknowns(&self) -> usize;

    /// f ← scaled F(u); returns the merit of u. With [`Scaling::Renewed`] the scaling is
    /// evaluated at u and kept for the calls that follow.
    fn residual(
        &mut self,
        backend: &B,
        u: &B::Vector<f64>,
        scaling: Scaling,
        f: &mut B::Vector<f64>,
    ) -> Result<f64, DeviceError>;

    /// The Jacobian at the state of the last [`Self::residual`], scaled like it.
    fn linearise(&mut self, backend: &B) -> Result<&Self::Jacobian, DeviceError>;

    /// Folded cells and smallest area at the state of the last [`Self::residual`].
    fn guard(&mut self, backend: &B) -> Result<CellGuard, DeviceError>;
}
