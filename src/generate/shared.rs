//! A batch that the ranks of a job share: the first hands out the cases, and hears what became of them.

use serde::{Deserialize, Serialize};

use super::batch::{BatchResult, Summary};
use crate::error::Error;
use crate::grid::{Limited, Verdict};
use crate::ranks::{Channel, Failure, Job, RanksError};

/// A message of a thread of a rank to the first rank.
#[derive(Serialize, Deserialize)]
enum Message {
    /// It has nothing to do.
    Free,
    /// It takes no more cases.
    Leaves,
    /// The result of a case.
    Done(usize, Sent),
}

/// The result of a case. Numbers are sent as their bits: they may be NaN.
#[derive(Serialize, Deserialize)]
enum Sent {
    Run(SentSummary),
    UpToDate(SentSummary),
    Failed(Failure),
    NotRun,
}

#[derive(Serialize, Deserialize)]
struct SentSummary {
    verdict: SentVerdict,
    reason: String,
    newton_iterations: usize,
    folded_cells: usize,
    /// Residual, skewness, angle, seconds.
    numbers: [u64; 4],
}

#[derive(Serialize, Deserialize)]
enum SentVerdict {
    Good,
    NotConverged(String),
    Folded(usize),
    FoldedCurved { cells: usize, order: usize, at: [u64; 2] },
    BeyondLimit { skewness: bool, value: u64, limit: u64 },
    Unfit(usize, String),
}

impl From<Verdict> for SentVerdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Good => Self::Good,
            Verdict::NotConverged { reason } => Self::NotConverged(reason),
            Verdict::Folded { cells } => Self::Folded(cells),
            Verdict::FoldedCurved { cells, order, at } => {
                Self::FoldedCurved { cells, order, at: at.map(f64::to_bits) }
            }
            Verdict::Unfit { findings, first } => Self::Unfit(findings, first),
            Verdict::BeyondLimit { measure, value, limit } => Self::BeyondLimit {
                skewness: measure == Limited::Skewness,
                value: value.to_bits(),
                limit: limit.to_bits(),
            },
        }
    }
}

impl From<SentVerdict> for Verdict {
    fn from(sent: SentVerdict) -> Self {
        match sent {
            SentVerdict::Good => Self::Good,
            SentVerdict::NotConverged(reason) => Self::NotConverged { reason },
            SentVerdict::Folded(cells) => Self::Folded { cells },
            SentVerdict::FoldedCurved { cells, order, at } => {
                Self::FoldedCurved { cells, order, at: at.map(f64::from_bits) }
            }
            SentVerdict::Unfit(findings, first) => Self::Unfit { findings, first },
            SentVerdict::BeyondLimit { skewness, value, limit } => Self::BeyondLimit {
                measure: if skewness { Limited::Skewness } else { Limited::WallAngle },
                value: f64::from_bits(value),
                limit: f64::from_bits(limit),
            },
        }
    }
}

impl From<Summary> for SentSummary {
    fn from(summary: Summary) -> Self {
        let Summary { residual, max_skewness, wall_angle_error_max_deg, seconds, .. } = summary;
        Self {
            verdict: summary.verdict.into(),
            reason: summary.reason,
            newton_iterations: summary.newton_iterations,
            folded_cells: summary.folded_cells,
            numbers: [residual, max_skewness, wall_angle_error_max_deg, seconds].map(f64::to_bits),
        }
    }
}

impl From<SentSummary> for Summary {
    fn from(sent: SentSummary) -> Self {
        let [residual, max_skewness, wall_angle_error_max_deg, seconds] =
            sent.numbers.map(f64::from_bits);
        Self {
            verdict: sent.verdict.into(),
            reason: sent.reason,
            newton_iterations: sent.newton_iterations,
            residual,
            folded_cells: sent.folded_cells,
            max_skewness,
            wall_angle_error_max_deg,
            seconds,
        }
    }
}

/// The verdict of rank 0 on all ranks of a job, which must all call.
///
/// # Errors
/// [`RanksError::Ended`].
pub(super) fn of_first(job: Option<&Job>, verdict: Verdict) -> Result<Verdict, RanksError> {
    let Some(job) = job else { return Ok(verdict) };
    // Numbers and texts can always be written.
    let sent = serde_json::to_vec(&SentVerdict::from(verdict.clone())).unwrap_or_default();
    let told = serde_json::from_slice::<SentVerdict>(&job.broadcast(sent)?);
    Ok(told.map_or(verdict, Verdict::from))
}

impl Sent {
    fn of(result: BatchResult, rank: usize) -> Self {
        match result {
            BatchResult::Run(summary) => Self::Run(summary.into()),
            BatchResult::UpToDate(summary) => Self::UpToDate(summary.into()),
            BatchResult::Failed(error) => Self::Failed(Failure {
                rank,
                message: Some(error.to_string()),
                hint: error.hint(),
                class: error.class(),
            }),
            BatchResult::NotRun => Self::NotRun,
        }
    }

    fn result(self) -> BatchResult {
        match self {
            Self::Run(summary) => BatchResult::Run(summary.into()),
            Self::UpToDate(summary) => BatchResult::UpToDate(summary.into()),
            Self::Failed(failure) => BatchResult::Failed(RanksError::Reported { failure }.into()),
            Self::NotRun => BatchResult::NotRun,
        }
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
            Ok(Message::Free) => {
                under_way = next();
                let index = under_way.map_or(u64::MAX, |index| index as u64);
                job.send(rank, channel, index.to_le_bytes().to_vec());
            }
            Ok(Message::Done(index, sent)) => {
                under_way = None;
                done(index, sent.result());
            }
            Ok(Message::Leaves) | Err(_) => return,
        }
    };
    if let Some(index) = under_way {
        done(index, BatchResult::Failed(Error::from(lost)));
    }
}

/// A thread of a rank that is handed cases by the first one.
pub(super) struct Client<'a> {
    pub(super) job: &'a Job,
    pub(super) thread: usize,
}

impl Client<'_> {
    fn send(&self, message: &Message) {
        // Names, numbers and texts can always be written.
        let message = serde_json::to_vec(message).unwrap_or_default();
        self.job.send(0, Channel::Batch(self.thread), message);
    }

    /// The next case, if there is one.
    pub(super) fn next(&self) -> Option<usize> {
        self.send(&Message::Free);
        let index = self.job.receive(0, Channel::Batch(self.thread)).ok()?;
        let index = u64::from_le_bytes(index.try_into().ok()?);
        (index != u64::MAX).then_some(index as usize)
    }

    pub(super) fn done(&self, index: usize, result: BatchResult) {
        self.send(&Message::Done(index, Sent::of(result, self.job.rank())));
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        self.send(&Message::Leaves);
    }
}
