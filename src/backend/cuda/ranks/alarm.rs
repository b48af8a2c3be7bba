//! How ranks learn that one of them cannot go on.

use super::super::device::HostWords;
use super::super::watched::Watch;
use crate::backend::DeviceError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a rank waits for another one: longer than any GPU works without a message, or a host keeps
/// its GPU waiting.
pub const PATIENCE: Duration = Duration::from_mins(5);

// As in `kernels/mail.cuh`.
/// Word that ends all waiting.
const RAISED: usize = 0;
/// Milliseconds that a wait may take.
const LIMIT: usize = 1;
/// One more than the rank for which a kernel waited longer.
const AWAITED: usize = 2;

/// Raised by a rank that fails, and by one that has waited too long for another; all others stop waiting,
/// their kernels too.
#[derive(Debug)]
pub struct Alarm {
    raised: AtomicBool,
    patience: Duration,
    /// What the kernels of ranks look at.
    words: Mutex<Vec<(usize, Arc<dyn HostWords>)>>,
}

impl Default for Alarm {
    /// Waits are as long as [`PATIENCE`].
    fn default() -> Self {
        Self::new(PATIENCE)
    }
}

impl Alarm {
    /// An alarm that ends a wait which takes longer.
    #[must_use]
    pub fn new(patience: Duration) -> Self {
        Self { raised: AtomicBool::new(false), patience, words: Mutex::default() }
    }

    /// How long a rank waits for another one.
    pub(in super::super) fn patience(&self) -> Duration {
        self.patience
    }

    /// Stops all ranks.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Release);
        for (_, words) in self.words().iter() {
            words.words()[RAISED].store(1, Ordering::Release);
        }
    }

    /// Refuses to go on once the alarm is raised.
    ///
    /// # Errors
    /// [`DeviceError::OtherRank`].
    pub fn check(&self) -> Result<(), DeviceError> {
        if self.raised.load(Ordering::Acquire) { Err(DeviceError::OtherRank) } else { Ok(()) }
    }

    /// The same, once a kernel has waited too long, too.
    ///
    /// # Errors
    /// [`DeviceError::OtherRank`], [`DeviceError::Silent`].
    fn check_kernels(&self) -> Result<(), DeviceError> {
        let waited = self.words().iter().find_map(|(rank, words)| {
            let other = words.words()[AWAITED].load(Ordering::Acquire).checked_sub(1)?;
            Some(self.silent(*rank, Some(other as usize)))
        });
        match waited {
            None => self.check(),
            Some(silent) => {
                self.raise();
                Err(silent)
            }
        }
    }

    /// The error of a rank that has waited for another one as long as it may.
    pub(in super::super) fn silent(&self, rank: usize, other: Option<usize>) -> DeviceError {
        DeviceError::Silent { rank, other, waited: self.patience }
    }

    /// Tells the kernels of a rank how long they may wait, and when the alarm is raised.
    pub(super) fn tell(&self, rank: usize, words: Arc<dyn HostWords>) {
        let limit = u32::try_from(self.patience.as_millis()).unwrap_or(u32::MAX);
        words.words()[LIMIT].store(limit, Ordering::Release);
        let mut all = self.words();
        if self.check().is_err() {
            words.words()[RAISED].store(1, Ordering::Release);
        }
        all.push((rank, words));
    }

    /// Leaves words alone from now on.
    pub(super) fn forget(&self, words: &Arc<dyn HostWords>) {
        self.words().retain(|(_, other)| !Arc::ptr_eq(other, words));
    }

    fn words(&self) -> MutexGuard<'_, Vec<(usize, Arc<dyn HostWords>)>> {
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
        self.check_kernels()
    }

    fn waited(&self) -> Result<(), DeviceError> {
        self.check_kernels()
    }
}
