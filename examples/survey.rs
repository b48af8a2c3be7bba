//! Default settings on every airfoil file of a folder, as O-grid and by `topology = "auto"` (C for
//! a sharp edge), at two sizes; one line a file, size and topology.
//!
//! `cargo run --release --example survey -- DIR [TABLE]`
//!
//! Lines are appended to TABLE (default `output/survey.tsv`) as they are done: file, size, topology,
//! verdict (`converged`, `refused`, `failed`), folded cells, Newton steps, linear iterations, wall angle
//! error, first cell off by, reason. Files that are in the table already are left out, so that an
//! interrupted survey goes on where it stopped. The summary at the end counts the whole table.
#![allow(clippy::print_stdout, reason = "the summary is this program's result")]

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use gridgen::case::{CaseFile, SectionError};
use gridgen::error::Error;
use gridgen::generate::{BackendChoice, GridResult, Progress, RunOptions, RunResult, run};
use gridgen::solver::history::NewtonStep;

type Failure = Box<dyn std::error::Error>;

/// Points in i and j, first cell in chords.
type Size = (usize, usize, f64);

/// Size and topology.
type Job = (Size, &'static str);

/// The sizes at which every file is tried.
const SIZES: [Size; 2] = [(161, 65, 1e-4), (257, 97, 1e-5)];

/// The promise on wall angle, in degrees away from corners, and first cell, relative.
const WALL_ANGLE: f64 = 0.5;
const FIRST_CELL: f64 = 5e-3;

/// The topologies at which every file is tried.
const TOPOLOGIES: [&str; 2] = ["O", "auto"];

/// Columns of the table that name a job: file, size and topology.
const KEY_COLUMNS: usize = 3;

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
    let jobs = Mutex::new(jobs.into_iter());
    // Threads of their own: a run waits for its pool of threads, and a thread of another pool would
    // begin the next run meanwhile.
    thread::scope(|scope| {
        let workers: Vec<_> = (0..thread::available_parallelism().map_or(1, Into::into))
            .map(|_| scope.spawn(|| work(&jobs, &file)))
            .collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| "a thread stopped".to_owned())?)
    })?;
    summarise(&fs::read_to_string(&table)?);
    Ok(())
}

/// Does jobs until none is left.
fn work(
    jobs: &Mutex<impl Iterator<Item = (PathBuf, Job)>>,
    table: &Mutex<impl Write>,
) -> Result<(), String> {
    let stopped = "another thread stopped";
    loop {
        let Some((path, job)) = jobs.lock().map_err(|_| stopped)?.next() else { return Ok(()) };
        let line = survey(&path, job).map_err(|error| error.to_string())?;
        let mut table = table.lock().map_err(|_| stopped)?;
        // In one piece: an interrupted survey leaves no half line.
        table.write_all([&line, "\n"].concat().as_bytes()).map_err(|error| error.to_string())?;
    }
}

/// Keys of the lines of a table.
fn done(table: &str) -> HashSet<String> {
    table.lines().map(|l| l.split('\t').take(KEY_COLUMNS).collect::<Vec<_>>().join("\t")).collect()
}

/// Files, sizes and topologies that are not done.
fn jobs(folder: &Path, done: &HashSet<String>) -> Result<Vec<(PathBuf, Job)>, Failure> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    let sizes = SIZES.into_iter().flat_map(|size| TOPOLOGIES.map(|topology| (size, topology)));
    let all = sizes.flat_map(|job| files.iter().map(move |f| (f.clone(), job)));
    Ok(all.filter(|(path, job)| !done.contains(&key(path, *job))).collect())
}

/// File, size and topology, as the table has them.
fn key(path: &Path, ((ni, nj, _), topology): Job) -> String {
    format!("{}\t{ni}x{nj}\t{topology}", path.file_name().unwrap_or_default().to_string_lossy())
}

/// The line of one file at one size and topology.
fn survey(path: &Path, job: Job) -> Result<String, Failure> {
    let ((ni, nj, first_cell), topology) = job;
    let folder = tempfile::tempdir()?;
    let text = format!(
        "[geometry]\nfile = {:?}\n[grid]\ntopology = \"{topology}\"\nni = {ni}\nnj = {nj}\nfirst_cell = {first_cell:e}\n\
         [output]\npictures = false\nreport = false\nformats = [\"vts\"]\n",
        fs::canonicalize(path)?.to_string_lossy()
    );
    let mut options = RunOptions::new(folder.path().to_path_buf());
    options.backend = BackendChoice::Cpu;
    options.threads = Some(1);
    let case = CaseFile::from_toml(&text, Path::new("survey.toml"), &[])?;
    let key = key(path, job);
    // Only what is wrong with the section is the file's doing.
    match run(&case, &options, &mut Silent).map(RunResult::into_section) {
        Ok(outcome) => Ok(format!("{key}\t{}", measures(&outcome, first_cell))),
        Err(Error::Geometry(SectionError { error, .. })) => {
            let reason = error.to_string().replace(['\t', '\n'], " ");
            Ok(format!("{key}\trefused\t-\t-\t-\t-\t-\t{reason}"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Verdict and measures of a finished run.
fn measures(outcome: &GridResult, first_cell: f64) -> String {
    let quality = &outcome.quality;
    let off = |cell: f64| (cell / first_cell - 1.0).abs();
    let first_cell = off(quality.first_cell_min).max(off(quality.first_cell_max));
    let angle = quality.wall_angle_error_max_deg;
    let reason = if !outcome.verdict.is_good() {
        outcome.verdict.to_string()
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
        outcome.folded_cells,
        outcome.newton_iterations(),
        outcome.linear_iterations()
    )
}

/// Prints how many files of each size have which verdict, and all lines that did not converge.
fn summarise(table: &str) {
    let mut counts: BTreeMap<[&str; 2], BTreeMap<&str, usize>> = BTreeMap::new();
    for line in table.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        if let [_, size, topology, verdict, ..] = columns[..] {
            *counts.entry([size, topology]).or_default().entry(verdict).or_default() += 1;
            if verdict != "converged" {
                println!("{line}");
            }
        }
    }
    for ([size, topology], verdicts) in counts {
        let verdicts: Vec<String> = verdicts.iter().map(|(v, n)| format!("{n} {v}")).collect();
        println!("{size} {topology}: {}", verdicts.join(", "));
    }
}

/// Shows nothing.
struct Silent;

impl Progress for Silent {
    fn phase(&mut self, _: &str) {}
    fn newton(&mut self, _: &NewtonStep) {}
    fn linear(&mut self, _: f64, _: f64) {}
}
