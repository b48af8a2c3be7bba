//! A solve on several devices, a band of columns each.

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::attempt::Goal;
use super::identity::identity;
use super::layout::Layout;
use super::observe::{Decision, Follow, download};
use super::solve::{Solved, can_go_on, elliptic_settings, finished, iterate, usable_restart};
use super::{Job, Ranks};
use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::{CudaBackend, CudaVector};
use crate::backend::{Backend, Bands, DeviceError, EllipticData, GridBackend, Real};
use crate::case::Case;
use crate::elliptic::GridProblem;
use crate::error::Error;
use crate::grid::Grid;
use crate::grid::quality::{Quality, measure};
use crate::report::Timing;
use crate::solver::history::{History, NewtonStep};
use crate::solver::newton::{NewtonReport, Observer};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The unknowns of all bands on the host.
struct State<'a> {
    bands: &'a Bands,
    unknowns: usize,
    /// Empty until they are needed.
    values: Mutex<Vec<f64>>,
}

impl State<'_> {
    /// Puts those of a band to the others'.
    fn put(
        &self,
        rank: usize,
        backend: &CudaBackend,
        u: &CudaVector<f64>,
    ) -> Result<(), DeviceError> {
        let share = self.bands.of(rank).len() * self.unknowns / self.bands.columns();
        let part = download(backend, u, share)?;
        let mut values = lock(&self.values);
        values.resize(self.unknowns, 0.0);
        self.bands.put_state(rank, &part, &mut values);
        Ok(())
    }
}

/// Follows a solve in bands on one rank.
struct InBands<'a, 'f> {
    rank: usize,
    state: &'a State<'a>,
    /// What all ranks follow, on the first of them.
    follow: Option<&'a mut Follow<'f>>,
}

impl Observer<CudaBackend> for InBands<'_, '_> {
    fn newton(&mut self, step: &NewtonStep) {
        if let Some(follow) = &mut self.follow {
            Observer::<CudaBackend>::newton(&mut **follow, step);
        }
    }

    fn linear(&mut self, iteration: f64, relative_residual: f64) {
        if let Some(follow) = &mut self.follow {
            Observer::<CudaBackend>::linear(&mut **follow, iteration, relative_residual);
        }
    }

    /// The first rank decides for all.
    fn accepted(
        &mut self,
        backend: &CudaBackend,
        u: &CudaVector<f64>,
        history: &History,
    ) -> Result<ControlFlow<()>, DeviceError> {
        let own = self.follow.as_ref().map_or(Decision::GoOn, |follow| follow.decision(history));
        let decided = backend.broadcast(own as u64)?;
        if decided == Decision::Stop as u64 {
            return Ok(ControlFlow::Break(()));
        }
        if decided == Decision::Keep as u64 {
            self.state.put(self.rank, backend, u)?;
            // Now all have put theirs, and the first takes hold of them.
            backend.broadcast(0)?;
            let held = self.follow.is_some().then(|| lock(&self.state.values));
            // The others wait here, on the host, until they are written: a kernel would lose patience.
            backend.broadcast(0)?;
            match (&mut self.follow, held) {
                (Some(follow), Some(values)) => follow.keep(history, &values),
                _ => drop(lock(&self.state.values)),
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// A solve in bands: what is solved for, from where, and what to.
struct Bound<'a> {
    case: &'a Case,
    data: &'a EllipticData,
    tolerance: f64,
    /// What led to the unknowns to begin with, if they are not the first guess.
    from: Option<(History, Vec<f64>)>,
}

impl Job<'_> {
    /// Marches on the first device, cuts the equations into bands, solves, and lets every device write
    /// its columns of the grid. On the host its symmetry is restored, whose partners are columns of
    /// different devices, and it is measured there.
    pub(super) fn solve_in_bands<T: Real>(
        &mut self,
        case: &Case,
        ranks: &dyn Ranks,
        layout: &Layout,
        Goal { tolerance, keeper, .. }: Goal<'_>,
        timing: &mut Timing,
    ) -> Result<(Solved, Quality), Error> {
        let first = ranks.first()?;
        let marched = self.initial_grid(case, &first, layout, timing)?;
        let (solved, ()) = self.followed(case, layout, keeper, timing, |follow, restart| {
            let data = {
                let mut initial = Grid::new(layout.topology, case.grid.around(), case.grid.nj);
                first.fetch(&marched, &mut initial)?;
                EllipticData::new(&initial, &layout.normals, &elliptic_settings(case))
            };
            // The solve needs the room.
            drop(first);
            let bands =
                Bands::new(data.mi, ranks.count(), data.periodic).map_err(DeviceError::from)?;
            let unknowns = 2 * data.mi * data.mj;
            follow.unknowns = unknowns;
            let from = match restart {
                Some(path) => {
                    let restart = usable_restart(path, &identity(case)?, unknowns)?;
                    Some((restart.history, restart.state))
                }
                None => None,
            };
            let state = State { bands: &bands, unknowns, values: Mutex::default() };
            let grid = Grid::new(layout.topology, case.grid.around(), case.grid.nj);
            let bound = Bound { case, data: &data, tolerance, from };
            let (report, grid) = bound.solve::<T>(ranks, &state, follow, grid)?;
            let grid = finished(&CpuBackend, grid, layout, report.stop.converged())?;
            let kept = can_go_on(report.stop).then(|| std::mem::take(&mut *lock(&state.values)));
            let state = kept.unwrap_or_default();
            Ok((Solved { grid, report, state, exported: Vec::new() }, ()))
        })?;
        let quality = self.timed("quality", &mut timing.quality_seconds, |_| measure(&solved.grid));
        Ok((solved, quality))
    }
}

impl Bound<'_> {
    /// The report of the first rank, and the grid. A state that can go on is left in `state`.
    fn solve<T: Real>(
        self,
        ranks: &dyn Ranks,
        state: &State<'_>,
        follow: &mut Follow<'_>,
        grid: Grid,
    ) -> Result<(NewtonReport, Grid), Error> {
        let bands = state.bands;
        let (follow, grid, report) = (Mutex::new(follow), Mutex::new(grid), Mutex::new(None));
        ranks.run(bands, &|rank, backend| {
            let (mut problem, mut u) =
                GridProblem::<_, T>::from_data(backend, &bands.part(rank, self.data))?;
            let mut history = History::default();
            if let Some((taken, all)) = &self.from {
                backend.upload(&bands.part_of_state(rank, all), &mut u)?;
                history = taken.clone();
            }
            let size = problem.size();
            let goal = (self.tolerance, history);
            // Held for the whole solve.
            let mut follow = (rank == 0).then(|| lock(&follow));
            let follow = follow.as_mut().map(|follow| &mut ***follow);
            let observer = &mut InBands { rank, state, follow };
            let found = iterate(self.case, goal, backend, (&mut problem, size), &mut u, observer)?;
            if can_go_on(found.stop) {
                state.put(rank, backend, &u)?;
            }
            problem.load(backend, &u)?;
            problem.write(backend, &mut lock(&grid))?;
            if rank == 0 {
                *lock(&report) = Some(found);
            }
            Ok(())
        })?;
        let report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
        let grid = grid.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((report.ok_or(DeviceError::NoGpu)?, grid))
    }
}
