//! Behaviour of the linear solver after a breakdown of `BiCGStab`.
#![allow(clippy::float_cmp, reason = "iteration counts are halves")]

use gridgen::backend::cpu::CpuBackend;
use gridgen::solver::LinearStop;
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearReport, LinearSettings};
use gridgen::solver::precond::Kind;
use support::krylov::{Solve, Solved};
use support::linear::{Counted, Matrix, norm};
use support::random::Random;

const SETTINGS: LinearSettings =
    LinearSettings { method: Method::Bicgstab, max_iterations: 100, restart: 30 };

/// A solve to 1e-10 as in a Newton step, with this number of restarts or the usual one: report, x, and the observed
/// residuals.
fn solve(
    settings: LinearSettings,
    restarts: Option<usize>,
    matrix: &Matrix<f64>,
    b: &Vec<f64>,
) -> (LinearReport, Vec<f64>, Vec<(f64, f64)>) {
    let (mut x, mut observed) = (vec![0.0; b.len()], Vec::new());
    let mut solver = Counted::solver(settings, b.len(), Kind::None);
    solver.restarts = restarts.unwrap_or(solver.restarts);
    let mut observe = |iteration, relative| observed.push((iteration, relative));
    let report = solver.solve(&CpuBackend, matrix, b, 1e-10, &mut x, &mut observe).unwrap();
    (report, x, observed)
}

/// A skew-symmetric regular matrix: (r, A r) = 0 for every r.
fn skew_matrix(n: usize) -> Matrix<f64> {
    Matrix::of(n, |row, column| match (row.abs_diff(column), row < column) {
        (1, true) => 1.0 + row as f64,
        (1, false) => -1.0 - column as f64,
        _ => 0.0,
    })
}

/// After one iteration (r̃, r) = 0 exactly: r̃ = (1, 0, 0), α = 1, s = (0, −1, 0),
/// t = (0, −2, 1), ω = 2/5, r = (0, −1/5, −2/5).
fn rho_matrix() -> (Matrix<f64>, Vec<f64>) {
    let rows = [vec![1.0, 0.0, 0.0], vec![1.0, 2.0, 1.0], vec![0.0, -1.0, 3.0]];
    (Matrix::new(&rows), vec![1.0, 0.0, 0.0])
}

/// (t, s) = 0 exactly in the first iteration: α = 6, s = (−5, 7, −4), t = (−5, −7, −6).
fn omega_matrix() -> (Matrix<f64>, Vec<f64>) {
    let rows = [vec![1.0, 0.0, 0.0], vec![0.0, -1.0, 0.0], vec![0.0, 0.0, 1.5]];
    (Matrix::new(&rows), vec![1.0, 1.0, 0.5])
}

#[test]
fn a_scalar_that_vanishes_is_reported_with_what_has_been_reached() {
    let skew = (skew_matrix(8), Random::new(1).vector(8));
    let start = norm(skew.1.iter().copied());
    for ((matrix, b), scalar, iterations, residual) in [
        (skew, "(r̃, v)", 0.0, start),
        // The half step is kept: ‖s‖² = 25 + 49 + 16.
        (omega_matrix(), "ω", 0.5, 90.0_f64.sqrt()),
        (rho_matrix(), "ρ", 1.0, 0.2_f64.sqrt()),
    ] {
        let Solved { report, x, .. } = Solve::new(Method::Bicgstab, &matrix).solve(&b);

        assert_eq!(report.stop, LinearStop::Breakdown { scalar });
        assert_eq!(report.iterations, iterations, "{scalar}");
        for found in [report.residual, matrix.residual(&b, &x)] {
            assert!((found / residual - 1.0).abs() < 1e-14, "{scalar}: {found:e}, {residual:e}");
        }
    }
}

/// The iterations of all attempts are added, and numbered consecutively.
#[test]
fn restarts_overcome_a_vanishing_rho_or_omega() {
    for ((matrix, b), before, events) in [(rho_matrix(), 1.0, 1), (omega_matrix(), 0.5, 3)] {
        let (report, x, observed) = solve(SETTINGS, None, &matrix, &b);

        assert_eq!(report.stop, LinearStop::Converged);
        assert_eq!(report.events.len(), events, "{:?}", report.events);
        assert!(report.events[0].ends_with("BiCGStab restarted"), "{:?}", report.events);
        assert!(matrix.residual(&b, &x) < 1.02e-10 * norm(b.iter().copied()));
        assert!(report.iterations > before);
        assert_eq!(observed.last().unwrap().0, report.iterations);
        assert!(observed.windows(2).all(|pair| pair[0].0 < pair[1].0), "{observed:?}");
    }
}

#[test]
fn gmres_takes_over_after_two_restarts_or_as_many_as_are_allowed() {
    for (n, restarts) in [(2, None), (8, None), (20, None), (8, Some(5))] {
        let (matrix, b) = (skew_matrix(n), Random::new(2).vector(n));

        let (report, x, observed) = solve(SETTINGS, restarts, &matrix, &b);

        assert_eq!(report.stop, LinearStop::Converged, "n = {n}");
        let (last, before) = report.events.split_last().unwrap();
        assert_eq!(before.len(), restarts.unwrap_or(2));
        assert!(before.iter().all(|event| event.ends_with("BiCGStab restarted")), "{before:?}");
        assert!(last.ends_with("flexible GMRES took over"), "{last}");
        let scale = norm(b.iter().copied());
        assert!(matrix.residual(&b, &x) <= 1.01e-10 * scale);
        // All iterations are GMRES iterations, n at most.
        assert!(report.iterations <= n as f64);
        assert_eq!(observed.len() as f64, report.iterations);
    }
}

#[test]
fn the_limit_holds_over_all_attempts() {
    let (matrix, b) = (skew_matrix(20), Random::new(3).vector(20));
    let settings = LinearSettings { max_iterations: 5, ..SETTINGS };

    let (report, x, _) = solve(settings, None, &matrix, &b);

    assert_eq!(report.stop, LinearStop::IterationLimit);
    assert_eq!(report.iterations, 5.0);
    let relative = matrix.residual(&b, &x) / norm(b.iter().copied());
    assert!((report.relative_residual - relative).abs() < 1e-13);
}

/// A matrix with NaN ends after all attempts, and the vectors kept from that solve do not reach the next one. A zero
/// right side gives zero from any first guess.
#[test]
fn a_solver_can_be_used_again() {
    let broken = Matrix::new(&[vec![f64::NAN, 1.0], vec![1.0, 2.0]]);
    let sound = Matrix::new(&[vec![3.0, 1.0], vec![1.0, 2.0]]);
    let mut solver = Counted::solver(SETTINGS, 2, Kind::None);
    let mut solve = |matrix, b: [f64; 2]| {
        let (mut x, mut observed) = (vec![7.0, -3.0], 0);
        let observe = &mut |_, _| observed += 1;
        let report =
            solver.solve(&CpuBackend, matrix, &b.to_vec(), 1e-10, &mut x, observe).unwrap();
        (report, x, observed)
    };

    let (report, ..) = solve(&broken, [1.0, 1.0]);
    assert_eq!(report.stop, LinearStop::NotFinite);
    assert!(!report.relative_residual.is_finite());
    let (_, x, _) = solve(&sound, [5.0, 5.0]);
    assert!((x[0] - 1.0).abs() < 1e-9 && (x[1] - 2.0).abs() < 1e-9, "{x:?}");
    let (report, x, observed) = solve(&sound, [0.0; 2]);
    assert_eq!((report.stop, report.relative_residual), (LinearStop::Converged, 0.0));
    assert_eq!((report.iterations, x, observed), (0.0, vec![0.0; 2], 0));
}
