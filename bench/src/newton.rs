//! Whole Newton solves for growing numbers of unknowns.

use super::problem::ellipses;
use super::results::points;
use super::scaling::{CITED, Measure, ScalingRun};
use super::{BenchBackend, Results, Size, Table};
use gridgen::backend::{EllipticData, Real};
use gridgen::elliptic::GridProblem;
use gridgen::report::plot::{Stroke, XyCurve, XyFigure, XyLine};
use gridgen::solver::SolverError;
use gridgen::solver::history::History;
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::LinearSettings;
use gridgen::solver::newton::{self, Forcing, NewtonReport, NewtonSettings};
use gridgen::solver::precond::{Kind, MultigridSettings};
use gridgen::sparse::Schedule;
use std::time::Instant;

/// Iterations of a linear solve with Jacobi; it is timed and need not converge. With fewer iterations the
/// first ones, which the host checks one by one, would weigh more. In single precision many solves break
/// down; allowing as many restarts as iterations keeps the timed method BiCGStab, where GMRES would take over
/// after the third restart.
const LIMIT: usize = 100;

/// The table of Newton steps and linear iterations against the number of unknowns, and its picture. There is
/// one row for each size and preconditioner: multigrid to 1e-10 with coupled walls, Jacobi with 100
/// iterations a step.
pub fn newton<B: BenchBackend>(backend: &B, sizes: &[Size]) -> Result<Results, SolverError> {
    let columns =
        [["points", "unknowns", "preconditioner"].as_slice(), &ScalingRun::HEADINGS].concat();
    let name = format!("Newton solves on {}", backend.name());
    let mut table = Table::new(name.clone(), &columns);
    let kinds = [Kind::Multigrid, Kind::Jacobi];
    let mut curves: [Vec<(usize, ScalingRun)>; 2] = Default::default();
    for &(ni, nj) in sizes {
        let data = ellipses(ni, nj);
        for (kind, curve) in kinds.into_iter().zip(&mut curves) {
            let (report, seconds) =
                solve::<B, f32>(backend, &data, kind, MultigridSettings::default())?;
            let run = ScalingRun::new(&report, seconds);
            let unknowns = 2 * data.mi * data.mj;
            let mut row = vec![points((ni, nj)), unknowns.to_string(), format!("{kind:?}")];
            row.extend(run.cells());
            table.rows.push(row);
            curve.push((unknowns, run));
        }
    }
    let line = |k| XyLine { colour: Some(k), stroke: Stroke::Dotted };
    let panel = |measure: &Measure| {
        let mut panel = measure.panel();
        panel.curves.extend(curves.iter().enumerate().map(|(k, runs)| XyCurve {
            line: line(k),
            name: None,
            points: runs.iter().map(|(n, run)| [*n as f64, (measure.of)(run)]).collect(),
        }));
        panel
    };
    let legend = kinds.iter().enumerate().map(|(k, kind)| (line(k), format!("{kind:?}")));
    let figure = XyFigure {
        name,
        legend: legend.chain([CITED.key()]).collect(),
        across: 3,
        panel: [400.0, 390.0],
        panels: Measure::ALL.iter().map(panel).collect(),
        ..XyFigure::default()
    };
    Ok(Results { figures: vec![("scaling.svg", figure)], ..vec![table].into() })
}

/// A whole solve, and its time in seconds.
pub(crate) fn solve<B: BenchBackend, T: Real>(
    backend: &B,
    data: &EllipticData,
    kind: Kind,
    multigrid: MultigridSettings,
) -> Result<(NewtonReport, f64), SolverError> {
    let data = match (kind, &data.walls[0]) {
        (Kind::Jacobi, Some(_)) => &EllipticData { walls: Default::default(), ..data.clone() },
        _ => data,
    };
    let (state, mut u) = backend.elliptic(data)?;
    let mut problem = GridProblem::<B, T>::new(backend, state, kind)?;
    let steps = if kind == Kind::Jacobi { 2 } else { 12 };
    timed(backend, (&mut problem, &mut u), (kind, multigrid), (1e-10, steps))
}

/// Newton steps of a problem from the state u, up to a tolerance or a number of steps, and their time in seconds.
pub(crate) fn timed<B: BenchBackend, T: Real>(
    backend: &B,
    (problem, u): (&mut GridProblem<B, T>, &mut B::Vector<f64>),
    (kind, multigrid): (Kind, MultigridSettings),
    (tolerance, steps): (f64, usize),
) -> Result<(NewtonReport, f64), SolverError> {
    let settings = NewtonSettings {
        tolerance,
        max_iterations: steps,
        forcing: Forcing { initial: 0.1, min: 1e-4, max: 0.1 },
        max_halvings: 10,
    };
    let max_iterations = if kind == Kind::Jacobi { LIMIT } else { 1000 };
    let linear = LinearSettings { method: Method::Bicgstab, max_iterations, restart: 30 };
    let way = (kind, Schedule::Levels);
    let mut linear = problem.jacobian().linear_solver(linear, way, multigrid);
    if kind == Kind::Jacobi {
        linear.restarts = LIMIT;
    }
    // The reduction synchronises the ranks, so that all start together.
    let _ = backend.max_abs(u)?;
    backend.finish()?;
    let started = Instant::now();
    let start = History::default();
    let report = newton::solve(backend, problem, &mut linear, u, start, &settings, &mut ())?;
    backend.finish()?;
    Ok((report, started.elapsed().as_secs_f64()))
}
