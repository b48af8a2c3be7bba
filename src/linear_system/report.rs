//! The result of a linear system: its solution, the history of the residual, and a report.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::files::{IoError, REPORT_FILE, atomic};
use crate::formats::matrix_market;
use crate::report::Timing;
use crate::report::figures::residuals;
use crate::solver::LinearStop;
use crate::solver::linear::LinearReport;

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
    /// True if the residual fell below its tolerance. For several right-hand sides the numbers describe the worst.
    pub converged: bool,
    /// Reason why the solve stopped, one sentence.
    pub stop_reason: String,
    /// The matrix.
    pub matrix: MatrixReport,
    /// The right-hand side: its file, `ones`, or `random` with a seed.
    pub right_side: String,
    /// The method of the solve.
    pub method: MethodReport,
    /// Iterations, for all right-hand sides; BiCGStab counts halves.
    pub iterations: f64,
    /// ‖b − A x‖ / ‖b‖ as computed by the solver.
    pub relative_residual: f64,
    /// ‖b − A x‖ / ‖b‖ from the matrix of the file and x as written, in double precision on the host.
    pub true_relative_residual: f64,
    /// The results for each of several right-hand sides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<ColumnReport>,
    /// Relative residual at which the solve was to stop.
    pub tolerance: f64,
    /// Durations of the phases.
    pub timing: Timing,
    /// `cpu`, or the name of the device.
    pub backend: String,
    /// Threads used on the CPU.
    pub threads: usize,
    /// Notes about the run, one sentence each.
    pub notes: Vec<String>,
}

/// The result for a right-hand side, with fields of [`SystemReport`].
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the report has the same")]
pub struct ColumnReport {
    pub converged: bool,
    pub stop_reason: String,
    pub iterations: f64,
    pub relative_residual: f64,
    pub true_relative_residual: f64,
}

/// Factor by which the true residual may exceed the tolerance that the solver's residual met: the solver
/// allows its own to drift by a hundredth, and products on the host are rounded in another order.
const DRIFT: f64 = 1.02;

impl ColumnReport {
    /// The result of a solve whose residual on the host is `truth`.
    pub(super) fn new(linear: &LinearReport, truth: f64, tolerance: f64) -> Self {
        let met = truth <= DRIFT * tolerance;
        Self {
            converged: linear.stop == LinearStop::Converged && met,
            stop_reason: match linear.stop {
                LinearStop::Converged if !met => {
                    format!("the residual on the host is {truth:.2e}, above the tolerance")
                }
                stop => stop.to_string(),
            },
            iterations: linear.iterations,
            relative_residual: linear.relative_residual,
            true_relative_residual: truth,
        }
    }
}

/// The matrix in the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatrixReport {
    /// Its file.
    pub file: PathBuf,
    /// Number of rows and of columns.
    pub rows: usize,
    /// Entries, including those implied by symmetry.
    pub entries: usize,
    /// Entries of the longest row.
    pub longest_row: usize,
    /// Rows without entries.
    pub empty_rows: usize,
    /// Rows without an entry on the diagonal.
    pub missing_diagonals: usize,
    /// Entries that were added to another in the same place.
    pub duplicates: usize,
    /// True if A = Aᵀ up to rounding.
    pub symmetric: bool,
}

/// The method of a solve, in the words of the command line.
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
    /// Schedule of the triangular solves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Blocks of rows, one a GPU, between which the factors have no coupling, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<usize>,
    /// Storage of the matrix for products.
    pub format: String,
    /// Renumbering of rows and columns.
    pub reorder: String,
}

/// The phases of a solve in the order of the report. The device is opened during the phases before the wait for it,
/// set-up is the upload of the matrix, and analysis that of its pattern for the factors.
pub(super) const PHASES: [&str; 9] = [
    "reading",
    "reordering",
    "device",
    "set-up",
    "analysis",
    "factorisation",
    "solve",
    "writing",
    "total",
];

pub(super) fn names() -> [&'static str; 5] {
    [solution_file(true), solution_file(false), HISTORY_FILE, PICTURE_FILE, REPORT_FILE]
}

/// Writes each x, and its relative residuals by iteration as text and as a picture; returns the files. The picture
/// shows the right-hand side with the most iterations.
pub(super) fn write(
    folder: &Path,
    report: &SystemReport,
    columns: &[(&[f64], &[[f64; 2]])],
) -> Result<Vec<PathBuf>, IoError> {
    let names = [solution_file(report.converged), HISTORY_FILE, PICTURE_FILE];
    let files = names.map(|name| folder.join(name));
    let [solution, history, picture] = &files;
    let x: Vec<&[f64]> = columns.iter().map(|(x, _)| *x).collect();
    matrix_market::write_columns(solution, &x)?;
    atomic::write(history, |out| {
        writeln!(out, "iteration,relative_residual")?;
        // Each right-hand side begins with iteration 0.
        let mut all = columns.iter().flat_map(|(_, residuals)| *residuals);
        all.try_for_each(|[iteration, residual]| writeln!(out, "{iteration},{residual:e}"))
    })?;
    let shown = columns.iter().map(|(_, residuals)| *residuals).max_by_key(|shown| shown.len());
    let summary = format!(
        "{} rows, {} entries   ·   {}, {}   ·   {} iterations",
        report.matrix.rows,
        report.matrix.entries,
        report.method.solver,
        report.method.preconditioner,
        report.iterations,
    );
    let figure = residuals(&report.name, &summary, shown.unwrap_or_default(), report.tolerance);
    figure.picture().write(picture)?;
    Ok(files.to_vec())
}
