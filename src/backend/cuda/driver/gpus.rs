//! Several GPUs that work on one grid, or on one matrix.

use super::DriverDevice;
use super::nccl::{self, CommunicatorId, NcclCommunicator, Seat};
use super::peers;
use crate::backend::cuda::ranks::{
    Alarm, Communicator, HostCommunicator, MailCommunicator, Mailroom, PATIENCE, Post, run_ranks,
};
use crate::backend::cuda::{CudaBackend, Demand, Device, WatchedDevice};
use crate::backend::{Bands, DeviceError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The way of messages between GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Kernels write into the memory of other GPUs.
    Memory,
    /// NCCL.
    Nccl,
    /// Through the host's memory.
    Host,
}

/// Held by what runs on several GPUs: where kernels of two runs wait for other GPUs, each may stand before
/// what the other waits for.
static ALONE: Mutex<()> = Mutex::new(());

/// GPUs of this machine, opened, with their kernels compiled.
pub struct Gpus {
    devices: Vec<Arc<DriverDevice>>,
    way: Way,
    gathered_points: Option<usize>,
    patience: Duration,
}

/// How a rank meets the others.
enum Meeting {
    Memory(Arc<Mailroom>),
    Nccl(CommunicatorId, Arc<Post>),
    Host(Arc<Post>),
}

impl Gpus {
    /// Opens GPUs by their ordinals.
    ///
    /// # Errors
    /// If one is not there or cannot be used.
    pub fn open(ordinals: &[usize]) -> Result<Self, DeviceError> {
        // The first compiles what the others find on the disk.
        let open = |&ordinal: &usize| DriverDevice::open_compiled(ordinal).map(Arc::new);
        let devices: Vec<_> = ordinals.iter().map(open).collect::<Result<_, _>>()?;
        let way = if peers::connect(&devices)? {
            Way::Memory
        } else if nccl::present() {
            Way::Nccl
        } else {
            Way::Host
        };
        Ok(Self { devices, way, gathered_points: None, patience: PATIENCE })
    }

    /// Sends messages this way instead of the fastest there is.
    #[must_use]
    pub fn with_way(self, way: Way) -> Self {
        Self { way, ..self }
    }

    /// Gathers levels of multigrid with up to so many points onto every GPU.
    #[must_use]
    pub fn with_gathered_points(self, most: Option<usize>) -> Self {
        Self { gathered_points: most, ..self }
    }

    /// Gives up a GPU that another one has waited for so long.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Number of GPUs.
    #[must_use]
    pub fn count(&self) -> usize {
        self.devices.len()
    }

    /// Their names, each once.
    #[must_use]
    pub fn names(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for device in &self.devices {
            if !names.contains(&device.name()) {
                names.push(device.name());
            }
        }
        names.join(", ")
    }

    /// What the user should know where messages go through the host's memory.
    #[must_use]
    pub fn slow(&self) -> Option<String> {
        (self.way == Way::Host).then(|| {
            "the GPUs do not reach each other's memory, and NCCL was not found: messages between them \
             go through the host's memory, which is slow"
                .to_owned()
        })
    }

    /// A backend on the first GPU alone.
    ///
    /// # Errors
    /// If the GPU has no room.
    pub fn first(&self) -> Result<CudaBackend, DeviceError> {
        let first = self.devices.first().ok_or(DeviceError::NoGpu)?;
        CudaBackend::new(first.clone())
    }

    /// Refuses what does not fit the free memory of one of the GPUs, each having its share.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn check_room(&self, demand: Demand) -> Result<(), DeviceError> {
        let share = Demand { points: demand.points.div_ceil(self.count().max(1)), ..demand };
        self.devices.iter().try_for_each(|device| share.check(&**device))
    }

    /// Does `work` on all GPUs, with the number of the rank and a backend whose band is that of
    /// `bands`, and returns what came of it, by rank. One such run of this process comes after another.
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
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let alarm = Arc::new(Alarm::new(self.patience));
        let size = self.count();
        let meeting = match self.way {
            Way::Memory => Meeting::Memory(Arc::new(Mailroom::new(size, alarm.clone()))),
            Way::Nccl => Meeting::Nccl(CommunicatorId::new()?, Arc::new(Post::new(alarm.clone()))),
            Way::Host => Meeting::Host(Arc::new(Post::new(alarm.clone()))),
        };
        run_ranks(size, &alarm, |rank| {
            let gpu = &self.devices[rank];
            let mut device: Arc<dyn Device> = gpu.clone();
            let communicator: Box<dyn Communicator> = match &meeting {
                Meeting::Memory(room) => {
                    device = Arc::new(WatchedDevice::new(device, alarm.clone()));
                    Box::new(MailCommunicator::join(room.clone(), rank, size, device.clone())?)
                }
                Meeting::Nccl(id, post) => {
                    let seat = Seat { rank, size, id: *id };
                    Box::new(NcclCommunicator::join(gpu, seat, post)?)
                }
                Meeting::Host(post) => {
                    let (post, device) = (post.clone(), device.clone());
                    Box::new(HostCommunicator::new(post, rank, size, device))
                }
            };
            let backend = CudaBackend::banded(device, communicator, bands.clone())?;
            work(
                rank,
                &match self.gathered_points {
                    Some(most) => backend.with_gathered_points(most),
                    None => backend,
                },
            )
        })
    }
}
