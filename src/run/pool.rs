//! Machines that stay open from one case to the next.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use super::machine::{Machine, Opened};
use crate::backend::DeviceError;
use crate::backend::cuda::{CudaBackend, Group};

/// Jobs of a group. While the threads of one prepare and write, others compute: fewer jobs than those of two
/// groups have a machine each, which is done sooner (docs/performance.md).
const GROUP_JOBS: usize = 16;

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
    /// Machines without work: the number of the GPU, none of a machine made of all named GPUs.
    idle: Vec<(Option<usize>, Opened)>,
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

    /// A machine of these GPUs for a grid of this many points.
    pub(crate) fn open(&self, gpus: &[usize], points: usize) -> Result<Opened, DeviceError> {
        let alone = if let &[gpu] = gpus { Some(gpu) } else { None };
        let mut kept = self.kept.lock();
        if let Some(at) = kept.idle.iter().position(|(number, _)| *number == alone) {
            return Ok(kept.idle.swap_remove(at).1);
        }
        let Some(gpu) = alone.filter(|_| self.is_grouped()) else {
            drop(kept);
            return Machine::gpus(gpus, points);
        };
        let group = kept.group(gpu, self.jobs.div_ceil(GROUP_JOBS), points)?;
        Ok((Machine::Cuda(Box::new(CudaBackend::new(Arc::new(group.member()))?)), None))
    }

    /// Keeps a machine for the next case.
    pub(super) fn keep(&self, opened: Opened) {
        let number = match &opened.0 {
            Machine::Cpu => return,
            Machine::Cuda(backend) => Some(backend.device().ordinal().unwrap_or_default()),
            Machine::Ranks(_) => None,
        };
        self.kept.lock().idle.push((number, opened));
    }
}

impl Kept {
    /// The smallest group of a GPU; a new group if there are fewer than `most`.
    fn group(&mut self, gpu: usize, most: usize, points: usize) -> Result<Arc<Group>, DeviceError> {
        let own = || self.groups.iter().filter(|(number, _)| *number == gpu);
        if own().count() == most
            && let Some((_, smallest)) = own().min_by_key(|(_, group)| group.size())
        {
            return Ok(smallest.clone());
        }
        let group = Group::open(gpu, points)?;
        self.groups.push((gpu, group.clone()));
        Ok(group)
    }
}

impl fmt::Debug for MachinePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let idle = self.kept.lock().idle.len();
        f.debug_struct("MachinePool").field("jobs", &self.jobs).field("idle", &idle).finish()
    }
}
