//! A thread for each rank, and the abort flag: a rank that fails stops all others.

use crate::backend::DeviceError;
use crate::backend::cuda::device::{SharedWords, Watch};
use crate::backend::cuda::launch::Result;
use crate::backend::cuda::launch::constants::{ABORT_AWAITED, ABORT_RAISED, ABORT_TIMEOUT};
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Timeout of a wait for another rank: longer than any GPU works without a message, or a host keeps
/// its GPU waiting.
pub const RANK_TIMEOUT: Duration = Duration::from_mins(5);

/// Raised by a rank that fails, and by one whose wait for another exceeds the timeout; all ranks and
/// their kernels stop waiting then.
pub struct AbortFlag {
    raised: AtomicBool,
    /// Longest wait for another rank.
    pub(super) timeout: Duration,
    /// The words that the kernels of each rank poll.
    words: Mutex<Vec<(usize, SharedWords)>>,
}

impl Default for AbortFlag {
    /// With [`RANK_TIMEOUT`].
    fn default() -> Self {
        Self::new(RANK_TIMEOUT)
    }
}

impl AbortFlag {
    /// A flag that is not raised.
    pub fn new(timeout: Duration) -> Self {
        Self { raised: AtomicBool::new(false), timeout, words: Mutex::default() }
    }

    /// Stops all ranks.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Release);
        for (_, words) in self.words.lock().iter() {
            words[ABORT_RAISED].store(1, Ordering::Release);
        }
    }

    /// Fails with [`DeviceError::OtherRank`] once the flag is raised.
    pub fn check(&self) -> Result<()> {
        if self.raised.load(Ordering::Acquire) { Err(DeviceError::OtherRank) } else { Ok(()) }
    }

    /// Checks as [`Self::check`]; a kernel whose wait exceeded the timeout raises the flag.
    fn check_kernels(&self) -> Result<()> {
        let waited = self.words.lock().iter().find_map(|(rank, words)| {
            let other = words[ABORT_AWAITED].load(Ordering::Acquire).checked_sub(1)?;
            Some(self.timed_out(*rank, Some(other as usize)))
        });
        let Some(timed_out) = waited else { return self.check() };
        self.raise();
        Err(timed_out)
    }

    /// Checks as [`Self::check`]; also fails where a rank's wait for another one, if it is known, exceeds the timeout.
    pub(super) fn check_wait(
        &self,
        since: Instant,
        rank: usize,
        other: Option<usize>,
    ) -> Result<()> {
        self.check()?;
        if since.elapsed() < self.timeout { Ok(()) } else { Err(self.timed_out(rank, other)) }
    }

    /// The error of a rank whose wait for another one exceeded the timeout.
    fn timed_out(&self, rank: usize, other: Option<usize>) -> DeviceError {
        DeviceError::RankTimeout { rank, other, waited: self.timeout }
    }

    /// Gives the kernels of a rank the timeout, and the flag when it is raised.
    pub(super) fn register(&self, rank: usize, words: SharedWords) {
        let timeout = u32::try_from(self.timeout.as_millis()).unwrap_or(u32::MAX);
        words[ABORT_TIMEOUT].store(timeout, Ordering::Release);
        let mut all = self.words.lock();
        if self.check().is_err() {
            words[ABORT_RAISED].store(1, Ordering::Release);
        }
        all.push((rank, words));
    }

    /// The words are not used from now on.
    pub(super) fn unregister(&self, words: &SharedWords) {
        self.words.lock().retain(|(_, other)| !Arc::ptr_eq(other, words));
    }
}

/// A device that launches nothing once the flag is raised. Kernels that waited for a message then have
/// continued without it: their results must not be read.
impl Watch for Arc<AbortFlag> {
    fn launching(&self) -> Result<()> {
        // The kernels that waited know why it is raised.
        self.check().or_else(|_| self.check_kernels())
    }

    fn waited(&self, _: &[u8]) -> Result<()> {
        self.check_kernels()
    }
}

/// Does `work` on `ranks` ranks, a thread each, and returns the results by rank. Where one fails the
/// abort flag stops the others, and its failure is returned: the first that is not
/// [`DeviceError::OtherRank`].
pub fn run_ranks<R, E>(
    ranks: usize,
    abort_flag: &Arc<AbortFlag>,
    work: impl Fn(usize) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E>
where
    R: Send,
    E: Send + PartialEq + From<DeviceError>,
{
    let guarded = |rank: usize| {
        let ended = catch_unwind(AssertUnwindSafe(|| work(rank)));
        if !matches!(ended, Ok(Ok(_))) {
            abort_flag.raise();
        }
        ended
    };
    let ended: Vec<_> = std::thread::scope(|scope| {
        let guarded = &guarded;
        let threads: Vec<_> = (0..ranks).map(|rank| scope.spawn(move || guarded(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(Err)).collect()
    });
    let (mut results, mut failure) = (Vec::with_capacity(ranks), None);
    let stopped = |failure: &E| *failure == DeviceError::OtherRank.into();
    for end in ended {
        match end.unwrap_or_else(|panic| resume_unwind(panic)) {
            Ok(result) => results.push(result),
            Err(error) if failure.as_ref().is_none_or(stopped) => failure = Some(error),
            Err(_) => {}
        }
    }
    failure.map_or(Ok(results), Err)
}
