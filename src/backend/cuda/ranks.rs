//! Several devices that share the work on a grid or a matrix: GPUs of this process, each with a thread of its own,
//! or one device of this process as a rank of a job, whose other ranks are other processes.

use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::{AbortFlag, HostTransport, Transport, connect};
#[cfg(feature = "cuda")]
use crate::backend::cuda::comm::{
    CommunicatorId, NcclRank, PeerCommunicator, RANK_TIMEOUT, nccl_present, run_ranks,
};
use crate::backend::cuda::device::Device;
#[cfg(feature = "cuda")]
use crate::backend::cuda::device::driver::{DriverDevice, SEVERAL_GPUS};
#[cfg(feature = "cuda")]
use crate::backend::cuda::launch::ModuleKey;
use crate::backend::cuda::launch::Result;
use crate::backend::cuda::precond::MemoryEstimate;
use crate::backend::{Bands, DeviceError, SolverError};
use crate::ranks::{Failure, Job, RanksError};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Names of devices, each once with the number of the devices that have it.
fn counted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let counts = counts.iter().map(|(name, count)| format!("{count} × {name}"));
    counts.collect::<Vec<_>>().join(", ")
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

    /// Whether they are the GPUs of this process with these numbers, in this order.
    fn are(&self, _gpus: &[usize]) -> bool {
        false
    }

    /// Refuses what does not fit the free memory of one of them, each having its share.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    fn check_memory(&self, _demand: MemoryEstimate) -> Result<(), DeviceError> {
        Ok(())
    }
}

/// GPUs of this machine, opened, with their kernels compiled.
#[cfg(feature = "cuda")]
pub struct Gpus {
    devices: Vec<Arc<DriverDevice>>,
    /// The transport of messages: the fastest one there is, unless it is replaced.
    pub transport: Transport,
    /// Points up to which levels of multigrid are gathered onto every GPU, where that is not the default.
    pub gathered_points: Option<usize>,
    /// Longest wait of a GPU for another one.
    pub timeout: Duration,
}

#[cfg(feature = "cuda")]
impl Gpus {
    /// Opens GPUs by their ordinals.
    ///
    /// # Errors
    /// If one is not there or cannot be used.
    pub fn open(ordinals: &[usize]) -> Result<Self> {
        let modules = ModuleKey::all(false);
        // The first compiles what the others find on the disk.
        let open = |&ordinal: &usize| DriverDevice::open(ordinal, &modules).map(Arc::new);
        let devices: Vec<_> = ordinals.iter().map(open).collect::<Result<_, _>>()?;
        let peers = DriverDevice::enable_peer_access(&devices)?;
        let transport = Transport::fastest(peers, nccl_present());
        Ok(Self { devices, transport, gathered_points: None, timeout: RANK_TIMEOUT })
    }

    /// A warning for the user where messages go through the host's memory.
    pub fn slow(&self) -> Option<String> {
        (self.transport == Transport::Host).then(|| {
            "the GPUs do not access each other's memory, and NCCL was not found: messages between them \
             go through the host's memory, which is slow"
                .to_owned()
        })
    }

    /// A backend on the first GPU alone.
    ///
    /// # Errors
    /// If the GPU has too little memory.
    pub fn first(&self) -> Result<CudaBackend> {
        let first = self.devices.first().ok_or(DeviceError::NoGpu)?;
        CudaBackend::new(first.clone())
    }

    /// Does `work` on all GPUs, with the number of the rank and a backend with its band of
    /// `bands`, and returns the results by rank. Runs of one process take turns.
    ///
    /// # Errors
    /// The failure of the first rank that failed on its own.
    pub fn run<R, E>(
        &self,
        bands: &Bands,
        work: impl Fn(usize, &CudaBackend) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E>
    where
        R: Send,
        E: Send + PartialEq + From<DeviceError>,
    {
        let _one_run = SEVERAL_GPUS.write();
        let abort_flag = Arc::new(AbortFlag::new(self.timeout));
        let transport = Arc::new(HostTransport::new(abort_flag.clone(), self.count()));
        let nccl = self.transport == Transport::Nccl;
        let id = nccl.then(CommunicatorId::new).transpose()?;
        run_ranks(self.count(), &abort_flag, |rank| {
            let (gpu, transport) = (self.devices[rank].clone(), transport.clone());
            let nccl = id.map(|id| (gpu.clone(), id));
            let link = connect(self.transport, (transport, rank), gpu, nccl)?;
            let backend = CudaBackend::banded(link, bands.clone())?;
            work(rank, &backend.with_gathered_points(self.gathered_points))
        })
    }
}

#[cfg(feature = "cuda")]
impl Ranks for Gpus {
    fn count(&self) -> usize {
        self.devices.len()
    }

    fn name(&self) -> String {
        format!("cuda ({})", counted(self.devices.iter().map(|device| device.name())))
    }

    fn run(&self, bands: &Bands, work: &RankWork<'_>) -> Result<(), SolverError> {
        Self::run(self, bands, work).map(drop)
    }

    fn are(&self, gpus: &[usize]) -> bool {
        self.devices.iter().map(|device| device.info.ordinal).eq(gpus.iter().copied())
    }

    fn check_memory(&self, demand: MemoryEstimate) -> Result<()> {
        let share = demand.share(self.count());
        self.devices.iter().try_for_each(|device| share.check(&**device))
    }
}

/// Time for which a rank whose device has failed waits to hear that another rank was lost, whose memory its
/// kernels accessed.
const HEARSAY: Duration = Duration::from_secs(1);

/// The device of this process as one rank of a job.
pub struct JobRank {
    job: Arc<Job>,
    device: Arc<dyn Device>,
    /// The device as a GPU, if it is one.
    #[cfg(feature = "cuda")]
    gpu: Option<Arc<DriverDevice>>,
    /// The transport of messages, the same on all ranks.
    transport: Transport,
    /// A note on it for the user.
    pub notice: Option<&'static str>,
    /// Names of the devices of all ranks, by rank.
    names: Vec<String>,
    /// Solves so far: all ranks do the same ones.
    solves: AtomicU32,
}

/// Facts about a rank's GPU for the other ranks.
#[cfg(feature = "cuda")]
#[derive(PartialEq, serde::Serialize, serde::Deserialize)]
struct Facts {
    /// Whether NCCL was found.
    nccl: bool,
    /// Tells the GPU from all others.
    gpu: Vec<u8>,
    /// Tells the host from all others; none where memory is not to be shared with others.
    host: Option<String>,
}

#[cfg(feature = "cuda")]
impl Facts {
    fn of(gpu: &DriverDevice) -> Result<Self> {
        let variable = |name| std::env::var(name).unwrap_or_default();
        // Users describe their machines to NCCL by this variable.
        let alone = !["", "0"].contains(&variable("NCCL_P2P_DISABLE").as_str());
        // Containers of one host have the same one.
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        let host = boot.filter(|_| !alone).map(|boot| boot + &variable("NCCL_HOSTID"));
        Ok(Self { nccl: nccl_present(), gpu: gpu.info.identity()?, host })
    }
}

impl JobRank {
    /// A device of any kind, whose messages go through the hosts' memory. All ranks must call.
    ///
    /// # Errors
    /// If another rank has failed.
    pub fn new(job: Arc<Job>, device: Arc<dyn Device>) -> Result<Self> {
        let names = job.all_gather(device.name().as_bytes().to_vec())?;
        let names = names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        Ok(Self {
            job,
            device,
            #[cfg(feature = "cuda")]
            gpu: None,
            transport: Transport::Host,
            notice: Some(SLOW),
            names,
            solves: AtomicU32::new(0),
        })
    }

    /// Opens GPU `ordinal` of this host. Where all ranks have a GPU each, kernels access the memory of the
    /// others' if these are of one host and can; else messages go by NCCL where all have it. All ranks must
    /// call.
    ///
    /// # Errors
    /// If the GPU is not there or cannot be used, or another rank has failed.
    #[cfg(feature = "cuda")]
    pub fn open(job: Arc<Job>, ordinal: usize) -> Result<Self> {
        let gpu = Arc::new(DriverDevice::open(ordinal, &ModuleKey::all(false))?);
        let own = serde_json::to_vec(&Facts::of(&gpu)?).unwrap_or_default();
        let all = job.all_gather(own)?;
        let facts: Option<Vec<Facts>> =
            all.iter().map(|facts| serde_json::from_slice(facts).ok()).collect();
        let facts = facts.unwrap_or_default();
        let mut rank = Self::new(job, gpu.clone())?;
        rank.gpu = Some(gpu);
        let gpus: std::collections::HashSet<_> = facts.iter().map(|facts| &facts.gpu).collect();
        // Kernels that wait for each other need a GPU each, and NCCL refuses two ranks on one.
        if gpus.len() < rank.job.size() {
            return Ok(rank);
        }
        let one_host = facts[0].host.is_some() && facts.iter().all(|f| f.host == facts[0].host);
        let (device, number) = (rank.device.clone(), rank.job.rank());
        let peers = one_host && PeerCommunicator::is_possible(rank.transport(), number, device)?;
        rank.transport = Transport::fastest(peers, facts.iter().all(|f| f.nccl));
        rank.notice = match rank.transport {
            Transport::Host => Some(SLOW),
            Transport::Nccl => one_host.then_some(NOT_SHARED),
            Transport::PeerMemory => None,
        };
        Ok(rank)
    }

    /// The transport of the host for the next solve, and the flag that ends all waits.
    fn transport(&self) -> Arc<HostTransport> {
        let abort_flag = Arc::<AbortFlag>::default();
        let solve = self.solves.fetch_add(1, Ordering::Relaxed);
        Arc::new(HostTransport::of_job(abort_flag, self.job.clone(), solve))
    }

    /// The failure of another rank that this rank's own comes from: where that says so, or kernels accessed the
    /// memory of a rank that was lost meanwhile.
    fn lost(&self, said: bool) -> Option<Failure> {
        let started = Instant::now();
        let shared = self.transport == Transport::PeerMemory;
        while shared && self.job.failure().is_none() && started.elapsed() < HEARSAY {
            thread::sleep(Duration::from_millis(10));
        }
        self.job.failure().filter(|failure| said || (shared && failure.rank != self.job.rank()))
    }

    /// The GPU and the name of the ranks' communicator, where messages go by NCCL: the first rank makes the name.
    #[cfg(feature = "cuda")]
    fn nccl(&self) -> Result<Option<NcclRank>> {
        let Some(gpu) = self.gpu.as_ref().filter(|_| self.transport == Transport::Nccl) else {
            return Ok(None);
        };
        let own = self.job.is_first().then(CommunicatorId::new).transpose()?;
        let id = self.job.broadcast(own.map(|id| id.bytes.to_vec()).unwrap_or_default())?;
        let bytes = id.try_into().map_err(|_| DeviceError::OtherRank)?;
        Ok(Some((gpu.clone(), CommunicatorId { bytes })))
    }
}

impl Ranks for JobRank {
    fn count(&self) -> usize {
        self.job.size()
    }

    fn name(&self) -> String {
        format!("cuda ({})", counted(self.names.iter().map(String::as_str)))
    }

    /// Does the work of this rank; where another one has failed, returns its failure. All ranks must call.
    fn run(&self, bands: &Bands, work: &RankWork<'_>) -> Result<(), SolverError> {
        #[cfg(feature = "cuda")]
        let _one_run = SEVERAL_GPUS.write();
        let transport = self.transport();
        let work = || {
            let ranks = (transport.clone(), self.job.rank());
            #[cfg(feature = "cuda")]
            let nccl = self.nccl()?;
            #[cfg(not(feature = "cuda"))]
            let nccl = None;
            let link = connect(self.transport, ranks, self.device.clone(), nccl)?;
            let backend = CudaBackend::banded(link, bands.clone())?;
            let done = work(self.job.rank(), &backend);
            if done.is_err() {
                // No message that is under way keeps the device from being closed.
                transport.abort_flag.raise();
            }
            done
        };
        work().map_err(|error| match self.lost(error == DeviceError::OtherRank.into()) {
            Some(failure) => DeviceError::from(RanksError::Ended { failure }).into(),
            None => error,
        })
    }

    fn job(&self) -> Option<&Arc<Job>> {
        Some(&self.job)
    }

    fn check_memory(&self, demand: MemoryEstimate) -> Result<()> {
        demand.share(self.job.size()).check(&*self.device)
    }
}

/// Notes for the user on transports that are slower than they could be.
#[cfg(feature = "cuda")]
const NOT_SHARED: &str = "the ranks' GPUs cannot access each other's memory (CUDA IPC): messages between them \
                          go by NCCL";
const SLOW: &str = "NCCL was not found on every host, or ranks share a GPU: messages between the ranks go through \
                    the hosts' memory, which is slow";
