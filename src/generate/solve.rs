//! From a problem to its grid: the initial grid, Newton's method, and the retry plan.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

#[cfg(doc)]
use super::RunOptions;
use super::corner::worst_corner;
use super::nodes::DeviceNodes;
use super::rank::{self, Host, Solved, can_go_on};
use super::restart::Restarts;
use super::shared::of_first;
use super::{Machine, Problem};
use crate::backend::cpu::CpuBackend;
use crate::backend::{Bands, DeviceError, LevelSize, Real};
use crate::case::{Case, NEWTON_STEPS};
use crate::error::Error;
use crate::grid::quality::Quality;
use crate::grid::{Grid, Verdict};
use crate::movement::{MovementError, Reference};
use crate::pde::control::Base;
use crate::ranks::{Job, RanksError};
use crate::report::Timing;
use crate::solver::NewtonStop;
use crate::solver::history::{History, NewtonStep};
use crate::solver::linear::Precision;
use crate::solver::newton::NewtonReport;
use crate::sparse::Csr;

/// Receiver of the events of a run. Events that it does not implement are ignored.
pub trait Progress: Send {
    /// A phase begins.
    fn phase(&mut self, _name: &str) {}
    /// A Newton step is done.
    fn newton(&mut self, _step: &NewtonStep) {}
    /// A linear iteration is done.
    fn linear(&mut self, _iteration: f64, _relative_residual: f64) {}
    /// Whether to end the run: asked before each phase and each Newton step. A solve under way
    /// leaves a restart file.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Shows nothing.
impl Progress for () {}

/// Control of a solve: progress and cancellation, restart files, export of a linear system.
pub struct Control<'a> {
    pub(crate) progress: &'a mut dyn Progress,
    pub(super) restarts: Restarts,
    /// Newton step whose linear system is exported.
    pub(super) export: Option<usize>,
    /// Whether the result has the nodes of the device.
    pub(super) keep_nodes: bool,
    pub(crate) started: Instant,
    pub(crate) timing: Timing,
    pub(crate) notices: Vec<String>,
}

impl<'a> Control<'a> {
    /// Reports to `progress`, which may cancel the solve.
    pub fn new(progress: &'a mut dyn Progress) -> Self {
        Self {
            progress,
            restarts: Restarts::default(),
            export: None,
            keep_nodes: false,
            started: Instant::now(),
            timing: Timing::default(),
            notices: Vec::new(),
        }
    }

    /// Starts from a restart file; none begins at the initial grid.
    #[must_use]
    pub fn restart_from(mut self, restart: Option<PathBuf>) -> Self {
        self.restarts.from = restart;
        self
    }

    /// Writes a restart file each time that `every` has passed, and on cancellation.
    #[must_use]
    pub fn save_to(mut self, path: PathBuf, every: Duration) -> Self {
        self.restarts.save = Some((path, every));
        self
    }

    pub(crate) fn timed<R>(&mut self, phase: &str, work: impl FnOnce(&mut Self) -> R) -> R {
        self.progress.phase(phase);
        let started = Instant::now();
        let result = work(self);
        self.timing.add(phase, started.elapsed().as_secs_f64());
        result
    }

    /// An error where the run is cancelled before its solve.
    pub(super) fn check_cancelled(&self) -> Result<(), Error> {
        if self.progress.cancelled() {
            return Err(Error::Interrupted { steps: None, restart: None });
        }
        Ok(())
    }
}

/// The linear system A x = b of a Newton step: A is the Jacobian, b the residual with its sign changed.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSystem {
    /// The matrix.
    pub a: Csr,
    /// The right side.
    pub b: Vec<f64>,
}

/// A grid and how good it is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GridResult {
    /// The case with every default, as the section settled it: it makes the same grid.
    pub case: Case,
    /// The shift of the grid to the place of the body, before the chord was scaled ([`Problem::place`]).
    pub shift: [f64; 2],
    /// The machine: `cpu`, or the device.
    pub backend: String,
    /// Threads used on the CPU.
    pub threads: usize,
    /// The grid, of a family the finest: as [`solve`] returns it in the frame of its problem, else in
    /// the unit of the files. Of the ranks of a job rank 0 has it; that of the others has no nodes.
    pub grid: Grid,
    /// Its quality.
    pub quality: Quality,
    /// Whether it may be used; of a family the verdict on the worst.
    pub verdict: Verdict,
    /// Folded cells, of a family those of all its grids.
    pub folded_cells: usize,
    /// The reason why the solve stopped.
    pub stop: NewtonStop,
    /// The Newton steps.
    pub history: History,
    /// Files written.
    pub files: Vec<PathBuf>,
    /// Notes for the user, one sentence each.
    pub notices: Vec<String>,
    /// The time of each phase.
    pub timing: Timing,
    /// The unknowns of a solve that can go on, of the ranks of a job on rank 0; empty where there is no use in
    /// it.
    pub state: Vec<f64>,
    /// The linear system of the Newton step that was to be exported.
    pub system: Option<LinearSystem>,
    /// The nodes on the GPU that computed them, where [`RunOptions::keep_on_device`] is set.
    pub nodes: Option<DeviceNodes>,
    /// The problem that was solved, or the one of its retry plan that gave the grid.
    pub(super) problem: Problem,
}

impl GridResult {
    /// Adds the finding about the section to the notices; with `strict` the grid is unfit by it.
    pub(super) fn find(&mut self, strict: bool) {
        let Some(found) = self.problem.finding("geometry.trailing_edge".into()) else { return };
        self.notices.push(found.to_string());
        if strict {
            let unfit = Verdict::Unfit { findings: 1, first: found.what };
            self.verdict = self.verdict.clone().and(unfit);
        }
    }

    /// Whether the grid is on this process, not on another one with rank 0 of the job.
    pub(super) fn has_grid(&self) -> bool {
        !self.grid.x.is_empty()
    }

    /// Whether the grid may be used: [`GridResult::verdict`] says why not.
    pub fn is_good(&self) -> bool {
        self.verdict.is_good()
    }

    /// A remedy where the grid is not good.
    pub fn hint(&self) -> Option<String> {
        let Case { newton, control, .. } = &self.case;
        let way = match self.verdict {
            Verdict::Good => return None,
            Verdict::Unfit { .. } => "drop --strict, or do what the finding says",
            Verdict::BeyondLimit { .. } => "raise the limit in [quality], or ni and nj",
            Verdict::FoldedCurved { .. } => {
                "another output.curved_order, closer points, or, beside an edge, a C-grid or a \
                 grid.trailing_edge_spacing of the height of the first cell can help"
            }
            _ if !self.converged() && self.newton_iterations() >= newton.max_iterations => {
                "allow more steps by newton.max_iterations"
            }
            _ if control.base != Base::Marched => {
                "control.base = \"marched\", the default, converges where others do not"
            }
            _ => {
                "closer wall points, a larger first cell or initial.dissipation, or \
                 initial.method = \"normal\" can help"
            }
        };
        Some(format!("{way}. Do not use the failed grid"))
    }

    /// The reference of movements of the grid, which is in the unit of the files: its equations, and the
    /// grid as their solution.
    ///
    /// # Errors
    /// If the grid is not good, or rank 0 of a job has it, which is another process.
    pub fn reference(&self) -> Result<Reference, MovementError> {
        if !self.has_grid() {
            return Err(MovementError::Shared);
        }
        let mut solved = self.grid.clone();
        // Away with the chord first, then with the shift.
        solved.place([0.0; 2], 1.0 / self.problem.case.geometry.length());
        solved.place(self.shift.map(|by| -by), 1.0);
        self.problem.reference_from(&CpuBackend, Some(&solved))
    }

    /// Whether the residual reached the tolerance.
    pub fn converged(&self) -> bool {
        self.stop.converged()
    }

    /// Newton steps taken.
    pub fn newton_iterations(&self) -> usize {
        self.history.newton_iterations()
    }

    /// Linear iterations of all steps.
    pub fn linear_iterations(&self) -> f64 {
        self.history.linear_iterations()
    }

    /// Scaled rms residual reached.
    pub fn residual(&self) -> f64 {
        self.history.steps.last().map_or(f64::NAN, |step| step.residual)
    }

    /// The result of one solve, its verdict and the times of its steps counted. All ranks of a job must call.
    pub(super) fn new(
        problem: &Problem,
        (report, state): (NewtonReport, Vec<f64>),
        (grid, quality): (Grid, Quality),
        job: Option<&Job>,
        control: &mut Control<'_>,
    ) -> Result<Self, RanksError> {
        let NewtonReport { stop, history, mut events } = report;
        let curved = problem.curved_quality(&grid);
        let verdict = of_first(job, problem.verdict(stop, &quality, curved.as_ref()))?;
        let curved = curved.filter(|_| verdict.is_good());
        events.extend(curved.map(|quality| quality.to_string()));
        let steps = &history.steps;
        control.timing.add("assembly", steps.iter().map(|step| step.setup_seconds).sum());
        control.timing.add("linear", steps.iter().map(|step| step.linear_seconds).sum());
        Ok(Self {
            case: problem.case.clone(),
            shift: problem.shift,
            backend: String::new(),
            threads: rayon::current_num_threads(),
            grid,
            verdict,
            folded_cells: quality.folded_cells,
            quality,
            stop,
            history,
            files: Vec::new(),
            notices: events,
            timing: Timing::default(),
            state,
            system: None,
            nodes: None,
            problem: problem.clone(),
        })
    }
}

/// Solves for the grid of a problem: the first good one among that of the problem and those of its retry
/// plan, the problem's own where none is good.
///
/// A restart file is one of the problem as it stands; it plays no part in a retry.
///
/// # Errors
/// [`Error::Interrupted`] where the solve is cancelled, and what the device or a restart file refuses. A
/// grid that is not converged or is folded is a result, whose verdict says so.
pub fn solve(
    problem: &Problem,
    machine: &Machine,
    control: &mut Control<'_>,
) -> Result<GridResult, Error> {
    control.notices.splice(0..0, problem.notices.iter().cloned());
    let _at_last = AtRest(machine);
    let mut result = first_good(problem, machine, control)?;
    machine.rest()?;
    result.notices.splice(0..0, std::mem::take(&mut control.notices));
    if !result.is_good() && result.has_grid() {
        result.notices.extend(worst_corner(problem, &result.grid));
    }
    result.timing = std::mem::take(&mut control.timing);
    result.backend = machine.name();
    Ok(result)
}

/// Lets a machine rest where its solve ends by an error or a panic too: others of its group would wait for it.
struct AtRest<'a>(&'a Machine);

impl Drop for AtRest<'_> {
    fn drop(&mut self) {
        // The error of the solve is reported, not this one.
        let _ = self.0.rest();
    }
}

/// The first good grid of the problem and its retry plan.
fn first_good(
    problem: &Problem,
    machine: &Machine,
    control: &mut Control<'_>,
) -> Result<GridResult, Error> {
    let restarts = std::mem::take(&mut control.restarts).of(problem)?;
    let result = attempt(problem, machine, control, &restarts)?;
    if result.is_good() || !may_help(&problem.case, result.stop) {
        return Ok(result);
    }
    let mut plan = problem.case.retries().peekable();
    if plan.peek().is_some() {
        control.notices.push(format!("{}; tried again", result.verdict));
    }
    for (change, case) in plan {
        let changed = Problem { case, ..problem.clone() };
        let retried = attempt(&changed, machine, control, &Restarts::default())?;
        control.notices.push(format!("tried {change}: {}", retried.verdict));
        if retried.is_good() {
            // The case retries by itself.
            return Ok(GridResult { case: problem.case.clone(), ..retried });
        }
    }
    Ok(result)
}

/// Whether other settings may help: not where the case itself allows so few steps.
fn may_help(case: &Case, stop: NewtonStop) -> bool {
    let limited = matches!(stop, NewtonStop::IterationLimit { .. });
    let few = i64::try_from(case.newton.max_iterations).is_ok_and(|steps| steps < NEWTON_STEPS);
    !(limited && few)
}

/// Solves by the settings of the problem alone, in the precision of its linear solves.
fn attempt(
    problem: &Problem,
    machine: &Machine,
    control: &mut Control<'_>,
    restarts: &Restarts,
) -> Result<GridResult, Error> {
    control.check_cancelled()?;
    match problem.case.linear.precision {
        Precision::Single => attempt_in::<f32>(problem, machine, control, restarts),
        Precision::Double => attempt_in::<f64>(problem, machine, control, restarts),
    }
}

fn attempt_in<T: Real>(
    problem: &Problem,
    machine: &Machine,
    control: &mut Control<'_>,
    restarts: &Restarts,
) -> Result<GridResult, Error> {
    let [ni, nj] = problem.size();
    let LevelSize { mi, periodic, .. } = LevelSize::of_grid(problem.topology, ni, nj);
    let ranks = match machine {
        Machine::Ranks(ranks) => {
            let bands = Bands::new(mi, ranks.count(), periodic).map_err(DeviceError::from)?;
            Some((&**ranks, bands))
        }
        Machine::Cpu | Machine::Cuda(_) => None,
    };
    let job = machine.job().map(|job| &**job);
    let host = Host::new(problem, (restarts, restarts.read(problem)?), job);
    let solved = thread::scope(|scope| {
        // Memory for the grid is made while a device solves for it.
        scope.spawn(|| host.prepare());
        match (machine, &ranks) {
            (Machine::Cuda(backend), _) => rank::solve::<_, T>(&**backend, &host, control, 0),
            (_, Some((ranks, bands))) => rank::solve_on_all::<T>(*ranks, bands, &host, control),
            _ => rank::solve::<_, T>(&CpuBackend, &host, control, 0),
        }
    })?;
    let Some(Solved { report, quality, system, nodes }) = solved else {
        return Err(Error::Interrupted { steps: None, restart: None });
    };
    let (grid, state) = host.finish();
    restarts.check_interrupted(&report, &state, job)?;
    let state = if can_go_on(report.stop) { state } else { Vec::new() };
    let result = GridResult::new(problem, (report, state), (grid, quality), job, control)?;
    Ok(GridResult { system, nodes, ..result })
}
