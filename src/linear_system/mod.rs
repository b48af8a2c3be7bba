//! A linear system from files: read, solved and written.

mod options;
mod report;
mod solve;
mod system;

use std::any::Any;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;

pub use self::options::{Reordering, RightSide, SystemOptions};
pub use self::report::{MatrixReport, MethodReport, SystemReport, SystemTiming};
use self::solve::{Solved, solve_on_machine};
use self::system::{Ordered, asymmetry, bandwidth, located, matrix_report};
use crate::backend::{DeviceError, Result};
use crate::error::{Error, SystemError};
use crate::files::output::{FolderRules, Output};
use crate::formats::matrix_market::{self, Matrix, Symmetry};
use crate::generate::machine::{Closing, OPENING, Opened, thread_pool};
use crate::generate::{Machine, Progress, Ranks};
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
    let (backend, devices) = (options.backend, options.devices.clone());
    solve_in(options, progress, move || {
        let named = devices.as_deref();
        // The first, if none is named.
        let numbers = named.filter(|named| !named.is_empty()).unwrap_or(&[0]);
        backend.open(named.is_some(), || Machine::gpus(numbers))
    })
}

/// The same on devices of the caller, a block of rows each, whatever the options name.
///
/// # Errors
///
/// As [`solve_system`].
pub fn solve_system_on(
    ranks: Box<dyn Ranks>,
    options: &SystemOptions,
    progress: &mut dyn Progress,
) -> Result<SystemOutcome, Error> {
    solve_in(options, progress, move || Ok((Machine::Ranks(ranks), None)))
}

fn solve_in(
    options: &SystemOptions,
    progress: &mut dyn Progress,
    open: impl FnOnce() -> Result<Opened> + Send + 'static,
) -> Result<SystemOutcome, Error> {
    let started = Instant::now();
    let pool = thread_pool(options.threads)?;
    let job =
        Job { options, progress, timing: SystemTiming::default(), notes: Vec::new(), started };
    pool.install(|| job.run(open))
}

struct Job<'a> {
    options: &'a SystemOptions,
    progress: &'a mut dyn Progress,
    timing: SystemTiming,
    notes: Vec<String>,
    started: Instant,
}

impl Job<'_> {
    fn run(
        mut self,
        open: impl FnOnce() -> Result<Opened> + Send + 'static,
    ) -> Result<SystemOutcome, Error> {
        // A GPU takes long to open, and reading does not need it.
        let opening = std::thread::spawn(open);
        let read = self.timed("reading", Self::read);
        let opened = self.timed("device", |_| opening.join());
        let (matrix, b) = read?;
        let lost = |panic: Box<dyn Any + Send>| Err(DeviceError::panic(OPENING, &*panic));
        let (machine, notice) = opened.unwrap_or_else(lost)?;
        self.notes.extend(notice);
        let (facts, output, solved) = self.solve(&machine, &matrix, &b)?;
        let (backend, blocks) = (machine.name(), machine.devices());
        // A GPU takes long to close, too, and nothing that follows needs it.
        let _closing = Closing::of(machine);
        self.notes.extend(solved.report.events.iter().cloned());
        let mut report = self.report((&matrix, &b), facts, &solved, (backend, blocks));
        let mut files = self.timed("writing", |_| write(&output, &report, &solved))?;
        report.timing = self.timing;
        report.timing.add("total", self.started.elapsed().as_secs_f64());
        files.extend(output.fill(|folder| Ok(vec![report::write_report(folder, &report)?]))?);
        output.commit()?;
        Ok(SystemOutcome { report, files })
    }

    /// Solves the system in the order asked for, once it is known that the files can be written.
    fn solve(
        &mut self,
        machine: &Machine,
        matrix: &Matrix,
        b: &[f64],
    ) -> Result<(MatrixReport, Output, Solved), Error> {
        let options = self.options;
        let (facts, ordered) = self.timed("reordering", |job| {
            let facts = job.facts(matrix)?;
            Ok::<_, Error>((facts, Ordered::new(&matrix.csr, b, options.reorder)))
        })?;
        if ordered.order.is_some() {
            let [before, after] = [&matrix.csr, &*ordered.a].map(bandwidth);
            self.notes.push(format!("reverse Cuthill–McKee: bandwidth {before} became {after}"));
        }
        let output = Output::open(&options.output, FolderRules::NONE, options.force)?;
        output.check(report::names())?;
        self.notes.extend(output.notice());
        let system = (&*ordered.a, &*ordered.b);
        let (timing, progress) = (&mut self.timing, &mut *self.progress);
        let mut solved = solve_on_machine(machine, system, options, timing, progress)
            .map_err(|error| located(error.into(), &ordered, options))?;
        solved.x = ordered.unordered(solved.x);
        Ok((facts, output, solved))
    }

    fn report(
        &mut self,
        (matrix, b): (&Matrix, &[f64]),
        facts: MatrixReport,
        solved: &Solved,
        (backend, blocks): (String, usize),
    ) -> SystemReport {
        let (options, linear) = (self.options, &solved.report);
        let truth = relative_residual(&matrix.csr, &solved.x, b);
        let met = truth <= DRIFT * options.tolerance;
        let stop_reason = match linear.stop {
            LinearStop::Converged if !met => {
                format!("the residual on the host is {truth:.2e}, above the tolerance")
            }
            stop => stop.to_string(),
        };
        SystemReport {
            name: options.name(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            converged: linear.stop == LinearStop::Converged && met,
            stop_reason,
            matrix: facts,
            right_side: options.right_side.to_string(),
            method: options.method_report(blocks),
            iterations: linear.iterations,
            relative_residual: linear.relative_residual,
            true_relative_residual: truth,
            tolerance: options.tolerance,
            timing: self.timing,
            backend,
            threads: rayon::current_num_threads(),
            notes: std::mem::take(&mut self.notes),
        }
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
    fn facts(&mut self, matrix: &Matrix) -> Result<MatrixReport, Error> {
        let listed = matrix.symmetry == Symmetry::Symmetric;
        let found = if listed { None } else { asymmetry(&matrix.csr) };
        if let (Some(method), Some((row, column, value, other))) =
            (self.options.needs_symmetry(), found)
        {
            let (row, column) = (row + 1, column + 1);
            return Err(SystemError::NotSymmetric { method, row, column, value, other }.into());
        }
        Ok(matrix_report(&self.options.matrix, matrix, found.is_none()))
    }

    /// Announces a phase and adds its time to those of the report.
    fn timed<R>(&mut self, phase: &str, work: impl FnOnce(&mut Self) -> R) -> R {
        self.progress.phase(phase);
        let started = Instant::now();
        let result = work(self);
        self.timing.add(phase, started.elapsed().as_secs_f64());
        result
    }
}

/// Makes the files of a solution and returns where they are to stand.
fn write(output: &Output, report: &SystemReport, solved: &Solved) -> Result<Vec<PathBuf>, Error> {
    let write = |folder: &Path| report::write(folder, report, &solved.x, &solved.residuals);
    Ok(output.fill(write)?)
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
