//! Machines that are opened while other work goes on, kept from one case to the next, and closed at last.

use std::fmt;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::{Mutex, MutexGuard};

use super::{Machine, RunOptions};
use crate::backend::DeviceError;
use crate::backend::cuda::{CudaBackend, Group};
use crate::case::Case;

/// Jobs of a group. While the threads of one prepare and write, others compute: fewer jobs than those of two
/// groups have a machine each, which is done sooner (docs/performance.md).
const GROUP_JOBS: usize = 16;

/// A machine, and a notice to the user on its choice.
pub(crate) type Opened = (Machine, Option<String>);

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

/// GPUs that stay open from one case to the next, for cases that are solved for side by side.
///
/// The grids of many jobs on one GPU are solved for together: their like work is one launch. A grid has the
/// same bits in any company.
pub struct MachinePool {
    /// Jobs of a GPU.
    jobs: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Machines of one GPU without work, and its number.
    single: Vec<(usize, Opened)>,
    /// The machine made of all named GPUs.
    several: Option<Opened>,
    /// The groups of a GPU.
    groups: Vec<(usize, Arc<Group>)>,
}

impl MachinePool {
    /// A pool for `jobs` jobs on each GPU.
    pub fn new(jobs: usize) -> Self {
        Self { jobs, kept: Mutex::default() }
    }

    /// Whether grids are solved for in groups.
    pub(crate) fn is_grouped(&self) -> bool {
        self.jobs >= 2 * GROUP_JOBS
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock()
    }

    /// A machine of these GPUs.
    pub(crate) fn open(&self, gpus: &[usize]) -> Result<Opened, DeviceError> {
        let &[gpu] = gpus else {
            let kept = self.kept().several.take();
            return kept.map_or_else(|| Machine::gpus(gpus), Ok);
        };
        let mut kept = self.kept();
        if let Some(at) = kept.single.iter().position(|(number, _)| *number == gpu) {
            return Ok(kept.single.swap_remove(at).1);
        }
        if !self.is_grouped() {
            drop(kept);
            return Machine::gpus(gpus);
        }
        let group = kept.group(gpu, self.jobs.div_ceil(GROUP_JOBS))?;
        Ok((Machine::Cuda(Box::new(CudaBackend::new(Arc::new(group.member()))?)), None))
    }

    /// Keeps a machine for the next case.
    fn keep(&self, opened: Opened) {
        match &opened.0 {
            Machine::Cpu => {}
            Machine::Cuda(backend) => {
                let gpu = backend.device().ordinal().unwrap_or_default();
                self.kept().single.push((gpu, opened));
            }
            Machine::Ranks(_) => self.kept().several = Some(opened),
        }
    }
}

impl Kept {
    /// The smallest group of a GPU; a new group if there are fewer than `most`.
    fn group(&mut self, gpu: usize, most: usize) -> Result<Arc<Group>, DeviceError> {
        let own = || self.groups.iter().filter(|(number, _)| *number == gpu);
        if own().count() == most
            && let Some((_, smallest)) = own().min_by_key(|(_, group)| group.size())
        {
            return Ok(smallest.clone());
        }
        let group = Group::open(gpu)?;
        self.groups.push((gpu, group.clone()));
        Ok(group)
    }
}

/// A pool is like itself.
impl PartialEq for MachinePool {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for MachinePool {}

impl fmt::Debug for MachinePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MachinePool").field("jobs", &self.jobs).finish_non_exhaustive()
    }
}
