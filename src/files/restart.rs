//! Restart files: the state of a Newton solve that is not done. The head of such a record
//! is the identity; its lists are the history and the state.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use super::record::{Record, RecordFault};
use super::{IoError, contents};
use crate::diagnostics::errors;
use crate::solver::history::{History, NewtonStep};

/// First bytes of a restart file.
#[doc(hidden)]
pub const MAGIC: &[u8; 8] = b"GGRESTRT";

/// Version of the layout.
#[doc(hidden)]
pub const VERSION: u32 = 2;

const RECORD: Record<2> = Record { magic: MAGIC, version: VERSION };

/// Numbers of a step before its linear residuals, the last being their count.
const STEP_NUMBERS: usize = 9;

/// The keys, and their values, that the grid equations of a case depend on.
pub type Identity = BTreeMap<String, String>;

/// The state of a solve.
#[derive(Debug, Clone, PartialEq)]
pub struct Restart {
    /// The equations it belongs to.
    pub identity: Identity,
    /// The steps taken.
    pub history: History,
    /// The unknowns after these steps.
    pub state: Vec<f64>,
}

errors! {
    /// A restart file that cannot be used.
    #[error("{}: {fault}", path.display())]
    pub struct RestartError { path: PathBuf, #[source] fault: RestartFault }
}

errors! {
    /// Reasons for which a restart file cannot be used.
    #[derive(Debug, thiserror::Error)]
    #[class(Input)]
    pub enum RestartFault {
        #[error("cannot be read: {0}")]
        #[hint = contents::hint]
        Unreadable(io::Error),
        #[error("not a restart file of gridgen")]
        #[hint("name the restart.bin that an interrupted run wrote")]
        NotARestart,
        #[error("a restart file of version {0}, version {VERSION} was expected")]
        #[hint("run the case without --restart")]
        Version(u32),
        #[error("the restart file is cut off or damaged")]
        #[hint("run the case without --restart")]
        Damaged,
        /// The state belongs to other equations.
        #[error("belongs to another case: {key} is {there} there, {here} here")]
        #[hint(
            "section, grid, initial grid and control functions must be those of the run that was interrupted; solver \
             and output may differ"
        )]
        OtherCase { key: String, there: String, here: String },
    }
}

impl RestartError {
    fn new(path: &Path, fault: RestartFault) -> Self {
        Self { path: path.to_path_buf(), fault }
    }
}

/// Writes a restart file.
///
/// # Errors
/// [`IoError`] when the file cannot be written.
pub fn write(
    path: &Path,
    identity: &Identity,
    history: &History,
    state: &[f64],
) -> Result<(), IoError> {
    RECORD.write(path, identity, [&numbers(history), state])
}

/// Reads a restart file.
///
/// # Errors
/// [`RestartError`] with the path.
pub fn read(path: &Path) -> Result<Restart, RestartError> {
    let opened = File::open(path).map_err(RecordFault::Unreadable);
    opened.and_then(of_source).map_err(|fault| error(path, fault))
}

/// [`read`] from the bytes of a file; `path` is for messages. For tests.
#[doc(hidden)]
pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Restart, RestartError> {
    of_source(Cursor::new(bytes)).map_err(|fault| error(path, fault))
}

fn of_source(source: impl Read + Seek) -> Result<Restart, RecordFault> {
    let (identity, [history, state]) = RECORD.read(source)?;
    let history = history_of(&history).ok_or(RecordFault::Damaged)?;
    Ok(Restart { identity, history, state })
}

fn error(path: &Path, fault: RecordFault) -> RestartError {
    let fault = match fault {
        RecordFault::Other => RestartFault::NotARestart,
        RecordFault::Version(version) => RestartFault::Version(version),
        RecordFault::Damaged => RestartFault::Damaged,
        RecordFault::Unreadable(source) => RestartFault::Unreadable(source),
    };
    RestartError { path: path.to_path_buf(), fault }
}

impl Restart {
    /// Refuses a restart of other equations than those of `identity` with another number of unknowns.
    ///
    /// # Errors
    /// [`RestartFault::OtherCase`] with the first difference.
    pub fn check(&self, path: &Path, identity: &Identity, n: usize) -> Result<(), RestartError> {
        let values = |key: &String| {
            [&self.identity, identity]
                .map(|of| of.get(key).map_or("not set", String::as_str).to_owned())
        };
        let keys = self.identity.keys().chain(identity.keys());
        let unknowns = ("the number of unknowns", [self.state.len(), n].map(|n| n.to_string()));
        let mut facts = keys.map(|key| (key.as_str(), values(key))).chain([unknowns]);
        match facts.find(|(_, [there, here])| there != here) {
            None => Ok(()),
            Some((key, [there, here])) => {
                let key = key.to_owned();
                Err(RestartError::new(path, RestartFault::OtherCase { key, there, here }))
            }
        }
    }
}

fn numbers(history: &History) -> Vec<f64> {
    let step = |s: &NewtonStep| {
        let fixed: [f64; STEP_NUMBERS] = [
            s.residual,
            s.forcing_term,
            s.linear_iterations,
            s.step_length,
            s.min_area,
            s.folded_cells as f64,
            s.setup_seconds,
            s.linear_seconds,
            s.linear_residuals.len() as f64,
        ];
        [&fixed, s.linear_residuals.as_slice()].concat()
    };
    history.steps.iter().flat_map(step).collect()
}

/// The history that became these numbers.
fn history_of(mut numbers: &[f64]) -> Option<History> {
    let mut steps = Vec::new();
    while let Some((fixed, rest)) = numbers.split_first_chunk::<STEP_NUMBERS>() {
        let &[residual, forcing_term, linear_iterations, step_length, min_area, folded, ..] = fixed;
        let [setup_seconds, linear_seconds, count] = [fixed[6], fixed[7], fixed[8]];
        let (linear, rest) = rest.split_at_checked(count as usize)?;
        steps.push(NewtonStep {
            step: steps.len(),
            residual,
            forcing_term,
            linear_iterations,
            step_length,
            min_area,
            folded_cells: folded as usize,
            setup_seconds,
            linear_seconds,
            linear_residuals: linear.to_vec(),
        });
        numbers = rest;
    }
    numbers.is_empty().then_some(History { steps })
}
