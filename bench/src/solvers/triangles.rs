//! Times triangular solves with the factors of DILU: one with its analysis, one alone, and a hundred.

use super::{Problem, SCHEDULES, factors, milliseconds, row, times};
use crate::timing;
use crate::{BenchBackend, Table, VendorWork};
use gridgen::backend::{Incomplete, SparseMatrix};
use gridgen::solver::SolverError;
use gridgen::sparse::Schedule;
use std::time::Instant;

/// Number of solves after one analysis.
const MANY: usize = 100;
/// Longest total time of a row, in seconds.
const PATIENCE: f64 = 5.0;

/// Number of measurements of a first solve.
const FIRSTS: usize = 3;
/// Number of measurements of a hundred solves; only one if it takes longer than `LONG` seconds.
const HUNDREDS: usize = 2;
const LONG: f64 = 0.5;

/// Seconds of an analysis, of the first solve after it, of a later solve, and of an analysis with a hundred
/// solves.
#[derive(Clone, Copy)]
struct Seconds {
    analysis: f64,
    first: f64,
    alone: f64,
    hundred: f64,
}

impl Seconds {
    fn three(self) -> [f64; 3] {
        [self.analysis + self.first, self.alone, self.hundred]
    }
}

pub(crate) fn table() -> Table {
    let columns = [
        "matrix",
        "solve",
        "analysis ms",
        "analysis and one ms",
        "alone ms",
        "analysis and 100 ms",
        "vendor's, times: analysis and one",
        "alone",
        "analysis and 100",
    ];
    Table::new("Solves with both triangles of DILU", &columns)
}

pub(crate) fn measure<B: BenchBackend>(
    problem: &Problem<'_, B>,
    table: &mut Table,
) -> Result<(), SolverError> {
    let vendor = match vendor(problem) {
        Ok(Some((name, seconds))) => {
            let cells = [name.to_owned(), milliseconds(seconds.analysis)];
            row(table, &problem.name, cells.into_iter().chain(seconds.three().map(milliseconds)));
            Some(seconds)
        }
        Ok(None) => None,
        Err(error) => {
            row(table, &problem.name, [error.to_string()]);
            None
        }
    };
    // Colours and tiles have other factors.
    for (schedule, name) in SCHEDULES.into_iter().take(3) {
        let Some(seconds) = ours(problem, schedule)? else {
            row(table, &problem.name, [name.to_owned(), "no factors".to_owned()]);
            continue;
        };
        let against = vendor.map(|vendor| {
            let pairs = vendor.three().into_iter().zip(seconds.three());
            pairs.map(|(vendor, ours)| times(vendor, ours)).collect::<Vec<_>>()
        });
        let cells = [name.to_owned(), milliseconds(seconds.analysis)];
        let cells = cells.into_iter().chain(seconds.three().map(milliseconds));
        row(table, &problem.name, cells.chain(against.unwrap_or_default()));
    }
    Ok(())
}

/// Times of a schedule; `None` if a pivot cannot be used.
fn ours<B: BenchBackend>(
    problem: &Problem<'_, B>,
    schedule: Schedule,
) -> Result<Option<Seconds>, SolverError> {
    let (backend, a) = (problem.backend, &problem.operator);
    let kind = Incomplete::Dilu;
    let analysis = timing::seconds_of_long(backend, &mut || {
        drop(a.preconditioner(backend, factors(kind, schedule))?);
        Ok(())
    })?;
    let mut z = backend.zeros(problem.csr.rows())?;
    let mut first = f64::INFINITY;
    for _ in 0..FIRSTS {
        let mut factors = a.preconditioner(backend, factors(kind, schedule))?;
        match factors.update(backend, a) {
            Err(SolverError::Preconditioner(_)) => return Ok(None),
            updated => updated?,
        }
        backend.finish()?;
        let started = Instant::now();
        factors.apply(backend, a, &problem.b, &mut z)?;
        backend.finish()?;
        first = first.min(started.elapsed().as_secs_f64());
    }
    let (mut hundred, mut alone) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..HUNDREDS {
        let mut factors = a.preconditioner(backend, factors(kind, schedule))?;
        factors.update(backend, a)?;
        let solve = &mut || Ok(factors.apply(backend, a, &problem.b, &mut z)?);
        // The first hundred solves with new factors include the time that `auto` spends on trials.
        hundred = hundred.min(analysis + many(backend, solve)?);
        alone = alone.min(timing::seconds_of_long(backend, solve)?);
        if hundred > LONG {
            break;
        }
    }
    Ok(Some(Seconds { analysis, first, alone, hundred }))
}

/// Seconds of [`MANY`] calls, extrapolated from fewer if they take long.
fn many<B: BenchBackend>(
    backend: &B,
    work: &mut dyn FnMut() -> Result<(), SolverError>,
) -> Result<f64, SolverError> {
    backend.finish()?;
    let started = Instant::now();
    let mut done = 0;
    while done < MANY && started.elapsed().as_secs_f64() < PATIENCE {
        work()?;
        done += 1;
        if done % 10 == 0 {
            backend.finish()?;
        }
    }
    backend.finish()?;
    Ok(started.elapsed().as_secs_f64() * MANY as f64 / done as f64)
}

fn vendor<B: BenchBackend>(
    problem: &Problem<'_, B>,
) -> Result<Option<(&'static str, Seconds)>, SolverError> {
    let vendor = |work| problem.backend.vendor::<f64>(work, problem.csr);
    let Some((name, mut analyse)) = vendor(VendorWork::TriangularAnalysis)? else {
        return Ok(None);
    };
    let analysis = timing::seconds_of_long(problem.backend, &mut || Ok(analyse()?))?;
    let Some((_, mut solve)) = vendor(VendorWork::TriangularSolve)? else { return Ok(None) };
    let (mut hundred, mut alone) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..HUNDREDS {
        hundred = hundred.min(analysis + many(problem.backend, &mut || Ok(solve()?))?);
        alone = alone.min(timing::seconds_of_long(problem.backend, &mut || Ok(solve()?))?);
    }
    Ok(Some((name, Seconds { analysis, first: alone, alone, hundred })))
}
