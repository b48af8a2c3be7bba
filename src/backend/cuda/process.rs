//! One device of this process as a rank of a job, whose other ranks are other processes.

use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::{
    AbortFlag, Communicator, HostCommunicator, HostTransport, RANK_TIMEOUT,
};
#[cfg(feature = "cuda")]
use crate::backend::cuda::comm::{CommunicatorId, NcclCommunicator, nccl_present};
#[cfg(feature = "cuda")]
use crate::backend::cuda::device::driver::{DriverDevice, SEVERAL_GPUS};
use crate::backend::cuda::device::{Device, MemoryEstimate};
use crate::backend::cuda::launch::Result;
use crate::backend::{Bands, DeviceError};
use crate::ranks::{Job, RanksError};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The device of this process as one rank of a job.
pub struct JobRank {
    job: Arc<Job>,
    device: Arc<dyn Device>,
    /// The device, if messages go by NCCL.
    #[cfg(feature = "cuda")]
    gpu: Option<Arc<DriverDevice>>,
    /// Names of the devices of all ranks, by rank.
    names: Vec<String>,
    /// Solves so far: all ranks do the same ones.
    solves: AtomicU32,
}

impl JobRank {
    /// A device of any kind, whose messages go through the hosts' memory. All ranks must call.
    ///
    /// # Errors
    /// Where another rank has failed.
    pub fn new(job: Arc<Job>, device: Arc<dyn Device>) -> Result<Self> {
        let names = job.all_gather(device.name().as_bytes().to_vec())?;
        let names = names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        Ok(Self {
            job,
            device,
            #[cfg(feature = "cuda")]
            gpu: None,
            names,
            solves: AtomicU32::new(0),
        })
    }

    /// Opens GPU `ordinal` of this host. Messages go by NCCL where all ranks have it and a GPU each. All
    /// ranks must call.
    ///
    /// # Errors
    /// If the GPU is not there or cannot be used, or another rank has failed.
    #[cfg(feature = "cuda")]
    pub fn open(job: Arc<Job>, ordinal: usize) -> Result<Self> {
        let gpu = Arc::new(DriverDevice::open_compiled(ordinal, false)?);
        // NCCL refuses two ranks on one GPU.
        let own = if nccl_present() { gpu.info.identity()? } else { Vec::new() };
        let mut all = job.all_gather(own)?;
        let there = all.iter().all(|identity| !identity.is_empty());
        all.sort_unstable();
        let distinct = all.windows(2).all(|pair| pair[0] != pair[1]);
        let mut rank = Self::new(job, gpu.clone())?;
        rank.gpu = (there && distinct).then_some(gpu);
        Ok(rank)
    }

    /// The job.
    pub fn job(&self) -> &Arc<Job> {
        &self.job
    }

    /// Names of the devices of all ranks, each once with the number of its ranks.
    pub fn names(&self) -> String {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for name in &self.names {
            match counts.iter_mut().find(|(known, _)| known == name) {
                Some((_, count)) => *count += 1,
                None => counts.push((name, 1)),
            }
        }
        let counts: Vec<String> =
            counts.iter().map(|(name, count)| format!("{count} × {name}")).collect();
        counts.join(", ")
    }

    /// A warning for the user where messages go through the hosts' memory.
    pub fn slow(&self) -> Option<String> {
        (!self.by_nccl()).then(|| {
            "NCCL was not found on every host, or ranks share a GPU: messages between the ranks go through \
             the hosts' memory, which is slow"
                .to_owned()
        })
    }

    #[cfg(feature = "cuda")]
    fn by_nccl(&self) -> bool {
        self.gpu.is_some()
    }

    #[cfg(not(feature = "cuda"))]
    fn by_nccl(&self) -> bool {
        false
    }

    /// Refuses what does not fit the free memory of the device, the points being shared out.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn check_memory(&self, demand: MemoryEstimate) -> Result<()> {
        let points = demand.points.div_ceil(self.job.size());
        MemoryEstimate { points, ..demand }.check(&*self.device)
    }

    /// Does `work` with the number of this rank and a backend whose band is that of `bands`. All ranks must
    /// call.
    ///
    /// # Errors
    /// That of `work`; where another rank has failed, its failure.
    pub fn run<E>(
        &self,
        bands: &Bands,
        work: impl FnOnce(usize, &CudaBackend) -> Result<(), E>,
    ) -> Result<(), E>
    where
        E: PartialEq + From<DeviceError>,
    {
        #[cfg(feature = "cuda")]
        let _one_run = SEVERAL_GPUS.write();
        let abort_flag = Arc::new(AbortFlag::new(RANK_TIMEOUT));
        let solve = self.solves.fetch_add(1, Ordering::Relaxed);
        let transport = HostTransport::of_job(abort_flag.clone(), self.job.clone(), solve);
        let communicator = self.join(Arc::new(transport))?;
        let backend = CudaBackend::banded(self.device.clone(), communicator, bands.clone())?;
        let done = work(self.job.rank(), &backend);
        if done.is_err() {
            // No message that is under way keeps the device from being closed.
            abort_flag.raise();
        }
        drop(backend);
        done.map_err(|error| match self.job.failure() {
            Some(failure) if error == DeviceError::OtherRank.into() => {
                DeviceError::from(RanksError::Ended { failure }).into()
            }
            _ => error,
        })
    }

    fn join(&self, transport: Arc<HostTransport>) -> Result<Box<dyn Communicator>> {
        let rank = self.job.rank();
        #[cfg(feature = "cuda")]
        if let Some(gpu) = &self.gpu {
            let own = self.job.is_first().then(CommunicatorId::new).transpose()?;
            let id = self.job.broadcast(own.map(|id| id.bytes().to_vec()).unwrap_or_default())?;
            let id = CommunicatorId::from_bytes(&id).ok_or(DeviceError::OtherRank)?;
            return Ok(Box::new(NcclCommunicator::join(transport, rank, gpu.clone(), id)?));
        }
        Ok(Box::new(HostCommunicator::new(transport, rank, self.device.clone())))
    }
}
