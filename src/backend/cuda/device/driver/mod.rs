//! NVIDIA GPUs through the driver, which is opened at run time; nothing is linked.
#![allow(unsafe_code, reason = "the driver's interface is C; every call's contract is kept here")]

mod handles;
mod info;
mod modules;
mod staging;

pub use self::info::{GpuInfo, device, devices, driver_version, fits, present};
pub use crate::backend::cuda::launch::library::compiler_version;

pub(crate) use self::handles::{Handle, SEVERAL_GPUS};
use self::handles::{KeptGraphs, LaunchableGraph, Pinned, order_with};
use self::modules::{OpenGpu, has_clusters, launch_kernel};
use self::staging::{
    MOST_BYTES, MOST_DOWNLOADS, MOST_UPLOADED, MOST_WORDS, ReadBacks, SmallUploads,
    StagedDownloads, words,
};
use super::{
    Address, Device, Download, GRANTED, Granted, Mapped, Notes, Pool, Recording, Request,
    SharedWords, check_length,
};
use crate::backend::DeviceError;
use crate::backend::cuda::launch::{Launch, ModuleKey, Result};
use cudarc::driver::{CudaEvent, CudaStream, DriverError, result, sys};
use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A device keeps idle memory up to this part of the whole for the next solve. To free a block the driver
/// waits for all work of the GPU, that of other solves too.
const KEPT_SHARE: usize = 64;

/// A wait until all work of a device's stream is done, or another rank fails.
type StreamWait = Arc<dyn Fn() -> Result<()> + Send + Sync>;

/// A GPU and streams of it. The devices of one GPU share context and kernels.
pub struct DriverDevice {
    pub(crate) info: GpuInfo,
    /// Idle memory.
    pool: Pool,
    /// Requests while work is noted, those of a fork by themselves.
    noted: Notes<Request>,
    graphs: KeptGraphs,
    /// Held while the driver records: what another thread asks of the stream would be recorded.
    recording: Mutex<()>,
    /// The wait for the stream while other ranks may fail.
    wait: RwLock<Option<StreamWait>>,
    /// A stream of higher priority for halo exchanges: at equal priority their blocks would start only after the last
    /// block of the running product, and nothing would overlap.
    side: Arc<CudaStream>,
    /// Events at the begin and at the end of the work of the side stream.
    side_work: [CudaEvent; 2],
    /// Whether launches go to the side stream.
    forked: AtomicBool,
    /// Whether they may begin before the end of the one before.
    begins_early: bool,
    read_backs: ReadBacks,
    uploads: SmallUploads,
    staging: Mutex<StagedDownloads>,
    /// The main stream, to which libraries add work.
    pub(crate) stream: Arc<CudaStream>,
    gpu: Arc<OpenGpu>,
    // Released last.
    closing: Option<RwLockReadGuard<'static, ()>>,
}

impl DriverDevice {
    /// Opens GPU `ordinal`, in the order of `gridgen devices`, with these modules compiled. The kernels of others are
    /// compiled when they are first launched: none may be while kernels wait for those of other GPUs.
    pub fn open(ordinal: usize, modules: &[ModuleKey]) -> Result<Self> {
        let info = info::device(ordinal)?;
        let gpu = OpenGpu::shared(&info, modules)?;
        let begins_early = info::can_begin_early(&info);
        let event = || gpu.context.new_event(None);
        let made = || {
            let (ordinary, greatest) = result::stream::get_priority_range()?;
            let stream = |priority| gpu.context.new_stream_with_priority(priority);
            Ok(([stream(ordinary)?, stream(greatest)?], [event()?, event()?]))
        };
        let ([stream, side], side_work) = made().map_err(info.failed("making a stream"))?;
        let pinned = || Ok((ReadBacks::new(&gpu.context)?, SmallUploads::new(&gpu.context)?));
        let (read_backs, uploads) = pinned().map_err(info.failed("pinned memory"))?;
        Ok(Self {
            info,
            pool: Pool::default(),
            noted: Notes::default(),
            graphs: KeptGraphs::default(),
            recording: Mutex::default(),
            wait: RwLock::default(),
            side,
            side_work,
            forked: AtomicBool::new(false),
            begins_early,
            read_backs,
            uploads,
            staging: Mutex::default(),
            stream,
            gpu,
            closing: None,
        })
    }

    pub(crate) fn bind(&self) -> Result<()> {
        self.gpu.context.bind_to_thread().map_err(self.info.failed("its context"))
    }

    /// Call before work that is done at once: it cannot be noted in a recording.
    fn begin(&self) -> Result<()> {
        if self.noted.are_open() {
            return Err(DeviceError::NotRecorded);
        }
        self.bind()
    }

    /// Waits for the main stream.
    fn wait(&self) -> Result<()> {
        self.wait_for_ranks()?;
        self.stream.synchronize().map_err(self.info.failed("a kernel"))
    }

    /// Gives idle memory back to the driver.
    fn give_back(&self) {
        if self.bind().is_ok() {
            self.graphs.clear();
            for (at, _) in self.pool.drain() {
                // SAFETY: the block came from `allocate` and nothing else holds it; a failure means that
                // the device is lost, which the next call reports.
                let _ = unsafe { result::free_sync(at) };
            }
        }
    }

    /// Whether all work of the stream is done.
    pub(crate) fn is_done(&self) -> Result<bool> {
        // SAFETY: the stream lives as long as the borrow.
        match unsafe { sys::cuStreamQuery(self.stream.cu_stream()) } {
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => code.result().map(|()| true).map_err(self.info.failed("a kernel")),
        }
    }

    /// Before the host waits within a call of the driver, it waits by `wait`.
    pub(crate) fn wait_by(&self, wait: StreamWait) {
        *self.wait.write() = Some(wait);
    }

    /// Before the host waits within a call of the driver: as one of several ranks it must not wait
    /// for messages of a rank that has failed.
    fn wait_for_ranks(&self) -> Result<()> {
        let wait = self.wait.read().clone();
        wait.map_or(Ok(()), |wait| wait())
    }

    /// Lets the kernels of each GPU access the memory of all others; false if two of them cannot.
    pub(crate) fn enable_peer_access(devices: &[Arc<Self>]) -> Result<bool> {
        use sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED as ALREADY;
        let pairs = || {
            let all = devices.iter().flat_map(|a| devices.iter().map(move |b| (a, b)));
            all.filter(|(a, b)| !Arc::ptr_eq(a, b))
        };
        if !pairs().all(|(a, b)| a.info.peers.contains(&b.info.ordinal)) {
            return Ok(false);
        }
        pairs().try_for_each(|(a, b)| {
            let enabled = a.gpu.context.bind_to_thread().and_then(|()| {
                // SAFETY: both contexts live as long as their values.
                unsafe { sys::cuCtxEnablePeerAccess(b.gpu.context.cu_ctx(), 0) }.result()
            });
            match enabled {
                Err(DriverError(ALREADY)) => Ok(()),
                enabled => enabled.map_err(a.info.failed("accessing another GPU's memory")),
            }
        })?;
        Ok(true)
    }

    /// Does `work` on the side stream, after all that was asked of the main one.
    pub(crate) fn on_side_stream(
        &self,
        work: impl FnOnce(sys::CUstream) -> Result<()>,
    ) -> Result<()> {
        self.bind()?;
        let [began, ended] = &self.side_work;
        let begun = began.record(&self.stream).and_then(|()| self.side.wait(began));
        begun.map_err(self.info.failed("beginning an exchange"))?;
        let done = work(self.side.cu_stream());
        let recorded = ended.record(&self.side).map_err(self.info.failed("beginning an exchange"));
        // The error of the work comes first.
        done.and(recorded)
    }

    fn launch(&self, Launch { kernel, mut shape, arguments }: Launch) -> Result<()> {
        shape.early &= self.begins_early;
        let function = self.gpu.kernels.function(&self.info, kernel)?;
        let forked = self.forked.load(Ordering::Relaxed);
        let stream = if forked { self.side.cu_stream() } else { self.stream.cu_stream() };
        // SAFETY: the arguments fit the kernel's signature (checked by running every
        // launch in the tests), and the memory behind them belongs to the caller.
        unsafe { launch_kernel(function, shape, &self.info, stream, &arguments) }
            .map_err(self.info.failed("launching a kernel"))
    }

    /// Begins to download `words` words by a kernel to this place.
    fn begin_read_back(&self, place: usize, from: Address, words: usize) -> Result<()> {
        self.launch(Launch::copying(words, from, self.read_backs.address(place)))?;
        let recorded = self.read_backs.ended[place].record(&self.stream);
        recorded.map_err(self.info.failed("copying from the device"))
    }

    /// Waits for the download to this place and reads it.
    fn end_read_back(&self, place: usize, to: &mut [u8]) -> Result<()> {
        check_length(to.len().min(MOST_BYTES), to.len())?;
        self.wait_for_ranks()?;
        self.read_backs.read(place, to).map_err(self.info.failed("a kernel"))
    }
}

impl Drop for DriverDevice {
    fn drop(&mut self) {
        if self.bind().is_err() {
            return;
        }
        self.closing = Some(SEVERAL_GPUS.read());
        self.give_back();
        // Stores that were not waited for end before their memory is freed.
        let _ = self.stream.synchronize();
    }
}

impl Device for DriverDevice {
    fn ordinal(&self) -> Option<usize> {
        Some(self.info.ordinal)
    }

    fn room_together(&self) -> Option<usize> {
        (!has_clusters(&self.info)).then_some(self.info.multiprocessors)
    }

    fn shared_memory(&self) -> usize {
        self.info.shared_memory_per_block
    }

    fn name(&self) -> &str {
        &self.info.name
    }

    fn memory(&self) -> Result<Option<(usize, usize)>> {
        self.bind()?;
        let info = || result::mem_get_info().map_err(self.info.failed("asking for its memory"));
        let (free, total) = info()?;
        let idle = self.pool.bytes();
        if idle <= total / KEPT_SHARE {
            return Ok(Some((free + idle, total)));
        }
        self.trim()?;
        info().map(Some)
    }

    fn trim(&self) -> Result<()> {
        self.bind()?;
        if let Some(_no_run) = SEVERAL_GPUS.try_read() {
            self.give_back();
        }
        Ok(())
    }

    fn queue(&self) -> Option<u64> {
        Some(self.stream.cu_stream() as u64)
    }

    fn shared_words(&self) -> Result<SharedWords> {
        self.bind()?;
        let words = Pinned::<4>::zeros(&self.gpu.context);
        Ok(Arc::new(words.map_err(self.info.failed("pinned memory"))?))
    }

    fn synchronise(&self) -> Result<()> {
        self.begin()?;
        // An exchange that nobody has joined is work of this device, too. The event may be that of a recording.
        let ended = &self.side_work[1];
        let joined = ended.record(&self.side).and_then(|()| self.stream.wait(ended));
        self.wait_for_ranks()?;
        let done = joined.and(self.stream.synchronize());
        done.and(self.side.synchronize()).map_err(self.info.failed("a kernel"))
    }

    fn allocate(&self, bytes: usize) -> Result<Address> {
        self.bind()?;
        if let Some(at) = self.pool.take(bytes) {
            return Ok(at);
        }
        // SAFETY: the memory is given back by `give_back`.
        let allocate = || unsafe { result::malloc_sync(bytes) };
        let allocated = allocate().or_else(|_| {
            let _ = self.trim();
            allocate()
        });
        allocated.map_err(|error| {
            if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
                let free = result::mem_get_info().map_or(0, |(free, _)| free);
                DeviceError::OutOfMemory { device: self.info.name.clone(), asked: bytes, free }
            } else {
                self.info.failed("allocating memory")(error)
            }
        })
    }

    fn export(&self, at: Address) -> Result<Option<Vec<u8>>> {
        self.bind()?;
        Ok(handles::exported(at).ok())
    }

    fn import(&self, name: &[u8]) -> Result<Option<Mapped>> {
        Ok(handles::imported(&self.gpu.context, name))
    }

    fn free(&self, _: Granted, at: Address, bytes: usize) {
        self.pool.put(at, bytes);
    }

    fn share(&self, stream: i64, back: bool) -> Result<()> {
        // The wait would become a part of what another thread records.
        let _alone = self.recording.lock();
        let ordered = order_with(&self.gpu.context, self.stream.cu_stream(), stream, back);
        ordered.map_err(self.info.failed("lending memory"))
    }

    fn upload(&self, _: Granted, from: &[u8], to: Address) -> Result<()> {
        self.begin()?;
        if let Some(words) = words(to, from.len(), MOST_UPLOADED)
            && !self.forked.load(Ordering::Relaxed)
        {
            let (place, at) = self.uploads.put(from, || self.wait())?;
            self.launch(Launch::copying(words, at, to))?;
            let recorded = self.uploads.ended[*place].record(&self.stream);
            return recorded.map_err(self.info.failed("copying to the device"));
        }
        self.wait_for_ranks()?;
        // SAFETY: the caller owns the memory at `to`; `from` outlives the copy, since the stream
        // is waited for.
        unsafe { result::memcpy_htod_async(to, from, self.stream.cu_stream()) }
            .map_err(self.info.failed("copying to the device"))?;
        self.wait()
    }

    fn download(&self, _: Granted, from: Address, to: &mut [u8]) -> Result<()> {
        self.begin()?;
        if let Some(words) = words(from, to.len(), MOST_WORDS) {
            let (place, _alone) = self.read_backs.own();
            self.begin_read_back(place, from, words)?;
            return self.end_read_back(place, to);
        }
        self.wait_for_ranks()?;
        let staged = self.staging.lock().download(&self.stream, from, to);
        if staged.map_err(self.info.failed("copying from the device"))? {
            return Ok(());
        }
        // SAFETY: the caller owns the memory at `from`; `to` outlives the copy, since the stream
        // is waited for.
        unsafe { result::memcpy_dtoh_async(to, from, self.stream.cu_stream()) }
            .map_err(self.info.failed("copying from the device"))?;
        self.wait()
    }

    fn begin_download(&self, granted: Granted, from: Address, bytes: usize) -> Result<Download> {
        self.begin()?;
        if let Some(words) = words(from, bytes, MOST_WORDS) {
            let (number, place) = self.read_backs.next();
            self.begin_read_back(place, from, words)?;
            return Ok(Download::Begun(number));
        }
        self.read(granted, from, bytes).map(Download::Done)
    }

    fn finish_download(&self, number: usize, to: &mut [u8]) -> Result<()> {
        self.bind()?;
        let too_many = DeviceError::TooManyDownloads { most: MOST_DOWNLOADS };
        self.end_read_back(self.read_backs.find(number).ok_or(too_many)?, to)
    }

    fn ask(&self, _: Granted, request: Request) -> Result<()> {
        self.bind()?;
        let Some(request) = self.noted.add(request) else { return Ok(()) };
        let stream = self.stream.cu_stream();
        match request {
            Request::Launch(launch) => self.launch(launch),
            // SAFETY: the caller owns `bytes` bytes from `at` on.
            Request::Clear { at, bytes } => {
                unsafe { result::memset_d8_async(at, 0, bytes, stream) }
                    .map_err(self.info.failed("clearing memory"))
            }
            // SAFETY: the caller owns both ranges.
            Request::Copy { from, to, bytes } => {
                unsafe { result::memcpy_dtod_async(to, from, bytes, stream) }
                    .map_err(self.info.failed("copying on the device"))
            }
            Request::Fork(requests) => self.fork(&mut || {
                requests.iter().try_for_each(|request| self.ask(GRANTED, request.clone()))
            }),
            Request::Join => {
                let joined = self.stream.wait(&self.side_work[1]);
                joined.map_err(self.info.failed("ending an exchange"))
            }
        }
    }

    fn fork(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        if self.noted.are_open() {
            let (done, requests) = self.noted.during(work);
            self.noted.add(Request::Fork(requests));
            return done;
        }
        self.on_side_stream(|_| {
            self.forked.store(true, Ordering::Relaxed);
            scopeguard::defer! { self.forked.store(false, Ordering::Relaxed) }
            work()
        })
    }

    fn record(&self, kept: bool, work: &mut dyn FnMut() -> Result<()>) -> Result<Recording> {
        self.begin()?;
        let graph = |work: &mut dyn FnMut() -> Result<()>| -> Result<Arc<LaunchableGraph>> {
            let _alone = self.recording.lock();
            let graph = LaunchableGraph::record(&self.stream, work);
            Ok(Arc::new(graph.map_err(self.info.failed("recording"))??))
        };
        if !kept {
            return Ok(Box::new(graph(work)?));
        }
        let (done, requests) = self.noted.during(work);
        done?;
        let ask = |request: &Request| self.ask(GRANTED, request.clone());
        let made = |requests: &[_]| graph(&mut || requests.iter().try_for_each(ask));
        Ok(Box::new(self.graphs.get(requests, made)?))
    }

    fn replay(&self, _: Granted, recording: &Recording) -> Result<()> {
        self.begin()?;
        let graph = recording
            .downcast_ref::<Arc<LaunchableGraph>>()
            .ok_or(DeviceError::ForeignRecording)?;
        graph.launch(&self.stream).map_err(self.info.failed("replaying"))
    }
}
