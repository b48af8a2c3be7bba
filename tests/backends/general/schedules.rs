//! Schedules that apply the same M agree; the others apply the M that they define.

use super::matrices::{Factored, KINDS, changed, convection, difference, factored};
use gridgen::backend::Incomplete;
use gridgen::sparse::{Csr, Graph, ROW_TILE, RowSets, Schedule, colours};
use support::with_threads;

/// Number of applications in which `Auto` tries every schedule.
const APPLICATIONS: usize = 12;

/// Two layers of 3000 rows, each row of the second coupled to five of the first: two large levels.
fn layers() -> Csr {
    Csr::from_rows((0..6000_usize).map(|row| {
        let beside = (0..5).map(|k| ((row * 37 + k * 611) % 3000 + 3000 - row / 3000 * 3000, -0.3));
        beside.chain([(row, 4.0 + (row as f64).sin())]).collect::<Vec<_>>()
    }))
}

#[test]
fn all_schedules_of_the_same_factors_agree_for_any_number_of_threads() {
    for a in [convection(20), layers()] {
        let r: Vec<f64> = (0..a.rows()).map(|k| (k as f64 * 0.7).cos()).collect();
        for kind in KINDS {
            let alone = with_threads(1, || factored(&a, kind, Schedule::Levels).apply(&r));
            for schedule in [Schedule::Levels, Schedule::SyncFree, Schedule::Auto] {
                for threads in [2, 5] {
                    let z = with_threads(threads, || {
                        let mut factors = factored(&a, kind, schedule);
                        (0..APPLICATIONS).map(|_| factors.apply(&r)).collect::<Vec<_>>()
                    });

                    assert!(z.iter().all(|z| *z == alone), "{kind:?}, {schedule:?}, {threads}");
                }
            }
        }
    }
}

#[test]
fn colours_are_levels_of_the_renumbered_matrix() {
    let a = convection(16);
    let order = RowSets::by_number(&colours(&Graph::new(a.pattern()))).rows().to_vec();
    let renumbered = a.permuted(&order);
    let r: Vec<f64> = (0..a.rows()).map(|k| (k as f64).sin()).collect();
    let moved: Vec<f64> = order.iter().map(|&row| r[row as usize]).collect();
    for kind in KINDS.into_iter().filter(|&kind| !kind.symmetric()) {
        let expected = factored(&renumbered, kind, Schedule::Levels).apply(&moved);

        let z = with_threads(3, || factored(&a, kind, Schedule::Colours).apply(&r));

        let z: Vec<f64> = order.iter().map(|&row| z[row as usize]).collect();
        assert_eq!(z, expected, "{kind:?}");
    }
}

#[test]
fn tiles_factorise_the_entries_within_them() {
    let a = convection(15);
    let within = changed(&a, |row, c, v| (c / ROW_TILE == row / ROW_TILE).then_some(v));
    let r: Vec<f64> = (0..a.rows()).map(|k| (k as f64).sin()).collect();
    assert!(within.values.len() < a.values.len());
    for kind in KINDS {
        let z = with_threads(3, || factored(&a, kind, Schedule::Tiles).apply(&r));

        assert_eq!(z, factored(&within, kind, Schedule::Levels).apply(&r), "{kind:?}");
    }
}

#[test]
fn single_precision_agrees_with_double() {
    let a = convection(12);
    let r: Vec<f64> = (0..a.rows()).map(|k| (k as f64).sin()).collect();
    let single: Vec<f32> = r.iter().map(|&r| r as f32).collect();
    for kind in KINDS {
        let expected = factored(&a, kind, Schedule::Levels).apply(&r);
        for schedule in [Schedule::Auto, Schedule::SyncFree] {
            let mut factors = Factored::<f32>::analysed(&a, kind, schedule, 0.0);
            assert_eq!(factors.update(), None);

            let z: Vec<f64> = factors.apply(&single).into_iter().map(f64::from).collect();

            assert!(difference(&z, &expected) < 1e-5, "{kind:?}, {schedule:?}");
        }
    }
}

#[test]
fn factors_are_renewed_with_the_values() {
    use gridgen::backend::cpu::CpuBackend;
    use gridgen::backend::{MatrixFormat, SparseBackend};
    let (a, r) = (convection(6), vec![1.0; 216]);
    let twice = Csr { values: a.values.iter().map(|v| 2.0 * v).collect(), ..a.clone() };
    let mut factors = factored(&a, Incomplete::Ilu0, Schedule::Auto);
    let once = factors.apply(&r);

    factors.matrix = CpuBackend.csr(&twice, MatrixFormat::Csr).unwrap();
    assert_eq!(factors.update(), None);

    let half: Vec<f64> = once.iter().map(|z| 0.5 * z).collect();
    assert_eq!(factors.apply(&r), half);
}
