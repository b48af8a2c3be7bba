//! What can go wrong between processes.

use std::path::PathBuf;
use std::time::Duration;

/// Trouble between the processes of a job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum RanksError {
    /// A variable of the launcher that is no number, or that does not fit the others.
    #[error("{launcher} has set {name} = {found:?}: expected {expected}")]
    Variable { launcher: &'static str, name: &'static str, found: String, expected: String },
    /// A launcher that tells no number of ranks.
    #[error("the environment has {name} and no number of ranks")]
    NoSize { name: &'static str },
    /// No variables of a launcher.
    #[error("no launcher that is known has started this process")]
    NoLauncher,
    /// Nothing says where the ranks meet.
    #[error("{launcher} does not say on which host rank 0 runs")]
    NoAddress { launcher: &'static str },
    /// A rendezvous that is neither an address nor a file.
    #[error("{found:?} is no rendezvous: expected host:port or file:PATH")]
    Rendezvous { found: String },
    /// The first rank cannot listen.
    #[error("rank 0 cannot listen at {address}: {reason}")]
    Listen { address: String, reason: String },
    /// The file of the rendezvous cannot be written.
    #[error("{}: the address of rank 0 cannot be written: {reason}", path.display())]
    File { path: PathBuf, reason: String },
    /// The first rank was not found.
    #[error("rank {rank} did not find rank 0 at {address} within {} s: {reason}", waited.as_secs_f64())]
    NotFound { rank: usize, address: String, waited: Duration, reason: String },
    /// Some ranks did not come.
    #[error("{} of {size} did not come within {} s", numbered(missing), waited.as_secs_f64())]
    Missing { missing: Vec<usize>, size: usize, waited: Duration },
    /// A rank has other work than the first.
    #[error("rank {rank} has {what} {there}, rank 0 {here}")]
    Differs { rank: usize, what: String, there: String, here: String },
    /// The error of a case that another rank had.
    #[error("{}", failure.message.as_deref().unwrap_or_default())]
    Reported { failure: Failure },
    /// A rank has ended, or failed: its failure is that of the job.
    #[error("rank {} ended{}", failure.rank, because(failure))]
    Ended { failure: Failure },
}

/// How a rank failed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Failure {
    /// The rank.
    pub rank: usize,
    /// Its error; none of a rank that ended without a word.
    pub message: Option<String>,
    /// How to mend it.
    pub hint: Option<String>,
    /// The exit code of the program.
    pub code: u8,
}

fn because(failure: &Failure) -> String {
    failure.message.as_ref().map_or_else(
        || " without a word: it was killed, or its host was lost".to_owned(),
        |message| format!(": {message}"),
    )
}

/// `rank 1`, or `ranks 1, 3, 4`.
fn numbered(ranks: &[usize]) -> String {
    let plural = if ranks.len() == 1 { "rank" } else { "ranks" };
    let numbers: Vec<String> = ranks.iter().map(ToString::to_string).collect();
    format!("{plural} {}", numbers.join(", "))
}

impl RanksError {
    /// What the user can do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::Variable { .. } => {
                "start the ranks by srun, mpirun or torchrun, or use --ranks threads"
            }
            Self::NoSize { .. } | Self::NoLauncher => "start the ranks by srun, mpirun or torchrun",
            Self::NoAddress { .. } | Self::Rendezvous { .. } => {
                "name a free port of the host of rank 0 with --rendezvous host:port, or a file in a folder \
                 that all hosts share with --rendezvous file:PATH"
            }
            Self::Listen { .. } => {
                "another job may have the port: choose another one with --rendezvous host:port"
            }
            Self::File { .. } => "choose a folder that all hosts share and may be written to",
            Self::NotFound { .. } => {
                "rank 0 may have ended, or be on another host: name it with --rendezvous host:port; \
                 --wait SECONDS allows more time"
            }
            Self::Missing { .. } => {
                "look at what these ranks said; --wait SECONDS allows more time, --rendezvous host:port \
                 names another way to rank 0"
            }
            Self::Differs { .. } => "start all ranks with the same program, case and options",
            Self::Reported { failure } => failure.hint.as_deref().unwrap_or_default(),
            Self::Ended { failure } => failure.hint.as_deref().unwrap_or(
                "look at the log of that host: out of memory is the most frequent reason",
            ),
        }
    }
}
