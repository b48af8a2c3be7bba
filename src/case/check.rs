//! Checks of a single value against its key's type and range.

use toml_edit::Value;

use super::docs::plain;
use super::schema::{Bound, Key, Kind, Preset, number};
use super::suggest::nearest;

/// Why a value does not fit its key.
pub(super) struct Mismatch {
    pub(super) expected: String,
    pub(super) remedy: String,
}

/// The value, converted to the type of its key.
pub(super) fn check(key: &Key, value: &Value) -> Result<toml::Value, Mismatch> {
    match key.kind {
        Kind::Text | Kind::Path => text(key, value),
        Kind::Flag => match value {
            Value::Boolean(flag) => Ok((*flag.value()).into()),
            _ => Err(wrong_type(key, "write true or false, without quotes")),
        },
        Kind::Integer { min, max } => integer(key, value, min, max),
        Kind::Real { low, high } => real(key, value, low, high),
        Kind::Word(words) => word(key, value, words).map(toml::Value::from),
        Kind::Words(words) => list(key, value, words),
    }
}

fn text(key: &Key, value: &Value) -> Result<toml::Value, Mismatch> {
    let example = if key.kind == Kind::Path { "airfoil.dat" } else { "2412" };
    let Value::String(text) = value else {
        return Err(wrong_type(
            key,
            &format!("put the text in quotes: {} = \"{example}\"", key.name()),
        ));
    };
    let text = text.value();
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        return Err(Mismatch {
            expected: "text on one line that is not blank".into(),
            remedy: default_of(key),
        });
    }
    Ok(text.as_str().into())
}

fn integer(key: &Key, value: &Value, min: i64, max: i64) -> Result<toml::Value, Mismatch> {
    match value {
        Value::Integer(given) if (min..=max).contains(given.value()) => Ok((*given.value()).into()),
        Value::Integer(_) => Err(out_of_range(key)),
        Value::Float(_) => Err(wrong_type(key, "write a whole number, without point or exponent")),
        _ => Err(wrong_type(key, "write a whole number, without quotes")),
    }
}

fn real(key: &Key, value: &Value, low: Bound, high: Bound) -> Result<toml::Value, Mismatch> {
    let given = match value {
        Value::Float(given) => *given.value(),
        Value::Integer(given) => *given.value() as f64,
        _ => return Err(wrong_type(key, "write a number, without quotes")),
    };
    // Written so that NaN fails.
    let above = match low {
        Bound::Closed(low) => given >= low,
        Bound::Open(low) => given > low,
    };
    let below = match high {
        Bound::Closed(high) => given <= high,
        Bound::Open(high) => given < high,
    };
    if above && below { Ok(given.into()) } else { Err(out_of_range(key)) }
}

fn word(key: &Key, value: &Value, words: &[&'static str]) -> Result<&'static str, Mismatch> {
    let Value::String(given) = value else {
        return Err(wrong_type(key, "put the word in quotes"));
    };
    words.iter().copied().find(|word| word == given.value()).ok_or_else(|| {
        let remedy = nearest(given.value(), words.iter().copied())
            .map_or_else(|| default_of(key), |word| format!("did you mean \"{word}\"?"));
        wrong_type(key, &remedy)
    })
}

fn list(key: &Key, value: &Value, words: &[&'static str]) -> Result<toml::Value, Mismatch> {
    let Value::Array(given) = value else {
        return Err(wrong_type(
            key,
            &format!("put the words in brackets: {} = {}", key.name(), key.default),
        ));
    };
    let mut chosen = Vec::new();
    for item in given {
        let item = word(key, item, words)?;
        if chosen.contains(&item) {
            return Err(wrong_type(key, &format!("name \"{item}\" once")));
        }
        chosen.push(item);
    }
    if chosen.is_empty() {
        return Err(wrong_type(key, "name at least one of them"));
    }
    Ok(chosen.into())
}

fn wrong_type(key: &Key, remedy: &str) -> Mismatch {
    Mismatch { expected: key.kind.to_string(), remedy: remedy.into() }
}

fn out_of_range(key: &Key) -> Mismatch {
    Mismatch { expected: key.kind.to_string(), remedy: default_of(key) }
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
    if value == 0.0 { number(value) } else { number(rounded(value)) }
}

/// Three significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}
