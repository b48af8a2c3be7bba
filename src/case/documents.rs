//! What is written from the table of keys: the reference page, the JSON schema, a case to begin with,
//! and the resolved case.

use serde_json::{Map, Value, json};

use super::schema::{Bound, KEYS, Key, Kind, SECTIONS, SOURCES, is_nested};
use super::{Case, Contour};

/// Head of the reference page, above the tables.
const HEAD: &str = r#"# Case files

<!-- Written from the table of keys in src/case/keys.rs. To write it again:
     UPDATE_DOCS=1 cargo test --test case -->

A case file is [TOML](https://toml.io). All keys are optional, except that the section must be
given, by `geometry.naca`, `geometry.file` or one of the tables below. The smallest case:

```toml
[geometry]
naca = "2412"
```

`gridgen init` writes a case with every key as a comment. [case.schema.json](case.schema.json) tells
editors the keys: name it in the first line of a case, `#:schema path/to/case.schema.json`.

Unknown keys are refused, and so are values out of range. Lengths are in chords.

A key can be replaced on the command line by `--set section.key=value`, as often as needed; the
value is TOML, and text may stand without quotes there, the words of a list between commas:
`--set output.formats=vts,su2`. `--set` of one of two alternatives
(`geometry.naca`, `geometry.file` and the other sections; `grid.first_cell` and `grid.y_plus` with
`grid.reynolds`) drops the other one from the file. A relative `geometry.file` starts at the case file's folder,
also with `--set`.

With the grid `case.toml` is written: the case with every default in place, those among them that
the section decides too, so that it makes the same grid again, also where a later version has other
defaults.

With `y_plus` and `reynolds` the first cell is `y_plus L / (reynolds * sqrt(Cf/2))` chords high
with L = `reference_length`,
`Cf = (2 log10(reynolds) - 0.65)^-2.3` being the skin friction of a turbulent flat plate.
The default of half a chord gives the peers' height: 1.04e-5 for y+ 0.9 at Re 1e6.
"#;

/// The page `docs/case-format.md`.
#[must_use]
pub fn case_format() -> String {
    let mut page = String::from(HEAD);
    page.push_str("\n## At the top of the file\n");
    page.push_str(&table(""));
    for (section, about) in SECTIONS {
        page += &["\n## `[", section, "]`\n\n", about, "\n"].concat();
        page.push_str(&table(section));
    }
    page
}

/// A text of the page without its quotation of code.
pub(super) fn plain(text: &str) -> String {
    text.replace('`', "")
}

fn table(section: &str) -> String {
    let head = "\n| key | value | default | unit | meaning |\n| --- | --- | --- | --- | --- |\n";
    let rows = KEYS.iter().filter(|key| key.section() == section).map(row);
    std::iter::once(head.to_owned()).chain(rows).collect()
}

fn row(key: &Key) -> String {
    let Key { kind, default, unit, meaning, .. } = key;
    format!("| `{}` | {kind} | {default} | {unit} | {meaning} |\n", key.name())
}

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

/// Characters per line of the case to begin with.
const WIDTH: usize = 90;

/// What a case to begin with is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// Any grid: the defaults.
    #[default]
    Any,
    /// Inviscid flow by OpenFOAM: its case is written, and first cells have a height that such
    /// flow wants.
    Openfoam,
}

impl Purpose {
    /// Keys that are set for it, and their values.
    fn set(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Any => &[],
            Self::Openfoam => &[
                ("grid.topology", "\"auto\""),
                ("grid.ni", "193"),
                ("grid.nj", "97"),
                ("grid.far_field", "30.0"),
                ("grid.first_cell", "2.5e-3"),
                ("output.formats", "[\"vts\", \"openfoam\"]"),
            ],
        }
    }
}

/// A case file for the given section in which every key stands as a comment with its meaning,
/// range and default. Keys whose default is a value show it: to take the `#` away changes nothing.
/// Keys that are set for the purpose stand without the `#`.
#[must_use]
pub fn template(contour: &Contour, purpose: Purpose) -> String {
    let mut text = comment(
        "A case for gridgen. Lines that begin with # are comments: take the # away from a key to \
         set it. Lengths are in chords.",
    );
    text.push_str(&keys_of("", contour, purpose));
    for (section, about) in SECTIONS {
        let mark = if is_optional(section, contour) { "# " } else { "" };
        text += &["\n", mark, "[", section, "]\n"].concat();
        text.push_str(&comment(&plain(about)));
        text.push_str(&keys_of(section, contour, purpose));
    }
    text
}

/// Whether a section says by standing there that something is so: its heading is a comment.
fn is_optional(section: &str, contour: &Contour) -> bool {
    is_nested(section) && section != contour.key()
}

/// The keys of a section.
fn keys_of(section: &str, contour: &Contour, purpose: Purpose) -> String {
    let keys = KEYS.iter().filter(|key| key.section() == section);
    keys.map(|key| ["\n", &entry(key, contour, purpose)].concat()).collect()
}

fn entry(key: &Key, contour: &Contour, purpose: Purpose) -> String {
    let unit = if key.unit.is_empty() { String::new() } else { format!(", in {}", key.unit) };
    let about = format!("{} Value: {}{unit}.", key.meaning, key.kind);
    let text = comment(&plain(&about));
    let source = match contour {
        Contour::Naca(designation) => ("geometry.naca", toml::Value::from(designation.as_str())),
        Contour::File(path) => ("geometry.file", path.to_string_lossy().as_ref().into()),
        Contour::Section(section) => {
            ("geometry.section.file", section.file.to_string_lossy().as_ref().into())
        }
        Contour::WingBody(_) | Contour::Ellipse(_) | Contour::Joukowski(_) => ("", "".into()),
    };
    let name = key.name();
    if let Some((_, value)) = purpose.set().iter().find(|(path, _)| *path == key.path) {
        return [&text, name, " = ", value, "\n"].concat();
    }
    let line = match key.default.value() {
        _ if key.path == source.0 => [name, " = ", &source.1.to_string()].concat(),
        Some(value) if is_optional(key.section(), contour) => {
            let value = written(&value);
            ["#", name, " = ", &value, "  # default: ", &value].concat()
        }
        Some(value) => ["#", name, " = ", &written(&value)].concat(),
        None => {
            let default = plain(&key.default.to_string());
            ["#", name, " = ", placeholder(key.kind), "  # default: ", &default].concat()
        }
    };
    text + &line + "\n"
}

/// Where a value is to be put in.
fn placeholder(kind: Kind) -> &'static str {
    match kind {
        Kind::Text | Kind::Path | Kind::Word(_) => "\"\"",
        Kind::Words(_) => "[]",
        Kind::Flag | Kind::Integer { .. } | Kind::Real { .. } => "",
    }
}

/// Text as comment lines.
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

/// First line of a resolved case.
const HEADER: &str = "# A case with every default written out; it makes the same grid again.\n";

/// First line of the case of a coarser grid of a family.
const MEMBER: &str =
    "# A case of the size of this grid, which is itself every other point of a finer one.\n";

impl Case {
    /// The case as a case file in which every default is written out: read again, it gives the
    /// same case. Numbers are written with all their digits; the file of coordinates is named by
    /// its absolute path, so that the text may be put anywhere on the same machine.
    ///
    /// # Errors
    ///
    /// A path that is not UTF-8, which [`Case::from_file`] refuses already.
    pub fn to_toml_string(&self) -> Result<String, toml::ser::Error> {
        self.below(HEADER)
    }

    /// The same for a coarser grid of a family, of which the case makes a like one.
    pub(crate) fn member_toml_string(&self) -> Result<String, toml::ser::Error> {
        self.below(MEMBER)
    }

    fn below(&self, header: &str) -> Result<String, toml::ser::Error> {
        let table = toml::Table::try_from(self)?;
        let mut text = String::from(header);
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
        other => other.to_string(),
    }
}
