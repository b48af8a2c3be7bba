//! Names that become folders.

use std::path::Path;

use super::CaseError;
use super::entries::Entries;

/// Longest name, so that file names with endings stay below the usual 255 bytes.
const MOST_BYTES: usize = 100;

/// What a name must be, for messages.
const EXPECTED: &str = "a name fit for a file on every system: at most 100 bytes, no control \
                        characters, none of / \\ < > : \" | ? *, no blank or point at its end, and \
                        no device such as NUL";

/// Name of the case: the one that is given, or that of its file.
pub(super) fn of(entries: &Entries, path: &Path) -> Result<String, CaseError> {
    let stem = || path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let name = entries.given::<String>("name")?.unwrap_or_else(stem);
    if is_fit(&name) {
        return Ok(name);
    }
    let remedy = "choose the folder by --output, the name by name = \"…\"";
    Err(entries.refuse(&["name"], EXPECTED.into(), remedy.into()))
}

/// Whether a folder below another can have this name, on every system. Source: Microsoft, "Naming
/// Files, Paths, and Namespaces",
/// <https://learn.microsoft.com/windows/win32/fileio/naming-a-file>.
pub(crate) fn is_fit(name: &str) -> bool {
    let reserved = |c: char| c.is_control() || "/\\<>:\"|?*".contains(c);
    !name.is_empty()
        && name.len() <= MOST_BYTES
        && !name.contains(reserved)
        // Windows leaves these out, so that `..` and `wing.` are other names there.
        && !name.ends_with([' ', '.'])
        && !is_device(name)
}

/// Whether Windows takes the name for a device, which it does with any ending.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_uppercase();
    match stem.get(..3) {
        Some("CON" | "PRN" | "AUX" | "NUL") => stem.len() == 3,
        Some("COM" | "LPT") => {
            let mut number = stem[3..].chars();
            let numbered = number.next().is_some_and(|c| c.is_ascii_digit() || "¹²³".contains(c));
            numbered && number.next().is_none()
        }
        _ => false,
    }
}
