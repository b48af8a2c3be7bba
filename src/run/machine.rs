//! The machine a case is solved on: the CPU, a GPU, or several devices that work together; and machines that stay open
//! from one case to the next.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use super::estimate::{CROSSOVER, demand, memory_bytes};
use crate::backend::DeviceError;
#[cfg(feature = "cuda")]
pub(super) use crate::backend::cuda::driver;
use crate::backend::cuda::{CudaBackend, Group, Ranks};
#[cfg(feature = "cuda")]
use crate::backend::cuda::{Gpus, JobRank};
use crate::case::{Case, LinearOptions};
use crate::memory;
use crate::ranks::Job;
use crate::solver::precond::Kind;
use crate::sparse::Schedule;

/// A machine, and a notice to the user on its choice.
pub(crate) type Opened = (Machine, Option<String>);

/// Choice of backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackendChoice {
    /// The GPU if one is usable and faster than the CPU for this grid size; otherwise the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// NVIDIA GPUs.
    Cuda,
}

impl BackendChoice {
    /// Refuses GPUs named for the CPU, and a GPU named twice, in the words of the command line.
    pub fn check_devices(self, named: &[usize]) -> Result<(), String> {
        if !named.is_empty() && self == Self::Cpu {
            return Err("--devices names GPUs, which --backend cpu does not use".to_owned());
        }
        match named.iter().enumerate().find(|(k, device)| named[..*k].contains(device)) {
            None => Ok(()),
            Some((_, device)) => Err(format!("--devices names device {device} twice")),
        }
    }

    /// The CPU, or what `gpu` opens: with [`Self::Auto`], unless GPUs are `named`, the CPU and why where
    /// no GPU can be opened.
    pub(crate) fn open(
        self,
        named: bool,
        gpu: impl FnOnce() -> Result<Opened, DeviceError>,
    ) -> Result<Opened, DeviceError> {
        if self == Self::Cpu {
            return Ok((Machine::Cpu, None));
        }
        match gpu() {
            Err(error) if self == Self::Auto && !named => {
                Ok((Machine::Cpu, Some(format!("running on the CPU: {error}"))))
            }
            opened => opened,
        }
    }
}

/// Does work on each backend of a machine, given the rank and the backend; several share it by the `bands`, which one
/// alone does not need. As a macro, since the backends are different types, and no closure is generic. Returns the
/// failure of the first rank that failed.
macro_rules! on_each {
    ($machine:expr, $bands:expr, |$rank:ident, $backend:ident| $work:expr) => {
        match $machine {
            $crate::run::Machine::Cpu => {
                let ($rank, $backend) = (0, &CpuBackend);
                $work
            }
            $crate::run::Machine::Cuda(cuda) => {
                let ($rank, $backend) = (0, &**cuda);
                $work
            }
            $crate::run::Machine::Ranks(ranks) => ranks.run(&$bands, &|$rank, $backend| $work),
        }
    };
}
pub(crate) use on_each;

/// The machine on which equations are solved.
pub enum Machine {
    /// The CPU, in the current thread pool.
    Cpu,
    /// A GPU.
    Cuda(Box<CudaBackend>),
    /// Several devices, a band of columns or a block of rows each.
    Ranks(Box<dyn Ranks>),
}

impl Machine {
    /// A machine for work on `points` points, and a notice for the user: the rank of this process if the job
    /// has several, otherwise the named GPUs, or the first one. With [`BackendChoice::Auto`] and no named GPU
    /// it is the CPU, unless there is a GPU that is faster for this number of points.
    ///
    /// # Errors
    /// If a GPU is asked for and cannot be opened.
    pub fn for_points(
        backend: BackendChoice,
        devices: Option<&[usize]>,
        job: Option<&Arc<Job>>,
        points: usize,
    ) -> Result<(Self, Option<String>), DeviceError> {
        if let Some(job) = job.filter(|job| job.size() > 1) {
            return Self::rank_of(job.clone(), backend, devices);
        }
        let named = devices.unwrap_or_default();
        if named.is_empty() && backend == BackendChoice::Auto && Self::is_cpu_for(points) {
            return Ok((Self::Cpu, None));
        }
        backend.open(!named.is_empty(), || Self::gpus(named, points))
    }

    /// Whether the CPU is chosen for this number of points where the user leaves the choice.
    fn is_cpu_for(points: usize) -> bool {
        points < CROSSOVER || !driver::present()
    }

    /// Refuses cases that a run without options would solve on the CPU and refuse for want of memory.
    ///
    /// # Errors
    /// [`DeviceError::Memory`].
    pub fn check_memory_by_default(cases: &[&Case]) -> Result<(), DeviceError> {
        let largest = cases.iter().map(|case| demand(case).points).max().unwrap_or(0);
        let on_cpu = Self::is_cpu_for(largest) || driver::device(0).is_err();
        if on_cpu { Self::Cpu.check_memory(cases) } else { Ok(()) }
    }

    /// A notice where the machine does not have the order of elimination that the case gives.
    pub(crate) fn refused_order(&self, linear: &LinearOptions) -> Option<String> {
        let factors = matches!(linear.preconditioner, Kind::Dilu | Kind::Ilu0);
        let asked = !matches!(linear.schedule, Schedule::Auto | Schedule::Levels);
        (matches!(self, Self::Cpu) && factors && asked).then(|| {
            "linear.schedule is for GPUs: on the CPU the factors are eliminated in natural order"
                .to_owned()
        })
    }

    /// Refuses cases that do not fit the machine, before any work: the CPU has them side by side.
    pub(crate) fn check_memory(&self, cases: &[&Case]) -> Result<(), DeviceError> {
        let mut demands = cases.iter().map(|case| demand(case));
        match self {
            Self::Cpu => {
                let bytes: f64 = cases.iter().map(|case| memory_bytes(case)).sum();
                Ok(memory::check(bytes as u64)?)
            }
            Self::Cuda(backend) => demands.try_for_each(|demand| demand.check(&**backend.device())),
            Self::Ranks(ranks) => demands.try_for_each(|demand| ranks.check_memory(demand)),
        }
    }

    /// The GPU that works alone, if this is one.
    fn gpu(&self) -> Option<&CudaBackend> {
        match self {
            Self::Cuda(backend) => Some(backend),
            Self::Cpu | Self::Ranks(_) => None,
        }
    }

    /// Ends the work that was asked: others of the GPU's group do not wait for this one.
    pub(crate) fn rest(&self) -> Result<(), DeviceError> {
        self.gpu().map_or(Ok(()), |gpu| gpu.device().rest())
    }

    /// A machine whose work is done together with this one's; none where this one works alone.
    pub(crate) fn companion(&self) -> Result<Option<Self>, DeviceError> {
        let open = |device| Ok(Self::Cuda(Box::new(CudaBackend::new(device)?)));
        self.gpu().and_then(|gpu| gpu.device().companion()).map(open).transpose()
    }

    /// Gives back the memory that a solve has left idle: nodes that stay on a GPU keep it open.
    pub(crate) fn trim(&self) -> Result<(), DeviceError> {
        self.gpu().map_or(Ok(()), |gpu| gpu.device().trim())
    }

    /// The GPU of this process as a rank of its job.
    pub(crate) fn rank_of(
        job: Arc<Job>,
        backend: BackendChoice,
        devices: Option<&[usize]>,
    ) -> Result<Opened, DeviceError> {
        if backend == BackendChoice::Cpu {
            return Err(DeviceError::RanksOnCpu { ranks: job.size() });
        }
        #[cfg(feature = "cuda")]
        {
            let gpu = match devices.unwrap_or_default() {
                [] => own_gpu(job.place().local_rank)?,
                named => named[job.place().local_rank % named.len()],
            };
            let ranks = job.size();
            let rank = JobRank::open(job, gpu).map_err(|error| match error {
                DeviceError::NoDriver | DeviceError::NoGpu if backend == BackendChoice::Auto => {
                    DeviceError::RanksOnCpu { ranks }
                }
                other => other,
            })?;
            let notice = rank.notice.map(str::to_owned);
            Ok((Self::Ranks(Box::new(rank)), notice))
        }
        #[cfg(not(feature = "cuda"))]
        {
            let _ = (job, devices);
            Err(DeviceError::NotBuilt { backend: "cuda" })
        }
    }

    /// These GPUs, the first one if there are none, for grids of this many points.
    pub(crate) fn gpus(numbers: &[usize], points: usize) -> Result<Opened, DeviceError> {
        #[cfg(feature = "cuda")]
        if numbers.len() > 1 {
            let gpus = Gpus::open(numbers)?;
            let slow = gpus.slow();
            return Ok((Self::Ranks(Box::new(gpus)), slow));
        }
        let number = numbers.first().copied().unwrap_or_default();
        Ok((Self::Cuda(Box::new(CudaBackend::open(number, points)?)), None))
    }

    /// Whether these GPUs of this process, and no others, are its devices.
    fn is_of(&self, gpus: &[usize]) -> bool {
        match self {
            Self::Cpu => false,
            Self::Cuda(backend) => backend.device().ordinal().is_some_and(|own| *gpus == [own]),
            Self::Ranks(ranks) => ranks.are(gpus),
        }
    }

    /// The job whose processes are the devices, if they are not those of this process.
    pub(crate) fn job(&self) -> Option<&Arc<Job>> {
        match self {
            Self::Cpu | Self::Cuda(_) => None,
            Self::Ranks(ranks) => ranks.job(),
        }
    }

    /// Devices that share the work.
    pub(crate) fn devices(&self) -> usize {
        match self {
            Self::Cpu | Self::Cuda(_) => 1,
            Self::Ranks(ranks) => ranks.count(),
        }
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Cpu => "cpu".to_owned(),
            Self::Cuda(backend) => format!("cuda ({})", backend.device().name()),
            Self::Ranks(ranks) => ranks.name(),
        }
    }
}

/// The GPU of this number, counted on from the first where there are fewer.
pub(super) fn own_gpu(number: usize) -> Result<usize, DeviceError> {
    Ok(if number == 0 { 0 } else { number % driver::devices()?.len().max(1) })
}

/// The driver of a build without: there is none.
#[cfg(not(feature = "cuda"))]
pub(super) mod driver {
    use crate::backend::DeviceError;

    pub(crate) struct GpuMemory {
        pub(crate) memory: usize,
        pub(crate) free: Option<usize>,
    }

    pub(crate) fn present() -> bool {
        false
    }

    pub(crate) fn device(_: usize) -> Result<GpuMemory, DeviceError> {
        Err(DeviceError::NotBuilt { backend: "cuda" })
    }

    pub(crate) fn devices() -> Result<Vec<GpuMemory>, DeviceError> {
        Err(DeviceError::NotBuilt { backend: "cuda" })
    }
}

/// Most threads for a core: more gain nothing, and some hundred take longer to wake than to do their work.
const MOST_A_CORE: usize = 16;

/// A pool of `threads` threads, or of fewer that the cores can serve; none means one for each core.
pub(crate) fn thread_pool(threads: Option<usize>) -> Result<rayon::ThreadPool, DeviceError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or(0).min(MOST_A_CORE * cores);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| DeviceError::Threads { threads, reason: error.to_string() })
}

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
    /// Machines without work.
    idle: Vec<Opened>,
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
        let mut kept = self.kept.lock();
        if let Some(at) = kept.idle.iter().position(|(machine, _)| machine.is_of(gpus)) {
            return Ok(kept.idle.swap_remove(at));
        }
        let (&[gpu], true) = (gpus, self.is_grouped()) else {
            drop(kept);
            return Machine::gpus(gpus, points);
        };
        let group = kept.group(gpu, self.jobs.div_ceil(GROUP_JOBS), points)?;
        Ok((Machine::Cuda(Box::new(CudaBackend::new(Arc::new(group.member()))?)), None))
    }

    /// Keeps a machine for the next case.
    pub(super) fn keep(&self, opened: Opened) {
        if !matches!(opened.0, Machine::Cpu) {
            self.kept.lock().idle.push(opened);
        }
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
