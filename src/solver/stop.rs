//! Why a solve stopped.

use crate::backend::PreconditionerFailure;

/// Why a linear solve stopped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LinearStop {
    /// The true residual met the tolerance.
    Converged,
    /// The limit of iterations was reached.
    IterationLimit,
    /// The true residual no longer falls: the matrix is singular, or rounding keeps the residual
    /// above the target.
    Stagnation,
    /// A scalar of the method vanished, so that its next quotient has no meaning.
    Breakdown {
        /// Name of the scalar in the method's formulas.
        scalar: &'static str,
    },
    /// Conjugate gradients met a direction p with (p, A p) ≤ 0 or (p, M⁻¹ p) ≤ 0.
    Indefinite {
        /// The `matrix` or its `preconditioner`.
        what: &'static str,
    },
    /// A value was not a number.
    NotFinite,
}

/// Why a Newton solve stopped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NewtonStop {
    /// The scaled residual met the tolerance.
    Converged,
    /// The limit of Newton steps was reached.
    IterationLimit {
        /// The limit.
        limit: usize,
    },
    /// No step length kept the cells unfolded and lowered the merit.
    LineSearch {
        /// Folded cells at the last trial.
        folded: usize,
        /// Merit at the last trial over the merit before the step.
        ratio: f64,
    },
    /// The residual was not a number.
    NotFinite,
    /// The observer ended the solve.
    Interrupted,
    /// The linear solve made no step.
    Linear(LinearStop),
    /// The preconditioner could not be made.
    Preconditioner(PreconditionerFailure),
}

impl NewtonStop {
    /// Whether the residual met the tolerance.
    #[must_use]
    pub fn converged(self) -> bool {
        self == Self::Converged
    }
}

impl std::fmt::Display for LinearStop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Converged => write!(f, "converged"),
            Self::IterationLimit => write!(f, "the limit of linear iterations was reached"),
            Self::Stagnation => write!(f, "the linear residual no longer falls"),
            Self::Breakdown { scalar } => write!(f, "the Krylov method broke down ({scalar} = 0)"),
            Self::Indefinite { what } => write!(f, "the {what} is not positive definite"),
            Self::NotFinite => write!(f, "a value in the linear solve was not a number"),
        }
    }
}

impl std::fmt::Display for NewtonStop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Converged => write!(f, "converged"),
            Self::IterationLimit { limit } => {
                let plural = if *limit == 1 { "" } else { "s" };
                write!(f, "the limit of {limit} Newton step{plural} was reached")
            }
            Self::LineSearch { folded: 0, ratio } => {
                write!(f, "no step length lowered the residual (last trial: {ratio:.3} times)")
            }
            Self::LineSearch { folded, .. } => {
                write!(f, "no step length kept the cells unfolded (last trial: {folded} folded)")
            }
            Self::NotFinite => write!(f, "the residual was not a number"),
            Self::Interrupted => write!(f, "the solve was interrupted"),
            Self::Linear(stop) => write!(f, "the linear solve failed: {stop}"),
            Self::Preconditioner(failure) => write!(f, "{failure}"),
        }
    }
}
