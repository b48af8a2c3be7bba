//! The JSON schema of the case file, for editors that complete and check keys.

use serde_json::{Map, Value, json};

use super::schema::{Bound, KEYS, Key, Kind, SECTIONS};

/// The schema `docs/case.schema.json`, written from the table of keys.
///
/// It says what can be said of single keys and that the section needs one of its two sources;
/// relations between numbers are checked by [`super::Case::from_file`] alone.
#[must_use]
pub fn json_schema() -> Value {
    let mut properties = members("");
    for (section, about) in SECTIONS {
        let mut table = json!({
            "type": "object",
            "description": about,
            "additionalProperties": false,
            "properties": members(section),
        });
        if *section == "geometry" {
            table["oneOf"] = json!([{ "required": ["naca"] }, { "required": ["file"] }]);
        }
        properties.insert((*section).to_owned(), table);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Case of gridgen",
        "type": "object",
        "additionalProperties": false,
        "required": ["geometry"],
        "properties": properties,
    })
}

/// The keys of a section.
fn members(section: &str) -> Map<String, Value> {
    let keys = KEYS.iter().filter(|key| key.section() == section);
    keys.map(|key| (key.name().to_owned(), property(key))).collect()
}

fn property(key: &Key) -> Value {
    let mut property = match key.kind {
        Kind::Text | Kind::Path => json!({ "type": "string", "minLength": 1 }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Integer { min, max } => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        Kind::Real { low, high } => {
            let (low, least) = bound(low, "minimum", "exclusiveMinimum");
            let (high, most) = bound(high, "maximum", "exclusiveMaximum");
            json!({ "type": "number", least: low, most: high })
        }
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Words(words) => json!({
            "type": "array",
            "items": { "enum": words },
            "minItems": 1,
            "uniqueItems": true,
        }),
    };
    let unit = match key.unit {
        "" => String::new(),
        unit => format!(" Unit: {unit}."),
    };
    property["description"] = format!("{}{unit} Default: {}.", key.meaning, key.default).into();
    if let Some(default) = key.default.value() {
        property["default"] = json!(default);
    }
    property
}

/// The value of a bound and the word for it.
fn bound<'a>(bound: Bound, closed: &'a str, open: &'a str) -> (f64, &'a str) {
    match bound {
        Bound::Closed(value) => (value, closed),
        Bound::Open(value) => (value, open),
    }
}
