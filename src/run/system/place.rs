//! Where a linear system is solved.

use super::SystemOptions;
use super::solve::{Solved, solve_on};
use crate::backend::DeviceError;
use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::CudaBackend;
use crate::error::Error;
use crate::io::solution::SystemTiming;
use crate::run::options::Chosen;
use crate::run::{BackendChoice, Progress};
use crate::sparse::Csr;

/// Where a system is solved.
pub(super) enum Place {
    /// The CPU, in the current thread pool.
    Cpu,
    /// A GPU.
    Cuda(Box<CudaBackend>),
}

impl Place {
    /// The place of the options, and what the user should know of the choice: with
    /// [`BackendChoice::Auto`] and no GPU that can be used why it is the CPU.
    pub(super) fn choose(
        backend: BackendChoice,
        device: Option<usize>,
    ) -> Result<Chosen<Self>, DeviceError> {
        backend.open(device.is_some(), Self::Cpu, || {
            Ok((Self::Cuda(Box::new(CudaBackend::open(device.unwrap_or(0))?)), None))
        })
    }

    /// Name for the report.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Cpu => "cpu".to_owned(),
            Self::Cuda(backend) => format!("cuda ({})", backend.device().name()),
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
        match self {
            Self::Cpu => solve_on(&CpuBackend, system, options, timing, progress),
            Self::Cuda(backend) => solve_on(&**backend, system, options, timing, progress),
        }
    }
}
