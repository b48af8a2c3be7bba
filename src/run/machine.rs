//! The machine a case is solved on.

use super::{BackendChoice, RunOptions};
use crate::backend::DeviceError;
use crate::backend::cuda::CudaBackend;

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

    /// Name for the report.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Cpu => "cpu".to_owned(),
            Self::Cuda(backend) => format!("cuda ({})", backend.device().name()),
        }
    }
}

/// The GPU of the options, the first one if they name none.
#[cfg(feature = "cuda")]
fn open(options: &RunOptions) -> Result<CudaBackend, DeviceError> {
    let ordinal = match options.devices.as_deref() {
        None | Some([]) => 0,
        Some(&[ordinal]) => ordinal,
        Some(several) => return Err(DeviceError::SeveralGpus { asked: several.len() }),
    };
    CudaBackend::open(ordinal)
}

#[cfg(not(feature = "cuda"))]
fn open(_: &RunOptions) -> Result<CudaBackend, DeviceError> {
    Err(DeviceError::NotBuilt { backend: "cuda" })
}
