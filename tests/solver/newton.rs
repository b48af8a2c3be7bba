//! Inexact Newton on the grid equations: convergence, forcing terms, history, reproducibility.
#![allow(clippy::float_cmp, reason = "what is recorded must be what was used, to the last bit")]

use gridgen::backend::Backend;
use gridgen::backend::cpu::CpuBackend;
use gridgen::elliptic::GridJacobian;
use gridgen::grid::quality::{cell_area, cell_corners};
use gridgen::pde::control::Wall;
use gridgen::solver::NonlinearProblem;
use gridgen::solver::history::{History, NewtonStep};
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearSettings, LinearSolver};
use gridgen::solver::newton::{
    Forcing, NewtonReport, NewtonSettings, Observer, lasting_step, solve,
};
use gridgen::solver::precond::{Kind, MultigridSettings};
use gridgen::sparse::Schedule;
use support::problems::{FORCING, NEWTON, Setup};
use support::random::Random;
use support::with_threads;

const WALLS: [Wall; 2] = [Wall::Frozen, Wall::Coupled];

type Linear = LinearSolver<CpuBackend, f64, GridJacobian<CpuBackend, f64>>;

fn linear(setup: &Setup<f64>, method: Method, kind: Kind) -> Linear {
    let linear = LinearSettings { method, max_iterations: 500, restart: 100 };
    let kind = (kind, Schedule::Levels);
    setup.problem.jacobian().linear_solver(linear, kind, MultigridSettings::default())
}

/// Solves with linear solves that are exact up to rounding.
fn exact_newton(setup: &mut Setup<f64>, method: Method, max_iterations: usize) -> NewtonReport {
    let linear = linear(setup, method, Kind::Ilu0);
    let forcing = Forcing { initial: 1e-13, min: 1e-13, max: 1e-13 };
    let newton = NewtonSettings { tolerance: 1e-13, max_iterations, forcing, ..NEWTON };
    setup.solve_with(linear, &newton)
}

#[test]
fn one_exact_step_squares_a_disturbance() {
    for (wall, method) in WALLS.into_iter().zip([Method::Gmres, Method::Bicgstab]) {
        let mut setup = Setup::naca("4412", (21, 11), 1e-3, wall);
        assert!(exact_newton(&mut setup, method, 10).stop.converged());
        let (solution, mut random) = (setup.u.clone(), Random::new(5));
        let d: Vec<f64> =
            setup.natural_steps().iter().map(|step| step * random.symmetric()).collect();

        let after = [0.04, 0.02, 0.01, 0.005].map(|size| {
            setup.u = solution.iter().zip(&d).map(|(u, d)| u + size * d).collect();
            exact_newton(&mut setup, method, 1).history.steps[1].residual
        });

        for pair in after.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!((1.9..=2.1).contains(&order), "{wall:?}: {after:?}, order {order}");
        }
    }
}

/// A solve with the settings of the default case.
fn default_solve(wall: Wall) -> (Setup<f64>, NewtonReport) {
    let mut setup = Setup::naca("4412", (65, 33), 1e-4, wall);
    let report = setup.solve(Kind::Ilu0, &NEWTON);
    assert!(report.stop.converged(), "{}", report.stop);
    (setup, report)
}

#[test]
fn forcing_terms_follow_eisenstat_and_walker_and_are_met() {
    for wall in WALLS {
        let (_, report) = default_solve(wall);

        let steps = &report.history.steps;
        assert_eq!(steps[1].forcing_term, 0.1);
        for k in 2..steps.len() {
            let [residual, last] = [1, 2].map(|before| steps[k - before].residual);
            let expected = FORCING.term(residual, Some(last), NEWTON.tolerance);
            assert_eq!(steps[k].forcing_term, expected, "step {k}");
        }
        for step in &steps[1..] {
            let reached = step.linear_residuals.last().unwrap();
            assert!(*reached <= step.forcing_term, "{step:?}");
        }
        // Not all terms are at a bound, so the formula is tested.
        assert!(steps[2..].iter().any(|s| s.forcing_term > 1e-4 && s.forcing_term < 0.1));
    }
}

#[test]
fn a_forcing_term_is_clipped_and_asks_no_more_than_the_last_step_needs() {
    for (residual, last, term) in [
        (1.0, None, 0.1),
        (1.0, Some(1.0), 0.1),
        (1e-3, Some(1.0), 1e-4),
        (0.1, Some(1.0), 9e-3),
        (1e-9, Some(1e-6), 0.025),
    ] {
        let found = FORCING.term(residual, last, 1e-10);
        assert!((found - term).abs() < 1e-17, "{residual:e}: {found:e}");
    }
}

/// Counts the reports that it receives.
#[derive(Default)]
struct Listener {
    steps: Vec<NewtonStep>,
    linear: usize,
}

impl Observer<CpuBackend> for Listener {
    fn newton(&mut self, step: &NewtonStep) {
        self.steps.push(step.clone());
    }

    fn linear(&mut self, _iteration: f64, _relative_residual: f64) {
        self.linear += 1;
    }
}

#[test]
fn the_history_adds_up_and_the_observer_sees_it() {
    let mut setup = Setup::<f64>::naca("0012", (65, 33), 1e-3, Wall::Coupled);
    let mut linear = linear(&setup, Method::Bicgstab, Kind::Ilu0);
    let mut listener = Listener::default();
    let Setup { problem, u, .. } = &mut setup;

    let report =
        solve(&CpuBackend, problem, &mut linear, u, History::default(), &NEWTON, &mut listener)
            .unwrap();

    let history = &report.history;
    assert_eq!(listener.steps, history.steps);
    let recorded: usize = history.steps.iter().map(|s| s.linear_residuals.len()).sum();
    assert_eq!(listener.linear, recorded);
    assert_eq!(history.newton_iterations(), history.steps.len() - 1);
    let sum: f64 = history.steps.iter().map(|s| s.linear_iterations).sum();
    assert_eq!(history.linear_iterations(), sum);
    let start = &history.steps[0];
    assert_eq!((start.forcing_term, start.linear_iterations, start.step_length), (0.0, 0.0, 0.0));
    for (number, step) in history.steps.iter().enumerate() {
        assert_eq!(step.step, number);
        // A half iteration is recorded once, at its end.
        assert_eq!(step.linear_residuals.len() as f64, step.linear_iterations.ceil());
        assert!(step.setup_seconds >= 0.0 && step.linear_seconds >= 0.0);
    }
}

#[test]
fn the_last_record_describes_the_state_and_the_grid_that_is_stored() {
    for wall in WALLS {
        let (mut setup, report) = default_solve(wall);
        let mut f = vec![0.0; setup.n()];

        let found = setup.problem.residual(&CpuBackend, &setup.u, &mut f).unwrap();
        let grid = setup.problem.nodes(&CpuBackend, &setup.u, setup.initial.topology).unwrap();

        let last = report.history.steps.last().unwrap();
        assert_eq!(found.merit, last.residual);
        let cells = (0..grid.nj - 1).flat_map(|j| (0..grid.ni - 1).map(move |i| (i, j)));
        let areas = cells.map(|(i, j)| cell_area(&cell_corners(&grid, i, j)));
        let smallest = areas.fold(f64::INFINITY, f64::min);
        assert!((last.min_area / smallest - 1.0).abs() < 1e-12, "{} {smallest}", last.min_area);
        assert_eq!(last.folded_cells, 0);
        assert!(grid != setup.initial);
    }
}

/// A grid on which the levels of an early step last.
fn lasting() -> (Setup<f64>, Linear) {
    let setup = Setup::naca("0012", (65, 33), 1e-5, Wall::Coupled);
    let linear = linear(&setup, Method::Bicgstab, Kind::Multigrid);
    (setup, linear)
}

fn solve_lasting(tolerance: f64) -> History {
    let (mut setup, linear) = lasting();
    setup.solve_with(linear, &NewtonSettings { tolerance, ..NEWTON }).history
}

/// The linear residuals of the steps of a history, where the steps that `made` says make levels anew.
fn replayed(history: &History, made: impl Fn(usize) -> bool) -> Vec<Vec<f64>> {
    let backend = &CpuBackend;
    let (Setup { mut problem, mut u, .. }, mut linear) = lasting();
    let [mut f, mut right, mut x, mut d, mut next] = [0; 5].map(|_| vec![0.0; u.len()]);
    let step = |step: &NewtonStep| {
        problem.residual(backend, &u, &mut f).unwrap();
        let size = backend.max_abs(&f).unwrap();
        let jacobian = problem.linearise(backend).unwrap();
        if made(step.step) {
            linear.update(backend, jacobian).unwrap();
        }
        backend.convert(-1.0 / size, &f, &mut right).unwrap();
        let mut residuals = Vec::new();
        let observe = &mut |_, relative| residuals.push(relative);
        let term = step.forcing_term;
        x.fill(0.0);
        let _ = linear.solve(backend, jacobian, &right, term, &mut x, observe).unwrap();
        backend.convert(size, &x, &mut d).unwrap();
        backend.lincomb(None, &mut next, 0.0, &[(1.0, &u), (step.step_length, &d)]).unwrap();
        std::mem::swap(&mut u, &mut next);
        residuals
    };
    history.steps[1..].iter().map(step).collect()
}

fn linear_residuals(history: &History) -> Vec<Vec<f64>> {
    history.steps[1..].iter().map(|step| step.linear_residuals.clone()).collect()
}

#[test]
fn steps_after_a_small_residual_keep_its_levels() {
    let history = solve_lasting(1e-12);

    let n = lasting().0.n();
    let first = lasting_step(&history, n).unwrap();
    let size = |step: usize| history.steps[step].residual * (n as f64).sqrt();
    assert!(size(first - 1) <= 0.125 && (first == 1 || size(0) > 0.125));
    assert!(history.newton_iterations() > first);
    assert_eq!(linear_residuals(&history), replayed(&history, |step| step <= first));
    assert_ne!(linear_residuals(&history), replayed(&history, |_| true));
}

#[test]
fn a_step_that_may_just_miss_the_tolerance_makes_levels_anew() {
    let tight = solve_lasting(1e-12);
    let first = lasting_step(&tight, lasting().0.n()).unwrap();
    let doubtful = first + 1;
    let tolerance = tight.steps[doubtful].forcing_term * tight.steps[doubtful - 1].residual;

    let history = solve_lasting(tolerance);

    assert_eq!(history.steps[doubtful].forcing_term, tight.steps[doubtful].forcing_term);
    let anew = replayed(&history, |step| step <= first || step >= doubtful);
    assert_eq!(linear_residuals(&history), anew);
    assert_ne!(linear_residuals(&history), replayed(&history, |step| step <= first));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    // Vectors of 129 × 65 points fill four pieces of the reductions.
    for (kind, wall) in [(Kind::Jacobi, Wall::Frozen), (Kind::Dilu, Wall::Coupled)] {
        let solve_on = |threads: usize| {
            with_threads(threads, || {
                let mut setup = Setup::<f64>::naca("0012", (129, 65), 1e-3, wall);
                let report = setup.solve(kind, &NEWTON);
                let residuals: Vec<f64> =
                    report.history.steps.into_iter().flat_map(|s| s.linear_residuals).collect();
                (setup.u, residuals)
            })
        };

        let one = solve_on(1);

        assert!(one.1.len() > 10);
        assert!(one == solve_on(2), "{kind:?}: two threads");
        assert!(one == solve_on(4), "{kind:?}: four threads");
    }
}
