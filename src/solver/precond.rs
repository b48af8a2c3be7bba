//! Preconditioners by name, the fall-backs that replace one that fails, and geometric multigrid.

pub use crate::backend::Coarsening;

use super::{Precision, Preconditioner, PreconditionerFailure, SolverError, present};
use crate::backend::multigrid::ColumnBlocks;
use crate::backend::{
    Algebraic, Backend, Incomplete, LevelSize, MultigridBackend, Order, Real, Result,
};
use crate::sparse::Schedule;
use std::collections::VecDeque;
use std::ops::Range;

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
    /// The preconditioner that is made from the entries of a matrix alone, with this schedule for its rows. Multigrid
    /// has it as its last fall-back.
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

/// Shape of the cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cycle {
    /// Each coarse level is visited once.
    V,
    /// Each coarse level is visited twice.
    W,
}

/// Settings of the multigrid cycle: the section `[multigrid]` of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MultigridSettings {
    /// Shape of the cycle.
    pub cycle: Cycle,
    /// Sweeps before and after each coarse correction on the two finest levels; twice as many on
    /// coarser ones.
    pub sweeps: usize,
    /// Most levels.
    pub levels: usize,
    /// Directions of coarsening.
    pub coarsening: Coarsening,
    /// Precision of the hierarchy, single in a case, whatever that of the Krylov method around it.
    #[serde(skip)]
    pub precision: Precision,
}

impl MultigridSettings {
    /// The strongest cycle on the same levels: W, at least two sweeps, double precision.
    pub(crate) fn strengthened(self) -> Self {
        let sweeps = self.sweeps.max(2);
        Self { cycle: Cycle::W, sweeps, precision: Precision::Double, ..self }
    }
}

impl Default for MultigridSettings {
    fn default() -> Self {
        Self {
            cycle: Cycle::V,
            sweeps: 1,
            levels: 16,
            coarsening: Coarsening::Full,
            precision: Precision::Single,
        }
    }
}

/// A level with fewer points along xi is not coarsened.
const SMALLEST_XI: usize = 15;
/// A level with fewer points along eta is not coarsened in that direction. Rows spread towards the
/// far field: where few are left each is several times as high as the row below it, the metric
/// terms outweigh the second differences (mesh Péclet numbers above 1), and line relaxation along
/// xi diverges.
const SMALLEST_ETA: usize = 31;
/// A level whose rows close around the seam keeps at least this number of points in them. On fewer, the
/// control functions of a base or a nose, which double from level to level, make line relaxation
/// along the rows diverge and the coarse correction overshoot; a held seam keeps both in bounds.
const SMALLEST_RING: usize = 32;
/// Forward and reverse sweeps on a coarsest level that is not solved directly, and on one whose rows close: it has more
/// points.
const COARSEST_SWEEPS: usize = 8;
const COARSEST_RING_SWEEPS: usize = 16;
/// Levels that take the sweeps of the settings; coarser ones take twice as many. Mesh Péclet
/// numbers double from level to level, and a single sweep there lets one smooth mode grow.
const FINE_LEVELS: usize = 2;
/// A grid is tall from this number of rows on its finest level. Mesh Péclet numbers of its last levels make their
/// correction overshoot: 24 iterations instead of 9 at 8193×2049 points with first cells of 1e-5, and none that end
/// around a cambered section. Its cycles have fewer levels, and visit some of them twice.
pub(crate) const TALL: usize = 2047;
/// Levels of tall C-grids by default, where on more V cycles do not converge if wakes are long, and most levels of W cycles
/// on any tall grid.
pub(crate) const FEW_LEVELS: usize = 5;
/// Points from which on the first sweep takes longer than the launch of the recording of all that follows. A sweep
/// that is a part of the recording waits for that launch.
const LONG: usize = 1 << 20;

/// One cycle from a zero guess on 9-point operators with 2×2 blocks: alternating zebra line
/// solves, linear transfer, Galerkin operators, with or without wall terms (theory section 6).
///
/// The work of a V(1,1) cycle is a fixed multiple of the number of unknowns, and the iterations
/// of a Krylov method around it do not grow with them, whatever the aspect ratio of the cells.
pub(crate) struct Multigrid<B: MultigridBackend, M: Real> {
    cycle_order: CycleOrder,
    size: LevelSize,
    /// Matrices are transposes, and the cycle is the transpose of the cycle for K.
    transposed: bool,
    levels: Vec<B::Level<M>>,
    /// The cycle's work between right side and solution, whose places never change.
    recording: B::Recording,
}

impl<B: MultigridBackend, M: Real> Multigrid<B, M> {
    /// A cycle for matrices of the grid equations on `size` unknown points, or for the transposes of such
    /// matrices; its levels are made at the first update.
    pub(crate) fn new(settings: MultigridSettings, size: LevelSize, transposed: bool) -> Self {
        let (levels, recording) = (Vec::new(), B::Recording::default());
        Self { cycle_order: CycleOrder::new(settings, size), size, transposed, levels, recording }
    }

    fn is_coarsest(&self, size: LevelSize) -> bool {
        let least = if size.wraps() { 2 * SMALLEST_RING } else { SMALLEST_XI };
        let high =
            size.mj >= SMALLEST_ETA || self.cycle_order.settings.coarsening == Coarsening::Xi;
        let wide = size.mi >= least && high;
        !wide || self.levels.len() >= self.cycle_order.levels
    }

    /// Makes operators and line factors of all levels for the present values of `a`, and of the wall columns
    /// where wall terms are unknowns. For transposed equations `a` is the transpose of the field's matrix;
    /// the columns are not transposed.
    ///
    /// # Errors
    /// If the device fails or a line has no finite pivot.
    pub(crate) fn prepare<T: Real>(
        &mut self,
        backend: &B,
        a: &B::Matrix<T>,
        columns: Option<&B::Matrix<T>>,
    ) -> Result<(), SolverError> {
        let coarsening = self.cycle_order.settings.coarsening;
        let mut kept = std::mem::take(&mut self.levels).into_iter();
        let (first, kind) = (kept.next(), (self.size, coarsening));
        let mut level = backend.finest_level(first, kind, self.transposed, a, columns)?;
        loop {
            let size = backend.level_size(&level);
            self.levels.push(level);
            if self.is_coarsest(size) {
                break;
            }
            let fine = &self.levels[self.levels.len() - 1];
            level = backend.coarse_level(kept.next(), fine, coarsening)?;
        }
        backend.factor(&self.levels)?;
        let below = self.levels.len() - 1;
        let coarsest = &mut self.levels[below];
        if below > 0 && ColumnBlocks::of(backend.level_size(coarsest)).are_small(B::MOST_DIRECT) {
            backend.factor_coarsest(coarsest)?;
        }
        let finite = backend.pivots_are_finite(coarsest)?;
        if finite { Ok(()) } else { Err(PreconditionerFailure::Line.into()) }
    }

    /// z ← one cycle on A z = r from z = 0.
    pub(crate) fn cycle<T: Real>(
        &mut self,
        backend: &B,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
    ) -> Result<()> {
        backend.load_right(r, &mut self.levels[0])?;
        let Self { cycle_order, levels, recording, size, .. } = self;
        if levels.len() == 1 || size.mi * size.mj < LONG {
            backend.replay(recording, || cycle_order.cycle(backend, 0, levels))?;
        } else {
            cycle_order.smooth(backend, 0, Order::Forward, &mut levels[0])?;
            backend.replay(recording, || cycle_order.correct(backend, 0, levels))?;
        }
        backend.store_solution(&self.levels[0], z)
    }
}

impl<B: MultigridBackend, T: Real, M: Real> Preconditioner<B, T, B::Matrix<T>> for Multigrid<B, M> {
    fn update(&mut self, backend: &B, a: &B::Matrix<T>) -> Result<(), SolverError> {
        self.prepare(backend, a, None)
    }

    fn apply(
        &mut self,
        backend: &B,
        _: &B::Matrix<T>,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
    ) -> Result<()> {
        self.cycle(backend, r, z)
    }
}

/// The order in which a cycle visits its levels.
struct CycleOrder {
    settings: MultigridSettings,
    /// Most levels.
    levels: usize,
    /// Numbers of levels above those from which the next one is visited twice.
    twice: Range<usize>,
}

/// The parts of a cycle. `depth` is the number of levels above the first of those that are given.
impl CycleOrder {
    /// The cycle for a grid with `size` unknown points. V cycles on tall grids have at most seven levels and visit the third
    /// and the fourth twice; where the settings allow five at most, they visit all but the first two twice.
    fn new(settings: MultigridSettings, size: LevelSize) -> Self {
        let tall = size.mj >= TALL && settings.coarsening == Coarsening::Full;
        let (most, twice) = match settings.cycle {
            Cycle::V if tall && settings.levels > FEW_LEVELS => (7, 1..3),
            Cycle::V if tall => (FEW_LEVELS, 1..4),
            Cycle::V => (usize::MAX, 0..0),
            Cycle::W if tall => (FEW_LEVELS, 0..usize::MAX),
            Cycle::W => (usize::MAX, 0..usize::MAX),
        };
        Self { settings, levels: settings.levels.min(most), twice }
    }

    /// Improves the solution of the first of `levels`, zero on coarse ones.
    fn cycle<B: MultigridBackend, M: Real>(
        &self,
        backend: &B,
        depth: usize,
        levels: &mut [B::Level<M>],
    ) -> Result<()> {
        let Some((fine, coarser)) = levels.split_first_mut() else { return Ok(()) };
        if coarser.is_empty() {
            if backend.solve_coarsest(fine)? {
                return Ok(());
            }
            let ring = backend.level_size(fine).wraps();
            let sweeps = if ring { COARSEST_RING_SWEEPS } else { COARSEST_SWEEPS };
            for _ in 0..sweeps {
                backend.smooth(fine, Order::Forward)?;
                backend.smooth(fine, Order::Reverse)?;
            }
            return Ok(());
        }
        self.smooth(backend, depth, Order::Forward, fine)?;
        self.correct(backend, depth, levels)
    }

    /// The sweeps before a coarse correction, or after it.
    fn smooth<B: MultigridBackend, M: Real>(
        &self,
        backend: &B,
        depth: usize,
        order: Order,
        level: &mut B::Level<M>,
    ) -> Result<()> {
        let sweeps = if depth < FINE_LEVELS { 1 } else { 2 } * self.settings.sweeps;
        (0..sweeps).try_for_each(|_| backend.smooth(level, order))
    }

    /// The coarse correction and the sweeps after it.
    fn correct<B: MultigridBackend, M: Real>(
        &self,
        backend: &B,
        depth: usize,
        levels: &mut [B::Level<M>],
    ) -> Result<()> {
        let Some((fine, coarser)) = levels.split_first_mut() else { return Ok(()) };
        let visits = if self.twice.contains(&depth) { 2 } else { 1 };
        for visit in 1..=visits {
            backend.restrict_residual(fine, &mut coarser[0])?;
            self.cycle(backend, depth + 1, coarser)?;
            let next = (visit == visits).then_some(Order::Reverse);
            backend.prolong(&coarser[0], fine, next)?;
        }
        self.smooth(backend, depth, Order::Reverse, fine)
    }
}
