//! The layout of matrices by rows on the CPU.

use gridgen::backend::cpu::{ENTRIES, RowSlices, pieces};
use gridgen::sparse::Csr;

#[test]
fn pieces_have_about_as_many_entries_and_hold_every_row_once() {
    let lengths = (0..50_000_usize).map(|row| if row == 777 { 100_000 } else { row % 5 });
    let mut row_start = vec![0];
    for length in lengths {
        row_start.push(row_start.last().copied().unwrap_or(0) + length);
    }

    let cuts = pieces(&row_start);

    assert_eq!((cuts.first(), cuts.last()), (Some(&0), Some(&50_000)));
    for ends in cuts.windows(2) {
        let entries = row_start[ends[1]] - row_start[ends[0]];
        assert!(ends[0] < ends[1]);
        assert!(entries < ENTRIES + 5 || ends.contains(&778), "{ends:?}: {entries}");
    }
}

#[test]
fn one_long_row_among_short_ones_is_left_to_the_rows() {
    let row = |row: usize| if row == 5 { 0..900 } else { row..row + 1 };
    let uneven = Csr::from_rows((0..900).map(|k| row(k).map(|column| (column, 1.0))));
    let even = Csr::from_rows((0..900).map(|k| [(k, 1.0)]));

    assert!(RowSlices::new(uneven.pattern(), &uneven.values).is_none());
    assert!(RowSlices::new(even.pattern(), &even.values).is_some());
}
