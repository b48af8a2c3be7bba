//! From a case to its outcome: the only place where all layers meet. No formulas.

mod attempt;
mod bands;
mod batch;
mod estimate;
mod export;
mod family;
mod fingerprint;
mod identity;
mod in_memory;
mod layout;
pub(crate) mod machine;
mod objections;
mod observe;
pub(crate) mod options;
mod outputs;
mod ranks;
mod report;
mod resolved_case;
mod retry;
mod section;
mod solve;

use std::path::{Path, PathBuf};
use std::time::Instant;

use self::attempt::{Attempt, Goal};
pub use self::batch::{BatchObserver, BatchOptions, BatchResult, Summary, run_batch};
pub use self::estimate::{Estimate, check};
use self::fingerprint::fingerprint;
use self::identity::identity;
pub use self::in_memory::{Made, make_grid, make_grid_around};
use self::layout::Layout;
pub use self::machine::CROSSOVER;
use self::machine::{Machine, Opened, Opening};
use self::objections::objections;
use self::observe::Keeper;
pub use self::options::{BackendChoice, Progress, RESTART_EVERY, RunOptions};
use self::outputs::{OutputFiles, names, reference, span};
pub use self::ranks::{RankWork, Ranks};
use self::report::Written;
use self::resolved_case::ResolvedCase;
pub use self::resolved_case::resolved;
pub use self::section::{Body, body};
use crate::backend::DeviceError;
use crate::backend::cuda::CudaBackend;
use crate::case::Case;
use crate::error::Error;
use crate::files::RESTART_FILE;
use crate::files::output::Output;
use crate::formats::openfoam;
use crate::geometry::{Airfoil, GeometryError};
use crate::grid::Verdict;
use crate::grid::quality::Quality;
use crate::report::Artifacts;
use crate::report::Timing;

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether the grid may be used; of a family the verdict on the worst.
    pub verdict: Verdict,
    /// Whether the residual reached the tolerance.
    pub converged: bool,
    /// Folded cells of the grid.
    pub folded_cells: usize,
    /// Why the solve stopped.
    pub reason: String,
    /// Files written.
    pub files: Vec<PathBuf>,
    /// Quality of the grid.
    pub quality: Quality,
    /// Newton steps taken.
    pub newton_iterations: usize,
    /// Linear iterations of all steps.
    pub linear_iterations: f64,
    /// Scaled rms residual reached.
    pub residual: f64,
    /// What the user should know, one sentence each.
    pub notices: Vec<String>,
    /// Phases and their seconds.
    pub timings: Vec<(String, f64)>,
}

/// Merit below which round-off rules, at a first cell of 1e-7 chords; it grows like the inverse
/// square of the first cell (measured: 3e-12 at 1e-6, 6e-10 at 1e-7).
const ROUND_OFF: f64 = 1e-9;

/// Runs a case: geometry, initial grid, Newton, quality, files.
///
/// # Errors
///
/// See [`Error`]. A grid that is not converged or is folded is an outcome, whose files are named
/// as failed.
pub fn run(
    case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Outcome, Error> {
    run_family(case, options, 1, progress)
}

/// Runs a case whose grid is the finest of a family of `grids` grids, each of which is every other
/// point of the one before. With more than one, the files of each grid go to a folder of its own
/// below `options.output`, named by its size: `897x257`. The outcome is that of the finest grid;
/// its folded cells and its files are those of all.
///
/// # Errors
///
/// As [`run`], and [`Error::Family`] where the grid cannot be halved so often; nothing is solved or
/// written then.
pub fn run_family(
    case: &Case,
    options: &RunOptions,
    grids: u32,
    progress: &mut dyn Progress,
) -> Result<Outcome, Error> {
    let started = Instant::now();
    let pool = thread_pool(options.threads)?;
    // A GPU takes long to open, and the geometry does not need it.
    let opening = Opening::begin(case, options);
    let folder = family::folder(&options.output, [case.grid.ni, case.grid.nj], grids);
    let job = Job { grids, started, ..Job::new(case, options, folder, progress) };
    pool.install(|| job.run(opening))
}

/// [`run`] on a backend that is there already, in the current thread pool.
///
/// # Errors
///
/// See [`Error`].
pub fn run_on(
    backend: CudaBackend,
    case: &Case,
    output: PathBuf,
    progress: &mut dyn Progress,
) -> Result<Outcome, Error> {
    let options = RunOptions { backend: BackendChoice::Cuda, ..RunOptions::new(output) };
    let machine = Machine::Cuda(Box::new(backend));
    let job = Job::new(case, &options, options.output.clone(), progress);
    job.run(Opening::Done((machine, None)))
}

/// [`run`] on several devices of the caller, a band of columns each, whatever the options name.
///
/// # Errors
///
/// See [`Error`].
pub fn run_on_ranks(
    ranks: Box<dyn Ranks>,
    case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Outcome, Error> {
    let pool = thread_pool(options.threads)?;
    let job = Job::new(case, options, options.output.clone(), progress);
    pool.install(|| job.run(Opening::Done((Machine::Ranks(ranks), None))))
}

/// Threads and, after the first case, a machine, ready for one case after the other.
struct Runner<'a> {
    options: &'a RunOptions,
    pool: rayon::ThreadPool,
    machine: Option<Opened>,
}

impl<'a> Runner<'a> {
    fn new(options: &'a RunOptions) -> Result<Self, Error> {
        Ok(Self { options, pool: thread_pool(options.threads)?, machine: None })
    }

    /// Runs a case, its files to `folder`, from a restart file if there is one.
    fn run(
        &mut self,
        case: &Case,
        folder: PathBuf,
        restart: Option<PathBuf>,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, Error> {
        let Self { options, pool, machine } = self;
        let restart = restart.or_else(|| options.restart.clone());
        let options = &RunOptions { restart, ..options.clone() };
        let job = Job::new(case, options, folder, progress);
        // A GPU stays open for the next case that is large enough.
        if let Some(opened) = Machine::faster_cpu(case, options) {
            return pool.install(|| job.run(Opening::Done(opened)));
        }
        let opening = match machine.take() {
            Some(opened) => Opening::Done(opened),
            None => Opening::begin(case, options),
        };
        let job = Job { kept: Some(machine), ..job };
        pool.install(|| job.run(opening))
    }
}

pub(crate) fn thread_pool(threads: Option<usize>) -> Result<rayon::ThreadPool, DeviceError> {
    let threads = threads.unwrap_or(0);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| DeviceError::Threads { threads, reason: error.to_string() })
}

/// A run under way.
struct Job<'a> {
    case: &'a Case,
    /// A section in place of the case's.
    airfoil: Option<&'a Airfoil>,
    options: &'a RunOptions,
    /// Grids of the family, the finest counted.
    grids: u32,
    /// Folder of the finest grid.
    folder: PathBuf,
    progress: &'a mut dyn Progress,
    notices: Vec<String>,
    started: Instant,
    /// Where the machine goes after the solve; none closes it.
    kept: Option<&'a mut Option<Opened>>,
}

impl<'a> Job<'a> {
    fn new(
        case: &'a Case,
        options: &'a RunOptions,
        folder: PathBuf,
        progress: &'a mut dyn Progress,
    ) -> Self {
        Self {
            case,
            airfoil: None,
            options,
            grids: 1,
            folder,
            progress,
            notices: Vec::new(),
            started: Instant::now(),
            kept: None,
        }
    }
}

impl Job<'_> {
    fn run(mut self, opening: Opening) -> Result<Outcome, Error> {
        let mut timing = Timing::default();
        let layout = self.measured_layout(&mut timing);
        let opened = self.timed("device", &mut timing.device_seconds, |_| opening.end());
        let layout = layout?;
        layout.check_family(self.case, self.grids)?;
        let machine = self.ready(opened?)?;
        let backend = &machine.0.name();
        // A section that cannot be meshed leaves the folder as it is; a folder that takes no
        // files is found before the work.
        let (output, others) = self.outputs()?;
        OutputFiles::of(self.case).check([self.case.grid.ni, self.case.grid.nj], output.root())?;
        let resolved = ResolvedCase::new(&layout.case)?;
        let path = output.root().join(RESTART_FILE);
        let keeper = Keeper { path, identity: identity(&layout.case)? };
        let tolerance = self.tolerance();
        let goal = Goal { tolerance, keeper: Some(&keeper), output: Some(&output) };
        let Attempt { mut grid, solved, state, exported, quality, verdict } =
            self.best_attempt(&machine.0, &layout, goal, &mut timing)?;
        // A GPU takes long to close, too, and nothing that follows needs it.
        let _closing = match self.kept.take() {
            Some(place) => {
                *place = Some(machine);
                None
            }
            None => Some(machine.0.close()),
        };
        self.notices.extend(solved.events.iter().cloned());
        let mut coarser = family::coarser(&grid, self.grids);
        for grid in std::iter::once(&mut grid).chain(coarser.iter_mut().map(|(grid, _)| grid)) {
            grid.place(layout.shift, self.case.geometry.chord);
        }
        let converged = solved.stop.converged();
        let good = verdict.is_good();
        if good {
            self.notices.extend(objections(self.case, &grid));
        }
        let artifacts = Artifacts {
            name: &self.case.name,
            grid: &grid,
            quality: &quality,
            history: &solved.history,
            tolerance,
            good,
        };
        if let Some(step) = self.options.export_jacobian.filter(|_| exported.is_empty()) {
            self.notices.push(format!("there was no Newton step {step} to export"));
        }
        let requested =
            OutputFiles::of(self.case).with_reference(reference(&layout.case, layout.shift));
        let mut files = self.timed("writing", &mut timing.writing_seconds, |_| {
            output.fill(|folder| requested.write(folder, &artifacts))
        })?;
        let members = self.write_coarser(
            &layout.case,
            coarser,
            solved.stop,
            &artifacts,
            &requested,
            &others,
        )?;
        self.notices.extend(requested.lacks(&output, &grid, good));
        timing.total_seconds = self.started.elapsed().as_secs_f64();
        let text = resolved.text.as_str();
        let written = Written {
            fingerprint: &fingerprint(&layout.case)?,
            stop: solved.stop,
            timing,
            backend,
            note: None,
            case: Some(text),
        };
        files.extend(self.write_report(&output, &artifacts, &verdict, written)?);
        files.extend(output.fill(|folder| Ok(vec![resolved.write(folder)?]))?);
        files.extend(output.take(&exported)?);
        if !state.is_empty() {
            let keep = |folder: &Path| keeper.keep_in(folder, &solved.history, &state);
            files.extend(output.fill(|folder| Ok(vec![keep(folder)?]))?);
        }
        let mut folded_cells = quality.folded_cells;
        let mut verdict = verdict;
        for (member, output) in members.into_iter().zip(&others) {
            files.extend(self.report_member(&member, output, &artifacts, written)?);
            folded_cells += member.quality.folded_cells;
            verdict = verdict.and(member.verdict);
        }
        // All is complete: now the old files go.
        others.into_iter().try_for_each(Output::commit)?;
        output.commit()?;

        Ok(Outcome {
            verdict,
            converged,
            folded_cells,
            reason: solved.stop.to_string(),
            files,
            newton_iterations: solved.history.newton_iterations(),
            linear_iterations: solved.history.linear_iterations(),
            residual: solved.history.steps.last().map_or(f64::NAN, |step| step.residual),
            notices: self.notices,
            timings: phases(&timing),
            quality,
        })
    }

    /// The folders of the grids of the family, the finest first, this process's until it is done with
    /// them; a file in the way is found before the work.
    fn outputs(&mut self) -> Result<(Output, Vec<Output>), Error> {
        let names = names(self.case, self.options.export_jacobian);
        let size = [self.case.grid.ni, self.case.grid.nj];
        let coarser = family::coarser_folders(&self.options.output, size, self.grids);
        let mut open = |folder: &Path| -> Result<Output, Error> {
            let output = Output::open(folder, openfoam::RULES, self.options.force)?;
            output.check(names.iter().map(String::as_str))?;
            self.notices.extend(output.notice());
            Ok(output)
        };
        let finest = open(&self.folder)?;
        let others = coarser.iter().map(|folder| open(folder)).collect::<Result<_, _>>()?;
        Ok((finest, others))
    }

    /// The layout, timed.
    fn measured_layout(&mut self, timing: &mut Timing) -> Result<Layout, Error> {
        self.timed("geometry", &mut timing.geometry_seconds, Self::layout)
            .map_err(|error| Error::geometry(self.case, error))
    }

    /// The machine that was opened, ready for the case.
    fn ready(&mut self, (machine, notice): Opened) -> Result<Opened, Error> {
        let order = machine.refused_order(&self.case.linear);
        machine.check_memory(self.case)?;
        self.notices.extend(notice.iter().cloned().chain(order));
        Ok((machine, notice))
    }

    /// Announces a phase and adds its time to `seconds`.
    fn timed<R>(&mut self, phase: &str, seconds: &mut f64, work: impl FnOnce(&mut Self) -> R) -> R {
        self.progress.phase(phase);
        let started = Instant::now();
        let result = work(self);
        *seconds += started.elapsed().as_secs_f64();
        result
    }

    fn layout(&mut self) -> Result<Layout, GeometryError> {
        let mut layout = Layout::new(self.case, self.airfoil)?;
        self.notices.append(&mut layout.notices);
        Ok(layout)
    }

    /// The tolerance asked for, or the round-off floor where that is higher.
    fn tolerance(&mut self) -> f64 {
        let asked = self.case.newton.tolerance;
        let floor = ROUND_OFF * (1e-7 / self.case.grid.first_cell).powi(2);
        if floor > asked {
            self.notices.push(format!(
                "newton.tolerance raised from {asked:.1e} to {floor:.1e}: round-off at this first \
                 cell allows no less"
            ));
        }
        asked.max(floor)
    }
}

/// Phases and their seconds.
fn phases(timing: &Timing) -> Vec<(String, f64)> {
    [
        ("geometry", timing.geometry_seconds),
        ("device", timing.device_seconds),
        ("initial grid", timing.initial_grid_seconds),
        ("newton", timing.newton_seconds),
        ("  assembly and set-up", timing.assembly_seconds),
        ("  linear solves", timing.linear_seconds),
        ("quality", timing.quality_seconds),
        ("writing", timing.writing_seconds),
        ("total", timing.total_seconds),
    ]
    .map(|(phase, seconds)| (phase.to_owned(), seconds))
    .to_vec()
}
