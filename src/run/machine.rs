//! The machine a case is solved on.

use super::{BackendChoice, RunOptions};
use crate::backend::DeviceError;
use crate::backend::cuda::{CudaBackend, Demand, Kept};
use crate::case::Case;
use crate::solver::linear::Precision;
use crate::solver::precond::Kind;

/// Where the grid equations are solved.
pub(super) enum Machine {
    /// The CPU, in the current thread pool.
    Cpu,
    /// A GPU.
    Cuda(CudaBackend),
}

impl Machine {
    /// The machine of the options; with [`BackendChoice::Auto`] and no GPU that can be used also
    /// why it is the CPU.
    pub(super) fn choose(options: &RunOptions) -> Result<(Self, Option<String>), DeviceError> {
        match options.backend {
            BackendChoice::Cpu => Ok((Self::Cpu, None)),
            BackendChoice::Cuda => Ok((Self::Cuda(open(options)?), None)),
            BackendChoice::Auto => match open(options) {
                Ok(backend) => Ok((Self::Cuda(backend), None)),
                Err(error) if options.devices.is_none() => {
                    Ok((Self::Cpu, Some(format!("running on the CPU: {error}"))))
                }
                Err(error) => Err(error),
            },
        }
    }

    /// Refuses a case that does not fit the machine, before any work.
    pub(super) fn check_room(&self, case: &Case) -> Result<(), DeviceError> {
        let Self::Cuda(backend) = self else { return Ok(()) };
        backend.check_room(Demand {
            points: case.grid.ni * case.grid.nj,
            value: match case.linear.precision {
                Precision::Single => 4,
                Precision::Double => 8,
            },
            preconditioner: match case.linear.preconditioner {
                Kind::None | Kind::Jacobi => Kept::Diagonal,
                Kind::Dilu | Kind::Ilu0 => Kept::Factors,
                Kind::Multigrid => Kept::Hierarchy,
            },
        })
    }

    /// Name for the report.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Cpu => "cpu".to_owned(),
            Self::Cuda(backend) => format!("cuda ({})", backend.device().name()),
        }
    }
}

/// The GPU of the options, the first one if they name none.
fn open(options: &RunOptions) -> Result<CudaBackend, DeviceError> {
    match options.devices.as_deref() {
        None | Some([]) => CudaBackend::open(0),
        Some(&[ordinal]) => CudaBackend::open(ordinal),
        Some(several) => Err(DeviceError::SeveralGpus { asked: several.len() }),
    }
}
