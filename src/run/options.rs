//! Options of a run, its progress, and the notes and times for its report.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::machine::{BackendChoice, MachinePool};
use crate::ranks::Job;
use crate::report::Timing;
use crate::solver::history::NewtonStep;

/// Default time between two restart files.
pub const RESTART_EVERY: Duration = Duration::from_mins(5);

/// Options of a run in addition to the case.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunOptions {
    /// Folder the files are written to.
    pub output: PathBuf,
    /// Grids of a family, each of which is every other point of the one before; the case describes the
    /// finest. With more than one, the files of each go to a folder of its own below `output`, named by
    /// its size: `897x257`.
    pub grids: u32,
    /// Backend.
    pub backend: BackendChoice,
    /// GPUs to use; none leaves the choice to the backend.
    pub devices: Option<Vec<usize>>,
    /// The GPU that a case is given which needs one alone where none is named; counted on from the first
    /// where there are fewer.
    pub device: usize,
    /// Threads to use on the CPU; none means all.
    pub threads: Option<usize>,
    /// Newton step whose linear system is written in addition to the mesh, the first being 0.
    pub export_jacobian: Option<usize>,
    /// Restart file to go on from.
    pub restart: Option<PathBuf>,
    /// Time between two restart files.
    pub restart_every: Duration,
    /// Whether to replace files in the output folder that gridgen did not write.
    pub force: bool,
    /// The job that this process is a rank of: its ranks share the solve for one grid, a GPU each, and a batch is
    /// shared out among them. Rank 0 receives the finished grid, measures, draws and writes it.
    pub job: Option<Arc<Job>>,
    /// Whether a grid that is made in memory on one GPU stays there as well: `GridResult::nodes`.
    pub keep_on_device: bool,
    /// GPUs that stay open for the next case, and are shared with cases that are solved for at the same time.
    pub pool: Option<Arc<MachinePool>>,
    /// Whether what is found of the section, or of the grids of several elements together, keeps them from being
    /// good.
    pub strict: bool,
}

impl RunOptions {
    /// Files to `output`, all else left to gridgen.
    pub fn new(output: PathBuf) -> Self {
        Self {
            output,
            grids: 1,
            backend: BackendChoice::Auto,
            devices: None,
            device: 0,
            threads: None,
            export_jacobian: None,
            restart: None,
            restart_every: RESTART_EVERY,
            force: false,
            job: None,
            keep_on_device: false,
            pool: None,
            strict: false,
        }
    }
}

impl Default for RunOptions {
    /// Files to the folder `output`.
    fn default() -> Self {
        Self::new(PathBuf::from("output"))
    }
}

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

impl Progress for () {}

/// Progress for the caller; the time of each phase and the notices for the report.
pub(crate) struct RunLog<'a> {
    pub(crate) progress: &'a mut dyn Progress,
    pub(crate) timing: Timing,
    pub(crate) notices: Vec<String>,
    started: Instant,
}

impl<'a> RunLog<'a> {
    /// Starts a log that times the phases of `timing`.
    pub(crate) fn new(progress: &'a mut dyn Progress, timing: Timing) -> Self {
        Self { progress, timing, notices: Vec::new(), started: Instant::now() }
    }

    pub(crate) fn timed<R>(&mut self, phase: &str, work: impl FnOnce(&mut Self) -> R) -> R {
        self.progress.phase(phase);
        let started = Instant::now();
        let result = work(self);
        self.timing.add(phase, started.elapsed().as_secs_f64());
        result
    }

    /// The times of the phases, and of the whole since the start.
    pub(crate) fn total(&mut self) -> Timing {
        self.timing.add("total", self.started.elapsed().as_secs_f64());
        self.timing.clone()
    }
}
