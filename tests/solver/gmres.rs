//! GMRES: its basis, its restarts, and its termination.
#![allow(clippy::float_cmp, reason = "iteration counts are halves")]

use gridgen::backend::Real;
use gridgen::backend::cpu::CpuBackend;
use gridgen::solver::LinearStop;
use gridgen::solver::krylov::{Gmres, Method, System, Target};
use gridgen::solver::precond::Kind;
use nalgebra::{DMatrix, DVector};
use support::krylov::{Solve, diagonal, full_matrix, tridiagonal};
use support::linear::{Counted, Matrix, dot, norm};
use support::random::Random;

/// Arnoldi's method with modified Gram–Schmidt: the basis, and the least residual after each step, by
/// singular values.
fn modified_gram_schmidt(matrix: &Matrix<f64>, b: &[f64], m: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let beta = norm(b.iter().copied());
    let mut basis = vec![b.iter().map(|b| b / beta).collect::<Vec<_>>()];
    let mut h = DMatrix::<f64>::zeros(m + 1, m);
    let mut residuals = Vec::new();
    for k in 0..m {
        let mut w = matrix.times(&basis[k]);
        for (i, v) in basis.iter().enumerate() {
            h[(i, k)] = dot(&w, v);
            w.iter_mut().zip(v).for_each(|(w, v)| *w -= h[(i, k)] * v);
        }
        h[(k + 1, k)] = norm(w.iter().copied());
        basis.push(w.iter().map(|w| w / h[(k + 1, k)]).collect());
        let small = h.view((0, 0), (k + 2, k + 1)).clone_owned();
        let mut right = DVector::zeros(k + 2);
        right[0] = beta;
        let y = small.clone().svd(true, true).solve(&right, 0.0).unwrap();
        residuals.push((right - small * y).norm());
    }
    (basis, residuals)
}

/// max |(v_i, v_j) − δ_ij|.
fn departure(basis: &[Vec<f64>]) -> f64 {
    let n = basis.len();
    let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let off = |(i, j): (usize, usize)| (dot(&basis[i], &basis[j]) - f64::from(i == j)).abs();
    pairs.map(off).fold(0.0, f64::max)
}

#[test]
fn the_basis_stays_orthogonal_where_that_of_modified_gram_schmidt_does_not() {
    // The residual falls to rounding within the cycle, so that rounding dominates the last vectors of the
    // space.
    let (n, m) = (200, 40);
    let matrix = Matrix::of(n, |row, column| {
        let within = f64::from(row == column) * (1.0 + row as f64 / n as f64);
        within + f64::from((row + 1) % n == column) * 0.1
    });
    let b = Random::new(15).vector(n);
    let mut preconditioner = Counted::prepared(Kind::None, &matrix);
    let observe = &mut |_, _| {};
    let mut system = System::new(&CpuBackend, (&matrix, &b), &mut preconditioner, observe);
    let mut gmres = Gmres::new(&CpuBackend, n, m).unwrap();
    let target = Target { norm: 0.0, max_iterations: m };

    let report = gmres.solve(&mut system, target, &mut vec![0.0; n]).unwrap();

    let (modified, _) = modified_gram_schmidt(&matrix, &b, m);
    let (ours, theirs) = (departure(gmres.basis()), departure(&modified));
    assert!(report.residual < 1e-13 * norm(b.iter().copied()), "{report:?}");
    assert_eq!(gmres.basis().len(), m + 1);
    assert!(ours <= 1e-14 * m as f64, "{ours:e}");
    assert!(theirs > 1e-4, "{theirs:e}");
}

/// The least residual in the whole space is zero, so that GMRES ends within n iterations.
#[test]
fn residuals_are_the_least_in_the_space() {
    for n in [1, 2, 7, 40] {
        let (matrix, b) = (full_matrix(n), Random::new(16).vector(n));
        let (_, least) = modified_gram_schmidt(&matrix, &b, n);

        let solved = Solve::new(Method::Gmres, &matrix).solve(&b);

        let needed = least.iter().position(|&residual| residual <= 1e-10).unwrap() + 1;
        assert_eq!(solved.report.stop, LinearStop::Converged, "n = {n}");
        assert_eq!(solved.report.iterations, needed as f64, "n = {n}");
        for ((_, found), least) in solved.observed.iter().zip(&least) {
            assert!((found - least).abs() <= 1e-9 * least + 1e-13, "{found:e} {least:e}");
        }
    }
}

#[test]
fn a_singular_system_without_solution_ends_at_its_least_residual() {
    let entries: Vec<f64> =
        (0..12).map(|row| if row < 9 { 1.0 + f64::from(row) } else { 0.0 }).collect();
    let matrix = diagonal(&entries);

    let solved = Solve::new(Method::Gmres, &matrix).solve(&vec![1.0; 12]);

    assert_eq!(solved.report.stop, LinearStop::Stagnation);
    assert!((solved.report.residual - 3.0_f64.sqrt()).abs() < 1e-9, "{:?}", solved.report);
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
    let falls = |pair: &[(f64, f64)]| pair[1].1 <= pair[0].1 * (1.0 + 1e-12);
    assert!(restarted.observed.windows(2).all(falls), "the residual never rises");
}

#[test]
fn a_stagnating_gmres_ends() {
    // For a cyclic shift and a unit vector nothing is gained before iteration n.
    let n = 12;
    let matrix = Matrix::of(n, |row, column| f64::from((row + 1) % n == column));
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
    let matrix = Matrix::<f32>::of(30, |row, column| match row.abs_diff(column) {
        0 => 4.0,
        distance => 1.0 / (1.0 + distance as f64).powi(2),
    });
    let b: Vec<f32> = Random::new(14).vector(30).into_iter().map(f32::narrow).collect();
    let target = Target { norm: 2e-6, max_iterations: 100 };
    let solve = Solve { kind: Kind::Jacobi, target, ..Solve::new(Method::Gmres, &matrix) };

    let solved = solve.solve(&b);

    assert_eq!(solved.report.stop, LinearStop::Converged);
    assert!(matrix.residual(&b, &solved.x) < 3e-6);
}
