//! A case to begin with: every key, with what it means, as a comment.

use super::schema::{KEYS, Key, Kind, SECTIONS, is_nested};
use super::{Contour, docs};

/// Characters of a line.
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
    text.push_str(&keys("", contour, purpose));
    for (section, about) in SECTIONS {
        let mark = if is_optional(section, contour) { "# " } else { "" };
        text += &["\n", mark, "[", section, "]\n"].concat();
        text.push_str(&comment(&docs::plain(about)));
        text.push_str(&keys(section, contour, purpose));
    }
    text
}

/// Whether a section says by standing there that something is so: its heading is a comment.
fn is_optional(section: &str, contour: &Contour) -> bool {
    is_nested(section) && section != contour.key()
}

/// The keys of a section.
fn keys(section: &str, contour: &Contour, purpose: Purpose) -> String {
    let keys = KEYS.iter().filter(|key| key.section() == section);
    keys.map(|key| ["\n", &entry(key, contour, purpose)].concat()).collect()
}

fn entry(key: &Key, contour: &Contour, purpose: Purpose) -> String {
    let unit = if key.unit.is_empty() { String::new() } else { format!(", in {}", key.unit) };
    let about = format!("{} Value: {}{unit}.", key.meaning, key.kind);
    let text = comment(&docs::plain(&about));
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
            let value = super::write::written(&value);
            ["#", name, " = ", &value, "  # default: ", &value].concat()
        }
        Some(value) => ["#", name, " = ", &super::write::written(&value)].concat(),
        None => {
            let default = docs::plain(&key.default.to_string());
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
