//! A solve on several GPUs, a band of columns each.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::attempt::Goal;
use super::layout::Layout;
use super::solve::{Solved, elliptic_settings, finished, iterate};
use super::{Job, Progress};
use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::CudaBackend;
use crate::backend::cuda::driver::Gpus;
use crate::backend::{Bands, DeviceError, EllipticData, Real};
use crate::case::Case;
use crate::elliptic::GridProblem;
use crate::error::Error;
use crate::grid::Grid;
use crate::grid::initial::Marcher;
use crate::grid::quality::{Quality, measure};
use crate::io::report::Timing;
use crate::solver::SolverError;
use crate::solver::history::{History, NewtonStep};
use crate::solver::newton::{NewtonReport, Observer};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes on what Newton reports. A solve in bands goes to its end: its state is on several GPUs.
struct Told<'a>(&'a mut dyn Progress);

impl Observer<CudaBackend> for Told<'_> {
    fn newton(&mut self, step: &NewtonStep) {
        self.0.newton(step);
    }

    fn linear(&mut self, iteration: f64, relative_residual: f64) {
        self.0.linear(iteration, relative_residual);
    }
}

impl Job<'_> {
    /// Marches on the first GPU, cuts the equations into bands, solves, and lets every GPU write
    /// its columns of the grid. On the host its symmetry is restored, whose partners are columns of
    /// different GPUs, and it is measured there.
    pub(super) fn solve_in_bands<T: Real>(
        &mut self,
        case: &Case,
        gpus: &Gpus,
        layout: &Layout,
        goal: Goal<'_>,
        timing: &mut Timing,
    ) -> Result<(Solved, Quality), Error> {
        let first = gpus.first()?;
        let marched = self.initial_grid(case, &first, layout, timing)?;
        let solved = self.timed("newton", &mut timing.newton_seconds, |job| {
            let data = {
                let initial = first.give(marched)?;
                EllipticData::new(&initial, &layout.normals, &elliptic_settings(case))
            };
            // The solve needs the room.
            drop(first);
            let bands =
                Bands::new(data.mi, gpus.count(), data.periodic).map_err(DeviceError::from)?;
            let grid = Grid::new(layout.topology, case.grid.around(), case.grid.nj);
            let (report, grid) = job.bands::<T>(case, gpus, &bands, &data, goal.tolerance, grid)?;
            let grid = finished(&CpuBackend, grid, layout, report.stop.converged())?;
            Ok::<_, Error>(Solved { grid, report, state: Vec::new(), exported: Vec::new() })
        })?;
        let quality = self.timed("quality", &mut timing.quality_seconds, |_| measure(&solved.grid));
        Ok((solved, quality))
    }

    fn bands<T: Real>(
        &mut self,
        case: &Case,
        gpus: &Gpus,
        bands: &Bands,
        data: &EllipticData,
        tolerance: f64,
        grid: Grid,
    ) -> Result<(NewtonReport, Grid), SolverError> {
        let observer = Mutex::new(Told(&mut *self.progress));
        let grid = Mutex::new(grid);
        let reports = gpus.run(bands, |rank, backend| {
            let (mut problem, mut u) =
                GridProblem::<_, T>::from_data(backend, &bands.part(rank, data))?;
            let size = problem.size();
            let mut newton = |observer: &mut dyn Observer<CudaBackend>| {
                let goal = (tolerance, History::default());
                iterate(case, goal, backend, (&mut problem, size), &mut u, observer)
            };
            // All ranks see the same: one of them tells it.
            let report = if rank == 0 { newton(&mut *lock(&observer)) } else { newton(&mut ()) }?;
            problem.load(backend, &u)?;
            problem.write(backend, &mut lock(&grid))?;
            Ok::<_, SolverError>(report)
        })?;
        let report = reports.into_iter().next().ok_or(DeviceError::NoGpu)?;
        Ok((report, grid.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }
}
