//! Distribution of rows over the blocks and lanes of launches.

use gridgen::backend::cuda::{RowChunks, border_lanes, level_launches, row_lanes};
use gridgen::sparse::Csr;

use crate::sparse::ones;

#[test]
fn chunks_hold_whole_rows_and_long_rows_are_split() {
    // The rows have 1000, 1000, 100, 0, 5000, 5 and 2048 entries.
    let starts = [0, 1000, 2000, 2100, 2100, 7100, 7105, 9153];

    let chunks = RowChunks::new(&starts);

    assert_eq!(chunks.bounds, [0, 2, 2, 4, 5, 6, 6, 7]);
    assert_eq!((chunks.rows, chunks.firsts), (vec![4], vec![0, 3]));
    assert_eq!(chunks.part_bounds, [2100, 4148, 4148, 6196, 6196, 7100]);
    assert_eq!(chunks.owner, [0, 0, 0]);
    // A row much longer than the mean is a chunk of its own.
    let starts: Vec<usize> =
        (0..=101).map(|row| 2 * row + if row > 50 { 198 } else { 0 }).collect();
    let chunks = RowChunks::new(&starts);
    assert_eq!(chunks.bounds, [0, 50, 50, 51, 51, 101]);
    assert!(chunks.owner.is_empty());
}

fn rows(lengths: &[usize]) -> Csr {
    ones(lengths.iter().map(|&length| 0..length))
}

#[test]
fn long_rows_get_more_lanes_and_large_borders_are_taken_in_chunks() {
    assert_eq!(border_lanes(&rows(&[1; 50])), Some(1));
    assert_eq!(border_lanes(&rows(&[3, 4, 3])), Some(4));
    assert_eq!(border_lanes(&rows(&[2000])), Some(32));
    assert_eq!(border_lanes(&rows(&[&[1; 300][..], &[150]].concat())), None);
    assert_eq!(border_lanes(&rows(&[2049])), None);
    assert_eq!(border_lanes(&rows(&[1024; 1025])), None);
    assert_eq!([0, 13, 16, 1000].map(row_lanes), [1, 1, 4, 4]);
}

#[test]
fn runs_of_small_levels_share_a_launch() {
    // The levels have 1, 1024, 1025, 3, 4000 and 1024 rows.
    let starts = [0, 1, 1025, 2050, 2053, 6053, 7077];

    let launches = level_launches(&starts);

    assert_eq!(launches, [(0..2, 1), (2..3, 5), (3..4, 1), (4..5, 16), (5..6, 1)]);
}
