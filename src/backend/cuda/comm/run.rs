//! A thread for each rank.

use super::abort_flag::AbortFlag;
use crate::backend::DeviceError;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Raises the abort flag unless the work of its rank succeeded.
struct AbortOnFailure<'a> {
    abort_flag: &'a AbortFlag,
    good: bool,
}

impl Drop for AbortOnFailure<'_> {
    fn drop(&mut self) {
        if !self.good {
            self.abort_flag.raise();
        }
    }
}

/// Does `work` on `ranks` ranks, a thread each, and returns the results by rank. Where one fails the
/// abort flag stops the others, and its failure is returned.
///
/// # Errors
/// The first failure that is not [`DeviceError::OtherRank`].
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
        let mut guard = AbortOnFailure { abort_flag, good: false };
        let result = work(rank);
        guard.good = result.is_ok();
        result
    };
    let ended: Vec<_> = std::thread::scope(|scope| {
        let guarded = &guarded;
        let threads: Vec<_> = (0..ranks)
            .map(|rank| scope.spawn(move || catch_unwind(AssertUnwindSafe(|| guarded(rank)))))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(Err)).collect()
    });
    let mut results = Vec::with_capacity(ranks);
    let mut failure = None;
    for end in ended {
        match end {
            Ok(Ok(result)) => results.push(result),
            Ok(Err(error)) => {
                if failure.as_ref().is_none_or(|before| *before == DeviceError::OtherRank.into()) {
                    failure = Some(error);
                }
            }
            Err(panic) => resume_unwind(panic),
        }
    }
    failure.map_or(Ok(results), Err)
}
