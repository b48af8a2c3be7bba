//! Messages between GPUs by NCCL, which is opened at run time.

mod library;

use self::library::{Answer, Nccl, UniqueId};
use super::DriverDevice;
use crate::backend::DeviceError;
use crate::backend::cuda::Buffer;
use crate::backend::cuda::device::{Address, Device};
use crate::backend::cuda::ranks::{Alarm, Communicator, Parcel, Post};
use cudarc::driver::{result, sys};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Looks at the stream between two looks at the alarm, and between two questions to NCCL.
const ALARM_LOOKS: u32 = 16;
const NCCL_LOOKS: u32 = 1 << 14;

/// Whether NCCL is there.
pub(super) fn present() -> bool {
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

/// What a launcher tells a rank.
#[derive(Debug, Clone, Copy)]
pub struct Seat {
    /// Number of the rank.
    pub rank: usize,
    /// Number of ranks.
    pub size: usize,
    /// Where they meet.
    pub id: CommunicatorId,
}

/// A device's way to the other ranks.
pub(super) struct Link {
    /// None once it was aborted.
    communicator: Mutex<Option<Handle>>,
    seat: Seat,
    alarm: Arc<Alarm>,
}

#[derive(Clone, Copy)]
struct Handle(library::Handle);

// SAFETY: one thread at a time uses the handle, behind the mutex.
unsafe impl Send for Link {}
// SAFETY: as above.
unsafe impl Sync for Link {}

impl Link {
    /// Waits for the device's stream, unless another rank fails meanwhile or goes silent.
    pub(super) fn wait(&self, device: &DriverDevice) -> Result<(), DeviceError> {
        let started = Instant::now();
        let mut looks = 0_u32;
        loop {
            // SAFETY: the stream lives as long as the device.
            match unsafe { sys::cuStreamQuery(device.stream) } {
                // Messages that were cut off have left nothing to read.
                sys::CUresult::CUDA_SUCCESS => return self.handle().map(drop),
                sys::CUresult::CUDA_ERROR_NOT_READY => {}
                error => return Err(device.failed("a kernel")(result::DriverError(error))),
            }
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(ALARM_LOOKS) {
                self.alarm.check().inspect_err(|_| self.abort())?;
                std::thread::yield_now();
            }
            if looks.is_multiple_of(NCCL_LOOKS) {
                self.look(device)?;
                if started.elapsed() >= self.alarm.patience() {
                    self.abort();
                    return Err(self.alarm.silent(self.seat.rank, self.seat.only_other()));
                }
            }
        }
    }

    /// Whether NCCL met an error on the way.
    fn look(&self, device: &DriverDevice) -> Result<(), DeviceError> {
        let Handle(handle) = self.handle()?;
        // SAFETY: the handle is valid until it is aborted.
        unsafe { nccl()?.state(handle) }.map_err(|reason| {
            self.abort();
            device.without_message(reason)
        })
    }

    fn handle(&self) -> Result<Handle, DeviceError> {
        let handle = self.communicator.lock().unwrap_or_else(PoisonError::into_inner);
        handle.ok_or(DeviceError::OtherRank)
    }

    /// Ends all messages under way, so that nothing waits for ranks that are gone.
    fn abort(&self) {
        let mut handle = self.communicator.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(Handle(handle)), Some(nccl)) = (handle.take(), Nccl::get()) {
            // SAFETY: the handle was valid and is gone now. Its errors change nothing.
            let _ = unsafe { nccl.abort(handle) };
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if self.alarm.check().is_err() {
            self.abort();
        }
        let handle = self.communicator.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // SAFETY: nothing else holds these handles.
        unsafe {
            if let (Some(Handle(handle)), Some(nccl)) = (handle, Nccl::get()) {
                let _ = nccl.destroy(handle);
            }
        }
    }
}

/// A rank whose messages go by NCCL.
pub struct NcclCommunicator {
    device: Arc<DriverDevice>,
    seat: Seat,
    link: Arc<Link>,
}

impl Seat {
    /// The rank that this one waits for, if there is but one other.
    fn only_other(&self) -> Option<usize> {
        (self.size == 2).then(|| 1 - self.rank)
    }
}

impl NcclCommunicator {
    /// Meets the other ranks, which have the same `post`; returns when all are there. While its alarm is
    /// raised nobody waits.
    ///
    /// # Errors
    /// If NCCL finds no way between the GPUs, the GPU fails, or another rank does not come.
    pub fn join(device: &Arc<DriverDevice>, seat: Seat, post: &Post) -> Result<Self, DeviceError> {
        device.bind()?;
        // NCCL waits without end for a rank that fails before this.
        post.meet(seat.rank, seat.size)?;
        let handle = nccl()?.init(seat.size, seat.id.0, seat.rank).map_err(|reason| {
            let operation = "meeting the other GPUs";
            DeviceError::Call { device: device.label(), operation, reason }
        })?;
        let communicator = Mutex::new(Some(Handle(handle)));
        let link = Arc::new(Link { communicator, seat, alarm: post.alarm().clone() });
        device.set_link(Some(link.clone()));
        let joined = Self { device: device.clone(), seat, link };
        joined.meet()?;
        Ok(joined)
    }

    /// First messages of each kind, and from each rank to each, for which NCCL connects the GPUs:
    /// later ones never keep the host waiting.
    fn meet(&self) -> Result<(), DeviceError> {
        let device: Arc<dyn Device> = self.device.clone();
        let size = self.seat.size;
        let (own, all) = (Buffer::<u64>::zeros(&device, 1)?, Buffer::<u64>::zeros(&device, size)?);
        self.all_gather(own.address(), all.address(), 8)?;
        let sent: Vec<Parcel> =
            (0..size).map(|rank| Parcel { rank, at: own.address(), bytes: 8 }).collect();
        let received: Vec<Parcel> =
            (0..size).map(|rank| Parcel { rank, at: all.address_of(rank), bytes: 8 }).collect();
        self.start_exchange(&sent, &received)?;
        self.finish_exchange()?;
        self.device.synchronise()
    }

    /// Sends and receives of one exchange, all at once. NCCL tells messages between the same two ranks
    /// apart by their order.
    fn group(
        &self,
        stream: sys::CUstream,
        sent: &[Parcel],
        received: &[Parcel],
    ) -> Result<(), DeviceError> {
        let (nccl, stream) = (nccl()?, stream.cast());
        let Handle(handle) = self.link.handle()?;
        let pass = || -> Answer {
            for &Parcel { rank, at, bytes } in sent {
                // SAFETY: the caller owns the memory; the handle and the stream are valid.
                unsafe { nccl.send(pointer(at), bytes, rank, handle, stream) }?;
            }
            for &Parcel { rank, at, bytes } in received {
                // SAFETY: as above.
                unsafe { nccl.receive(pointer(at).cast_mut(), bytes, rank, handle, stream) }?;
            }
            Ok(())
        };
        // A group that has begun is ended: the thread's next messages would be part of it.
        let passed = nccl.group_start().and_then(|()| {
            let passed = pass();
            let ended = nccl.group_end();
            passed.and(ended)
        });
        passed.map_err(|reason| self.device.without_message(reason))
    }
}

/// A device's address as NCCL takes it.
fn pointer(at: Address) -> *const std::ffi::c_void {
    std::ptr::without_provenance(at as usize)
}

impl DriverDevice {
    fn set_link(&self, link: Option<Arc<Link>>) {
        *self.link.write().unwrap_or_else(PoisonError::into_inner) = link;
    }

    /// Before the host waits within a call of the driver: as one of several ranks it must not wait
    /// for messages of a rank that is gone.
    pub(super) fn settle(&self) -> Result<(), DeviceError> {
        let link = self.link.read().unwrap_or_else(PoisonError::into_inner).clone();
        link.map_or(Ok(()), |link| link.wait(self))
    }

    fn without_message(&self, reason: String) -> DeviceError {
        DeviceError::Call { device: self.label(), operation: "a message between GPUs", reason }
    }
}

impl Drop for NcclCommunicator {
    fn drop(&mut self) {
        // All that was asked for is done, or the alarm ends it.
        let _ = self.device.synchronise();
        self.device.set_link(None);
    }
}

impl Communicator for NcclCommunicator {
    fn rank(&self) -> usize {
        self.seat.rank
    }

    fn size(&self) -> usize {
        self.seat.size
    }

    fn all_gather(&self, from: Address, to: Address, bytes: usize) -> Result<(), DeviceError> {
        self.device.bind()?;
        let Handle(handle) = self.link.handle()?;
        let (to, stream) = (pointer(to).cast_mut(), self.device.stream.cast());
        // SAFETY: the caller owns the memory; the handle and the stream are valid.
        unsafe { nccl()?.gather(pointer(from), to, bytes, handle, stream) }
            .map_err(|reason| self.device.without_message(reason))
    }

    /// Exchanges have a stream of their own, so that work goes on beside them.
    fn start_exchange(&self, sent: &[Parcel], received: &[Parcel]) -> Result<(), DeviceError> {
        let aside = self.device.aside()?;
        aside.fork(&self.device)?;
        let passed = self.group(aside.stream, sent, received);
        let ended = aside.end(&self.device);
        passed.and(ended)
    }

    fn finish_exchange(&self) -> Result<(), DeviceError> {
        self.device.aside()?.join(&self.device)
    }

    fn recorded(&self) -> bool {
        true
    }
}
