//! Where the values of a case stand, and what can be wrong with them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Where a value of a case comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A line of the case file.
    Line {
        /// The case file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
    },
    /// An override on the command line.
    Set {
        /// Dotted key as given.
        key: String,
        /// Value as given.
        value: String,
    },
    /// Nowhere in particular in the case file: a default is involved.
    File {
        /// The case file.
        path: PathBuf,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Set { key, value } => write!(f, "--set {key}={value}"),
            Self::File { path } => write!(f, "{}", path.display()),
        }
    }
}

/// What is wrong with a folder named in place of a file.
pub(super) const FOLDER: &str = "is a folder";

/// A value as it stands in the case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it stands.
    pub place: Place,
    /// Its dotted key.
    pub key: String,
    /// The value as written.
    pub value: String,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Set { .. } => write!(f, "{}", self.place),
            place => write!(f, "{place}: {} = {}", self.key, self.value),
        }
    }
}

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
    pub(crate) fn has(&self, key: &str) -> bool {
        self.given.contains_key(key)
    }

    /// Where the first of these dotted keys stands that is given; the case file if none is.
    pub(crate) fn of(&self, keys: &[&str]) -> Place {
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

/// A case that cannot be run as it is written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// The case file does not exist.
    #[error("{}: no such case file", path.display())]
    NotFound {
        /// The case file.
        path: PathBuf,
    },
    /// The case file is a folder.
    #[error("{}: expected a case file, found a folder", path.display())]
    Directory {
        /// The folder.
        path: PathBuf,
    },
    /// The case file cannot be read.
    #[error("{}: cannot read the case file: {source}", path.display())]
    Unreadable {
        /// The case file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is far longer than any case.
    #[error("{}: expected a case file, found more than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Bytes that are read at most.
        limit: u64,
    },
    /// The file has zero bytes, which text has not.
    #[error("{}: expected a case file in text, found binary data at byte {offset}", path.display())]
    Binary {
        /// The file.
        path: PathBuf,
        /// Position of the first zero byte, from 0.
        offset: usize,
    },
    /// The file is not UTF-8.
    #[error("{}:{line}: expected UTF-8 text, found other bytes", path.display())]
    NotUtf8 {
        /// The case file.
        path: PathBuf,
        /// Line of the first wrong byte, from 1.
        line: usize,
    },
    /// The file is not TOML.
    #[error("{}:{line}:{column}: not TOML: {message}", path.display())]
    Syntax {
        /// The case file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Character in the line, from 1.
        column: usize,
        /// What the TOML parser says.
        message: String,
    },
    /// There is no such section.
    #[error("{place}: unknown section [{section}]")]
    UnknownSection {
        /// Where it stands.
        place: Place,
        /// The section as written.
        section: String,
        /// Nearest known section.
        nearest: Option<&'static str>,
    },
    /// There is no such key.
    #[error("{place}: unknown key {key}")]
    UnknownKey {
        /// Where it stands.
        place: Place,
        /// Dotted key as written.
        key: String,
        /// Nearest known key.
        nearest: Option<&'static str>,
        /// Dotted keys of the section, where there is such a section.
        known: Vec<&'static str>,
    },
    /// A value has the wrong type or is out of range.
    #[error("{found}: expected {expected}")]
    Invalid {
        /// What stands there.
        found: Box<Found>,
        /// What was expected.
        expected: String,
        /// How to mend it.
        remedy: String,
    },
    /// The file with the coordinates is not there.
    #[error("{found}: {problem}: {}", path.display())]
    AirfoilFile {
        /// What stands there.
        found: Box<Found>,
        /// Full path that was tried.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
        /// Nearest file name in the same folder.
        nearest: Option<String>,
    },
    /// Two keys that exclude each other.
    #[error("{found}: excluded by {other}, which is given too")]
    Conflict {
        /// The later of the two.
        found: Box<Found>,
        /// The other key.
        other: &'static str,
    },
    /// A key that means nothing without another.
    #[error("{found}: needs {other}, which is not given")]
    Incomplete {
        /// What stands there.
        found: Box<Found>,
        /// The missing key.
        other: &'static str,
    },
    /// A key without default is not given.
    #[error("{}: {key} is missing", path.display())]
    Missing {
        /// The case file.
        path: PathBuf,
        /// The missing key or keys.
        key: String,
    },
}

impl CaseError {
    /// How to mend it, where there is more to say than the message does.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { .. } => Some("check the path of the case file".into()),
            Self::Directory { .. } => Some("name the case file in the folder".into()),
            Self::Unreadable { .. } => None,
            Self::TooLarge { .. } | Self::Binary { .. } => Some(
                "a case file is a short text in TOML; coordinates go into a file of their own, \
                 named by geometry.file"
                    .into(),
            ),
            Self::NotUtf8 { .. } => Some("save the file as UTF-8".into()),
            Self::Syntax { path, .. } => Some(syntax_hint(path)),
            Self::UnknownSection { nearest, .. } => Some(nearest.as_ref().map_or_else(
                || {
                    let sections = super::schema::SECTIONS.iter().map(|(name, _)| *name);
                    let sections = sections.filter(|name| !super::schema::is_nested(name));
                    format!("the sections are {}", sections.collect::<Vec<_>>().join(", "))
                },
                |nearest| format!("did you mean [{nearest}]?"),
            )),
            Self::UnknownKey { nearest: Some(nearest), .. } => {
                Some(format!("did you mean {nearest}?"))
            }
            Self::UnknownKey { known, .. } if !known.is_empty() => {
                Some(format!("the keys here are {}", known.join(", ")))
            }
            Self::UnknownKey { .. } => Some("docs/case-format.md lists all keys".into()),
            Self::Invalid { remedy, .. } => Some(remedy.clone()),
            Self::AirfoilFile { nearest: Some(nearest), .. } => {
                Some(format!("did you mean \"{nearest}\" in the same folder?"))
            }
            Self::AirfoilFile { problem: FOLDER, .. } => {
                Some("name the file of coordinates in the folder".into())
            }
            Self::AirfoilFile { .. } => {
                Some("a relative path starts at the case file's folder".into())
            }
            Self::Conflict { found, other } => {
                Some(format!("keep either {} or {other}", found.key))
            }
            Self::Incomplete { found, other } => {
                Some(format!("add {other}, or leave {} out", found.key))
            }
            Self::Missing { key, .. } if key.starts_with("geometry") => {
                Some("the smallest case is two lines: [geometry] and naca = \"2412\"".into())
            }
            Self::Missing { key, .. } => Some(format!("add {key}")),
        }
    }
}

fn syntax_hint(path: &std::path::Path) -> String {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    if matches!(extension.as_deref(), Some("dat" | "txt" | "csv")) {
        "if this is a file of coordinates, name it by geometry.file in a case file".into()
    } else {
        "text stands in quotes, sections in [brackets], and each key once: key = value".into()
    }
}
