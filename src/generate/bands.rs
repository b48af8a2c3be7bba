//! A solve on several devices, a band of columns each. Where they are those of several processes each of
//! these has the whole grid at the end, and goes on with it as the others do.

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
use crate::ranks::{Channel, Job, values};
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
        let job = ranks.job().map(|job| &**job);
        let state = Mutex::default();
        let solve = BandSolve { problem, data: &data, bands: &bands, job, from, state };
        let solved = solve.run::<T>(ranks, &mut observer);
        control.notices.extend(observer.notice());
        let (report, mut grid, state) = solved?;
        if let Some(job) = job {
            join_bands(job, &bands, &mut grid)?;
        }
        restarts.check_interrupted(&report, &state)?;
        let grid = problem.finished(&CpuBackend, grid, report.stop.converged())?;
        Ok(((report, state), grid))
    };
    let (solved, grid) = control.timed("newton", newton)?;
    let quality = control.timed("quality", |_| measure(&grid));
    Ok(GridResult::new(problem, solved, (grid, quality), control))
}

/// The columns of all bands ← those of the bands of other processes.
fn join_bands(job: &Job, bands: &Bands, grid: &mut Grid) -> Result<(), DeviceError> {
    let (ni, own) = (grid.ni, bands.nodes(job.rank()));
    let rows = || grid.x.chunks(ni).chain(grid.y.chunks(ni));
    let part: Vec<f64> = rows().flat_map(|row| &row[own.clone()]).copied().collect();
    let parts = job.all_gather(bytemuck::cast_slice(&part).to_vec())?;
    for (rank, part) in parts.iter().enumerate() {
        let columns = bands.nodes(rank);
        let width = columns.len() * size_of::<f64>();
        let rows = grid.x.chunks_mut(ni).chain(grid.y.chunks_mut(ni));
        for (row, part) in rows.zip(part.chunks(width)) {
            bytemuck::cast_slice_mut(&mut row[columns.clone()]).copy_from_slice(part);
            if bands.periodic() {
                row[ni - 1] = row[0];
            }
        }
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct BandSolve<'a> {
    problem: &'a Problem,
    data: &'a EllipticData,
    bands: &'a Bands,
    /// The job whose processes have a band each, if they are not threads of this one.
    job: Option<&'a Job>,
    /// What the solve goes on from, if not from the first guess.
    from: Option<Restart>,
    /// The unknowns of all bands on the host; empty until they are needed.
    state: Mutex<Vec<f64>>,
}

impl BandSolve<'_> {
    /// The report of the first rank of this process, the columns of the grid that its ranks have, and the
    /// state of a solve that can go on.
    fn run<T: Real>(
        &self,
        ranks: &dyn Ranks,
        observer: &mut SolveObserver<'_>,
    ) -> Result<(NewtonReport, Grid, Vec<f64>), Error> {
        let [ni, nj] = self.problem.size();
        let grid = Mutex::new(Grid::new(self.problem.topology, ni, nj));
        let (observer, first_report) = (Mutex::new(observer), Mutex::new(None));
        let first = self.job.map_or(0, Job::rank);
        ranks.run(self.bands, &|rank, backend| {
            let part = self.bands.part(rank, self.data);
            let (mut equations, mut u) = GridProblem::<_, T>::from_data(backend, part)?;
            let mut history = History::default();
            if let Some(Restart { history: taken, state, .. }) = &self.from {
                backend.upload(&self.bands.part_of_state(rank, state), &mut u)?;
                history.clone_from(taken);
            }
            // Held for the whole solve.
            let mut observer = (rank == first).then(|| lock(&observer));
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
                self.complete_state()?;
            }
            equations.load(backend, &u)?;
            equations.write(backend, &mut lock(&grid))?;
            if rank == first {
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

    /// Brings the unknowns of the bands of other processes to the first of these, which has them all then.
    fn complete_state(&self) -> Result<(), DeviceError> {
        let Some(job) = self.job else { return Ok(()) };
        let mut state = lock(&self.state);
        if !job.is_first() {
            let part = self.bands.part_of_state(job.rank(), &state);
            job.send(0, Channel::Collective, bytemuck::cast_slice(&part).to_vec());
            return Ok(());
        }
        for rank in 1..job.size() {
            let part = job.receive(rank, Channel::Collective)?;
            self.bands.put_state(rank, &values(&part), &mut state);
        }
        Ok(())
    }
}

/// Observes a solve in bands on one rank.
struct BandObserver<'a, 'o> {
    rank: usize,
    solve: &'a BandSolve<'a>,
    /// The observer of the whole solve, on the first rank of this process.
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

    /// What one process wants all do: to stop, else to save.
    fn accepted(
        &mut self,
        backend: &CudaBackend,
        u: &CudaVector<f64>,
        history: &History,
    ) -> Result<ControlFlow<()>, DeviceError> {
        let own = self.observer.as_ref().map_or(Action::Continue, |first| first.action(history));
        let decided = backend.largest(own as u64)?;
        if decided == Action::Stop as u64 {
            return Ok(ControlFlow::Break(()));
        }
        if decided == Action::Save as u64 {
            self.solve.put_state(self.rank, backend, u)?;
            self.solve.complete_state()?;
            // Now all have put theirs, and the first locks them.
            backend.broadcast(0)?;
            let held = self.observer.is_some().then(|| lock(&self.solve.state));
            // The others wait here, on the host, until they are written: a kernel would lose patience.
            backend.broadcast(0)?;
            match (&mut self.observer, held) {
                (Some(observer), Some(state)) => observer.save(history, &state),
                _ => drop(lock(&self.solve.state)),
            }
            if let Some(job) = self.solve.job {
                job.broadcast(Vec::new())?;
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
