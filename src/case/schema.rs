//! The kinds of keys that a case file has, the check of single values, suggestions for misspelt words, and the macro
//! that declares a table of keys and the options that hold their values.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IntoDeserializer};
use toml_edit::Value;

use super::piece::{PieceOptions, SHAPE, SIDE_KINDS};
use crate::geometry::{Cluster, Heights};

/// One key of a case file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// Dotted path, `grid.ni` or, of a section within another, `geometry.flap.hinge`; a name at the top of the file.
    pub path: &'static str,
    /// Type and range of the value.
    pub kind: KeyKind,
    /// Value of a key that is left out.
    pub default: Preset,
    /// Unit of the value, empty for pure numbers and words.
    pub unit: &'static str,
    /// Meaning of the key, in full sentences.
    pub meaning: &'static str,
}

impl Key {
    /// Section of the key, dotted where it is within another; empty at the top of the file.
    pub fn section(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// Name within the section.
    pub fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }
}

/// Type and range of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KeyKind {
    /// Text on one line, not blank.
    Text,
    /// Path of a file, relative to the case file.
    Path,
    /// `true` or `false`.
    Flag,
    /// An integer, both ends included.
    #[allow(missing_docs, reason = "the ends of a range")]
    Integer { min: i64, max: i64 },
    /// A finite real number.
    #[allow(missing_docs, reason = "the ends of a range")]
    Real { low: Bound, high: Bound },
    /// A height greater than 0 and less than 1e6, or heights along the wall.
    Heights,
    /// A point `[x, y]`.
    Point,
    /// A list of points `[x, y]`.
    Points,
    /// A box `[x_min, x_max, y_min, y_max]`.
    Box,
    /// A list of clusters `{ x, spacing, surface }`.
    Clusters,
    /// A list of pieces of the outer line.
    Pieces,
    /// One of the words.
    Word(&'static [&'static str]),
    /// A list of at least one of the words, each at most once.
    Words(&'static [&'static str]),
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => write!(f, "text in quotes"),
            Self::Path => write!(f, "a path in quotes"),
            Self::Flag => write!(f, "true or false"),
            Self::Integer { min, max } => write!(f, "an integer from {min} to {max}"),
            Self::Real { low, high } => {
                let least = if low.open { "greater than" } else { "at least" };
                let most = if high.open { "less than" } else { "at most" };
                let [low, high] = [low, high].map(|bound| number(bound.value));
                write!(f, "a number {least} {low} and {most} {high}")
            }
            Self::Heights => f.write_str(
                "a height greater than 0 and less than 1e6, or a list of heights along the wall",
            ),
            Self::Point => write!(f, "a point [x, y]"),
            Self::Points => write!(f, "a list of points [x, y]"),
            Self::Box => write!(f, "a box [x_min, x_max, y_min, y_max]"),
            Self::Clusters => write!(f, "a list of clusters {CLUSTER}"),
            Self::Pieces => write!(f, "a list of pieces {SHAPE}"),
            Self::Word([word]) => write!(f, "\"{word}\""),
            Self::Word(words) => write!(f, "one of {}", quoted(words)),
            Self::Words(words) => write!(f, "a list of {}", quoted(words)),
        }
    }
}

/// A cluster in messages.
const CLUSTER: &str = "{ x = 0.6, spacing = 2e-3, surface = \"upper\" }";

/// The condition on a side of a box.
pub(super) const SIDES: KeyKind = KeyKind::Word(SIDE_KINDS);

/// End of a range of real numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The end.
    pub value: f64,
    /// Whether it does not belong to the range.
    pub open: bool,
}

/// Value of a key that is left out.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "values of that type")]
pub enum Preset {
    /// Nothing: the key is then not set.
    Unset,
    /// A value computed from other keys, described in words.
    Derived(&'static str),
    Integer(i64),
    Real(f64),
    Flag(bool),
    Word(&'static str),
    Words(&'static [&'static str]),
}

impl Preset {
    /// The default as a TOML value; none where it is unset or computed from other keys.
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
        match (self, self.value()) {
            (Self::Derived(rule), _) => f.write_str(rule),
            (Self::Real(value), _) => f.write_str(&number(*value)),
            (_, Some(value)) => write!(f, "{value}"),
            (_, None) => f.write_str("not set"),
        }
    }
}

/// A number as people write it: `0.05`, `15`, `1e-10`.
pub(super) fn number(value: f64) -> String {
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

/// The remedy for text with characters that TOML made of backslashes.
pub(super) const BACKSLASH: &str =
    "a backslash between double quotes begins an escape: separate folders by /";

/// Converts a value to the type of its key; the error is a remedy.
pub(super) fn check(key: &Key, value: &Value) -> Result<toml::Value, String> {
    match (key.kind, value) {
        (KeyKind::Text | KeyKind::Path, Value::String(text)) => {
            let text = text.value();
            let escaped = text.chars().any(char::is_control);
            let remedy = || if escaped { BACKSLASH.into() } else { default_of(key) };
            let fits = !text.trim().is_empty() && !escaped;
            fits.then(|| text.as_str().into()).ok_or_else(remedy)
        }
        (KeyKind::Text | KeyKind::Path, _) => {
            let example = if key.kind == KeyKind::Path { "airfoil.dat" } else { "2412" };
            Err(format!("put the text in quotes: {} = \"{example}\"", key.name()))
        }
        (KeyKind::Flag, Value::Boolean(flag)) => Ok((*flag.value()).into()),
        (KeyKind::Flag, _) => Err("write true or false, without quotes".into()),
        (KeyKind::Integer { min, max }, Value::Integer(given)) => {
            let fits = (min..=max).contains(given.value());
            fits.then(|| (*given.value()).into()).ok_or_else(|| default_of(key))
        }
        (KeyKind::Integer { .. }, Value::Float(_)) => {
            Err("write a whole number, without point or exponent".into())
        }
        (KeyKind::Integer { .. }, _) => Err("write a whole number, without quotes".into()),
        (KeyKind::Real { low, high }, Value::Float(_) | Value::Integer(_)) => {
            let whole = value.as_integer().map(|whole| whole as f64);
            let given = value.as_float().or(whole).unwrap_or(f64::NAN);
            // Written so that NaN fails.
            let above = if low.open { given > low.value } else { given >= low.value };
            let below = if high.open { given < high.value } else { given <= high.value };
            (above && below).then(|| given.into()).ok_or_else(|| default_of(key))
        }
        (KeyKind::Real { .. }, _) => Err("write a number, without quotes".into()),
        (KeyKind::Heights, Value::Array(_) | Value::InlineTable(_)) => {
            read_as(value, Heights::fit).ok_or_else(|| format!("write {HEIGHTS}"))
        }
        (KeyKind::Heights, _) => {
            let [low, high] = [0.0, 1e6].map(|value| Bound { value, open: true });
            check(&Key { kind: KeyKind::Real { low, high }, ..*key }, value)
        }
        (KeyKind::Point, _) => point(value),
        (KeyKind::Points, Value::Array(given)) => {
            given.iter().map(point).collect::<Result<Vec<_>, _>>().map(toml::Value::from)
        }
        (KeyKind::Points, _) => {
            Err("put the points in brackets: [[1.0, 0.0], [0.98, 0.01], …]".into())
        }
        (KeyKind::Box, _) => {
            let holds = |[x0, x1, y0, y1]: &[f64; 4]| {
                x0 < x1 && y0 < y1 && [x0, x1, y0, y1].iter().all(|c| c.abs() < 1e6)
            };
            let remedy =
                || "give four finite numbers, x_min below x_max and y_min below y_max".into();
            read_as(value, holds).ok_or_else(remedy)
        }
        (KeyKind::Clusters, _) => {
            let range =
                "x from 0 to 1, spacing above 0 to 0.1, surface \"upper\", \"lower\" or none";
            let fit = |all: &Vec<Cluster>| all.iter().all(Cluster::fits);
            read_as(value, fit).ok_or_else(|| format!("write [{CLUSTER}], each with {range}"))
        }
        (KeyKind::Pieces, _) => pieces(value),
        (KeyKind::Word(words), _) => word(key, value, words).map(toml::Value::from),
        (KeyKind::Words(words), Value::Array(given)) => {
            let mut chosen = Vec::new();
            for item in given {
                let item = word(key, item, words)?;
                if chosen.contains(&item) {
                    return Err(format!("name \"{item}\" once"));
                }
                chosen.push(item);
            }
            if chosen.is_empty() {
                Err("name at least one of them".into())
            } else {
                Ok(chosen.into())
            }
        }
        (KeyKind::Words(_), _) => {
            Err(format!("put the words in brackets: {} = {}", key.name(), key.default))
        }
    }
}

/// The ways to write heights along the wall.
const HEIGHTS: &str = "[[0.0, 1e-5], [1.0, 4e-5]], x/c rising, { upper = [[0.0, 1e-5]], lower = [[0.0, 2e-5]] }, or \
                       [1e-5, 1.1e-5, …] with a height for each point of the wall";

/// A value of several numbers, which is read as a `T` that fits.
fn read_as<T: DeserializeOwned>(value: &Value, fits: impl Fn(&T) -> bool) -> Option<toml::Value> {
    let value = toml::Value::deserialize(value.clone().into_deserializer()).ok()?;
    value.clone().try_into().is_ok_and(|read| fits(&read)).then_some(value)
}

/// A list of pieces that fit, each by itself.
fn pieces(value: &Value) -> Result<toml::Value, String> {
    let Some(items) = value.as_array().filter(|items| !items.is_empty()) else {
        let remedy =
            "write [[domain.piece]] in double brackets for each piece, and its keys below it";
        return Err(remedy.into());
    };
    let read = |item: &Value| {
        let value = toml::Value::deserialize(item.clone().into_deserializer())
            .map_err(|error| error.message().to_owned())?;
        let kind = value.get("kind").and_then(toml::Value::as_str);
        if let Some(kind) = kind.filter(|kind| !SIDE_KINDS.contains(kind)) {
            let near = nearest(kind, SIDE_KINDS.iter().copied());
            let near = near.map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
            let kinds = SIDE_KINDS.join(", ");
            return Err(format!("kind = \"{kind}\" is none of {kinds}{near}"));
        }
        let piece = PieceOptions::deserialize(value.clone());
        piece.map_err(|error| error.message().to_owned())?.fits().map(|()| value)
    };
    let numbered = items.iter().enumerate().map(|(number, item)| {
        read(item).map_err(|problem| {
            format!("piece {}: {}", number + 1, problem.trim().replace('\n', " "))
        })
    });
    numbered.collect::<Result<Vec<_>, _>>().map(toml::Value::from)
}

fn point(value: &Value) -> Result<toml::Value, String> {
    let finite = |point: &[f64; 2]| point.iter().all(|number| number.is_finite());
    let given = value.to_string();
    let remedy = || format!("give each point as two finite numbers, not as {}", given.trim());
    read_as(value, finite).ok_or_else(remedy)
}

fn word(key: &Key, value: &Value, words: &[&'static str]) -> Result<&'static str, String> {
    let Value::String(given) = value else { return Err("put the word in quotes".into()) };
    words.iter().copied().find(|word| word == given.value()).ok_or_else(|| {
        nearest(given.value(), words.iter().copied())
            .map_or_else(|| default_of(key), |word| format!("did you mean \"{word}\"?"))
    })
}

/// A text of the reference page without its quotation of code.
pub(super) fn plain(text: &str) -> String {
    text.replace('`', "")
}

/// The remedy where only the user knows better: the default, or what the key means.
fn default_of(key: &Key) -> String {
    let remedy = match key.default {
        Preset::Unset => key.meaning.to_owned(),
        default => format!("leave {} out for the default: {default}", key.path),
    };
    // The texts are written for the reference page.
    plain(&remedy)
}

/// The value of a bound relation, for messages.
pub(super) fn shown(value: f64) -> String {
    if value == 0.0 { number(value) } else { number(rounded(value, 3)) }
}

/// A number with this many digits, as people write it.
pub(super) fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

/// Similarity (Jaro–Winkler, 1 for equal names) from which a name counts as a misspelling.
const SIMILAR: f64 = 0.8;

/// The candidate most similar to `name`, if one is similar enough. Case and hyphens do not count.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let name = plain(name);
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&name, &plain(candidate)), candidate))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

pub(super) const fn integer(min: i64, max: i64) -> KeyKind {
    KeyKind::Integer { min, max }
}

pub(super) const fn real(low: Bound, high: Bound) -> KeyKind {
    KeyKind::Real { low, high }
}

pub(super) const fn closed(value: f64) -> Bound {
    Bound { value, open: false }
}

pub(super) const fn open(value: f64) -> Bound {
    Bound { value, open: true }
}

/// Defines a list of sections, one of keys, and the options that hold the values of a section.
///
/// Sections and keys are in the order of the reference page and of the resolved case. A key reads `name: type = kind
/// and range, default, unit; meaning;`, with the type of its field in the options of its section, whose other fields
/// are in braces after their name. A key without a type is read, and not held there.
macro_rules! keys {
    ($(#[$sections_are:meta])* $sections:ident, $(#[$keys_are:meta])* $keys:ident, [$($first:expr)?];
    $($(#[derive($($derived:tt)*)])? $section:literal $(=> $Options:ident { $($more:tt)* })?: $about:literal {
        $(
            $name:ident $(: $Type:ty)? = $kind:expr, $default:expr, $unit:tt; $meaning:literal;
        )*
    })*) => {
        $(#[$sections_are])*
        pub const $sections: &[(&str, &str)] = &[$(($section, $about)),*];

        $(#[$keys_are])*
        pub const $keys: &[Key] = &[
            $($first,)?
            $($(Key {
                path: concat!($section, ".", stringify!($name)),
                kind: $kind,
                default: $default,
                unit: $unit,
                meaning: $meaning,
            },)*)*
        ];

        $($crate::case::schema::options! {
            $section, [$($Options { $($more)* } $($derived)*)?],
            $([$($Type)?] $name, $unit, $meaning;)*
        })*
    };
}

/// Defines the options of a section, if they have a name.
macro_rules! options {
    ($section:literal, [], $($keys:tt)*) => {};
    (
        $section:literal, [$Options:ident { $($more:tt)* } $($derived:tt)*],
        $([$($Type:ty)?] $name:ident, $unit:tt, $meaning:literal;)*
    ) => {
        #[doc = concat!("Section `[", $section, "]`.")]
        #[derive($($derived)*)]
        #[non_exhaustive]
        pub struct $Options {
            $($more)*
            $($(
                #[doc = concat!($meaning, $crate::case::schema::unit!($unit))]
                pub $name: $Type,
            )?)*
        }
    };
}

/// The unit of a key in the documentation of its field.
macro_rules! unit {
    ("") => {
        ""
    };
    ($unit:literal) => {
        concat!(" Unit: ", $unit, ".")
    };
}

pub(super) use {keys, options, unit};
