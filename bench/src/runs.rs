//! Whole runs, phase by phase.

use std::path::Path;

use gridgen::case::CaseFile;
use gridgen::error::Error;
use gridgen::generate::{RunOptions, run};

use super::files::folder;
use super::results::points;
use super::{Results, Size, Table};

/// Runs after the first one; for each phase the fastest counts.
const RUNS: usize = 5;

/// Seconds of each phase of a run, from the case to all its files, without the start of the program. The case
/// is an O-grid around a NACA 0012 at each size, all else by default; `options` select the machine.
pub fn runs(sizes: &[Size], options: &RunOptions) -> Result<Results, Error> {
    let folder = folder()?;
    let columns = ["points", "phase", "ms"];
    let mut table = Table::new(format!("Phases of whole runs, fastest of {RUNS}"), &columns);
    for &(ni, nj) in sizes {
        let text = format!(
            "geometry.naca = \"0012\"\ngrid.topology = \"O\"\ngrid.ni = {ni}\ngrid.nj = {nj}\n"
        );
        let case = CaseFile::from_toml(&text, Path::new("naca0012.toml"), &[])?;
        let mut options = options.clone();
        options.output = folder.path().join("grid");
        run(&case, &options, &mut ())?;
        let mut fastest: Vec<(&str, f64)> = Vec::new();
        for _ in 0..RUNS {
            for &(phase, seconds) in run(&case, &options, &mut ())?.timing.phases() {
                match fastest.iter_mut().find(|(known, _)| *known == phase) {
                    Some((_, least)) => *least = least.min(seconds),
                    None => fastest.push((phase, seconds)),
                }
            }
        }
        table.rows.extend(fastest.into_iter().map(|(phase, seconds)| {
            vec![points((ni, nj)), phase.to_owned(), format!("{:.2}", 1e3 * seconds)]
        }));
    }
    Ok(vec![table].into())
}
