//! Every preconditioner with every method, on random diagonally dominant matrices.

use gridgen::backend::Real;
use gridgen::backend::cpu::CpuBackend;
use gridgen::solver::krylov::{Method, Target};
use gridgen::solver::linear::LinearSettings;
use gridgen::solver::precond::Kind;
use gridgen::solver::{LinearStop, Preconditioner, PreconditionerFailure, SolverError};
use proptest::prelude::*;
use support::krylov::{Solve, laplacian};
use support::linear::{Counted, KINDS, Matrix, norm};
use support::random::Random;

/// A sparse matrix of `n` rows, a fraction `density` of whose entries is nonzero, and whose diagonal exceeds
/// the sum of the others by a tenth. With `indefinite` the diagonal has random signs.
fn dominant(n: usize, density: f64, indefinite: bool, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    (0..n)
        .map(|row| {
            let mut entries: Vec<f64> = (0..n)
                .map(|_| {
                    let present = random.symmetric() < 2.0 * density - 1.0;
                    let value = random.symmetric();
                    if present { value } else { 0.0 }
                })
                .collect();
            entries[row] = 0.0;
            let others: f64 = entries.iter().map(|v| v.abs()).sum();
            let sign = if indefinite && random.symmetric() < 0.0 { -1.0 } else { 1.0 };
            entries[row] = sign * (1.1 * others + 0.1);
            entries
        })
        .collect()
}

/// Solves in the precision of `T`; returns the stop, and ‖b − A x‖/‖b‖ in double precision.
fn solve<T: Real>(
    rows: &[Vec<f64>],
    seed: u64,
    method: Method,
    kind: Kind,
    rtol: f64,
) -> (LinearStop, f64) {
    let matrix = Matrix::<T>::new(rows);
    let n = rows.len();
    let b: Vec<T> = Random::new(!seed).vector(n).into_iter().map(T::narrow).collect();
    let settings = LinearSettings { method, max_iterations: 10 * n + 20, restart: n };
    let mut solver = Counted::solver(settings, n, kind);
    let mut x = vec![T::zero(); n];
    solver.update(&CpuBackend, &matrix).unwrap();
    let report = solver.solve(&CpuBackend, &matrix, &b, rtol, &mut x, &mut |_, _| {}).unwrap();
    (report.stop, matrix.residual(&b, &x) / norm(b.iter().map(|b| b.widen())))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..Default::default() })]

    #[test]
    fn dominant_systems_are_solved_to_the_tolerance(
        n in 1_usize..50,
        density in 0.02..0.6,
        indefinite: bool,
        seed: u64,
    ) {
        let rows = dominant(n, density, indefinite, seed);
        for kind in KINDS {
            for method in [Method::Bicgstab, Method::Gmres] {
                let (stop, residual) = solve::<f64>(&rows, seed, method, kind, 1e-10);
                prop_assert_eq!(stop, LinearStop::Converged, "{:?} {:?}, f64", method, kind);
                prop_assert!(residual <= 1.011e-10, "{:?} {:?}, f64: {}", method, kind, residual);

                let (stop, residual) = solve::<f32>(&rows, seed, method, kind, 1e-4);
                prop_assert_eq!(stop, LinearStop::Converged, "{:?} {:?}, f32", method, kind);
                prop_assert!(residual <= 1.02e-4, "{:?} {:?}, f32: {}", method, kind, residual);
            }
        }
    }
}

#[test]
fn incomplete_factors_halve_the_iterations_on_laplace() {
    let (matrix, b) = (laplacian(24), Random::new(1).vector(24 * 24));
    let target = Target { norm: 1e-8 * norm(b.iter().copied()), max_iterations: 500 };
    for method in [Method::Bicgstab, Method::Cg] {
        let [none, jacobi, dilu, ilu0] = KINDS.map(|kind| {
            let solved = Solve { kind, target, ..Solve::new(method, &matrix) }.solve(&b);
            assert_eq!(solved.report.stop, LinearStop::Converged);
            assert!(matrix.residual(&b, &solved.x) <= 1.02 * target.norm);
            solved.report.iterations
        });

        // With a constant diagonal Jacobi only scales. ILU(0) of a five-point stencil has the pivots of DILU,
        // since no fill falls on the pattern.
        assert!((jacobi - none).abs() <= 1.0, "{method:?}: {none} {jacobi}");
        assert!(2.0 * dilu < none, "{method:?}: {none} {dilu}");
        assert!((ilu0 - dilu).abs() <= 1.0, "{method:?}: {dilu} {ilu0}");
    }
}

#[test]
fn a_zero_on_the_diagonal_is_refused_by_name_and_row() {
    let matrix =
        Matrix::<f64>::new(&[vec![2.0, 1.0, 0.0], vec![1.0, 0.0, 1.0], vec![0.0, 1.0, 0.0]]);
    let jacobi = PreconditionerFailure::Pivot { preconditioner: "Jacobi", row: 1 };
    let [dilu, ilu0] = ["DILU", "ILU(0)"].map(|preconditioner| PreconditionerFailure::Factor {
        preconditioner,
        row: 1,
        value: 0.0,
    });
    for (kind, failure) in [(Kind::Jacobi, jacobi), (Kind::Dilu, dilu), (Kind::Ilu0, ilu0)] {
        let refused = Counted::new(kind).update(&CpuBackend, &matrix);

        // Row 1 has no entry on the diagonal.
        assert_eq!(refused, Err(SolverError::Preconditioner(failure)));
    }
}

#[test]
fn an_update_takes_the_present_values() {
    let [first, second] = [1.0, 5.0].map(|d| Matrix::<f64>::new(&[vec![d, 0.5], vec![0.5, d]]));
    for kind in KINDS {
        let mut updated = Counted::prepared(kind, &first);
        updated.update(&CpuBackend, &second).unwrap();
        let mut fresh = Counted::prepared(kind, &second);
        let (r, mut z, mut expected) = (vec![1.0, -3.0], vec![0.0; 2], vec![0.0; 2]);

        updated.apply(&CpuBackend, &second, &r, &mut z).unwrap();

        fresh.apply(&CpuBackend, &second, &r, &mut expected).unwrap();
        assert_eq!(z, expected, "{kind:?}");
    }
}
