//! One device of this process as a rank of a job, whose other ranks are other processes.

use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::{AbortFlag, HostTransport, Transport, connect};
#[cfg(feature = "cuda")]
use crate::backend::cuda::comm::{CommunicatorId, NcclRank, PeerCommunicator, nccl_present};
use crate::backend::cuda::device::Device;
#[cfg(feature = "cuda")]
use crate::backend::cuda::device::driver::{DriverDevice, SEVERAL_GPUS};
#[cfg(feature = "cuda")]
use crate::backend::cuda::launch::ModuleKey;
use crate::backend::cuda::launch::Result;
use crate::backend::cuda::precond::MemoryEstimate;
use crate::backend::cuda::ranks::{RankWork, Ranks, counted};
use crate::backend::{Bands, DeviceError, SolverError};
use crate::ranks::{Failure, Job, RanksError};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

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
