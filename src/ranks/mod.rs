//! Processes that a launcher started, one rank each: their places, their meeting, messages between them, and their
//! errors.
//!
//! A [`RankPlace`] is read from the environment of this process. [`Job::meet`] connects all ranks with the first;
//! from then on a [`Job`] passes messages, and tells every rank when one has failed.

mod job;
mod launcher;
mod links;
mod meeting;

pub use job::{Channel, Job, OnFailure};
pub use launcher::RankPlace;
pub use links::{Inbox, Route};
pub use meeting::Rendezvous;

use std::path::PathBuf;
use std::time::Duration;

use crate::diagnostics::{ErrorClass, errors};

/// The hint where ranks do not know where to meet.
const RENDEZVOUS: &str = "name a free port of the host of rank 0 with --rendezvous host:port, or a file in a folder that all hosts \
     share with --rendezvous file:PATH";

/// The hint where a rank ended and said nothing.
const LOST: &str = "look at the log of that host: out of memory is the most frequent reason";

errors! {
    /// Trouble between the processes of a job.
    #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
    #[class(Device)]
    pub enum RanksError {
        #[error("{launcher} has set {name} = {found:?}: expected {expected}")]
        #[hint("start the ranks by srun, mpirun or torchrun, or use --ranks threads")]
        Variable { launcher: &'static str, name: &'static str, found: String, expected: String },
        #[error("the environment has {name} and no number of ranks")]
        #[hint("start the ranks by srun, mpirun or torchrun")]
        NoSize { name: &'static str },
        #[error("no launcher that is known has started this process")]
        #[hint("start the ranks by srun, mpirun or torchrun")]
        NoLauncher,
        #[error("{launcher} does not say on which host rank 0 runs")]
        #[hint("{RENDEZVOUS}")]
        NoAddress { launcher: &'static str },
        /// A rendezvous that is neither an address nor a file.
        #[error("{found:?} is no rendezvous: expected host:port or file:PATH")]
        #[hint("{RENDEZVOUS}")]
        Rendezvous { found: String },
        #[error("rank 0 cannot listen at {address}: {reason}")]
        #[hint("another job may have the port: choose another one with --rendezvous host:port")]
        Listen { address: String, reason: String },
        #[error("{}: the address of rank 0 cannot be written: {reason}", path.display())]
        #[hint("choose a folder that all hosts share and may be written to")]
        File { path: PathBuf, reason: String },
        #[error("rank {rank} did not find rank 0 at {address} within {} s: {reason}", waited.as_secs_f64())]
        #[hint(
            "rank 0 may have ended, or be on another host: name it with --rendezvous host:port; --wait SECONDS allows \
             more time"
        )]
        NotFound { rank: usize, address: String, waited: Duration, reason: String },
        #[error("{} of {size} did not come within {} s", numbered(missing), waited.as_secs_f64())]
        #[hint(
            "look at what these ranks said; --wait SECONDS allows more time, --rendezvous host:port names another way \
             to rank 0"
        )]
        Missing { missing: Vec<usize>, size: usize, waited: Duration },
        #[error("rank {rank} has {what} {there}, rank 0 {here}")]
        #[hint("start all ranks with the same program, case and options")]
        Differs { rank: usize, what: String, there: String, here: String },
        /// A rank has ended, or failed, and with it the job.
        #[error("rank {} ended{}", failure.rank, because(failure))]
        #[hint("{}", failure.hint.as_deref().unwrap_or(LOST))]
        #[class = failure.class]
        Ended { failure: Failure },
    }
}

/// The failure of a rank.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Failure {
    /// The rank.
    pub rank: usize,
    /// Its error; none of a rank that ended and said nothing.
    pub message: Option<String>,
    /// The hint of its error.
    pub hint: Option<String>,
    /// The kind of its error.
    pub class: ErrorClass,
}

fn because(failure: &Failure) -> String {
    failure.message.as_ref().map_or_else(
        || " and said nothing: it was killed, or its host was lost".to_owned(),
        |message| format!(": {message}"),
    )
}

/// `rank 1`, or `ranks 1, 3, 4`.
fn numbered(ranks: &[usize]) -> String {
    let plural = if ranks.len() == 1 { "rank" } else { "ranks" };
    let numbers: Vec<String> = ranks.iter().map(ToString::to_string).collect();
    format!("{plural} {}", numbers.join(", "))
}
