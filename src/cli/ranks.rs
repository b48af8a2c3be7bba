//! Arguments of the machine, and processes that a launcher started: their meeting, and their end.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
use gridgen::error::ErrorClass;
use gridgen::generate::BackendChoice;
use gridgen::ranks::{Failure as Outcome, Job, OnFailure, RankPlace, RanksError, Rendezvous};

use super::terminal::{CommandFailure, Terminal, exit_code};
use super::values::words;

/// Time that a process has to end by itself once another one has failed.
const GRACE: Duration = Duration::from_secs(20);

/// The choices of ranks; their documentation is the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RanksChoice {
    /// The processes that srun, mpirun or torchrun has started, a GPU each
    Launcher,
    /// Threads of this process, which is on its own
    Threads,
}

/// Values of `--backend`.
const BACKENDS: [(&str, &str); 3] = [
    ("auto", "A GPU, if there is one that can be used, where it is faster; else the CPU"),
    ("cpu", "The CPU"),
    ("cuda", "NVIDIA GPUs"),
];

pub(super) fn backends() -> impl TypedValueParser<Value = BackendChoice> {
    words(&BACKENDS)
}

/// Arguments of the machine, and of the processes that share the work.
#[derive(Debug, Args)]
pub(super) struct MachineArguments {
    /// Where to compute; auto takes a GPU if there is one and the grid is large enough to be faster there.
    #[arg(long, default_value = "auto", value_parser = backends())]
    pub(super) backend: BackendChoice,
    /// GPUs to use, by number: 0,1; of a batch each takes whole cases [default: one, and for large grids as many as
    /// help].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) devices: Option<Vec<usize>>,
    /// Processes or threads that share the work [default: the processes of a launcher, where one is found].
    #[arg(long, value_name = "WHO")]
    ranks: Option<RanksChoice>,
    /// Meeting point of processes: a port of the host of rank 0, host:port, or a file in a folder that all
    /// share, file:PATH [default: where the launcher says].
    #[arg(long, value_name = "WHERE")]
    rendezvous: Option<Rendezvous>,
    /// Seconds that processes wait for each other at the start.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..))]
    wait: u64,
    /// The job of this process.
    #[arg(skip)]
    pub(super) job: Option<Arc<Job>>,
}

impl MachineArguments {
    /// Checks the arguments, and meets the other processes of the launcher, if there are any.
    pub(super) fn begin(&mut self) -> Result<Option<Arc<Job>>, CommandFailure> {
        let devices = self.devices.as_deref().unwrap_or_default();
        self.backend.check_devices(devices).map_err(CommandFailure::Usage)?;
        if self.ranks == Some(RanksChoice::Threads) {
            return Ok(None);
        }
        let named = self.ranks == Some(RanksChoice::Launcher);
        let place = match RankPlace::find(&|name| std::env::var(name).ok()) {
            Err(RanksError::NoSize { .. }) if !named => None,
            found => found?,
        };
        if place.is_none() && named {
            return Err(RanksError::NoLauncher.into());
        }
        if let Some(place) = place.filter(|place| place.size > 1) {
            let job = Job::meet(place, self.rendezvous.clone(), Duration::from_secs(self.wait))?;
            self.job = Some(Arc::new(job));
        }
        Ok(self.job.clone())
    }
}

/// Says on the first rank that there are others, and ends this process once another one has failed.
pub(super) fn begin(job: &Job, terminal: Terminal) {
    let (place, first) = (job.place(), job.is_first());
    terminal.note(&format!("{} ranks, started by {}", place.size, place.launcher));
    let act: Arc<OnFailure> = Arc::new(move |failure| {
        let error = RanksError::Ended { failure: failure.clone() };
        // The process may be at work that nothing interrupts.
        let terminal = terminal.clone();
        let end = move || {
            thread::sleep(GRACE);
            if first {
                terminal.error(&error.to_string(), error.hint().as_deref());
            }
            std::process::exit(i32::from(exit_code(error.class())));
        };
        drop(thread::Builder::new().spawn(end));
    });
    job.on_failure(&act);
    // It is for the whole process.
    std::mem::forget(act);
}

/// The outcome of this process, whose own work is `done`. A failure ends the other processes, too; it is
/// shown once, by the first rank, or by the next one where that is lost.
pub(super) fn end(job: &Job, done: Result<u8, CommandFailure>) -> Result<u8, CommandFailure> {
    let failure = match done {
        Ok(code) => {
            return Ok(job.end(code).unwrap_or_else(|failure| exit_code(failure.class)));
        }
        Err(failure) => failure,
    };
    let (message, hint, class) = match &failure {
        CommandFailure::Usage(message) => (message.clone(), None, ErrorClass::Input),
        CommandFailure::Message { message, hint, class } => (message.clone(), hint.clone(), *class),
    };
    job.fail(Some(message), hint, class);
    let shown_by = match job.failure() {
        Some(Outcome { rank: 0, message: None, .. }) => 1,
        _ => 0,
    };
    if job.rank() == shown_by { Err(failure) } else { Ok(exit_code(class)) }
}
