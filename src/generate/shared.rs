//! The results of cases in a batch, in a few numbers each, and how the ranks of a job share it: the first hands out
//! the cases and receives their results.

use serde::{Deserialize, Serialize};

use super::result::GridResult;
use crate::error::Error;
use crate::grid::Verdict;
use crate::ranks::{Channel, Failure, Job, RanksError};
use crate::report::Timing;

/// The result of a case among others.
#[derive(Debug, Serialize, Deserialize)]
pub enum BatchResult {
    /// It was run.
    Run(#[serde(with = "SentSummary")] Summary),
    /// Its results were there already.
    UpToDate(#[serde(with = "SentSummary")] Summary),
    /// It could not be run.
    Failed(Failure),
    /// The batch was cancelled before its turn.
    NotRun,
}

/// The result of a run in a few numbers; those that are not finite become `null` in JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Whether the grid may be used, and if not why.
    #[serde(serialize_with = "Verdict::reported")]
    pub verdict: Verdict,
    /// The reason why the solve stopped.
    pub reason: String,
    /// Newton steps.
    pub newton_iterations: usize,
    /// Scaled rms residual reached.
    pub residual: f64,
    /// Folded cells.
    pub folded_cells: usize,
    /// Largest equiangle skewness.
    pub max_skewness: f64,
    /// Largest angle between first grid line and wall normal, in degrees.
    pub wall_angle_error_max_deg: f64,
    /// Seconds of the run.
    pub seconds: f64,
}

impl Summary {
    /// The worst of each number of several grids, and the sum of folded cells.
    pub(super) fn of(grids: &[GridResult], verdict: &Verdict, timing: &Timing) -> Self {
        let most =
            |number: fn(&GridResult) -> f64| grids.iter().map(number).fold(f64::NAN, f64::max);
        let slowest = grids.iter().max_by_key(|made| made.newton_iterations());
        Self {
            verdict: verdict.clone(),
            reason: slowest.map_or_else(String::new, |made| made.stop.to_string()),
            newton_iterations: slowest.map_or(0, GridResult::newton_iterations),
            residual: most(GridResult::residual),
            folded_cells: grids.iter().map(|made| made.folded_cells).sum(),
            max_skewness: most(|made| made.quality.max_skewness),
            wall_angle_error_max_deg: most(|made| made.quality.wall_angle_error_max_deg),
            seconds: timing.total(),
        }
    }
}

/// A message of a thread of a rank to the first rank.
#[derive(Serialize, Deserialize)]
enum BatchMessage {
    /// It has nothing to do.
    Free,
    /// It takes no more cases.
    Leaves,
    /// The result of a case.
    Done(usize, BatchResult),
}

/// The form in which a [`Summary`] is sent.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Summary")]
struct SentSummary {
    verdict: Verdict,
    reason: String,
    newton_iterations: usize,
    #[serde(with = "bits")]
    residual: f64,
    folded_cells: usize,
    #[serde(with = "bits")]
    max_skewness: f64,
    #[serde(with = "bits")]
    wall_angle_error_max_deg: f64,
    #[serde(with = "bits")]
    seconds: f64,
}

/// Numbers as their bytes: JSON has no NaN.
mod bits {
    use bytemuck::Pod;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Pod, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        bytemuck::bytes_of(value).serialize(to)
    }

    pub(super) fn deserialize<'de, T: Pod, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        let bytes = Vec::deserialize(from)?;
        bytemuck::try_pod_read_unaligned(&bytes).map_err(D::Error::custom)
    }
}

/// Hands out cases to one thread of a rank until there are none, or the rank is lost: the case that it was
/// at work on has failed then.
pub(super) fn serve(
    job: &Job,
    (rank, thread): (usize, usize),
    next: impl Fn() -> Option<usize>,
    done: impl Fn(usize, BatchResult),
) {
    let (channel, mut under_way) = (Channel::Batch(thread), None);
    let lost: RanksError = loop {
        let message = match job.receive(rank, channel) {
            Ok(message) => message,
            Err(error) => break error,
        };
        match serde_json::from_slice(&message) {
            Ok(BatchMessage::Free) => {
                under_way = next();
                job.send(rank, channel, serde_json::to_vec(&under_way).unwrap_or_default());
            }
            Ok(BatchMessage::Done(index, result)) => {
                under_way = None;
                done(index, result);
            }
            Ok(BatchMessage::Leaves) | Err(_) => return,
        }
    };
    if let Some(index) = under_way {
        done(index, BatchResult::Failed(Error::from(lost).into()));
    }
}

/// A thread of a rank that is handed cases by the first one.
pub(super) struct Client<'a> {
    pub(super) job: &'a Job,
    pub(super) thread: usize,
}

impl Client<'_> {
    fn send(&self, message: &BatchMessage) {
        // Names, numbers and texts can always be written.
        let message = serde_json::to_vec(message).unwrap_or_default();
        self.job.send(0, Channel::Batch(self.thread), message);
    }

    /// The next case, if there is one.
    pub(super) fn next(&self) -> Option<usize> {
        self.send(&BatchMessage::Free);
        let index = self.job.receive(0, Channel::Batch(self.thread)).ok()?;
        serde_json::from_slice(&index).unwrap_or_default()
    }

    pub(super) fn done(&self, index: usize, result: BatchResult) {
        self.send(&BatchMessage::Done(index, result));
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        self.send(&BatchMessage::Leaves);
    }
}
