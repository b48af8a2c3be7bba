//! The values that are given, each checked against its key, and where they stand.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::de::DeserializeOwned;
use toml_edit::Value;

use super::error::{CaseError, GivenValue, Place, Places, among};
use super::schema::{Key, KeyKind, check, nearest};
use super::table::{self, BOX_KEYS, KEYS, SOURCES, is_nested, nearest_key, of_section, sections};
use crate::diagnostics::excerpt;

/// Keys that say the same in two ways.
const ALTERNATIVES: [[&[&str]; 2]; 4] = [
    [&["grid.first_cell"], &["grid.y_plus"]],
    [&["domain.wall_first_cell"], &["domain.wall_y_plus"]],
    [BOX_KEYS, &["domain.piece"]],
    [&["grid.nj"], &["grid.growth"]],
];

/// The keys and sections whose place a key or section takes.
pub(crate) fn alternatives(path: &str) -> Vec<&'static str> {
    if among(path, &SOURCES) {
        return SOURCES.into_iter().filter(|source| !among(path, &[source])).collect();
    }
    let mut ways = ALTERNATIVES.iter().flat_map(|[one, other]| [(one, other), (other, one)]);
    ways.find(|(own, _)| among(path, own)).map_or_else(Vec::new, |(_, others)| others.to_vec())
}

/// Path of the case file in messages about arguments alone; its stem is the default name.
pub(super) const UNNAMED: &str = "grid";

/// Section of several elements.
pub(super) const ELEMENT: &str = "element";

/// Sections of which a file has one, whatever it has elements.
pub(super) const SINGLE: [&str; 3] = ["output", "background", "overset"];

/// All values that are given, each of the type its key has, and where they stand.
#[derive(Clone, Default)]
pub(super) struct Given {
    values: BTreeMap<&'static str, toml::Value>,
    pub(super) places: Places,
    /// The keys and sections of the file or the base, whose alternatives drop them.
    sealed: BTreeSet<&'static str>,
    /// The values that are given of each element.
    pub(super) elements: Vec<Given>,
}

impl Given {
    /// No keys of the file `path`, or within it of an element.
    pub(super) fn none(path: &Path, within: &str) -> Self {
        let (path, within) = (path.to_path_buf(), within.to_owned());
        Self { places: Places { path, within, ..Places::default() }, ..Self::default() }
    }

    /// The name of the element whose entries these are, as it is given; empty where it is not.
    pub(super) fn element(&self) -> String {
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

    pub(super) fn insert(
        &mut self,
        key: &'static Key,
        value: &Value,
        found: GivenValue,
    ) -> Result<(), CaseError> {
        match check(key, value) {
            Ok(value) => {
                self.values.insert(key.path, value);
                self.places.given.insert(key.path, found);
                Ok(())
            }
            Err(remedy) => {
                let is_blank = value.is_str() && matches!(key.kind, KeyKind::Text | KeyKind::Path);
                let text = is_blank.then(|| "text on one line that is not blank".to_owned());
                let expected = text.unwrap_or_else(|| key.kind.to_string());
                Err(found.refused(expected, remedy))
            }
        }
    }

    /// Ends the file or the base: what follows replaces its keys.
    pub(super) fn seal(&mut self) {
        self.sealed = self.places.given.keys().copied().collect();
        self.elements.iter_mut().for_each(Self::seal);
    }

    /// Puts one override in place, of every element too: it replaces the key, and drops the file's alternatives to it.
    pub(super) fn set(
        &mut self,
        key: &'static Key,
        value: &Value,
        shown: &str,
        place: &Place,
    ) -> Result<(), CaseError> {
        if !among(key.path, &SINGLE) && !key.section().is_empty() {
            for element in &mut self.elements {
                element.set(key, value, shown, place)?;
            }
        }
        let (place, own) = (place.clone(), self.places.shown(key.path));
        self.insert(key, value, GivenValue { place, key: own, value: shown.to_owned() })?;
        self.drop_alternatives(key.path);
        Ok(())
    }

    /// Drops what the file or the base has in place of a key or section that is given after it.
    fn drop_alternatives(&mut self, path: &'static str) {
        let others = alternatives(path);
        if others.is_empty() {
            return;
        }
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

    /// Returns true if a key has a value, or if a section is in the file or has a key that is given.
    pub(super) fn opens(&self, path: &str) -> bool {
        self.has(path) || self.places.given.keys().any(|key| among(key, &[path]))
    }

    /// The first of these keys and sections that is given.
    pub(super) fn first_of(&self, keys: &[&'static str]) -> Option<&'static str> {
        keys.iter().copied().find(|key| self.opens(key))
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.values.contains_key(path)
    }

    /// The key's value, given or default.
    pub(super) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, CaseError> {
        let default = || table::find(path).and_then(|key| key.default.value());
        let given = self.values.get(path).cloned();
        let value = given.or_else(default).ok_or_else(|| self.missing(path))?;
        value.try_into().map_err(|error| self.misread(path, &error))
    }

    pub(super) fn given<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, CaseError> {
        if self.has(path) { self.get(path).map(Some) } else { Ok(None) }
    }

    /// A section: its keys as they are given, or else by the `rules` of their names, or else by default.
    pub(super) fn section<T: DeserializeOwned>(
        &self,
        section: &str,
        rules: &[(&str, toml::Value)],
    ) -> Result<T, CaseError> {
        let mut table = toml::Table::new();
        for key in of_section(section) {
            let given = self.values.get(key.path);
            let rule = || rules.iter().find(|(name, _)| *name == key.name()).map(|(_, rule)| rule);
            let value = given.or_else(rule).cloned().or_else(|| key.default.value());
            table.extend(value.map(|value| (key.name().to_owned(), value)));
        }
        table.try_into().map_err(|error| self.misread(section, &error))
    }

    /// The error of a value that fits its key, but not its use.
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
        self.places.found(paths).refused(expected, remedy)
    }

    /// Refuses the first of the keys that is given, unless what is expected `holds`.
    pub(super) fn require(
        &self,
        holds: bool,
        keys: &[&str],
        expected: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Result<(), CaseError> {
        if holds { Ok(()) } else { Err(self.refuse(keys, expected, remedy)) }
    }

    /// Refuses the first of these keys and sections that is given, unless it says no more than its default does. The
    /// remedy has `{key}` where its name is to stand.
    pub(super) fn refuse_given(
        &self,
        keys: &[&'static str],
        expected: &str,
        remedy: &str,
    ) -> Result<(), CaseError> {
        let neutral = |path: &str| {
            let default = table::find(path).and_then(|key| key.default.value());
            // The default of most sections.
            let default = default.or((path == "geometry.trailing_edge").then(|| "as-given".into()));
            default.is_some_and(|default| self.values.get(path) == Some(&default))
        };
        let given = |key: &&&str| self.opens(key) && !neutral(key);
        keys.iter()
            .find(given)
            .map_or(Ok(()), |key| Err(self.refuse(&[key], expected, remedy.replace("{key}", key))))
    }

    /// The error of a key that another one excludes.
    pub(super) fn conflict(&self, key: &str, other: &'static str) -> CaseError {
        CaseError::Conflict { found: self.places.found(&[key]).into(), other }
    }

    /// The error of a key that means nothing without another.
    pub(super) fn incomplete(&self, key: &str, other: &'static str) -> CaseError {
        CaseError::Incomplete { found: self.places.found(&[key]).into(), other }
    }

    pub(super) fn missing(&self, key: &str) -> CaseError {
        CaseError::Missing { path: self.places.path.clone(), key: key.into() }
    }
}

/// The error of a key that there is not, with the nearest one and all of its section.
pub(super) fn unknown_key(path: &str, place: Place) -> CaseError {
    let is_section = sections().any(|section| section == path);
    let (section, name) = match path.rsplit_once('.') {
        _ if is_section => (path, ""),
        None => ("", path),
        Some(parts) => parts,
    };
    let known = of_section(section).map(|key| key.path).collect();
    unknown(path, place, false, (nearest_key(section, name), known))
}

pub(super) fn unknown_argument(name: &str, place: Place) -> CaseError {
    if name.contains('.') || sections().any(|section| section == name) {
        return unknown_key(name, place);
    }
    unknown(name, place, false, (nearest(name, KEYS.iter().map(Key::name)), Vec::new()))
}

pub(super) fn unknown_section(name: &str, place: Place) -> CaseError {
    let known = sections().filter(|name| !is_nested(name)).collect();
    unknown(name, place, true, (nearest(name, sections()), known))
}

pub(super) fn unknown(
    name: &str,
    place: Place,
    section: bool,
    (nearest, known): (Option<&'static str>, Vec<&'static str>),
) -> CaseError {
    CaseError::Unknown { place: place.into(), section, name: excerpt(name), nearest, known }
}
