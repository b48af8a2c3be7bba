//! Conjugate gradients on matrices with known behaviour.
#![allow(clippy::float_cmp, reason = "iteration counts are whole")]

use gridgen::backend::cpu::CpuBackend;
use gridgen::solver::LinearStop;
use gridgen::solver::krylov::{Method, Target};
use gridgen::solver::linear::{LinearSettings, LinearSolver};
use gridgen::solver::precond::Kind;
use support::krylov::free_ends;
use support::krylov::{Solve, identity, tridiagonal};
use support::linear::{Counted, Matrix, norm};
use support::random::Random;

/// Five-point differences on an m × m grid.
fn laplacian(m: usize) -> Matrix<f64> {
    let n = m * m;
    let mut rows = vec![vec![0.0; n]; n];
    for (row, entries) in rows.iter_mut().enumerate() {
        let (i, j) = (row % m, row / m);
        entries[row] = 4.0;
        let beside = [(i > 0, 1), (j > 0, m)];
        for (_, distance) in beside.into_iter().filter(|(there, _)| *there) {
            entries[row - distance] = -1.0;
        }
        let beside = [(i + 1 < m, 1), (j + 1 < m, m)];
        for (_, distance) in beside.into_iter().filter(|(there, _)| *there) {
            entries[row + distance] = -1.0;
        }
    }
    Matrix::new(&rows)
}

fn diagonal(entries: &[f64]) -> Matrix<f64> {
    let n = entries.len();
    let row = |row| (0..n).map(|c| if c == row { entries[row] } else { 0.0 }).collect();
    Matrix::new(&(0..n).map(row).collect::<Vec<_>>())
}

#[test]
fn every_preconditioner_solves_a_positive_definite_system() {
    let matrix = laplacian(16);
    let b = Random::new(21).vector(256);
    let solve = |kind| Solve { kind, ..Solve::new(Method::Cg, &matrix) }.solve(&b);

    let [none, jacobi, dilu, ilu0] = [Kind::None, Kind::Jacobi, Kind::Dilu, Kind::Ilu0].map(solve);

    for solved in [&none, &jacobi, &dilu, &ilu0] {
        assert_eq!(solved.report.stop, LinearStop::Converged);
        assert!(matrix.residual(&b, &solved.x) <= 1.02e-10);
    }
    // The diagonal is constant; factors take less than half of the iterations.
    assert!((none.report.iterations - jacobi.report.iterations).abs() <= 1.0);
    assert!(ilu0.report.iterations < 0.5 * none.report.iterations);
    assert!(ilu0.report.iterations <= dilu.report.iterations);
}

#[test]
fn an_iteration_takes_one_product_and_one_application() {
    let matrix = laplacian(16);
    let b = Random::new(22).vector(256);
    // After 20 iterations they are recorded and repeated in growing numbers, which must not change the
    // results.
    for max_iterations in [3, 29] {
        let target = Target { norm: 1e-30, max_iterations };

        let solved = Solve { target, ..Solve::new(Method::Cg, &matrix) }.solve(&b);

        // Two more products are needed, for the residual at the start and at the end.
        assert_eq!(solved.report.stop, LinearStop::IterationLimit);
        assert_eq!(
            (matrix.products.get(), solved.applications),
            (max_iterations + 2, max_iterations)
        );
        let numbers: Vec<f64> = solved.observed.iter().map(|(iteration, _)| *iteration).collect();
        assert_eq!(numbers, (1..=max_iterations).map(|k| k as f64).collect::<Vec<_>>());
    }
}

#[test]
fn it_ends_after_as_many_iterations_as_there_are_eigenvalues() {
    let entries: Vec<f64> = (0..30).map(|k| [1.0, 2.5, 10.0][k % 3]).collect();
    let b = Random::new(23).vector(30);

    let solved = Solve::new(Method::Cg, &diagonal(&entries)).solve(&b);
    let unit = Solve::new(Method::Cg, &identity(30)).solve(&b);

    assert_eq!((solved.report.stop, solved.report.iterations), (LinearStop::Converged, 3.0));
    assert_eq!((unit.report.stop, unit.report.iterations), (LinearStop::Converged, 1.0));
}

#[test]
fn the_error_falls_as_the_condition_allows() {
    // ‖e‖_A falls at least by (√κ − 1)/(√κ + 1) an iteration, times 2 at the start; the second difference has
    // κ = tan⁻²(π / 2(n + 1)).
    let n = 100;
    let matrix = tridiagonal(n, 0.0, 0.0);
    let exact = Random::new(24).vector(n);
    let b = matrix.times(&exact);
    let energy = |x: &[f64]| {
        let error: Vec<f64> = x.iter().zip(&exact).map(|(x, e)| x - e).collect();
        matrix.times(&error).iter().zip(&error).map(|(a, e)| a * e).sum::<f64>().sqrt()
    };
    let root = (std::f64::consts::FRAC_PI_2 / (n + 1) as f64).tan().recip();
    let rate = (root - 1.0) / (root + 1.0);
    for iterations in [10, 30, 60] {
        let target = Target { norm: 0.0, max_iterations: iterations };

        let solved = Solve { target, ..Solve::new(Method::Cg, &matrix) }.solve(&b);

        let bound = 2.0 * rate.powf(iterations as f64) * energy(&vec![0.0; n]);
        assert!(energy(&solved.x) <= bound, "{iterations}");
    }
}

#[test]
fn an_indefinite_matrix_is_distinguished_from_a_definite_one() {
    let mut entries = vec![1.0; 20];
    entries[7] = -2.0;
    let b = vec![1.0; 20];

    let mixed = Solve::new(Method::Cg, &diagonal(&entries)).solve(&b);
    let negative = Solve::new(Method::Cg, &diagonal(&[-1.0; 20])).solve(&b);

    let stop = |what| LinearStop::Indefinite { what };
    assert_eq!(mixed.report.stop, stop("matrix"));
    assert_eq!(negative.report.stop, stop("matrix"));
    assert_eq!(negative.report.iterations, 0.0);
}

#[test]
fn an_indefinite_preconditioner_is_named() {
    // (r, M⁻¹ r) = 1 − 4 < 0.
    let matrix = diagonal(&[1.0, -0.25]);

    let solved =
        Solve { kind: Kind::Jacobi, ..Solve::new(Method::Cg, &matrix) }.solve(&vec![1.0, 1.0]);

    assert_eq!(solved.report.stop, LinearStop::Indefinite { what: "preconditioner" });
    assert_eq!(solved.x, [0.0, 0.0]);
}

#[test]
fn a_singular_consistent_system_is_solved_and_another_is_not() {
    // −u″ = b with both ends free, so constants are in the kernel.
    let n = 24;
    let matrix = free_ends(n);
    let b = matrix.times(&Random::new(25).vector(n));

    let consistent = Solve::new(Method::Cg, &matrix).solve(&b);
    let other = Solve::new(Method::Cg, &matrix).solve(&vec![1.0; n]);

    assert_eq!(consistent.report.stop, LinearStop::Converged);
    assert!(matrix.residual(&b, &consistent.x) < 1.02e-10);
    assert_eq!(other.report.stop, LinearStop::Indefinite { what: "matrix" });
}

#[test]
fn a_zero_right_side_takes_no_iteration_and_nan_ends_it() {
    let matrix = laplacian(5);
    let mut bad = vec![1.0; 25];
    bad[3] = f64::NAN;
    let mut entries = vec![2.0; 6];
    entries[2] = f64::NAN;

    let zero = Solve::new(Method::Cg, &matrix).solve(&vec![0.0; 25]);
    let [right, within] = [
        Solve::new(Method::Cg, &matrix).solve(&bad),
        Solve::new(Method::Cg, &diagonal(&entries)).from(&vec![1.0; 6], &[0.0; 6]),
    ];

    assert_eq!((zero.report.stop, zero.report.iterations), (LinearStop::Converged, 0.0));
    assert_eq!(zero.x, vec![0.0; 25]);
    assert_eq!([right.report.stop, within.report.stop], [LinearStop::NotFinite; 2]);
}

#[test]
fn a_target_below_rounding_ends_in_stagnation() {
    let matrix = laplacian(12);
    let b = Random::new(26).vector(144);
    let target = Target { norm: 1e-20, max_iterations: 5000 };

    let solved = Solve { target, ..Solve::new(Method::Cg, &matrix) }.solve(&b);

    assert_eq!(solved.report.stop, LinearStop::Stagnation);
    assert!(solved.report.iterations < 500.0 && solved.report.residual < 1e-13);
}

#[test]
fn the_linear_solver_does_not_switch_to_another_method() {
    let matrix = diagonal(&[1.0, -1.0, 2.0]);
    let settings = LinearSettings { method: Method::Cg, max_iterations: 50, restart: 10 };
    let mut solver = LinearSolver::new(settings, 3, Counted::new(Kind::None));
    let (b, mut x) = (vec![0.0, 1.0, 0.0], vec![0.0; 3]);

    solver.update(&CpuBackend, &matrix).unwrap();
    let report = solver.solve(&CpuBackend, &matrix, &b, 1e-10, &mut x, &mut |_, _| {}).unwrap();

    assert_eq!(report.stop, LinearStop::Indefinite { what: "matrix" });
    assert_eq!(report.stop.to_string(), "the matrix is not positive definite");
    assert!(report.events.is_empty() && norm(x.iter().copied()) == 0.0);
}
