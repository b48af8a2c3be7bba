//! The machine a case is solved on: the CPU, a GPU, or several devices that work together.

use std::sync::Arc;

use super::RunOptions;
use super::estimate::{CROSSOVER, check_cpu, demand, wanted};
use super::pool::Opened;
use crate::backend::cuda::{CudaBackend, JobRank, MemoryEstimate};
#[cfg(feature = "cuda")]
use crate::backend::cuda::{Gpus, driver};
use crate::backend::{Bands, DeviceError};
use crate::case::{Case, LinearOptions};
use crate::ranks::Job;
use crate::solver::SolverError;
use crate::solver::precond::Kind;
use crate::sparse::Schedule;

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
    ///
    /// # Errors
    /// The message.
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

/// Does work on each backend of a machine, given the rank and the backend: as a macro, since the backends are
/// different types, and no closure is generic. Returns the failure of the first rank that failed.
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
            $crate::run::Machine::Ranks(ranks) => ranks.run($bands, &|$rank, $backend| $work),
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
    /// The machine of the options, and what the user should know of the choice: with
    /// [`BackendChoice::Auto`] which it is and why.
    pub(crate) fn choose(case: &Case, options: &RunOptions) -> Result<Opened, DeviceError> {
        if let Some(job) = options.job.as_ref().filter(|job| job.size() > 1) {
            return Self::rank_of(job.clone(), options.backend, options.devices.as_deref());
        }
        if let Some(opened) = Self::faster_cpu(case, options) {
            return Ok(opened);
        }
        let left = left_open(options);
        let (machine, notice) = options.backend.open(!left, || open(case, options))?;
        let faster = left && !matches!(machine, Self::Cpu);
        let chosen = faster.then(|| {
            format!(
                "running on a GPU, which is faster from {CROSSOVER} points on: --backend cpu takes none"
            )
        });
        let notices: Vec<String> = chosen.into_iter().chain(notice).collect();
        Ok((machine, (!notices.is_empty()).then(|| notices.join("; "))))
    }

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
        let slower = points < CROSSOVER || !driver::present();
        if named.is_empty() && backend == BackendChoice::Auto && slower {
            return Ok((Self::Cpu, None));
        }
        let first = [0];
        backend
            .open(!named.is_empty(), || Self::gpus(if named.is_empty() { &first } else { named }))
    }

    /// The CPU, if it is left open what to take, and a GPU would be slower for the size of the case.
    pub(crate) fn faster_cpu(case: &Case, options: &RunOptions) -> Option<Opened> {
        let small = demand(case).points < CROSSOVER;
        // If there is no driver, another notice reports it.
        (left_open(options) && small && driver::present()).then(|| {
            let notice = format!(
                "running on the CPU, which is faster below {CROSSOVER} points: --backend cuda takes a GPU"
            );
            (Self::Cpu, Some(notice))
        })
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
            Self::Cpu => check_cpu(cases),
            Self::Cuda(backend) => demands.try_for_each(|demand| backend.check_memory(demand)),
            Self::Ranks(ranks) => demands.try_for_each(|demand| ranks.check_memory(demand)),
        }
    }

    /// Ends the work that was asked: others of the GPU's group do not wait for this one.
    pub(crate) fn rest(&self) -> Result<(), DeviceError> {
        match self {
            Self::Cuda(backend) => backend.device().rest(),
            Self::Cpu | Self::Ranks(_) => Ok(()),
        }
    }

    /// A machine whose work is done together with this one's; none where this one works alone.
    pub(crate) fn companion(&self) -> Result<Option<Self>, DeviceError> {
        let device = match self {
            Self::Cuda(backend) => backend.device().companion(),
            Self::Cpu | Self::Ranks(_) => None,
        };
        let open = |device| Ok(Self::Cuda(Box::new(CudaBackend::new(device)?)));
        device.map(open).transpose()
    }

    /// Gives back the memory that a solve has left idle: nodes that stay on a GPU keep it open.
    pub(crate) fn trim(&self) -> Result<(), DeviceError> {
        match self {
            Self::Cuda(backend) => backend.device().trim(),
            Self::Cpu | Self::Ranks(_) => Ok(()),
        }
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
            let notice = rank.notice();
            Ok((Self::Ranks(Box::new(rank)), notice))
        }
        #[cfg(not(feature = "cuda"))]
        {
            let _ = (job, devices);
            Err(DeviceError::NotBuilt { backend: "cuda" })
        }
    }

    pub(crate) fn gpus(numbers: &[usize]) -> Result<Opened, DeviceError> {
        #[cfg(feature = "cuda")]
        if numbers.len() > 1 {
            let gpus = Gpus::open(numbers)?;
            let slow = gpus.slow();
            return Ok((Self::Ranks(Box::new(gpus)), slow));
        }
        let number = numbers.first().copied().unwrap_or_default();
        Ok((Self::Cuda(Box::new(CudaBackend::open(number)?)), None))
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
fn own_gpu(number: usize) -> Result<usize, DeviceError> {
    Ok(if number == 0 { 0 } else { number % driver::devices()?.len().max(1) })
}

fn left_open(options: &RunOptions) -> bool {
    options.backend == BackendChoice::Auto && options.devices.is_none()
}

/// The GPUs of the options; if they name none, as many as help.
fn open(case: &Case, options: &RunOptions) -> Result<Opened, DeviceError> {
    let ordinals = match options.devices.as_deref() {
        None | Some([]) => helpful(case, options)?,
        Some(named) => named.to_vec(),
    };
    if ordinals.len() > 1 {
        // Before any work: whether there are columns for all.
        Bands::new(case.grid.around() - 2, ordinals.len(), false)?;
    }
    match &options.pool {
        Some(pool) => pool.open(&ordinals),
        None => Machine::gpus(&ordinals),
    }
}

/// The first GPU, or as many as the points of the case keep busy or need for their memory. Exports use one.
fn helpful(case: &Case, options: &RunOptions) -> Result<Vec<usize>, DeviceError> {
    let demand = demand(case);
    let own = own_gpu(options.device)?;
    let memory = driver::device(own)?.memory;
    if options.export_jacobian.is_some() || wanted(demand, memory) < 2 {
        return Ok(vec![own]);
    }
    // To ask every GPU for its free memory takes a while itself.
    let gpus = driver::devices()?;
    let free = gpus.iter().filter_map(|gpu| gpu.free).min().unwrap_or(usize::MAX);
    Ok((0..wanted(demand, free).clamp(1, gpus.len().max(1))).collect())
}

/// Number of GPUs for a case and others of its size, side by side, and the least free memory of one; `None`
/// if they run on the CPU.
pub(crate) fn gpus_of(case: &Case, options: &RunOptions) -> Option<(usize, usize)> {
    let on_cpu =
        options.backend == BackendChoice::Cpu || Machine::faster_cpu(case, options).is_some();
    if on_cpu || !driver::present() {
        return None;
    }
    let gpus = match options.devices.as_deref() {
        None | Some([]) => vec![own_gpu(options.device).ok()?],
        Some(named) => named.to_vec(),
    };
    let free = |&gpu: &usize| driver::device(gpu).ok().map(|info| info.free.unwrap_or(info.memory));
    Some((gpus.len(), gpus.iter().filter_map(free).min()?))
}

/// Whether a case is for several of these GPUs together. One that cannot be asked is no reason.
pub(crate) fn needs_several(case: &Case, gpus: &[usize]) -> bool {
    let memory = |gpu: &usize| driver::device(*gpu).map(|info| info.memory).ok();
    gpus.len() > 1
        && gpus.iter().filter_map(memory).min().is_some_and(|least| wanted(demand(case), least) > 1)
}

/// The driver of a build without: there is none.
#[cfg(not(feature = "cuda"))]
mod driver {
    use crate::backend::DeviceError;

    pub(super) struct DeviceInfo {
        pub(super) memory: usize,
        pub(super) free: Option<usize>,
    }

    pub(crate) fn present() -> bool {
        false
    }

    pub(crate) fn device(_: usize) -> Result<DeviceInfo, DeviceError> {
        Err(DeviceError::NotBuilt { backend: "cuda" })
    }

    pub(crate) fn devices() -> Result<Vec<DeviceInfo>, DeviceError> {
        Err(DeviceError::NotBuilt { backend: "cuda" })
    }
}

/// The work of a rank, given its number and its backend.
pub type RankWork<'a> = dyn Fn(usize, &CudaBackend) -> Result<(), SolverError> + Sync + 'a;

/// Several devices that can meet: GPUs, or whatever else the kernels run on.
pub trait Ranks: Send {
    /// Number of devices.
    fn count(&self) -> usize;

    /// Name for the report.
    fn name(&self) -> String;

    /// Does `work` on all of them, each with a backend that has its band of `bands`.
    ///
    /// # Errors
    /// The failure of the first rank that failed on its own; all others stop.
    fn run(&self, bands: &Bands, work: &RankWork<'_>) -> Result<(), SolverError>;

    /// The job whose processes the ranks are: this process then has one of them, and [`Self::run`] does the
    /// work of that one. None where all are threads of this process.
    fn job(&self) -> Option<&Arc<Job>> {
        None
    }

    /// Refuses what does not fit one of them, each having its share.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    fn check_memory(&self, _demand: MemoryEstimate) -> Result<(), DeviceError> {
        Ok(())
    }
}

#[cfg(feature = "cuda")]
impl Ranks for Gpus {
    fn count(&self) -> usize {
        Self::count(self)
    }

    fn name(&self) -> String {
        format!("cuda ({} × {})", self.count(), self.names())
    }

    fn run(&self, bands: &Bands, work: &RankWork<'_>) -> Result<(), SolverError> {
        Self::run(self, bands, work).map(|_| ())
    }

    fn check_memory(&self, demand: MemoryEstimate) -> Result<(), DeviceError> {
        Self::check_memory(self, demand)
    }
}

impl Ranks for JobRank {
    fn count(&self) -> usize {
        self.job().size()
    }

    fn name(&self) -> String {
        format!("cuda ({})", self.names())
    }

    fn run(&self, bands: &Bands, work: &RankWork<'_>) -> Result<(), SolverError> {
        Self::run(self, bands, work)
    }

    fn job(&self) -> Option<&Arc<Job>> {
        Some(Self::job(self))
    }

    fn check_memory(&self, demand: MemoryEstimate) -> Result<(), DeviceError> {
        Self::check_memory(self, demand)
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
