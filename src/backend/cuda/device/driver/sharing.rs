//! Memory that the kernels of several GPUs access: that of this process's GPUs, and of other processes' what
//! these have given a name (CUDA IPC).

use super::handles::{Handle, Owned};
use crate::backend::cuda::device::{Address, Mapped};
use cudarc::driver::{CudaContext, DriverError, sys};
use parking_lot::RwLock;
use std::sync::Arc;

/// Held for writing by a run on several GPUs: kernels of two runs that wait for other GPUs could each be
/// queued before what the other waits for. Held for reading while a GPU is closed or its memory given back:
/// the driver then waits for all kernels of the GPU and launches nothing meanwhile, not even the kernel
/// whose message another GPU waits for.
pub(crate) static SEVERAL_GPUS: RwLock<()> = RwLock::new(());

/// The name of memory for other processes: the driver's of the block, then where the memory begins in it.
const NAME_BYTES: usize = size_of::<sys::CUipcMemHandle>() + size_of::<u64>();

/// The name of the memory at this address of the current context. Some containers, and parts of a GPU, have none.
pub(super) fn exported(at: Address) -> Result<Vec<u8>, DriverError> {
    let (mut name, mut base) = (sys::CUipcMemHandle { reserved: [0; _] }, 0);
    // SAFETY: all outlive the calls; the size is not asked for.
    unsafe {
        sys::cuMemGetAddressRange_v2(&raw mut base, std::ptr::null_mut(), at).result()?;
        sys::cuIpcGetMemHandle(&raw mut name, base).result()?;
    }
    let offset = (at - base).to_ne_bytes();
    Ok([bytemuck::cast_slice(&name.reserved), &offset].concat())
}

/// The memory of this name, which another process has allocated, in a context; none where that is no name, or the driver
/// refuses it.
pub(super) fn imported(context: &Arc<CudaContext>, name: &[u8]) -> Option<Mapped> {
    let (name, offset) = name.split_last_chunk().filter(|_| name.len() == NAME_BYTES)?;
    let mut handle = sys::CUipcMemHandle { reserved: [0; _] };
    bytemuck::cast_slice_mut(&mut handle.reserved).copy_from_slice(name);
    context.bind_to_thread().ok()?;
    let (mut at, flag) = (0, sys::CUipcMem_flags_enum::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32);
    // SAFETY: `at` outlives the call, and the driver checks the name.
    unsafe { sys::cuIpcOpenMemHandle_v2(&raw mut at, handle, flag) }.result().ok()?;
    let block = Owned { handle: Handle(at), release: close, context: Some(context.clone()) };
    Some((at + Address::from_ne_bytes(*offset), Box::new(block)))
}

/// Ends the mapping of another process's memory.
///
/// # Safety
/// No kernel accesses it any more.
unsafe fn close(at: sys::CUdeviceptr) -> Result<(), DriverError> {
    // SAFETY: as required of the caller.
    unsafe { sys::cuIpcCloseMemHandle(at) }.result()
}
