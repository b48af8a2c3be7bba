//! The functions of NCCL that are used, from the library that is there.
//!
//! Only their signatures are known here (NCCL's API reference, 2.7 and later).
#![allow(unsafe_code, reason = "NCCL's interface is C; every call's contract is kept here")]

use crate::backend::cuda::device::Address;
use crate::backend::cuda::launch::library::NCCL;
use cudarc::driver::sys::CUstream;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

/// `ncclUniqueId`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct UniqueId {
    internal: [c_char; 128],
}

/// `ncclSuccess`, and `ncclInt8`: messages are bytes.
const SUCCESS: c_int = 0;
const BYTES: c_int = 0;

type Raw = *mut c_void;
type Send = unsafe extern "C" fn(*const c_void, usize, c_int, c_int, Raw, CUstream) -> c_int;
type Receive = unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, Raw, CUstream) -> c_int;
type Gather =
    unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, Raw, CUstream) -> c_int;

/// NCCL.
pub(super) struct Nccl {
    unique_id: unsafe extern "C" fn(*mut UniqueId) -> c_int,
    init: unsafe extern "C" fn(*mut Raw, c_int, UniqueId, c_int) -> c_int,
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
pub(super) type Answer<T = ()> = Result<T, String>;

impl Nccl {
    /// The library, if there is one with all functions.
    pub(super) fn get() -> Option<&'static Self> {
        static FUNCTIONS: OnceLock<Option<Nccl>> = OnceLock::new();
        FUNCTIONS.get_or_init(Self::find).as_ref()
    }

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

    pub(super) fn unique_id(&self) -> Answer<UniqueId> {
        let mut id = UniqueId { internal: [0; 128] };
        // SAFETY: `id` outlives the call.
        self.check(unsafe { (self.unique_id)(&raw mut id) })?;
        Ok(id)
    }

    /// A communicator of the current context's device. Returns when all ranks have called.
    pub(super) fn init(&self, size: usize, id: UniqueId, rank: usize) -> Answer<Handle> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: `handle` outlives the call.
        let code = unsafe { (self.init)(&raw mut handle, number(size), id, number(rank)) };
        self.check(code)?;
        Ok(Handle(handle))
    }

    /// Frees a communicator; what is unfinished is cut off first if `abort`.
    pub(super) fn release(&self, Handle(handle): Handle, abort: bool) {
        let release = if abort { self.abort } else { self.destroy };
        // SAFETY: the handle is valid, and nobody uses it later. An error changes nothing.
        let _ = unsafe { release(handle) };
    }

    /// Whether an error was met since.
    pub(super) fn state(&self, handle: &Handle) -> Answer {
        let mut state = SUCCESS;
        // SAFETY: the handle is valid until it is released.
        self.check(unsafe { (self.state)(handle.0, &raw mut state) })?;
        self.check(state)
    }

    /// `to`[r] ← `bytes` bytes at `from` of rank r. The caller owns the memory, here and below.
    pub(super) fn gather(
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

    pub(super) fn send(
        &self,
        handle: &Handle,
        stream: CUstream,
        from: Address,
        bytes: usize,
        rank: usize,
    ) -> Answer {
        let (from, rank) = (pointer(from), number(rank));
        // SAFETY: as above.
        self.check(unsafe { (self.send)(from, bytes, BYTES, rank, handle.0, stream) })
    }

    pub(super) fn receive(
        &self,
        handle: &Handle,
        stream: CUstream,
        to: Address,
        bytes: usize,
        rank: usize,
    ) -> Answer {
        let (to, rank) = (pointer(to), number(rank));
        // SAFETY: as above.
        self.check(unsafe { (self.receive)(to, bytes, BYTES, rank, handle.0, stream) })
    }

    /// Sends and receives of `work`, all at once. The group is ended whatever fails: the thread's next
    /// messages would be part of it.
    pub(super) fn group(&self, work: impl FnOnce() -> Answer) -> Answer {
        // SAFETY: has no conditions.
        self.check(unsafe { (self.group_start)() })?;
        let done = work();
        // SAFETY: as above.
        let ended = self.check(unsafe { (self.group_end)() });
        done.and(ended)
    }
}

/// A communicator.
#[derive(Debug)]
pub(super) struct Handle(Raw);

// SAFETY: NCCL lets any thread use a communicator, one at a time; its owner keeps it behind a mutex.
unsafe impl core::marker::Send for Handle {}
