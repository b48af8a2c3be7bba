//! The few things a device does for the backend: memory, copies, kernel launches, recordings.
//!
//! [`crate::backend::cuda::CudaBackend`] is written on [`Device`]. The driver implements it with NVIDIA's driver; the
//! tests implement it on the CPU, where the threads of a block are fibers.

use crate::backend::DeviceError;
use crate::backend::cuda::launch::{Argument, Kernel, LaunchShape};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// An address in the device's memory.
pub type Address = u64;

/// What only this crate can hand over: methods of [`Device`] that take addresses can be implemented
/// elsewhere, and be called by this crate alone, whose buffers own the memory behind them.
///
/// ```compile_fail,E0624
/// # use gridgen::backend::cuda::Device;
/// fn copy(device: &dyn Device) {
///     let _ = device.copy(4096, 8192, 16); // private
/// }
/// ```
///
/// ```compile_fail,E0423
/// # use gridgen::backend::cuda::{Device, device::Granted};
/// fn copy(device: &dyn Device) {
///     let _ = device.copy_raw(Granted(()), 4096, 8192, 16); // not to be made elsewhere
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Granted(());

/// Launches that can be repeated with the same arguments.
pub type Recording = Box<dyn Any + Send>;

/// A download that was asked for.
#[derive(Debug)]
pub enum Download {
    /// What it brought.
    Done(Vec<u8>),
    /// It is on its way: its number.
    Begun(usize),
}

/// Words in the host's memory, 0 at first, through which the host and running kernels tell each other
/// something.
pub trait SharedWords: Debug + Send + Sync {
    /// Where kernels find them.
    fn address(&self) -> Address;

    /// The words.
    fn words(&self) -> &Words;
}

/// Four words.
pub type Words = [AtomicU32; 4];

/// For devices that work in the host's memory.
impl SharedWords for Words {
    fn address(&self) -> Address {
        std::ptr::from_ref(self).expose_provenance() as Address
    }

    fn words(&self) -> &Words {
        self
    }
}

/// One device with one queue of work: what is asked for first is done first.
///
/// Kernel launches return before the work is done; uploads and downloads wait for it. An error of
/// a kernel is reported by a later call.
pub trait Device: Send + Sync {
    /// Name for messages.
    fn name(&self) -> &str;

    /// Free and total bytes of its memory, where they are limited.
    fn memory(&self) -> Result<Option<(usize, usize)>, DeviceError> {
        Ok(None)
    }

    /// The driver's handle of its queue, for libraries beside the driver; none where it has none.
    fn queue(&self) -> Option<u64> {
        None
    }

    /// Words that its kernels can read and write. A device in the host's memory takes any.
    fn shared_words(&self) -> Result<Arc<dyn SharedWords>, DeviceError> {
        Ok(Arc::new(Words::default()))
    }

    /// Waits for all work. A device that works while it is asked has nothing to wait for.
    fn synchronise(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Uninitialised memory, aligned to 256 bytes.
    fn allocate(&self, bytes: usize) -> Result<Address, DeviceError>;

    /// Gives back what [`Self::allocate`] gave.
    fn free_raw(&self, granted: Granted, at: Address);

    /// Bytes ← 0.
    fn clear_raw(&self, granted: Granted, at: Address, bytes: usize) -> Result<(), DeviceError>;

    /// Device memory ← host.
    fn upload_raw(&self, granted: Granted, from: &[u8], to: Address) -> Result<(), DeviceError>;

    /// Host ← device memory.
    fn download_raw(
        &self,
        granted: Granted,
        from: Address,
        to: &mut [u8],
    ) -> Result<(), DeviceError>;

    /// Asks for some values without waiting for them. At most eight downloads may be unfinished: to wait for
    /// an earlier one is an error. What is asked for later does not change what they bring.
    fn begin_download_raw(
        &self,
        granted: Granted,
        from: Address,
        bytes: usize,
    ) -> Result<Download, DeviceError> {
        let mut to = vec![0; bytes];
        self.download_raw(granted, from, &mut to)?;
        Ok(Download::Done(to))
    }

    /// Host ← what was asked for, as long.
    ///
    /// # Errors
    /// [`DeviceError::Length`] where it is not.
    fn end_download(&self, download: Download, to: &mut [u8]) -> Result<(), DeviceError> {
        match download {
            Download::Done(from) => fill(to, &from),
            Download::Begun(_) => Ok(()),
        }
    }

    /// Device memory ← device memory.
    fn copy_raw(
        &self,
        granted: Granted,
        from: Address,
        to: Address,
        bytes: usize,
    ) -> Result<(), DeviceError>;

    /// Runs a kernel. The arguments must be those of its signature, in order.
    fn launch_raw(
        &self,
        granted: Granted,
        kernel: Kernel,
        shape: LaunchShape,
        arguments: &[Argument],
    ) -> Result<(), DeviceError>;

    /// Asks for launches that pass beside what is asked for later, until [`Self::join`]; they come after
    /// all that was asked for before. The thread that asks for work does so.
    fn fork(&self, work: &mut dyn FnMut() -> Result<(), DeviceError>) -> Result<(), DeviceError> {
        work()
    }

    /// What is asked for later comes after the launches that passed beside.
    fn join(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Records the launches, clearings and copies on the device that `work` asks for, without doing
    /// them.
    fn record(
        &self,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Recording, DeviceError>;

    /// Does what was recorded.
    fn replay_raw(&self, granted: Granted, recording: &Recording) -> Result<(), DeviceError>;
}

/// What this crate asks of a device: the methods above, granted.
impl dyn Device + '_ {
    pub(crate) fn free(&self, at: Address) {
        self.free_raw(Granted(()), at);
    }

    pub(crate) fn clear(&self, at: Address, bytes: usize) -> Result<(), DeviceError> {
        self.clear_raw(Granted(()), at, bytes)
    }

    pub(crate) fn upload(&self, from: &[u8], to: Address) -> Result<(), DeviceError> {
        self.upload_raw(Granted(()), from, to)
    }

    pub(crate) fn download(&self, from: Address, to: &mut [u8]) -> Result<(), DeviceError> {
        self.download_raw(Granted(()), from, to)
    }

    pub(crate) fn begin_download(
        &self,
        from: Address,
        bytes: usize,
    ) -> Result<Download, DeviceError> {
        self.begin_download_raw(Granted(()), from, bytes)
    }

    pub(crate) fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), DeviceError> {
        self.copy_raw(Granted(()), from, to, bytes)
    }

    pub(crate) fn launch(
        &self,
        kernel: Kernel,
        shape: LaunchShape,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        self.launch_raw(Granted(()), kernel, shape, arguments)
    }

    pub(crate) fn replay(&self, recording: &Recording) -> Result<(), DeviceError> {
        self.replay_raw(Granted(()), recording)
    }
}

/// Host ← bytes that came, as many.
pub(crate) fn fill(to: &mut [u8], from: &[u8]) -> Result<(), DeviceError> {
    check_length(from.len(), to.len())?;
    to.copy_from_slice(from);
    Ok(())
}

/// Refuses a copy of `asked` of something to or from `there` of it.
pub(crate) fn check_length(there: usize, asked: usize) -> Result<(), DeviceError> {
    if there == asked { Ok(()) } else { Err(DeviceError::Length { there, asked }) }
}
