//! Restart files: the state of a Newton solve that is not done. The head of such a record
//! has the identity and the history; its list is the state.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::IoError;
use super::record::{Record, RecordError, RecordFault};
use crate::solver::history::History;

/// First bytes of a restart file.
pub const MAGIC: &[u8; 8] = b"GGRESTRT";

/// The kind of file.
pub static RECORD: Record = Record {
    magic: MAGIC,
    version: 3,
    // Its bytes and the state.
    memory: 2,
    noun: "restart file",
    another: "name the restart.bin that an interrupted run wrote",
    again: "run the case without --restart",
};

/// The keys, and their values, that the grid equations of a case depend on.
pub type Identity = BTreeMap<String, String>;

/// The state of a solve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Restart {
    /// The equations it belongs to.
    pub identity: Identity,
    /// The steps taken.
    pub history: History,
    /// The unknowns after these steps, which are no part of the head.
    #[serde(skip)]
    pub state: Vec<f64>,
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
    let (identity, history) = (identity.clone(), history.clone());
    RECORD.write(path, &Restart { identity, history, state: Vec::new() }, [state])
}

/// Reads a restart file.
///
/// # Errors
/// [`RecordError`] with the path.
pub fn read(path: &Path) -> Result<Restart, RecordError> {
    from_bytes(path, &RECORD.bytes(path)?)
}

/// [`read`] from the bytes of a file; `path` is for messages. For tests.
pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Restart, RecordError> {
    let (head, [state]): (Restart, _) = RECORD.read(bytes).map_err(|fault| fault.at(path))?;
    Ok(Restart { state, ..head })
}

impl Restart {
    /// Refuses a restart of other equations than those of `identity` with another number of unknowns.
    ///
    /// # Errors
    /// [`RecordFault::OtherCase`] with the first difference.
    pub fn check(&self, path: &Path, identity: &Identity, n: usize) -> Result<(), RecordError> {
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
                Err(RecordFault::OtherCase { key, there, here }.at(path))
            }
        }
    }
}
