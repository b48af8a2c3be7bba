//! Times iterations with DILU under each schedule.

use super::{Problem, SCHEDULES, factors, from_zero, milliseconds, row, times};
use crate::{BenchBackend, Table};
use gridgen::backend::{Algebraic, Incomplete, SparseMatrix};
use gridgen::solver::SolverError;
use gridgen::solver::krylov::{Bicgstab, Target};
use std::time::Instant;

/// Seconds after which no new solve of a row is started.
const PATIENCE: f64 = 2.0;
/// Iterations before the measurement begins, in which schedules are chosen and graphs recorded.
const FIRST: usize = 24;
/// Iterations of a solve before the first look at the clock, and the least number between two looks.
const UNSEEN: usize = 8;

pub(crate) fn table(iterations: usize) -> Table {
    let whole = format!("{iterations} iterations s");
    let columns = ["matrix", "preconditioner", "timed", "ms an iteration", &whole, "times none"];
    Table::new("BiCGStab with DILU", &columns)
}

/// A solve that ends early, because it has converged, is repeated until the number of iterations is reached.
pub(crate) fn measure<B: BenchBackend>(
    problem: &Problem<'_, B>,
    iterations: usize,
    table: &mut Table,
) -> Result<(), SolverError> {
    let mut add = |name: &str, kind, none: Option<f64>| -> Result<Option<f64>, SolverError> {
        match seconds(problem, kind, iterations, PATIENCE) {
            Ok((done, seconds)) => {
                let once = seconds / done;
                let cells = [
                    name.to_owned(),
                    format!("{done}"),
                    milliseconds(once),
                    format!("{:.3}", once * iterations as f64),
                    times(once, none.unwrap_or(once)),
                ];
                row(table, &problem.name, cells);
                Ok(Some(once))
            }
            Err(SolverError::Preconditioner(failure)) => {
                row(table, &problem.name, [name.to_owned(), failure.to_string()]);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    };
    let none = add("none", Algebraic::None, None)?;
    for (schedule, name) in SCHEDULES {
        add(&format!("DILU, {name}"), factors(Incomplete::Dilu, schedule), none)?;
    }
    Ok(())
}

/// Iterations done, and their seconds. After `patience` seconds no new solve is started. Ranks must all do
/// the same work and therefore pass an infinite `patience`.
pub(crate) fn seconds<B: BenchBackend>(
    problem: &Problem<'_, B>,
    kind: Algebraic,
    iterations: usize,
    patience: f64,
) -> Result<(f64, f64), SolverError> {
    let Problem { operator, rows, b, .. } = problem;
    let backend = problem.backend;
    let mut preconditioner = operator.preconditioner(backend, kind)?;
    preconditioner.update(backend, operator)?;
    let mut krylov = Bicgstab::new(backend, *rows)?;
    let mut x = backend.zeros(*rows)?;
    let mut solve = |most: usize| {
        let target = Target { norm: 0.0, max_iterations: most };
        from_zero(backend, (operator, b), &mut *preconditioner, &mut x, |system, x| {
            krylov.solve(system, target, x)
        })
    };
    let (mut first, mut bearable) = (0, f64::INFINITY);
    while first < FIRST && bearable > FIRST as f64 {
        let started = Instant::now();
        let _ = solve(UNSEEN)?;
        backend.finish()?;
        first += UNSEEN;
        bearable = patience * UNSEEN as f64 / started.elapsed().as_secs_f64();
    }
    let chunk = (bearable as usize).clamp(UNSEEN, 100);
    let started = Instant::now();
    let mut done = 0.0;
    while done < iterations as f64 && started.elapsed().as_secs_f64() < patience {
        let left = (iterations - done as usize).min(chunk);
        done += solve(left)?.max(1.0);
    }
    backend.finish()?;
    Ok((done, started.elapsed().as_secs_f64()))
}
