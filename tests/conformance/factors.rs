//! DILU and ILU(0).

use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::backend::{Algebraic, Incomplete, LevelSize, Real, SparseMatrix};
use gridgen::sparse::{EllPattern, Schedule};

use super::matrices::{bad_row, nine_point_patterns, random_values};
use super::{Subject, assert_close, random, to_device, to_host};

/// Random values with a dominant diagonal.
fn dominant<T: Real>(pattern: EllPattern) -> Vec<T> {
    let mut values = random_values::<T>(1, pattern);
    for row in 0..pattern.rows() {
        if let Some((at, _)) = pattern.row(row).find(|(_, column)| *column == row) {
            values[at] += T::narrow(if row % 5 == 0 { -14.0 } else { 14.0 });
        }
    }
    values
}

const KINDS: [Incomplete; 2] = [Incomplete::Dilu, Incomplete::Ilu0];

fn factors(kind: Incomplete, schedule: Schedule) -> Algebraic {
    Algebraic::Factors { kind, schedule, shift: 0.0 }
}

/// Factorises, solves once, and compares.
fn check<S: Subject, T: Real>(
    subject: &S,
    pattern: EllPattern,
    schedule: Schedule,
    kind: Incomplete,
) {
    let (values, r) = (dominant::<T>(pattern), random::<T>(2, pattern.rows()));
    let what = format!("{pattern:?}, {schedule:?}, {kind:?}");
    let a = EllMatrix::from_values(pattern, values.clone());
    let mut expected = vec![T::zero(); r.len()];
    let mut on_cpu = a.factors(kind, schedule);
    let pivot = bad_row(on_cpu.update(&CpuBackend, &a));
    if pivot.is_none() {
        on_cpu.apply(&CpuBackend, &a, &r, &mut expected).unwrap();
    }

    let a = subject.matrix_from(pattern, &values);
    let mut z = subject.zeros(r.len()).unwrap();
    let mut factors = a.preconditioner(subject, factors(kind, schedule)).unwrap();
    // The second update must not depend on the first.
    for _ in 0..2 {
        assert_eq!(bad_row(factors.update(subject, &a)), pivot, "{what}");
    }
    if pivot.is_none() {
        factors.apply(subject, &a, &to_device(subject, &r), &mut z).unwrap();
        assert_close(&to_host(subject, &z, r.len()), &expected, 50.0, &what);
    }
}

/// Both kinds in both precisions on all nine-point patterns.
fn check_schedule<S: Subject>(subject: &S, schedule: Schedule) {
    for (pattern, kind) in nine_point_patterns().flat_map(|of| KINDS.map(|kind| (of, kind))) {
        check::<S, f64>(subject, pattern, schedule, kind);
        check::<S, f32>(subject, pattern, schedule, kind);
    }
}

pub fn factors_in_natural_order_and_by_colours<S: Subject>(subject: &S) {
    check_schedule(subject, Schedule::Levels);
    check_schedule(subject, Schedule::Colours);
}

pub fn factors_within_tiles<S: Subject>(subject: &S) {
    check_schedule(subject, Schedule::Tiles);
}

pub fn a_bad_entry_on_the_diagonal_names_its_row<S: Subject>(subject: &S) {
    let pattern = EllPattern::NinePoint(LevelSize { mi: 7, mj: 5, periodic: false });
    let [dilu, ilu0] = KINDS.map(|kind| factors(kind, Schedule::Levels));
    for (bad, kinds) in [
        (f64::NAN, &[Algebraic::Jacobi, dilu, ilu0][..]),
        (0.0, &[Algebraic::Jacobi]),
        (f64::INFINITY, &[dilu, ilu0]),
    ] {
        for wrong in [&[17][..], &[40, 23], &[0, 1, 69], &[69]] {
            let mut values = dominant::<f64>(pattern);
            for row in wrong {
                let (at, _) = pattern.row(*row).find(|(_, column)| column == row).unwrap();
                values[at] = bad;
            }
            let a = subject.matrix_from(pattern, &values);
            for kind in kinds {
                let mut made = a.preconditioner(subject, *kind).unwrap();

                let found = bad_row(made.update(subject, &a));

                assert_eq!(found, wrong.iter().min().copied(), "{kind:?}, {bad}");
            }
        }
    }
}
