//! Memory of each rank that the kernels of all ranks access: between threads by its address, between processes
//! of one host by a name that the driver makes of it (CUDA IPC).

use super::host::HostTransport;
use crate::backend::DeviceError;
use crate::backend::cuda::device::{Address, Buffer, Device, GRANTED, Mapped};
use crate::backend::cuda::launch::Result;
use std::mem;
use std::sync::Arc;

/// Words of a window that is opened for a trial: as many as the driver gives a block of its own for.
const TRIAL_WORDS: usize = 1 << 18;

/// The window of a rank, and where it finds those of the others.
pub(super) struct Windows {
    /// Address of the window of each rank, by rank.
    pub(super) all: Vec<Address>,
    rank: usize,
    device: Arc<dyn Device>,
    transport: Arc<HostTransport>,
    shared: Option<ProcessWindows>,
}

/// The windows of a process: its own, and the mapped ones of the others.
struct ProcessWindows {
    own: Buffer<u64>,
    mapped: Vec<Arc<dyn Mapped>>,
}

impl Windows {
    /// A window of this many words, zeros at first, on every rank; none on all of them where one cannot access
    /// that of another. All ranks must call.
    pub(super) fn open(
        transport: Arc<HostTransport>,
        rank: usize,
        device: Arc<dyn Device>,
        words: usize,
    ) -> Result<Option<Self>> {
        let own = Buffer::zeros(&device, words)?;
        // Others write as soon as they know the address.
        device.synchronise()?;
        if !transport.is_of_job() {
            let address = own.address().to_ne_bytes();
            // It outlives the last message of every rank.
            transport.windows.lock().push(own);
            let all = transport.gather(rank, &address)?;
            let all = all.iter().map(|bytes| bytemuck::pod_read_unaligned(bytes)).collect();
            return Ok(Some(Self { all, rank, device, transport, shared: None }));
        }
        let name = device.export(own.address())?.unwrap_or_default();
        let names = transport.gather(rank, &name)?;
        let (mut all, mut mapped) = (Vec::new(), Vec::new());
        for (other, name) in names.iter().enumerate() {
            if other == rank {
                all.push(own.address());
            } else if let Some(window) = device.import(name)? {
                all.push(window.at());
                mapped.push(window);
            }
        }
        let opened = u8::from(all.len() == names.len());
        let windows =
            Self { all, rank, device, transport, shared: Some(ProcessWindows { own, mapped }) };
        let opened = windows.transport.gather(rank, &[opened])?;
        Ok(opened.iter().all(|opened| opened[..] == [1]).then_some(windows))
    }

    /// Whether the processes of a job can access each other's windows: each reads what the others have written
    /// there. All must call.
    ///
    /// # Errors
    /// If another rank has failed.
    pub(super) fn trial(
        transport: Arc<HostTransport>,
        rank: usize,
        device: Arc<dyn Device>,
    ) -> Result<bool> {
        let Some(windows) = Self::open(transport, rank, device, TRIAL_WORDS)? else {
            return Ok(false);
        };
        let mark = |rank: usize| rank as u64 + 1;
        if let Some(ProcessWindows { own, .. }) = &windows.shared {
            own.upload_part(&[mark(rank)])?;
        }
        windows.transport.gather(rank, &[])?;
        let right = |(other, at): (usize, &Address)| -> Result<bool> {
            let mut word = [0; size_of::<u64>()];
            windows.device.download(GRANTED, *at, &mut word)?;
            Ok(u64::from_ne_bytes(word) == mark(other))
        };
        let own = windows.all.iter().enumerate().map(right).collect::<Result<Vec<_>>>()?;
        let own = u8::from(own.into_iter().all(|right| right));
        let all = windows.transport.gather(rank, &[own])?;
        Ok(all.iter().all(|right| right[..] == [1]))
    }

    /// Waits until no rank accesses a window, and lets go of those of the others; then until all have.
    fn leave(&mut self) -> Result<()> {
        self.device.synchronise()?;
        self.transport.gather(self.rank, &[])?;
        if let Some(ProcessWindows { mapped, .. }) = &mut self.shared {
            mapped.clear();
        }
        self.transport.gather(self.rank, &[]).map(drop)
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        if self.shared.is_some() && self.leave().is_err() {
            // Kernels of a rank that has failed may still write there: the memory goes with the process.
            mem::forget(self.shared.take());
        }
    }
}

/// The error of ranks that could access each other's memory, and no longer can.
pub(super) fn lost(device: &dyn Device) -> DeviceError {
    DeviceError::Call {
        device: device.name().to_owned(),
        operation: "accessing the memory of another process's GPU",
        reason: "the driver refuses it".to_owned(),
    }
}
