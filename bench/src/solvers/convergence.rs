//! Residuals of BiCGStab without a preconditioner, with DILU and with ILU(0).

use super::{Panels, Points, Problem, factors, figure, row};
use crate::{BenchBackend, Table};
use gridgen::backend::{Algebraic, Incomplete, SparseMatrix};
use gridgen::report::plot::XyFigure;
use gridgen::solver::SolverError;
use gridgen::solver::krylov::{Bicgstab, KrylovReport, System, Target};
use gridgen::sparse::Schedule;
use std::time::Instant;

/// Relative residual at which a solve ends.
const TOLERANCE: f64 = 1e-10;

/// Names of the curves.
const CURVES: [&str; 3] = ["none", "DILU", "ILU(0)"];

/// Relative residuals of all matrices against iterations, and all of them as a table.
pub(crate) fn picture(residuals: Panels) -> (XyFigure, Table) {
    let columns = ["matrix", "preconditioner", "iteration", "relative residual"];
    let mut table = Table::new("Residuals", &columns);
    for (matrix, curves) in &residuals {
        for (name, curve) in CURVES.iter().zip(curves) {
            for [iteration, residual] in curve {
                let cells = [(*name).to_owned(), iteration.to_string(), format!("{residual:e}")];
                row(&mut table, matrix, cells);
            }
        }
    }
    (figure("Residual of BiCGStab against iterations", "iterations", &CURVES, residuals), table)
}

pub(crate) fn table() -> Table {
    let columns = ["matrix", "preconditioner", "iterations", "residual", "s", "end"];
    Table::new(format!("BiCGStab to {TOLERANCE:.0e}"), &columns)
}

pub(crate) fn measure<B: BenchBackend>(
    problem: &Problem<'_, B>,
    most: usize,
    table: &mut Table,
    shown: &mut Panels,
) -> Result<(), SolverError> {
    let kinds = [
        Algebraic::None,
        factors(Incomplete::Dilu, Schedule::Auto),
        factors(Incomplete::Ilu0, Schedule::Auto),
    ];
    let mut found = Vec::new();
    for (name, kind) in CURVES.into_iter().zip(kinds) {
        let mut points = Vec::new();
        let started = Instant::now();
        match solve(problem, kind, most, &mut points) {
            Ok((report, norm)) => {
                let cells = [
                    name.to_owned(),
                    report.iterations.to_string(),
                    format!("{:.1e}", report.residual / norm),
                    format!("{:.3}", started.elapsed().as_secs_f64()),
                    report.stop.to_string(),
                ];
                row(table, &problem.name, cells);
            }
            Err(SolverError::Preconditioner(failure)) => {
                let cells = [name, "", "", "", &failure.to_string()].map(str::to_owned);
                row(table, &problem.name, cells);
            }
            Err(error) => return Err(error),
        }
        found.push(points);
    }
    shown.push((problem.name.clone(), found));
    Ok(())
}

/// The report of a solve, and ‖b‖.
fn solve<B: BenchBackend>(
    problem: &Problem<'_, B>,
    kind: Algebraic,
    most: usize,
    points: &mut Points,
) -> Result<(KrylovReport, f64), SolverError> {
    let (backend, operator, b) = (problem.backend, &problem.operator, &problem.b);
    let mut preconditioner = operator.preconditioner(backend, kind)?;
    preconditioner.update(backend, operator)?;
    let mut krylov = Bicgstab::new(backend, problem.rows)?;
    let mut x = backend.zeros(problem.rows)?;
    let [square] = backend.dot_products([(b, b)])?;
    let norm = square.sqrt();
    points.push([0.0, 1.0]);
    let observe = &mut |iteration, residual| points.push([iteration, residual / norm]);
    let mut system = System::new(backend, (operator, b), &mut *preconditioner, observe);
    let target = Target { norm: TOLERANCE * norm, max_iterations: most };
    Ok((krylov.solve(&mut system, target, &mut x)?, norm))
}
