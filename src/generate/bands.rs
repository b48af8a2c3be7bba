//! A solve on several devices, a band of columns each.

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::restart::{Action, Restarts, SolveObserver, download};
use super::solve::{Control, GridResult, can_go_on, initial_grid};
use super::{Problem, Ranks};
use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::{CudaBackend, CudaVector};
use crate::backend::{Backend, Bands, DeviceError, EllipticData, GridBackend, Real};
use crate::elliptic::GridProblem;
use crate::error::Error;
use crate::files::restart::Restart;
use crate::grid::Grid;
use crate::grid::quality::measure;
use crate::solver::history::{History, NewtonStep};
use crate::solver::newton::{self, NewtonReport, Observer};

/// Marches on the first device, cuts the equations into bands, solves, and lets every device write its
/// columns of the grid. On the host its symmetry is restored, whose partners are columns of different
/// devices, and it is measured there.
pub(super) fn solve<T: Real>(
    ranks: &dyn Ranks,
    problem: &Problem,
    control: &mut Control<'_>,
    restarts: &Restarts,
) -> Result<GridResult, Error> {
    let first = ranks.first()?;
    let initial = initial_grid(&first, problem, control)?;
    let newton = |control: &mut Control<'_>| -> Result<_, Error> {
        let [ni, nj] = problem.size();
        let mut grid = Grid::new(problem.topology, ni, nj);
        first.fetch(&initial, &mut grid)?;
        let data = EllipticData::new(&grid, &problem.normals, &problem.elliptic_settings());
        // The solve needs the memory.
        drop((first, initial, grid));
        let bands = Bands::new(data.mi, ranks.count(), data.periodic).map_err(DeviceError::from)?;
        let unknowns = 2 * data.mi * data.mj;
        let from = restarts.read(unknowns)?;
        let mut observer = SolveObserver::new(&mut *control.progress, restarts, unknowns);
        let solve =
            BandSolve { problem, data: &data, bands: &bands, from, state: Mutex::default() };
        let solved = solve.run::<T>(ranks, &mut observer);
        control.notices.extend(observer.notice());
        let (report, grid, state) = solved?;
        restarts.check_interrupted(&report, &state)?;
        let grid = problem.finished(&CpuBackend, grid, report.stop.converged())?;
        Ok(((report, state), grid))
    };
    let (solved, grid) = control.timed("newton", newton)?;
    let quality = control.timed("quality", |_| measure(&grid));
    Ok(GridResult::new(problem, solved, (grid, quality), control))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct BandSolve<'a> {
    problem: &'a Problem,
    data: &'a EllipticData,
    bands: &'a Bands,
    /// What the solve goes on from, if not from the first guess.
    from: Option<Restart>,
    /// The unknowns of all bands on the host; empty until they are needed.
    state: Mutex<Vec<f64>>,
}

impl BandSolve<'_> {
    /// The report of the first rank, the grid, and the state of a solve that can go on.
    fn run<T: Real>(
        &self,
        ranks: &dyn Ranks,
        observer: &mut SolveObserver<'_>,
    ) -> Result<(NewtonReport, Grid, Vec<f64>), Error> {
        let [ni, nj] = self.problem.size();
        let grid = Mutex::new(Grid::new(self.problem.topology, ni, nj));
        let (observer, first_report) = (Mutex::new(observer), Mutex::new(None));
        ranks.run(self.bands, &|rank, backend| {
            let part = self.bands.part(rank, self.data);
            let (mut equations, mut u) = GridProblem::<_, T>::from_data(backend, part)?;
            let mut history = History::default();
            if let Some(Restart { history: taken, state, .. }) = &self.from {
                backend.upload(&self.bands.part_of_state(rank, state), &mut u)?;
                history.clone_from(taken);
            }
            // Held for the whole solve.
            let mut observer = (rank == 0).then(|| lock(&observer));
            let observer = observer.as_mut().map(|observer| &mut ***observer);
            let observer = &mut BandObserver { rank, solve: self, observer };
            let linear = &mut self.problem.linear_solver(&equations);
            let settings = &self.problem.case.newton;
            let report = newton::resume(
                backend,
                &mut equations,
                linear,
                &mut u,
                history,
                settings,
                observer,
            )?;
            if can_go_on(report.stop) {
                self.put_state(rank, backend, &u)?;
            }
            equations.load(backend, &u)?;
            equations.write(backend, &mut lock(&grid))?;
            if rank == 0 {
                *lock(&first_report) = Some(report);
            }
            Ok(())
        })?;
        let report = first_report.into_inner().unwrap_or_else(PoisonError::into_inner);
        let report = report.ok_or(DeviceError::NoGpu)?;
        let grid = grid.into_inner().unwrap_or_else(PoisonError::into_inner);
        let state = if can_go_on(report.stop) {
            std::mem::take(&mut *lock(&self.state))
        } else {
            Vec::new()
        };
        Ok((report, grid, state))
    }

    /// Puts the unknowns of a band to the others'.
    fn put_state(
        &self,
        rank: usize,
        backend: &CudaBackend,
        u: &CudaVector<f64>,
    ) -> Result<(), DeviceError> {
        let unknowns = 2 * self.data.mi * self.data.mj;
        let share = self.bands.of(rank).len() * unknowns / self.bands.columns();
        let part = download(backend, u, share)?;
        let mut state = lock(&self.state);
        state.resize(unknowns, 0.0);
        self.bands.put_state(rank, &part, &mut state);
        Ok(())
    }
}

/// Observes a solve in bands on one rank.
struct BandObserver<'a, 'o> {
    rank: usize,
    solve: &'a BandSolve<'a>,
    /// The observer of the whole solve, on the first rank.
    observer: Option<&'a mut SolveObserver<'o>>,
}

impl Observer<CudaBackend> for BandObserver<'_, '_> {
    fn newton(&mut self, step: &NewtonStep) {
        if let Some(observer) = &mut self.observer {
            Observer::<CudaBackend>::newton(&mut **observer, step);
        }
    }

    fn linear(&mut self, iteration: f64, relative_residual: f64) {
        if let Some(observer) = &mut self.observer {
            Observer::<CudaBackend>::linear(&mut **observer, iteration, relative_residual);
        }
    }

    /// The first rank decides for all.
    fn accepted(
        &mut self,
        backend: &CudaBackend,
        u: &CudaVector<f64>,
        history: &History,
    ) -> Result<ControlFlow<()>, DeviceError> {
        let own = self.observer.as_ref().map_or(Action::Continue, |first| first.action(history));
        let decided = backend.broadcast(own as u64)?;
        if decided == Action::Stop as u64 {
            return Ok(ControlFlow::Break(()));
        }
        if decided == Action::Save as u64 {
            self.solve.put_state(self.rank, backend, u)?;
            // Now all have put theirs, and the first locks them.
            backend.broadcast(0)?;
            let held = self.observer.is_some().then(|| lock(&self.solve.state));
            // The others wait here, on the host, until they are written: a kernel would lose patience.
            backend.broadcast(0)?;
            match (&mut self.observer, held) {
                (Some(observer), Some(state)) => observer.save(history, &state),
                _ => drop(lock(&self.solve.state)),
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
