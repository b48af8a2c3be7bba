//! Where a linear system is solved.

use super::SystemOptions;
use super::many::solve_by_rows;
use super::report::SystemTiming;
use super::solve::{Solved, solve_on};
use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::CudaBackend;
#[cfg(feature = "cuda")]
use crate::backend::cuda::Gpus;
use crate::backend::{DeviceError, SparseBackend};
use crate::error::Error;
use crate::generate::options::Chosen;
use crate::generate::{BackendChoice, Progress, Ranks};
use crate::solver::SolverError;
use crate::sparse::Csr;

/// Where a system is solved.
pub(super) enum Place {
    /// The CPU, in the current thread pool.
    Cpu,
    /// A GPU.
    Cuda(Box<CudaBackend>),
    /// Several devices, a block of rows each.
    Ranks(Box<dyn Ranks>),
}

impl Place {
    /// The place of the options, and what the user should know of the choice: with
    /// [`BackendChoice::Auto`] and no GPU that can be used why it is the CPU.
    pub(super) fn choose(
        backend: BackendChoice,
        devices: Option<&[usize]>,
    ) -> Result<Chosen<Self>, DeviceError> {
        backend.open(devices.is_some(), Self::Cpu, || open(devices.unwrap_or_default()))
    }

    /// Name for the report.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Cpu => "cpu".to_owned(),
            Self::Cuda(backend) => format!("cuda ({})", backend.device().name()),
            Self::Ranks(ranks) => ranks.name(),
        }
    }

    /// Blocks of rows that a matrix is cut into.
    pub(super) fn blocks(&self) -> usize {
        match self {
            Self::Cpu | Self::Cuda(_) => 1,
            Self::Ranks(ranks) => ranks.count(),
        }
    }

    /// Solves a system as the options ask for it.
    pub(super) fn solve(
        &self,
        system: (&Csr, &[f64]),
        options: &SystemOptions,
        timing: &mut SystemTiming,
        progress: &mut dyn Progress,
    ) -> Result<Solved, Error> {
        let solved = match self {
            Self::Cpu => whole(&CpuBackend, system, options, timing, progress),
            Self::Cuda(backend) => whole(&**backend, system, options, timing, progress),
            Self::Ranks(ranks) => solve_by_rows(&**ranks, system, options, timing, progress),
        };
        Ok(solved?)
    }
}

/// Solves a system on one backend.
fn whole<B: SparseBackend>(
    backend: &B,
    (a, b): (&Csr, &[f64]),
    options: &SystemOptions,
    timing: &mut SystemTiming,
    progress: &mut dyn Progress,
) -> Result<Solved, SolverError> {
    let matrix = |backend: &B| backend.csr(a, options.format);
    solve_on(backend, (matrix, b), options, timing, progress)
}

/// The GPUs named, or the first.
fn open(devices: &[usize]) -> Result<Chosen<Place>, DeviceError> {
    #[cfg(feature = "cuda")]
    if devices.len() > 1 {
        let gpus = Gpus::open(devices)?;
        let slow = gpus.slow();
        return Ok((Place::Ranks(Box::new(gpus)), slow));
    }
    let first = devices.first().copied().unwrap_or(0);
    Ok((Place::Cuda(Box::new(CudaBackend::open(first)?)), None))
}
