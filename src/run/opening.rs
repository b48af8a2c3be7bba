//! Machines that are opened and closed while other work goes on.

use std::thread::JoinHandle;

use super::machine::{Machine, Opened};
use super::options::RunOptions;
use super::pool::MachinePool;
use crate::backend::DeviceError;
use crate::case::Case;

/// A machine that is opened while other work goes on, or that is open.
pub(crate) enum Opening {
    UnderWay(JoinHandle<Result<Opened, DeviceError>>),
    Done(Opened),
}

impl Opening {
    /// Begins to open the machine of the options for a case.
    pub(crate) fn of(case: &Case, options: &RunOptions) -> Self {
        let (case, options) = (case.clone(), options.clone());
        Self::begin(move || Machine::choose(&case, &options))
    }

    pub(crate) fn begin(
        open: impl FnOnce() -> Result<Opened, DeviceError> + Send + 'static,
    ) -> Self {
        Self::UnderWay(std::thread::spawn(open))
    }

    /// Waits until it is open.
    pub(crate) fn end(self) -> Result<Opened, DeviceError> {
        match self {
            Self::UnderWay(thread) => thread
                .join()
                .unwrap_or_else(|panic| Err(DeviceError::panic("opening the device", &*panic))),
            Self::Done(opened) => Ok(opened),
        }
    }
}

/// A machine that is being closed; waits for that when it is dropped.
pub(crate) struct Closing(Option<JoinHandle<()>>);

impl Closing {
    /// Closes `open` on a thread, while other work goes on.
    pub(crate) fn of(open: impl Send + 'static) -> Self {
        Self(Some(std::thread::spawn(move || drop(open))))
    }

    /// Keeps the machine for the next case, or closes it where none is to be kept.
    pub(crate) fn or_keep(machine: Opened, pool: Option<&MachinePool>) -> Self {
        match pool {
            Some(pool) => {
                pool.keep(machine);
                Self(None)
            }
            None => Self::of(machine),
        }
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        // A failure there does not touch the results, which are written.
        let _ = self.0.take().map(JoinHandle::join);
    }
}
