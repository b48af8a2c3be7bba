//! The table of a batch, as text and as JSON.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use gridgen::case::Case;
use gridgen::error::Error;
use gridgen::generate::{BatchResult, Summary};
use serde::Serialize;

/// What came of one case.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    case: PathBuf,
    name: String,
    /// `converged`, `kept`, `failed` or `not run`.
    status: &'static str,
    exit_code: u8,
    /// Points of the grid; none of a case that cannot be read.
    size: Option<[usize; 2]>,
    #[serde(flatten)]
    summary: Option<Summary>,
    error: Option<String>,
    hint: Option<String>,
}

impl Row {
    /// The row of a case that could be read.
    pub(super) fn new(file: &Path, name: String, case: &Case, result: BatchResult) -> Self {
        let status = verdict(&result);
        let exit_code = super::exit_code(&result);
        let size = Some([case.grid.ni, case.grid.nj]);
        let mut row = Self {
            case: file.to_path_buf(),
            name,
            status,
            exit_code,
            size,
            summary: None,
            error: None,
            hint: None,
        };
        match result {
            BatchResult::Run(summary) | BatchResult::UpToDate(summary) => {
                let verdict = &summary.verdict;
                row.error = (!verdict.is_good()).then(|| verdict.to_string());
                row.summary = Some(summary);
            }
            BatchResult::Failed(error) => {
                row.hint = error.hint();
                row.error = Some(error.to_string());
            }
            BatchResult::NotRun => {}
        }
        row
    }

    /// The row of a case that could not be read.
    pub(super) fn refused(file: &Path, name: String, error: &Error) -> Self {
        Self {
            case: file.to_path_buf(),
            name,
            status: "failed",
            exit_code: error.exit_code(),
            size: None,
            summary: None,
            error: Some(error.to_string()),
            hint: error.hint(),
        }
    }

    /// The exit code that the case would have alone.
    pub(super) fn exit_code(&self) -> u8 {
        self.exit_code
    }

    fn cells(&self) -> [String; 8] {
        let size = self.size.map_or_else(String::new, |[ni, nj]| format!("{ni} x {nj}"));
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

/// Columns that hold words; the others are numbers and stand at the right.
const WORDS: usize = 3;

/// What came of a case, in a word or two.
pub(super) fn verdict(result: &BatchResult) -> &'static str {
    match result {
        BatchResult::Run(summary) if summary.verdict.is_good() => "converged",
        BatchResult::UpToDate(_) => "kept",
        BatchResult::Run(_) | BatchResult::Failed(_) => "failed",
        BatchResult::NotRun => "not run",
    }
}

/// The table: good grids in the order given, then those not run, failures last with their reasons.
pub(super) fn text(rows: &[Row]) -> String {
    let failed = |row: &&Row| row.status == "failed";
    let waiting = |row: &&Row| row.status == "not run";
    let good = rows.iter().filter(|row| !failed(row) && !waiting(row));
    let sorted: Vec<&Row> =
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

/// How many cases came to what.
fn totals(rows: &[Row]) -> String {
    let count = |status| rows.iter().filter(|row| row.status == status).count();
    let counts: Vec<String> = ["converged", "kept", "not run", "failed"]
        .into_iter()
        .filter(|&status| status == "converged" || count(status) > 0)
        .map(|status| format!("{} {status}", count(status)))
        .collect();
    let plural = if rows.len() == 1 { "" } else { "s" };
    format!("{} case{plural}: {}\n", rows.len(), counts.join(", "))
}

/// The same for programs, rows in the order given.
pub(super) fn json(rows: &[Row], exit_code: u8) -> String {
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
