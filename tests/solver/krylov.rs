//! The Krylov methods on matrices with known behaviour.
#![allow(clippy::float_cmp, reason = "iteration counts are halves")]

use gridgen::solver::LinearStop;
use gridgen::solver::krylov::{Method, Target};
use gridgen::solver::precond::Kind;
use support::krylov::{
    METHODS, Solve, Solved, diagonal, free_ends, full_matrix, laplacian, tridiagonal,
};
use support::linear::{KINDS, Matrix, norm};
use support::random::Random;

const ALL: [Method; 3] = [Method::Bicgstab, Method::Gmres, Method::Cg];

#[test]
fn a_guess_that_is_exact_takes_no_iteration_and_stays() {
    let matrix = tridiagonal(20, 0.0, 0.1);
    for method in ALL {
        for exact in [vec![0.0; 20], Random::new(2).vector(20)] {
            let solved = Solve::new(method, &matrix).from(&matrix.times(&exact), &exact);

            assert_eq!(solved.report.stop, LinearStop::Converged);
            assert_eq!((solved.report.iterations, solved.report.residual), (0.0, 0.0));
            assert_eq!((solved.x, solved.applications), (exact, 0));
        }
    }
}

#[test]
fn few_eigenvalues_or_an_exact_preconditioner_take_few_iterations() {
    // The Krylov space of any right-hand side has at most as many dimensions as there are eigenvalues.
    let (one, three) = (diagonal(&[1.0; 50]), diagonal(&[1.0, 2.0, 3.0].repeat(10)));
    for (method, iterations) in ALL.into_iter().zip([0.5, 1.0, 1.0]) {
        // The exact factors of a tridiagonal matrix have no fill, so ILU(0) is exact.
        let chain = tridiagonal(50, if method == Method::Cg { 0.0 } else { 0.4 }, 0.1);
        let mut rows = vec![(&one, Kind::None, iterations), (&chain, Kind::Ilu0, iterations)];
        rows.extend((method != Method::Bicgstab).then_some((&three, Kind::None, 3.0)));
        for (matrix, kind, iterations) in rows {
            let b = Random::new(3).vector(matrix.n());

            let Solved { report, x, .. } = Solve { kind, ..Solve::new(method, matrix) }.solve(&b);

            assert_eq!((report.stop, report.iterations), (LinearStop::Converged, iterations));
            assert!(matrix.residual(&b, &x) < 1e-13, "{method:?} {kind:?}");
        }
    }
}

#[test]
fn a_singular_consistent_system_is_solved() {
    // −u″ = b with both ends free, so constants are in the kernel; b sums to zero.
    let n = 24;
    let matrix = free_ends(n);
    let b = matrix.times(&Random::new(6).vector(n));
    for method in ALL {
        let solved = Solve::new(method, &matrix).solve(&b);

        assert_eq!(solved.report.stop, LinearStop::Converged, "{method:?}");
        assert!(matrix.residual(&b, &solved.x) < 1.02e-10);
    }
}

#[test]
fn the_reported_residual_is_the_true_one() {
    let matrix = full_matrix(40);
    let b = Random::new(7).vector(40);
    for method in METHODS {
        for kind in KINDS {
            for max_iterations in [3, 200] {
                let target = Target { norm: 1e-9, max_iterations };

                let solved = Solve { kind, target, ..Solve::new(method, &matrix) }.solve(&b);

                let truth = matrix.residual(&b, &solved.x);
                assert!(
                    (solved.report.residual - truth).abs() < 1e-12 * norm(b.iter().copied()),
                    "{method:?} {kind:?}: {} {truth}",
                    solved.report.residual
                );
                if solved.report.stop == LinearStop::Converged {
                    assert!(truth <= 1.01 * target.norm + 1e-13);
                }
            }
        }
    }
}

#[test]
fn what_is_not_a_number_ends_the_solve() {
    let beside = Matrix::of(6, |row, column| match (row, column) {
        (3, 4) | (4, 3) => f64::NAN,
        _ => 2.0 * f64::from(row == column),
    });
    let holed = diagonal(&[2.0, 2.0, f64::NAN, 2.0, 2.0, 2.0]);
    for method in ALL {
        for (matrix, entry) in [
            (&beside, 1.0),
            (&holed, 1.0),
            (&diagonal(&[1.0; 6]), f64::INFINITY),
            (&laplacian(3), f64::NAN),
        ] {
            let mut b = vec![1.0; matrix.n()];
            b[2] = entry;

            let solved = Solve::new(method, matrix).solve(&b);

            assert_eq!(solved.report.stop, LinearStop::NotFinite, "{method:?}");
            assert!(solved.report.iterations <= 1.0, "{method:?}");
        }
    }
}

#[test]
fn the_limit_of_iterations_is_kept_and_products_and_applications_are_counted() {
    // Products are needed for the residual at the start, at each restart of GMRES and at the end as well.
    // After 20 iterations of conjugate gradients they are recorded and repeated in growing numbers, which
    // must not change the results.
    let (full, definite) = (full_matrix(40), laplacian(16));
    for (method, matrix, max_iterations, restart, products, applications) in [
        (Method::Bicgstab, &full, 4, 100, 10, 8),
        (Method::Bicgstab, &full, 9, 100, 20, 18),
        (Method::Gmres, &full, 4, 100, 6, 4),
        (Method::Gmres, &full, 20, 5, 25, 20),
        (Method::Gmres, &full, 21, 5, 27, 21),
        (Method::Cg, &definite, 3, 100, 5, 3),
        (Method::Cg, &definite, 29, 100, 31, 29),
    ] {
        let target = Target { norm: 1e-30, max_iterations };
        let b = Random::new(9).vector(matrix.n());

        let solved = Solve { restart, target, ..Solve::new(method, matrix) }.solve(&b);

        let limit = (LinearStop::IterationLimit, max_iterations as f64);
        assert_eq!((solved.report.stop, solved.report.iterations), limit);
        assert_eq!((matrix.products.get(), solved.applications), (products, applications));
        let numbers: Vec<f64> = solved.observed.iter().map(|(iteration, _)| *iteration).collect();
        assert_eq!(numbers, (1..=max_iterations).map(|k| k as f64).collect::<Vec<_>>());
    }
}

#[test]
fn a_target_below_rounding_ends_in_stagnation() {
    let (skewed, definite) = (tridiagonal(200, 0.4, 0.1), laplacian(12));
    for (method, matrix) in ALL.into_iter().zip([&skewed, &skewed, &definite]) {
        // The recursive residual of BiCGStab falls below any target; b − A x does not follow.
        let target = Target { norm: 1e-20, max_iterations: 5000 };
        let b = Random::new(9).vector(matrix.n());

        let solved = Solve { target, ..Solve::new(method, matrix) }.solve(&b);

        assert_eq!(solved.report.stop, LinearStop::Stagnation, "{method:?}");
        assert!(solved.report.iterations < 500.0, "{method:?}: {}", solved.report.iterations);
        assert!(solved.report.residual < 1e-13, "{method:?}: {:e}", solved.report.residual);
    }
}
