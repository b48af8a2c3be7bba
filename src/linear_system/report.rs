//! The result of a linear system: its solution, how the residual fell, and a report.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::files::{IoError, REPORT_FILE, atomic};
use crate::formats::matrix_market;
use crate::report::Timing;
use crate::report::history::residuals;

pub(super) fn solution_file(converged: bool) -> &'static str {
    if converged { "x.mtx" } else { "x.failed.mtx" }
}

/// Names of the files of the residuals.
const HISTORY_FILE: &str = "convergence.csv";
const PICTURE_FILE: &str = "convergence.svg";

/// The report of a linear system. Numbers that are not finite are written as `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SystemReport {
    /// Name of the matrix.
    pub name: String,
    /// Version of gridgen.
    pub version: String,
    /// Whether the residual fell below its tolerance.
    pub converged: bool,
    /// Why the solve stopped, one sentence.
    pub stop_reason: String,
    /// The matrix.
    pub matrix: MatrixReport,
    /// The right side: its file, `ones`, or `random` with a seed.
    pub right_side: String,
    /// How it was solved.
    pub method: MethodReport,
    /// Iterations; BiCGStab counts halves.
    pub iterations: f64,
    /// ‖b − A x‖ / ‖b‖ as the solver has it.
    pub relative_residual: f64,
    /// The same from the matrix of the file and x as written, in double precision on the host.
    pub true_relative_residual: f64,
    /// Relative residual at which the solve was to stop.
    pub tolerance: f64,
    /// Where the time went.
    pub timing: Timing,
    /// Where it was computed: `cpu`, or the device.
    pub backend: String,
    /// Threads used on the CPU.
    pub threads: usize,
    /// What happened on the way, one sentence each.
    pub notes: Vec<String>,
}

/// The matrix in the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatrixReport {
    /// Its file.
    pub file: PathBuf,
    /// Rows, and columns.
    pub rows: usize,
    /// Entries, those that symmetry gives among them.
    pub entries: usize,
    /// Entries of the longest row.
    pub longest_row: usize,
    /// Rows without entries.
    pub empty_rows: usize,
    /// Rows without an entry on the diagonal.
    pub missing_diagonals: usize,
    /// Entries that were added to another of the same place.
    pub duplicates: usize,
    /// Whether A = Aᵀ, to rounding.
    pub symmetric: bool,
}

/// How a system was solved, in the words of the command line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodReport {
    /// Krylov method.
    pub solver: String,
    /// Iterations of GMRES between restarts.
    pub restart: usize,
    /// Preconditioner.
    pub preconditioner: String,
    /// Shift α of factors of A + α diag(A).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<f64>,
    /// Schedule of their triangular solves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Blocks of rows, one a GPU, that the factors do not couple, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<usize>,
    /// Format of the matrix in products.
    pub format: String,
    /// How rows and columns were renumbered.
    pub reorder: String,
}

/// The phases of a solve in the order of the report.
pub(super) const PHASES: [&str; 9] = [
    // Of matrix and right side.
    "reading",
    // Facts of the matrix and its renumbering.
    "reordering",
    // Waiting for the device after that: it is opened meanwhile.
    "device",
    // Bringing the matrix to the device in the format of its products.
    "set-up",
    // What the factors take from the pattern of the matrix alone.
    "analysis",
    // Making the preconditioner.
    "factorisation",
    // The iterations.
    "solve",
    // Of the files that were complete before the report.
    "writing",
    // All from the start until the report.
    "total",
];

pub(super) fn names() -> [&'static str; 5] {
    [solution_file(true), solution_file(false), HISTORY_FILE, PICTURE_FILE, REPORT_FILE]
}

/// Writes x, and its relative residuals after iterations as text and as a picture; returns the files.
///
/// # Errors
/// [`IoError`] of the first file that cannot be written.
pub(super) fn write(
    folder: &Path,
    report: &SystemReport,
    x: &[f64],
    relative_residuals: &[[f64; 2]],
) -> Result<Vec<PathBuf>, IoError> {
    let names = [solution_file(report.converged), HISTORY_FILE, PICTURE_FILE];
    let files = names.map(|name| folder.join(name));
    let [solution, history, picture] = &files;
    matrix_market::write_vector(solution, x)?;
    atomic::write(history, |out| {
        writeln!(out, "iteration,relative_residual")?;
        relative_residuals
            .iter()
            .try_for_each(|[iteration, residual]| writeln!(out, "{iteration},{residual:e}"))
    })?;
    let summary = format!(
        "{} rows, {} entries   ·   {}, {}   ·   {} iterations",
        report.matrix.rows,
        report.matrix.entries,
        report.method.solver,
        report.method.preconditioner,
        report.iterations,
    );
    let figure = residuals(&report.name, &summary, relative_residuals, report.tolerance);
    figure.picture().write(picture)?;
    Ok(files.to_vec())
}
