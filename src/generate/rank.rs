//! A solve on one backend, which has the whole grid or, as one of several ranks, a band of its columns.
//! All ranks do the same, in the same order.

use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::Problem;
use super::machine::Ranks;
use super::nodes::DeviceNodes;
use super::restart::{
    Action, Restarts, SolveObserver, row_of_state, share_of_state, unknown_lines,
};
use super::solve::{Control, LinearSystem};
use crate::backend::{Bands, DeviceError, EllipticBackend, MultigridBackend, Real, Scaling};
use crate::elliptic::GridProblem;
use crate::files::restart::Restart;
use crate::grid::quality::Quality;
use crate::grid::{Grid, Lines};
use crate::ranks::Processes;
use crate::solver::history::{History, NewtonStep};
use crate::solver::newton::{self, NewtonReport, NewtonSettings, Observer};
use crate::solver::{NewtonStop, NonlinearProblem, SolverError};

/// What the ranks of this process share in the host's memory: all lines of the grid, or the share of this
/// process, whose one rank exchanges columns with those of the others.
pub(super) struct Host<'a> {
    problem: &'a Problem,
    restarts: &'a Restarts,
    /// What the solve goes on from, if not from the first guess.
    restart: Option<Restart>,
    /// The processes that have the grid.
    processes: Processes<'a>,
    /// Lines of the finished grid come in blocks of so many.
    stride: usize,
    /// The lines of the finished grid that this process holds; every rank sets its own columns.
    grid: OnceLock<Mutex<Grid>>,
    /// The unknowns of all ranks in the lines of this process; empty until they are needed.
    state: Mutex<Vec<f64>>,
}

/// What a solve gives on every rank; the quality of the grid is not that of one that was interrupted.
pub(super) struct Solved {
    pub(super) report: NewtonReport,
    pub(super) quality: Quality,
    pub(super) system: Option<LinearSystem>,
    pub(super) nodes: Option<DeviceNodes>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Host<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        (restarts, restart): (&'a Restarts, Option<Restart>),
        processes: Processes<'a>,
        stride: usize,
    ) -> Self {
        let (grid, state) = (OnceLock::new(), Mutex::default());
        Self { problem, restarts, restart, processes, stride, grid, state }
    }

    /// The lines of the finished grid that a process has.
    fn lines(&self, rank: usize) -> Lines {
        let [_, nj] = self.problem.size();
        Lines::of(nj, [rank, self.processes.size()], self.stride)
    }

    /// The finished grid, whose memory is made by the first that asks for it.
    pub(super) fn grid(&self) -> MutexGuard<'_, Grid> {
        let held = || self.lines(self.processes.rank()).held().len();
        lock(self.grid.get_or_init(|| Mutex::new(self.problem.unset_grid(held()))))
    }

    /// The lines of the finished grid of this process, and the unknowns of a solve that can go on.
    pub(super) fn finish(self) -> (Grid, Lines, Vec<f64>) {
        let lines = self.lines(self.processes.rank());
        let Self { problem, grid, state, .. } = self;
        let unset = || Mutex::new(problem.unset_grid(lines.held().len()));
        let grid = grid.into_inner().unwrap_or_else(unset);
        let grid = grid.into_inner().unwrap_or_else(PoisonError::into_inner);
        (grid, lines, state.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The finished grid ← the nodes of a backend.
    fn fetch<B: EllipticBackend>(&self, backend: &B, nodes: &B::Grid) -> Result<(), DeviceError> {
        if self.processes.size() == 1 {
            return backend.fetch(nodes, &mut self.grid());
        }
        let held = |rank| self.lines(rank).held();
        let lines: Vec<Range<usize>> = (0..self.processes.size()).map(held).collect();
        backend.fetch_lines(nodes, &lines, &mut self.grid())
    }

    /// u ← what the solve goes on from.
    fn go_on<B: EllipticBackend>(
        &self,
        backend: &B,
        saved: &Restart,
        u: &mut B::Vector<f64>,
    ) -> Result<(), DeviceError> {
        // A process of several has read the columns of its rank alone.
        if self.processes.size() == 1 {
            backend.upload_unknowns(&saved.state, u)
        } else {
            backend.upload(&saved.state, u)
        }
    }

    /// The unknowns of all ranks ← those of this one; the process has them all once every rank has called.
    fn put_state<B: EllipticBackend>(
        &self,
        backend: &B,
        u: &B::Vector<f64>,
    ) -> Result<(), DeviceError> {
        let lines = unknown_lines(self.problem, self.processes.size());
        let mut state = lock(&self.state);
        state.resize(row_of_state(self.problem) * lines[self.processes.rank()].len(), 0.0);
        match self.processes.size() {
            1 => backend.download_unknowns(u, &mut state),
            _ => backend.unknown_lines(u, &lines, &mut state),
        }
    }
}

/// Marches, solves and measures on one backend, where the grid stays until it is measured; none where it
/// was cancelled before the solve. Of the ranks of a process the `first` one has its control.
pub(super) fn solve<B, T>(
    backend: &B,
    host: &Host<'_>,
    control: &mut Control<'_>,
    first: bool,
) -> Result<Option<Solved>, SolverError>
where
    B: EllipticBackend + MultigridBackend,
    T: Real,
{
    let problem = host.problem;
    let initial = control.timed("initial grid", |_| problem.initial_grid(backend))?;
    control.notices.extend(initial.notes);
    if backend.largest(control.progress.cancelled().into())? > 0 {
        return Ok(None);
    }
    let newton = |control: &mut Control<'_>| -> Result<_, SolverError> {
        let (mut equations, mut u) = problem.equations::<B, T>(backend, initial.grid)?;
        let mut history = History::default();
        if let Some(saved) = &host.restart {
            host.go_on(backend, saved, &mut u)?;
            history.clone_from(&saved.history);
        }
        let mut observer = SolveObserver::new(&mut *control.progress, host.restarts);
        let mut rank = RankObserver { host, observer: first.then_some(&mut observer) };
        let solved = newton_with_export(
            problem,
            backend,
            &mut equations,
            &mut u,
            history,
            control.export,
            &mut rank,
        );
        control.notices.extend(observer.notice());
        let (report, system) = solved?;
        if can_go_on(report.stop) {
            host.put_state(backend, &u)?;
        }
        if report.stop == NewtonStop::Interrupted {
            return Ok((report, system, None));
        }
        let nodes = equations.nodes(backend, &u, problem.topology)?;
        let nodes = problem.finished(backend, nodes, report.stop.converged())?;
        host.fetch(backend, &nodes)?;
        Ok((report, system, Some(nodes)))
    };
    let (report, system, nodes) = control.timed("newton", newton)?;
    let Some(nodes) = nodes else {
        return Ok(Some(Solved { report, quality: Quality::default(), system, nodes: None }));
    };
    let quality = control.timed("quality", |_| backend.measure(&nodes))?;
    let nodes = control.keep_nodes.then(|| DeviceNodes::of(nodes)).flatten();
    Ok(Some(Solved { report, quality, system, nodes }))
}

/// The same on several ranks: what it gives on the first one of this process.
pub(super) fn solve_on_all<T: Real>(
    ranks: &dyn Ranks,
    bands: &Bands,
    host: &Host<'_>,
    control: &mut Control<'_>,
) -> Result<Option<Solved>, SolverError> {
    let first = ranks.job().map_or(0, |job| job.rank());
    // No device has all of the linear system or of the nodes.
    (control.export, control.keep_nodes) = (None, false);
    let (control, solved) = (Mutex::new(control), Mutex::new(None));
    ranks.run(bands, &|rank, backend| {
        // Held for the whole solve.
        let mut held = (rank == first).then(|| lock(&control));
        let found = match &mut held {
            Some(control) => solve::<_, T>(backend, host, control, true)?,
            None => solve::<_, T>(backend, host, &mut Control::new(&mut ()), false)?,
        };
        if held.is_some() {
            *lock(&solved) = found;
        }
        Ok(())
    })?;
    Ok(solved.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Newton's method on a problem, from the state u that `history` led to; with the linear system of step
/// `export`, if the solve comes to it.
fn newton_with_export<B, T>(
    problem: &Problem,
    backend: &B,
    equations: &mut GridProblem<B, T>,
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
    let mut linear = problem.linear_solver(equations);
    let due = |step: &usize| (history.newton_iterations()..settings.max_iterations).contains(step);
    let (mut events, mut system) = (Vec::new(), None);
    if let Some(step) = export.filter(due) {
        let until = NewtonSettings { max_iterations: step, ..settings };
        let report = newton::resume(backend, equations, &mut linear, u, history, &until, observer)?;
        if report.stop != (NewtonStop::IterationLimit { limit: step }) {
            return Ok((report, None));
        }
        (history, events) = (report.history, report.events);
        system = Some(linear_system(backend, equations, u)?);
    }
    let mut report =
        newton::resume(backend, equations, &mut linear, u, history, &settings, observer)?;
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
    equations.residual(backend, u, Scaling::Renewed, &mut f)?;
    backend.download(&f, &mut b)?;
    let a = equations.linearise(backend)?.to_csr(backend)?;
    Ok(LinearSystem { a, b: b.iter().map(|f| -f).collect() })
}

/// Whether a solve that stopped so can go on from its state.
pub(super) fn can_go_on(stop: NewtonStop) -> bool {
    matches!(stop, NewtonStop::Interrupted | NewtonStop::IterationLimit { .. })
}

/// Observes a solve on one rank.
struct RankObserver<'a, 'o, 'h> {
    host: &'a Host<'h>,
    /// The observer of the whole solve, on the first rank of this process.
    observer: Option<&'a mut SolveObserver<'o>>,
}

impl<B: EllipticBackend> Observer<B> for RankObserver<'_, '_, '_> {
    fn newton(&mut self, step: &NewtonStep) {
        if let Some(observer) = &mut self.observer {
            observer.progress.newton(step);
        }
    }

    fn linear(&mut self, iteration: f64, relative_residual: f64) {
        if let Some(observer) = &mut self.observer {
            observer.progress.linear(iteration, relative_residual);
        }
    }

    /// What one process wants all do: to stop, else to save.
    fn accepted(
        &mut self,
        backend: &B,
        u: &B::Vector<f64>,
        history: &History,
    ) -> Result<ControlFlow<()>, DeviceError> {
        let own = self.observer.as_ref().map_or(Action::Continue, |first| first.action(history));
        let decided = backend.largest(own as u64)?;
        if decided == Action::Stop as u64 {
            return Ok(ControlFlow::Break(()));
        }
        if decided == Action::Save as u64 {
            self.host.put_state(backend, u)?;
            // Now all have put theirs, and the first locks them.
            backend.largest(0)?;
            let held = self.observer.is_some().then(|| lock(&self.host.state));
            // The others wait here, on the host, until they are written: a kernel would lose patience.
            backend.largest(0)?;
            let Host { problem, processes, .. } = *self.host;
            match (&mut self.observer, held) {
                (Some(observer), Some(state)) => {
                    observer.save(history, processes, share_of_state(problem, processes, &state));
                }
                _ => drop(lock(&self.host.state)),
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
