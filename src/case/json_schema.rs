//! The JSON schema of the case file, for editors that complete and check keys.

use serde_json::{Map, Value, json};

use super::schema::{Bound, KEYS, Key, Kind, SECTIONS, is_nested};

/// Keys and sections of `geometry` of which each case has one.
const SOURCES: [&str; 6] = ["naca", "file", "section", "wing_body", "ellipse", "joukowski"];

/// The schema `docs/case.schema.json`, written from the table of keys.
///
/// It says what can be said of single keys and that the section needs one of its sources;
/// relations between numbers are checked by [`super::Case::from_file`] alone.
#[must_use]
pub fn json_schema() -> Value {
    let mut properties = members("");
    for (name, about) in SECTIONS.iter().filter(|(name, _)| !is_nested(name)) {
        let mut table = section(name, about);
        if *name == "geometry" {
            let sources = SOURCES.iter().map(|source| json!({ "required": [source] }));
            table["oneOf"] = sources.collect();
        }
        properties.insert((*name).to_owned(), table);
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

/// A section with its keys.
fn section(name: &str, about: &str) -> Value {
    json!({
        "type": "object",
        "description": about,
        "additionalProperties": false,
        "properties": members(name),
    })
}

/// The keys of a section and the sections within it.
fn members(within: &str) -> Map<String, Value> {
    let keys = KEYS.iter().filter(|key| key.section() == within);
    let nested = SECTIONS.iter().filter_map(|(name, about)| {
        let (outer, inner) = name.rsplit_once('.')?;
        (outer == within).then(|| (inner.to_owned(), section(name, about)))
    });
    keys.map(|key| (key.name().to_owned(), property(key))).chain(nested).collect()
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
