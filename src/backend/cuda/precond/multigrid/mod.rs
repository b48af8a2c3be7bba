//! Multigrid on the CUDA backend.
//!
//! A level has one storage for the lines of both directions (`kernels/level.cuh`); the smoother
//! solves the lines of a colour by teams of threads (`kernels/lines.cu`).

mod bands;
mod level;
mod matrix;
mod neighbours;
mod smoother;
mod spikes;
mod team;

pub use level::CudaLevel;

use self::level::{Contents, LevelKind, Storage};
use crate::backend::cuda::algebra::{CudaMatrix, CudaVector};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::launch::shared::{RESTRICT_I, RESTRICT_J};
use crate::backend::cuda::launch::{LaunchShape, Source, arguments};
use crate::backend::{Coarsening, DeviceError, LevelSize, MultigridBackend, Order, Real};
use crate::sparse::Structure;

/// Coarse points of a block of the restriction.
const TILE: [usize; 2] = [RESTRICT_I, RESTRICT_J];

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
    ) -> Result<CudaLevel<M>, DeviceError> {
        debug_assert!(matches!(a.structure, Structure::NinePoint { .. }));
        let walls = columns.is_some();
        let kind = LevelKind { storage: Storage::Compact, coarsening, walls };
        let level = match (kept, &self.ranks) {
            (Some(kept), _) => kept,
            (None, Some(ranks)) => {
                bands::band(self, ranks, ranks.bands().on_level(), size.mj, kind)?
            }
            (None, None) => CudaLevel::new(self, size, kind)?,
        };
        let name = pick::<T>("load_operator_single", "load_operator_double");
        let mut arguments = arguments![level.edged_layout()];
        let columns = columns.map_or(0_u64.into(), |columns| (&columns.values).into());
        arguments.extend(arguments![self.edges(level.size.periodic), &a.values]);
        arguments.push(columns);
        arguments.extend(arguments![&level.operator, &level.borders, &level.bad]);
        self.launch::<M>(Source::Level, name, level.point_pairs(), &arguments)?;
        level.factor(self)?;
        Ok(level)
    }

    fn coarse_level<M: Real>(
        &self,
        kept: Option<CudaLevel<M>>,
        fine: &CudaLevel<M>,
        coarsening: Coarsening,
    ) -> Result<CudaLevel<M>, DeviceError> {
        let kind = LevelKind { storage: Storage::Full, coarsening, walls: fine.walls };
        let coarse = match (kept, &self.ranks, &fine.part) {
            (Some(kept), ..) => kept,
            (None, Some(ranks), Some(part)) => bands::below(self, ranks, fine, part, kind)?,
            _ => CudaLevel::new(self, fine.size.coarser(coarsening), kind)?,
        };
        fine.refresh_operator(self)?;
        let (name, target) =
            (fine.storage.pick("coarsen_compact", "coarsen_full"), coarse.target());
        let mut arguments = arguments![fine.edged_layout()];
        arguments.extend(arguments![&fine.operator, &fine.bad]);
        arguments.push(target.layout().into());
        arguments.extend(arguments![&target.operator, &coarse.bad]);
        self.launch::<M>(Source::Level, name, target.point_pairs(), &arguments)?;
        coarse.join_operator(self)?;
        coarse.choose_borders(self, fine)?;
        coarse.factor(self)?;
        Ok(coarse)
    }

    fn pivots_are_finite<M: Real>(&self, level: &CudaLevel<M>) -> Result<bool, DeviceError> {
        let mut bad = [0];
        level.bad.download(&mut bad)?;
        match &self.ranks {
            Some(ranks) => Ok(ranks.numbers(bad[0].into())?.iter().all(|bad| *bad == 0)),
            None => Ok(bad[0] == 0),
        }
    }

    fn load_right<T: Real, M: Real>(
        &self,
        r: &CudaVector<T>,
        level: &mut CudaLevel<M>,
    ) -> Result<(), DeviceError> {
        let name = pick::<T>("load_right_single", "load_right_double");
        let mut arguments = arguments![level.layout()];
        arguments.extend(arguments![r, &level.f, level.u()]);
        self.launch::<M>(Source::Level, name, level.point_pairs(), &arguments)?;
        level.set_contents(self, Contents::Zero);
        Ok(())
    }

    fn smooth<M: Real>(&self, level: &mut CudaLevel<M>, order: Order) -> Result<(), DeviceError> {
        level.relax(self, usize::from(order == Order::Reverse))
    }

    fn restrict_residual<M: Real>(
        &self,
        fine: &mut CudaLevel<M>,
        coarse: &mut CudaLevel<M>,
    ) -> Result<(), DeviceError> {
        let beside = fine.residual_beside(self)?;
        let (name, target) =
            (fine.storage.pick("restrict_compact", "restrict_full"), coarse.target());
        let mut arguments = arguments![fine.edged_layout()];
        arguments.extend(arguments![&fine.operator, &fine.f, fine.u(), fine.solved()]);
        arguments.push(beside);
        arguments.push(target.layout().into());
        arguments.extend(arguments![&target.f, target.u()]);
        let blocks = [target.size.mi.div_ceil(TILE[0]), target.size.mj.div_ceil(TILE[1])];
        let shape = LaunchShape {
            grid: [blocks[0] as u32, blocks[1] as u32, coarse.copies as u32],
            block: [(TILE[0] * TILE[1]) as u32, 1, 1],
            shared: 0,
        };
        self.launch::<M>(Source::Transfer, name, shape, &arguments)?;
        coarse.join_right(self)?;
        coarse.set_contents(self, Contents::Zero);
        Ok(())
    }

    fn prolong<M: Real>(
        &self,
        coarse: &CudaLevel<M>,
        fine: &mut CudaLevel<M>,
    ) -> Result<(), DeviceError> {
        let [start, wraps] = fine.start_in(self, coarse);
        let mut arguments = arguments![fine.edged_layout()];
        arguments.push(fine.u().into());
        arguments.push(coarse.layout().into());
        arguments.extend(arguments![start, wraps, coarse.u()]);
        self.launch::<M>(Source::Transfer, "prolong", fine.point_pairs(), &arguments)?;
        fine.set_contents(self, Contents::Unknown);
        Ok(())
    }

    fn store_solution<T: Real, M: Real>(
        &self,
        level: &CudaLevel<M>,
        z: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        let name = pick::<T>("store_solution_single", "store_solution_double");
        let mut arguments = arguments![level.layout()];
        arguments.extend(arguments![level.u(), &*z]);
        self.launch::<M>(Source::Level, name, level.point_pairs(), &arguments)
    }

    fn prepare_cycle<M: Real>(
        &self,
        levels: &mut [CudaLevel<M>],
        work: impl FnMut(&mut [CudaLevel<M>]) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        matrix::prepare(self, levels, work)
    }

    fn apply_cycle<M: Real>(&self, level: &mut CudaLevel<M>) -> Result<bool, DeviceError> {
        matrix::apply(self, level)
    }
}
