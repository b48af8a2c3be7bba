//! DILU and ILU(0).

use gridgen::backend::Real;
use gridgen::backend::SparseBackend;
use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::sparse::{EllPattern, Schedule};

use super::matrices::{general_pattern, nine_point_patterns, random_values};
use super::{Subject, assert_close, random, to_device, to_host};

/// Random values whose diagonal exceeds the sum of a row.
fn dominant<T: Real>(pattern: &EllPattern) -> Vec<T> {
    let mut values = random_values::<T>(1, pattern);
    for row in 0..pattern.rows() {
        if let Some((at, _)) = pattern.row(row).find(|(_, column)| *column == row) {
            values[at] += T::narrow(if row % 5 == 0 { -14.0 } else { 14.0 });
        }
    }
    values
}

/// Factors, solves once, and compares.
fn check<S: Subject, T: Real>(subject: &S, pattern: &EllPattern, schedule: Schedule, ilu0: bool) {
    let (values, r) = (dominant::<T>(pattern), random::<T>(2, pattern.rows()));
    let what = format!("{:?}, {schedule:?}, ILU(0): {ilu0}", pattern.structure());
    let a = EllMatrix::from_values(pattern.clone(), values.clone());
    let mut expected = vec![T::zero(); r.len()];
    let mut factors = CpuBackend.scheduled_factors(&a, schedule).unwrap();
    let pivot = if ilu0 {
        CpuBackend.factor_ilu0(&a, &mut factors)
    } else {
        CpuBackend.factor_dilu(&a, &mut factors)
    };
    if pivot == Ok(None) {
        CpuBackend.solve_factors(&factors, &r, &mut expected).unwrap();
    }

    let a = subject.matrix_from(pattern, &values);
    let mut z = subject.zeros(r.len()).unwrap();
    let mut factors = subject.factors(&a).unwrap();
    // Twice: what was there before does not matter.
    for _ in 0..2 {
        let found = if ilu0 {
            subject.factor_ilu0(&a, &mut factors)
        } else {
            subject.factor_dilu(&a, &mut factors)
        };
        assert_eq!(found, pivot, "{what}");
    }
    if pivot == Ok(None) {
        subject.solve_factors(&factors, &to_device(subject, &r), &mut z).unwrap();
        assert_close(&to_host(subject, &z, r.len()), &expected, 50.0, &what);
    }
}

/// Both kinds in both precisions on all nine-point patterns.
fn check_schedule<S: Subject>(subject: &S, schedule: Schedule) {
    let subject = &subject.scheduled(schedule);
    for pattern in nine_point_patterns() {
        for ilu0 in [false, true] {
            check::<S, f64>(subject, &pattern, schedule, ilu0);
            check::<S, f32>(subject, &pattern, schedule, ilu0);
        }
    }
}

pub fn factors_in_natural_order<S: Subject>(subject: &S) {
    check_schedule(subject, Schedule::Levels);
}

pub fn factors_by_colours<S: Subject>(subject: &S) {
    check_schedule(subject, Schedule::Colours);
}

pub fn factors_within_tiles<S: Subject>(subject: &S) {
    check_schedule(subject, Schedule::Tiles);
}

pub fn factors_of_a_general_pattern<S: Subject>(subject: &S) {
    for rows in [1, 33, 257, 1000] {
        // Without rows that lack a diagonal.
        let general = general_pattern(rows);
        let pattern = EllPattern::new(rows, 6, |row| {
            let others = general.row(row).map(|(_, column)| column).filter(|&c| c != row);
            others.chain([row]).collect::<Vec<_>>()
        });
        for ilu0 in [false, true] {
            check::<S, f64>(subject, &pattern, Schedule::Levels, ilu0);
            check::<S, f64>(subject, &general, Schedule::Levels, ilu0);
        }
    }
}

pub fn a_singular_pivot_names_its_row<S: Subject>(subject: &S) {
    let pattern = EllPattern::nine_point(7, 5, false);
    for bad in [f64::NAN, f64::INFINITY] {
        let mut values = dominant::<f64>(&pattern);
        for row in [23, 40] {
            let (at, _) = pattern.row(row).find(|(_, column)| *column == row).unwrap();
            values[at] = bad;
        }
        let a = subject.matrix_from(&pattern, &values);
        let mut factors = subject.factors(&a).unwrap();

        assert_eq!(subject.factor_dilu(&a, &mut factors).unwrap(), Some(23));
        assert_eq!(subject.factor_ilu0(&a, &mut factors).unwrap(), Some(23));
    }
}
