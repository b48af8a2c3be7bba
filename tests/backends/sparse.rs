//! Patterns and orders of sparse matrices: rows, graphs, levels, colours, and blocks of rows.

use std::collections::BTreeSet;

use gridgen::sparse::{
    Csr, Elimination, EllPattern, Graph, LevelSize, Passage, RowBlocks, RowSets, Schedule,
    TooFewRows, colours as colours_of, reverse_cuthill_mckee,
};

use crate::general::matrices::changed;
use crate::rows::patterns::convection;

/// A matrix with ones in these columns of each row.
pub(crate) fn ones<R: IntoIterator<Item = usize>>(rows: impl IntoIterator<Item = R>) -> Csr {
    Csr::from_rows(rows.into_iter().map(|row| row.into_iter().map(|column| (column, 1.0))))
}

#[test]
#[should_panic(expected = "32-bit index")]
fn a_column_beyond_32_bits_does_not_wrap() {
    let _ = Csr::from_rows([[(1 << 32, 1.0)]].into_iter());
}

#[test]
fn an_interior_row_has_thirteen_rising_columns_and_rim_rows_are_shorter() {
    let pattern = EllPattern::NinePoint(LevelSize { mi: 5, mj: 4, periodic: false });
    let row = 2 * (2 * 5 + 2);

    let columns: Vec<usize> = pattern.row(row).map(|(_, column)| column).collect();

    assert_eq!((columns.len(), columns[6]), (13, row));
    assert!(columns.is_sorted());
    // The row of the corner has C, E, N, NE of its own variable and E, N of the other.
    assert_eq!(pattern.row(0).count(), 6);
}

#[test]
fn no_two_neighbours_have_the_same_colour() {
    for (mi, periodic) in [(7, false), (8, true), (7, true), (3, true)] {
        let pattern = EllPattern::NinePoint(LevelSize { mi, mj: 5, periodic });
        let colours = Elimination::new(pattern, Schedule::Colours).colours().unwrap();
        for row in 0..pattern.rows() {
            for (_, column) in pattern.row(row).filter(|(_, column)| column / 2 != row / 2) {
                let (own, other) = (colours[row], colours[column]);
                assert_ne!(own, other, "rows {row} and {column} of {mi}, {periodic}");
            }
        }
    }
}

#[test]
fn a_tile_keeps_its_own_couplings() {
    let pattern = EllPattern::NinePoint(LevelSize { mi: 70, mj: 40, periodic: true });
    let elimination = Elimination::new(pattern, Schedule::Tiles);
    let row = |i: usize, j: usize| 2 * (70 * j + i);

    assert!(elimination.keeps(row(31, 31), row(30, 30)));
    assert!(!elimination.keeps(row(31, 31), row(32, 31)));
    assert!(!elimination.keeps(row(31, 31), row(31, 32)));
    assert!(!elimination.keeps(row(0, 0), row(69, 0)));
}

#[test]
fn entries_of_either_side_make_neighbours() {
    let graph = Graph::new(ones([vec![0, 2], vec![1], vec![1], vec![]]).pattern());

    assert_eq!(graph.neighbours(0), [2]);
    assert_eq!(graph.neighbours(1), [2]);
    assert_eq!(graph.neighbours(2), [0, 1]);
    assert_eq!((graph.degree(3), graph.rows()), (0, 4));
}

#[test]
fn neighbours_differ_in_colour() {
    let row = |row: usize| (0..row % 6).map(|k| (row * row + 31 * k) % 90).collect::<BTreeSet<_>>();
    let graph = Graph::new(ones((0..90).map(row)).pattern());

    let colours = colours_of(&graph);

    for row in 0..90 {
        for &neighbour in graph.neighbours(row) {
            assert_ne!(colours[row], colours[neighbour as usize], "{row}, {neighbour}");
        }
    }
    let most = (0..90).map(|row| graph.degree(row)).max();
    assert!(colours.iter().max().map(|&c| c as usize) <= most);
    // Five points need two colours, and no neighbours one.
    let right = |k: usize| (k % 7 + 1 < 7).then_some(k + 1);
    let five = ones((0..49).map(|k| right(k).into_iter().chain((k + 7 < 49).then_some(k + 7))));
    let colours = |a: &Csr| colours_of(&Graph::new(a.pattern()));
    assert_eq!(colours(&five).iter().max(), Some(&1));
    assert_eq!(colours(&ones([None; 4])), [0; 4]);
}

/// Largest |i − j| of an entry.
fn bandwidth(a: &Csr) -> usize {
    let row = |row: usize| a.row(row).map(move |(column, _)| row.abs_diff(column));
    (0..a.rows()).flat_map(row).max().unwrap_or(0)
}

/// Two of the five-point differences on an m × n grid, the rows in strides of 7.
fn shuffled(m: usize, n: usize) -> Csr {
    let kept = |row, column, value| {
        (column == row || column + 1 == row || column == row + m).then_some(value)
    };
    let order: Vec<u32> = (0..m * n).map(|k| (k * 7 % (m * n)) as u32).collect();
    changed(&convection(m, n, 0.0), kept).permuted(&order)
}

#[test]
fn a_shuffled_grid_gets_the_bandwidth_of_its_short_side() {
    let a = shuffled(11, 40);

    let ordered = a.permuted(&reverse_cuthill_mckee(&a));

    // The levels of the search are diagonals with at most 11 points.
    assert!(bandwidth(&a) > 300);
    assert!(bandwidth(&ordered) <= 12, "{}", bandwidth(&ordered));
}

#[test]
fn every_row_has_one_place_in_a_graph_of_several_parts() {
    let a = ones([vec![3], vec![], vec![2, 5], vec![], vec![4], vec![]]);

    let order = reverse_cuthill_mckee(&a);

    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
    assert_eq!(bandwidth(&a.permuted(&order)), 1);
    assert!(reverse_cuthill_mckee(&ones([None; 0])).is_empty());
}

#[test]
fn rows_are_sorted_by_number_rise_within_a_set_and_runs_of_small_sets_are_one_turn() {
    let sets = RowSets::by_number(&[0, 0, 1, 1, 2, 2, 1]);

    // The example in figure 3 of Wang and Liu.
    assert_eq!(sets.rows(), [0, 1, 2, 3, 6, 4, 5]);
    assert!(sets.merged(0).into_iter().map(|turn| turn.range).eq([0..2, 2..5, 5..7]));
    let none = RowSets::by_number(&[]);
    assert!(none.rows().is_empty() && none.merged(9).is_empty());
    // Runs of small sets are one turn.
    let sets = RowSets::by_number(&[0, 1, 1, 1, 2, 3, 3, 4, 4, 4]);
    let turns = sets.merged(2).into_iter().map(|turn| (turn.range, turn.together));
    assert!(turns.eq([(0..1, false), (1..4, true), (4..7, false), (7..10, true)]));
}

fn starts(lengths: &[usize], ranks: usize) -> Vec<usize> {
    let a = ones(lengths.iter().map(|&length| 0..length));
    RowBlocks::new(a.pattern(), ranks).unwrap().starts().to_vec()
}

#[test]
fn blocks_have_about_as_many_entries_each_and_a_row_even_if_one_is_heavy() {
    assert_eq!(starts(&[1; 9], 3), [0, 3, 6, 9]);
    // The total work is 22, with rows of 6, 1, 1, …
    assert_eq!(starts(&[5, 0, 0, 0, 1, 1, 1, 1, 1, 1], 2), [0, 5, 10]);
    assert_eq!(starts(&[0, 0, 0, 0, 0, 6], 2), [0, 5, 6]);
    assert_eq!(starts(&[0; 6], 2), [0, 3, 6]);
    assert_eq!(starts(&[4, 0, 0, 0], 4), [0, 1, 2, 3, 4]);
    assert_eq!(starts(&[0, 0, 0, 4], 3), [0, 2, 3, 4]);
    let few = RowBlocks::new(ones([vec![0]]).pattern(), 2);
    assert_eq!(few, Err(TooFewRows { rows: 1, ranks: 2 }));
    assert_eq!(few.unwrap_err().to_string(), "a matrix of 1 row cannot be shared by 2 GPUs");
}

#[test]
fn a_part_has_its_rows_and_the_places_of_its_halo() {
    let a = ones([vec![0, 3], vec![1], vec![0, 2, 3, 5], vec![3], vec![4], vec![0, 1, 5]]);
    let blocks = RowBlocks::new(a.pattern(), 3).unwrap();
    assert_eq!(blocks.starts(), [0, 2, 4, 6]);

    let part = blocks.part(1, &a);

    assert_eq!(part.halo, [0, 5]);
    assert_eq!(part.own, ones([vec![0, 1], vec![1]]));
    assert_eq!((part.border, part.beyond), (vec![0], ones([vec![0, 1]])));
    let passage = |rank, places| Passage { rank, places };
    assert_eq!(part.received, [passage(0, 0..1), passage(2, 1..2)]);
    // Rank 0 needs row 3; rank 2 needs nothing from rank 1.
    assert_eq!((part.packed, part.sent), (vec![1], vec![passage(0, 0..1)]));
    assert_eq!(blocks.part(0, &a).packed, [0, 0, 1]);
}
