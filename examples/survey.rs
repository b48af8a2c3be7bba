//! Default settings on every airfoil file of a folder, at two sizes; one line a file and size.
//!
//! `cargo run --release --example survey -- DIR [TABLE]`
//!
//! Lines are appended to TABLE (default `output/survey.tsv`) as they are done: file, size, verdict
//! (`converged`, `refused`, `failed`), folded cells, Newton steps, linear iterations, wall angle
//! error, first cell off by, reason. Files that are in the table already are left out, so that an
//! interrupted survey goes on where it stopped. The summary at the end counts the whole table.
#![allow(clippy::print_stdout, reason = "the summary is this program's result")]

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use gridgen::case::Case;
use gridgen::error::Error;
use gridgen::run::{BackendChoice, Outcome, Progress, RunOptions, run};
use gridgen::solver::history::NewtonStep;
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error>;

/// Points in i and j, first cell in chords.
type Size = (usize, usize, f64);

/// The sizes at which every file is tried.
const SIZES: [Size; 2] = [(161, 65, 1e-4), (257, 97, 1e-5)];

/// The promise on wall angle, in degrees away from corners, and first cell, relative.
const WALL_ANGLE: f64 = 0.5;
const FIRST_CELL: f64 = 5e-3;

/// Columns of the table that name a job: file and size.
const KEY_COLUMNS: usize = 2;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let folder = arguments.next().ok_or("name a folder of airfoil files")?;
    let table = arguments.next().unwrap_or_else(|| PathBuf::from("output/survey.tsv"));
    if let Some(parent) = table.parent() {
        fs::create_dir_all(parent)?;
    }
    let done = done(&fs::read_to_string(&table).unwrap_or_default());
    let jobs = jobs(&folder, &done)?;
    let file = Mutex::new(OpenOptions::new().create(true).append(true).open(&table)?);
    jobs.par_iter().try_for_each(|(path, size)| {
        let line = survey(path, *size).map_err(|error| error.to_string())?;
        let mut file = file.lock().map_err(|_| "another thread stopped".to_owned())?;
        // In one piece: an interrupted survey leaves no half line.
        file.write_all([&line, "\n"].concat().as_bytes()).map_err(|error| error.to_string())
    })?;
    summarise(&fs::read_to_string(&table)?);
    Ok(())
}

/// Keys of the lines of a table.
fn done(table: &str) -> HashSet<String> {
    table.lines().map(|l| l.split('\t').take(KEY_COLUMNS).collect::<Vec<_>>().join("\t")).collect()
}

/// Files and sizes that are not done.
fn jobs(folder: &Path, done: &HashSet<String>) -> Result<Vec<(PathBuf, Size)>, Failure> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    let all = SIZES.into_iter().flat_map(|size| files.iter().map(move |f| (f.clone(), size)));
    Ok(all.filter(|(path, size)| !done.contains(&key(path, *size))).collect())
}

/// File and size, as the table has them.
fn key(path: &Path, (ni, nj, _): Size) -> String {
    format!("{}\t{ni}x{nj}", path.file_name().unwrap_or_default().to_string_lossy())
}

/// The line of one file at one size.
fn survey(path: &Path, size: Size) -> Result<String, Failure> {
    let (ni, nj, first_cell) = size;
    let folder = tempfile::tempdir()?;
    let text = format!(
        "[geometry]\nfile = {:?}\n[grid]\nni = {ni}\nnj = {nj}\nfirst_cell = {first_cell:e}\n\
         [output]\npictures = false\nformats = [\"vts\"]\n",
        fs::canonicalize(path)?.to_string_lossy()
    );
    let options = RunOptions {
        backend: BackendChoice::Cpu,
        threads: Some(1),
        ..RunOptions::new(folder.path().to_path_buf())
    };
    let case = Case::from_toml(&text, Path::new("survey.toml"), &[])?;
    let key = key(path, size);
    // Only what is wrong with the section is the file's doing.
    match run(&case, &options, &mut Silent) {
        Ok(outcome) => Ok(format!("{key}\t{}", measures(&outcome, first_cell))),
        Err(Error::Geometry { error, .. }) => {
            let reason = error.to_string().replace(['\t', '\n'], " ");
            Ok(format!("{key}\trefused\t-\t-\t-\t-\t-\t{reason}"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Verdict and measures of a finished run.
fn measures(outcome: &Outcome, first_cell: f64) -> String {
    let quality = &outcome.quality;
    let off = |cell: f64| (cell / first_cell - 1.0).abs();
    let first_cell = off(quality.first_cell_min).max(off(quality.first_cell_max));
    let angle = quality.wall_angle_error_max_deg;
    let reason = if !outcome.converged {
        outcome.reason.clone()
    } else if outcome.folded_cells > 0 {
        "folded".to_owned()
    } else if angle.is_nan() || angle > WALL_ANGLE {
        "wall angle".to_owned()
    } else if first_cell.is_nan() || first_cell > FIRST_CELL {
        "first cell".to_owned()
    } else {
        String::new()
    };
    let verdict = if reason.is_empty() { "converged" } else { "failed" };
    format!(
        "{verdict}\t{}\t{}\t{}\t{angle:.1e}\t{first_cell:.1e}\t{reason}",
        outcome.folded_cells, outcome.newton_iterations, outcome.linear_iterations
    )
}

/// Prints how many files of each size have which verdict, and all lines that did not converge.
fn summarise(table: &str) {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for line in table.lines() {
        let mut columns = line.split('\t').skip(1);
        if let Some((size, verdict)) = columns.next().zip(columns.next()) {
            *counts.entry(size).or_default().entry(verdict).or_default() += 1;
            if verdict != "converged" {
                println!("{line}");
            }
        }
    }
    for (size, verdicts) in counts {
        let verdicts: Vec<String> = verdicts.iter().map(|(v, n)| format!("{n} {v}")).collect();
        println!("{size}: {}", verdicts.join(", "));
    }
}

/// Shows nothing.
struct Silent;

impl Progress for Silent {
    fn phase(&mut self, _: &str) {}
    fn newton(&mut self, _: &NewtonStep) {}
    fn linear(&mut self, _: f64, _: f64) {}
}
