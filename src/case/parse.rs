//! From TOML to entries, each with where it stands: the values of a case file, and those that replace them, by
//! `--set` and the keys of `gridgen solve`.

use std::ops::Range;
use std::path::Path;

use toml_edit::{Document, InlineTable, Item, TableLike, Value};

use super::entries::{ELEMENT, Given, SINGLE, UNNAMED, unknown, unknown_key, unknown_section};
use super::error::{CaseError, Found, GivenValue, Place, among};
use super::schema::{Key, KeyKind};
use super::table::{self, is_nested, keys, sections};
use crate::diagnostics::excerpt;

/// Most elements of a case: each is compared with each other one.
const MOST_ELEMENTS: usize = 1000;

impl Given {
    /// Reads `text`, the contents of the case file `path`.
    pub(super) fn read(text: &str, path: &Path) -> Result<Self, CaseError> {
        let document = Document::parse(text).map_err(|error| syntax_error(&error, text, path))?;
        let mut entries = Self::none(path, "");
        entries.read_table("", document.as_table(), &TableSource::File(text))?;
        Ok(entries)
    }

    /// Reads the keys of a section, and the sections within it.
    fn read_table(
        &mut self,
        within: &str,
        table: &dyn TableLike,
        source: &TableSource<'_>,
    ) -> Result<(), CaseError> {
        let mut found = Found::default();
        for (name, item) in table.iter() {
            found.keep(self.read_item(within, (table, name), item, source));
        }
        found.end(Some(()))
    }

    /// Reads a key or a section of a table.
    fn read_item(
        &mut self,
        within: &str,
        (table, name): (&dyn TableLike, &str),
        item: &Item,
        source: &TableSource<'_>,
    ) -> Result<(), CaseError> {
        let span = span_of(table, name, item);
        let top = within.is_empty();
        let path = if top { name.to_owned() } else { [within, ".", name].concat() };
        if path == ELEMENT {
            return self.read_elements(item, source);
        }
        if let Some(section) = sections().find(|section| *section == path) {
            let found = self.found(source, section, span, item);
            let Some(table) = item.as_table_like() else {
                let remedy = "in single brackets, once, and its keys below it";
                let remedy = format!("write [{}] {remedy}", found.key);
                return Err(found.refused("a section", remedy));
            };
            self.places.given.insert(section, found);
            return self.read_table(section, table, source);
        }
        let Some(key) = table::find(&path).filter(|key| top == key.section().is_empty()) else {
            let place = self.place(source, span);
            let section = top && item.is_table_like();
            return Err(if section {
                unknown_section(name, place)
            } else {
                unknown_key(&path, place)
            });
        };
        let found = self.found(source, &path, span, item);
        // A table in place of a value converts to an inline table, which no key accepts.
        let value = item.clone().into_value().unwrap_or_else(|_| InlineTable::new().into());
        self.insert(key, &value, found)
    }

    /// Reads the elements: a list of tables, each with keys of its own and sections of a case.
    pub(super) fn read_elements(
        &mut self,
        item: &Item,
        source: &TableSource<'_>,
    ) -> Result<(), CaseError> {
        let items: Vec<Item> = match item {
            Item::ArrayOfTables(tables) => tables.iter().cloned().map(Item::Table).collect(),
            Item::Value(Value::Array(values)) => values.iter().cloned().map(Item::Value).collect(),
            _ => Vec::new(),
        };
        let span = item.span().unwrap_or_default();
        let tables: Option<Vec<&dyn TableLike>> = items.iter().map(Item::as_table_like).collect();
        let found = || self.found(source, ELEMENT, span, item);
        let Some(tables) = tables.filter(|tables| !tables.is_empty()) else {
            let remedy =
                "write [[element]] in double brackets for each element, and its keys below it";
            return Err(found().refused("elements", remedy));
        };
        if tables.len() > MOST_ELEMENTS {
            let expected = format!("at most {MOST_ELEMENTS} elements");
            return Err(found().refused(expected, "make several cases of it"));
        }
        let mut errors = Found::default();
        for (number, (item, table)) in items.iter().zip(tables).enumerate() {
            let name = table.get("name").and_then(Item::as_str).map(str::to_owned);
            let name = name.unwrap_or_else(|| (number + 1).to_string());
            let mut own = Self::none(&self.places.path, &["element.", &name, "."].concat());
            let found = own.found(source, ELEMENT, item.span().unwrap_or_default(), item);
            own.places.given.insert(ELEMENT, found);
            for (name, item) in table.iter() {
                if SINGLE.contains(&name) {
                    let span = span_of(table, name, item);
                    let found = own.found(source, name, span, item);
                    let expected = format!("[{name}] at the top of the file, for all elements");
                    errors.keep::<()>(Err(found.refused(expected, "move it there")));
                    continue;
                }
                let shared = !is_nested(name) && sections().any(|s| s == name) && name != ELEMENT;
                let within = if shared { "" } else { ELEMENT };
                errors.keep(own.read_item(within, (table, name), item, source));
            }
            self.elements.push(own);
        }
        errors.end(Some(()))
    }

    /// The value at a key, shown as written, its first line and not too much of it.
    fn found(
        &self,
        source: &TableSource<'_>,
        key: &str,
        span: Range<usize>,
        item: &Item,
    ) -> GivenValue {
        let written = match (item.as_value(), source) {
            (Some(value), TableSource::File(text)) => {
                text.get(value.span().unwrap_or_default()).unwrap_or_default().to_owned()
            }
            (Some(value), TableSource::Argument(_)) => value.to_string(),
            (None, _) if item.is_array_of_tables() => "a list of tables".to_owned(),
            (None, _) => "a table".to_owned(),
        };
        let (place, key) = (self.place(source, span), self.places.shown(key));
        GivenValue { place, key, value: excerpt(&written) }
    }

    fn place(&self, source: &TableSource<'_>, span: Range<usize>) -> Place {
        match source {
            TableSource::File(text) => {
                let line = line_of(text.as_bytes(), span.start);
                Place::Line { path: self.places.path.clone(), line }
            }
            TableSource::Argument(place) => place.clone(),
        }
    }
}

/// The origin of tables.
pub(super) enum TableSource<'a> {
    /// The text of a case file, in which lines and values are found.
    File(&'a str),
    /// An argument of a call.
    Argument(Place),
}

pub(super) fn line_of(text: &[u8], position: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', text.get(..position).unwrap_or_default()).count()
}

/// Place of a key; the start of its section for a section defined by its members.
fn span_of(table: &dyn TableLike, name: &str, item: &Item) -> Range<usize> {
    let key = table.get_key_value(name).and_then(|(key, _)| key.span());
    key.or_else(|| item.span()).unwrap_or_default()
}

fn syntax_error(error: &toml_edit::TomlError, text: &str, path: &Path) -> CaseError {
    let start = error.span().map_or(0, |span| span.start).min(text.len());
    let before = text.get(..start).unwrap_or(text);
    let column = 1 + before.rsplit('\n').next().map_or(0, |line| line.chars().count());
    CaseError::Syntax {
        path: path.into(),
        line: line_of(text.as_bytes(), start),
        column,
        message: error.message().lines().collect::<Vec<_>>().join(" "),
    }
}

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
