//! Cases from files, texts and the arguments of calls.

use std::path::Path;
use std::str::FromStr;

use serde::Serialize;
use toml::{Table, Value};
use toml_edit::Item;
use toml_edit::ser::ValueSerializer;

use super::entries::{ELEMENT, Given, UNNAMED, unknown_argument};
use super::error::{CaseError, Found, GivenValue, Place, among};
use super::parse::{TableSource, line_of};
use super::table::{self, SOURCES};
use super::{Case, CaseFile};
use crate::diagnostics::excerpt;
use crate::files::contents;

/// Bytes that are read of a case file: a hundred times what any case needs.
const LIMIT: u64 = 1 << 20;

impl CaseFile {
    /// Reads, checks and resolves the case file `path`.
    ///
    /// `overrides` are dotted keys with values in TOML, which replace those of the file; text needs no
    /// quotes. An override drops the file's alternatives to its key: `geometry.file` drops
    /// `geometry.naca`, `grid.first_cell` drops `grid.y_plus`, and the other way round. With several
    /// elements a key applies to all, or with a name to one: `element.flap.grid.ni`, `element.flap.chord`.
    ///
    /// # Errors
    /// Whatever keeps the case from being run as written.
    pub fn from_file(path: &Path, overrides: &[(String, String)]) -> Result<Self, CaseError> {
        Self::from_toml(&read_text(path)?, path, overrides)
    }

    /// Like [`Self::from_file`], with the text of the file. `path` gives the name, the
    /// folder that relative paths start at, and the place in messages; it need not exist.
    pub fn from_toml(
        text: &str,
        path: &Path,
        overrides: &[(String, String)],
    ) -> Result<Self, CaseError> {
        let mut entries = Given::read(text, path)?;
        entries.replace(overrides)?;
        Self::resolve(&entries)
    }

    /// The case of a section with the default of every other key: two lines of a file. `source` is the key of the section
    /// and its text, or a section and an empty table, `name` the name of the case; a relative path starts at the
    /// current folder. An override is no other section.
    pub fn of_section(
        name: &str,
        source: (&str, Value),
        overrides: &[(String, String)],
    ) -> Result<Self, CaseError> {
        let own = source.0;
        let second = |key: &str| among(key, &SOURCES) && (key == own || !among(key, &[own]));
        if let Some((key, value)) = overrides.iter().find(|(key, _)| second(key)) {
            let (key, value) = (key.clone(), value.clone());
            let place = Place::Set { key: key.clone(), value: value.clone() };
            let remedy = "leave one of the two out; the section of a case file can be replaced";
            let expected = format!("one section, and {name} is one");
            return Err(GivenValue { place, key, value }.refused(expected, remedy));
        }
        let name = ("name", name.into());
        let base = [name, source].map(|(key, value)| (key.to_owned(), value));
        let mut entries = Given::of_arguments("", Path::new(UNNAMED), &base, &[])?;
        entries.replace(overrides)?;
        Self::resolve(&entries)
    }

    /// The case of a call: a case file or the keys of a `base`, whose keys arguments replace as overrides do.
    ///
    /// A name is a key (`"ni"`), with its section where several have such a key (`"grid.ni"`,
    /// `"flap.angle"`); an empty table opens the section of its name. `element` is a list of tables, as a file has
    /// them. Without a file relative paths start at the current folder, and the name of the
    /// case is `grid` unless it is given.
    ///
    /// # Errors
    /// [`CaseError::Ambiguous`] for a name that several keys have.
    pub fn from_arguments(
        file: Option<&Path>,
        base: &[(String, Value)],
        arguments: &[(String, Value)],
    ) -> Result<Self, CaseError> {
        let path = file.unwrap_or(Path::new(UNNAMED));
        let text = file.map_or_else(|| Ok(String::new()), read_text)?;
        Self::resolve(&Given::of_arguments(&text, path, base, arguments)?)
    }
}

impl Given {
    /// The keys of a text, of a base and of named arguments, the later ones in place of the earlier.
    fn of_arguments(
        text: &str,
        path: &Path,
        base: &[(String, Value)],
        arguments: &[(String, Value)],
    ) -> Result<Self, CaseError> {
        let mut entries = Self::read(text, path)?;
        let mut found = Found::default();
        let numbered = base.iter().chain(arguments).enumerate();
        for (number, (name, given)) in numbered {
            if number == base.len() {
                entries.seal();
            }
            found.keep(entries.argument(name, given));
        }
        found.end(Some(entries))
    }

    /// Puts one argument in place.
    fn argument(&mut self, name: &String, given: &Value) -> Result<(), CaseError> {
        let of_file = given.serialize(ValueSerializer::new());
        let value = of_file.map_err(|error| {
            let value = given.to_string();
            let place = Place::Argument { name: name.clone(), value: value.clone() };
            let found = GivenValue { place, key: name.clone(), value };
            found.refused(format!("a value of a case file ({error})"), "give it as a file has it")
        })?;
        let shown = excerpt(value.to_string().trim());
        let place = Place::Argument { name: name.clone(), value: shown.clone() };
        if name == ELEMENT {
            self.elements.clear();
            return self.read_elements(&Item::Value(value), &TableSource::Argument(place));
        }
        let empty = given.as_table().is_some_and(Table::is_empty);
        if let Some(section) = table::section_named(name).filter(|_| empty) {
            let found = GivenValue { place, key: section.into(), value: shown };
            self.places.given.insert(section, found);
            return Ok(());
        }
        match table::named(name)[..] {
            [key] => self.set(key, &value, &shown, &place),
            [] => Err(unknown_argument(name, place)),
            ref keys => {
                let keys = keys.iter().map(|key| key.path).collect();
                Err(CaseError::Ambiguous { place: Box::new(place), keys })
            }
        }
    }
}

impl Case {
    /// The case of one section in the file `path`: see [`CaseFile::from_file`].
    ///
    /// # Errors
    /// [`CaseError::Elements`] where the file has several elements.
    pub fn from_file(path: &Path, overrides: &[(String, String)]) -> Result<Self, CaseError> {
        CaseFile::from_file(path, overrides)?.into_section()
    }

    /// The case of a NACA section, with the default of every other key. Its fields may
    /// be changed; a file of keys is read by [`Self::from_file`], and a text of keys by [`str::parse`].
    ///
    /// # Errors
    /// [`CaseError`] for a designation that is blank; one that is no section is found when the grid is made.
    pub fn naca(designation: &str) -> Result<Self, CaseError> {
        format!("geometry.naca = {}", Value::from(designation)).parse()
    }

    /// The case of one section in a text: see [`CaseFile::from_toml`].
    pub fn from_toml(
        text: &str,
        path: &Path,
        overrides: &[(String, String)],
    ) -> Result<Self, CaseError> {
        CaseFile::from_toml(text, path, overrides)?.into_section()
    }
}

/// The text of a file that may be a case.
fn read_text(path: &Path) -> Result<String, CaseError> {
    let bytes = contents::read_short(path, LIMIT)
        .map_err(|source| CaseError::Unreadable { path: path.into(), source })?;
    let (expected, found) = if bytes.len() as u64 > LIMIT {
        ("a case file", format!("more than {LIMIT} bytes"))
    } else if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
        ("a case file in text", format!("binary data at byte {offset}"))
    } else {
        return String::from_utf8(bytes).map_err(|error| {
            let line = line_of(error.as_bytes(), error.utf8_error().valid_up_to());
            let place = Place::Line { path: path.into(), line };
            let (expected, found) = ("UTF-8 text", "other bytes".into());
            CaseError::NoCase { place, expected, found, remedy: "save the file as UTF-8" }
        });
    };
    let remedy = "a case file is a short text in TOML; coordinates go into a file of their own, named by \
                  geometry.file";
    Err(CaseError::NoCase { place: Place::File { path: path.into() }, expected, found, remedy })
}

/// A text of keys: relative paths start at the current folder.
impl FromStr for Case {
    type Err = CaseError;

    fn from_str(text: &str) -> Result<Self, CaseError> {
        Self::from_toml(text, Path::new(UNNAMED), &[])
    }
}
