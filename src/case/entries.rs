//! From the bytes of a case file and the overrides to values, each checked against its key.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml_edit::{Document, InlineTable, Item, TableLike, Value};

use super::error::{CaseError, Found, Place, Places, among};
use super::schema::{
    self, KEYS, Key, Kind, SOURCES, check, is_nested, keys, nearest, nearest_key, sections,
};
use super::{Case, CaseFile};

/// Bytes that are read of a case file: a hundred times what any case needs.
const LIMIT: u64 = 1 << 20;

/// Keys of the first cell's height, and those that give it in wall units.
const HEIGHT: &[&str] = &["grid.first_cell"];
const WALL_UNITS: &[&str] = &["grid.y_plus", "grid.reynolds", "grid.reference_length"];

/// What stands for the case file in messages about arguments alone; its stem is the default name.
const UNNAMED: &str = "grid";

/// Characters of a value shown in a message.
const SHOWN: usize = 60;

/// Section of several elements.
const ELEMENT: &str = "element";

/// Sections of which a file has one, whatever it has elements.
const SINGLE: [&str; 3] = ["output", "background", "overset"];

impl CaseFile {
    /// Reads, checks and resolves the case file `path`.
    ///
    /// `overrides` are dotted keys with values in TOML, which replace those of the file; text may
    /// stand without quotes. An override drops the file's alternatives to its key: `geometry.file`
    /// drops `geometry.naca`, `grid.first_cell` drops `grid.y_plus` and `grid.reynolds`, and the
    /// other way round. Of several elements a key is that of all, or with its name that of one:
    /// `element.flap.grid.ni`, `element.flap.chord`.
    ///
    /// # Errors
    /// Whatever keeps the case from being run as written: see [`CaseError`].
    pub fn from_file(path: &Path, overrides: &[(String, String)]) -> Result<Self, CaseError> {
        Self::from_toml(&read_text(path)?, path, overrides)
    }

    /// Like [`Self::from_file`], with the text of the file at hand. `path` gives the name, the
    /// folder that relative paths start at, and the place in messages; it need not exist.
    ///
    /// # Errors
    /// See [`CaseError`].
    pub fn from_toml(
        text: &str,
        path: &Path,
        overrides: &[(String, String)],
    ) -> Result<Self, CaseError> {
        let mut entries = Entries::read(text, path)?;
        entries.seal();
        entries.replace(overrides)?;
        Self::resolve(&entries, path)
    }

    /// The case of a call: a case file or the keys of a `base`, and named arguments that replace keys of
    /// these as overrides do ([`Self::from_file`]).
    ///
    /// A name is that of a key (`"ni"`), with its section where several have such a key (`"grid.ni"`,
    /// `"flap.angle"`); an empty table opens the section of its name. `element` is a list of tables, as a file has
    /// them. Without a file relative paths start at the current folder, and the name of the
    /// case is `grid` unless it is given.
    ///
    /// # Errors
    /// See [`CaseError`]; [`CaseError::Ambiguous`] for a name that several keys have.
    pub fn from_arguments(
        file: Option<&Path>,
        base: &[(String, Value)],
        arguments: &[(String, Value)],
    ) -> Result<Self, CaseError> {
        let path = file.unwrap_or(Path::new(UNNAMED));
        let text = file.map_or_else(|| Ok(String::new()), read_text)?;
        let mut entries = Entries::read(&text, path)?;
        let numbered = base.iter().chain(arguments).enumerate();
        for (number, (name, value)) in numbered {
            if number == base.len() {
                entries.seal();
            }
            let shown = excerpt(value.to_string().trim());
            let place = Place::Argument { name: name.clone(), value: shown.clone() };
            if name == ELEMENT {
                entries.elements.clear();
                entries.read_elements(&Item::Value(value.clone()), &Source::Argument(place))?;
                continue;
            }
            let empty = value.as_inline_table().is_some_and(InlineTable::is_empty);
            if let Some(section) = schema::section_named(name).filter(|_| empty) {
                let found = Found { place, key: section.into(), value: shown };
                entries.places.given.insert(section, found);
                continue;
            }
            let key = match schema::named(name)[..] {
                [key] => key,
                [] => return Err(unknown_argument(name, place)),
                ref keys => {
                    let keys = keys.iter().map(|key| key.path).collect();
                    return Err(CaseError::Ambiguous { place: Box::new(place), keys });
                }
            };
            entries.set_for_all(key, value, &shown, &place)?;
        }
        Self::resolve(&entries, path)
    }
}

impl Case {
    /// The case of one section in the file `path`: see [`CaseFile::from_file`].
    ///
    /// # Errors
    /// See [`CaseError`]; [`CaseError::Elements`] where the file has several elements.
    pub fn from_file(path: &Path, overrides: &[(String, String)]) -> Result<Self, CaseError> {
        CaseFile::from_file(path, overrides)?.section()
    }

    /// The case of one section in a text: see [`CaseFile::from_toml`].
    ///
    /// # Errors
    /// As [`Self::from_file`].
    pub fn from_toml(
        text: &str,
        path: &Path,
        overrides: &[(String, String)],
    ) -> Result<Self, CaseError> {
        CaseFile::from_toml(text, path, overrides)?.section()
    }

    /// The case of one section of a call: see [`CaseFile::from_arguments`].
    ///
    /// # Errors
    /// As [`Self::from_file`].
    pub fn from_arguments(
        file: Option<&Path>,
        base: &[(String, Value)],
        arguments: &[(String, Value)],
    ) -> Result<Self, CaseError> {
        CaseFile::from_arguments(file, base, arguments)?.section()
    }
}

/// The text of a file that may be a case.
fn read_text(path: &Path) -> Result<String, CaseError> {
    String::from_utf8(read_bytes(path)?).map_err(|error| {
        let valid = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = line_of(&String::from_utf8_lossy(valid), valid.len());
        CaseError::NoCase {
            place: Place::Line { path: path.into(), line },
            expected: "UTF-8 text",
            found: "other bytes".into(),
            remedy: "save the file as UTF-8",
        }
    })
}

/// The bytes of a file that may be a case.
fn read_bytes(path: &Path) -> Result<Vec<u8>, CaseError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes))
        .map_err(|source| CaseError::Unreadable { path: path.into(), source })?;
    let (expected, found) = if bytes.len() as u64 > LIMIT {
        ("a case file", format!("more than {LIMIT} bytes"))
    } else if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
        ("a case file in text", format!("binary data at byte {offset}"))
    } else {
        return Ok(bytes);
    };
    let remedy = "a case file is a short text in TOML; coordinates go into a file of their own, named by \
                  geometry.file";
    Err(CaseError::NoCase { place: Place::File { path: path.into() }, expected, found, remedy })
}

/// All values that are given, each of the type its key has, and where they stand.
#[derive(Clone)]
pub(super) struct Entries {
    values: BTreeMap<&'static str, toml::Value>,
    pub(super) places: Places,
    /// The keys and sections of the file or the base, whose alternatives drop them.
    sealed: BTreeSet<&'static str>,
    /// What is given of each element.
    pub(super) elements: Vec<Entries>,
}

impl Entries {
    /// Reads `text`, the contents of the case file `path`.
    fn read(text: &str, path: &Path) -> Result<Self, CaseError> {
        let document = Document::parse(text).map_err(|error| syntax_error(&error, text, path))?;
        let mut entries = Self::none(path, "");
        entries.read_table("", document.as_table(), &Source::File { text, path })?;
        Ok(entries)
    }

    /// No keys of the file `path`, or within it of an element.
    fn none(path: &Path, within: &str) -> Self {
        let within = within.to_owned();
        let places = Places { path: path.to_path_buf(), within, given: BTreeMap::new() };
        let (values, sealed) = (BTreeMap::new(), BTreeSet::new());
        Self { values, places, sealed, elements: Vec::new() }
    }

    /// Keys of these sections alone, with their values in TOML.
    pub(super) fn of_sections(
        sections: &[&str],
        overrides: &[(String, String)],
    ) -> Result<Self, CaseError> {
        let within = |key: &str| key.split('.').next().is_some_and(|name| sections.contains(&name));
        if let Some((key, value)) = overrides.iter().find(|(key, _)| !within(key)) {
            return Err(unknown_key(key, Place::Set { key: key.clone(), value: value.clone() }));
        }
        let mut entries = Self::read("", Path::new(UNNAMED))?;
        entries.replace(overrides)?;
        Ok(entries)
    }

    /// Replaces keys by these values in TOML; text may stand without quotes.
    fn replace(&mut self, overrides: &[(String, String)]) -> Result<(), CaseError> {
        for (path, value) in overrides {
            let place = Place::Set { key: path.clone(), value: value.clone() };
            let of_one = path.strip_prefix("element.").and_then(|rest| rest.split_once('.'));
            if let Some((name, path)) = of_one.filter(|_| !self.elements.is_empty()) {
                let known: Vec<String> = self.elements.iter().map(Self::element).collect();
                let Some(number) = known.iter().position(|known| known == name) else {
                    let (place, name) = (Box::new(place), name.to_owned());
                    return Err(CaseError::NoElement { place, name, known });
                };
                let own = [ELEMENT, ".", path].concat();
                let key = schema::find(&own).or_else(|| schema::find(path));
                let key = key.filter(|key| !among(key.path, &SINGLE) && key.path != "name");
                let key = key.ok_or_else(|| unknown_key(&own, place.clone()))?;
                let element = &mut self.elements[number];
                element.set(key, &override_value(key, value), value.clone(), place)?;
                continue;
            }
            let key = schema::find(path).filter(|key| !among(key.path, &[ELEMENT]));
            let key = key.ok_or_else(|| unknown_key(path, place.clone()))?;
            self.set_for_all(key, &override_value(key, value), value, &place)?;
        }
        Ok(())
    }

    /// Puts one override in place, which is one of every element.
    fn set_for_all(
        &mut self,
        key: &'static Key,
        value: &Value,
        shown: &str,
        place: &Place,
    ) -> Result<(), CaseError> {
        if !among(key.path, &SINGLE) && !key.section().is_empty() {
            for element in &mut self.elements {
                element.set(key, value, shown.to_owned(), place.clone())?;
            }
        }
        self.set(key, value, shown.to_owned(), place.clone())
    }

    /// The name of the element whose entries these are, as it is given; empty where it is not.
    fn element(&self) -> String {
        let name = self.values.get("element.name").and_then(toml::Value::as_str);
        name.unwrap_or_default().to_owned()
    }

    /// The entries of an element with those that are given for all, where it has none of its own.
    pub(super) fn of_element(&self, element: &Self) -> Self {
        let mut all = Self { elements: Vec::new(), ..self.clone() };
        all.places.within.clone_from(&element.places.within);
        all.seal();
        for (path, found) in &element.places.given {
            all.places.given.insert(path, found.clone());
            if let Some(value) = element.values.get(path) {
                all.values.insert(path, value.clone());
            }
            all.drop_alternatives(path);
        }
        all
    }

    /// Reads the keys of a section, and the sections within it.
    fn read_table(
        &mut self,
        within: &str,
        table: &dyn TableLike,
        source: &Source<'_>,
    ) -> Result<(), CaseError> {
        table
            .iter()
            .try_for_each(|(name, item)| self.read_item(within, (table, name), item, source))
    }

    /// Reads a key or a section of a table.
    fn read_item(
        &mut self,
        within: &str,
        (table, name): (&dyn TableLike, &str),
        item: &Item,
        source: &Source<'_>,
    ) -> Result<(), CaseError> {
        let span = span_of(table, name, item);
        let top = within.is_empty();
        let path = if top { name.to_owned() } else { [within, ".", name].concat() };
        if path == ELEMENT {
            return self.read_elements(item, source);
        }
        if let Some(section) = sections().find(|section| *section == path) {
            let found = self.found(source, section, span, item);
            let Some(table) = item.as_table_like() else { return Err(not_a_section(found)) };
            self.places.given.insert(section, found);
            return self.read_table(section, table, source);
        }
        let Some(key) = schema::find(&path).filter(|key| top == key.section().is_empty()) else {
            let place = source.place(span);
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
    fn read_elements(&mut self, item: &Item, source: &Source<'_>) -> Result<(), CaseError> {
        let of_array = |item: &Item| -> Option<Vec<Item>> {
            let values = item.as_array()?.iter().map(|value| Item::Value(value.clone()));
            Some(values.collect())
        };
        let of_tables = |item: &Item| -> Option<Vec<Item>> {
            let tables = item.as_array_of_tables()?.iter().map(|table| Item::Table(table.clone()));
            Some(tables.collect())
        };
        let items = of_tables(item).or_else(|| of_array(item)).unwrap_or_default();
        let span = item.span().unwrap_or_default();
        let tables: Option<Vec<&dyn TableLike>> = items.iter().map(Item::as_table_like).collect();
        let Some(tables) = tables.filter(|tables| !tables.is_empty()) else {
            let found = Box::new(self.found(source, ELEMENT, span, item));
            let remedy =
                "write [[element]] in double brackets for each element, and its keys below it";
            return Err(CaseError::Invalid {
                found,
                expected: "elements".into(),
                remedy: remedy.into(),
            });
        };
        for (number, (item, table)) in items.iter().zip(tables).enumerate() {
            let name = table.get("name").and_then(Item::as_str).map(str::to_owned);
            let name = name.unwrap_or_else(|| (number + 1).to_string());
            let mut own = Self::none(&self.places.path, &["element.", &name, "."].concat());
            let found = own.found(source, ELEMENT, item.span().unwrap_or_default(), item);
            own.places.given.insert(ELEMENT, found);
            for (name, item) in table.iter() {
                if SINGLE.contains(&name) {
                    let span = span_of(table, name, item);
                    let found = Box::new(own.found(source, name, span, item));
                    let expected = format!("[{name}] at the top of the file, for all elements");
                    let remedy = "move it there".to_owned();
                    return Err(CaseError::Invalid { found, expected, remedy });
                }
                let shared = !is_nested(name) && sections().any(|s| s == name) && name != ELEMENT;
                let within = if shared { "" } else { ELEMENT };
                own.read_item(within, (table, name), item, source)?;
            }
            self.elements.push(own);
        }
        Ok(())
    }

    /// What stands at a key of these entries.
    fn found(&self, source: &Source<'_>, key: &str, span: Range<usize>, item: &Item) -> Found {
        Found { key: self.places.shown(key), ..source.found(key, span, item) }
    }

    fn insert(&mut self, key: &'static Key, value: &Value, found: Found) -> Result<(), CaseError> {
        match check(key, value) {
            Ok(value) => {
                self.values.insert(key.path, value);
                self.places.given.insert(key.path, found);
                Ok(())
            }
            Err(remedy) => {
                let is_blank = value.is_str() && matches!(key.kind, Kind::Text | Kind::Path);
                let text = is_blank.then(|| "text on one line that is not blank".to_owned());
                let expected = text.unwrap_or_else(|| key.kind.to_string());
                Err(CaseError::Invalid { found: Box::new(found), expected, remedy })
            }
        }
    }

    /// Ends the file or the base: what follows replaces its keys.
    fn seal(&mut self) {
        self.sealed = self.places.given.keys().copied().collect();
        self.elements.iter_mut().for_each(Self::seal);
    }

    /// Puts one override in place: it replaces the key, and drops the file's alternatives to it.
    fn set(
        &mut self,
        key: &'static Key,
        value: &Value,
        shown: String,
        place: Place,
    ) -> Result<(), CaseError> {
        let found = Found { place, key: self.places.shown(key.path), value: shown };
        self.insert(key, value, found)?;
        self.drop_alternatives(key.path);
        Ok(())
    }

    /// Drops what the file or the base has in place of a key or section that is given after it.
    fn drop_alternatives(&mut self, path: &'static str) {
        let others = if among(path, &SOURCES) {
            SOURCES.iter().copied().filter(|source| !among(path, &[source])).collect()
        } else if among(path, HEIGHT) {
            WALL_UNITS.to_vec()
        } else if among(path, WALL_UNITS) {
            HEIGHT.to_vec()
        } else {
            return;
        };
        self.sealed.remove(path);
        let (given, sealed) = (&mut self.places.given, &self.sealed);
        given.retain(|key, _| !(among(key, &others) && sealed.contains(key)));
        self.values.retain(|key, _| given.contains_key(key));
    }

    /// Puts a value in place that follows from another key, where that stands.
    pub(super) fn derive(&mut self, path: &'static str, value: toml::Value, from: &str) {
        self.values.insert(path, value);
        if let Some(found) = self.places.given.get(from).cloned() {
            self.places.given.insert(path, found);
        }
    }

    /// Whether a section within a section stands in the file or has a key that is given.
    pub(super) fn opens(&self, section: &str) -> bool {
        self.places.given.keys().any(|key| among(key, &[section]))
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.values.contains_key(path)
    }

    /// The key's value, given or default.
    pub(super) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, CaseError> {
        let default = || schema::find(path).and_then(|key| key.default.value());
        let given = self.values.get(path).cloned();
        let value = given.or_else(default).ok_or_else(|| self.missing(path))?;
        value.try_into().map_err(|error| self.misread(path, &error))
    }

    pub(super) fn given<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, CaseError> {
        if self.has(path) { self.get(path).map(Some) } else { Ok(None) }
    }

    /// A section: every key that is given, and of the others the defaults, those that follow from other
    /// keys being the `rules`, by name.
    pub(super) fn section<T: DeserializeOwned>(
        &self,
        section: &str,
        rules: &[(&str, toml::Value)],
    ) -> Result<T, CaseError> {
        let mut table = toml::Table::new();
        for key in keys().filter(|key| key.section() == section) {
            let given = self.values.get(key.path);
            let rule = || rules.iter().find(|(name, _)| *name == key.name()).map(|(_, rule)| rule);
            let value = given.or_else(rule).cloned().or_else(|| key.default.value());
            table.extend(value.map(|value| (key.name().to_owned(), value)));
        }
        table.try_into().map_err(|error| self.misread(section, &error))
    }

    /// The error of a value that fits its key, but not what it is for.
    fn misread(&self, path: &str, error: &toml::de::Error) -> CaseError {
        self.refuse(&[path], error.message(), "see docs/case-format.md")
    }

    /// An error at the first of the keys that is given.
    pub(super) fn refuse(
        &self,
        paths: &[&str],
        expected: impl Into<String>,
        remedy: impl Into<String>,
    ) -> CaseError {
        let found = self.places.found(paths).into();
        CaseError::Invalid { found, expected: expected.into(), remedy: remedy.into() }
    }

    pub(super) fn missing(&self, key: &str) -> CaseError {
        CaseError::Missing { path: self.places.path.clone(), key: key.into() }
    }
}

/// Where tables come from.
enum Source<'a> {
    /// The text of a case file, in which lines and values are found.
    File { text: &'a str, path: &'a Path },
    /// An argument of a call.
    Argument(Place),
}

impl Source<'_> {
    fn place(&self, span: Range<usize>) -> Place {
        match self {
            Self::File { text, path } => {
                Place::Line { path: path.to_path_buf(), line: line_of(text, span.start) }
            }
            Self::Argument(place) => place.clone(),
        }
    }

    /// What stands at `key`; the value is shown as written, its first line and not too much of it.
    fn found(&self, key: &str, span: Range<usize>, item: &Item) -> Found {
        let written = match (item.as_value(), self) {
            (Some(value), Self::File { text, .. }) => {
                text.get(value.span().unwrap_or_default()).unwrap_or_default().to_owned()
            }
            (Some(value), Self::Argument(_)) => value.to_string().trim().to_owned(),
            (None, _) if item.is_array_of_tables() => "a list of tables".to_owned(),
            (None, _) => "a table".to_owned(),
        };
        Found { place: self.place(span), key: key.into(), value: excerpt(&written) }
    }
}

/// The first line of a value as written, and not too much of it.
fn excerpt(written: &str) -> String {
    let line = written.lines().next().unwrap_or_default();
    let mut shown: String = line.chars().take(SHOWN).collect();
    if shown.len() < written.len() {
        shown.push('…');
    }
    shown
}

fn line_of(text: &str, position: usize) -> usize {
    1 + text.bytes().take(position).filter(|byte| *byte == b'\n').count()
}

/// Where a key stands; the start of its section for a section defined by its members.
fn span_of(table: &dyn TableLike, name: &str, item: &Item) -> Range<usize> {
    let key = table.get_key_value(name).and_then(|(key, _)| key.span());
    key.or_else(|| item.span()).unwrap_or_default()
}

/// An override's value: TOML, or the text itself where the key holds text or where it is no TOML; for
/// a list of words, words between commas too.
fn override_value(key: &Key, text: &str) -> Value {
    let holds_text = matches!(key.kind, Kind::Text | Kind::Path | Kind::Word(_));
    let holds_words = matches!(key.kind, Kind::Words(_));
    match text.parse::<Value>() {
        Ok(value) if holds_words && !value.is_array() => listed(value.as_str().unwrap_or(text)),
        Ok(value) if value.is_str() || !holds_text => value,
        _ if holds_words => listed(text),
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

fn not_a_section(found: Found) -> CaseError {
    let remedy = format!("write [{}] in single brackets, once, and its keys below it", found.key);
    CaseError::Invalid { found: Box::new(found), expected: "a section".into(), remedy }
}

fn unknown_key(path: &str, place: Place) -> CaseError {
    let is_section = sections().any(|section| section == path);
    let (section, name) = match path.rsplit_once('.') {
        _ if is_section => (path, ""),
        None => ("", path),
        Some(parts) => parts,
    };
    CaseError::Unknown {
        place: Box::new(place),
        section: false,
        name: path.into(),
        nearest: nearest_key(section, name),
        known: keys().filter(|key| key.section() == section).map(|key| key.path).collect(),
    }
}

fn unknown_argument(name: &str, place: Place) -> CaseError {
    if name.contains('.') || sections().any(|section| section == name) {
        return unknown_key(name, place);
    }
    let nearest = nearest(name, KEYS.iter().map(Key::name));
    CaseError::Unknown {
        place: Box::new(place),
        section: false,
        name: name.into(),
        nearest,
        known: Vec::new(),
    }
}

fn unknown_section(name: &str, place: Place) -> CaseError {
    CaseError::Unknown {
        place: Box::new(place),
        section: true,
        name: name.into(),
        nearest: nearest(name, sections()),
        known: sections().filter(|name| !is_nested(name)).collect(),
    }
}

fn syntax_error(error: &toml_edit::TomlError, text: &str, path: &Path) -> CaseError {
    let start = error.span().map_or(0, |span| span.start).min(text.len());
    let before = text.get(..start).unwrap_or(text);
    let column = 1 + before.rsplit('\n').next().map_or(0, |line| line.chars().count());
    CaseError::Syntax {
        path: path.into(),
        line: line_of(text, start),
        column,
        message: error.message().lines().collect::<Vec<_>>().join(" "),
    }
}
