//! Matrices whose factors do not exist.

use super::matrices::{Factored, KINDS, SAME, convection};
use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{
    Algebraic, BadPivot, Incomplete, MatrixFormat, PreconditionerFailure, SparseBackend,
    SparseMatrix,
};
use gridgen::sparse::{Csr, Schedule};

fn first_bad(a: &Csr, kind: Incomplete, schedule: Schedule) -> Option<BadPivot> {
    Factored::<f64>::analysed(a, kind, schedule, 0.0).update()
}

/// `a` with other entries in one row.
fn replaced(a: &Csr, row: usize, entries: &[(usize, f64)]) -> Csr {
    let kept = |k| if k == row { entries.to_vec() } else { a.row(k).collect() };
    Csr::from_rows((0..a.rows()).map(kept))
}

#[test]
fn a_row_without_diagonal_or_entries_and_a_pivot_that_vanishes_are_named() {
    let a = convection(18);
    for (row, entries) in [(4000, vec![]), (2000, vec![(1999, 1.0), (2001, 1.0)])] {
        // A second unusable pivot follows later.
        let spoilt = replaced(&replaced(&a, row, &entries), 5000, &[]);
        for kind in KINDS {
            for schedule in SAME.into_iter().chain([Schedule::Tiles]) {
                let bad = first_bad(&spoilt, kind, schedule);

                assert_eq!(bad, Some(BadPivot { row, value: 0.0 }), "{kind:?}, {schedule:?}");
            }
            let bad = first_bad(&replaced(&a, row, &entries), kind, Schedule::Colours);
            assert_eq!(bad, Some(BadPivot { row, value: 0.0 }), "{kind:?}");
        }
    }
    // A pivot vanishes in the elimination: 2 − 1·2/1 = 0 in row 1.
    let singular = Csr::from_rows([[(0, 1.0), (1, 2.0)], [(0, 1.0), (1, 2.0)]].into_iter());
    for kind in [Incomplete::Dilu, Incomplete::Ilu0] {
        for schedule in SAME {
            let bad = first_bad(&singular, kind, schedule);

            assert_eq!(bad, Some(BadPivot { row: 1, value: 0.0 }), "{kind:?}, {schedule:?}");
        }
    }
}

#[test]
fn the_inverse_diagonal_names_the_first_row_that_has_none() {
    let a = convection(3);
    let broken = replaced(&replaced(&a, 20, &[]), 7, &[(7, 0.0)]);
    let matrix = |a: &Csr| CpuBackend.csr::<f64>(a, MatrixFormat::Csr).unwrap();
    let (ones, mut d) = (vec![1.0; 27], vec![0.0; 27]);
    let a = matrix(&a);
    let mut jacobi = a.preconditioner(&CpuBackend, Algebraic::Jacobi).unwrap();

    jacobi.update(&CpuBackend, &a).unwrap();
    jacobi.apply(&CpuBackend, &a, &ones, &mut d).unwrap();
    let bad = jacobi.update(&CpuBackend, &matrix(&broken));

    assert_eq!(bad, Err(PreconditionerFailure::Pivot { preconditioner: "Jacobi", row: 7 }.into()));
    assert_eq!(d, [1.0 / 6.3; 27]);
}
