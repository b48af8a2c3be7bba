//! A linear system on a machine: statistics of its matrix (symmetry, bandwidth), its reordering and scaling, and its
//! solve, as a whole or in blocks of rows on several devices.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use parking_lot::Mutex;
use rayon::prelude::*;

use super::options::{Reordering, RightHandSide, SystemOptions};
use super::report::MatrixReport;
use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::{CudaBackend, CudaCsr, Ranks};
use crate::backend::{Algebraic, Bands, DeviceError, Result, SparseBackend, SparseMatrix};
use crate::error::{Error, SystemError};
use crate::formats::matrix_market::Matrix;
use crate::report::Timing;
use crate::run::{Machine, RunLog};
use crate::solver::linear::{LinearReport, LinearSolver};
use crate::solver::precond::Preconditioners;
use crate::solver::{SolverError, present};
use crate::sparse::{Csr, RowBlocks, reverse_cuthill_mckee};

/// Relative difference that a symmetric matrix may have between mirrored entries: they may have been summed
/// in different orders.
const ROUNDING: f64 = 1e-10;

/// Least number of rows for one task.
const TOGETHER: usize = 1 << 10;

/// The statistics of the matrix for the report; the caller has determined its symmetry.
pub(super) fn matrix_report(file: &Path, matrix: &Matrix, symmetric: bool) -> MatrixReport {
    let a = &matrix.csr;
    let each = |row: usize| {
        let length = a.row_start[row + 1] - a.row_start[row];
        (length, usize::from(length == 0), usize::from(find(a, row, row).is_none()))
    };
    let (longest_row, empty_rows, missing_diagonals) = (0..a.rows())
        .into_par_iter()
        .with_min_len(TOGETHER)
        .map(each)
        .reduce(|| (0, 0, 0), |a, b| (a.0.max(b.0), a.1 + b.1, a.2 + b.2));
    MatrixReport {
        file: file.to_owned(),
        rows: a.rows(),
        entries: a.values.len(),
        longest_row,
        empty_rows,
        missing_diagonals,
        duplicates: matrix.duplicates,
        symmetric,
    }
}

/// The first entry (row, column, value) whose mirrored entry, the last number, has another value.
pub(super) fn asymmetry(a: &Csr) -> Option<(usize, usize, f64, f64)> {
    let odd = |row: usize| {
        a.row(row).find_map(|(column, value)| {
            let other = find(a, column, row).unwrap_or(0.0);
            let differ = (value - other).abs() > ROUNDING * value.abs().max(other.abs());
            (column != row && differ).then_some((row, column, value, other))
        })
    };
    (0..a.rows()).into_par_iter().with_min_len(TOGETHER).find_map_first(odd)
}

/// max |i − j| of the entries.
pub(super) fn bandwidth(a: &Csr) -> usize {
    let of_row = |row: usize| a.row(row).map(|(column, _)| row.abs_diff(column)).max();
    (0..a.rows()).into_par_iter().with_min_len(TOGETHER).filter_map(of_row).max().unwrap_or(0)
}

fn find(a: &Csr, row: usize, column: usize) -> Option<f64> {
    let range = a.row_start[row]..a.row_start[row + 1];
    let found = a.columns[range.clone()].binary_search(&(column as u32));
    found.ok().map(|k| a.values[range.start + k])
}

/// The exponent e of the largest |value| ≈ 2^e; 0 if |e| ≤ 200, where a product of four such values neither
/// overflows nor underflows, and where a value is infinite.
fn exponent(values: &[f64]) -> i32 {
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let exponent = largest.log2();
    if exponent.is_finite() && exponent.abs() >= 201.0 { exponent as i32 } else { 0 }
}

/// Multiplies values by 2^power, in two steps because 2^power itself may overflow.
fn scale(values: &mut [f64], power: i32) {
    let [first, second] = [power / 2, power - power / 2].map(|power| 2_f64.powi(power));
    for value in values {
        *value = *value * first * second;
    }
}

/// The matrix as the solver gets it: in its order, with an entry on the diagonal of every row if it is
/// factorised, and scaled by a power of two if squares of its entries would overflow or underflow.
pub(super) struct Ordered {
    pub(super) a: Csr,
    /// Row k is row `order[k]` of the file, if the rows are renumbered.
    pub(super) order: Option<Vec<u32>>,
    /// The matrix of the file is A times 2^power.
    power: i32,
}

/// A right-hand side as the solver gets it, numbered as [`Ordered`] and scaled likewise.
pub(super) struct OrderedSide<'a> {
    pub(super) b: Cow<'a, [f64]>,
    /// The x to start from.
    pub(super) start: Cow<'a, [f64]>,
    /// The solution of the file's system is x times 2^power.
    power: i32,
}

impl Ordered {
    pub(super) fn new(mut a: Csr, reordering: Reordering, fill: bool) -> Self {
        if fill {
            let zero = |row| find(&a, row, row).is_none().then_some((row, 0.0));
            let rows = (0..a.rows()).map(|row| a.row(row).chain(zero(row)));
            a = Csr::from_rows(rows);
        }
        let order = (reordering == Reordering::Rcm).then(|| reverse_cuthill_mckee(&a));
        if let Some(order) = &order {
            a = a.permuted(order);
        }
        let power = exponent(&a.values);
        if power != 0 {
            scale(&mut a.values, -power);
        }
        Self { a, order, power }
    }

    /// A right-hand side of the file, and the x to start from.
    pub(super) fn side<'b>(&self, (b, start): RightHandSide<'b>) -> OrderedSide<'b> {
        let ordered = |numbers: &'b [f64]| match &self.order {
            Some(order) => order.iter().map(|&row| numbers[row as usize]).collect(),
            None => Cow::Borrowed(numbers),
        };
        let mut b = ordered(b);
        let scaled = exponent(&b);
        if scaled != 0 {
            scale(b.to_mut(), -scaled);
        }
        let power = scaled - self.power;
        let mut start = start.map_or_else(|| vec![0.0; b.len()].into(), ordered);
        if power != 0 {
            scale(start.to_mut(), -power);
        }
        OrderedSide { b, start, power }
    }

    /// The row of the file that became row k.
    fn row(&self, k: usize) -> usize {
        self.order.as_ref().map_or(k, |order| order[k] as usize)
    }

    /// ‖b − A x‖ / ‖b‖ of a solution, which is scaled back to the system of the file, except for the
    /// numbering.
    pub(super) fn residual(&self, side: &OrderedSide<'_>, x: &mut [f64]) -> f64 {
        scale(x, side.power);
        let mut again = x.to_vec();
        scale(&mut again, -side.power);
        relative_residual(&self.a, &again, &side.b)
    }

    /// A solution in the numbering of the file.
    pub(super) fn unordered(&self, x: Vec<f64>) -> Vec<f64> {
        let Some(order) = &self.order else { return x };
        let mut as_in_file = vec![0.0; x.len()];
        for (&row, x) in order.iter().zip(x) {
            as_in_file[row as usize] = x;
        }
        as_in_file
    }
}

/// The error of an unusable pivot, with the row of the file and the facts about it that a user needs.
pub(super) fn located(error: Error, system: &Ordered, options: &SystemOptions) -> Error {
    use crate::solver::PreconditionerFailure::{Factor, Pivot};
    let Error::Preconditioner(failure) = error else { return error };
    let (preconditioner, row, pivot) = match failure {
        Factor { preconditioner, row, value } => (preconditioner, row, Some(value)),
        Pivot { preconditioner, row } => (preconditioner, row, None),
        _ => return error,
    };
    let stored = find(&system.a, row, row).unwrap_or(0.0);
    let factors = options.preconditioner;
    let shift = if let Algebraic::Factors { shift, .. } = factors { shift } else { 0.0 };
    let mut value = [pivot.unwrap_or(stored)];
    scale(&mut value, system.power);
    let ([value], row, diagonal) = (value, system.row(row) + 1, stored != 0.0);
    SystemError::Pivot { preconditioner, row, value, diagonal, shift }.into()
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

pub(super) struct SystemSolution {
    pub(super) x: Vec<f64>,
    pub(super) report: LinearReport,
    /// Numbers of iterations, and the relative residuals after them.
    pub(super) residuals: Vec<[f64; 2]>,
}

/// A matrix on a machine with its preconditioner, which all right-hand sides share. Several devices make it again for
/// each call.
#[derive(Default)]
pub(super) struct Loaded {
    cpu: Option<OnBackend<CpuBackend>>,
    cuda: Option<OnBackend<CudaBackend>>,
}

impl Loaded {
    /// Solves for right-hand sides one after the other.
    pub(super) fn solve(
        &mut self,
        machine: &Machine,
        system: (&Csr, &[OrderedSide<'_>]),
        options: &SystemOptions,
        log: &mut RunLog<'_>,
    ) -> Result<Vec<SystemSolution>, SolverError> {
        match machine {
            Machine::Cpu => whole(&mut self.cpu, &CpuBackend, system, options, log),
            Machine::Cuda(cuda) => whole(&mut self.cuda, &**cuda, system, options, log),
            Machine::Ranks(_) if system.1.is_empty() => Ok(Vec::new()),
            Machine::Ranks(ranks) => by_rows(&**ranks, system, options, log),
        }
    }
}

fn whole<B: SparseBackend>(
    loaded: &mut Option<OnBackend<B>>,
    backend: &B,
    (a, sides): (&Csr, &[OrderedSide<'_>]),
    options: &SystemOptions,
    log: &mut RunLog<'_>,
) -> Result<Vec<SystemSolution>, SolverError> {
    let matrix = |backend: &B| backend.csr(a, options.format);
    let loaded = present(loaded, || OnBackend::new(backend, matrix, a.rows(), options, log))?;
    loaded.solve_all(backend, sides, 0..a.rows(), options, log)
}

/// Cuts the rows into blocks with about equal numbers of entries, one for each rank.
fn by_rows(
    ranks: &dyn Ranks,
    (a, sides): (&Csr, &[OrderedSide<'_>]),
    options: &SystemOptions,
    log: &mut RunLog<'_>,
) -> Result<Vec<SystemSolution>, SolverError> {
    let blocks = RowBlocks::new(a.pattern(), ranks.count()).map_err(DeviceError::from)?;
    let parts = Mutex::new(BTreeMap::new());
    // All ranks have the same residuals and times, so only the first of this process reports them.
    let first = ranks.job().map_or(0, |job| job.rank());
    let observed = Mutex::new(log);
    ranks.run(&Bands::from(&blocks), &|rank, backend| {
        let part = blocks.part(rank, a);
        let rows = part.rows.clone();
        let matrix = |backend: &_| CudaCsr::of_rows(backend, &part, options.format);
        let solve = |log: &mut RunLog<'_>| {
            let mut loaded = OnBackend::new(backend, matrix, rows.len(), options, log)?;
            loaded.solve_all(backend, sides, rows.clone(), options, log)
        };
        let solved = if rank == first {
            solve(&mut observed.lock())
        } else {
            solve(&mut RunLog::new(&mut (), Timing::default()))
        };
        parts.lock().insert(rank, solved?);
        Ok(())
    })?;
    let mut parts = parts.into_inner().into_values();
    let mut whole: Vec<SystemSolution> = parts.next().ok_or(DeviceError::NoGpu)?;
    match ranks.job() {
        None => {
            for part in parts {
                whole.iter_mut().zip(part).for_each(|(whole, part)| whole.x.extend(part.x));
            }
        }
        Some(job) => {
            for whole in &mut whole {
                let own = bytemuck::cast_slice(&whole.x).to_vec();
                let all = job.all_gather(own).map_err(DeviceError::from)?;
                let numbers = all.concat();
                let numbers = numbers.as_chunks().0.iter();
                whole.x = numbers.map(|bytes| f64::from_ne_bytes(*bytes)).collect();
            }
        }
    }
    if let Some(first) = whole.first_mut() {
        first.report.events.extend(notes(&blocks, options));
    }
    Ok(whole)
}

fn notes(blocks: &RowBlocks, options: &SystemOptions) -> Vec<String> {
    let ranks = 0..blocks.ranks();
    let rows = || ranks.clone().map(|rank| blocks.of(rank).len());
    let share = |rank| blocks.halo(rank).len() as f64 / blocks.of(rank).len() as f64;
    let mut notes = vec![format!(
        "each GPU has {} to {} rows, and needs of the others up to {:.1} % as many entries of a vector",
        rows().min().unwrap_or_default(),
        rows().max().unwrap_or_default(),
        100.0 * ranks.clone().map(share).fold(0.0, f64::max),
    )];
    if options.is_eliminated() {
        notes.push(format!(
            "the factors leave out what couples the rows of one GPU with those of another: \
             block Jacobi of {} blocks",
            blocks.ranks(),
        ));
    }
    notes
}

/// A matrix on a backend with its preconditioner, and vectors for a right-hand side and its solution. One of several
/// ranks has its rows of each.
struct OnBackend<B: SparseBackend> {
    operator: B::CsrMatrix<f64>,
    solver: LinearSolver<B, f64, B::CsrMatrix<f64>>,
    right: B::Vector<f64>,
    x: B::Vector<f64>,
}

impl<B: SparseBackend> OnBackend<B> {
    /// Makes the preconditioner of the matrix of `n` rows that `matrix` uploads.
    fn new(
        backend: &B,
        matrix: impl FnOnce(&B) -> Result<B::CsrMatrix<f64>>,
        n: usize,
        options: &SystemOptions,
        log: &mut RunLog<'_>,
    ) -> Result<Self, SolverError> {
        // A phase ends when the backend has completed all work: reading an inner product waits for it.
        let ready = backend.zeros::<f64>(1)?;
        let wait = || backend.dot_products([(&ready, &ready)]).map(drop);
        let (operator, right, x) = log.timed("set-up", |_| {
            let made = (matrix(backend)?, backend.zeros(n)?, backend.zeros(n)?);
            wait().map(|()| made)
        })?;
        let kind = options.preconditioner;
        let mut preconditioner = Preconditioners::one(move |backend, a: &B::CsrMatrix<f64>| {
            a.preconditioner(backend, kind)
        });
        log.timed("analysis", |_| {
            preconditioner.current(backend, &operator)?;
            wait()
        })?;
        let mut solver = LinearSolver::new(options.linear, n, preconditioner);
        log.timed("factorisation", |_| {
            solver.update(backend, &operator)?;
            Ok::<_, SolverError>(wait()?)
        })?;
        Ok(Self { operator, solver, right, x })
    }

    /// Solves for these rows of right-hand sides, each from its start.
    fn solve_all(
        &mut self,
        backend: &B,
        sides: &[OrderedSide<'_>],
        rows: Range<usize>,
        options: &SystemOptions,
        log: &mut RunLog<'_>,
    ) -> Result<Vec<SystemSolution>, SolverError> {
        let Self { operator, solver, right, x } = self;
        let solve = |side: &OrderedSide<'_>| {
            log.timed("solve", |log| {
                backend.upload(&side.b[rows.clone()], right)?;
                backend.upload(&side.start[rows.clone()], x)?;
                let mut residuals = vec![[0.0, 1.0]];
                let mut observe = |iteration, residual| {
                    residuals.push([iteration, residual]);
                    log.progress.linear(iteration, residual);
                };
                let tolerance = options.tolerance;
                let report = solver.solve(backend, operator, right, tolerance, x, &mut observe)?;
                let mut host = vec![0.0; rows.len()];
                backend.download(x, &mut host)?;
                Ok(SystemSolution { x: host, report, residuals })
            })
        };
        sides.iter().map(solve).collect()
    }
}
