//! Multigrid on the CUDA backend.
//!
//! A level has one storage for the lines of both directions (`kernels/level.cuh`); the smoother
//! solves the lines of a colour by teams of threads (`kernels/lines.cu`).
//!
//! A cycle from a zero guess is linear in its right side. On small levels it takes hundreds of
//! launches for little work, so it is done once for all unit vectors together, each a copy of
//! right side and solution, and applied as the matrix of the answers.

mod bands;
mod level;
mod smoother;

pub use self::level::CudaLevel;

use self::level::{Contents, CycleMatrix, LevelKind};
use crate::backend::cuda::algebra::{CudaMatrix, CudaVector};
use crate::backend::cuda::backend::{CudaBackend, CudaRecording};
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::{SUMMED_POINTS, WALL_SUMS};
use crate::backend::cuda::launch::{LaunchShape, Result, Source, WARP, arguments};
use crate::backend::error::check_length;
use crate::backend::{Backend, Coarsening, LevelSize, MultigridBackend, Order, Real};
use std::mem::swap;

/// The kernel for vectors of `T`.
fn pick<T: Real>(single: &'static str, double: &'static str) -> &'static str {
    if size_of::<T>() == 4 { single } else { double }
}

impl MultigridBackend for CudaBackend {
    type Level<M: Real> = CudaLevel<M>;

    fn level_size<M: Real>(&self, level: &CudaLevel<M>) -> LevelSize {
        level.part.as_ref().map_or(level.size, |part| part.size(level.size.mj))
    }

    fn finest_level<T: Real, M: Real>(
        &self,
        kept: Option<CudaLevel<M>>,
        (size, coarsening): (LevelSize, Coarsening),
        a: &CudaMatrix<T>,
        columns: Option<&CudaMatrix<T>>,
    ) -> Result<CudaLevel<M>> {
        let walls = columns.is_some();
        let kind = LevelKind { compact: true, coarsening, walls, transposed: false };
        finest(self, kept, (size, kind), a, columns)
    }

    fn finest_transposed_level<T: Real, M: Real>(
        &self,
        kept: Option<CudaLevel<M>>,
        (size, coarsening): (LevelSize, Coarsening),
        a: &CudaMatrix<T>,
        columns: Option<&CudaMatrix<T>>,
    ) -> Result<CudaLevel<M>> {
        let walls = columns.is_some();
        let kind = LevelKind { compact: false, coarsening, walls, transposed: true };
        finest(self, kept, (size, kind), a, columns)
    }
    fn coarse_level<M: Real>(
        &self,
        kept: Option<CudaLevel<M>>,
        fine: &CudaLevel<M>,
        coarsening: Coarsening,
    ) -> Result<CudaLevel<M>> {
        let kind = LevelKind { compact: false, coarsening, ..fine.kind };
        let below = self.level_size(fine).coarser(coarsening);
        below.check(kept.as_ref().map(|kept| self.level_size(kept)))?;
        let coarse = match (kept, &self.ranks, &fine.part) {
            (Some(kept), ..) => kept,
            (None, Some(ranks), Some(part)) => bands::below(self, ranks, fine, part, kind)?,
            _ => {
                let size = fine.size.coarser(coarsening);
                CudaLevel::new(self, size, size.mi, kind)?
            }
        };
        fine.refresh_operator(self)?;
        let (name, target) = (fine.kind.pick("coarsen_compact", "coarsen_full"), coarse.target());
        let mut arguments = arguments![fine.layout(), &fine.operator, &fine.bad];
        arguments.extend(arguments![target.layout(), &target.operator, &coarse.bad]);
        self.launch::<M>(Source::Level, name, target.points(), &arguments)?;
        coarse.join_operator(self)?;
        coarse.choose_borders(self, fine)?;
        Ok(coarse)
    }

    fn factor<M: Real>(&self, levels: &[CudaLevel<M>]) -> Result<()> {
        CudaLevel::factor(self, levels)
    }

    fn pivots_are_finite<M: Real>(&self, level: &CudaLevel<M>) -> Result<bool> {
        let bad = level.bad.to_host()?[0];
        match &self.ranks {
            Some(ranks) => Ok(ranks.numbers(bad.into())?.iter().all(|bad| *bad == 0)),
            None => Ok(bad == 0),
        }
    }

    fn load_right<T: Real, M: Real>(
        &self,
        r: &CudaVector<T>,
        level: &mut CudaLevel<M>,
    ) -> Result<()> {
        check_length(r.len(), level.size.values())?;
        let name = pick::<T>("load_right_single", "load_right_double");
        let arguments = arguments![level.layout(), r, &level.f, level.u()];
        self.launch::<M>(Source::Level, name, level.points(), &arguments)?;
        level.set_contents(self, Contents::Zero);
        Ok(())
    }

    fn smooth<M: Real>(&self, level: &mut CudaLevel<M>, order: Order) -> Result<()> {
        level.relax(self, usize::from(order == Order::Reverse))
    }

    fn smooth_in_turn<M: Real>(&self, level: &mut CudaLevel<M>, sweeps: usize) -> Result<bool> {
        let suits = level.suits_one_block();
        if suits {
            level.relax_in_turn(self, sweeps)?;
        }
        Ok(suits)
    }

    fn restrict_residual<M: Real>(
        &self,
        fine: &mut CudaLevel<M>,
        coarse: &mut CudaLevel<M>,
    ) -> Result<()> {
        self.level_size(fine).check_below(self.level_size(coarse))?;
        let beside = fine.residual_beside(self)?;
        let (name, target) = (fine.kind.pick("restrict_compact", "restrict_full"), coarse.target());
        let mut arguments = arguments![fine.layout(), &fine.operator, &fine.f, fine.u()];
        arguments.extend(arguments![fine.solved(), beside.clone()]);
        arguments.extend(arguments![target.layout(), &target.f, target.u()]);
        self.launch::<M>(Source::Transfer, name, target.points(), &arguments)?;
        if fine.kind.has_sums() {
            let mut arguments = arguments![fine.layout(), &fine.operator, &fine.borders];
            arguments.extend(arguments![&fine.f, fine.u(), beside, target.layout(), &target.f]);
            let mut shape =
                LaunchShape::new(target.size.mi.div_ceil(SUMMED_POINTS), (WARP * WALL_SUMS) as u32);
            shape.grid[2] = coarse.copies as u32;
            self.launch::<M>(Source::Transfer, "restrict_sums", shape, &arguments)?;
        }
        coarse.join_right(self)?;
        coarse.set_contents(self, Contents::Zero);
        Ok(())
    }

    fn prolong<M: Real>(&self, coarse: &CudaLevel<M>, fine: &mut CudaLevel<M>) -> Result<()> {
        self.level_size(fine).check_below(self.level_size(coarse))?;
        let [start, wraps] = fine.start_in(self, coarse);
        let mut arguments = arguments![fine.layout(), fine.u(), coarse.layout()];
        arguments.extend(arguments![start, wraps, coarse.u()]);
        self.launch::<M>(Source::Transfer, "prolong", fine.points(), &arguments)?;
        fine.set_contents(self, Contents::Unknown);
        Ok(())
    }

    fn store_solution<T: Real, M: Real>(
        &self,
        level: &CudaLevel<M>,
        z: &mut CudaVector<T>,
    ) -> Result<()> {
        check_length(z.len(), level.size.values())?;
        let name = pick::<T>("store_solution_single", "store_solution_double");
        let arguments = arguments![level.layout(), level.u(), &*z];
        self.launch::<M>(Source::Level, name, level.points(), &arguments)
    }

    fn prepare_cycle<M: Real>(
        &self,
        levels: &mut [CudaLevel<M>],
        mut work: impl FnMut(&mut [CudaLevel<M>]) -> Result<()>,
    ) -> Result<()> {
        // A matrix of a larger level stands for this one.
        let n = unknowns(&levels[0]);
        if n > self.matrix_unknowns || levels[0].covered || levels[0].part.is_some() {
            return Ok(());
        }
        let kept = levels[0].matrix.take();
        let mut matrix = kept.map_or_else(|| CycleMatrix::new(self, levels), Ok)?;
        for level in &mut levels[1..] {
            level.covered = true;
        }
        matrix.exchange(levels, n);
        let found = find(self, &mut matrix, levels, &mut work);
        matrix.exchange(levels, 1);
        found?;
        levels[0].matrix = Some(matrix);
        Ok(())
    }

    fn apply_cycle<M: Real>(&self, level: &mut CudaLevel<M>) -> Result<bool> {
        let Some(matrix) = &level.matrix else { return Ok(false) };
        let arguments = arguments![level.layout(), &matrix.blocks, &level.f, level.u()];
        let shape = LaunchShape::threads(32 * level.size.mi * level.size.mj);
        self.launch::<M>(Source::Transfer, "apply_matrix", shape, &arguments)?;
        level.set_contents(self, Contents::Unknown);
        Ok(true)
    }
}

/// The finest level of this kind.
fn finest<T: Real, M: Real>(
    backend: &CudaBackend,
    kept: Option<CudaLevel<M>>,
    (size, kind): (LevelSize, LevelKind),
    a: &CudaMatrix<T>,
    columns: Option<&CudaMatrix<T>>,
) -> Result<CudaLevel<M>> {
    size.check(kept.as_ref().map(|kept| kept.size))?;
    let level = match (kept, &backend.ranks) {
        (Some(kept), _) => kept,
        (None, Some(ranks)) => bands::band(backend, ranks, ranks.bands.on_level(), size.mj, kind)?,
        (None, None) => CudaLevel::new(backend, size, size.mi, kind)?,
    };
    level.size.check_matrices(&a.pattern, columns.map(|columns| &columns.pattern))?;
    let name = if kind.transposed {
        pick::<T>("load_transposed_single", "load_transposed_double")
    } else {
        pick::<T>("load_operator_single", "load_operator_double")
    };
    let columns = columns.map_or(0, |columns| columns.values.address());
    let mut arguments = arguments![level.layout(), backend.edges(level.size.periodic)];
    arguments.extend(arguments![&a.values, columns]);
    arguments.extend(arguments![&level.operator, &level.borders, &level.bad]);
    backend.launch::<M>(Source::Level, name, level.points(), &arguments)?;
    Ok(level)
}

impl<M: Real> CycleMatrix<M> {
    fn new(backend: &CudaBackend, levels: &[CudaLevel<M>]) -> Result<Self> {
        let unknowns = unknowns(&levels[0]);
        let probes = levels.iter().map(|level| level.workspace(backend, unknowns));
        Ok(Self {
            blocks: Buffer::zeros(&backend.device, unknowns * unknowns)?,
            probes: probes.collect::<Result<_, _>>()?,
            probing: CudaRecording::default(),
        })
    }

    /// Exchanges what the levels hold for the probes, or back.
    fn exchange(&mut self, levels: &mut [CudaLevel<M>], copies: usize) {
        for (level, [f, u]) in levels.iter_mut().zip(&mut self.probes) {
            swap(&mut level.f, f);
            swap(&mut level.u, u);
            level.copies = copies;
        }
    }
}

fn unknowns<M>(level: &CudaLevel<M>) -> usize {
    2 * level.size.mi * level.size.mj
}

/// Finds the matrix of `work`, the cycle through `levels`.
fn find<M: Real>(
    backend: &CudaBackend,
    matrix: &mut CycleMatrix<M>,
    levels: &mut [CudaLevel<M>],
    work: &mut impl FnMut(&mut [CudaLevel<M>]) -> Result<()>,
) -> Result<()> {
    let arguments = arguments![levels[0].layout(), &levels[0].f, levels[0].u()];
    backend.launch::<M>(Source::Transfer, "unit_vectors", levels[0].points(), &arguments)?;
    levels[0].set_contents(backend, Contents::Zero);
    backend.replay(&mut matrix.probing, || work(levels))?;
    let arguments = arguments![levels[0].layout(), levels[0].u(), &matrix.blocks];
    let blocks = matrix.blocks.len() / 4;
    backend.launch::<M>(Source::Transfer, "gather_matrix", LaunchShape::threads(blocks), &arguments)
}
