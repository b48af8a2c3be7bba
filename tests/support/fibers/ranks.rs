//! Ranks on devices on the CPU, and the transport of their messages.

use std::sync::Arc;
use std::time::Duration;

use super::FiberDevice;
use gridgen::backend::DeviceError;
pub use gridgen::backend::cuda::Transport;
use gridgen::backend::cuda::{
    AbortFlag, Device, HostTransport, RANK_TIMEOUT, RankLink, connect, run_ranks,
};

pub fn fibers(count: usize) -> Vec<Arc<dyn Device>> {
    (0..count).map(|_| Arc::new(FiberDevice::default()) as Arc<dyn Device>).collect()
}

/// Does `work` on a rank for each device.
pub fn on_ranks<R: Send, E: Send + PartialEq + From<DeviceError>>(
    devices: &[Arc<dyn Device>],
    transport: Transport,
    work: impl Fn(RankLink) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    on_ranks_with_timeout(devices, transport, RANK_TIMEOUT, work)
}

/// Does `work` on ranks with another timeout of waits for other ranks.
pub fn on_ranks_with_timeout<R: Send, E: Send + PartialEq + From<DeviceError>>(
    devices: &[Arc<dyn Device>],
    transport: Transport,
    timeout: Duration,
    work: impl Fn(RankLink) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let (abort_flag, ranks) = (Arc::new(AbortFlag::new(timeout)), devices.len());
    let host = Arc::new(HostTransport::new(abort_flag.clone(), ranks));
    run_ranks(ranks, &abort_flag, |rank| {
        work(connect(transport, (host.clone(), rank), devices[rank].clone(), None)?)
    })
}
