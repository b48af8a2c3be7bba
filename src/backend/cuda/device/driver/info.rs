//! The GPUs and libraries of this machine.

use crate::backend::DeviceError;
use crate::backend::cuda::launch::Result;
use crate::backend::cuda::launch::library::{DRIVER, compiler_version};
use cudarc::driver::{CudaContext, DriverError, result, sys};
use std::ffi::CStr;
use sys::CUdevice_attribute_enum as Attribute;
use sysinfo::System;

/// The oldest driver that has all that is called: the priorities of the nodes of graphs are of
/// CUDA 11.7 (`CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY`).
const OLDEST: (i32, i32) = (11, 7);

/// The newest function that is called.
const NEWEST_FUNCTION: &CStr = c"cuGraphInstantiateWithFlags";

/// One GPU as the driver describes it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct GpuInfo {
    /// Number by which it is chosen.
    pub ordinal: usize,
    /// Its name.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// Bytes of memory.
    pub memory: usize,
    /// Bytes that are free now; none if it was not asked or does not answer.
    pub free: Option<usize>,
    /// Multiprocessors.
    pub multiprocessors: usize,
    /// Bytes of shared memory that one block may have.
    pub shared_memory_per_block: usize,
    /// Ordinals of the GPUs whose memory it can access directly.
    pub peers: Vec<usize>,
}

impl GpuInfo {
    /// Compute capability as in `sm_90`.
    pub(super) fn architecture(&self) -> u32 {
        self.capability.0 * 10 + self.capability.1
    }

    /// A name of this GPU that no other has: its host, and its place on the bus.
    pub(crate) fn identity(&self) -> Result<Vec<u8>> {
        let device = handle(self.ordinal)?;
        let host = System::host_name().unwrap_or_default();
        let domain = attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?;
        let bus = attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?;
        let place = attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?;
        Ok(format!("{host} {domain:x}:{bus:x}:{place:x}").into_bytes())
    }

    /// The error of a call that failed for this reason.
    pub(crate) fn error(&self, operation: &'static str, reason: String) -> DeviceError {
        let device = format!("GPU {} ({})", self.ordinal, self.name);
        DeviceError::Call { device, operation, reason }
    }

    /// The error of a call that the driver refused.
    pub(super) fn failed(
        &self,
        operation: &'static str,
    ) -> impl FnOnce(DriverError) -> DeviceError + use<'_> {
        move |error| self.error(operation, reason(error))
    }
}

/// Whether the driver's library is there; it is not started.
#[must_use]
pub fn present() -> bool {
    driver_version().is_some()
}

/// Every GPU; none where there is no driver.
pub fn devices() -> Result<Vec<GpuInfo>> {
    match initialise() {
        Err(DeviceError::NoDriver | DeviceError::NoGpu) => return Ok(Vec::new()),
        initialised => initialised?,
    }
    let count = result::device::get_count().map_err(unexpected)?;
    (0..count as usize)
        .map(|ordinal| Ok(GpuInfo { free: free_memory(ordinal), ..info(ordinal)? }))
        .collect()
}

/// GPU `ordinal`, all but its free memory.
///
/// # Errors
/// If there is no driver, or no such GPU.
pub fn device(ordinal: usize) -> Result<GpuInfo> {
    initialise()?;
    info(ordinal)
}

fn reason(error: DriverError) -> String {
    let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
    text.unwrap_or_else(|_| format!("{error:?}"))
}

fn unexpected(error: DriverError) -> DeviceError {
    let device = "the driver".to_owned();
    DeviceError::Call { device, operation: "listing the GPUs", reason: reason(error) }
}

/// Whether a launch may begin on a GPU before the end of the one before, in recordings too (CUDA 12.3).
pub(super) fn can_begin_early(info: &GpuInfo) -> bool {
    info.capability.0 >= 9 && driver_version().is_some_and(|version| version >= (12, 3))
}

/// CUDA version of the driver, major and minor, if there is one.
#[must_use]
pub fn driver_version() -> Option<(i32, i32)> {
    let mut version = 0;
    let answered = DRIVER.has(c"cuInit")
        && DRIVER.has(c"cuDriverGetVersion")
        // SAFETY: the function is there; the number outlives the call.
        && unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().is_ok();
    answered.then_some((version / 1000, version % 1000 / 10))
}

/// Starts the driver, and checks that it can run what the compiler makes.
pub(super) fn initialise() -> Result<()> {
    let driver = driver_version().ok_or(DeviceError::NoDriver)?;
    if driver < OLDEST {
        return Err(DeviceError::AncientDriver { driver, oldest: OLDEST });
    }
    if !DRIVER.has(NEWEST_FUNCTION) {
        let function = NEWEST_FUNCTION.to_string_lossy().into_owned();
        return Err(DeviceError::LackingDriver { function });
    }
    // Both take long: the driver searches for GPUs, and the compiler is a large library.
    let (started, compiler) = std::thread::scope(|scope| {
        let compiler = scope.spawn(compiler_version);
        (result::init(), DeviceError::caught("opening NVRTC", compiler.join()))
    });
    started.map_err(|error| match error.0 {
        sys::CUresult::CUDA_ERROR_NO_DEVICE => DeviceError::NoGpu,
        sys::CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
        | sys::CUresult::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE => {
            DeviceError::DriverMismatch { reason: reason(error) }
        }
        _ => unexpected(error),
    })?;
    // Without a compiler the GPUs can still be listed.
    compiler.map_or(Ok(()), |compiler| fits(driver, compiler))
}

/// Refuses a driver that cannot run what a compiler of this version makes: one of an older major
/// version. Within a major version machine code runs on every driver (CUDA C++ Best Practices
/// Guide, "CUDA Compatibility").
pub fn fits(driver: (i32, i32), compiler: (i32, i32)) -> Result<()> {
    if compiler.0 > driver.0 { Err(DeviceError::OldDriver { driver, compiler }) } else { Ok(()) }
}

/// The driver's handle of GPU `ordinal`; the driver must be initialised.
pub(super) fn handle(ordinal: usize) -> Result<sys::CUdevice> {
    let none = DeviceError::NoSuchGpu { ordinal, count: 0 };
    result::device::get(i32::try_from(ordinal).map_err(|_| none)?).map_err(unexpected)
}

/// A number that describes a device of the driver.
fn attribute(device: sys::CUdevice, which: Attribute) -> Result<i32> {
    // SAFETY: `device` came from the driver.
    unsafe { result::device::get_attribute(device, which) }.map_err(unexpected)
}

/// Describes GPU `ordinal`, all but its free memory, for which a context must be made; the driver
/// must be initialised.
pub(super) fn info(ordinal: usize) -> Result<GpuInfo> {
    let count = result::device::get_count().map_err(unexpected)? as usize;
    if ordinal >= count {
        return Err(DeviceError::NoSuchGpu { ordinal, count });
    }
    let device = handle(ordinal)?;
    let number = |which| attribute(device, which).map(|value| value as usize);
    let peers = (0..count).filter(|&other| other != ordinal && reaches(device, other)).collect();
    Ok(GpuInfo {
        ordinal,
        name: result::device::get_name(device).map_err(unexpected)?,
        capability: (
            number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)? as u32,
            number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)? as u32,
        ),
        // SAFETY: `device` is valid.
        memory: unsafe { result::device::total_mem(device) }.map_err(unexpected)?,
        free: None,
        multiprocessors: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        shared_memory_per_block: number(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?,
        peers,
    })
}

/// Whether kernels of one GPU can access the memory of another.
fn reaches(from: sys::CUdevice, to: usize) -> bool {
    let mut can = 0;
    // SAFETY: both came from the driver; `can` outlives the call.
    let mut asked = |to| unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, from, to) }.result();
    handle(to).is_ok_and(|to| asked(to).is_ok()) && can != 0
}

/// Free bytes of a GPU.
fn free_memory(ordinal: usize) -> Option<usize> {
    let free = CudaContext::new(ordinal).and_then(|context| context.mem_get_info());
    // SAFETY: no context is needed to leave none current; the driver refuses nothing.
    let _ = unsafe { result::ctx::set_current(std::ptr::null_mut()) };
    free.ok().map(|(free, _)| free)
}
