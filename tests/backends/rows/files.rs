//! Systems from files to files on several ranks.

use std::path::Path;

use gridgen::backend::{Algebraic, DeviceError, Incomplete};
use gridgen::error::{Error, ErrorClass, SystemError};
use gridgen::formats::matrix_market::{read_columns, write_matrix};
use gridgen::linear_system::{Reordering, SystemOptions, SystemOutcome, solve_system_on};
use gridgen::sparse::{Csr, Schedule, TooFewRows};

use super::machine::Devices;
use super::patterns::{convection, times};
use crate::general::matrices::changed;
use support::fibers::{lost, mortal};

/// Writes a matrix; the right-hand side is all ones, the files go to `out`.
fn options(folder: &Path, a: &Csr) -> SystemOptions {
    let path = folder.join("A.mtx");
    write_matrix(&path, a).unwrap();
    SystemOptions::new(path, folder.join("out"))
}

fn solved(ranks: usize, options: &SystemOptions) -> Result<SystemOutcome, Error> {
    solve_system_on(Box::new(Devices::fibers(ranks)), options, &mut ())
}

#[test]
fn a_system_is_read_solved_by_rows_and_written() {
    let folder = tempfile::tempdir().unwrap();
    // The rows are numbered in strides, which the reordering corrects.
    let grid = convection(8, 11, 0.3);
    let order: Vec<u32> = (0..88).map(|k| k * 35 % 88).collect();
    let a = grid.permuted(&order);
    let options = options(folder.path(), &a);
    let mut jacobi = options.clone();
    jacobi.preconditioner = Algebraic::Jacobi;
    let mut rcm = options;
    rcm.reorder = Reordering::Rcm;

    for (options, blocks) in [(rcm, Some(3)), (jacobi, None)] {
        let outcome = solved(3, &options).unwrap();

        let report = &outcome.report;
        assert!(report.converged, "{}", report.stop_reason);
        assert_eq!((report.backend.as_str(), report.method.blocks), ("3 × fibers", blocks));
        assert!(report.notes.iter().any(|note| note.starts_with("each GPU has 2")), "{report:?}");
        let block_jacobi = report.notes.iter().any(|note| note.contains("block Jacobi"));
        assert_eq!(block_jacobi, blocks.is_some());
        let (_, columns) = read_columns(&folder.path().join("out/x.mtx")).unwrap();
        let x = columns.concat();
        let worst = times(&a, &x).iter().map(|b| (b - 1.0).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-6, "{worst:e}");
    }
}

#[test]
fn a_pivot_that_fails_on_any_rank_is_named_as_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let grid = convection(8, 11, 0.3);
    let a = changed(&grid, |row, _, value| (row != 70).then_some(value));
    let options = options(folder.path(), &a);

    let (kind, schedule) = (Incomplete::Ilu0, Schedule::Auto);
    let factors = Algebraic::Factors { kind, schedule, shift: 0.0 };
    for preconditioner in [factors, Algebraic::Jacobi] {
        for reorder in [Reordering::None, Reordering::Rcm] {
            let mut options = options.clone();
            options.preconditioner = preconditioner;
            options.reorder = reorder;

            let refused = solved(2, &options).unwrap_err();

            let named = matches!(&refused, Error::System(SystemError::Pivot { row: 71, .. }));
            assert!(named, "{preconditioner:?}, {reorder:?}: {refused}");
        }
    }
}

/// Blocks of three unknowns: two coupled ones and a constraint, whose diagonal is in the file or not.
#[test]
fn missing_diagonals_are_filled_on_several_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let blocks = |zeros: bool| {
        Csr::from_rows((0..99).map(|row| {
            let first = row - row % 3;
            let entries = [[3.0, -1.0, 1.0], [-1.0, 2.0, -0.5], [1.0, -0.5, 0.0]][row % 3];
            let kept = (first..first + 3).zip(entries).filter(|(_, value)| zeros || *value != 0.0);
            let before = (row % 3 == 0 && row > 0).then(|| (row - 3, 0.1));
            kept.chain(before).collect::<Vec<_>>()
        }))
    };
    for ranks in [1, 3] {
        let solve = |zeros: bool| {
            let mut options = options(folder.path(), &blocks(zeros));
            options.force = true;
            solved(ranks, &options).unwrap().report
        };

        let [without, zeros] = [false, true].map(solve);

        assert!(
            without.converged && (without.iterations - zeros.iterations).abs() < 0.1,
            "{without:?}"
        );
        assert_eq!((without.matrix.missing_diagonals, zeros.matrix.missing_diagonals), (33, 0));
        assert!(without.notes.iter().any(|note| note.starts_with("33 of 99 rows")), "{without:?}");
    }
}

#[test]
fn more_ranks_than_rows_are_refused_and_a_lost_device_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path(), &convection(2, 1, 0.0));

    let few = solved(3, &options).unwrap_err();
    let mut devices = Devices::fibers(2);
    devices.all[1] = mortal(7);
    let dead = solve_system_on(Box::new(devices), &options, &mut ()).unwrap_err();

    let expected = DeviceError::TooFewRows(TooFewRows { rows: 2, ranks: 3 });
    assert!(matches!(&few, Error::Device(found) if *found == expected), "{few}");
    assert_eq!((few.class(), few.hint()), (ErrorClass::Device, expected.hint()));
    assert!(matches!(&dead, Error::Device(found) if *found == lost()), "{dead}");
}
