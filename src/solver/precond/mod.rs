//! Preconditioners of one sparse matrix, and what takes their place where they fail.

mod multigrid;

pub use crate::backend::Coarsening;
pub use multigrid::{Cycle, MultigridSettings};

// For the tests and measurements of this workspace: users have it in a `GridPreconditioner`.
pub use multigrid::Multigrid;

use super::linear::Precision;
use super::{LinearOperator, Preconditioner, SolverError, present};
use crate::backend::{
    Algebraic, Around, Backend, Incomplete, LevelSize, MultigridBackend, Real, Result, SparseMatrix,
};
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

/// An algebraic preconditioner, which is created at the first update and reused.
pub struct FromMatrix<B: Backend, T: Real, A> {
    kind: Algebraic,
    made: Option<Box<dyn Preconditioner<B, T, A>>>,
}

impl<B: Backend, T: Real, A: SparseMatrix<B, T>> FromMatrix<B, T, A> {
    /// A preconditioner of this kind, not prepared for a matrix yet.
    pub fn new(kind: Algebraic) -> Self {
        Self { kind, made: None }
    }

    /// Analysis alone: what depends on the pattern of the matrix and not on its values.
    pub fn analyse(&mut self, backend: &B, a: &A) -> Result<&mut dyn Preconditioner<B, T, A>> {
        let made = present(&mut self.made, || a.preconditioner(backend, self.kind))?;
        Ok(&mut **made)
    }
}

impl<B: Backend, T: Real, A: SparseMatrix<B, T>> Preconditioner<B, T, A> for FromMatrix<B, T, A> {
    fn update(&mut self, backend: &B, a: &A) -> Result<(), SolverError> {
        self.analyse(backend, a)?.update(backend, a)
    }

    fn apply(&mut self, backend: &B, a: &A, r: &B::Vector<T>, z: &mut B::Vector<T>) -> Result<()> {
        self.analyse(backend, a)?.apply(backend, a, r, z)
    }

    fn apply_and_multiply(
        &mut self,
        backend: &B,
        a: &A,
        p: &mut B::Vector<T>,
        z: &mut B::Vector<T>,
        y: &mut B::Vector<T>,
        around: Option<Around<'_, B, T>>,
    ) -> Result<()> {
        self.analyse(backend, a)?.apply_and_multiply(backend, a, p, z, y, around)
    }

    fn is_idle_when_halted(&self, backend: &B, a: &A) -> bool {
        self.made.as_ref().is_some_and(|made| made.is_idle_when_halted(backend, a))
    }
}

/// Residual factor an iteration of BiCGStab beyond which multigrid does not contract. Where it
/// does, measured factors are below 0.15.
const CONTRACTION: f64 = 0.5;

/// A preconditioner of operators of type `A` under its name.
pub(crate) struct Form<B: Backend, T: Real, A> {
    /// Its name, as what took over.
    pub(crate) name: &'static str,
    /// Largest residual factor an iteration of the Krylov method that is taken for contraction.
    pub(crate) bound: Option<f64>,
    /// Whether it is of use for an operator.
    pub(crate) fits: fn(&A) -> bool,
    /// The preconditioner.
    pub(crate) preconditioner: Box<dyn Preconditioner<B, T, A>>,
}

/// A preconditioner and others that take its place in turn, where it cannot be made or the residual
/// falls by less than its bound.
pub struct Forms<B: Backend, T: Real, A>(pub(crate) VecDeque<Form<B, T, A>>);

impl<B: MultigridBackend, T: Real> Forms<B, T, B::Matrix<T>> {
    /// The forms of a preconditioner of this kind for matrices of the grid equations on `size` unknown
    /// points, or for the transposes of such matrices, not prepared for a matrix yet. Multigrid falls back
    /// on W cycles of two sweeps or more in double precision, then on ILU(0); the others have one form.
    pub fn of_matrix(
        (kind, schedule): (Kind, Schedule),
        multigrid: MultigridSettings,
        size: LevelSize,
        transposed: bool,
    ) -> Self {
        let form = |name, bound, preconditioner| Form {
            name,
            bound,
            fits: |_: &B::Matrix<T>| true,
            preconditioner,
        };
        let mut forms = VecDeque::new();
        if kind == Kind::Multigrid {
            let strong = multigrid.strengthened();
            let name = "multigrid";
            forms.push_back(form(
                name,
                Some(CONTRACTION),
                cycle::<B, T>(multigrid, size, transposed),
            ));
            if strong != multigrid {
                let name = "multigrid with W cycles in double precision";
                forms.push_back(form(
                    name,
                    Some(CONTRACTION),
                    cycle::<B, T>(strong, size, transposed),
                ));
            }
        }
        let last = FromMatrix::new(kind.algebraic(schedule));
        forms.push_back(form("ILU(0)", None, Box::new(last)));
        Self(forms)
    }
}

/// A multigrid cycle in its precision.
fn cycle<B: MultigridBackend, T: Real>(
    settings: MultigridSettings,
    size: LevelSize,
    transposed: bool,
) -> Box<dyn Preconditioner<B, T, B::Matrix<T>>> {
    match settings.precision {
        Precision::Single => Box::new(Multigrid::<B, f32>::new(settings, size, transposed)),
        Precision::Double => Box::new(Multigrid::<B, f64>::new(settings, size, transposed)),
    }
}

impl<B: Backend, T: Real, A> Preconditioner<B, T, A> for Forms<B, T, A> {
    fn update(&mut self, backend: &B, a: &A) -> Result<(), SolverError> {
        self.0.retain(|form| (form.fits)(a));
        self.0[0].preconditioner.update(backend, a)
    }

    fn apply(&mut self, backend: &B, a: &A, r: &B::Vector<T>, z: &mut B::Vector<T>) -> Result<()> {
        self.0[0].preconditioner.apply(backend, a, r, z)
    }

    fn apply_and_multiply(
        &mut self,
        backend: &B,
        a: &A,
        p: &mut B::Vector<T>,
        z: &mut B::Vector<T>,
        y: &mut B::Vector<T>,
        around: Option<Around<'_, B, T>>,
    ) -> Result<()>
    where
        A: LinearOperator<B, T>,
    {
        self.0[0].preconditioner.apply_and_multiply(backend, a, p, z, y, around)
    }

    fn is_idle_when_halted(&self, backend: &B, a: &A) -> bool {
        self.0[0].preconditioner.is_idle_when_halted(backend, a)
    }

    fn bound(&self) -> Option<f64> {
        self.0[0].bound
    }

    fn fall_back(&mut self) -> Option<&'static str> {
        if self.0.len() == 1 {
            return None;
        }
        self.0.pop_front();
        Some(self.0[0].name)
    }
}
