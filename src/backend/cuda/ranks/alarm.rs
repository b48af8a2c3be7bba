//! How ranks learn that one of them cannot go on.

use crate::backend::DeviceError;
use std::sync::atomic::{AtomicBool, Ordering};

/// Raised by a rank that fails; all others stop waiting for it.
#[derive(Debug, Default)]
pub struct Alarm(AtomicBool);

impl Alarm {
    /// Stops all ranks.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Refuses to go on once the alarm is raised.
    ///
    /// # Errors
    /// [`DeviceError::OtherRank`].
    pub fn check(&self) -> Result<(), DeviceError> {
        if self.0.load(Ordering::Acquire) { Err(DeviceError::OtherRank) } else { Ok(()) }
    }
}
