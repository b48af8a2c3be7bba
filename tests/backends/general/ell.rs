//! Incomplete factors of matrices in ELL format, in natural order.

use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::backend::{Incomplete, Preconditioner, PreconditionerFailure, SolverError};
use gridgen::sparse::{EllPattern, Schedule};
use nalgebra::{DMatrix, DVector};

type Factors = Box<dyn Preconditioner<CpuBackend, f64, EllMatrix<f64>>>;

/// The matrix with the nonzero entries.
fn ell(dense: &DMatrix<f64>, width: usize) -> EllMatrix<f64> {
    let n = dense.nrows();
    let entries = |row: usize| (0..n).filter(move |&column| dense[(row, column)] != 0.0);
    let pattern = EllPattern::new(n, width, entries);
    let mut values = vec![0.0; n * width];
    for row in 0..n {
        for (at, column) in pattern.row(row) {
            values[at] = dense[(row, column)];
        }
    }
    EllMatrix::from_values(pattern, values)
}

fn factored(a: &EllMatrix<f64>, kind: Incomplete) -> (Factors, Result<(), SolverError>) {
    let mut factors = a.factors(kind, Schedule::Levels);
    let updated = factors.update(&CpuBackend, a);
    (factors, updated)
}

/// M⁻¹ r.
fn solved(a: &EllMatrix<f64>, kind: Incomplete, r: &[f64]) -> Vec<f64> {
    let (mut factors, updated) = factored(a, kind);
    assert_eq!(updated, Ok(()));
    let mut z = vec![f64::NAN; r.len()];
    factors.apply(&CpuBackend, a, &r.to_vec(), &mut z).unwrap();
    z
}

/// M, by applying its inverse to unit vectors.
fn applied_matrix(a: &EllMatrix<f64>, kind: Incomplete) -> DMatrix<f64> {
    let n = a.pattern().rows();
    let column = |k: usize| {
        let unit: Vec<f64> = (0..n).map(|row| f64::from(row == k)).collect();
        DVector::from_vec(solved(a, kind, &unit))
    };
    DMatrix::from_columns(&(0..n).map(column).collect::<Vec<_>>()).try_inverse().unwrap()
}

fn matrix() -> DMatrix<f64> {
    let rows = [4., -1., 0., -1., -2., 5., -1., 0., 0., -1., 4., -1., -1., 0., -2., 6.];
    DMatrix::from_row_slice(4, 4, &rows)
}

#[test]
fn dilu_pivots_follow_the_formula() {
    let mut m = applied_matrix(&ell(&matrix(), 3), Incomplete::Dilu);

    // The pivots of M are D.
    for (k, i) in (0..4).flat_map(|k| (k + 1..4).map(move |i| (k, i))) {
        let factor = m[(i, k)] / m[(k, k)];
        (k..4).for_each(|j| m[(i, j)] -= factor * m[(k, j)]);
    }
    // By hand: 4; 5 − 2·1/4 = 4.5; 4 − 1·1/4.5; 6 − 1·1/4 − 2·1/(4 − 1/4.5).
    let third = 4.0 - 1.0 / 4.5;
    let expected = [4.0, 4.5, third, 6.0 - 0.25 - 2.0 / third];
    for (row, pivot) in expected.iter().enumerate() {
        assert!((m[(row, row)] / pivot - 1.0).abs() < 1e-14, "{row}: {m}");
    }
}

#[test]
fn ilu0_reproduces_the_matrix_on_its_pattern() {
    let a = ell(&matrix(), 3);

    let m = applied_matrix(&a, Incomplete::Ilu0);

    for row in 0..4 {
        for (column, value) in a.row(row) {
            assert!((m[(row, column)] - value).abs() < 1e-14, "({row}, {column})");
        }
    }
}

#[test]
fn ilu0_of_a_tridiagonal_matrix_is_exact() {
    let entry = |row: usize, column: usize| match row.abs_diff(column) {
        0 => 3.0,
        1 => -1.0 - 0.1 * row as f64,
        _ => 0.0,
    };
    let dense = DMatrix::from_fn(9, 9, entry);
    let x = DVector::from_fn(9, |k, _| (k as f64).cos());

    let z = solved(&ell(&dense, 3), Incomplete::Ilu0, (dense * &x).as_slice());

    assert!((DVector::from_vec(z) - x).amax() < 1e-13);
}

#[test]
fn a_zero_pivot_names_its_row() {
    let pattern = EllPattern::new(3, 1, |row| [row]);
    let a = EllMatrix::from_values(pattern, vec![1.0, 0.0, 1.0]);
    for kind in [Incomplete::Dilu, Incomplete::Ilu0] {
        let (_, updated) = factored(&a, kind);

        let failure = PreconditionerFailure::Pivot { preconditioner: kind.name(), row: 1 };
        assert_eq!(updated, Err(failure.into()));
    }
}
