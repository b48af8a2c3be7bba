//! A solve on several GPUs, a band of columns each.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::layout::Layout;
use super::{Follow, Job, Solved, elliptic_settings, iterate};
use crate::backend::cuda::driver::Gpus;
use crate::backend::{Bands, DeviceError, EllipticData, Real};
use crate::case::Case;
use crate::elliptic::GridProblem;
use crate::error::Error;
use crate::grid::Grid;
use crate::grid::initial::Marcher;
use crate::io::report::Timing;
use crate::solver::SolverError;
use crate::solver::newton::NewtonReport;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Job<'_> {
    /// Marches on the first GPU, cuts the equations into bands, solves, and lets every GPU write
    /// its columns of the grid.
    pub(super) fn solve_in_bands<T: Real>(
        &mut self,
        case: &Case,
        gpus: &Gpus,
        layout: &Layout,
        tolerance: f64,
        timing: &mut Timing,
    ) -> Result<Solved, Error> {
        let first = gpus.first()?;
        let marched = self.initial_grid(case, &first, layout, timing)?;
        self.timed("newton", &mut timing.newton_seconds, |job| {
            let data = {
                let initial = first.give(marched)?;
                EllipticData::new(&initial, &layout.normals, &elliptic_settings(case))
            };
            // The solve needs the room.
            drop(first);
            let bands =
                Bands::new(data.mi, gpus.count(), data.periodic).map_err(DeviceError::from)?;
            let grid = Grid::new(layout.topology, case.grid.ni, case.grid.nj);
            let (report, grid) = job.bands::<T>(case, gpus, &bands, &data, tolerance, grid)?;
            Ok(Solved { grid, report, exported: Vec::new() })
        })
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
        let observer = Mutex::new(Follow(self.progress));
        let grid = Mutex::new(grid);
        let reports = gpus.run(bands, |rank, backend| {
            let (mut problem, mut u) =
                GridProblem::<_, T>::from_data(backend, &bands.part(rank, data))?;
            let size = problem.size();
            let mut newton = |observer| {
                iterate(case, tolerance, backend, (&mut problem, size), &mut u, observer)
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
