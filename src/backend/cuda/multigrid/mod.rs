//! Multigrid on the CUDA backend.
//!
//! A level has one storage for the lines of both directions (`kernels/level.cuh`); the smoother
//! solves the lines of a colour by teams of threads (`kernels/lines.cu`).

mod level;
mod matrix;
mod team;

pub use level::CudaLevel;

use self::level::{Contents, Storage};
use super::kernel::{Shape, Source, arguments};
use super::{CudaBackend, CudaMatrix, CudaVector};
use crate::backend::{Coarsening, DeviceError, LevelSize, MultigridBackend, Order, Real};
use crate::sparse::Structure;

/// Coarse points of a block of the restriction: `TILE_I` and `TILE_J` of `kernels/transfer.cu`.
const TILE: [usize; 2] = [32, 8];

/// The kernel for vectors of `T`.
fn pick<T: Real>(single: &'static str, double: &'static str) -> &'static str {
    if size_of::<T>() == 4 { single } else { double }
}

impl MultigridBackend for CudaBackend {
    type Level<M: Real> = CudaLevel<M>;

    fn finest_level<M: Real>(
        &self,
        size: LevelSize,
        coarsening: Coarsening,
    ) -> Result<CudaLevel<M>, DeviceError> {
        CudaLevel::new(self, size, coarsening, Storage::Compact)
    }

    fn coarse_level<M: Real>(
        &self,
        fine: LevelSize,
        coarsening: Coarsening,
    ) -> Result<CudaLevel<M>, DeviceError> {
        CudaLevel::new(self, fine.coarser(coarsening), coarsening, Storage::Full)
    }

    fn load_operator<T: Real, M: Real>(
        &self,
        a: &CudaMatrix<T>,
        level: &mut CudaLevel<M>,
    ) -> Result<(), DeviceError> {
        debug_assert!(matches!(a.structure, Structure::NinePoint { .. }));
        let name = pick::<T>("load_operator_single", "load_operator_double");
        let mut arguments = level.wrapped_layout();
        let periodic = u32::from(level.size.periodic);
        arguments.extend(arguments![periodic, &a.values, &level.operator, &level.bad]);
        self.launch::<M>(Source::Level, name, level.point_pairs(), &arguments)?;
        level.factor(self)
    }

    fn coarsen<M: Real>(
        &self,
        fine: &CudaLevel<M>,
        coarse: &mut CudaLevel<M>,
    ) -> Result<(), DeviceError> {
        let name = fine.storage.pick("coarsen_compact", "coarsen_full");
        let mut arguments = fine.wrapped_layout();
        arguments.extend(arguments![&fine.operator, &fine.bad]);
        arguments.extend(coarse.layout());
        arguments.extend(arguments![&coarse.operator, &coarse.bad]);
        self.launch::<M>(Source::Level, name, coarse.point_pairs(), &arguments)?;
        coarse.factor(self)
    }

    fn pivots_are_finite<M: Real>(&self, level: &CudaLevel<M>) -> Result<bool, DeviceError> {
        let mut bad = [0];
        level.bad.download(&mut bad)?;
        Ok(bad[0] == 0)
    }

    fn load_right<T: Real, M: Real>(
        &self,
        r: &CudaVector<T>,
        level: &mut CudaLevel<M>,
    ) -> Result<(), DeviceError> {
        let name = pick::<T>("load_right_single", "load_right_double");
        let mut arguments = level.layout();
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
        let name = fine.storage.pick("restrict_compact", "restrict_full");
        let mut arguments = fine.wrapped_layout();
        arguments.extend(arguments![&fine.operator, &fine.f, fine.u(), fine.solved()]);
        arguments.extend(coarse.layout());
        arguments.extend(arguments![&coarse.f, coarse.u()]);
        let blocks = [coarse.size.mi.div_ceil(TILE[0]), coarse.size.mj.div_ceil(TILE[1])];
        let shape = Shape {
            grid: [blocks[0] as u32, blocks[1] as u32, coarse.copies as u32],
            block: [(TILE[0] * TILE[1]) as u32, 1, 1],
            shared: 0,
        };
        self.launch::<M>(Source::Transfer, name, shape, &arguments)?;
        coarse.set_contents(self, Contents::Zero);
        Ok(())
    }

    fn prolong<M: Real>(
        &self,
        coarse: &CudaLevel<M>,
        fine: &mut CudaLevel<M>,
    ) -> Result<(), DeviceError> {
        let mut arguments = fine.wrapped_layout();
        arguments.push(fine.u().into());
        arguments.extend(coarse.layout());
        arguments.push(coarse.u().into());
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
        let mut arguments = level.layout();
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
