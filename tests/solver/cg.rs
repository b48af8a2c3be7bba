//! Conjugate gradients on matrices with known behaviour.
#![allow(clippy::float_cmp, reason = "iteration counts are whole")]

use gridgen::backend::cpu::CpuBackend;
use gridgen::solver::LinearStop;
use gridgen::solver::krylov::{Method, Target};
use gridgen::solver::linear::LinearSettings;
use gridgen::solver::precond::Kind;
use support::krylov::{Solve, diagonal, free_ends, tridiagonal};
use support::linear::{Counted, norm};
use support::random::Random;

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
fn an_indefinite_matrix_or_preconditioner_is_named() {
    let mut entries = vec![1.0; 20];
    entries[7] = -2.0;
    for (matrix, kind, what, at_once) in [
        (diagonal(&entries), Kind::None, "matrix", false),
        (diagonal(&[-1.0; 20]), Kind::None, "matrix", true),
        // A singular system without solution.
        (free_ends(24), Kind::None, "matrix", true),
        // (r, M⁻¹ r) = 1 − 4 < 0.
        (diagonal(&[1.0, -0.25]), Kind::Jacobi, "preconditioner", true),
    ] {
        let b = vec![1.0; matrix.n()];

        let solved = Solve { kind, ..Solve::new(Method::Cg, &matrix) }.solve(&b);

        assert_eq!(solved.report.stop, LinearStop::Indefinite { what });
        assert_eq!((solved.report.iterations, norm(solved.x)) == (0.0, 0.0), at_once, "{what}");
    }
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
