//! Restart files: the state of a Newton solve that is not done. The head of such a record
//! has the identity and the history; its list is the state.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::record::{Record, RecordFault};
use super::{IoError, contents};
use crate::diagnostics::errors;
use crate::solver::history::History;

/// First bytes of a restart file.
pub const MAGIC: &[u8; 8] = b"GGRESTRT";

/// Version of the layout.
pub const VERSION: u32 = 3;

const RECORD: Record = Record { magic: MAGIC, version: VERSION };

/// Memory for a byte of a file: its bytes and the state.
const MEMORY_A_BYTE: u64 = 2;

/// The keys, and their values, that the grid equations of a case depend on.
pub type Identity = BTreeMap<String, String>;

/// The head of a restart file.
#[derive(Serialize, Deserialize)]
struct RestartHead {
    identity: Identity,
    history: History,
}

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
    let head = RestartHead { identity: identity.clone(), history: history.clone() };
    RECORD.write(path, &head, [state])
}

/// Reads a restart file.
///
/// # Errors
/// [`RestartError`] with the path.
pub fn read(path: &Path) -> Result<Restart, RestartError> {
    match contents::read(path, MEMORY_A_BYTE) {
        Ok(bytes) => from_bytes(path, &bytes),
        Err(source) => Err(RestartError::new(path, RestartFault::Unreadable(source))),
    }
}

/// [`read`] from the bytes of a file; `path` is for messages. For tests.
pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Restart, RestartError> {
    let (RestartHead { identity, history }, [state]) = RECORD.read(bytes).map_err(|fault| {
        let fault = match fault {
            RecordFault::Other => RestartFault::NotARestart,
            RecordFault::Version(version) => RestartFault::Version(version),
            RecordFault::Damaged => RestartFault::Damaged,
        };
        RestartError::new(path, fault)
    })?;
    Ok(Restart { identity, history, state })
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
