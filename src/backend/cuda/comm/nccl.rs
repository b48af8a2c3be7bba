//! Messages between GPUs by NCCL, which is opened at run time.
//!
//! Only the signatures of its functions are known here (NCCL's API reference, 2.7 and later).
//! cudarc's communicator panics where it cannot be aborted when it is dropped, and sends only memory that cudarc has
//! allocated.
#![allow(unsafe_code, reason = "NCCL's interface is C; every call's contract is kept here")]

use super::communicator::{Communicator, RankMessage};
use super::host::HostTransport;
use crate::backend::DeviceError;
use crate::backend::cuda::device::driver::{DriverDevice, Handle};
use crate::backend::cuda::device::{Address, Buffer, Device};
use crate::backend::cuda::launch::Result;
use crate::backend::cuda::launch::library::NCCL;
use cudarc::driver::sys::CUstream;
use parking_lot::Mutex;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

/// Polls of the stream between two polls of the abort flag, and between two of NCCL's state.
const ABORT_POLLS: u32 = 16;
const NCCL_POLLS: u32 = 1 << 14;

/// `ncclSuccess`, `ncclInProgress`, and `ncclInt8`: messages are bytes.
const SUCCESS: c_int = 0;
const IN_PROGRESS: c_int = 7;
const BYTES: c_int = 0;

/// `ncclConfig_t` of NCCL 2.14, of which newer ones have all else by default: its size, a magic number, its version,
/// and that calls return before they have ended.
const CONFIG: [u64; 3] = [24, (21400 << 32) | 0xcafe_beef, 0];
type Config = *mut [u64; 3];
/// `ncclCommInitRankConfig`.
type BeginInit = unsafe extern "C" fn(*mut Raw, c_int, CommunicatorId, c_int, Config) -> c_int;

/// `ncclComm_t`.
type Raw = *mut c_void;

/// The answer of a call, or its error in words.
type Answer = Result<(), String>;

/// Declares the functions of NCCL that are called.
macro_rules! functions {
    ($($field:ident $name:literal: fn($($argument:ty),*) -> $result:ty;)*) => {
        struct Nccl { $($field: unsafe extern "C" fn($($argument),*) -> $result,)* }

        impl Nccl {
            /// The library, if there is one with all functions.
            fn find() -> Option<Self> {
                // SAFETY: NCCL's header declares these types.
                unsafe { Some(Self { $($field: NCCL.function($name)?,)* }) }
            }
        }
    };
}

functions! {
    unique_id c"ncclGetUniqueId": fn(*mut CommunicatorId) -> c_int;
    init c"ncclCommInitRank": fn(*mut Raw, c_int, CommunicatorId, c_int) -> c_int;
    destroy c"ncclCommDestroy": fn(Raw) -> c_int;
    abort c"ncclCommAbort": fn(Raw) -> c_int;
    state c"ncclCommGetAsyncError": fn(Raw, *mut c_int) -> c_int;
    gather c"ncclAllGather": fn(*mut c_void, *mut c_void, usize, c_int, Raw, CUstream) -> c_int;
    send c"ncclSend": fn(*mut c_void, usize, c_int, c_int, Raw, CUstream) -> c_int;
    receive c"ncclRecv": fn(*mut c_void, usize, c_int, c_int, Raw, CUstream) -> c_int;
    group_start c"ncclGroupStart": fn() -> c_int;
    group_end c"ncclGroupEnd": fn() -> c_int;
    words c"ncclGetErrorString": fn(c_int) -> *const c_char;
}

impl Nccl {
    fn get() -> Result<&'static Self> {
        static FOUND: LazyLock<Option<Nccl>> = LazyLock::new(Nccl::find);
        FOUND.as_ref().ok_or(DeviceError::NoNccl)
    }

    fn check(&self, code: c_int) -> Answer {
        if code == SUCCESS || code == IN_PROGRESS {
            return Ok(());
        }
        // SAFETY: the text is never freed.
        let words = unsafe { CStr::from_ptr((self.words)(code)) };
        Err(format!("NCCL: {}", words.to_string_lossy()))
    }
}

pub(crate) fn present() -> bool {
    Nccl::get().is_ok()
}

/// A rank or their number as NCCL takes it, which refuses what is too large.
fn number(ranks: usize) -> c_int {
    c_int::try_from(ranks).unwrap_or(c_int::MAX)
}

/// A device's address as NCCL takes it.
fn pointer(at: Address) -> *mut c_void {
    std::ptr::without_provenance_mut(at as usize)
}

/// `ncclUniqueId`: the name by which the ranks of a run find each other, made once, given to all.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct CommunicatorId {
    pub(crate) bytes: [u8; 128],
}

impl CommunicatorId {
    /// A new name. Fails if NCCL is not there or finds no way between ranks.
    pub fn new() -> Result<Self> {
        let (nccl, mut id) = (Nccl::get()?, Self { bytes: [0; 128] });
        // SAFETY: `id` outlives the call.
        let named = nccl.check(unsafe { (nccl.unique_id)(&raw mut id) });
        named.map(|()| id).map_err(|reason| DeviceError::Call {
            device: "this machine".to_owned(),
            operation: "naming the ranks of a run",
            reason,
        })
    }
}

/// A GPU whose messages go by NCCL, and the name of the ranks' communicator.
pub(crate) type NcclRank = (Arc<DriverDevice>, CommunicatorId);

/// A rank whose messages are sent by NCCL.
pub(super) struct NcclCommunicator {
    device: Arc<DriverDevice>,
    rank: usize,
    transport: Arc<HostTransport>,
    /// None once it was aborted. Any thread may use it, one at a time.
    handle: Mutex<Option<Handle<Raw>>>,
}

impl NcclCommunicator {
    /// Joins the other ranks, which share `transport` and the name of their communicator; returns when all
    /// have joined. Nobody waits once the transport's abort flag is raised.
    pub(super) fn join(
        transport: Arc<HostTransport>,
        rank: usize,
        device: Arc<DriverDevice>,
        id: CommunicatorId,
    ) -> Result<Arc<Self>> {
        device.bind()?;
        // NCCL waits without end for a rank that fails before this.
        transport.gather(rank, &[])?;
        let (nccl, mut handle, mut config) = (Nccl::get()?, std::ptr::null_mut(), CONFIG);
        let ranks = number(transport.ranks);
        // SAFETY: `handle` and what the configuration has outlive the calls.
        let met = nccl.check(unsafe {
            match NCCL.function::<BeginInit>(c"ncclCommInitRankConfig") {
                Some(begin) => begin(&raw mut handle, ranks, id, number(rank), &raw mut config),
                None => (nccl.init)(&raw mut handle, ranks, id, number(rank)),
            }
        });
        met.map_err(|reason| device.info.error("meeting the other GPUs", reason))?;
        let handle = Mutex::new(Some(Handle(handle)));
        let joined = Arc::new(Self { device, rank, transport, handle });
        joined.call(|_, _| Ok(())).inspect_err(|_| joined.release(true))?;
        let link = Arc::downgrade(&joined);
        let wait = move || link.upgrade().map_or(Ok(()), |link| link.wait());
        joined.device.wait_by(Arc::new(wait));
        joined.connect()?;
        Ok(joined)
    }

    /// First messages of each kind, and from each rank to each, for which NCCL connects the GPUs:
    /// later ones never keep the host waiting.
    fn connect(self: &Arc<Self>) -> Result<()> {
        let device: Arc<dyn Device> = self.device.clone();
        let ranks = self.transport.ranks;
        let (own, all) = (Buffer::<u64>::zeros(&device, 1)?, Buffer::<u64>::zeros(&device, ranks)?);
        self.all_gather(own.address(), all.address(), 8)?;
        let sent: Vec<_> = (0..ranks).map(|rank| RankMessage::of(rank, &own, 0..1)).collect();
        let received = (0..ranks).map(|rank| RankMessage::of(rank, &all, rank..rank + 1));
        self.start_exchange(&sent, &received.collect::<Vec<_>>())?;
        self.finish_exchange()?;
        self.device.synchronise()
    }

    /// Calls NCCL with the communicator, and waits until the call has ended.
    fn call(&self, call: impl FnOnce(&Nccl, Raw) -> Answer) -> Result<()> {
        let (nccl, started, mut state) = (Nccl::get()?, Instant::now(), IN_PROGRESS);
        let failed = |reason| self.device.info.error("a message between GPUs", reason);
        let own = self.handle.lock();
        let handle = own.as_ref().ok_or(DeviceError::OtherRank)?.0;
        call(nccl, handle).map_err(failed)?;
        drop(own);
        loop {
            // SAFETY: the handle is valid until it is released, and the number outlives the call.
            nccl.check(unsafe { (nccl.state)(handle, &raw mut state) }).map_err(failed)?;
            if state != IN_PROGRESS {
                return nccl.check(state).map_err(failed);
            }
            self.check(started).inspect_err(|_| self.release(true))?;
            std::thread::yield_now();
        }
    }

    /// Fails where another rank has failed, or what has begun then takes longer than the timeout.
    fn check(&self, started: Instant) -> Result<()> {
        let only_other = (self.transport.ranks == 2).then(|| 1 - self.rank);
        self.transport.abort_flag.check_wait(started, self.rank, only_other)
    }

    /// Frees the communicator; all messages under way end first if `abort`, so that nothing waits for
    /// ranks that have failed.
    fn release(&self, abort: bool) {
        if let (Some(Handle(handle)), Ok(nccl)) = (self.handle.lock().take(), Nccl::get()) {
            let release = if abort { nccl.abort } else { nccl.destroy };
            // SAFETY: the handle is valid, and nothing uses it later. An error changes nothing.
            let _ = unsafe { release(handle) };
        }
    }

    /// Waits for the device's stream until another rank fails or exceeds the timeout.
    fn wait(&self) -> Result<()> {
        let started = Instant::now();
        let mut polls = 0_u32;
        while !self.device.is_done()? {
            polls = polls.wrapping_add(1);
            if polls.is_multiple_of(ABORT_POLLS) {
                self.check(started).inspect_err(|_| self.release(true))?;
                std::thread::yield_now();
            }
            if polls.is_multiple_of(NCCL_POLLS) {
                self.call(|_, _| Ok(())).inspect_err(|_| self.release(true))?;
            }
        }
        // Messages that were cut off have left nothing to read.
        self.call(|_, _| Ok(()))
    }
}

impl Drop for NcclCommunicator {
    fn drop(&mut self) {
        // All work is done, or the abort flag ends it.
        let waited = self.device.bind().and_then(|()| self.wait());
        let _ = waited.and_then(|()| self.device.synchronise());
        self.release(self.transport.abort_flag.check().is_err());
    }
}

impl Communicator for Arc<NcclCommunicator> {
    fn all_gather(&self, from: Address, to: Address, bytes: usize) -> Result<()> {
        self.device.bind()?;
        let (stream, from, to) = (self.device.stream.cu_stream(), pointer(from), pointer(to));
        self.call(|nccl, handle| {
            // SAFETY: the handle is valid until it is released; stream and memory are the device's.
            nccl.check(unsafe { (nccl.gather)(from, to, bytes, BYTES, handle, stream) })
        })
    }

    /// Messages between the same two ranks match by their order. The group is ended whatever fails: the
    /// thread's next messages would be part of it.
    fn start_exchange(&self, sent: &[RankMessage], received: &[RankMessage]) -> Result<()> {
        // Exchanges have a stream of their own, so that work goes on meanwhile.
        self.device.on_side_stream(|stream| {
            self.call(|nccl, handle| {
                let sends = sent.iter().map(|message| (nccl.send, message));
                let receives = received.iter().map(|message| (nccl.receive, message));
                // SAFETY: the handle is valid until it is released; stream and memory are the device's.
                unsafe {
                    nccl.check((nccl.group_start)())?;
                    let done = sends.chain(receives).try_for_each(|(pass, message)| {
                        let (at, rank) = (pointer(message.at), number(message.rank));
                        nccl.check(pass(at, message.bytes, BYTES, rank, handle, stream))
                    });
                    let ended = nccl.check((nccl.group_end)());
                    done.and(ended)
                }
            })
        })
    }

    fn finish_exchange(&self) -> Result<()> {
        self.device.join()
    }
}
