//! Incomplete factors of matrices in ELL format, in natural order.

use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::backend::{Incomplete, Preconditioner, PreconditionerFailure, SolverError};
use gridgen::sparse::{EllPattern, Schedule};
use nalgebra::DMatrix;
use proptest::prelude::*;
use support::linear::{Matrix, columns};

use super::matrices::{dense, factored, random};

type Factors = Box<dyn Preconditioner<CpuBackend, f64, EllMatrix<f64>>>;

fn made(a: &EllMatrix<f64>, kind: Incomplete) -> (Factors, Result<(), SolverError>) {
    let mut factors = a.factors(kind, Schedule::Levels);
    let updated = factors.update(&CpuBackend, a);
    (factors, updated)
}

/// M⁻¹ r.
fn solved(a: &EllMatrix<f64>, kind: Incomplete, r: &Vec<f64>) -> Vec<f64> {
    let (mut factors, updated) = made(a, kind);
    assert_eq!(updated, Ok(()));
    let mut z = vec![f64::NAN; r.len()];
    factors.apply(&CpuBackend, a, r, &mut z).unwrap();
    z
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn factors_have_the_bits_of_those_by_rows(a in random()) {
        let full = dense(&a);
        let ell = Matrix::of(a.rows(), |row, column| full[(row, column)]).entries;
        let r: Vec<f64> = (0..a.rows()).map(|k| (k as f64 + 0.5).sin()).collect();
        for kind in [Incomplete::Dilu, Incomplete::Ilu0] {
            let expected = factored(&a, kind, Schedule::Levels).apply(&r);

            prop_assert_eq!(solved(&ell, kind, &r), expected, "{:?}", kind);
        }
    }
}

#[test]
fn dilu_pivots_follow_the_formula() {
    let rows = [4., -1., 0., -1., -2., 5., -1., 0., 0., -1., 4., -1., -1., 0., -2., 6.];
    let a = Matrix::of(4, |row, column| rows[4 * row + column]).entries;

    let m = columns(4, |unit| solved(&a, Incomplete::Dilu, unit)).try_inverse();

    // The pivots of M are D.
    let mut m: DMatrix<f64> = m.unwrap();
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
fn a_zero_pivot_names_its_row() {
    let pattern = EllPattern::new(3, 1, |row| [row]);
    let a = EllMatrix::from_values(pattern, vec![1.0, 0.0, 1.0]);
    for kind in [Incomplete::Dilu, Incomplete::Ilu0] {
        let (_, updated) = made(&a, kind);

        let failure = PreconditionerFailure::Pivot { preconditioner: kind.name(), row: 1 };
        assert_eq!(updated, Err(failure.into()));
    }
}
