//! Inexact Newton, Krylov methods and preconditioners, written once for all backends.

pub mod general;
pub mod history;
pub mod krylov;
pub mod linear;
pub mod newton;
pub mod precond;
mod stop;

pub use stop::{LinearStop, NewtonStop, PreconditionerFailure, SolverError};

use crate::backend::{Backend, CellGuard, DeviceError, Real, Scaling};

/// A linear map y = A x.
pub trait LinearOperator<B: Backend, T: Real> {
    /// y ← A x.
    fn apply(&self, backend: &B, x: &B::Vector<T>, y: &mut B::Vector<T>)
    -> Result<(), DeviceError>;
}

/// An approximate inverse z = M⁻¹ r of an operator of type `A`.
pub trait Preconditioner<B: Backend, T: Real, A> {
    /// Prepares for the present values of `a`.
    fn update(&mut self, backend: &B, a: &A) -> Result<(), SolverError>;

    /// z ← M⁻¹ r, with the `a` of the last update.
    fn apply(
        &mut self,
        backend: &B,
        a: &A,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
    ) -> Result<(), DeviceError>;

    /// z ← M⁻¹ r and y ← A z; a preconditioner that costs little beside the product may do both in
    /// one pass.
    fn apply_and_multiply(
        &mut self,
        backend: &B,
        a: &A,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
        y: &mut B::Vector<T>,
    ) -> Result<(), DeviceError>
    where
        A: LinearOperator<B, T>,
    {
        self.apply(backend, a, r, z)?;
        a.apply(backend, z, y)
    }

    /// Largest residual factor an iteration of the Krylov method that is taken for contraction;
    /// none if there is no other form to fall back on.
    fn bound(&self) -> Option<f64> {
        None
    }

    /// Goes over to its next form, which the next update prepares, and names it; stays and
    /// returns none if this is the last.
    fn fall_back(&mut self) -> Option<&'static str> {
        None
    }
}

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
