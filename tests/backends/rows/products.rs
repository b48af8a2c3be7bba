//! Products by rows on several ranks.

use gridgen::backend::MatrixFormat;
use gridgen::sparse::Csr;
use proptest::prelude::*;

use super::machine::Devices;
use super::patterns::{arrow, convection, difference, half_full, shifted, times};
use super::systems::product;

const FORMATS: [MatrixFormat; 2] = [MatrixFormat::Csr, MatrixFormat::Ell];

fn vector(n: usize) -> Vec<f64> {
    (0..n).map(|k| (0.7 * k as f64).cos()).collect()
}

/// Random patterns: rows with no entry, a few, or all.
fn random() -> impl Strategy<Value = Csr> {
    let row = |n: usize| {
        let few = proptest::collection::btree_map(0..n, -1.0..1.0_f64, 0..6.min(n));
        let full = proptest::collection::vec(-1.0..1.0_f64, n);
        prop_oneof![
            8 => few.prop_map(|row| row.into_iter().collect::<Vec<_>>()),
            1 => full.prop_map(|row| row.into_iter().enumerate().collect()),
        ]
    };
    let rows = (4..60_usize).prop_flat_map(move |n| proptest::collection::vec(row(n), n));
    rows.prop_map(|rows| Csr::from_rows(rows.into_iter()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn products_equal_those_of_one_rank_for_any_pattern(a in random(), ranks in 1..5_usize) {
        let x = vector(a.rows());
        for format in FORMATS {
            let y = product(&Devices::fibers(ranks), &a, &x, format);

            prop_assert!(difference(&y, &times(&a, &x)) < 1e-13, "{ranks} ranks, {format:?}");
        }
    }
}

#[test]
fn patterns_that_are_hard_to_share() {
    // Matrices in which almost all rows need other ranks; no rank needs others; each rank needs only others;
    // one rank's halo is everything and the others have no entry; a row is longer than a chunk of the kernel.
    let matrices = [
        convection(9, 13, 0.3),
        arrow(67),
        shifted(33, 0),
        shifted(32, 16),
        half_full(40),
        arrow(5000),
    ];
    for a in matrices {
        let x = vector(a.rows());
        let expected = times(&a, &x);
        for ranks in [2, 3, 4] {
            for format in FORMATS {
                let y = product(&Devices::fibers(ranks), &a, &x, format);

                let far = difference(&y, &expected);
                assert!(far < 1e-12, "{} rows, {ranks} ranks, {format:?}: {far:e}", a.rows());
            }
        }
    }
}

#[test]
fn single_precision_passes_between_ranks() {
    let a = convection(11, 7, 0.2);
    let x = vector(77);
    let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();

    let y = product(&Devices::fibers(3), &a, &single, MatrixFormat::Csr);

    let y: Vec<f64> = y.into_iter().map(f64::from).collect();
    assert!(difference(&y, &times(&a, &x)) < 1e-6);
}
