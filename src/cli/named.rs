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

/// Sections that have a name: those with a formula, each with the section of a case that makes it, and those of which
/// the program has the coordinates (docs/licences.md has their sources).
const NAMED: [(&str, &str); 7] = [
    ("cylinder", "geometry.ellipse"),
    ("joukowski", "geometry.joukowski"),
    ("wing-body", "geometry.wing_body"),
    ("e387", include_str!("../../cases/airfoils/e387.dat")),
    ("ls413", include_str!("../../cases/airfoils/ls413.dat")),
    ("nlf416", include_str!("../../cases/airfoils/nlf416.dat")),
    ("sc21010", include_str!("../../cases/airfoils/sc21010.dat")),
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
    /// The keys that are given, those of --set last, with the section `naca`.
    fn replaced(&self, naca: Option<&str>) -> Vec<(String, String)> {
        let short = [
            ("geometry.naca", naca),
            ("grid.ni", self.ni.as_deref()),
            ("grid.nj", self.nj.as_deref()),
            ("grid.first_cell", self.first_cell.as_deref()),
            ("grid.y_plus", self.y_plus.as_deref()),
            ("grid.reynolds", self.reynolds.as_deref()),
            ("grid.far_field", self.far_field.as_deref()),
            ("grid.topology", self.topology.as_deref()),
            ("output.formats", self.format.as_deref()),
        ];
        let given = |(key, value): (&str, Option<&str>)| Some((key.to_owned(), value?.to_owned()));
        short.into_iter().filter_map(given).chain(self.set.iter().cloned()).collect()
    }

    /// The case in a file, or that of the section that a word names.
    pub(super) fn read(&self, word: &Path) -> Result<CaseFile, CaseError> {
        let replaced = self.replaced(self.naca.as_deref());
        section(word).map_or_else(
            || CaseFile::from_file(word, &replaced),
            |(name, key, value)| CaseFile::of_section(&name, (key, value), &replaced),
        )
    }

    /// The case that a word names. Without a word `--naca` names the section.
    pub(super) fn case(&self, word: Option<&Path>) -> Result<CaseFile, CommandFailure> {
        let Some(word) = word else {
            let (name, key, value) = naca(self.naca.as_deref().unwrap_or_default());
            return Ok(CaseFile::of_section(&name, (key, value), &self.replaced(None))?);
        };
        unknown(word).map_or_else(|| Ok(self.read(word)?), Err)
    }
}

/// The name of a case, the key of its section, and that key's value.
type Section = (String, &'static str, Value);

/// The section that a word names: a file of coordinates, a NACA designation, or a section with a name.
pub(super) fn section(word: &Path) -> Option<Section> {
    if is_section(word) {
        let name = word.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        return Some((name, "geometry.file", word.to_string_lossy().into_owned().into()));
    }
    designation(word).map(naca).or_else(|| named(word))
}

/// A section that has a name, with a formula or coordinates.
pub(super) fn named(word: &Path) -> Option<Section> {
    let text = plain(word)?.to_lowercase();
    let (name, content) = NAMED.into_iter().find(|(name, _)| *name == text)?;
    if content.starts_with("geometry.") {
        return Some((name.to_owned(), content, Table::new().into()));
    }
    let number = |word: &str| word.parse().ok().map(Value::Float);
    let row = |line: &str| line.split_whitespace().map(number).collect::<Option<Vec<_>>>();
    let rows = content.lines().filter_map(row).filter(|row| row.len() == 2).map(Value::Array);
    Some((name.to_owned(), "geometry.points", Value::Array(rows.collect())))
}

fn naca(digits: &str) -> Section {
    let plain: String = digits.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let name = format!("naca{}", plain.trim_start_matches("naca").trim_start_matches('n'));
    (name, "geometry.naca", digits.into())
}

/// A word as a NACA designation: digits behind an optional `NACA` or `N`, and no file of that name.
pub(super) fn designation(word: &Path) -> Option<&str> {
    let text = word.to_str()?;
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_start_matches("naca").trim_start_matches('n');
    let starts = digits.trim_start_matches([' ', '-']).starts_with(|c: char| c.is_ascii_digit());
    // The mean line a=0.5 is no ending of a file.
    let stem = Path::new(text.split("a=").next().unwrap_or_default());
    (starts && !word.exists() && plain(stem).is_some()).then_some(text)
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
        [nearest(text, commands), file.as_deref(), nearest(text, NAMED.map(|(name, _)| name))];
    let near: Vec<&str> = near.into_iter().flatten().collect();
    let hint = if near.is_empty() {
        let names = NAMED.map(|(name, _)| name).join(", ");
        format!(
            "gridgen takes a case file, a file of coordinates, a NACA designation such as 2412 or 63-215, or one of \
             {names}; gridgen --help lists the commands"
        )
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
