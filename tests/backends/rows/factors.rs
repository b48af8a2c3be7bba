//! Factors of the rows of each rank.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{
    Algebraic, Incomplete, MatrixFormat, PreconditionerFailure, SolverError, SparseBackend,
    SparseMatrix,
};
use gridgen::sparse::{Csr, RowBlocks, Schedule};

use super::machine::Devices;
use super::patterns::{convection, difference};
use super::systems::{Machine, preconditioned};
use crate::general::matrices::{KINDS, changed};

fn factors(kind: Incomplete, schedule: Schedule) -> Algebraic {
    Algebraic::Factors { kind, schedule, shift: 0.0 }
}

#[test]
fn factors_drop_the_couplings_between_ranks() {
    const RANKS: usize = 3;
    let a = convection(7, 9, 0.2);
    let r: Vec<f64> = (0..a.rows()).map(|k| (k as f64).sin()).collect();
    let blocks = RowBlocks::new(a.pattern(), RANKS).unwrap();
    let block = |row| (0..RANKS).find(|&rank| blocks.of(rank).contains(&row)).unwrap();
    let cut = changed(&a, |row, column, value| (block(column) == block(row)).then_some(value));
    for kind in KINDS {
        let on_cpu = CpuBackend.csr::<f64>(&cut, MatrixFormat::Csr).unwrap();
        let levels = factors(kind, Schedule::Levels);
        let expected = preconditioned(&CpuBackend, &on_cpu, levels, &r).unwrap();
        for schedule in [Schedule::Auto, Schedule::Levels] {
            let found =
                Devices::fibers(RANKS).by_rows((&a, &r), MatrixFormat::Csr, |backend, a, r| {
                    preconditioned(backend, &a, factors(kind, schedule), r)
                });

            let far = difference(&found.unwrap().concat(), &expected);
            assert!(far < 1e-12, "{kind:?}, {schedule:?}: {far:e}");
        }
    }
}

/// A matrix of 100 rows, each coupled with the next, with given values on the diagonal of some rows.
fn diagonal(others: &[(usize, f64)]) -> Csr {
    Csr::from_rows((0..100).map(|row| {
        let value = others.iter().find(|other| other.0 == row).map_or(4.0, |other| other.1);
        [(row, value), ((row + 1) % 100, -0.01)]
    }))
}

/// A row without a pivot, or a diagonal that is missing.
#[test]
fn every_rank_names_the_first_bad_pivot_of_the_whole_matrix() {
    // The second of three ranks has rows 33 to 66.
    let pivots = diagonal(&[(40, -3.0), (45, 0.0), (90, -5.0)]);
    let missing = diagonal(&[(80, 0.0), (70, 0.0)]);
    for (a, kind, row, value) in [
        (&pivots, factors(Incomplete::Dilu, Schedule::SyncFree), 45, 0.0),
        (&pivots, factors(Incomplete::Ic0, Schedule::SyncFree), 40, -3.0),
        (&missing, Algebraic::Jacobi, 70, 0.0),
    ] {
        let found =
            Devices::fibers(3).by_rows((a, &[0.0; 100]), MatrixFormat::Csr, |backend, a, _| {
                use PreconditionerFailure::{Factor, Pivot};
                match a.preconditioner(backend, kind)?.update(backend, &a) {
                    Err(SolverError::Preconditioner(Factor { row, value, .. })) => Ok((row, value)),
                    Err(SolverError::Preconditioner(Pivot { row, .. })) => Ok((row, 0.0)),
                    other => panic!("{other:?}"),
                }
            });

        assert_eq!(found.unwrap(), [(row, value); 3], "{kind:?}");
    }
}
