//! The kinds of keys a case file has: type, range, default, unit and meaning of each.
//!
//! One table, [`KEYS`], drives the checks of single values, the suggestions for unknown keys, the
//! resolved case and the reference page `docs/case-format.md`.

use std::fmt;

pub use super::keys::{KEYS, SECTIONS};

/// One key of a case file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// Dotted path, `section.name`, or the name alone at the top of the file. A section may stand
    /// in another: `geometry.flap.hinge`.
    pub path: &'static str,
    /// Type and range of the value.
    pub kind: Kind,
    /// What holds when the key is left out.
    pub default: Preset,
    /// Unit of the value, empty for pure numbers and words.
    pub unit: &'static str,
    /// What the key does, as full sentences.
    pub meaning: &'static str,
}

impl Key {
    /// Section the key stands in, dotted where it stands in another; empty at the top of the file.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// Name within the section.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }
}

/// Whether a section stands within another.
#[must_use]
pub fn is_nested(section: &str) -> bool {
    section.contains('.')
}

/// The key with this dotted path.
#[must_use]
pub fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// Type and range of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Text on one line, not blank.
    Text,
    /// Path of a file, relative to the case file.
    Path,
    /// `true` or `false`.
    Flag,
    /// An integer, both ends included.
    Integer {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// A finite real number.
    Real {
        /// Lower end.
        low: Bound,
        /// Upper end.
        high: Bound,
    },
    /// One of the words.
    Word(&'static [&'static str]),
    /// A list of at least one of the words, each at most once.
    Words(&'static [&'static str]),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => write!(f, "text in quotes"),
            Self::Path => write!(f, "a path in quotes"),
            Self::Flag => write!(f, "true or false"),
            Self::Integer { min, max } => write!(f, "an integer from {min} to {max}"),
            Self::Real { low, high } => {
                let low = match low {
                    Bound::Closed(value) => format!("at least {}", number(*value)),
                    Bound::Open(value) => format!("greater than {}", number(*value)),
                };
                let high = match high {
                    Bound::Closed(value) => format!("at most {}", number(*value)),
                    Bound::Open(value) => format!("less than {}", number(*value)),
                };
                write!(f, "a number {low} and {high}")
            }
            Self::Word([word]) => write!(f, "\"{word}\""),
            Self::Word(words) => write!(f, "one of {}", quoted(words)),
            Self::Words(words) => write!(f, "a list of {}", quoted(words)),
        }
    }
}

/// End of a range of real numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// The end belongs to the range.
    Closed(f64),
    /// The end does not belong to the range.
    Open(f64),
}

/// What holds when a key is left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Preset {
    /// Nothing: the key is then not set.
    Unset,
    /// A value computed from other keys, described in words.
    Derived(&'static str),
    /// An integer.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A flag.
    Flag(bool),
    /// A word.
    Word(&'static str),
    /// A list of words.
    Words(&'static [&'static str]),
}

impl Preset {
    /// The default as a TOML value; none where it is unset or computed from other keys.
    #[must_use]
    pub fn value(&self) -> Option<toml::Value> {
        match *self {
            Self::Unset | Self::Derived(_) => None,
            Self::Integer(value) => Some(value.into()),
            Self::Real(value) => Some(value.into()),
            Self::Flag(value) => Some(value.into()),
            Self::Word(word) => Some(word.into()),
            Self::Words(words) => Some(words.to_vec().into()),
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => write!(f, "not set"),
            Self::Derived(rule) => write!(f, "{rule}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Real(value) => write!(f, "{}", number(*value)),
            Self::Flag(value) => write!(f, "{value}"),
            Self::Word(word) => write!(f, "\"{word}\""),
            Self::Words(words) => write!(f, "[{}]", quoted(words)),
        }
    }
}

/// A number as people write it: `0.05`, `15`, `1e-10`.
#[must_use]
pub fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-3..1e5).contains(&magnitude) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}
