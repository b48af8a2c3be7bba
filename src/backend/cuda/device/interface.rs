//! The device as the backend sees it: memory, copies, kernel launches, recordings, and notes of what work asks for.
//!
//! [`crate::backend::cuda::CudaBackend`] is written on [`Device`]. NVIDIA's driver implements it; the
//! tests implement it on the CPU, where the threads of a block are fibers.

use crate::backend::cuda::launch::{Launch, Result};
use crate::backend::error::check_length;
use parking_lot::Mutex;
use scopeguard::ScopeGuard;
use std::any::Any;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// An address in the device's memory.
pub type Address = u64;

/// A token that only this crate can hand over: methods of [`Device`] that take addresses can be implemented
/// elsewhere, and be called by this crate alone, whose buffers own the memory behind them.
///
/// ```compile_fail,E0423
/// # use gridgen::backend::cuda::{Device, device::Granted};
/// fn copy(device: &dyn Device) {
///     let _ = device.upload(Granted(()), &[0; 8], 4096); // not to be made elsewhere
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Granted(());

impl Granted {
    /// For tests of devices that are lost.
    ///
    /// # Safety
    /// Addresses belong to live buffers of the device, and arguments fit the kernel's signature; otherwise the device
    /// is lost for this process.
    #[allow(unsafe_code, reason = "nothing unsafe is done here")]
    pub unsafe fn new() -> Self {
        GRANTED
    }
}

pub(in super::super) const GRANTED: Granted = Granted(());

/// Launches that can be repeated with the same arguments.
pub type Recording = Box<dyn Any + Send>;

/// A download that has begun.
#[derive(Debug)]
pub enum Download {
    /// Its bytes.
    Done(Vec<u8>),
    /// Under way: its number.
    Begun(usize),
}

/// Memory of a device of another process: its address for the kernels of this process's device, and its mapping,
/// which ends when this is dropped.
pub type Mapped = (Address, Box<dyn Any + Send + Sync>);

/// Words in the host's memory, 0 at first, through which the host and running kernels tell each other
/// something: at the same address for both.
pub type SharedWords = Arc<dyn Deref<Target = [AtomicU32; 4]> + Send + Sync>;

/// One device with one queue of work: what is queued first is done first.
///
/// Kernel launches return before the work is done; uploads and downloads wait for it. An error of
/// a kernel is reported by a later call.
pub trait Device: Send + Sync {
    /// Name for messages.
    fn name(&self) -> &str;

    /// Number of the GPU as the driver counts them; none for what is no GPU.
    fn ordinal(&self) -> Option<usize> {
        None
    }

    /// Most blocks of a launch that can run together; none where they run in clusters, of which there may be any number.
    fn room_together(&self) -> Option<usize> {
        None
    }

    /// Bytes of shared memory that a block can have: at least as many as on any GPU.
    fn shared_memory(&self) -> usize {
        48 << 10
    }

    /// Free and total bytes of its memory, where they are limited.
    fn memory(&self) -> Result<Option<(usize, usize)>> {
        Ok(None)
    }

    /// Gives back memory that nothing uses, where the device keeps some for later requests.
    fn trim(&self) -> Result<()> {
        Ok(())
    }

    /// Work of the next step begins: members of a group wait here for each other, so that their work is alike.
    fn align(&self) -> Result<()> {
        Ok(())
    }

    /// All work is done, and none will follow for a while: members of a group do not wait for this one.
    fn rest(&self) -> Result<()> {
        Ok(())
    }

    /// Another device whose work is done together with this one's; none where this one works alone.
    fn companion(&self) -> Option<Arc<dyn Device>> {
        None
    }

    /// The driver's handle of its queue, for other libraries; none where it has none.
    fn queue(&self) -> Option<u64> {
        None
    }

    /// Words that its kernels can read and write. A device in the host's memory takes any.
    fn shared_words(&self) -> Result<SharedWords> {
        Ok(Arc::new(Box::<[AtomicU32; 4]>::default()))
    }

    /// Waits for all work. A device that works while it is asked has nothing to wait for.
    fn synchronise(&self) -> Result<()> {
        Ok(())
    }

    /// Uninitialised memory, aligned to 256 bytes.
    fn allocate(&self, bytes: usize) -> Result<Address>;

    /// A name by which another process of this host can map the memory that [`Self::allocate`] gave at this
    /// address; none where there is no such thing.
    fn export(&self, _: Address) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// The memory of this name of another process; none where kernels cannot access it.
    fn import(&self, _: &[u8]) -> Result<Option<Mapped>> {
        Ok(None)
    }

    /// Gives back the bytes that [`Self::allocate`] gave.
    fn free(&self, granted: Granted, at: Address, bytes: usize);

    /// Work that others queue on this stream from now on comes after all work so far. If memory comes `back`, the
    /// work of this device from now on comes after what they have queued ([`super::Buffer::lend`]).
    fn share(&self, _stream: i64, _back: bool) -> Result<()> {
        Ok(())
    }

    /// Device memory ← host.
    fn upload(&self, granted: Granted, from: &[u8], to: Address) -> Result<()>;

    /// Host ← device memory.
    fn download(&self, granted: Granted, from: Address, to: &mut [u8]) -> Result<()>;

    /// Bytes of device memory.
    fn read(&self, granted: Granted, from: Address, bytes: usize) -> Result<Vec<u8>> {
        let mut to = vec![0; bytes];
        self.download(granted, from, &mut to)?;
        Ok(to)
    }

    /// Begins to download some values without waiting for them. At most eight downloads may be unfinished:
    /// to wait for an earlier one is an error. Work queued later does not change the values.
    fn begin_download(&self, granted: Granted, from: Address, bytes: usize) -> Result<Download> {
        self.read(granted, from, bytes).map(Download::Done)
    }

    /// Host ← the values of a download, of the same length.
    fn end_download(&self, download: Download, to: &mut [u8]) -> Result<()> {
        match download {
            Download::Done(from) => fill(to, &from),
            Download::Begun(number) => self.finish_download(number, to),
        }
    }

    /// Host ← the values of the download that [`Self::begin_download`] has given this number.
    fn finish_download(&self, _number: usize, _to: &mut [u8]) -> Result<()> {
        Ok(())
    }

    /// Queues work, or adds it to the recording that is open.
    fn ask(&self, granted: Granted, request: Request) -> Result<()>;

    /// The launches of `work` run concurrently with work queued later, until [`Self::join`], and after
    /// all work queued before. Called by the thread that queues work.
    fn fork(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        work()
    }

    /// Work queued later comes after the concurrent launches.
    fn join(&self) -> Result<()> {
        self.ask(GRANTED, Request::Join)
    }

    /// Records the launches, clearings and copies on the device that `work` queues, without doing them. A recording
    /// that may be `kept`, for the same work in the same places, has the requests to this device alone, and nothing
    /// that other libraries queue.
    fn record(&self, kept: bool, work: &mut dyn FnMut() -> Result<()>) -> Result<Recording>;

    fn replay(&self, granted: Granted, recording: &Recording) -> Result<()>;
}

/// Host ← as many bytes.
pub(crate) fn fill(to: &mut [u8], from: &[u8]) -> Result<()> {
    check_length(from.len(), to.len())?;
    to.copy_from_slice(from);
    Ok(())
}

/// An observer of the work of a device. Its errors become those of the device.
pub trait Watch: Send + Sync {
    /// A kernel or a recording is to be launched: on an error it is not.
    fn launching(&self) -> Result<()> {
        Ok(())
    }

    /// All work was waited for, and these bytes, if any, were read: on an error they are not valid.
    fn waited(&self, _: &[u8]) -> Result<()> {
        Ok(())
    }
}

/// A device that does all its work under a watch.
pub struct WatchedDevice<W> {
    device: Arc<dyn Device>,
    watch: W,
}

impl<W: Watch> WatchedDevice<W> {
    /// `device`, watched by `watch`.
    pub fn new(device: Arc<dyn Device>, watch: W) -> Self {
        Self { device, watch }
    }
}

/// Calls that a device passes on to another one.
macro_rules! passed_on {
    ($own:ident => $to:expr; $($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => { $(
        fn $name(&$own, $($argument: $type),*) $(-> $result)? {
            $to.$name($($argument),*)
        }
    )* };
}
pub(in super::super) use passed_on;

impl<W: Watch> Device for WatchedDevice<W> {
    passed_on! { self => self.device;
        name() -> &str;
        ordinal() -> Option<usize>;
        room_together() -> Option<usize>;
        shared_memory() -> usize;
        memory() -> Result<Option<(usize, usize)>>;
        align() -> Result<()>;
        rest() -> Result<()>;
        queue() -> Option<u64>;
        shared_words() -> Result<SharedWords>;
        allocate(bytes: usize) -> Result<Address>;
        export(at: Address) -> Result<Option<Vec<u8>>>;
        import(name: &[u8]) -> Result<Option<Mapped>>;
        free(granted: Granted, at: Address, bytes: usize);
        share(stream: i64, back: bool) -> Result<()>;
        upload(granted: Granted, from: &[u8], to: Address) -> Result<()>;
        begin_download(granted: Granted, from: Address, bytes: usize) -> Result<Download>;
        fork(work: &mut dyn FnMut() -> Result<()>) -> Result<()>;
        record(kept: bool, work: &mut dyn FnMut() -> Result<()>) -> Result<Recording>;
    }

    fn synchronise(&self) -> Result<()> {
        self.device.synchronise()?;
        self.watch.waited(&[])
    }

    fn download(&self, granted: Granted, from: Address, to: &mut [u8]) -> Result<()> {
        self.device.download(granted, from, to)?;
        self.watch.waited(to)
    }

    fn end_download(&self, download: Download, to: &mut [u8]) -> Result<()> {
        self.device.end_download(download, to)?;
        self.watch.waited(to)
    }

    fn ask(&self, granted: Granted, request: Request) -> Result<()> {
        if matches!(request, Request::Launch(_)) {
            self.watch.launching()?;
        }
        self.device.ask(granted, request)
    }

    fn replay(&self, granted: Granted, recording: &Recording) -> Result<()> {
        self.watch.launching()?;
        self.device.replay(granted, recording)
    }
}

/// Work that can be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Runs a kernel.
    Launch(Launch),
    /// Bytes ← 0.
    Clear {
        at: Address,
        bytes: usize,
    },
    /// Device memory ← device memory.
    Copy {
        from: Address,
        to: Address,
        bytes: usize,
    },
    /// Requests whose work runs concurrently with what follows, until the join.
    Fork(Vec<Request>),
    Join,
}

/// Entries in their order, while work is noted.
pub(crate) struct Notes<T>(Mutex<Option<Vec<T>>>);

impl<T> Default for Notes<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Notes<T> {
    /// Does work, and returns what was added meanwhile. Work within other work has notes of its own. Nothing more is
    /// noted where it panics.
    pub(crate) fn during<R>(&self, work: impl FnOnce() -> R) -> (R, Vec<T>) {
        let before = self.0.lock().replace(Vec::new());
        let before = scopeguard::guard(before, |before| *self.0.lock() = before);
        let done = work();
        let noted = std::mem::replace(&mut *self.0.lock(), ScopeGuard::into_inner(before));
        (done, noted.unwrap_or_default())
    }

    /// Whether work is noted.
    pub(crate) fn are_open(&self) -> bool {
        self.0.lock().is_some()
    }

    /// Adds an entry if work is noted; otherwise the entry comes back.
    pub(crate) fn add(&self, entry: T) -> Option<T> {
        match &mut *self.0.lock() {
            Some(noted) => noted.push(entry),
            None => return Some(entry),
        }
        None
    }
}
