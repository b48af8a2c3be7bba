//! A linear system from files: read, solved and written.

mod facts;
mod options;
mod solve;

use std::path::PathBuf;
use std::time::Instant;

use rayon::prelude::*;

use self::facts::{MatrixFacts, asymmetry};
pub use self::options::{Reordering, RightSide, SystemOptions};
use self::solve::{Solved, solve_on};
use super::{BackendChoice, Progress, thread_pool};
use crate::backend::DeviceError;
use crate::backend::cpu::CpuBackend;
use crate::error::{Error, SystemError};
use crate::io;
use crate::io::matrix_market::{self, Matrix, Symmetry};
use crate::io::plot::ResidualsFigure;
use crate::io::solution::{self, MatrixReport, SystemReport, SystemTiming};
use crate::solver::LinearStop;
use crate::sparse::Csr;

/// What came of a linear system.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemOutcome {
    /// The report as written.
    pub report: SystemReport,
    /// Files written.
    pub files: Vec<PathBuf>,
}

impl SystemOutcome {
    /// Phases and their seconds.
    #[must_use]
    pub fn timings(&self) -> Vec<(String, f64)> {
        let timing = &self.report.timing;
        [
            ("reading", timing.reading_seconds),
            ("reordering", timing.reordering_seconds),
            ("device", timing.device_seconds),
            ("set-up", timing.set_up_seconds),
            ("analysis", timing.analysis_seconds),
            ("factorisation", timing.factorisation_seconds),
            ("solve", timing.solve_seconds),
            ("writing", timing.writing_seconds),
            ("total", timing.total_seconds),
        ]
        .map(|(phase, seconds)| (phase.to_owned(), seconds))
        .to_vec()
    }
}

/// How far the true residual may stand above the tolerance that the solver's met: the solver allows
/// its own to drift by a hundredth, and products on the host round in another order.
const DRIFT: f64 = 1.02;

/// Solves A x = b with A from a Matrix Market file, from x = 0, and writes x, the residuals and the
/// report.
///
/// # Errors
///
/// See [`Error`]: files that cannot be read, systems that cannot be solved as asked, devices. A solve
/// that stops short is an outcome, whose solution is named as failed.
pub fn solve_system(
    options: &SystemOptions,
    progress: &mut dyn Progress,
) -> Result<SystemOutcome, Error> {
    let started = Instant::now();
    let pool = thread_pool(options.threads)?;
    let job =
        Job { options, progress, timing: SystemTiming::default(), notes: Vec::new(), started };
    pool.install(|| job.run())
}

/// Where a system is solved.
enum Place {
    /// The CPU, in the current thread pool.
    Cpu,
}

impl Place {
    /// The place of the options, and why it is no other.
    fn choose(options: &SystemOptions) -> Result<(Self, Option<String>), DeviceError> {
        match options.backend {
            BackendChoice::Cpu | BackendChoice::Auto => Ok((Self::Cpu, None)),
            BackendChoice::Cuda => Err(DeviceError::NotBuilt { backend: "cuda" }),
        }
    }

    /// Name for the report.
    fn name(&self) -> String {
        match self {
            Self::Cpu => "cpu".to_owned(),
        }
    }

    fn solve(
        &self,
        system: (&Csr, &[f64]),
        options: &SystemOptions,
        timing: &mut SystemTiming,
        progress: &mut dyn Progress,
    ) -> Result<Solved, Error> {
        match self {
            Self::Cpu => solve_on(&CpuBackend, system, options, timing, progress),
        }
    }
}

/// A solve under way.
struct Job<'a> {
    options: &'a SystemOptions,
    progress: &'a mut dyn Progress,
    timing: SystemTiming,
    notes: Vec<String>,
    started: Instant,
}

impl Job<'_> {
    fn run(mut self) -> Result<SystemOutcome, Error> {
        let options = self.options;
        let chosen = options.clone();
        // A GPU takes long to open, and reading does not need it.
        let opening = std::thread::spawn(move || Place::choose(&chosen));
        let read = self.timed("reading", |timing| &mut timing.reading_seconds, Self::read);
        let opened = self.timed("device", |timing| &mut timing.device_seconds, |_| opening.join());
        let (matrix, b) = read?;
        let (place, notice) = opened.unwrap_or(Err(DeviceError::CompilerLost))?;
        self.notes.extend(notice);
        let facts =
            self.timed("facts", |timing| &mut timing.reordering_seconds, |job| job.facts(&matrix))?;
        // A folder that takes no files is found before the work.
        io::folder::prepare(&options.output)?;
        let Self { timing, progress, .. } = &mut self;
        let solved = place.solve((&matrix.csr, &b), options, timing, &mut **progress);
        let Solved { x, report: linear, residuals } =
            solved.map_err(|error| located(error, &matrix.csr, options))?;
        self.notes.extend(linear.events);
        let truth = relative_residual(&matrix.csr, &x, &b);
        let met = truth <= DRIFT * options.tolerance;
        let converged = linear.stop == LinearStop::Converged && met;
        let stop_reason = match linear.stop {
            LinearStop::Converged if !met => {
                format!("the residual on the host is {truth:.2e}, above the tolerance")
            }
            stop => stop.to_string(),
        };
        let mut report = SystemReport {
            name: options.name(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            converged,
            stop_reason,
            matrix: matrix_report(options, &matrix, &facts),
            right_side: options.right_side.to_string(),
            method: options.method_report(),
            iterations: linear.iterations,
            relative_residual: linear.relative_residual,
            true_relative_residual: truth,
            tolerance: options.tolerance,
            timing: self.timing,
            backend: place.name(),
            threads: rayon::current_num_threads(),
            notes: std::mem::take(&mut self.notes),
        };
        drop(matrix);
        let mut files = self.timed(
            "writing",
            |timing| &mut timing.writing_seconds,
            |job| job.write(&report, &x, &residuals),
        )?;
        report.timing = self.timing;
        report.timing.total_seconds = self.started.elapsed().as_secs_f64();
        files.push(solution::write_report(&options.output, &report)?);
        Ok(SystemOutcome { report, files })
    }

    /// The matrix, square, and a right side of as many rows.
    fn read(&mut self) -> Result<(Matrix, Vec<f64>), Error> {
        let path = &self.options.matrix;
        let matrix = matrix_market::read_matrix(path)?;
        let (rows, columns) = (matrix.csr.rows(), matrix.columns);
        if rows != columns {
            return Err(SystemError::NotSquare { path: path.clone(), rows, columns }.into());
        }
        let b = match &self.options.right_side {
            RightSide::File(path) => {
                let b = matrix_market::read_vector(path)?;
                if b.len() != rows {
                    let (path, found) = (path.clone(), b.len());
                    return Err(SystemError::RightSide { path, found, rows }.into());
                }
                b
            }
            RightSide::Ones => vec![1.0; rows],
            RightSide::Random { seed } => options::random(*seed, rows),
        };
        Ok((matrix, b))
    }

    /// Facts of the matrix; refuses methods that they rule out.
    fn facts(&mut self, matrix: &Matrix) -> Result<MatrixFacts, Error> {
        let facts = MatrixFacts::new(&matrix.csr);
        let listed = matrix.symmetry == Symmetry::Symmetric;
        let found = if listed { None } else { asymmetry(&matrix.csr) };
        if let (Some(method), Some((row, column, value, other))) =
            (self.options.needs_symmetry(), found)
        {
            let (row, column) = (row + 1, column + 1);
            return Err(SystemError::NotSymmetric { method, row, column, value, other }.into());
        }
        Ok(MatrixFacts { symmetric: found.is_none(), ..facts })
    }

    fn write(
        &mut self,
        report: &SystemReport,
        x: &[f64],
        residuals: &[[f64; 2]],
    ) -> Result<Vec<PathBuf>, Error> {
        let folder = &self.options.output;
        // Older files go first: whatever stops the writing, none passes for one of this solve.
        solution::clear(folder)?;
        let summary = format!(
            "{} rows, {} entries   ·   {}, {}   ·   {} iterations",
            report.matrix.rows,
            report.matrix.entries,
            report.method.solver,
            report.method.preconditioner,
            report.iterations,
        );
        let figure = ResidualsFigure {
            name: &report.name,
            summary: &summary,
            residuals,
            tolerance: report.tolerance,
        };
        Ok(solution::write(folder, x, report.converged, &figure)?)
    }

    /// Announces a phase and adds its time to a place in the timing.
    fn timed<R>(
        &mut self,
        phase: &str,
        place: impl FnOnce(&mut SystemTiming) -> &mut f64,
        work: impl FnOnce(&mut Self) -> R,
    ) -> R {
        self.progress.phase(phase);
        let started = Instant::now();
        let result = work(self);
        *place(&mut self.timing) += started.elapsed().as_secs_f64();
        result
    }
}

fn matrix_report(options: &SystemOptions, matrix: &Matrix, facts: &MatrixFacts) -> MatrixReport {
    MatrixReport {
        file: options.matrix.clone(),
        rows: matrix.csr.rows(),
        entries: matrix.csr.values.len(),
        longest_row: facts.longest_row,
        empty_rows: facts.empty_rows,
        missing_diagonals: facts.missing_diagonals,
        duplicates: matrix.duplicates,
        symmetric: facts.symmetric,
    }
}

/// A pivot that cannot be used, with what the user needs to know of its row.
fn located(error: Error, a: &Csr, options: &SystemOptions) -> Error {
    use crate::solver::PreconditionerFailure::{Factor, Pivot};
    let Error::Preconditioner(failure) = error else { return error };
    let (preconditioner, row, pivot) = match failure {
        Factor { preconditioner, row, value } => (preconditioner, row, Some(value)),
        Pivot { preconditioner, row } => (preconditioner, row, None),
        _ => return error,
    };
    let stored = a.row(row).find(|&(column, _)| column == row).map_or(0.0, |(_, value)| value);
    let pivot = SystemError::Pivot {
        preconditioner,
        row: row + 1,
        value: pivot.unwrap_or(stored),
        diagonal: stored != 0.0,
        shift: options.shift(),
    };
    pivot.into()
}

/// ‖b − A x‖ / ‖b‖, 0 for b = 0 and x = 0.
fn relative_residual(a: &Csr, x: &[f64], b: &[f64]) -> f64 {
    let squares: Vec<[f64; 2]> = (0..a.rows())
        .into_par_iter()
        .with_min_len(1 << 12)
        .map(|row| {
            let product: f64 = a.row(row).map(|(column, value)| value * x[column]).sum();
            [(b[row] - product).powi(2), b[row] * b[row]]
        })
        .collect();
    let [residual, scale] =
        squares.iter().fold([0.0; 2], |sum, square| [sum[0] + square[0], sum[1] + square[1]]);
    if residual == 0.0 { 0.0 } else { (residual / scale).sqrt() }
}
