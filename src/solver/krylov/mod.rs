//! Krylov methods, preconditioned from the right or symmetrically, written on [`Backend::dots`] and
//! [`Backend::lincomb`].

mod bicgstab;
mod cg;
mod gmres;
mod recursion;

pub use {bicgstab::Bicgstab, cg::Cg, gmres::Gmres};

use super::{LinearOperator, LinearStop, Preconditioner};
use crate::backend::{Backend, Real, Result};

/// Choice of Krylov method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Conjugate gradients, for symmetric positive definite matrices: no Jacobian of the grid
    /// equations is one, and a case cannot ask for it.
    Cg,
    /// BiCGStab, right preconditioned.
    Bicgstab,
    /// Restarted flexible GMRES, right preconditioned.
    Gmres,
}

/// When a linear solve ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Residual norm to reach: ‖b − A x‖ ≤ `norm`.
    pub norm: f64,
    /// Limit of iterations.
    pub max_iterations: usize,
}

impl Target {
    /// Returns the reason to end a solve whose true residual has this norm; none if it goes on. The norm may exceed the
    /// target by the factor `drift`; `stagnates` says that it would fall no further.
    fn ended(
        self,
        residual: f64,
        drift: f64,
        iterations: f64,
        stagnates: bool,
    ) -> Option<LinearStop> {
        let reasons = [
            (!residual.is_finite(), LinearStop::NotFinite),
            (residual <= drift * self.norm, LinearStop::Converged),
            (iterations >= self.max_iterations as f64, LinearStop::IterationLimit),
            (stagnates, LinearStop::Stagnation),
        ];
        reasons.into_iter().find_map(|(holds, stop)| holds.then_some(stop))
    }
}

/// Outcome of a linear solve.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct KrylovReport {
    /// Reason for the stop.
    pub stop: LinearStop,
    /// Iterations; BiCGStab counts a half when its first half-step suffices.
    pub iterations: f64,
    /// Norm of the true residual b − A x at the end.
    pub residual: f64,
}

/// A linear system A x = b, with all that a Krylov method needs.
pub struct System<'a, B: Backend, T: Real, A> {
    pub(super) backend: &'a B,
    pub(super) operator: &'a A,
    pub(super) preconditioner: &'a mut dyn Preconditioner<B, T, A>,
    pub(super) b: &'a B::Vector<T>,
    pub(super) observe: &'a mut dyn FnMut(f64, f64),
    /// ‖b‖ where the first x is zero, whose residual is b; none where it may be anything.
    pub(super) from_zero: Option<f64>,
}

impl<'a, B: Backend, T: Real, A: LinearOperator<B, T>> System<'a, B, T, A> {
    /// A system to be solved from any x, with a preconditioner that is prepared for its operator. `observe` gets
    /// the iteration and the residual norm after each of them.
    pub fn new(
        backend: &'a B,
        (operator, b): (&'a A, &'a B::Vector<T>),
        preconditioner: &'a mut dyn Preconditioner<B, T, A>,
        observe: &'a mut dyn FnMut(f64, f64),
    ) -> Self {
        Self { backend, operator, preconditioner, b, observe, from_zero: None }
    }

    /// r ← b − A x; returns ‖r‖, for which the host waits unless it is the residual of the first x and that is zero.
    fn residual(&mut self, x: &B::Vector<T>, r: &mut B::Vector<T>) -> Result<f64> {
        if let Some(norm) = self.from_zero.take() {
            self.backend.lincomb(None, r, 0.0, &[(1.0, self.b)])?;
            return Ok(norm);
        }
        self.operator.apply(self.backend, x, r)?;
        self.backend.lincomb(None, r, -1.0, &[(1.0, self.b)])?;
        let [square] = self.backend.dot_products([(&*r, &*r)])?;
        Ok(square.sqrt())
    }
}
