//! Values that replace those of a case file: `--set`, and the keys of `gridgen solve`.

use std::path::Path;

use toml_edit::Value;

use super::entries::{ELEMENT, Given, SINGLE, UNNAMED, unknown, unknown_key};
use super::error::{CaseError, Found, Place, among};
use super::schema::{Key, KeyKind};
use super::table::{self, keys};

impl Given {
    /// Keys of these sections alone, with their values in TOML.
    pub(super) fn of_sections(
        sections: &[&str],
        overrides: &[(String, String)],
    ) -> Result<Self, CaseError> {
        let within = |key: &str| key.split('.').next().is_some_and(|name| sections.contains(&name));
        if let Some((key, value)) = overrides.iter().find(|(key, _)| !within(key)) {
            let known = keys().map(|key| key.path).filter(|key| within(key)).collect();
            let place = Place::Set { key: key.clone(), value: value.clone() };
            return Err(unknown(key, place, false, (None, known)));
        }
        let mut entries = Self::read("", Path::new(UNNAMED))?;
        entries.replace(overrides)?;
        Ok(entries)
    }

    /// Replaces keys by these values in TOML; text may stand without quotes.
    pub(super) fn replace(&mut self, overrides: &[(String, String)]) -> Result<(), CaseError> {
        self.seal();
        let mut found = Found::default();
        for (path, value) in overrides {
            found.keep(self.replace_one(path, value));
        }
        found.end(Some(()))
    }

    fn replace_one(&mut self, path: &str, value: &str) -> Result<(), CaseError> {
        let place = Place::Set { key: path.to_owned(), value: value.to_owned() };
        let of_one = path.strip_prefix("element.").and_then(|rest| rest.split_once('.'));
        if let Some((name, path)) = of_one.filter(|_| !self.elements.is_empty()) {
            let known: Vec<String> = self.elements.iter().map(Self::element).collect();
            let Some(number) = known.iter().position(|known| known == name) else {
                let (place, name) = (Box::new(place), name.to_owned());
                return Err(CaseError::NoElement { place, name, known });
            };
            let own = [ELEMENT, ".", path].concat();
            let key = table::find(&own).or_else(|| table::find(path));
            let key = key.filter(|key| !among(key.path, &SINGLE) && key.path != "name");
            let key = key.ok_or_else(|| unknown_key(&own, place.clone()))?;
            let element = &mut self.elements[number];
            return element.set(key, &override_value(key, value), value, &place);
        }
        let key = table::find(path).filter(|key| !among(key.path, &[ELEMENT]));
        let key = key.ok_or_else(|| unknown_key(path, place.clone()))?;
        self.set(key, &override_value(key, value), value, &place)
    }
}

/// An override's value: TOML, or the text itself where the key holds text or where it is no TOML; for
/// a list of words, words between commas too.
fn override_value(key: &Key, text: &str) -> Value {
    let holds_text = matches!(key.kind, KeyKind::Text | KeyKind::Path | KeyKind::Word(_));
    let holds_words = matches!(key.kind, KeyKind::Words(_));
    match text.parse::<Value>() {
        Ok(value) if holds_words && !value.is_array() => listed(value.as_str().unwrap_or(text)),
        Ok(value) if value.is_str() || !holds_text => value,
        _ if holds_words => listed(text),
        // TOML has no `.5` and no `5.`.
        Err(_) if matches!(key.kind, KeyKind::Real { .. } | KeyKind::Heights) => {
            text.parse::<f64>().map_or_else(|_| Value::from(text), Value::from)
        }
        _ => Value::from(text),
    }
}

/// The words between the commas of a text, each with or without quotes, all with or without brackets.
fn listed(text: &str) -> Value {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let plain = |word: &str| word.trim().trim_matches(['"', '\'']).to_owned();
    // A comma may follow the last word, as in TOML.
    let inner = inner.trim();
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    let words = inner.split(',').map(plain).filter(|_| !inner.is_empty());
    Value::Array(words.collect())
}
