//! Changes of single keys in the text of a case, and the keys that it has.

use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, Table, TomlError};

use crate::case::alternatives;

/// The text with a key set to a value in TOML, or without the key; comments and all other keys stay. A value that is not
/// TOML is a text. Keys whose place it takes are left out.
///
/// # Errors
/// A text that is not TOML.
pub(super) fn edited(text: &str, key: &str, value: Option<&str>) -> Result<String, TomlError> {
    let mut document: DocumentMut = text.parse()?;
    if value.is_some() {
        for other in alternatives(key) {
            set(&mut document, other, None);
        }
    }
    set(&mut document, key, value);
    Ok(document.to_string())
}

/// A key of a list of tables, such as the elements, has the number of the table behind the name of the list.
fn set(document: &mut DocumentMut, key: &str, value: Option<&str>) {
    let mut names: Vec<&str> = key.split('.').collect();
    let Some(name) = names.pop() else { return };
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    let mut names = names.into_iter();
    while let Some(section) = names.next() {
        if value.is_none() && !table.contains_key(section) {
            return;
        }
        let new = || Item::Table(Table::new());
        let inner: Option<&mut dyn toml_edit::TableLike> =
            match table.entry(section).or_insert_with(new) {
                Item::ArrayOfTables(all) => names
                    .next()
                    .and_then(|number| all.get_mut(number.parse().ok()?))
                    .map(|one| one as &mut dyn toml_edit::TableLike),
                item => item.as_table_like_mut(),
            };
        let Some(inner) = inner else { return };
        table = inner;
    }
    let Some(value) = value else {
        table.remove(name);
        return;
    };
    let mut value: toml_edit::Value = value.parse().unwrap_or_else(|_| value.into());
    // A comment behind the old value stays.
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => drop(table.insert(name, Item::Value(value))),
    }
}

/// The keys of a text with their values: words and flags as they are, all else as TOML; elements have numbers. A text
/// that is not TOML has none.
pub(super) fn given(text: &str) -> Map<String, Value> {
    let mut found = Map::new();
    collect("", &text.parse::<toml::Table>().unwrap_or_default(), &mut found);
    found
}

fn collect(within: &str, table: &toml::Table, found: &mut Map<String, Value>) {
    for (name, value) in table {
        let key = [within, name].concat();
        match value {
            toml::Value::Table(inner) => collect(&[&key, "."].concat(), inner, found),
            toml::Value::String(text) => drop(found.insert(key, text.as_str().into())),
            toml::Value::Boolean(flag) => drop(found.insert(key, (*flag).into())),
            toml::Value::Array(items) if items.first().is_some_and(toml::Value::is_table) => {
                for (n, inner) in items.iter().filter_map(toml::Value::as_table).enumerate() {
                    collect(&format!("{key}.{n}."), inner, found);
                }
            }
            other => drop(found.insert(key, other.to_string().into())),
        }
    }
}

/// The files that a text names: the values of its keys `file`, wherever they stand.
pub(super) fn files(text: &str) -> Vec<String> {
    let named = given(text).into_iter().filter(|(key, _)| key.rsplit('.').next() == Some("file"));
    named.filter_map(|(_, value)| value.as_str().map(str::to_owned)).collect()
}
