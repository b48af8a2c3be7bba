//! Messages between GPUs by NCCL, which is opened at run time.
//!
//! Only the signatures of its functions are known here (NCCL's API reference, 2.7 and later).
#![allow(unsafe_code, reason = "NCCL's interface is C; every call's contract is kept here")]

use super::abort_flag::AbortFlag;
use super::communicator::{Communicator, Message};
use super::host::HostTransport;
use crate::backend::DeviceError;
use crate::backend::cuda::device::driver::{DriverDevice, StreamWait};
use crate::backend::cuda::device::{Address, Buffer, Device};
use crate::backend::cuda::launch::Result;
use crate::backend::cuda::launch::library::NCCL;
use cudarc::driver::sys::CUstream;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// Polls of the stream between two polls of the abort flag, and between two of NCCL's state.
const ABORT_POLLS: u32 = 16;
const NCCL_POLLS: u32 = 1 << 14;

pub(crate) fn present() -> bool {
    nccl().is_ok()
}

/// The library, if there is one with all functions.
fn nccl() -> Result<&'static Nccl> {
    static FUNCTIONS: OnceLock<Option<Nccl>> = OnceLock::new();
    FUNCTIONS.get_or_init(Nccl::find).as_ref().ok_or(DeviceError::NoNccl)
}

/// `ncclUniqueId`: the name by which the ranks of a run find each other, made once, given to all.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct CommunicatorId {
    internal: [c_char; 128],
}

impl CommunicatorId {
    /// A new name.
    ///
    /// # Errors
    /// If NCCL is not there or finds no way between ranks.
    pub fn new() -> Result<Self> {
        let (nccl, mut id) = (nccl()?, Self { internal: [0; 128] });
        // SAFETY: `id` outlives the call.
        let named = nccl.check(unsafe { (nccl.unique_id)(&raw mut id) });
        named.map(|()| id).map_err(|reason| DeviceError::Call {
            device: "this machine".to_owned(),
            operation: "naming the ranks of a run",
            reason,
        })
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
    fn wait(&self, device: &DriverDevice) -> Result<()> {
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
    ) -> Result<()> {
        let (nccl, handle) = (nccl()?, self.handle());
        let handle = handle.as_ref().ok_or(DeviceError::OtherRank)?;
        call(nccl, handle).map_err(|reason| device.error("a message between GPUs", reason))
    }

    /// Ends all messages under way, so that nothing waits for ranks that have failed.
    fn abort(&self) {
        self.release(true);
    }

    fn release(&self, abort: bool) {
        if let (Some(handle), Ok(nccl)) = (self.handle().take(), nccl()) {
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
    ) -> Result<Self> {
        device.bind()?;
        // NCCL waits without end for a rank that fails before this.
        transport.barrier(setup.rank, setup.size)?;
        let handle = nccl()?
            .init(setup.size, setup.id, setup.rank)
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
    fn connect(&self) -> Result<()> {
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

    fn all_gather(&self, from: Address, to: Address, bytes: usize) -> Result<()> {
        self.device.bind()?;
        let stream = self.device.main_stream();
        self.link.with_handle(&self.device, |nccl, handle| {
            nccl.gather(handle, stream, (from, to), bytes)
        })
    }

    fn start_exchange(&self, sent: &[Message], received: &[Message]) -> Result<()> {
        // Exchanges have a stream of their own, so that work goes on meanwhile.
        self.device.on_side_stream(|stream| {
            self.link.with_handle(&self.device, |nccl, handle| {
                nccl.exchange(handle, stream, sent, received)
            })
        })
    }

    fn finish_exchange(&self) -> Result<()> {
        self.device.join()
    }

    fn recorded(&self) -> bool {
        true
    }
}

/// `ncclSuccess`, and `ncclInt8`: messages are bytes.
const SUCCESS: c_int = 0;
const BYTES: c_int = 0;

type Raw = *mut c_void;
type Send = unsafe extern "C" fn(*const c_void, usize, c_int, c_int, Raw, CUstream) -> c_int;
type Receive = unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, Raw, CUstream) -> c_int;
type Gather =
    unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, Raw, CUstream) -> c_int;

struct Nccl {
    unique_id: unsafe extern "C" fn(*mut CommunicatorId) -> c_int,
    init: unsafe extern "C" fn(*mut Raw, c_int, CommunicatorId, c_int) -> c_int,
    destroy: unsafe extern "C" fn(Raw) -> c_int,
    abort: unsafe extern "C" fn(Raw) -> c_int,
    state: unsafe extern "C" fn(Raw, *mut c_int) -> c_int,
    gather: Gather,
    send: Send,
    receive: Receive,
    group_start: unsafe extern "C" fn() -> c_int,
    group_end: unsafe extern "C" fn() -> c_int,
    words: unsafe extern "C" fn(c_int) -> *const c_char,
}

/// A rank or their number as NCCL takes it, which refuses what is too large.
fn number(ranks: usize) -> c_int {
    c_int::try_from(ranks).unwrap_or(c_int::MAX)
}

/// A device's address as NCCL takes it.
fn pointer(at: Address) -> *mut c_void {
    std::ptr::without_provenance_mut(at as usize)
}

/// The answer of a call, or its error in words.
type Answer<T = ()> = Result<T, String>;

impl Nccl {
    fn find() -> Option<Self> {
        // SAFETY: the types are those of NCCL's header.
        unsafe {
            Some(Self {
                unique_id: NCCL.function(c"ncclGetUniqueId")?,
                init: NCCL.function(c"ncclCommInitRank")?,
                destroy: NCCL.function(c"ncclCommDestroy")?,
                abort: NCCL.function(c"ncclCommAbort")?,
                state: NCCL.function(c"ncclCommGetAsyncError")?,
                gather: NCCL.function(c"ncclAllGather")?,
                send: NCCL.function(c"ncclSend")?,
                receive: NCCL.function(c"ncclRecv")?,
                group_start: NCCL.function(c"ncclGroupStart")?,
                group_end: NCCL.function(c"ncclGroupEnd")?,
                words: NCCL.function(c"ncclGetErrorString")?,
            })
        }
    }

    fn check(&self, code: c_int) -> Answer {
        if code == SUCCESS {
            return Ok(());
        }
        // SAFETY: the text is never freed.
        let words = unsafe { CStr::from_ptr((self.words)(code)) };
        Err(format!("NCCL: {}", words.to_string_lossy()))
    }

    /// A communicator of the current context's device. Returns when all ranks have called.
    fn init(&self, size: usize, id: CommunicatorId, rank: usize) -> Answer<Handle> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: `handle` outlives the call.
        let code = unsafe { (self.init)(&raw mut handle, number(size), id, number(rank)) };
        self.check(code)?;
        Ok(Handle(handle))
    }

    /// Frees a communicator; what is unfinished is cut off first if `abort`.
    fn release(&self, Handle(handle): Handle, abort: bool) {
        let release = if abort { self.abort } else { self.destroy };
        // SAFETY: the handle is valid, and nobody uses it later. An error changes nothing.
        let _ = unsafe { release(handle) };
    }

    /// Whether an error was met since.
    fn state(&self, handle: &Handle) -> Answer {
        let mut state = SUCCESS;
        // SAFETY: the handle is valid until it is released.
        self.check(unsafe { (self.state)(handle.0, &raw mut state) })?;
        self.check(state)
    }

    /// `to`[r] ← `bytes` bytes at `from` of rank r. The caller owns the memory, here and below.
    fn gather(
        &self,
        handle: &Handle,
        stream: CUstream,
        (from, to): (Address, Address),
        bytes: usize,
    ) -> Answer {
        let (from, to) = (pointer(from), pointer(to));
        // SAFETY: the handle is valid until it is released; stream and memory are the device's.
        self.check(unsafe { (self.gather)(from, to, bytes, BYTES, handle.0, stream) })
    }

    /// Sends and receives, all at once; messages between the same two ranks match by their order. The
    /// group is ended whatever fails: the thread's next messages would be part of it.
    fn exchange(
        &self,
        handle: &Handle,
        stream: CUstream,
        sent: &[Message],
        received: &[Message],
    ) -> Answer {
        // SAFETY: the handle is valid until it is released; stream and memory are the device's.
        unsafe {
            self.check((self.group_start)())?;
            let send = |&Message { rank, at, bytes }: &Message| {
                self.check((self.send)(pointer(at), bytes, BYTES, number(rank), handle.0, stream))
            };
            let receive = |&Message { rank, at, bytes }: &Message| {
                self.check((self.receive)(
                    pointer(at),
                    bytes,
                    BYTES,
                    number(rank),
                    handle.0,
                    stream,
                ))
            };
            let done = sent.iter().try_for_each(send);
            let done = done.and_then(|()| received.iter().try_for_each(receive));
            let ended = self.check((self.group_end)());
            done.and(ended)
        }
    }
}

#[derive(Debug)]
struct Handle(Raw);

// SAFETY: NCCL lets any thread use a communicator, one at a time; its owner keeps it behind a mutex.
unsafe impl core::marker::Send for Handle {}
