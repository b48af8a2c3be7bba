//! Messages between GPUs by NCCL, which is opened at run time.

mod library;

use self::library::{Answer, Handle, Nccl, UniqueId};
use super::abort_flag::AbortFlag;
use super::communicator::{Communicator, Message};
use super::host::HostTransport;
use crate::backend::DeviceError;
use crate::backend::cuda::device::driver::{DriverDevice, StreamWait};
use crate::backend::cuda::device::{Address, Buffer, Device};
use cudarc::driver::sys::CUstream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Polls of the stream between two polls of the abort flag, and between two of NCCL's state.
const ABORT_POLLS: u32 = 16;
const NCCL_POLLS: u32 = 1 << 14;

/// Whether NCCL is there.
pub(crate) fn present() -> bool {
    Nccl::get().is_some()
}

fn nccl() -> Result<&'static Nccl, DeviceError> {
    Nccl::get().ok_or(DeviceError::NoNccl)
}

/// The name by which the ranks of a run find each other: made once, given to all.
#[derive(Debug, Clone, Copy)]
pub struct CommunicatorId(UniqueId);

impl CommunicatorId {
    /// A new name.
    ///
    /// # Errors
    /// If NCCL is not there or finds no way between ranks.
    pub fn new() -> Result<Self, DeviceError> {
        let id = nccl()?.unique_id().map_err(|reason| DeviceError::Call {
            device: "this machine".to_owned(),
            operation: "naming the ranks of a run",
            reason,
        })?;
        Ok(Self(id))
    }
}

/// What a launcher gives a rank.
#[derive(Debug, Clone, Copy)]
pub struct RankSetup {
    /// Number of the rank.
    pub rank: usize,
    /// Number of ranks.
    pub size: usize,
    /// Name of their communicator.
    pub id: CommunicatorId,
}

impl RankSetup {
    /// The rank that this one waits for, if there is but one other.
    fn only_other(&self) -> Option<usize> {
        (self.size == 2).then(|| 1 - self.rank)
    }
}

/// A rank's communicator, and the flag that aborts it.
struct Link {
    /// None once it was aborted.
    handle: Mutex<Option<Handle>>,
    setup: RankSetup,
    abort_flag: Arc<AbortFlag>,
}

/// Waits for the device's stream until another rank fails or exceeds the timeout.
impl StreamWait for Link {
    fn wait(&self, device: &DriverDevice) -> Result<(), DeviceError> {
        let started = Instant::now();
        let mut polls = 0_u32;
        while !device.is_done()? {
            polls = polls.wrapping_add(1);
            if polls.is_multiple_of(ABORT_POLLS) {
                self.abort_flag.check().inspect_err(|_| self.abort())?;
                std::thread::yield_now();
            }
            if polls.is_multiple_of(NCCL_POLLS) {
                let state = self.with_handle(device, Nccl::state);
                state.inspect_err(|_| self.abort())?;
                if started.elapsed() >= self.abort_flag.timeout() {
                    self.abort();
                    return Err(self
                        .abort_flag
                        .timed_out(self.setup.rank, self.setup.only_other()));
                }
            }
        }
        // Messages that were cut off have left nothing to read.
        self.with_handle(device, |_, _| Ok(()))
    }
}

impl Link {
    fn handle(&self) -> MutexGuard<'_, Option<Handle>> {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls NCCL with the communicator.
    fn with_handle(
        &self,
        device: &DriverDevice,
        call: impl FnOnce(&Nccl, &Handle) -> Answer,
    ) -> Result<(), DeviceError> {
        let (nccl, handle) = (nccl()?, self.handle());
        let handle = handle.as_ref().ok_or(DeviceError::OtherRank)?;
        call(nccl, handle).map_err(|reason| device.error("a message between GPUs", reason))
    }

    /// Ends all messages under way, so that nothing waits for ranks that have failed.
    fn abort(&self) {
        self.release(true);
    }

    fn release(&self, abort: bool) {
        if let (Some(handle), Some(nccl)) = (self.handle().take(), Nccl::get()) {
            nccl.release(handle, abort);
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.release(self.abort_flag.check().is_err());
    }
}

/// A rank whose messages are sent by NCCL.
pub struct NcclCommunicator {
    device: Arc<DriverDevice>,
    setup: RankSetup,
    link: Arc<Link>,
}

impl NcclCommunicator {
    /// Joins the other ranks, which share `transport`; returns when all have joined. Nobody waits once
    /// its abort flag is raised.
    ///
    /// # Errors
    /// If NCCL finds no way between the GPUs, the GPU fails, or another rank does not join.
    pub fn join(
        device: &Arc<DriverDevice>,
        setup: RankSetup,
        transport: &HostTransport,
    ) -> Result<Self, DeviceError> {
        device.bind()?;
        // NCCL waits without end for a rank that fails before this.
        transport.barrier(setup.rank, setup.size)?;
        let handle = nccl()?
            .init(setup.size, setup.id.0, setup.rank)
            .map_err(|reason| device.error("meeting the other GPUs", reason))?;
        let (handle, abort_flag) = (Mutex::new(Some(handle)), transport.abort_flag().clone());
        let link = Arc::new(Link { handle, setup, abort_flag });
        device.wait_by(Some(link.clone()));
        let joined = Self { device: device.clone(), setup, link };
        joined.connect()?;
        Ok(joined)
    }

    /// First messages of each kind, and from each rank to each, for which NCCL connects the GPUs:
    /// later ones never keep the host waiting.
    fn connect(&self) -> Result<(), DeviceError> {
        let device: Arc<dyn Device> = self.device.clone();
        let size = self.setup.size;
        let (own, all) = (Buffer::<u64>::zeros(&device, 1)?, Buffer::<u64>::zeros(&device, size)?);
        self.all_gather(own.address(), all.address(), 8)?;
        let sent: Vec<Message> =
            (0..size).map(|rank| Message { rank, at: own.address(), bytes: 8 }).collect();
        let received: Vec<Message> =
            (0..size).map(|rank| Message { rank, at: all.address_of(rank), bytes: 8 }).collect();
        self.start_exchange(&sent, &received)?;
        self.finish_exchange()?;
        self.device.synchronise()
    }

    /// Sends and receives of one exchange, all at once. NCCL matches messages between the same two ranks
    /// by their order.
    fn group(
        &self,
        stream: CUstream,
        sent: &[Message],
        received: &[Message],
    ) -> Result<(), DeviceError> {
        self.link.with_handle(&self.device, |nccl, handle| {
            nccl.group(|| {
                for &Message { rank, at, bytes } in sent {
                    nccl.send(handle, stream, at, bytes, rank)?;
                }
                for &Message { rank, at, bytes } in received {
                    nccl.receive(handle, stream, at, bytes, rank)?;
                }
                Ok(())
            })
        })
    }
}

impl Drop for NcclCommunicator {
    fn drop(&mut self) {
        // All work is done, or the abort flag ends it.
        let _ = self.device.synchronise();
        self.device.wait_by(None);
    }
}

impl Communicator for NcclCommunicator {
    fn rank(&self) -> usize {
        self.setup.rank
    }

    fn size(&self) -> usize {
        self.setup.size
    }

    fn all_gather(&self, from: Address, to: Address, bytes: usize) -> Result<(), DeviceError> {
        self.device.bind()?;
        let stream = self.device.main_stream();
        self.link.with_handle(&self.device, |nccl, handle| {
            nccl.gather(handle, stream, (from, to), bytes)
        })
    }

    fn start_exchange(&self, sent: &[Message], received: &[Message]) -> Result<(), DeviceError> {
        // Exchanges have a stream of their own, so that work goes on meanwhile.
        self.device.on_side_stream(|stream| self.group(stream, sent, received))
    }

    fn finish_exchange(&self) -> Result<(), DeviceError> {
        self.device.join()
    }

    fn recorded(&self) -> bool {
        true
    }
}
