//! Where the keys of a case stand.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Place;

/// Where the keys stand that a case was given, for messages about values that only a later layer
/// can judge.
///
/// Any two are equal: a case is the same wherever it is written.
#[derive(Debug, Clone)]
pub struct Places {
    path: PathBuf,
    given: BTreeMap<&'static str, Place>,
}

impl Places {
    /// The places of the keys `given` in the case file `path`, overrides included.
    pub(super) fn new(path: PathBuf, given: BTreeMap<&'static str, Place>) -> Self {
        Self { path, given }
    }

    /// Whether the key is given.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.given.contains_key(key)
    }

    /// Where the first of these dotted keys stands that is given; the case file if none is.
    #[must_use]
    pub fn of(&self, keys: &[&str]) -> Place {
        let given = keys.iter().find_map(|key| self.given.get(key));
        given.cloned().unwrap_or_else(|| Place::File { path: self.path.clone() })
    }
}

impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Places {}
