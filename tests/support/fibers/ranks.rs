//! Ranks on devices on the CPU, and the ways of their messages.

use std::sync::Arc;
use std::time::Duration;

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::{
    Alarm, Communicator, Device, HostCommunicator, MailCommunicator, Mailroom, PATIENCE, Post,
    WatchedDevice, run_ranks,
};

/// The way of messages.
#[derive(Debug, Clone, Copy)]
pub enum Messages {
    /// Kernels write into the memory of other devices.
    Memory,
    /// The host passes them on.
    Host,
}

/// Does `work` on a rank for each device, with the device and the way to the others.
pub fn on_ranks<R: Send, E: Send + PartialEq + From<DeviceError>>(
    devices: &[Arc<dyn Device>],
    messages: Messages,
    work: impl Fn(Arc<dyn Device>, Box<dyn Communicator>) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    on_patient_ranks(devices, messages, PATIENCE, work)
}

/// The same where a rank waits so long for another one.
pub fn on_patient_ranks<R: Send, E: Send + PartialEq + From<DeviceError>>(
    devices: &[Arc<dyn Device>],
    messages: Messages,
    patience: Duration,
    work: impl Fn(Arc<dyn Device>, Box<dyn Communicator>) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let (alarm, ranks) = (Arc::new(Alarm::new(patience)), devices.len());
    let post = Arc::new(Post::new(alarm.clone()));
    let room = Arc::new(Mailroom::new(ranks, alarm.clone()));
    run_ranks(ranks, &alarm, |rank| {
        let device = devices[rank].clone();
        match messages {
            Messages::Memory => {
                let device: Arc<dyn Device> = Arc::new(WatchedDevice::new(device, alarm.clone()));
                let link = MailCommunicator::join(room.clone(), rank, ranks, device.clone())?;
                work(device, Box::new(link))
            }
            Messages::Host => {
                let link = HostCommunicator::new(post.clone(), rank, ranks, device.clone());
                work(device, Box::new(link))
            }
        }
    })
}
