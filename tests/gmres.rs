//! GMRES: its costs, its restarts, and that it ends.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]
#![allow(clippy::float_cmp, reason = "iteration counts are halves")]

mod support;

use gridgen::backend::Real;
use gridgen::backend::cpu::CpuBackend;
use gridgen::solver::LinearStop;
use gridgen::solver::krylov::{Gmres, Method, System, Target};
use gridgen::solver::precond::Kind;
use support::krylov::{Solve, full_matrix, tridiagonal};
use support::linear::{Counted, Matrix};
use support::random::Random;

#[test]
fn gmres_takes_one_product_and_one_application_an_iteration() {
    let matrix = full_matrix(40);
    let b = Random::new(9).vector(40);
    for (max_iterations, restart) in [(4, 100), (20, 5), (21, 5)] {
        let target = Target { norm: 0.0, max_iterations };

        let solved = Solve { restart, target, ..Solve::new(Method::Gmres, &matrix) }.solve(&b);

        // One product more for the residual at the start, at each restart and at the end.
        let cycles = max_iterations.div_ceil(restart);
        assert_eq!(matrix.products.get(), max_iterations + cycles + 1);
        assert_eq!(solved.applications, max_iterations);
    }
}

#[test]
fn gmres_ends_within_n_iterations() {
    for n in [1, 2, 7, 30] {
        let (matrix, b) = (full_matrix(n), Random::new(10).vector(n));

        let solved = Solve::new(Method::Gmres, &matrix).solve(&b);

        assert_eq!(solved.report.stop, LinearStop::Converged, "n = {n}");
        assert!(solved.report.iterations <= n as f64, "n = {n}: {}", solved.report.iterations);
    }
}

#[test]
fn the_residual_of_gmres_never_rises() {
    let matrix = full_matrix(40);
    let b = Random::new(12).vector(40);

    let solved = Solve { restart: 7, ..Solve::new(Method::Gmres, &matrix) }.solve(&b);

    assert_eq!(solved.report.stop, LinearStop::Converged);
    assert!(solved.observed.windows(2).all(|pair| pair[1].1 <= pair[0].1 * (1.0 + 1e-12)));
}

#[test]
fn restarted_gmres_takes_more_iterations_and_arrives() {
    let matrix = tridiagonal(40, 0.1, 0.1);
    let b = Random::new(13).vector(40);

    let [full, restarted] = [100, 5].map(|restart| {
        let target = Target { norm: 1e-10, max_iterations: 2000 };
        Solve { restart, target, ..Solve::new(Method::Gmres, &matrix) }.solve(&b)
    });

    assert_eq!(restarted.report.stop, LinearStop::Converged);
    assert!(restarted.report.iterations > full.report.iterations);
}

#[test]
fn a_stagnating_gmres_ends() {
    // A cyclic shift of a unit vector: nothing is gained before iteration n.
    let n = 12;
    let mut rows = vec![vec![0.0; n]; n];
    for (row, entries) in rows.iter_mut().enumerate() {
        entries[(row + 1) % n] = 1.0;
    }
    let matrix = Matrix::new(&rows);
    let mut b = vec![0.0; n];
    b[0] = 1.0;

    let [short, full] =
        [5, n].map(|restart| Solve { restart, ..Solve::new(Method::Gmres, &matrix) }.solve(&b));

    assert_eq!(short.report.stop, LinearStop::Stagnation);
    assert_eq!((short.report.iterations, short.report.residual), (5.0, 1.0));
    assert_eq!((full.report.stop, full.report.iterations), (LinearStop::Converged, n as f64));
}

#[test]
fn single_precision_reaches_its_rounding() {
    let matrix =
        Matrix::<f32>::new(
            &(0..30)
                .map(|row: usize| {
                    (0..30)
                        .map(|c: usize| {
                            if c == row {
                                4.0
                            } else {
                                1.0 / (1.0 + row.abs_diff(c) as f64).powi(2)
                            }
                        })
                        .collect()
                })
                .collect::<Vec<Vec<f64>>>(),
        );
    let b: Vec<f32> = Random::new(14).vector(30).into_iter().map(f32::narrow).collect();
    let mut preconditioner = Counted::prepared(Kind::Jacobi, &matrix);
    let mut x = vec![0.0; 30];
    let mut system = System {
        backend: &CpuBackend,
        operator: &matrix,
        preconditioner: &mut preconditioner,
        b: &b,
        observe: &mut |_, _| {},
    };
    let target = Target { norm: 2e-6, max_iterations: 100 };

    let report =
        Gmres::new(&CpuBackend, 30, 50).unwrap().solve(&mut system, target, &mut x).unwrap();

    assert_eq!(report.stop, LinearStop::Converged);
    assert!(matrix.residual(&b, &x) < 3e-6);
}
