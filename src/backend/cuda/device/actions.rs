//! Requests to a device as values, which can be kept and compared.

use super::interface::{Address, Device, GRANTED};
use crate::backend::cuda::launch::{Launch, Result};

/// A request that can be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    Launch(Launch),
    Clear {
        at: Address,
        bytes: usize,
    },
    Copy {
        from: Address,
        to: Address,
        bytes: usize,
    },
    /// Actions that run concurrently with those that follow, until the join.
    Fork(Vec<Request>),
    Join,
}

impl Request {
    /// Asks a device for it.
    pub(in super::super) fn perform(&self, device: &dyn Device) -> Result<()> {
        match self {
            Self::Launch(launch) => device.launch(GRANTED, launch.clone()),
            Self::Clear { at, bytes } => device.clear(GRANTED, *at, *bytes),
            Self::Copy { from, to, bytes } => device.copy(GRANTED, *from, *to, *bytes),
            Self::Fork(actions) => device.fork(&mut || Self::perform_all(actions, device)),
            Self::Join => device.join(),
        }
    }

    /// Asks a device for some, one after the other.
    pub(in super::super) fn perform_all(actions: &[Self], device: &dyn Device) -> Result<()> {
        actions.iter().try_for_each(|action| action.perform(device))
    }
}
