//! Places of the values of a case, and errors of cases.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::schema::BACKSLASH;
use crate::diagnostics::{errors, excerpt};
use crate::geometry::Placing;

/// The origin of a value of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variant says what its fields are")]
pub enum Place {
    /// A line of the case file `path`, counted from 1.
    Line { path: PathBuf, line: usize },
    /// An override on the command line: dotted key and value as given.
    Set { key: String, value: String },
    /// An argument of a call, as [`super::CaseFile::from_arguments`] has them: its name as given, its value in TOML.
    Argument { name: String, value: String },
    /// Nowhere in particular in the case file `path`: a default is involved.
    File { path: PathBuf },
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

/// A value as it was given, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenValue {
    /// Its place.
    pub place: Place,
    /// Its dotted key.
    pub key: String,
    /// The value as written.
    pub value: String,
}

impl fmt::Display for GivenValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Set { .. } | Place::Argument { .. } => write!(f, "{}", self.place),
            place => write!(f, "{place}: {} = {}", self.key, self.value),
        }
    }
}

impl GivenValue {
    /// The error of a value that is not what is expected.
    pub(super) fn refused(
        self,
        expected: impl Into<String>,
        remedy: impl Into<String>,
    ) -> CaseError {
        let (expected, remedy) = (expected.into(), remedy.into());
        CaseError::Invalid { found: Box::new(self), expected, remedy }
    }
}

/// Places of the keys that a case was given, for messages about values that only a later layer can judge.
/// Any two are equal: a case is the same wherever it is written.
#[derive(Debug, Clone, Default)]
pub struct Places {
    pub(super) path: PathBuf,
    /// Prefix of a key in messages: `element.flap.`; empty for a case of one section.
    pub(super) within: String,
    /// The keys that place its section.
    pub(super) placing: Placing,
    /// Keys, and sections within sections, that the file or an override gives.
    pub(super) given: BTreeMap<&'static str, GivenValue>,
}

impl Places {
    /// Whether the key or the section is given.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.given.contains_key(key)
    }

    /// The value at the first of these dotted keys that is given, or within it; the case file if none is.
    pub(super) fn found(&self, keys: &[&str]) -> GivenValue {
        let given = keys.iter().find_map(|key| self.given.get(*key));
        let within = |name: &&str| self.given.iter().find(|(key, _)| among(key, &[name]));
        let found = given.or_else(|| keys.iter().find_map(within).map(|(_, found)| found));
        found.cloned().unwrap_or_else(|| GivenValue {
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

    /// Returns true if the case is that of one of several elements.
    pub(super) fn is_element(&self) -> bool {
        self.placing != Placing::Section
    }

    /// Place of the first of these dotted keys that is given; the case file if none is.
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

errors! {
    /// A case that cannot be run as it is written.
    #[derive(Debug, thiserror::Error)]
    #[class(Input)]
    pub enum CaseError {
        #[error("{}: {}", path.display(), unreadable(source))]
        #[hint = match source.kind() {
            ErrorKind::NotFound => Some("check the path of the case file".into()),
            ErrorKind::IsADirectory => Some("name the case file in the folder".into()),
            _ => None,
        }]
        Unreadable { path: PathBuf, source: io::Error },
        #[error("{place}: expected {expected}, found {found}")]
        #[hint("{remedy}")]
        NoCase { place: Place, expected: &'static str, found: String, remedy: &'static str },
        /// `line`: line, from 1.
        /// `column`: character in the line, from 1.
        #[error("{}:{line}:{column}: not TOML: {message}", path.display())]
        #[hint("{}", not_toml(path, message))]
        Syntax { path: PathBuf, line: usize, column: usize, message: String },
        #[error("{place}: unknown {}", kind(*section, name))]
        #[hint("{}", meant(*section, *nearest, known))]
        Unknown {
            place: Box<Place>,
            section: bool,
            name: String,
            nearest: Option<&'static str>,
            known: Vec<&'static str>,
        },
        #[error("{place}: several elements, a case of one section was expected")]
        #[hint(
            "use gridgen CASE.toml, gridgen run, gridgen check or make_assembly, or give the elements one by one, each \
             as a case of its own"
        )]
        Elements { place: Box<Place> },
        #[error("{place}: there is no element {name}")]
        #[hint("the elements are {}", named(known).join(", "))]
        NoElement { place: Box<Place>, name: String, known: Vec<String> },
        #[error("{place}: {} have this name", keys.join(" and "))]
        #[hint("name the section too")]
        Ambiguous { place: Box<Place>, keys: Vec<&'static str> },
        /// A value has the wrong type, is out of range or does not go with others.
        #[error("{found}: expected {expected}")]
        #[hint("{remedy}")]
        Invalid { found: Box<GivenValue>, expected: String, remedy: String },
        #[error("{found}: {problem}: {}", path.display())]
        #[hint("{remedy}")]
        AirfoilFile { found: Box<GivenValue>, path: PathBuf, problem: &'static str, remedy: String },
        #[error("{found}: excluded by {other}, which is given too")]
        #[hint("keep either {} or {other}", found.key)]
        Conflict { found: Box<GivenValue>, other: &'static str },
        #[error("{found}: needs {other}, which is not given")]
        #[hint("add {other}, or leave {} out", found.key)]
        Incomplete { found: Box<GivenValue>, other: &'static str },
        #[error("{}: {key} is missing", path.display())]
        #[hint("{}", missing(key))]
        Missing { path: PathBuf, key: String },
        /// Several errors of one case, in the order in which they are found; none is of this variant.
        #[error("{} errors{}", errors.len(), each(errors))]
        #[hint = None]
        Several { errors: Vec<CaseError> },
    }
}

/// The errors below each other, each with its hint.
fn each(errors: &[CaseError]) -> String {
    let hint = |error: &CaseError| {
        error.hint().map_or_else(String::new, |hint| format!("\n    hint: {hint}"))
    };
    let line = |error: &CaseError| format!("\n  {error}{}", hint(error));
    errors.iter().map(line).collect::<Vec<_>>().concat()
}

/// Collects the errors of the parts of a case that do not depend on each other.
#[derive(Default)]
pub(super) struct Found(Vec<CaseError>);

impl Found {
    /// The value; an error is kept.
    pub(super) fn keep<T>(&mut self, result: Result<T, CaseError>) -> Option<T> {
        match result {
            Ok(value) => return Some(value),
            Err(CaseError::Several { errors }) => self.0.extend(errors),
            Err(error) => self.0.push(error),
        }
        None
    }

    /// The value where no error was kept, else all errors as one.
    pub(super) fn end<T>(mut self, value: Option<T>) -> Result<T, CaseError> {
        // A key that all elements have is wrong once.
        let mut seen = BTreeSet::new();
        self.0.retain(|error| seen.insert(error.to_string()));
        match (value, self.0.len()) {
            (Some(value), 0) => Ok(value),
            (_, 1) => Err(self.0.remove(0)),
            _ => Err(CaseError::Several { errors: self.0 }),
        }
    }
}

fn kind(section: bool, name: &str) -> String {
    if section { format!("section [{name}]") } else { format!("key {name}") }
}

/// The known name that is nearest to an unknown one, or all known names.
fn meant(section: bool, nearest: Option<&str>, known: &[&str]) -> String {
    match (nearest, section) {
        (Some(nearest), true) => format!("did you mean [{nearest}]?"),
        (Some(nearest), false) => format!("did you mean {nearest}?"),
        (None, true) => format!("the sections are {}", known.join(", ")),
        (None, false) if known.is_empty() => "docs/case-format.md lists all keys".into(),
        (None, false) => format!("the keys here are {}", known.join(", ")),
    }
}

/// The names of the elements that have one.
fn named(elements: &[String]) -> Vec<&str> {
    elements.iter().map(String::as_str).filter(|name| !name.is_empty()).collect()
}

fn missing(key: &str) -> String {
    if key.starts_with("geometry") {
        return "the smallest case is two lines: [geometry] and naca = \"2412\"".into();
    }
    format!("add {key}")
}

fn not_toml(path: &Path, message: &str) -> &'static str {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    if message.contains("escape") {
        BACKSLASH
    } else if matches!(extension.as_deref(), Some("dat" | "txt" | "csv")) {
        "if this is a file of coordinates, name it by geometry.file in a case file"
    } else {
        "put text in quotes, sections in [brackets], and each key once: key = value"
    }
}

fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such case file".into(),
        ErrorKind::IsADirectory => "expected a case file, found a folder".into(),
        _ => format!("cannot read the case file: {error}"),
    }
}
