//! Does a polygon cross itself?

use gridgen::geometry::first_crossing;

const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];

#[test]
fn a_square_does_not_cross_itself() {
    assert_eq!(first_crossing(&SQUARE, true), None);
}

#[test]
fn a_bow_tie_crosses_at_its_first_and_third_segment() {
    let bow_tie = [SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3]];

    assert_eq!(first_crossing(&bow_tie, false), Some((0, 2)));
}

#[test]
fn the_closing_segment_counts_only_in_a_closed_polygon() {
    let points = [[0.0, 0.0], [2.0, 0.0], [1.0, -1.0], [1.0, 1.0]];
    let closing = [[1.0, -1.0], [1.0, 1.0], [0.0, 0.0], [2.0, 0.0]];

    assert_eq!(first_crossing(&points, false), Some((0, 2)));
    assert_eq!(first_crossing(&closing[1..], true), None);
    assert_eq!(
        first_crossing(&[[1.0, -1.0], [0.0, 0.5], [2.0, 0.4], [1.0, 1.0]], true),
        Some((1, 3))
    );
}

#[test]
fn touching_sides_do_not_cross() {
    let cusp = [[1.0, 0.0], [0.9, 0.0], [0.0, 0.1], [0.0, -0.1], [0.9, 0.0], [1.0, 0.0]];

    assert_eq!(first_crossing(&cusp, false), None);
}
