//! A solve on several GPUs, a band of columns each.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Solved, Start, elliptic_settings, iterate};
use crate::backend::cuda::driver::Gpus;
use crate::backend::{Bands, DeviceError, Real};
use crate::elliptic::{GridProblem, elliptic_data};
use crate::error::Error;
use crate::grid::Grid;
use crate::solver::SolverError;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Start<'_> {
    /// Cuts the equations into bands, solves, and lets every GPU write its columns of the grid.
    pub(super) fn solve_in_bands<T: Real>(self, gpus: &Gpus) -> Result<Solved, Error> {
        let Self { case, initial, normals, tolerance, observer, .. } = self;
        let data = elliptic_data(&initial, normals, &elliptic_settings(case));
        // The solve needs the room.
        let Grid { topology, ni, nj, .. } = initial;
        let bands = Bands::new(data.mi, gpus.count(), data.periodic).map_err(DeviceError::from)?;
        let grid = Mutex::new(Grid::new(topology, ni, nj));
        let observer = Mutex::new(observer);
        let reports = gpus.run(&bands, |rank, backend| {
            let (mut problem, mut u) =
                GridProblem::<_, T>::from_data(backend, &bands.part(rank, &data))?;
            let size = problem.size();
            let mut newton = |observer| {
                iterate(case, tolerance, backend, (&mut problem, size), &mut u, observer)
            };
            // All ranks see the same: one of them tells it.
            let report = if rank == 0 { newton(&mut **lock(&observer)) } else { newton(&mut ()) }?;
            problem.load(backend, &u)?;
            problem.write(backend, &mut lock(&grid))?;
            Ok::<_, SolverError>(report)
        })?;
        let report = reports.into_iter().next().ok_or(DeviceError::NoGpu)?;
        let grid = grid.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Solved { grid, report, exported: Vec::new() })
    }
}
