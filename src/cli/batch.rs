//! `gridgen run`: the grids of many cases, summed up in one table.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use gridgen::case::{CaseError, CaseFile, WallPoints};
use gridgen::error::{Error, ErrorClass};
use gridgen::generate::{BatchObserver, BatchResult, Summary, default_jobs, run_batch};
use gridgen::internals::digest;
use gridgen::ranks::{Failure, Job};
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde::Serialize;

use super::terminal::{Terminal, bar, interrupted, listen, to_stderr, visible};
use super::{CommandFailure, CommonArguments, ComputeArguments, code_if, count, exit_code};
use crate::diagnostics::counted;

/// Arguments of `gridgen run`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/run.txt").trim_ascii_end())]
pub(super) struct BatchArguments {
    /// Case files or files of sections' coordinates, or patterns of them with * and ?.
    #[arg(value_name = "CASE.toml", required = true)]
    cases: Vec<String>,
    #[command(flatten)]
    pub(super) common: CommonArguments,
    /// Cases at a time, one at least for each GPU of --devices; each gets its share of the threads. By default as
    /// many as there are processors, at most 16 for each GPU, if the memory has room for them.
    #[arg(short, long, value_name = "N", value_parser = count(1..=4096))]
    jobs: Option<usize>,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
}

impl BatchArguments {
    pub(super) fn execute(&self, terminal: &Terminal) -> Result<u8, CommandFailure> {
        let hint = "give case files, or a pattern that fits some: 'cases/*.toml'";
        let files =
            files(&self.cases).map_err(|message| CommandFailure::input(&message, Some(hint)))?;
        let read: Vec<_> = files.par_iter().map(|file| self.common.keys.read(file)).collect();
        let named =
            files.iter().zip(&read).filter_map(|(file, case)| Some((file, case.as_ref().ok()?)));
        if let Some(message) = name_clash(named) {
            let hint = "give each case a name of its own: name = \"…\"";
            return Err(CommandFailure::input(&message, Some(hint)));
        }
        if let Some(job) = &self.common.compute.machine.job {
            job.compare(&self.comparison(&read))?;
        }
        listen(terminal);
        let rows = self.run(&files, read, terminal);
        let code = rows.iter().map(|row| row.exit_code).max().unwrap_or(0);
        terminal.result(&if self.json { json(&rows, code) } else { text(&rows) })?;
        Ok(code)
    }

    /// Values on which the ranks of a job must agree.
    fn comparison(&self, read: &[Result<CaseFile, CaseError>]) -> [(&'static str, String); 4] {
        let text = |case: &Result<CaseFile, CaseError>| case.as_ref().ok()?.to_toml_string().ok();
        let texts: Vec<String> = read.iter().map(|case| text(case).unwrap_or_default()).collect();
        [
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("a batch of", format!("{} cases", read.len())),
            ("cases of digest", format!("{:016x}", digest::of(texts.concat().as_bytes()))),
            ("--jobs", self.jobs.map_or("by default".to_owned(), |jobs| jobs.to_string())),
        ]
    }

    /// Runs the cases that could be read; the rows are in the order of the files.
    fn run(
        &self,
        files: &[PathBuf],
        read: Vec<Result<CaseFile, CaseError>>,
        terminal: &Terminal,
    ) -> Vec<CaseRow> {
        let cases: Vec<CaseFile> = read.iter().flatten().cloned().collect();
        let options = self.common.options(self.common.compute.output.clone());
        let jobs = self.jobs.unwrap_or_else(|| default_jobs(&cases, &options));
        let ComputeArguments { machine, verbose, .. } = &self.common.compute;
        let template = "{elapsed} {bar:40} {pos} of {len} {wide_msg}";
        let follower = Follower {
            bar: bar(terminal.can_draw(), Some(cases.len() as u64), template),
            cases: &cases,
            verbose: *verbose,
            done: AtomicUsize::new(0),
            job: machine.job.as_deref(),
        };
        let mut results = run_batch(&cases, &options, jobs, &follower).into_iter();
        follower.bar.finish_and_clear();
        let row = |(file, case): (&PathBuf, Result<CaseFile, CaseError>)| match case {
            Ok(case) => CaseRow::of(&case, file, &results.next().unwrap_or(BatchResult::NotRun)),
            Err(error) => CaseRow::new(file, &BatchResult::Failed(Error::from(error).into())),
        };
        files.iter().zip(read).map(row).collect()
    }
}

/// The files that arguments name, each once; a pattern means the files it fits, sorted.
fn files(arguments: &[String]) -> Result<Vec<PathBuf>, String> {
    let (mut files, mut known) = (Vec::new(), HashSet::new());
    for argument in arguments {
        let pattern = argument.contains(['*', '?', '[']) && !Path::new(argument).exists();
        let mut found: Vec<PathBuf> = if pattern {
            let paths = glob::glob(argument).map_err(|e| format!("{argument}: no pattern: {e}"))?;
            paths.filter_map(Result::ok).filter(|path| path.is_file()).collect()
        } else {
            vec![PathBuf::from(argument)]
        };
        if found.is_empty() {
            return Err(format!("{argument}: no file has such a name"));
        }
        found.retain(|file| known.insert(file.clone()));
        files.extend(found);
    }
    Ok(files)
}

/// Two cases that would write to the same folder.
fn name_clash<'a>(cases: impl Iterator<Item = (&'a PathBuf, &'a CaseFile)>) -> Option<String> {
    let mut names = BTreeMap::new();
    for (file, case) in cases {
        if let Some(other) = names.insert(&case.name, file) {
            let files = [other, file].map(|file| file.display().to_string());
            return Some(format!("{} are both named {}", files.join(" and "), case.name));
        }
    }
    None
}

/// Shows how far a batch is.
struct Follower<'a> {
    bar: ProgressBar,
    cases: &'a [CaseFile],
    verbose: bool,
    done: AtomicUsize,
    /// The job of this process; an interruption of this rank stops the others.
    job: Option<&'a Job>,
}

impl BatchObserver for Follower<'_> {
    fn done(&self, index: usize, result: &BatchResult) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let name = &self.cases[index].name;
        self.bar.set_message(visible(name).into_owned());
        self.bar.inc(1);
        if self.verbose {
            let CaseRow { status, .. } = CaseRow::new(Path::new(name), result);
            let line = format!("{done} of {}  {name}: {status}\n", self.cases.len());
            self.bar.suspend(|| to_stderr(&line));
        }
    }

    fn cancelled(&self) -> bool {
        let Some(job) = self.job else { return interrupted() };
        if interrupted() {
            job.cancel();
        }
        job.cancelled()
    }
}

/// The result of one case.
#[derive(Debug, Serialize)]
struct CaseRow {
    case: PathBuf,
    name: String,
    /// `converged`, `kept`, `failed` or `not run`.
    status: &'static str,
    exit_code: u8,
    /// Points of the grid; none of a case that cannot be read.
    size: Option<[usize; 2]>,
    /// Whether three blocks are around the grid.
    #[serde(skip)]
    cascade: bool,
    #[serde(flatten)]
    summary: Option<Summary>,
    error: Option<String>,
    hint: Option<String>,
}

impl CaseRow {
    /// The row of a case that is named as its file, and whose size is not known.
    fn new(file: &Path, result: &BatchResult) -> Self {
        let (status, exit_code, error, hint) = match result {
            BatchResult::Run(Summary { verdict, .. }) if !verdict.is_good() => {
                ("failed", code_if(false), Some(verdict.to_string()), None)
            }
            BatchResult::Run(_) => ("converged", 0, None, None),
            BatchResult::UpToDate(_) => ("kept", 0, None, None),
            BatchResult::Failed(Failure { message, hint, class, .. }) => {
                ("failed", exit_code(*class), message.clone(), hint.clone())
            }
            BatchResult::NotRun => ("not run", exit_code(ErrorClass::Interrupted), None, None),
        };
        let summary = match result {
            BatchResult::Run(summary) | BatchResult::UpToDate(summary) => Some(summary.clone()),
            BatchResult::Failed(_) | BatchResult::NotRun => None,
        };
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (case, size) = (file.to_path_buf(), None);
        Self { case, name, status, exit_code, size, cascade: false, summary, error, hint }
    }

    /// The row of a case that could be read.
    fn of(case: &CaseFile, file: &Path, result: &BatchResult) -> Self {
        // Each of several elements has a grid of another size.
        let size = case.section().and_then(|case| match case.grid.wall_points {
            // The points of a file are known once it is read.
            WallPoints::AsGiven => {
                case.settle().ok().map(|problem| [problem.case.grid.ni, problem.case.grid.nj])
            }
            _ => Some([case.grid.ni, case.grid.nj]),
        });
        let cascade = case.section().is_some_and(|case| case.cascade.is_some());
        Self { name: case.name.clone(), size, cascade, ..Self::new(file, result) }
    }

    fn cells(&self) -> [String; 8] {
        let around = if self.cascade { " + 3 blocks" } else { "" };
        let size = self.size.map_or_else(String::new, |[ni, nj]| format!("{ni} x {nj}{around}"));
        let number =
            |shown: fn(&Summary) -> String| self.summary.as_ref().map_or("-".to_owned(), shown);
        [
            self.name.clone(),
            self.status.to_owned(),
            size,
            number(|s| s.newton_iterations.to_string()),
            number(|s| format!("{:.1e}", s.residual)),
            number(|s| s.folded_cells.to_string()),
            number(|s| format!("{:.3}", s.max_skewness)),
            number(|s| format!("{:.2}", s.seconds)),
        ]
    }
}

const HEADS: [&str; 8] =
    ["case", "status", "points", "steps", "residual", "folded", "skewness", "seconds"];

/// Columns that hold words; the others are numbers, aligned to the right.
const WORDS: usize = 3;

/// The table: good grids in the order given, then those not run, failures last with their reasons.
fn text(rows: &[CaseRow]) -> String {
    let failed = |row: &&CaseRow| row.status == "failed";
    let waiting = |row: &&CaseRow| row.status == "not run";
    let good = rows.iter().filter(|row| !failed(row) && !waiting(row));
    let sorted: Vec<&CaseRow> =
        good.chain(rows.iter().filter(waiting)).chain(rows.iter().filter(failed)).collect();
    let cells: Vec<[String; 8]> = std::iter::once(HEADS.map(str::to_owned))
        .chain(sorted.iter().map(|row| row.cells()))
        .collect();
    let width =
        |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 8] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &cells {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let _ = match column {
                0 => write!(line, "{cell:width$}"),
                1..WORDS => write!(line, "  {cell:width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        text += &[line.trim_end(), "\n"].concat();
    }
    text += &totals(rows);
    for row in rows.iter().filter(failed) {
        let _ = writeln!(text, "\n{}: {}", row.name, row.error.as_deref().unwrap_or_default());
        if let Some(hint) = &row.hint {
            let _ = writeln!(text, "  hint: {hint}");
        }
    }
    text
}

/// The numbers of cases by status.
fn totals(rows: &[CaseRow]) -> String {
    let count = |status| rows.iter().filter(|row| row.status == status).count();
    let counts: Vec<String> = ["converged", "kept", "not run", "failed"]
        .into_iter()
        .filter(|&status| status == "converged" || count(status) > 0)
        .map(|status| format!("{} {status}", count(status)))
        .collect();
    format!("{}: {}\n", counted(rows.len() as f64, "case"), counts.join(", "))
}

/// The table as JSON, rows in the order given.
fn json(rows: &[CaseRow], exit_code: u8) -> String {
    let count = |status| rows.iter().filter(|row| row.status == status).count();
    let value = serde_json::json!({
        "exit_code": exit_code,
        "converged": count("converged"),
        "kept": count("kept"),
        "not_run": count("not run"),
        "failed": count("failed"),
        "cases": rows,
    });
    format!("{value:#}\n")
}
