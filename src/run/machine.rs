//! The machine a case is solved on.

use super::{BackendChoice, RunOptions};
use crate::backend::DeviceError;
use crate::backend::cuda::{CudaBackend, Demand, Kept};
use crate::case::{Case, LinearOptions};
use crate::solver::linear::Precision;
use crate::solver::precond::{Kind, Ordering};
use std::thread::JoinHandle;

/// Where the grid equations are solved.
pub(super) enum Machine {
    /// The CPU, in the current thread pool.
    Cpu,
    /// A GPU.
    Cuda(CudaBackend),
}

/// A machine that is opened while other work goes on.
pub(super) enum Opening {
    /// It is being opened.
    UnderWay(JoinHandle<Result<Opened, DeviceError>>),
    /// It is open.
    Done(Box<Machine>),
}

/// A machine, and why it is no other.
type Opened = (Machine, Option<String>);

impl Opening {
    /// Begins to open the machine of the options.
    pub(super) fn begin(options: &RunOptions) -> Self {
        let options = options.clone();
        Self::UnderWay(std::thread::spawn(move || Machine::choose(&options)))
    }

    /// Waits until it is open.
    pub(super) fn end(self) -> Result<Opened, DeviceError> {
        match self {
            Self::UnderWay(thread) => thread.join().unwrap_or(Err(DeviceError::CompilerLost)),
            Self::Done(machine) => Ok((*machine, None)),
        }
    }
}

/// A machine that is being closed; waits for that when it is dropped.
pub(super) struct Closing(Option<JoinHandle<()>>);

impl Drop for Closing {
    fn drop(&mut self) {
        // Whatever went wrong there, the results are out.
        let _ = self.0.take().map(JoinHandle::join);
    }
}

impl Machine {
    /// Closes the machine while other work goes on.
    pub(super) fn close(self) -> Closing {
        Closing(Some(std::thread::spawn(move || drop(self))))
    }

    /// The machine of the options; with [`BackendChoice::Auto`] and no GPU that can be used also
    /// why it is the CPU.
    fn choose(options: &RunOptions) -> Result<Opened, DeviceError> {
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

    /// The same machine with the order of elimination that a case asks for; what it cannot do of
    /// that is said.
    pub(super) fn scheduled(self, linear: &LinearOptions) -> (Self, Option<String>) {
        let schedule = linear.schedule.schedule(linear.preconditioner);
        let factors = matches!(linear.preconditioner, Kind::Dilu | Kind::Ilu0);
        let asked = !matches!(linear.schedule, Ordering::Auto | Ordering::Levels);
        match self {
            Self::Cuda(backend) => (Self::Cuda(backend.with_schedule(schedule)), None),
            Self::Cpu if factors && asked => {
                let notice = "linear.schedule is for GPUs: on the CPU the factors are eliminated in \
                              natural order";
                (Self::Cpu, Some(notice.to_owned()))
            }
            Self::Cpu => (Self::Cpu, None),
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
