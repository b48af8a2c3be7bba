//! `gridgen run`: the grids of many cases, summed up in one table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use clap::builder::RangedU64ValueParser;
use gridgen::case::Case;
use gridgen::generate::{BatchObserver, BatchOptions, BatchResult, run_batch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::interrupt::{self, INTERRUPTED};
use super::terminal::{Terminal, to_stderr, visible};
use super::{CommonArguments, bad_input, stdout_failed};

mod table;

use self::table::Row;

/// Arguments of `gridgen run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gridgen run cases/naca0012.toml cases/e387.toml
  gridgen run 'cases/*.toml' --jobs 2 --output grids
  gridgen run 'cases/*.toml' --set grid.ni=513 --force --json

A case is not run again where its folder holds its results: a report.json on a good grid, with the
fingerprint of the same case, the same coordinates and a program of the same sources, and all files that
the case asks for. Cases that failed are run again. A batch that was interrupted goes on where it stopped
when it is started again: cases under way go on from restart.bin. --force runs all from their start.

Exit codes: 0 every grid is good; else the largest of the cases' own: 1 not converged, folded or beyond a
limit of the case, 2 bad input or files that cannot be read or written, 3 device, 130 interrupted.")]
pub(super) struct BatchArguments {
    /// Case files, or patterns of them with * and ?.
    #[arg(value_name = "CASE.toml", required = true)]
    cases: Vec<String>,
    #[command(flatten)]
    common: CommonArguments,
    /// Cases at a time, one at least for each GPU of --devices; each gets its share of the threads.
    #[arg(short, long, value_name = "N", default_value_t = 1,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
    jobs: usize,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
}

impl BatchArguments {
    /// Runs all cases and prints the table.
    pub(super) fn execute(&self) -> ExitCode {
        let terminal = Terminal::new(self.common.quiet);
        if let Err(error) = self.common.check() {
            error.exit();
        }
        let files = match files(&self.cases) {
            Ok(files) => files,
            Err(message) => {
                let hint = "give case files, or a pattern that fits some: 'cases/*.toml'";
                return bad_input(&terminal, &message, Some(hint));
            }
        };
        let read: Vec<_> =
            files.iter().map(|file| Case::from_file(file, &self.common.set)).collect();
        let named =
            files.iter().zip(&read).filter_map(|(file, case)| Some((file, case.as_ref().ok()?)));
        if let Some(message) = name_clash(named) {
            let hint = "give each case a name of its own: name = \"…\"";
            return bad_input(&terminal, &message, Some(hint));
        }
        interrupt::listen(&terminal);
        let rows = self.run(&files, read, &terminal);
        self.report(&rows, &terminal)
    }

    /// Runs the cases that could be read; the rows are in the order of the files.
    fn run(
        &self,
        files: &[PathBuf],
        read: Vec<Result<Case, gridgen::case::CaseError>>,
        terminal: &Terminal,
    ) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let (mut cases, mut places) = (Vec::new(), Vec::new());
        for (file, case) in files.iter().zip(read) {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            match case {
                Ok(case) => {
                    rows.push(Row::new(file, case.name.clone(), &case, BatchResult::NotRun));
                    places.push(rows.len() - 1);
                    cases.push(case);
                }
                Err(error) => rows.push(Row::refused(file, name, &error.into())),
            }
        }
        let options =
            BatchOptions { run: self.common.options(self.common.output.clone()), jobs: self.jobs };
        let follower = Follower::new(&cases, self.common.verbose, terminal);
        let results = run_batch(&cases, &options, &follower);
        follower.bar.finish_and_clear();
        for ((place, case), result) in places.into_iter().zip(&cases).zip(results) {
            rows[place] = Row::new(&files[place], case.name.clone(), case, result);
        }
        rows
    }

    fn report(&self, rows: &[Row], terminal: &Terminal) -> ExitCode {
        let code = rows.iter().map(Row::exit_code).max().unwrap_or(0);
        let text = if self.json { table::json(rows, code) } else { table::text(rows) };
        match terminal.result(&text) {
            Ok(()) => ExitCode::from(code),
            Err(error) => stdout_failed(terminal, &error),
        }
    }
}

/// The files that arguments name, each once; a pattern stands for the files it fits, sorted.
fn files(arguments: &[String]) -> Result<Vec<PathBuf>, String> {
    let mut files: Vec<PathBuf> = Vec::new();
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
        found.retain(|file| !files.contains(file));
        files.extend(found);
    }
    Ok(files)
}

/// Two cases that would write to the same folder.
fn name_clash<'a>(cases: impl Iterator<Item = (&'a PathBuf, &'a Case)>) -> Option<String> {
    let mut names = BTreeMap::new();
    for (file, case) in cases {
        if let Some(other) = names.insert(case.name.as_str(), file) {
            let files = [other, file].map(|file| file.display().to_string());
            return Some(format!("{} are both named {}", files.join(" and "), case.name));
        }
    }
    None
}

/// Shows how far a batch is.
struct Follower<'a> {
    bar: ProgressBar,
    cases: &'a [Case],
    verbose: bool,
    done: AtomicUsize,
}

impl<'a> Follower<'a> {
    fn new(cases: &'a [Case], verbose: bool, terminal: &Terminal) -> Self {
        let drawn = terminal.can_draw();
        let target =
            if drawn { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(cases.len() as u64), target);
        if let Ok(style) =
            ProgressStyle::with_template("{elapsed} {bar:40} {pos} of {len} {wide_msg}")
        {
            bar.set_style(style);
        }
        Self { bar, cases, verbose, done: AtomicUsize::new(0) }
    }
}

impl BatchObserver for Follower<'_> {
    fn done(&self, index: usize, result: &BatchResult) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let name = &self.cases[index].name;
        self.bar.set_message(visible(name).into_owned());
        self.bar.inc(1);
        if self.verbose {
            let line =
                format!("{done} of {}  {name}: {}\n", self.cases.len(), table::verdict(result));
            self.bar.suspend(|| to_stderr(&line));
        }
    }

    fn cancelled(&self) -> bool {
        interrupt::asked()
    }
}

/// The exit code that a case would have alone.
fn exit_code(result: &BatchResult) -> u8 {
    match result {
        BatchResult::Run(summary) | BatchResult::UpToDate(summary) => summary.verdict.exit_code(),
        BatchResult::Failed(error) => error.exit_code(),
        BatchResult::NotRun => INTERRUPTED,
    }
}
