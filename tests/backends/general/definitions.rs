//! Incomplete factors agree with their definitions.

use super::matrices::{
    Factored, KINDS, SAME, changed, convection, dense, difference, factored, mirrored, random,
};
use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::backend::{Incomplete, LevelSize};
use gridgen::sparse::{Csr, Schedule};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use support::stencil::stencil;

/// M = (I + L)(D + U) by dense loops over rows in natural order.
fn defined(a: &Csr, kind: Incomplete) -> DMatrix<f64> {
    let a = if kind.symmetric() { mirrored(&dense(a)) } else { dense(a) };
    let (n, full) = (a.nrows(), matches!(kind, Incomplete::Ilu0 | Incomplete::Ic0));
    let (mut lower, mut upper) = (DMatrix::identity(n, n), a.clone());
    for i in 0..n {
        for k in (0..i).filter(|&k| a[(i, k)] != 0.0) {
            lower[(i, k)] = upper[(i, k)] / upper[(k, k)];
            for j in (k + 1..n).filter(|&j| if full { a[(i, j)] != 0.0 } else { j == i }) {
                upper[(i, j)] -= lower[(i, k)] * upper[(k, j)];
            }
        }
    }
    lower * upper.upper_triangle()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn factors_are_those_of_the_definition_which_keep_the_diagonal_or_the_pattern(a in random()) {
        let r: Vec<f64> = (0..a.rows()).map(|k| (k as f64 + 0.5).sin()).collect();
        for kind in KINDS {
            let m = defined(&a, kind);
            let a_of_kind = if kind.symmetric() { mirrored(&dense(&a)) } else { dense(&a) };
            let whole = matches!(kind, Incomplete::Ilu0 | Incomplete::Ic0);
            for (i, j) in (0..a.rows()).flat_map(|i| (0..a.rows()).map(move |j| (i, j))) {
                if i == j || whole && a_of_kind[(i, j)] != 0.0 {
                    let off = (m[(i, j)] - a_of_kind[(i, j)]).abs();
                    prop_assert!(off < 1e-11 * a_of_kind.max(), "{kind:?} ({i}, {j}): {off}");
                }
            }

            let expected = m.lu().solve(&DVector::from_column_slice(&r)).unwrap();
            for schedule in SAME {
                let mut factors = factored(&a, kind, schedule);

                let z = factors.apply(&r);

                let off = difference(&z, expected.as_slice());
                prop_assert!(off < 1e-12, "{kind:?}, {schedule:?}: {off}");
            }
        }
    }

    #[test]
    fn the_upper_triangle_of_a_symmetric_matrix_is_not_read(a in random()) {
        let r = vec![1.0; a.rows()];
        let spoilt = changed(&a, |row, c, v| Some(if c > row { f64::NAN } else { v }));
        for kind in [Incomplete::Dic, Incomplete::Ic0] {
            for schedule in [Schedule::Levels, Schedule::Colours, Schedule::Tiles] {
                let mut factors = factored(&spoilt, kind, schedule);

                let z = factors.apply(&r);

                prop_assert_eq!(z, factored(&a, kind, schedule).apply(&r));
            }
        }
    }
}

#[test]
fn factors_in_ell_format_have_the_bits_of_those_by_rows() {
    let (pattern, values) = stencil::<f64>(LevelSize { mi: 9, mj: 7, periodic: false });
    let ell = EllMatrix::from_values(pattern, values);
    let a = Csr::from_rows((0..ell.pattern().rows()).map(|row| ell.row(row)));
    let r: Vec<f64> = (0..a.rows()).map(|k| (k as f64 + 0.5).sin()).collect();
    for kind in [Incomplete::Dilu, Incomplete::Ilu0] {
        let mut factors = ell.factors(kind, Schedule::Levels);
        let mut z = vec![f64::NAN; a.rows()];
        factors.update(&CpuBackend, &ell).unwrap();

        factors.apply(&CpuBackend, &ell, &r, &mut z).unwrap();

        assert_eq!(z, factored(&a, kind, Schedule::Levels).apply(&r), "{kind:?}");
    }
}

#[test]
fn a_shift_scales_the_diagonal_before_the_elimination() {
    let a = convection(4);
    let shifted = changed(&a, |row, c, v| Some(if c == row { 1.25 * v } else { v }));
    let r = vec![1.0; a.rows()];
    for kind in KINDS {
        let mut factors = Factored::analysed(&a, kind, Schedule::Levels, 0.25);

        let bad = factors.update();

        let expected = factored(&shifted, kind, Schedule::Levels).apply(&r);
        assert_eq!((bad, factors.apply(&r)), (None, expected), "{kind:?}");
    }
}
