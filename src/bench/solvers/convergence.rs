//! Residuals of BiCGStab without preconditioner, with DILU and with ILU(0).

use super::{Problem, factors, row};
use crate::backend::{CsrBackend, Incomplete, RowSchedule};
use crate::bench::{Bench, BenchBackend, Table};
use crate::report::plot::CurvesFigure;
use crate::solver::general::{GeneralKind, GeneralPreconditioner};
use crate::solver::krylov::{Bicgstab, KrylovReport, System, Target};
use crate::solver::{Preconditioner, SolverError};
use std::time::Instant;

/// Residual over that of x = 0 at which a solve ends.
const TOLERANCE: f64 = 1e-10;

/// Points of a curve: iterations and relative residual.
type Points = Vec<[f64; 2]>;

/// Curves of all matrices.
pub(super) struct Curves {
    figure: CurvesFigure,
    table: Table,
}

impl Curves {
    pub(super) fn new() -> Self {
        let figure = CurvesFigure {
            name: "Residual of BiCGStab against iterations".to_owned(),
            across: "iterations",
            curves: vec!["none", "DILU", "ILU(0)"],
            panels: Vec::new(),
        };
        let columns = ["matrix", "preconditioner", "iteration", "relative residual"];
        Self { figure, table: Table::new("Residuals", &columns) }
    }

    pub(super) fn finish(self) -> (CurvesFigure, Table) {
        (self.figure, self.table)
    }

    fn add(&mut self, matrix: &str, curves: Vec<Points>) {
        for (name, curve) in self.figure.curves.iter().zip(&curves) {
            for [iteration, residual] in curve {
                let cells = [(*name).to_owned(), iteration.to_string(), format!("{residual:e}")];
                row(&mut self.table, matrix, cells);
            }
        }
        self.figure.panels.push((matrix.to_owned(), curves));
    }
}

pub(super) fn table() -> Table {
    let columns = ["matrix", "preconditioner", "iterations", "residual", "s", "end"];
    Table::new(format!("BiCGStab to {TOLERANCE:.0e}"), &columns)
}

pub(super) fn measure<B: BenchBackend + CsrBackend>(
    bench: &Bench<'_, B>,
    problem: &Problem<'_, B>,
    most: usize,
    table: &mut Table,
    curves: &mut Curves,
) -> Result<(), SolverError> {
    let kinds = [
        ("none", GeneralKind::None),
        ("DILU", factors(Incomplete::Dilu, RowSchedule::Auto)),
        ("ILU(0)", factors(Incomplete::Ilu0, RowSchedule::Auto)),
    ];
    let mut found = Vec::new();
    for (name, kind) in kinds {
        let mut points = Vec::new();
        let started = Instant::now();
        match solve(bench, problem, kind, most, &mut points) {
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
    curves.add(&problem.name, found);
    Ok(())
}

/// The report and ‖b‖.
fn solve<B: BenchBackend + CsrBackend>(
    bench: &Bench<'_, B>,
    problem: &Problem<'_, B>,
    kind: GeneralKind,
    most: usize,
    points: &mut Points,
) -> Result<(KrylovReport, f64), SolverError> {
    let (backend, operator, b) = (bench.backend, &problem.operator, &problem.b);
    let mut preconditioner = GeneralPreconditioner::new(kind);
    preconditioner.update(backend, operator)?;
    let mut krylov = Bicgstab::new(backend, operator.rows)?;
    let mut x = backend.zeros(operator.rows)?;
    let [square] = backend.dots([(b, b)])?;
    let norm = square.sqrt();
    points.push([0.0, 1.0]);
    let mut system = System {
        backend,
        operator,
        preconditioner: &mut preconditioner,
        b,
        observe: &mut |iteration, residual| points.push([iteration, residual / norm]),
    };
    let target = Target { norm: TOLERANCE * norm, max_iterations: most };
    Ok((krylov.solve(&mut system, target, &mut x)?, norm))
}
