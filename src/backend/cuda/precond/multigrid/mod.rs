//! Multigrid on the CUDA backend.
//!
//! A level has one storage for the lines of both directions (`kernels/level.cuh`); the smoother
//! solves the lines of a colour by teams of threads (`kernels/lines.cuh`).

mod bands;
mod level;
mod smoother;

pub use self::level::CudaLevel;

use self::level::{LevelContents, LevelKind};
use crate::backend::cuda::algebra::{CudaMatrix, CudaVector};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::launch::constants::{
    BLOCK_VALUES, FLAT_ROWS, FLAT_THREADS, SUMMED_POINTS, WALL_SUMS,
};
use crate::backend::cuda::launch::shared::Pointer;
use crate::backend::cuda::launch::{LaunchShape, Result, WARP, by_width, kernels, launch};
use crate::backend::error::check_length;
use crate::backend::{Coarsening, LevelSize, MultigridBackend, Order, Real};
use crate::sparse::{EllPattern, WalledSides};

/// Most tiles of a level to which residuals are restricted by a thread each: they have multiprocessors of their own, and
/// wait for the memory once. More threads find less room on a multiprocessor together.
const FEW_TILES: u32 = 128;

impl MultigridBackend for CudaBackend {
    /// A set-up takes a fifth of an iteration.
    const LASTING: bool = false;

    /// The inverses of the runs of more columns have no room in the cache of an H100.
    const MOST_DIRECT: usize = 8192;

    type Level<M: Real> = CudaLevel<M>;

    fn level_size<M: Real>(&self, level: &CudaLevel<M>) -> LevelSize {
        level.part.as_ref().map_or(level.size, |part| part.size(level.size.mj))
    }

    fn finest_level<T: Real, M: Real>(
        &self,
        kept: Option<CudaLevel<M>>,
        (size, coarsening): (LevelSize, Coarsening),
        transposed: bool,
        a: &CudaMatrix<T>,
        columns: Option<&CudaMatrix<T>>,
    ) -> Result<CudaLevel<M>> {
        let walls = match columns.map(|columns| columns.pattern) {
            Some(EllPattern::WallColumns(_, walls)) => walls,
            _ => WalledSides::default(),
        };
        let compact = matches!(a.pattern, EllPattern::TenNumbers(_));
        let kind = LevelKind { compact, coarsening, walls, transposed };
        size.check(kept.as_ref().map(|kept| kept.size))?;
        let level = match (kept, &self.ranks) {
            (Some(kept), _) => kept,
            (None, Some(ranks)) => bands::band(self, ranks, ranks.bands.on_level(), size.mj, kind)?,
            (None, None) => CudaLevel::new(self, size, size.mi, kind)?,
        };
        level.size.check_matrices(a.pattern, columns.map(|columns| columns.pattern))?;
        let matrices = (&a.values, columns.map(|columns| &columns.values));
        let to = (&level.operator, &level.borders, &level.bad);
        let (layout, points) = (level.layout(), level.points());
        if compact {
            let name = by_width::<T>(kernels::load_numbers_single, kernels::load_numbers_double);
            launch!(self => (name)[M, points](layout, matrices, to))?;
        } else {
            let name = by_width::<T>(kernels::load_entries_single, kernels::load_entries_double);
            let edges = self.edges(level.size.periodic);
            launch!(self => (name)[M, points](layout, edges, matrices, to))?;
        }
        level.turn_operator(self, true)?;
        Ok(level)
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
        let target = coarse.target();
        let name = fine.kind.pick(kernels::coarsen_compact, kernels::coarsen_full);
        launch!(self => (name)[M, target.points()](fine.layout(), &fine.operator, &fine.bad,
            target.layout(), &target.operator, &coarse.bad))?;
        // A whole level is made of the pieces of all ranks.
        let planes = [BLOCK_VALUES, coarse.operator_planes()];
        coarse.join(self, planes, |level| &level.operator, Pointer::NULL)?;
        coarse.turn_operator(self, false)?;
        Ok(coarse)
    }

    fn factor<M: Real>(&self, levels: &[CudaLevel<M>]) -> Result<()> {
        CudaLevel::factor(self, levels)
    }

    fn factor_coarsest<M: Real>(&self, level: &mut CudaLevel<M>) -> Result<()> {
        level.invert(self)
    }

    fn solve_coarsest<M: Real>(&self, level: &mut CudaLevel<M>) -> Result<bool> {
        level.solve(self)
    }

    fn pivots_are_finite<M: Real>(&self, level: &CudaLevel<M>) -> Result<bool> {
        let bad = level.bad.to_host()?[0];
        Ok(self.numbers(bad.into())?.iter().all(|bad| *bad == 0))
    }

    fn load_right<T: Real, M: Real>(
        &self,
        r: &CudaVector<T>,
        level: &mut CudaLevel<M>,
    ) -> Result<()> {
        check_length(r.len(), level.size.values())?;
        let name = by_width::<T>(kernels::load_right_single, kernels::load_right_double);
        launch!(self => (name)[M, level.points()](level.layout(), r, &level.f, level.u()))?;
        level.set_contents(self, LevelContents::Zero);
        Ok(())
    }

    fn smooth<M: Real>(&self, level: &mut CudaLevel<M>, order: Order) -> Result<()> {
        level.relax(self, usize::from(order == Order::Reverse))
    }

    fn restrict_residual<M: Real>(
        &self,
        fine: &mut CudaLevel<M>,
        coarse: &mut CudaLevel<M>,
    ) -> Result<()> {
        self.level_size(fine).check_below(self.level_size(coarse))?;
        let beside = fine.residual_beside(self)?;
        let target = coarse.target();
        let name = if fine.kind.walls.has_beside() {
            kernels::restrict_sides
        } else {
            fine.kind.pick(kernels::restrict_compact, kernels::restrict_full)
        };
        let mut shape = target.points();
        if shape.grid[0] * shape.grid[1] <= FEW_TILES {
            shape.grid[1] = target.size.mj.div_ceil(FLAT_ROWS) as u32;
            shape.block[0] = FLAT_THREADS as u32;
        }
        shape.early = true;
        launch!(self => (name)[M, shape](fine.layout(), &fine.operator, &fine.f, fine.u(),
            fine.solved(), beside, target.layout(), &target.f, target.u()))?;
        if fine.kind.has_sums() {
            fine.restrict_sums(self, beside, target)?;
            if let (Some(turned), Some(target)) = (&fine.turned, &coarse.turned) {
                fine.turn_values(self)?;
                turned.restrict_sums(self, Pointer::NULL, target)?;
                coarse.turn(self, (true, true), |level| level.f.at(0))?;
            }
        }
        coarse.join(self, [2, 1], |level| &level.f, coarse.u())?;
        coarse.set_contents(self, LevelContents::Zero);
        Ok(())
    }

    fn prolong<M: Real>(
        &self,
        coarse: &CudaLevel<M>,
        fine: &mut CudaLevel<M>,
        next: Option<Order>,
    ) -> Result<()> {
        self.level_size(fine).check_below(self.level_size(coarse))?;
        let [start, wraps] = fine.start_in(self, coarse);
        let beside = fine.kind.walls.has_beside();
        let (columns, skipped) = match next {
            // Transposed equations are relaxed along xi first.
            Some(order) if !fine.kind.transposed && !beside => {
                (fine.size.mi.div_ceil(2), u32::from(order == Order::Reverse))
            }
            _ => (fine.size.mi, 2),
        };
        let shape = LaunchShape { early: true, ..LaunchShape::tiles(columns, fine.size.mj) };
        let name = if beside { kernels::prolong_sides } else { kernels::prolong };
        launch!(self => (name)[M, shape](fine.layout(), fine.u(), coarse.layout(), start, wraps,
            skipped, coarse.u()))?;
        fine.set_contents(self, LevelContents::Unknown);
        Ok(())
    }

    fn store_solution<T: Real, M: Real>(
        &self,
        level: &CudaLevel<M>,
        z: &mut CudaVector<T>,
    ) -> Result<()> {
        check_length(z.len(), level.size.values())?;
        let name = by_width::<T>(kernels::store_solution_single, kernels::store_solution_double);
        launch!(self => (name)[M, level.points()](level.layout(), level.u(), &*z))
    }
}

impl<M: Real> CudaLevel<M> {
    /// Right sides of the walled rows of transposed equations on the level below ← the sums here along the eta-lines.
    fn restrict_sums(&self, backend: &CudaBackend, beside: Pointer<M>, to: &Self) -> Result<()> {
        let blocks = to.size.mi.div_ceil(SUMMED_POINTS);
        let mut shape = LaunchShape::new(blocks, (WARP * WALL_SUMS) as u32);
        shape.grid[1] = self.kind.ends() as u32;
        launch!(backend => restrict_sums[M, shape](self.layout(), &self.operator, &self.borders,
            &self.f, self.u(), beside, to.layout(), &to.f))
    }
}
