//! Reads a linear system from files, solves it and writes the solution.

mod options;
mod report;
mod solve;
mod system;

use std::path::{Path, PathBuf};

pub use self::options::{Reordering, RightSide, SystemOptions};
pub use self::report::{MatrixReport, MethodReport, SystemReport};
use self::solve::{SystemSolution, solve_on_machine};
use self::system::{Ordered, asymmetry, bandwidth, located, matrix_report};
use crate::error::{Error, SystemError};
use crate::files::REPORT_FILE;
use crate::files::output::FolderRules;
use crate::formats::matrix_market::{self, Matrix, MatrixSymmetry};
use crate::report::{Timing, write_json};
use crate::run::{Closing, Machine, Opening, Progress, Ranks, RunLog, open_output, thread_pool};
use crate::solver::LinearStop;

/// The result of a linear system.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemOutcome {
    /// The report as written.
    pub report: SystemReport,
    /// Files written.
    pub files: Vec<PathBuf>,
}

/// Factor by which the true residual may exceed the tolerance that the solver's residual met: the solver
/// allows its own to drift by a hundredth, and products on the host are rounded in another order.
const DRIFT: f64 = 1.02;

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
        let named = devices.as_deref();
        // The first GPU, if none is named.
        let numbers = named.filter(|named| !named.is_empty()).unwrap_or(&[0]);
        backend.open(named.is_some(), || Machine::gpus(numbers))
    })
}

/// [`solve_system`] on ranks of the caller, each with a block of rows, whatever devices the options name.
///
/// # Errors
/// The errors of [`solve_system`].
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
    let mut log = RunLog::new(progress, Timing::of(&report::PHASES));
    thread_pool(options.threads)?.install(|| run(options, &mut log, opening))
}

fn run(
    options: &SystemOptions,
    log: &mut RunLog<'_>,
    opening: Opening,
) -> Result<SystemOutcome, Error> {
    let read = log.timed("reading", |_| read(options));
    let opened = log.timed("device", |_| opening.end());
    let (matrix, b) = read?;
    let (machine, notice) = opened?;
    log.notices.extend(notice);
    if let Some(job) = &options.job {
        job.compare(&comparison(&matrix, options))?;
    }
    let system = PreparedSystem::new(&matrix, &b, options, log)?;
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
    let (solved, mut report) = system.solve(&machine, options, log)?;
    let _closing = Closing::of(machine);
    let Some(output) = output else { return Ok(SystemOutcome { report, files: Vec::new() }) };
    let write = |folder: &Path| report::write(folder, &report, &solved.x, &solved.residuals);
    let mut files = log.timed("writing", |_| output.fill(write))?;
    report.timing = log.total();
    files.extend(output.fill(|folder| {
        let path = folder.join(REPORT_FILE);
        write_json(&path, &report)?;
        Ok(vec![path])
    })?);
    output.commit()?;
    Ok(SystemOutcome { report, files })
}

/// Values that must agree between the ranks of a job.
fn comparison(matrix: &Matrix, options: &SystemOptions) -> [(&'static str, String); 4] {
    let Matrix { csr, .. } = matrix;
    let SystemOptions { method, restart, preconditioner, format, reorder, .. } = options;
    let SystemOptions { tolerance, max_iterations, right_side, .. } = options;
    let how = (method, restart, preconditioner, format, reorder, tolerance, max_iterations);
    [
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("a matrix of", format!("{} rows and {} entries", csr.rows(), csr.values.len())),
        ("the right side", right_side.to_string()),
        ("the options", format!("{how:?}")),
    ]
}

/// Solves A x = b in memory, starting from x = 0. `options` give the names of A and b for messages; no file
/// is read or written.
///
/// # Errors
/// The errors of [`solve_system`]. A solve that stops before it has converged is a result, and its report
/// says so.
pub fn solve_matrix(
    matrix: &Matrix,
    b: &[f64],
    options: &SystemOptions,
    progress: &mut dyn Progress,
) -> Result<(Vec<f64>, SystemReport), Error> {
    check_square(&options.matrix, matrix)?;
    check_length(Path::new("b"), b.len(), matrix.csr.rows())?;
    let opening = opening(options);
    let mut log = RunLog::new(progress, Timing::of(&report::PHASES));
    thread_pool(options.threads)?.install(|| {
        let (machine, notice) = log.timed("device", |_| opening.end())?;
        log.notices.extend(notice);
        let system = PreparedSystem::new(matrix, b, options, &mut log)?;
        let (solved, mut report) = system.solve(&machine, options, &mut log)?;
        report.timing = log.total();
        Ok((solved.x, report))
    })
}

/// A system ready to be solved: facts about its matrix, and the order of its rows.
struct PreparedSystem<'a> {
    facts: MatrixReport,
    ordered: Ordered<'a>,
}

impl<'a> PreparedSystem<'a> {
    fn new(
        matrix: &'a Matrix,
        b: &'a [f64],
        options: &SystemOptions,
        log: &mut RunLog<'_>,
    ) -> Result<Self, Error> {
        let (facts, ordered) = log.timed("reordering", |log| -> Result<_, Error> {
            let facts = facts(options, matrix)?;
            let fill = options.is_eliminated() && facts.missing_diagonals > 0;
            if fill {
                log.notices.push(format!(
                    "{} of {} rows have no diagonal entry: the factors have a zero there, which the \
                     elimination fills",
                    facts.missing_diagonals, facts.rows
                ));
            }
            Ok((facts, Ordered::new(&matrix.csr, b, options.reorder, fill)))
        })?;
        if ordered.order.is_some() {
            let [before, after] = [&matrix.csr, &*ordered.a].map(bandwidth);
            log.notices.push(format!("reverse Cuthill–McKee: bandwidth {before} became {after}"));
        }
        Ok(Self { facts, ordered })
    }

    /// Solves the system on a machine, and checks the residual on the host.
    fn solve(
        self,
        machine: &Machine,
        options: &SystemOptions,
        log: &mut RunLog<'_>,
    ) -> Result<(SystemSolution, SystemReport), Error> {
        let Self { facts, ordered } = self;
        let mut solved = solve_on_machine(machine, (&ordered.a, &ordered.b), options, log)
            .map_err(|error| located(error.into(), &ordered, options))?;
        let truth = ordered.residual(&mut solved.x);
        solved.x = ordered.unordered(solved.x);
        let (backend, blocks) = (machine.name(), machine.devices());
        log.notices.extend(solved.report.events.iter().cloned());
        let linear = &solved.report;
        let met = truth <= DRIFT * options.tolerance;
        let report = SystemReport {
            name: options.name(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            converged: linear.stop == LinearStop::Converged && met,
            stop_reason: match linear.stop {
                LinearStop::Converged if !met => {
                    format!("the residual on the host is {truth:.2e}, above the tolerance")
                }
                stop => stop.to_string(),
            },
            matrix: facts,
            right_side: options.right_side.to_string(),
            method: options.method_report(blocks),
            iterations: linear.iterations,
            relative_residual: linear.relative_residual,
            true_relative_residual: truth,
            tolerance: options.tolerance,
            timing: log.timing.clone(),
            backend,
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

/// The square matrix, and a right-hand side with as many rows.
fn read(options: &SystemOptions) -> Result<(Matrix, Vec<f64>), Error> {
    let path = &options.matrix;
    let matrix = matrix_market::read_matrix(path)?;
    check_square(path, &matrix)?;
    let rows = matrix.csr.rows();
    let b = match &options.right_side {
        RightSide::File(path) => {
            let b = matrix_market::read_vector(path)?;
            check_length(path, b.len(), rows)?;
            b
        }
        RightSide::Ones => vec![1.0; rows],
        RightSide::Random { seed } => options::random(*seed, rows),
    };
    Ok((matrix, b))
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
