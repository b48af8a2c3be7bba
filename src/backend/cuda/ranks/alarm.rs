//! How ranks learn that one of them cannot go on.

use super::super::device::HostWord;
use super::super::watched::Watch;
use crate::backend::DeviceError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Raised by a rank that fails; all others stop waiting for it, their kernels too.
#[derive(Debug, Default)]
pub struct Alarm {
    raised: AtomicBool,
    words: Mutex<Vec<Arc<dyn HostWord>>>,
}

impl Alarm {
    /// Stops all ranks.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Release);
        for word in self.words().iter() {
            word.set();
        }
    }

    /// Refuses to go on once the alarm is raised.
    ///
    /// # Errors
    /// [`DeviceError::OtherRank`].
    pub fn check(&self) -> Result<(), DeviceError> {
        if self.raised.load(Ordering::Acquire) { Err(DeviceError::OtherRank) } else { Ok(()) }
    }

    /// Sets a word when the alarm is raised.
    pub(super) fn tell(&self, word: Arc<dyn HostWord>) {
        let mut words = self.words();
        if self.check().is_err() {
            word.set();
        }
        words.push(word);
    }

    /// Leaves a word alone from now on.
    pub(super) fn forget(&self, word: &Arc<dyn HostWord>) {
        self.words().retain(|other| !Arc::ptr_eq(other, word));
    }

    fn words(&self) -> MutexGuard<'_, Vec<Arc<dyn HostWord>>> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A device that refuses to go on once the alarm is raised. Kernels that waited for a message then have
/// gone on without it: what they left must not be read.
impl Watch for Arc<Alarm> {
    fn launching(&self) -> Result<(), DeviceError> {
        self.check()
    }

    fn downloaded(&self, _: &[u8]) -> Result<(), DeviceError> {
        self.check()
    }

    fn waited(&self) -> Result<(), DeviceError> {
        self.check()
    }
}
