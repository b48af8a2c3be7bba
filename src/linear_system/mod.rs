//! Reads a linear system from files, solves it and writes the solution.

mod options;
mod report;
mod solve;

use std::path::{Path, PathBuf};

pub use self::options::{Reordering, RightHandSide, RightSide, SystemOptions};
pub use self::report::{ColumnReport, MatrixReport, MethodReport, SystemReport};
use self::solve::{Loaded, Ordered, SystemSolution, asymmetry, bandwidth, located, matrix_report};
use crate::backend::cuda::Ranks;
use crate::error::{Error, SystemError};
use crate::files::REPORT_FILE;
use crate::files::output::FolderRules;
use crate::formats::matrix_market::{self, Matrix, MatrixSymmetry};
use crate::report::{Timing, write_json};
use crate::run::{Closing, Machine, Opening, Progress, RunLog, open_output, thread_pool};

/// The result of a linear system.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemOutcome {
    /// The report as written.
    pub report: SystemReport,
    /// Files written.
    pub files: Vec<PathBuf>,
    /// Files of an earlier solve that were removed.
    pub removed: Vec<PathBuf>,
}

/// Solves A x = b with A from a Matrix Market file, starting from x = 0, and writes x, the residuals and the
/// report.
///
/// # Errors
/// See [`Error`]: files that cannot be read, systems that cannot be solved with these options, devices. A
/// solve that stops before it has converged is a result; its solution is marked as failed.
pub fn solve_system(
    options: &SystemOptions,
    progress: &mut dyn Progress,
) -> Result<SystemOutcome, Error> {
    // A GPU takes long to open, which is done while the files are read.
    let opening = opening(options);
    solve_in(options, progress, opening)
}

/// Begins to open the machine given by the options.
fn opening(options: &SystemOptions) -> Opening {
    let (backend, devices, job) = (options.backend, options.devices.clone(), options.job.clone());
    Opening::begin(move || {
        if let Some(job) = job {
            return Machine::rank_of(job, backend, devices.as_deref());
        }
        backend.open(devices.is_some(), || Machine::gpus(&devices.unwrap_or_default(), 0))
    })
}

/// [`solve_system`] on ranks of the caller, each with a block of rows, whatever devices the options name.
pub fn solve_system_on(
    ranks: Box<dyn Ranks>,
    options: &SystemOptions,
    progress: &mut dyn Progress,
) -> Result<SystemOutcome, Error> {
    solve_in(options, progress, Opening::Done((Machine::Ranks(ranks), None)))
}

fn solve_in(
    options: &SystemOptions,
    progress: &mut dyn Progress,
    opening: Opening,
) -> Result<SystemOutcome, Error> {
    let log = &mut RunLog::new(progress, Timing::of(&report::PHASES));
    thread_pool(options.threads)?.install(|| {
        let read = log.timed("reading", |_| read(options));
        let opened = log.timed("device", |_| opening.end());
        let (matrix, columns) = read?;
        let (machine, notice) = opened?;
        log.notices.extend(notice);
        if let Some(job) = &options.job {
            job.compare(&comparison(&matrix, options))?;
        }
        let mut system = SystemSolver::on(machine, matrix, options, log)?;
        // The files are checked for being writable before the solve.
        let (root, notices) = (&options.output, &mut log.notices);
        let writes = options.job.as_ref().is_none_or(|job| job.is_first());
        let mut inputs = vec![options.matrix.as_path()];
        if let RightSide::File(file) = &options.right_side {
            inputs.push(file);
        }
        let names = (&report::names()[..], &inputs[..]);
        let open = || open_output(root, FolderRules::NONE, options.force, names, notices);
        let output = writes.then(open).transpose()?;
        // A GPU takes long to close too, which overlaps with what follows.
        let sides: Vec<RightHandSide<'_>> = columns.iter().map(|b| (&**b, None)).collect();
        let (solved, mut report) = system.solve_logged(&sides, log)?;
        drop(system.loaded);
        let _closing = Closing::or_keep((system.machine, None), None);
        let Some(output) = output else {
            return Ok(SystemOutcome { report, files: Vec::new(), removed: Vec::new() });
        };
        let columns: Vec<_> = solved.iter().map(|one| (&*one.x, &*one.residuals)).collect();
        let write = |folder: &Path| report::write(folder, &report, &columns);
        let mut files = log.timed("writing", |_| output.fill(write))?;
        report.timing = log.total();
        files.extend(output.fill(|folder| {
            let path = folder.join(REPORT_FILE);
            write_json(&path, &report)?;
            Ok(vec![path])
        })?);
        Ok(SystemOutcome { report, files, removed: output.commit()? })
    })
}

/// Values that must agree between the ranks of a job.
fn comparison(matrix: &Matrix, options: &SystemOptions) -> [(&'static str, String); 4] {
    let Matrix { csr, .. } = matrix;
    let SystemOptions { linear, preconditioner, format, reorder, tolerance, .. } = options;
    let how = (linear, preconditioner, format, reorder, tolerance);
    [
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("a matrix of", format!("{} rows and {} entries", csr.rows(), csr.values.len())),
        ("the right side", options.right_side.to_string()),
        ("the options", format!("{how:?}")),
    ]
}

/// A matrix whose preconditioner is made once, for right-hand sides one after the other. Several devices make it
/// for each call of [`Self::solve`].
pub struct SystemSolver {
    options: SystemOptions,
    facts: MatrixReport,
    ordered: Ordered,
    /// Its memory is freed before the machine is closed.
    loaded: Loaded,
    machine: Machine,
    /// Notes on the matrix, and the times until it was ready, which the first report has.
    notices: Vec<String>,
    timing: Timing,
}

impl SystemSolver {
    /// Opens the machine and makes the preconditioner. `options` give the name of A for messages; no file is read
    /// or written.
    pub fn new(
        matrix: Matrix,
        options: &SystemOptions,
        progress: &mut dyn Progress,
    ) -> Result<Self, Error> {
        check_square(&options.matrix, &matrix)?;
        let opening = opening(options);
        let mut log = RunLog::new(progress, Timing::of(&report::PHASES));
        thread_pool(options.threads)?.install(|| {
            let (machine, notice) = log.timed("device", |_| opening.end())?;
            log.notices.extend(notice);
            let mut system = Self::on(machine, matrix, options, &mut log)?;
            system.solve_logged(&[], &mut log)?;
            Ok(Self { timing: log.total(), notices: log.notices, ..system })
        })
    }

    /// Solves for these right-hand sides in their order; returns their solutions, and a report on all. A solve that
    /// stops before it has converged is a result, and the report says so.
    pub fn solve(
        &mut self,
        sides: &[RightHandSide<'_>],
        progress: &mut dyn Progress,
    ) -> Result<(Vec<Vec<f64>>, SystemReport), Error> {
        for &(b, start) in sides {
            check_length(Path::new("b"), b.len(), self.facts.rows)?;
            check_length(Path::new("x0"), start.unwrap_or(b).len(), self.facts.rows)?;
        }
        let zero = Timing::of(&report::PHASES);
        let mut log = RunLog::new(progress, std::mem::replace(&mut self.timing, zero));
        log.notices.clone_from(&self.notices);
        thread_pool(self.options.threads)?.install(|| {
            let (solved, mut report) = self.solve_logged(sides, &mut log)?;
            report.timing = log.total();
            Ok((solved.into_iter().map(|column| column.x).collect(), report))
        })
    }

    /// Checks the matrix, and brings its rows in order.
    fn on(
        machine: Machine,
        matrix: Matrix,
        options: &SystemOptions,
        log: &mut RunLog<'_>,
    ) -> Result<Self, Error> {
        let (facts, ordered) = log.timed("reordering", |log| -> Result<_, Error> {
            let facts = facts(options, &matrix)?;
            let fill = options.is_eliminated() && facts.missing_diagonals > 0;
            if fill {
                log.notices.push(format!(
                    "{} of {} rows have no diagonal entry: the factors have a zero there, which the \
                     elimination fills",
                    facts.missing_diagonals, facts.rows
                ));
            }
            let before = (options.reorder == Reordering::Rcm).then(|| bandwidth(&matrix.csr));
            let ordered = Ordered::new(matrix.csr, options.reorder, fill);
            log.notices.extend(before.map(|before| {
                let after = bandwidth(&ordered.a);
                format!("reverse Cuthill–McKee: bandwidth {before} became {after}")
            }));
            Ok((facts, ordered))
        })?;
        let (options, notices, timing) = (options.clone(), Vec::new(), Timing::of(&report::PHASES));
        Ok(Self { options, facts, ordered, machine, loaded: Loaded::default(), notices, timing })
    }

    /// Solves for right-hand sides, and checks the residuals on the host.
    fn solve_logged(
        &mut self,
        sides: &[RightHandSide<'_>],
        log: &mut RunLog<'_>,
    ) -> Result<(Vec<SystemSolution>, SystemReport), Error> {
        let Self { options, facts, ordered, machine, loaded, .. } = self;
        let sides: Vec<_> = sides.iter().map(|side| ordered.side(*side)).collect();
        let solved = loaded.solve(machine, (&ordered.a, &sides), options, log);
        let mut solved = solved.map_err(|error| located(error.into(), ordered, options))?;
        let checked = sides.iter().zip(&mut solved).map(|(side, solved)| {
            let truth = ordered.residual(side, &mut solved.x);
            solved.x = ordered.unordered(std::mem::take(&mut solved.x));
            log.notices.append(&mut solved.report.events);
            ColumnReport::new(&solved.report, truth, options.tolerance)
        });
        let columns: Vec<ColumnReport> = checked.collect();
        // The report describes the worst column. A residual that is not a number is worse than all others.
        let residual = |column: &ColumnReport| column.true_relative_residual.abs();
        let worst = columns
            .iter()
            .max_by(|a, b| b.converged.cmp(&a.converged).then(residual(a).total_cmp(&residual(b))));
        let worst = worst.cloned().unwrap_or_default();
        let report = SystemReport {
            name: options.name(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            converged: worst.converged,
            stop_reason: worst.stop_reason,
            matrix: facts.clone(),
            right_side: match columns.len() {
                0 | 1 => options.right_side.to_string(),
                several => format!("{}, {several} columns", options.right_side),
            },
            method: options.method_report(machine.devices()),
            iterations: columns.iter().map(|column| column.iterations).sum(),
            relative_residual: worst.relative_residual,
            true_relative_residual: worst.true_relative_residual,
            columns: if columns.len() > 1 { columns } else { Vec::new() },
            tolerance: options.tolerance,
            timing: log.timing.clone(),
            backend: machine.name(),
            threads: rayon::current_num_threads(),
            notes: log.notices.clone(),
        };
        Ok((solved, report))
    }
}

fn check_square(path: &Path, matrix: &Matrix) -> Result<(), SystemError> {
    let (rows, columns) = (matrix.csr.rows(), matrix.columns);
    if rows == columns {
        return Ok(());
    }
    Err(SystemError::NotSquare { path: path.to_path_buf(), rows, columns })
}

fn check_length(path: &Path, found: usize, rows: usize) -> Result<(), SystemError> {
    if found == rows {
        return Ok(());
    }
    Err(SystemError::RightSide { path: path.to_path_buf(), found, rows })
}

/// The square matrix, and right-hand sides with as many rows.
fn read(options: &SystemOptions) -> Result<(Matrix, Vec<Vec<f64>>), Error> {
    let path = &options.matrix;
    let matrix = matrix_market::read_matrix(path)?;
    check_square(path, &matrix)?;
    let rows = matrix.csr.rows();
    let columns = match &options.right_side {
        RightSide::File(path) => {
            let (found, columns) = matrix_market::read_columns(path)?;
            check_length(path, found, rows)?;
            columns
        }
        RightSide::Ones => vec![vec![1.0; rows]],
        RightSide::Random { seed } => vec![options::random(*seed, rows)],
    };
    Ok((matrix, columns))
}

/// Facts about the matrix. Methods that they rule out are refused.
fn facts(options: &SystemOptions, matrix: &Matrix) -> Result<MatrixReport, Error> {
    let listed = matrix.symmetry == MatrixSymmetry::Symmetric;
    let found = if listed { None } else { asymmetry(&matrix.csr) };
    if let (Some(method), Some((row, column, value, other))) = (options.needs_symmetry(), found) {
        let (row, column) = (row + 1, column + 1);
        return Err(SystemError::NotSymmetric { method, row, column, value, other }.into());
    }
    Ok(matrix_report(&options.matrix, matrix, found.is_none()))
}
