//! Several GPUs that work on one grid, or on one matrix.

use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::{
    AbortFlag, CommunicatorId, HostTransport, RANK_TIMEOUT, Transport, connect, nccl_present,
    run_ranks,
};
use crate::backend::cuda::device::Device;
use crate::backend::cuda::device::driver::{DriverDevice, SEVERAL_GPUS};
use crate::backend::cuda::launch::{ModuleKey, Result};
use crate::backend::cuda::precond::MemoryEstimate;
use crate::backend::cuda::ranks::{RankWork, Ranks, counted};
use crate::backend::{Bands, DeviceError, SolverError};
use std::sync::Arc;
use std::time::Duration;

/// GPUs of this machine, opened, with their kernels compiled.
pub struct Gpus {
    devices: Vec<Arc<DriverDevice>>,
    /// The transport of messages: the fastest one there is, unless it is replaced.
    pub transport: Transport,
    /// Points up to which levels of multigrid are gathered onto every GPU, where that is not the default.
    pub gathered_points: Option<usize>,
    /// Longest wait of a GPU for another one.
    pub timeout: Duration,
}

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

    fn check_memory(&self, demand: MemoryEstimate) -> Result<()> {
        let share = demand.share(self.count());
        self.devices.iter().try_for_each(|device| share.check(&**device))
    }
}
