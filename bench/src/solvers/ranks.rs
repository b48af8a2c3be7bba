//! Times products and iterations on growing numbers of GPUs, with a block of rows each.

use super::{Problem, SolverSettings, iterations, milliseconds, row, times};
use crate::matrices::Random;
use crate::results::percent;
use crate::scaling::counts;
use crate::{BenchBackend, Table};
use gridgen::backend::cuda::{CudaBackend, CudaCsr, Gpus, Ranks};
use gridgen::backend::{
    Algebraic, Backend, Bands, DeviceError, LinearOperator, MatrixFormat, SparseBackend,
};
use gridgen::solver::SolverError;
use gridgen::sparse::{Csr, RowBlocks};
use std::time::Instant;

/// Products in a recording, recordings in a sample, and samples of which the fastest counts. The numbers are
/// fixed because all ranks must do the same; no clock decides.
const TOGETHER: usize = 10;
const CALLS: usize = 20;
const SAMPLES: usize = 5;

/// One row for each matrix and number of GPUs: 1, 2, 4, … up to all of `ordinals`.
///
/// The exchange is the transfer of the halo for one product, measured alone; within a product it overlaps
/// with the entries in own columns. Speed-up is the time on one GPU divided by the time on several.
///
/// # Errors
/// If a GPU cannot be used, or a matrix has fewer rows than there are GPUs.
pub fn row_scaling(ordinals: &[usize], settings: &SolverSettings) -> Result<Table, SolverError> {
    let columns = [
        "matrix",
        "GPUs",
        "rows of the smallest block",
        "entries needed of others",
        "product ms",
        "speed-up",
        "exchange, of a product",
        "iteration ms, none",
        "speed-up",
        "iteration ms, Jacobi",
        "speed-up",
    ];
    let mut table = Table::new("Products and BiCGStab by rows", &columns);
    let all = Gpus::open(ordinals)?;
    for source in &settings.matrices {
        let csr = source.matrix(&all.first()?, settings.scale)?;
        let name = source.name(settings.scale);
        let mut alone: Option<Seconds> = None;
        for count in counts(ordinals.len()) {
            let gpus = Gpus::open(&ordinals[..count])?;
            let blocks = RowBlocks::new(csr.pattern(), count).map_err(DeviceError::from)?;
            let found = measure(&gpus, &csr, &blocks, settings.iterations)?;
            let one = *alone.get_or_insert(found);
            row(&mut table, &name, cells(&blocks, found, one));
        }
    }
    Ok(table)
}

/// Seconds of a product, of its exchange, and of iterations without a preconditioner and with Jacobi.
#[derive(Debug, Clone, Copy)]
struct Seconds {
    product: f64,
    exchange: f64,
    none: f64,
    jacobi: Option<f64>,
}

impl Seconds {
    /// The seconds of the slower of two ranks.
    fn slower(self, other: Self) -> Self {
        Self {
            product: self.product.max(other.product),
            exchange: self.exchange.max(other.exchange),
            none: self.none.max(other.none),
            jacobi: self.jacobi.zip(other.jacobi).map(|(one, two)| one.max(two)),
        }
    }
}

fn cells(blocks: &RowBlocks, found: Seconds, alone: Seconds) -> Vec<String> {
    let ranks = 0..blocks.ranks();
    let share = |rank| blocks.halo(rank).len() as f64 / blocks.of(rank).len() as f64;
    vec![
        blocks.ranks().to_string(),
        ranks.clone().map(|rank| blocks.of(rank).len()).min().unwrap_or_default().to_string(),
        percent(ranks.map(share).fold(0.0, f64::max)),
        milliseconds(found.product),
        times(alone.product, found.product),
        percent(found.exchange / found.product),
        milliseconds(found.none),
        times(alone.none, found.none),
        found.jacobi.map_or_else(|| "no diagonal".to_owned(), milliseconds),
        alone.jacobi.zip(found.jacobi).map_or_else(String::new, |(one, many)| times(one, many)),
    ]
}

fn measure(
    gpus: &Gpus,
    csr: &Csr,
    blocks: &RowBlocks,
    iterations: usize,
) -> Result<Seconds, SolverError> {
    let mut random = Random::new(1);
    let right: Vec<f64> = (0..csr.rows()).map(|_| random.unit()).collect();
    if gpus.count() == 1 {
        let backend = gpus.first()?;
        let matrix = backend.csr(csr, MatrixFormat::Csr)?;
        return seconds(&backend, matrix, (csr, &right), iterations);
    }
    let ranks = gpus.run(&Bands::from(blocks), |rank, backend| {
        let part = blocks.part(rank, csr);
        let matrix = CudaCsr::of_rows(backend, &part, MatrixFormat::Csr)?;
        seconds(backend, matrix, (csr, &right[part.rows]), iterations)
    })?;
    Ok(ranks.into_iter().reduce(Seconds::slower).ok_or(DeviceError::NoGpu)?)
}

/// Seconds of one rank.
fn seconds(
    backend: &CudaBackend,
    matrix: CudaCsr<f64>,
    (csr, right): (&Csr, &[f64]),
    iterations: usize,
) -> Result<Seconds, SolverError> {
    let (mut b, mut y) = (backend.zeros(right.len())?, backend.zeros(right.len())?);
    backend.upload(right, &mut b)?;
    let product = repeated(backend, || matrix.apply(backend, &b, &mut y))?;
    let exchange = repeated(backend, || matrix.exchange(backend, &b))?;
    let (name, rows) = (String::new(), right.len());
    let problem = Problem { backend, name, csr, rows, operator: matrix, b };
    let iteration = |kind| -> Result<f64, SolverError> {
        let (done, seconds) = iterations::seconds(&problem, kind, iterations, f64::INFINITY)?;
        Ok(seconds / done)
    };
    let none = iteration(Algebraic::None)?;
    let jacobi = match iteration(Algebraic::Jacobi) {
        Ok(seconds) => Some(seconds),
        Err(SolverError::Preconditioner(_)) => None,
        Err(error) => return Err(error),
    };
    Ok(Seconds { product, exchange, none, jacobi })
}

/// Seconds of one call of `work`, recorded in the same way as by a solver.
fn repeated(
    backend: &CudaBackend,
    mut work: impl FnMut() -> Result<(), DeviceError>,
) -> Result<f64, SolverError> {
    let mut recording = <CudaBackend as Backend>::Recording::default();
    let mut call = || backend.replay(&mut recording, || (0..TOGETHER).try_for_each(|_| work()));
    call()?;
    let meeting = backend.zeros::<f64>(1)?;
    let mut fastest = f64::INFINITY;
    for _ in 0..SAMPLES {
        backend.finish()?;
        // The reduction synchronises the ranks, so that all begin together.
        backend.max_abs(&meeting)?;
        let started = Instant::now();
        (0..CALLS).try_for_each(|_| call())?;
        backend.finish()?;
        fastest = fastest.min(started.elapsed().as_secs_f64());
    }
    Ok(fastest / (TOGETHER * CALLS) as f64)
}
