//! The sources of a case on a command line: a case file, a section by its file, digits or name, and the keys that
//! replace the case's own.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use clap::{Args, CommandFactory};
use gridgen::case::{CaseError, CaseFile, Table, Value};
use gridgen::internals::schema::nearest;

use super::{Cli, CommandFailure, parse_set};
use crate::case::nearest_file;

/// Sections with a formula, each with the section of a case that makes it.
const SHAPES: [(&str, &str); 3] = [
    ("cylinder", "geometry.ellipse"),
    ("joukowski", "geometry.joukowski"),
    ("wing-body", "geometry.wing_body"),
];

/// Bytes of a file that are searched for the section of a case.
const SEARCHED: u64 = 1 << 16;

/// Keys of the case. Each option is short for a --set.
#[derive(Debug, Args)]
pub(super) struct KeyArguments {
    /// Section by its NACA designation, in place of that of the case: geometry.naca.
    #[arg(long, value_name = "DIGITS")]
    naca: Option<String>,
    /// Points of the line along the wall: grid.ni.
    #[arg(long, value_name = "POINTS")]
    ni: Option<String>,
    /// Points from wall to far field: grid.nj.
    #[arg(long, value_name = "POINTS")]
    nj: Option<String>,
    /// Height of the first cell: grid.first_cell.
    #[arg(long, value_name = "CHORDS")]
    first_cell: Option<String>,
    /// Height of the first cell in wall units, with --reynolds: grid.y_plus.
    #[arg(long, value_name = "Y+")]
    y_plus: Option<String>,
    /// Reynolds number of the chord: grid.reynolds.
    #[arg(long, value_name = "NUMBER")]
    reynolds: Option<String>,
    /// Radius of the far field: grid.far_field.
    #[arg(long, value_name = "CHORDS")]
    far_field: Option<String>,
    /// Shape of the grid, O, C, auto or half: grid.topology.
    #[arg(long, value_name = "WORD")]
    topology: Option<String>,
    /// Formats of the mesh, as in su2,vts: output.formats.
    #[arg(long, value_name = "FORMATS")]
    format: Option<String>,
    /// Replace a key of the case; can be repeated. Of one of several elements: element.NAME.SECTION.KEY.
    #[arg(long, value_name = "SECTION.KEY=VALUE", value_parser = parse_set)]
    set: Vec<(String, String)>,
}

impl KeyArguments {
    /// The keys that are given, those of --set last.
    fn replaced(&self) -> Vec<(String, String)> {
        let short = [
            ("geometry.naca", &self.naca),
            ("grid.ni", &self.ni),
            ("grid.nj", &self.nj),
            ("grid.first_cell", &self.first_cell),
            ("grid.y_plus", &self.y_plus),
            ("grid.reynolds", &self.reynolds),
            ("grid.far_field", &self.far_field),
            ("grid.topology", &self.topology),
            ("output.formats", &self.format),
        ];
        let given = |(key, value): (&str, &Option<String>)| Some((key.to_owned(), value.clone()?));
        short.into_iter().filter_map(given).chain(self.set.iter().cloned()).collect()
    }

    /// The case in a file, or that of the section that a word names.
    pub(super) fn read(&self, word: &Path) -> Result<CaseFile, CaseError> {
        match section(word) {
            // The case is named after the section that it has.
            Some(section) => self.of(self.naca.as_deref().map_or(section, naca)),
            None => CaseFile::from_file(word, &self.replaced()),
        }
    }

    /// The case that a word names. Without a word `--naca` names the section.
    pub(super) fn case(&self, word: Option<&Path>) -> Result<CaseFile, CommandFailure> {
        let Some(word) = word else {
            return Ok(self.of(naca(self.naca.as_deref().unwrap_or_default()))?);
        };
        unknown(word).map_or_else(|| Ok(self.read(word)?), Err)
    }

    fn of(&self, (name, key, value): Section) -> Result<CaseFile, CaseError> {
        CaseFile::of_section(&name, (key, value), &self.replaced())
    }
}

/// The name of a case, the key of its section, and that key's value.
type Section = (String, &'static str, Value);

/// The section that a word names: a file of coordinates, NACA digits, or a section with a formula.
fn section(word: &Path) -> Option<Section> {
    if is_section(word) {
        let name = word.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        return Some((name, "geometry.file", word.to_string_lossy().into_owned().into()));
    }
    let shape = |text| {
        let (name, section) = SHAPES.into_iter().find(|(name, _)| *name == text)?;
        Some((name.to_owned(), section, Table::new().into()))
    };
    designation(word).map(naca).or_else(|| plain(word).and_then(shape))
}

fn naca(digits: &str) -> Section {
    let plain = digits.to_lowercase().replace([' ', '-'], "");
    let name = format!("naca{}", plain.trim_start_matches("naca"));
    (name, "geometry.naca", digits.into())
}

/// A word as a NACA designation: digits behind an optional `NACA`, and no file of that name.
pub(super) fn designation(word: &Path) -> Option<&str> {
    let text = plain(word)?;
    let lower = text.to_ascii_lowercase();
    let digits = lower.strip_prefix("naca").unwrap_or(&lower).trim_start_matches([' ', '-']);
    digits.starts_with(|c: char| c.is_ascii_digit()).then_some(text)
}

/// The text of a word that names no file or folder and does not look like a path.
fn plain(word: &Path) -> Option<&str> {
    let text = word.to_str().filter(|_| !word.exists())?;
    let path = word.extension().is_some() || text.contains(std::path::is_separator);
    (!path && !text.starts_with('-')).then_some(text)
}

/// The failure of a word that is no file, no command and no section, with the nearest of each.
pub(super) fn unknown(word: &Path) -> Option<CommandFailure> {
    let file = nearest_file(&Path::new(".").join(word)).filter(|_| !word.exists());
    let Some(text) = plain(word) else {
        let hint = format!("did you mean {} in the same folder?", file?);
        let message = format!("{}: there is no such file", word.display());
        return Some(CommandFailure::input(&message, Some(&hint)));
    };
    let cli = Cli::command();
    let commands: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
    if section(word).is_some() || commands.contains(&text) {
        return None;
    }
    let near =
        [nearest(text, commands), file.as_deref(), nearest(text, SHAPES.map(|(name, _)| name))];
    let near: Vec<&str> = near.into_iter().flatten().collect();
    let hint = if near.is_empty() {
        "gridgen takes a case file, a file of coordinates, NACA digits such as 2412, or one of cylinder, joukowski and \
         wing-body; gridgen --help lists the commands"
            .to_owned()
    } else {
        format!("did you mean {}?", near.join(" or "))
    };
    Some(CommandFailure::input(
        &format!("no command, file or section is named {text}"),
        Some(&hint),
    ))
}

/// Returns true if a file exists and holds the coordinates of a section: its name does not end in `.toml`, and none of
/// its lines has the section or a key that every case has.
fn is_section(path: &Path) -> bool {
    if path.extension().is_some_and(|ending| ending == "toml") || !path.is_file() {
        return false;
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SEARCHED).read_to_end(&mut bytes));
    let of_case = |line: &str| {
        let line = line.trim_start().trim_start_matches('[');
        let rest = line.strip_prefix("geometry").or_else(|| line.strip_prefix("element"));
        rest.is_some_and(|rest| rest.trim_start().starts_with(['.', ']', '=']))
    };
    read.is_ok() && !String::from_utf8_lossy(&bytes).lines().any(of_case)
}
