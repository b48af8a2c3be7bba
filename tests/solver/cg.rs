//! Conjugate gradients on matrices with known behaviour.
#![allow(clippy::float_cmp, reason = "iteration counts are whole")]

use gridgen::backend::cpu::CpuBackend;
use gridgen::solver::LinearStop;
use gridgen::solver::krylov::{Method, Target};
use gridgen::solver::linear::LinearSettings;
use gridgen::solver::precond::Kind;
use support::krylov::{Solve, diagonal, free_ends, laplacian, tridiagonal};
use support::linear::{Counted, norm};
use support::random::Random;

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
fn a_singular_system_without_solution_is_indefinite() {
    let solved = Solve::new(Method::Cg, &free_ends(24)).solve(&vec![1.0; 24]);

    assert_eq!(solved.report.stop, LinearStop::Indefinite { what: "matrix" });
}

#[test]
fn the_linear_solver_does_not_switch_to_another_method() {
    let matrix = diagonal(&[1.0, -1.0, 2.0]);
    let settings = LinearSettings { method: Method::Cg, max_iterations: 50, restart: 10 };
    let mut solver = Counted::solver(settings, 3, Kind::None);
    let (b, mut x) = (vec![0.0, 1.0, 0.0], vec![0.0; 3]);

    solver.update(&CpuBackend, &matrix).unwrap();
    let report = solver.solve(&CpuBackend, &matrix, &b, 1e-10, &mut x, &mut |_, _| {}).unwrap();

    assert_eq!(report.stop, LinearStop::Indefinite { what: "matrix" });
    assert_eq!(report.stop.to_string(), "the matrix is not positive definite");
    assert!(report.events.is_empty() && norm(x.iter().copied()) == 0.0);
}
