//! Inexact Newton, Krylov methods and preconditioners, written once for all backends.

pub mod history;
pub mod krylov;
pub mod linear;
pub mod newton;
pub mod precond;

pub use crate::backend::{LinearOperator, Preconditioner, PreconditionerFailure, SolverError};

use crate::backend::{Backend, Evaluation, Real, Result};

/// A system F(u) = 0 with a row-scaled residual and an exact Jacobian.
pub trait NonlinearProblem<B: Backend> {
    /// Precision of the Jacobian and of the linear solve.
    type Real: Real;
    /// The Jacobian as an operator.
    type Jacobian: LinearOperator<B, Self::Real>;

    /// Number of unknowns.
    fn unknowns(&self) -> usize;

    /// f ← F(u) with the scaling of u; returns how u is judged, by its merit with this and with the scaling that is kept.
    fn residual(
        &mut self,
        backend: &B,
        u: &B::Vector<f64>,
        f: &mut B::Vector<f64>,
    ) -> Result<Evaluation>;

    /// The scaling of the last [`Self::residual`] is kept.
    fn keep_scaling(&mut self, backend: &B);

    /// The Jacobian at the state of the last [`Self::residual`], scaled like it.
    fn linearise(&mut self, backend: &B) -> Result<&Self::Jacobian>;
}

/// Precision of a linear solve: matrix, vectors and preconditioner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// `f32`.
    #[default]
    Single,
    /// `f64`.
    Double,
}

/// Reason for the stop of a linear solve.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the text of its variant says what each field is")]
pub enum LinearStop {
    /// The true residual met the tolerance.
    #[error("converged")]
    Converged,
    /// The limit of iterations was reached.
    #[error("the limit of linear iterations was reached")]
    IterationLimit,
    /// The true residual no longer falls: the matrix is singular, or rounding keeps the residual
    /// above the target.
    #[error("the linear residual no longer falls")]
    Stagnation,
    /// A scalar of the method, named as in its formulas, vanished, so that its next quotient has no
    /// meaning.
    #[error("the Krylov method broke down ({scalar} = 0)")]
    Breakdown { scalar: &'static str },
    /// Conjugate gradients met a direction p with (p, A p) ≤ 0 or (p, M⁻¹ p) ≤ 0: `what` is the `matrix`
    /// or its `preconditioner`.
    #[error("the {what} is not positive definite")]
    Indefinite { what: &'static str },
    /// A value was not a number.
    #[error("a value in the linear solve was not a number")]
    NotFinite,
}

/// Reason for the stop of a Newton solve.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the text of its variant says what each field is")]
pub enum NewtonStop {
    /// The scaled residual met the tolerance.
    #[error("converged")]
    Converged,
    /// The limit of Newton steps was reached.
    #[error("the limit of {limit} Newton step{} was reached", if *limit == 1 { "" } else { "s" })]
    IterationLimit { limit: usize },
    /// No step length kept the cells unfolded and lowered the merit: folded cells at the last trial, and
    /// its merit over the merit before the step.
    #[error("no step length {}", search_ended(*folded, *ratio))]
    LineSearch { folded: usize, ratio: f64 },
    /// The residual was not a number.
    #[error("the residual was not a number")]
    NotFinite,
    /// The observer ended the solve.
    #[error("the solve was interrupted")]
    Interrupted,
    /// The linear solve made no step.
    #[error("the linear solve failed: {0}")]
    Linear(LinearStop),
    /// The preconditioner could not be made.
    #[error("{0}")]
    Preconditioner(PreconditionerFailure),
}

fn search_ended(folded: usize, ratio: f64) -> String {
    match folded {
        0 => format!("lowered the residual (last trial: {ratio:.3} times)"),
        _ => format!("kept the cells unfolded (last trial: {folded} folded)"),
    }
}

impl NewtonStop {
    /// Whether the residual met the tolerance.
    pub fn converged(self) -> bool {
        self == Self::Converged
    }
}

/// The value, made first if it is not there yet.
pub(crate) fn present<V, E>(
    slot: &mut Option<V>,
    make: impl FnOnce() -> Result<V, E>,
) -> Result<&mut V, E> {
    let value = match slot.take() {
        Some(value) => value,
        None => make()?,
    };
    Ok(slot.insert(value))
}
