//! The resolved case as a case file.

use super::Case;
use super::schema::KEYS;

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
pub(super) fn written(value: &toml::Value) -> String {
    match value {
        toml::Value::Float(number) => format!("{number:?}"),
        other => other.to_string(),
    }
}
