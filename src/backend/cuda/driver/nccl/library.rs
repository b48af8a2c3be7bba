//! The functions of NCCL that are used, from the library that is there.
//!
//! Only their signatures are known here (NCCL's API reference, 2.7 and later); the library is
//! searched for under the names of its run-time and of its development package.

use libloading::{Library, Symbol};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

/// A communicator.
pub(super) type Handle = *mut c_void;
/// A stream of the driver.
pub(super) type Stream = *mut c_void;

/// `ncclUniqueId`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct UniqueId {
    internal: [c_char; 128],
}

/// `ncclSuccess`, and `ncclInt8`: what passes is bytes.
const SUCCESS: c_int = 0;
const BYTES: c_int = 0;

/// File names, the run-time package's first.
const NAMES: [&str; 2] =
    if cfg!(windows) { ["nccl.dll", "nccl64_2.dll"] } else { ["libnccl.so.2", "libnccl.so"] };

/// NCCL.
pub(super) struct Nccl {
    unique_id: unsafe extern "C" fn(*mut UniqueId) -> c_int,
    init: unsafe extern "C" fn(*mut Handle, c_int, UniqueId, c_int) -> c_int,
    destroy: unsafe extern "C" fn(Handle) -> c_int,
    abort: unsafe extern "C" fn(Handle) -> c_int,
    state: unsafe extern "C" fn(Handle, *mut c_int) -> c_int,
    gather: unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, Handle, Stream) -> c_int,
    send: unsafe extern "C" fn(*const c_void, usize, c_int, c_int, Handle, Stream) -> c_int,
    receive: unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, Handle, Stream) -> c_int,
    group_start: unsafe extern "C" fn() -> c_int,
    group_end: unsafe extern "C" fn() -> c_int,
    words: unsafe extern "C" fn(c_int) -> *const c_char,
}

/// A rank or their number as NCCL takes it, which refuses what is too large.
fn number(ranks: usize) -> c_int {
    c_int::try_from(ranks).unwrap_or(c_int::MAX)
}

/// What NCCL said, in words.
pub(super) type Answer<T = ()> = Result<T, String>;

impl Nccl {
    /// The library, if there is one with all that is needed.
    pub(super) fn get() -> Option<&'static Self> {
        static NCCL: OnceLock<Option<Nccl>> = OnceLock::new();
        NCCL.get_or_init(|| NAMES.iter().find_map(|name| Self::open(name))).as_ref()
    }

    fn open(name: &str) -> Option<Self> {
        /// A function of the library, with the type that its place asks for.
        ///
        /// # Safety
        /// The type must be that of the function.
        unsafe fn find<F: Copy>(library: &Library, name: &str) -> Option<F> {
            // SAFETY: as asked of the caller.
            let symbol: Symbol<'_, F> = unsafe { library.get(name.as_bytes()) }.ok()?;
            Some(*symbol)
        }
        // SAFETY: NCCL may be opened at any time; the types are those of its header.
        unsafe {
            let library = Library::new(name).ok()?;
            let nccl = Self {
                unique_id: find(&library, "ncclGetUniqueId")?,
                init: find(&library, "ncclCommInitRank")?,
                destroy: find(&library, "ncclCommDestroy")?,
                abort: find(&library, "ncclCommAbort")?,
                state: find(&library, "ncclCommGetAsyncError")?,
                gather: find(&library, "ncclAllGather")?,
                send: find(&library, "ncclSend")?,
                receive: find(&library, "ncclRecv")?,
                group_start: find(&library, "ncclGroupStart")?,
                group_end: find(&library, "ncclGroupEnd")?,
                words: find(&library, "ncclGetErrorString")?,
            };
            // Its functions are used as long as the program runs.
            std::mem::forget(library);
            Some(nccl)
        }
    }

    fn answer(&self, code: c_int) -> Answer {
        if code == SUCCESS {
            return Ok(());
        }
        // SAFETY: the text lasts for ever.
        let words = unsafe { CStr::from_ptr((self.words)(code)) };
        Err(format!("NCCL: {}", words.to_string_lossy()))
    }

    pub(super) fn unique_id(&self) -> Answer<UniqueId> {
        let mut id = UniqueId { internal: [0; 128] };
        // SAFETY: `id` outlives the call.
        self.answer(unsafe { (self.unique_id)(&raw mut id) })?;
        Ok(id)
    }

    /// A communicator of the current context's device. Returns when all ranks have called.
    pub(super) fn init(&self, size: usize, id: UniqueId, rank: usize) -> Answer<Handle> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: `handle` outlives the call.
        let code = unsafe { (self.init)(&raw mut handle, number(size), id, number(rank)) };
        self.answer(code)?;
        Ok(handle)
    }

    /// # Safety
    /// The handle must be valid; it is not afterwards.
    pub(super) unsafe fn destroy(&self, handle: Handle) -> Answer {
        // SAFETY: as asked of the caller.
        self.answer(unsafe { (self.destroy)(handle) })
    }

    /// # Safety
    /// The handle must be valid; it is not afterwards.
    pub(super) unsafe fn abort(&self, handle: Handle) -> Answer {
        // SAFETY: as asked of the caller.
        self.answer(unsafe { (self.abort)(handle) })
    }

    /// Whether an error was met since.
    ///
    /// # Safety
    /// The handle must be valid.
    pub(super) unsafe fn state(&self, handle: Handle) -> Answer {
        let mut state = SUCCESS;
        // SAFETY: as asked of the caller.
        self.answer(unsafe { (self.state)(handle, &raw mut state) })?;
        self.answer(state)
    }

    /// # Safety
    /// Handle and stream must be valid, and the memory that of their device.
    pub(super) unsafe fn gather(
        &self,
        from: *const c_void,
        to: *mut c_void,
        bytes: usize,
        handle: Handle,
        stream: Stream,
    ) -> Answer {
        // SAFETY: as asked of the caller.
        self.answer(unsafe { (self.gather)(from, to, bytes, BYTES, handle, stream) })
    }

    /// # Safety
    /// As of [`Self::gather`].
    pub(super) unsafe fn send(
        &self,
        from: *const c_void,
        bytes: usize,
        rank: usize,
        handle: Handle,
        stream: Stream,
    ) -> Answer {
        // SAFETY: as asked of the caller.
        self.answer(unsafe { (self.send)(from, bytes, BYTES, number(rank), handle, stream) })
    }

    /// # Safety
    /// As of [`Self::gather`].
    pub(super) unsafe fn receive(
        &self,
        to: *mut c_void,
        bytes: usize,
        rank: usize,
        handle: Handle,
        stream: Stream,
    ) -> Answer {
        // SAFETY: as asked of the caller.
        self.answer(unsafe { (self.receive)(to, bytes, BYTES, number(rank), handle, stream) })
    }

    pub(super) fn group_start(&self) -> Answer {
        // SAFETY: has no conditions.
        self.answer(unsafe { (self.group_start)() })
    }

    pub(super) fn group_end(&self) -> Answer {
        // SAFETY: has no conditions.
        self.answer(unsafe { (self.group_end)() })
    }
}
