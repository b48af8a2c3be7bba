//! What is written from the table of keys: the reference page, the JSON schema, a case to begin with,
//! and the resolved case.

use serde_json::{Map, Value, json};

use super::Case;
use super::error::among;
use super::schema::{KEYS, Key, Kind, SECTIONS, SOURCES, is_nested};

const HEAD: &str = include_str!("reference.md");

/// The page `docs/case-format.md`.
pub fn case_format() -> String {
    let mut page = [HEAD, "\n## At the top of the file\n", &table("")].concat();
    for (section, about) in SECTIONS {
        page += &["\n## `[", section, "]`\n\n", about, "\n", &table(section)].concat();
    }
    page
}

/// A text of the page without its quotation of code.
pub(super) fn plain(text: &str) -> String {
    text.replace('`', "")
}

fn table(section: &str) -> String {
    let head = "\n| key | value | default | unit | meaning |\n| --- | --- | --- | --- | --- |\n";
    let row = |key: &Key| {
        let Key { kind, default, unit, meaning, .. } = key;
        format!("| `{}` | {kind} | {default} | {unit} | {meaning} |\n", key.name())
    };
    let rows = KEYS.iter().filter(|key| key.section() == section).map(row);
    std::iter::once(head.to_owned()).chain(rows).collect()
}

/// The schema `docs/case.schema.json`, written from the table of keys.
///
/// It says what can be said of single keys and that the section needs one of its sources;
/// relations between numbers are checked by [`super::Case::from_file`] alone.
pub fn json_schema() -> Value {
    let mut properties = members("");
    for (name, about) in SECTIONS.iter().filter(|(name, _)| !is_nested(name)) {
        let mut table = section(name, about);
        if *name == "geometry" {
            let names = SOURCES.iter().filter_map(|source| source.strip_prefix("geometry."));
            let sources = names.map(|source| json!({ "required": [source] }));
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
            let least = if low.open { "exclusiveMinimum" } else { "minimum" };
            let most = if high.open { "exclusiveMaximum" } else { "maximum" };
            json!({ "type": "number", least: low.value, most: high.value })
        }
        Kind::Points => json!({
            "type": "array",
            "items": { "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 },
        }),
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

/// Characters per line of the case to begin with.
const WIDTH: usize = 90;

/// What is set in a case to begin with for inviscid flow by OpenFOAM: its case is written, and first cells
/// have a height that such flow wants.
pub const OPENFOAM: [(&str, &str); 6] = [
    ("grid.topology", "\"auto\""),
    ("grid.ni", "193"),
    ("grid.nj", "97"),
    ("grid.far_field", "30.0"),
    ("grid.first_cell", "2.5e-3"),
    ("output.formats", "[\"vts\", \"openfoam\"]"),
];

/// A case file in which every key stands as a comment with its meaning, range and default. Keys whose
/// default is a value show it: to take the `#` away changes nothing. The `section`, a key and its text such
/// as `("geometry.naca", "0012")`, and the keys of `set` with their values in TOML stand without the `#`.
pub fn template(section: (&str, &str), set: &[(&str, &str)]) -> String {
    let (key, text) = (section.0, toml::Value::from(section.1).to_string());
    let set = [&[(key, text.as_str())], set].concat();
    let mut text = comment(
        "A case for gridgen. Lines that begin with # are comments: take the # away from a key to \
         set it. Lengths are in chords.",
    );
    text.push_str(&keys_of("", false, &set));
    for (section, about) in SECTIONS {
        // It says by standing there that something is so.
        let optional = is_nested(section) && !set.iter().any(|(key, _)| among(key, &[section]));
        text += &["\n", if optional { "# " } else { "" }, "[", section, "]\n"].concat();
        text.push_str(&comment(&plain(about)));
        text.push_str(&keys_of(section, optional, &set));
    }
    text
}

/// The keys of a section, which is `optional` or stands there.
fn keys_of(section: &str, optional: bool, set: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for key in KEYS.iter().filter(|key| key.section() == section) {
        let unit = if key.unit.is_empty() { String::new() } else { format!(", in {}", key.unit) };
        let about = plain(&format!("{} Value: {}{unit}.", key.meaning, key.kind));
        let given = set.iter().find(|(path, _)| *path == key.path);
        let (mark, value, default) = match (given, key.default.value()) {
            (Some((_, value)), _) => ("", (*value).to_owned(), String::new()),
            (None, Some(value)) if optional => ("#", written(&value), written(&value)),
            (None, Some(value)) => ("#", written(&value), String::new()),
            (None, None) => ("#", placeholder(key.kind).into(), plain(&key.default.to_string())),
        };
        let default =
            if default.is_empty() { default } else { ["  # default: ", &default].concat() };
        text += &["\n", &comment(&about), mark, key.name(), " = ", &value, &default, "\n"].concat();
    }
    text
}

/// Where a value is to be put in.
fn placeholder(kind: Kind) -> &'static str {
    match kind {
        Kind::Text | Kind::Path | Kind::Word(_) => "\"\"",
        Kind::Words(_) | Kind::Points => "[]",
        Kind::Flag | Kind::Integer { .. } | Kind::Real { .. } => "",
    }
}

fn comment(text: &str) -> String {
    let mut lines = String::new();
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &[&line, "\n"].concat();
            line = String::from("#");
        }
        line += &[" ", word].concat();
    }
    lines + &line + "\n"
}

impl Case {
    /// The case as a case file in which every default is written out: read again, it gives the
    /// same case. Numbers are written with all their digits; the file of coordinates is named by
    /// its absolute path, so that the text may be put anywhere on the same machine.
    ///
    /// # Errors
    /// A path that is not UTF-8, which [`Case::from_file`] refuses already.
    pub fn to_toml_string(&self) -> Result<String, toml::ser::Error> {
        self.below("# A case with every default written out; it makes the same grid again.\n")
    }

    /// The same below a line of its own.
    pub(crate) fn below(&self, head: &str) -> Result<String, toml::ser::Error> {
        let table = toml::Table::try_from(self)?;
        let mut text = String::from(head);
        let mut section = "";
        for key in KEYS {
            let Some(holder) = section_of(&table, key.section()) else { continue };
            let value = holder.get(key.name()).cloned();
            let Some(value) = value.or_else(|| key.default.value()) else { continue };
            if key.section() != section {
                section = key.section();
                text += &["\n[", section, "]\n"].concat();
            }
            text += &[key.name(), " = ", &written(&value), "\n"].concat();
        }
        Ok(text)
    }
}

/// The section with this dotted name; none where the case has no such section.
fn section_of<'a>(table: &'a toml::Table, name: &str) -> Option<&'a toml::Table> {
    let mut names = name.split('.').filter(|name| !name.is_empty());
    names.try_fold(table, |table, name| table.get(name)?.as_table())
}

/// A value in TOML; real numbers in the shortest form that reads back to the same bits.
fn written(value: &toml::Value) -> String {
    match value {
        toml::Value::Float(number) => format!("{number:?}"),
        toml::Value::Array(values) => {
            let values: Vec<String> = values.iter().map(written).collect();
            ["[", &values.join(", "), "]"].concat()
        }
        other => other.to_string(),
    }
}
