//! What a run takes beside the case, and what it tells while it goes on.

use std::path::PathBuf;
use std::time::Duration;

use crate::backend::DeviceError;
use crate::solver::history::NewtonStep;

/// Choice of backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendChoice {
    /// Of a GPU, if there is one that can be used, and the CPU what is faster for the size of the grid.
    Auto,
    /// The CPU.
    Cpu,
    /// NVIDIA GPUs.
    Cuda,
}

/// What a choice of backend came to, and what the user should know of it.
pub(crate) type Chosen<M> = (M, Option<String>);

impl BackendChoice {
    /// `cpu`, or what `gpu` opens: with [`Self::Auto`], unless GPUs are `named`, the first and why
    /// where the second fails.
    pub(crate) fn open<M>(
        self,
        named: bool,
        cpu: M,
        gpu: impl FnOnce() -> Result<Chosen<M>, DeviceError>,
    ) -> Result<Chosen<M>, DeviceError> {
        if self == Self::Cpu {
            return Ok((cpu, None));
        }
        match gpu() {
            Err(error) if self == Self::Auto && !named => {
                Ok((cpu, Some(format!("running on the CPU: {error}"))))
            }
            opened => opened,
        }
    }
}

/// What a run takes beside the case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOptions {
    /// Folder the files are written to.
    pub output: PathBuf,
    /// Backend.
    pub backend: BackendChoice,
    /// GPUs to use; none leaves the choice to the backend.
    pub devices: Option<Vec<usize>>,
    /// Threads to use on the CPU; none means all.
    pub threads: Option<usize>,
    /// Newton step whose linear system is written beside the mesh, the first being 0.
    pub export_jacobian: Option<usize>,
    /// Restart file to go on from.
    pub restart: Option<PathBuf>,
    /// Time between two restart files.
    pub restart_every: Duration,
    /// Whether to replace files in the output folder that gridgen did not write.
    pub force: bool,
}

/// Time between two restart files if nothing else is asked for.
pub const RESTART_EVERY: Duration = Duration::from_mins(5);

impl RunOptions {
    /// Files to `output`, all else left to gridgen.
    #[must_use]
    pub fn new(output: PathBuf) -> Self {
        Self {
            output,
            backend: BackendChoice::Auto,
            devices: None,
            threads: None,
            export_jacobian: None,
            restart: None,
            restart_every: RESTART_EVERY,
            force: false,
        }
    }
}

impl Default for RunOptions {
    /// Files to the folder `output`.
    fn default() -> Self {
        Self::new(PathBuf::from("output"))
    }
}

/// Shows nothing.
impl Progress for () {
    fn phase(&mut self, _name: &str) {}
    fn newton(&mut self, _step: &NewtonStep) {}
    fn linear(&mut self, _iteration: f64, _relative_residual: f64) {}
}

/// Receiver of what happens during a run.
pub trait Progress: Send {
    /// A phase begins.
    fn phase(&mut self, name: &str);
    /// A Newton step is done.
    fn newton(&mut self, step: &NewtonStep);
    /// A linear iteration is done.
    fn linear(&mut self, iteration: f64, relative_residual: f64);
    /// Whether to end the run: asked before each phase and each Newton step. A solve under way
    /// leaves a restart file.
    fn cancelled(&self) -> bool {
        false
    }
}
