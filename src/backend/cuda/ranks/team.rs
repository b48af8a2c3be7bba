//! A thread for each rank.

use super::Alarm;
use crate::backend::DeviceError;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Raises the alarm unless the work of its rank came to a good end.
struct Watch<'a> {
    alarm: &'a Alarm,
    good: bool,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if !self.good {
            self.alarm.raise();
        }
    }
}

/// Does `work` on `ranks` ranks, a thread each, and returns what came of it, by rank. Where one
/// fails the alarm stops the others, and its failure is returned.
///
/// # Errors
/// The first failure that is not [`DeviceError::OtherRank`].
pub fn run_ranks<R, E>(
    ranks: usize,
    alarm: &Arc<Alarm>,
    work: impl Fn(usize) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E>
where
    R: Send,
    E: Send + PartialEq + From<DeviceError>,
{
    let watched = |rank: usize| {
        let mut watch = Watch { alarm, good: false };
        let result = work(rank);
        watch.good = result.is_ok();
        result
    };
    let ended: Vec<_> = std::thread::scope(|scope| {
        let watched = &watched;
        let threads: Vec<_> = (0..ranks)
            .map(|rank| scope.spawn(move || catch_unwind(AssertUnwindSafe(|| watched(rank)))))
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
