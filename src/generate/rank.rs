//! A solve on one backend, which has the whole grid or, as one of several ranks, a band of its columns.
//! All ranks do the same, in the same order.

use std::any::Any;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::problem::{identity, unknowns};
use super::result::LinearSystem;
use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::CudaGrid;
use crate::backend::{
    Bands, DeviceError, EllipticBackend, LevelSize, MultigridBackend, Real, Receivers,
};
use crate::case::Problem;
use crate::elliptic::{GridJacobian, GridProblem};
use crate::error::Error;
use crate::files::IoError;
use crate::files::restart::{self, Identity, Restart};
use crate::grid::Grid;
use crate::grid::quality::Quality;
use crate::ranks::Job;
use crate::report::Timing;
use crate::run::{Machine, Progress, RunLog, on_each};
use crate::solver::history::{History, NewtonStep};
use crate::solver::linear::{LinearSolver, Precision};
use crate::solver::newton::{self, NewtonReport, NewtonSettings, Observer};
use crate::solver::{NewtonStop, NonlinearProblem, SolverError};

/// Options of a solve in addition to the settings of its problem.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SolveOptions {
    /// Restart file to go on from; none begins at the initial grid.
    pub restart: Option<PathBuf>,
    /// Restart file that is written each time that the duration has passed, and on cancellation.
    pub save: Option<(PathBuf, Duration)>,
    /// Newton step whose linear system the result has.
    pub export: Option<usize>,
    /// Whether the result has the nodes of the device.
    pub keep_nodes: bool,
}

/// Host memory that the ranks of this process share. The process with rank 0 receives the finished
/// grid; the others have none.
pub(super) struct Host<'a> {
    problem: &'a Problem,
    options: &'a SolveOptions,
    /// The identity of the problem; empty where there is no restart file.
    identity: Identity,
    /// The state that the solve goes on from, if not from the first guess.
    restart: Option<Restart>,
    /// The job whose processes are the ranks; none where all are threads of this process.
    job: Option<&'a Job>,
    /// The finished grid.
    grid: OnceLock<Mutex<Grid>>,
    /// The unknowns of all ranks; empty until they are needed.
    state: Mutex<Vec<f64>>,
}

/// The result of a solve on every rank; a solve that was interrupted has no quality.
pub(super) struct RankResult {
    pub(super) report: NewtonReport,
    pub(super) quality: Quality,
    pub(super) system: Option<LinearSystem>,
    pub(super) nodes: Option<Arc<CudaGrid>>,
}

impl<'a> Host<'a> {
    /// Reads the restart file, if the options name one.
    pub(super) fn new(
        problem: &'a Problem,
        options: &'a SolveOptions,
        job: Option<&'a Job>,
    ) -> Result<Self, Error> {
        let needed = options.restart.is_some() || options.save.is_some();
        let identity = if needed { identity(&problem.case)? } else { Identity::new() };
        let mut restart = None;
        if let Some(path) = &options.restart {
            let found = restart.insert(restart::read(path)?);
            found.check(path, &identity, unknowns(problem))?;
        }
        let (grid, state) = (OnceLock::new(), Mutex::default());
        Ok(Self { problem, options, identity, restart, job, grid, state })
    }

    /// Writes the state of a solve that goes on, or that was interrupted, where there is a file for it; returns
    /// the file.
    fn save(&self, history: &History, state: &[f64]) -> Result<Option<PathBuf>, IoError> {
        let Some((path, _)) = &self.options.save else { return Ok(None) };
        restart::write(path, &self.identity, history, state)?;
        Ok(Some(path.clone()))
    }

    /// The rank of this process, or the first of its threads: it reports the progress.
    fn reporter(&self) -> usize {
        self.job.map_or(0, Job::rank)
    }

    /// Makes the memory of the finished grid, on the process that receives it.
    pub(super) fn prepare(&self) {
        if self.reporter() == 0 {
            drop(self.grid());
        }
    }

    fn grid(&self) -> MutexGuard<'_, Grid> {
        self.grid.get_or_init(|| Mutex::new(self.problem.unset_grid())).lock()
    }

    /// The finished grid, without nodes on processes that do not have rank 0, and the unknowns of a solve that
    /// can go on. All ranks of a job must call: where the solve was interrupted, rank 0 saves its state while the
    /// others wait.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(super) fn finish(self, report: &NewtonReport) -> Result<(Grid, Vec<f64>), Error> {
        if report.stop == NewtonStop::Interrupted {
            let restart = self.save(&report.history, &self.state.lock())?;
            self.job.map_or(Ok(()), Job::wait_for_first)?;
            let steps = Some(report.history.newton_iterations());
            return Err(Error::Interrupted { steps, restart });
        }
        let Self { problem, grid, state, .. } = self;
        let grid = grid.into_inner().map(Mutex::into_inner);
        let grid = grid.unwrap_or_else(|| Grid::new(problem.topology, 0, 0));
        let state = if can_go_on(report.stop) { state.into_inner() } else { Vec::new() };
        Ok((Grid { outside: problem.outside(), ..grid }, state))
    }

    /// The finished grid ← the nodes of all ranks, which must all call.
    fn fetch<B: EllipticBackend>(
        &self,
        backend: &B,
        nodes: &B::Grid,
        rank: usize,
    ) -> Result<(), DeviceError> {
        let mut grid = (rank == 0).then(|| self.grid());
        backend.gather(nodes, Receivers::First, grid.as_deref_mut())
    }

    /// The unknowns of all ranks, which must all call, on rank 0, which returns them locked.
    fn fetch_state<B: EllipticBackend>(
        &self,
        backend: &B,
        u: &B::Vector<f64>,
        rank: usize,
    ) -> Result<Option<MutexGuard<'_, Vec<f64>>>, DeviceError> {
        let mut state = (rank == 0).then(|| self.state.lock());
        if let Some(state) = &mut state {
            state.resize(unknowns(self.problem), 0.0);
        }
        let whole = state.as_deref_mut().map(Vec::as_mut_slice);
        backend.gather_unknowns(u, Receivers::First, whole)?;
        Ok(state)
    }
}

/// Marches, solves and measures on one backend, where the grid stays until it is measured; none where it
/// was cancelled before the solve. Of the ranks of a process one has its log.
fn solve<B, T>(
    backend: &B,
    host: &Host<'_>,
    log: &mut RunLog<'_>,
    rank: usize,
    alone: bool,
) -> Result<Option<RankResult>, SolverError>
where
    B: EllipticBackend + MultigridBackend,
    T: Real,
{
    let problem = host.problem;
    // No one of several devices has all of the linear system or of the nodes.
    let (export, keep_nodes) =
        if alone { (host.options.export, host.options.keep_nodes) } else { (None, false) };
    let initial = log.timed("initial grid", |_| problem.initial_grid(backend))?;
    log.notices.extend(initial.notes);
    if backend.largest(log.progress.cancelled().into())? > 0 {
        return Ok(None);
    }
    let newton = |log: &mut RunLog<'_>| -> Result<_, SolverError> {
        let (mut equations, mut u) = problem.equations::<B, T>(backend, initial.grid)?;
        let mut history = History::default();
        let mut linear = problem.linear_solver(&equations);
        if let Some(saved) = &host.restart {
            history.clone_from(&saved.history);
            prepare_again(backend, &mut equations, &mut linear, &mut u, (&history, problem))?;
            backend.upload_unknowns(&saved.state, &mut u)?;
        }
        let (progress, saved) = (&mut *log.progress, Instant::now());
        let mut observer = RankObserver { host, rank, progress, saved, failure: None };
        let solved = newton_with_export(
            problem,
            backend,
            (&mut equations, &mut linear),
            &mut u,
            history,
            export,
            &mut observer,
        );
        let failure = observer.failure;
        log.notices.extend(failure.map(|failure| format!("no restart file was kept: {failure}")));
        let (report, system) = solved?;
        if can_go_on(report.stop) {
            host.fetch_state(backend, &u, rank)?;
        }
        if report.stop == NewtonStop::Interrupted {
            return Ok((report, system, None));
        }
        let nodes = equations.nodes(backend, &u, problem.topology)?;
        let nodes = problem.finished(backend, nodes, report.stop.converged())?;
        host.fetch(backend, &nodes, rank)?;
        Ok((report, system, Some(nodes)))
    };
    let (report, system, nodes) = log.timed("newton", newton)?;
    let Some(nodes) = nodes else {
        return Ok(Some(RankResult { report, quality: Quality::default(), system, nodes: None }));
    };
    let quality = log.timed("quality", |_| backend.measure(&nodes))?;
    let nodes: Box<dyn Any> = Box::new(nodes);
    let nodes = nodes.downcast::<CudaGrid>().ok().filter(|_| keep_nodes).map(Arc::from);
    Ok(Some(RankResult { report, quality, system, nodes }))
}

/// Solves on a machine; returns the result of the rank of this process that reports.
pub(super) fn solve_on(
    machine: &Machine,
    host: &Host<'_>,
    log: &mut RunLog<'_>,
) -> Result<Option<RankResult>, SolverError> {
    let [ni, nj] = host.problem.size();
    let LevelSize { mi, periodic, .. } = LevelSize::of_grid(host.problem.topology, ni, nj);
    let (devices, alone) = (machine.devices(), machine.devices() == 1);
    let bands = || Bands::new(mi, devices, periodic).map_err(DeviceError::from);
    let (log, solved) = (Mutex::new(log), Mutex::new(None));
    on_each!(machine, bands()?, |rank, backend| {
        let solved_in = |log: &mut RunLog<'_>| match host.problem.case.linear.precision {
            Precision::Single => solve::<_, f32>(backend, host, log, rank, alone),
            Precision::Double => solve::<_, f64>(backend, host, log, rank, alone),
        };
        // The log of the reporting rank is held for the whole solve.
        if rank == host.reporter() {
            *solved.lock() = solved_in(&mut log.lock())?;
        } else {
            solved_in(&mut RunLog::new(&mut (), Timing::default()))?;
        }
        Ok(())
    })?;
    Ok(solved.into_inner())
}

/// The linear solver of a grid.
type GridSolver<B, T> = LinearSolver<B, T, GridJacobian<B, T>>;

/// Makes the preconditioner that the steps of `history` kept, if they did: at its state, to which a step leads from
/// the first guess in u, or none.
fn prepare_again<B: EllipticBackend + MultigridBackend, T: Real>(
    backend: &B,
    equations: &mut GridProblem<B, T>,
    linear: &mut GridSolver<B, T>,
    u: &mut B::Vector<f64>,
    (history, problem): (&History, &Problem),
) -> Result<(), SolverError> {
    let step = newton::lasting_step(history, equations.unknowns());
    let Some(step) = step.filter(|step| *step < history.steps.len() && linear.lasts()) else {
        return Ok(());
    };
    let until = NewtonSettings { max_iterations: step - 1, ..problem.case.newton };
    let (start, silent) = (History::default(), &mut ());
    let _ = newton::solve(backend, equations, linear, u, start, &until, silent)?;
    linear.update(backend, equations.linearise(backend)?)
}

/// Newton's method on a problem, from the state u that `history` led to; with the linear system of step
/// `export`, if the solve comes to it.
fn newton_with_export<B, T>(
    problem: &Problem,
    backend: &B,
    (equations, linear): (&mut GridProblem<B, T>, &mut GridSolver<B, T>),
    u: &mut B::Vector<f64>,
    mut history: History,
    export: Option<usize>,
    observer: &mut dyn Observer<B>,
) -> Result<(NewtonReport, Option<LinearSystem>), SolverError>
where
    B: EllipticBackend + MultigridBackend,
    T: Real,
{
    let settings = problem.case.newton;
    let due = |step: &usize| (history.newton_iterations()..settings.max_iterations).contains(step);
    let (mut events, mut system) = (Vec::new(), None);
    if let Some(step) = export.filter(due) {
        let until = NewtonSettings { max_iterations: step, ..settings };
        let report = newton::solve(backend, equations, linear, u, history, &until, observer)?;
        if report.stop != (NewtonStop::IterationLimit { limit: step }) {
            return Ok((report, None));
        }
        (history, events) = (report.history, report.events);
        system = Some(linear_system(backend, equations, u)?);
    }
    let mut report = newton::solve(backend, equations, linear, u, history, &settings, observer)?;
    report.events.splice(0..0, events);
    Ok((report, system))
}

fn linear_system<B: EllipticBackend, T: Real>(
    backend: &B,
    equations: &mut GridProblem<B, T>,
    u: &B::Vector<f64>,
) -> Result<LinearSystem, SolverError> {
    let n = equations.unknowns();
    let (mut f, mut b) = (backend.zeros(n)?, vec![0.0; n]);
    equations.residual(backend, u, &mut f)?;
    backend.download(&f, &mut b)?;
    let a = equations.linearise(backend)?.to_csr(backend)?;
    Ok(LinearSystem { a, b: b.iter().map(|f| -f).collect() })
}

/// Returns true if a solve that stopped so can go on from its state.
pub(super) fn can_go_on(stop: NewtonStop) -> bool {
    matches!(stop, NewtonStop::Interrupted | NewtonStop::IterationLimit { .. })
}

/// The action between two Newton steps; all ranks take the greatest that one of them asks for.
#[derive(Clone, Copy)]
enum NextStep {
    Continue,
    Save,
    Stop,
}

/// Observes a solve on one rank: reports its progress, and saves its state.
struct RankObserver<'a, 'h> {
    host: &'a Host<'h>,
    rank: usize,
    progress: &'a mut dyn Progress,
    /// The time of the last restart file.
    saved: Instant,
    /// The reason why that could not be written.
    failure: Option<IoError>,
}

impl<B: EllipticBackend> Observer<B> for RankObserver<'_, '_> {
    fn newton(&mut self, step: &NewtonStep) {
        self.progress.newton(step);
    }

    fn linear(&mut self, iteration: f64, relative_residual: f64) {
        self.progress.linear(iteration, relative_residual);
    }

    fn accepted(
        &mut self,
        backend: &B,
        u: &B::Vector<f64>,
        history: &History,
    ) -> Result<ControlFlow<()>, DeviceError> {
        let Host { options, job, .. } = *self.host;
        let moved = history.newton_iterations() > 0;
        let due = |options: &SolveOptions| {
            options.save.as_ref().is_some_and(|(_, every)| self.saved.elapsed() >= *every)
        };
        let own = match self.rank == self.host.reporter() {
            true if self.progress.cancelled() => NextStep::Stop,
            true if moved && due(options) => NextStep::Save,
            _ => NextStep::Continue,
        };
        let decided = backend.largest(own as u64)?;
        if decided == NextStep::Stop as u64 {
            return Ok(ControlFlow::Break(()));
        }
        if decided == NextStep::Save as u64 {
            let state = self.host.fetch_state(backend, u, self.rank)?;
            // Afterwards rank 0 holds the lock.
            backend.largest(0)?;
            // The other ranks wait on the host until the file is written: a wait in a kernel would time out.
            match state {
                // A solve that goes well need not end because its state cannot be saved.
                Some(state) => self.failure = self.host.save(history, &state).err(),
                None => drop(self.host.state.lock()),
            }
            self.saved = Instant::now();
            if let Some(job) = job {
                job.wait_for_first()?;
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
