//! Preconditioners by name, and the fall-backs that replace one that fails.

mod multigrid;

pub use crate::backend::Coarsening;
pub use multigrid::{Cycle, MultigridSettings};
pub(crate) use multigrid::{FEW_LEVELS, Multigrid, TALL};

use super::{Preconditioner, present};
use crate::backend::{Algebraic, Backend, Incomplete, Real, Result};
use crate::sparse::Schedule;
use std::collections::VecDeque;

/// Choice of preconditioner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The identity.
    None,
    /// The inverse of the diagonal.
    Jacobi,
    /// Diagonal incomplete LU in natural order (Pommerell 1992; Wang and Liu 2022).
    Dilu,
    /// Incomplete LU without fill in natural order (Meijerink and van der Vorst 1977).
    Ilu0,
    /// Geometric multigrid with zebra line smoothing.
    Multigrid,
}

impl Kind {
    /// The preconditioner from the entries of a matrix alone, its rows worked on by this schedule; that
    /// which multigrid falls back on at last.
    pub fn algebraic(self, schedule: Schedule) -> Algebraic {
        let factors = |kind| Algebraic::Factors { kind, schedule, shift: 0.0 };
        match self {
            Self::None => Algebraic::None,
            Self::Jacobi => Algebraic::Jacobi,
            Self::Dilu => factors(Incomplete::Dilu),
            Self::Ilu0 | Self::Multigrid => factors(Incomplete::Ilu0),
        }
    }
}

/// Residual factor an iteration of BiCGStab beyond which multigrid does not contract. Where it
/// does, measured factors are below 0.15.
pub(crate) const CONTRACTION: f64 = 0.5;

/// Generates a preconditioner for operators like the given one: allocates it, and does the part of its set-up that
/// does not depend on their values.
type Factory<B, T, A> = dyn Fn(&B, &A) -> Result<Box<dyn Preconditioner<B, T, A>>> + Send;

/// A preconditioner that is generated when it is first used.
struct Candidate<B: Backend, T: Real, A> {
    /// Its name in messages about a fall-back.
    name: &'static str,
    /// Largest residual factor an iteration of the Krylov method that is taken for contraction.
    bound: Option<f64>,
    /// Whether it may be kept for operators near the one that it was made for.
    lasting: bool,
    factory: Box<Factory<B, T, A>>,
    generated: Option<Box<dyn Preconditioner<B, T, A>>>,
}

/// A preconditioner, and those that replace it one after the other where it cannot be made or the residual
/// falls by less than its bound.
pub struct Preconditioners<B: Backend, T: Real, A> {
    current: Candidate<B, T, A>,
    rest: VecDeque<Candidate<B, T, A>>,
}

impl<B: Backend, T: Real, A> Preconditioners<B, T, A> {
    /// A preconditioner without fall-backs, which `factory` generates for an operator.
    pub fn one(
        factory: impl Fn(&B, &A) -> Result<Box<dyn Preconditioner<B, T, A>>> + Send + 'static,
    ) -> Self {
        Self::first("", (None, false), factory)
    }

    /// A preconditioner that is judged by this bound, and is `lasting` or not.
    pub(crate) fn first(
        name: &'static str,
        (bound, lasting): (Option<f64>, bool),
        factory: impl Fn(&B, &A) -> Result<Box<dyn Preconditioner<B, T, A>>> + Send + 'static,
    ) -> Self {
        let factory = Box::new(factory);
        let current = Candidate { name, bound, lasting, factory, generated: None };
        Self { current, rest: VecDeque::new() }
    }

    /// Adds a last fall-back.
    #[must_use]
    pub(crate) fn then(mut self, last: Self) -> Self {
        self.rest.push_back(last.current);
        self
    }

    /// Whether the present preconditioner may be kept for operators near the one that it was made for.
    pub(crate) fn lasts(&self) -> bool {
        self.current.lasting
    }

    /// The present preconditioner, which may still have to be updated.
    ///
    /// # Errors
    /// If the memory of the device does not suffice.
    pub fn current(&mut self, backend: &B, a: &A) -> Result<&mut dyn Preconditioner<B, T, A>> {
        let Candidate { factory, generated, .. } = &mut self.current;
        Ok(&mut **present(generated, || factory(backend, a))?)
    }

    /// Largest residual factor an iteration of the Krylov method that is taken for contraction; none for the last
    /// preconditioner.
    pub(crate) fn bound(&self) -> Option<f64> {
        self.current.bound
    }

    /// Replaces the present preconditioner by the next one, which must be updated, and returns its name; none if
    /// there is no other.
    pub fn fall_back(&mut self) -> Option<&'static str> {
        self.current = self.rest.pop_front()?;
        Some(self.current.name)
    }
}
