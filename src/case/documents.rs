//! Texts written from the table of keys: the JSON schema, a case to begin with, and the resolved case.

use serde_json::{Map, Value, json};

use super::error::among;
use super::piece::SIDE_KINDS;
use super::schema::{Key, KeyKind, plain};
use super::table::{KEYS, OVERSET_SECTIONS, SECTIONS, SOURCES, is_nested, of_section};
use super::{Case, CaseFile, Element, PlacedBy};

/// The schema `docs/case.schema.json`, written from the table of keys.
///
/// It says what can be said of single keys and that the section needs one of its sources;
/// relations between numbers are checked by [`super::Case::from_file`] alone.
pub fn json_schema() -> Value {
    let mut properties = members("");
    properties.extend(sections());
    let mut element = section(OVERSET_SECTIONS[0].0, OVERSET_SECTIONS[0].1);
    if let Some(members) = element["properties"].as_object_mut() {
        // All elements share one section of output.
        members.extend(sections().filter(|(name, _)| name != "output"));
    }
    element["required"] = json!(["name"]);
    properties
        .insert("element".to_owned(), json!({ "type": "array", "minItems": 1, "items": element }));
    let own = OVERSET_SECTIONS.iter().filter(|(name, _)| !is_nested(name) && *name != "element");
    properties.extend(own.map(|(name, about)| ((*name).to_owned(), section(name, about))));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Case of gridgen",
        "type": "object",
        "additionalProperties": false,
        "anyOf": [{ "required": ["geometry"] }, { "required": ["element"] }],
        "properties": properties,
    })
}

/// The sections of a case that are not within others.
fn sections() -> impl Iterator<Item = (String, Value)> {
    SECTIONS.iter().filter(|(name, _)| !is_nested(name)).map(|(name, about)| {
        let mut table = section(name, about);
        if *name == "geometry" {
            let names = SOURCES.iter().filter_map(|source| source.strip_prefix("geometry."));
            let sources = names.map(|source| json!({ "required": [source] }));
            table["oneOf"] = sources.collect();
        }
        ((*name).to_owned(), table)
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
    let nested = SECTIONS.iter().chain(OVERSET_SECTIONS).filter_map(|(name, about)| {
        let (outer, inner) = name.rsplit_once('.')?;
        (outer == within).then(|| (inner.to_owned(), section(name, about)))
    });
    let keys = of_section(within).map(|key| (key.name().to_owned(), property(key)));
    keys.chain(nested).collect()
}

fn property(key: &Key) -> Value {
    let mut property = match key.kind {
        KeyKind::Text | KeyKind::Path => json!({ "type": "string", "minLength": 1 }),
        KeyKind::Flag => json!({ "type": "boolean" }),
        KeyKind::Integer { min, max } => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        KeyKind::Real { low, high } => {
            let least = if low.open { "exclusiveMinimum" } else { "minimum" };
            let most = if high.open { "exclusiveMaximum" } else { "maximum" };
            json!({ "type": "number", least: low.value, most: high.value })
        }
        KeyKind::Heights => json!({
            "type": ["number", "array", "object"],
            "exclusiveMinimum": 0.0,
            "exclusiveMaximum": 1e6,
        }),
        KeyKind::Point => point_schema(),
        KeyKind::Points => json!({ "type": "array", "items": point_schema() }),
        KeyKind::Box => json!({
            "type": "array",
            "items": { "type": "number" },
            "minItems": 4,
            "maxItems": 4,
        }),
        KeyKind::Clusters => json!({ "type": "array", "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["x", "spacing"],
            "properties": {
                "x": { "type": "number", "minimum": 0.0, "maximum": 1.0 },
                "spacing": { "type": "number", "exclusiveMinimum": 0.0, "maximum": 0.1 },
                "surface": { "enum": ["upper", "lower"] },
            },
        } }),
        KeyKind::Pieces => json!({ "type": "array", "minItems": 1, "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["name", "kind"],
            "properties": {
                "name": { "type": "string", "minLength": 1 },
                "kind": { "enum": SIDE_KINDS },
                "points": { "type": "array", "items": point_schema() },
                "file": { "type": "string", "minLength": 1 },
                "through": point_schema(),
                "curve": { "enum": ["spline", "polyline"] },
            },
        } }),
        KeyKind::Word(words) => json!({ "enum": words }),
        KeyKind::Words(words) => json!({
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

fn point_schema() -> Value {
    json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 })
}

/// Characters per line of the case to begin with.
const WIDTH: usize = 90;

/// Keys that a case to begin with sets for turbulent flow, whose set-up is written beside the meshes.
pub const VISCOUS: [(&str, &str); 8] = [
    ("grid.topology", "\"C\""),
    ("grid.ni", "385"),
    ("grid.nj", "129"),
    ("grid.wake", "80"),
    ("grid.y_plus", "1.0"),
    ("grid.reynolds", "6e6"),
    ("grid.far_field", "500.0"),
    ("grid.wake_first_cell", "1e-1"),
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

/// The keys of a section, as comments where the section is `optional`.
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

/// A placeholder for a value of this kind.
fn placeholder(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Text | KeyKind::Path | KeyKind::Word(_) => "\"\"",
        KeyKind::Flag | KeyKind::Integer { .. } | KeyKind::Real { .. } | KeyKind::Heights => "",
        _ => "[]",
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

    /// The case as a table, in which heights that vary along the wall are its first cell.
    fn table(&self) -> Result<toml::Table, toml::ser::Error> {
        let mut table = toml::Table::try_from(self)?;
        if let (Some(heights), Some(grid)) = (&self.grid.heights, table.get_mut("grid")) {
            grid["first_cell"] = toml::Value::try_from(heights)?;
        }
        Ok(table)
    }

    /// Writes the case as [`Self::to_toml_string`] does, below `head`.
    pub(crate) fn below(&self, head: &str) -> Result<String, toml::ser::Error> {
        let table = self.table()?;
        let sections = SECTIONS.iter().filter(|(name, _)| !is_nested(name));
        let sections = sections.map(|(name, _)| case_section_text(&table, name, ""));
        Ok([head, &keys_text("", &table, &[])].concat() + &sections.collect::<String>())
    }
}

/// Sections of an element that stand once where they say the same of all.
const SHARED: [&str; 6] = ["initial", "control", "quality", "newton", "linear", "multigrid"];

impl CaseFile {
    /// The case as a case file in which every default is written out: read again, it gives the same case.
    pub fn to_toml_string(&self) -> Result<String, toml::ser::Error> {
        if let Some(section) = self.section() {
            return section.to_toml_string();
        }
        let mut text = String::from(
            "# A case with every default written out; it makes the same grids again.\n",
        );
        text += &["name = ", &written(&self.name.as_str().into()), "\n"].concat();
        text += &section_text("overset", &toml::Table::try_from(&self.overset)?, &[], "");
        if let Some(background) = &self.background {
            text += &section_text("background", &toml::Table::try_from(background)?, &[], "");
        }
        let tables: Vec<toml::Table> =
            self.elements.iter().map(|element| element.case.table()).collect::<Result<_, _>>()?;
        let of = case_section_text;
        let (shared, own): (Vec<&str>, Vec<&str>) = SHARED.into_iter().partition(|section| {
            tables.iter().all(|table| of(table, section, "") == of(&tables[0], section, ""))
        });
        for (element, table) in self.elements.iter().zip(&tables) {
            text += &self.element_text(element)?;
            for section in ["geometry", "grid"].iter().chain(&own) {
                text += &of(table, section, "element.");
            }
        }
        for section in &shared {
            text += &of(&tables[0], section, "");
        }
        text += &section_text("output", &toml::Table::try_from(&self.output)?, &[], "");
        Ok(text)
    }

    /// The keys of an element itself.
    fn element_text(&self, element: &Element) -> Result<String, toml::ser::Error> {
        let mut own = toml::Table::new();
        own.insert("name".to_owned(), element.case.name.as_str().into());
        let mut rigging = String::new();
        // Keys that an element in file coordinates, or a rigged one, does not have.
        let lacks: &[&str] = match &element.placed_by {
            PlacedBy::InFile => {
                own.insert("frame".to_owned(), "file".into());
                &["chord", "angle", "at"]
            }
            PlacedBy::At(placement) => {
                own.extend(toml::Table::try_from(placement)?);
                &[]
            }
            PlacedBy::Rigged { chord, to, rigging: figures } => {
                own.insert("chord".to_owned(), (*chord).into());
                let mut table = toml::Table::try_from(figures)?;
                table.insert("to".to_owned(), self.elements[*to].case.name.as_str().into());
                rigging = section_text("element.rigging", &table, &[], "");
                &["angle", "at"]
            }
        };
        own.extend(element.reach.map(|reach| ("reach".to_owned(), reach.into())));
        let keys = section_text("element", &own, lacks, "");
        Ok(keys.replacen("[element]", "[[element]]", 1) + &rigging)
    }
}

/// A section of a case, and those in it, below `within`. Chord, angle and reach are keys of an element itself.
fn case_section_text(table: &toml::Table, section: &str, within: &str) -> String {
    let lacks: &[&str] = match (section, within.is_empty()) {
        ("geometry", false) => &["chord", "angle"],
        ("grid", false) => &["reach"],
        _ => &[],
    };
    let nested = |name: &&str| among(name, &[section]);
    let names = SECTIONS.iter().map(|(name, _)| *name).filter(nested);
    let text = |name: &str| {
        let own = name.split('.').try_fold(table, |table, part| table.get(part)?.as_table())?;
        Some(section_text(name, own, lacks, within))
    };
    names.filter_map(text).collect()
}

/// One section below `within`, of whose keys some are left out.
fn section_text(section: &str, table: &toml::Table, lacks: &[&str], within: &str) -> String {
    ["\n[", within, section, "]\n", &keys_text(section, table, lacks)].concat()
}

/// The keys of one section, of which some are left out.
fn keys_text(section: &str, table: &toml::Table, lacks: &[&str]) -> String {
    let given = of_section(section).filter(|key| !lacks.contains(&key.name()));
    let line = |key: &Key| {
        let value = table.get(key.name()).cloned().or_else(|| key.default.value())?;
        Some([key.name(), " = ", &written(&value), "\n"].concat())
    };
    given.filter_map(line).collect()
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
