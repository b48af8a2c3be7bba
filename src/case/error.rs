//! Where the values of a case stand, and what can be wrong with them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use super::parse::excerpt;

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
    /// An argument of a call, as [`super::Case::from_arguments`] has them.
    Argument {
        /// Its name as given.
        name: String,
        /// Its value in TOML.
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
            Self::Set { key, value } => write!(f, "--set {}={}", excerpt(key), excerpt(value)),
            Self::Argument { name, value } => write!(f, "{name} = {value}"),
            Self::File { path } => write!(f, "{}", path.display()),
        }
    }
}

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
            Place::Set { .. } | Place::Argument { .. } => write!(f, "{}", self.place),
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
    pub(super) path: PathBuf,
    /// What stands before a key in messages: `element.flap.`; nothing of a case of one section.
    pub(super) within: String,
    /// What stands in the file or is put in its place: keys, and sections within sections.
    pub(super) given: BTreeMap<&'static str, Found>,
}

impl Places {
    /// Whether the key or the section is given.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.given.contains_key(key)
    }

    /// What stands at the first of these dotted keys that is given, or within it; the case file if none
    /// is.
    pub(super) fn found(&self, keys: &[&str]) -> Found {
        let given = keys.iter().find_map(|key| self.given.get(*key));
        let within = |name: &&str| self.given.iter().find(|(key, _)| among(key, &[name]));
        let found = given.or_else(|| keys.iter().find_map(within).map(|(_, found)| found));
        found.cloned().unwrap_or_else(|| Found {
            place: Place::File { path: self.path.clone() },
            key: keys.first().map_or_else(String::new, |key| self.shown(key)),
            value: "default".into(),
        })
    }

    /// A key as messages have it: of an element with its name.
    pub(super) fn shown(&self, key: &str) -> String {
        if self.within.is_empty() {
            return key.to_owned();
        }
        let own = if key == "element" { "" } else { key.strip_prefix("element.").unwrap_or(key) };
        [&self.within, own].concat().trim_end_matches('.').to_owned()
    }

    /// Where the first of these dotted keys stands that is given; the case file if none is.
    pub(crate) fn of(&self, keys: &[&str]) -> Place {
        self.found(keys).place
    }
}

/// Whether a dotted path is one of the names, or lies in a section of that name.
pub(super) fn among(path: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
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
    /// The case file is not there or cannot be read.
    #[error("{}: {}", path.display(), unreadable(source))]
    Unreadable {
        /// The case file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file holds something else than a case.
    #[error("{place}: expected {expected}, found {found}")]
    NoCase {
        /// The file, and the line of text.
        place: Place,
        /// What was expected.
        expected: &'static str,
        /// What is there.
        found: String,
        /// How to mend it.
        remedy: &'static str,
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
    /// There is no such key or section.
    #[error("{place}: unknown {}", kind(*section, name))]
    Unknown {
        /// Where it stands.
        place: Box<Place>,
        /// Whether it is a section.
        section: bool,
        /// Its name as written.
        name: String,
        /// Nearest known one.
        nearest: Option<&'static str>,
        /// Those that are known there.
        known: Vec<&'static str>,
    },
    /// The file has several elements, where one section is wanted.
    #[error("{place}: several elements, a case of one section was expected")]
    Elements {
        /// Where the first of them stands.
        place: Box<Place>,
    },
    /// No element has this name.
    #[error("{place}: there is no element {name}")]
    NoElement {
        /// Where it is named.
        place: Box<Place>,
        /// The name.
        name: String,
        /// The elements that there are.
        known: Vec<String>,
    },
    /// An argument whose name several keys have.
    #[error("{place}: {} have this name", keys.join(" and "))]
    Ambiguous {
        /// The argument.
        place: Box<Place>,
        /// The keys.
        keys: Vec<&'static str>,
    },
    /// A value has the wrong type, is out of range or does not go with others.
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
        /// How to mend it.
        remedy: String,
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

fn kind(section: bool, name: &str) -> String {
    if section { format!("section [{name}]") } else { format!("key {name}") }
}

fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such case file".into(),
        ErrorKind::IsADirectory => "expected a case file, found a folder".into(),
        _ => format!("cannot read the case file: {error}"),
    }
}

impl CaseError {
    /// How to mend it, where there is more to say than the message does.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unreadable { source, .. } => match source.kind() {
                ErrorKind::NotFound => "check the path of the case file".into(),
                ErrorKind::IsADirectory => "name the case file in the folder".into(),
                _ => return None,
            },
            Self::NoCase { remedy, .. } => (*remedy).into(),
            Self::Syntax { message, .. } if message.contains("escape") => {
                super::schema::BACKSLASH.into()
            }
            Self::Syntax { path, .. } => {
                let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
                let points = matches!(extension.as_deref(), Some("dat" | "txt" | "csv"));
                let of_points =
                    "if this is a file of coordinates, name it by geometry.file in a case file";
                let of_a_case =
                    "text stands in quotes, sections in [brackets], and each key once: key = value";
                if points { of_points.into() } else { of_a_case.into() }
            }
            Self::Unknown { nearest: Some(nearest), section: true, .. } => {
                format!("did you mean [{nearest}]?")
            }
            Self::Unknown { nearest: Some(nearest), .. } => format!("did you mean {nearest}?"),
            Self::Unknown { known, section: true, .. } => {
                format!("the sections are {}", known.join(", "))
            }
            Self::Unknown { known, .. } if known.is_empty() => {
                "docs/case-format.md lists all keys".into()
            }
            Self::Unknown { known, .. } => format!("the keys here are {}", known.join(", ")),
            Self::Elements { .. } => {
                "use gridgen CASE.toml, gridgen run, gridgen check or make_assembly, or give the elements one by \
                 one, each as a case of its own"
                    .into()
            }
            Self::NoElement { known, .. } => {
                let known: Vec<&str> =
                    known.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
                format!("the elements are {}", known.join(", "))
            }
            Self::Ambiguous { .. } => "name the section too".into(),
            Self::Invalid { remedy, .. } | Self::AirfoilFile { remedy, .. } => remedy.clone(),
            Self::Conflict { found, other } => format!("keep either {} or {other}", found.key),
            Self::Incomplete { found, other } => format!("add {other}, or leave {} out", found.key),
            Self::Missing { key, .. } if key.starts_with("geometry") => {
                "the smallest case is two lines: [geometry] and naca = \"2412\"".into()
            }
            Self::Missing { key, .. } => format!("add {key}"),
        })
    }
}
