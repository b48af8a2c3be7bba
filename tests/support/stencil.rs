//! Matrices with the structure of the grid equations.

use gridgen::backend::{LevelSize, Real};
use gridgen::sparse::{EllPattern, WalledSides};

/// Pattern and values of a diagonally dominant matrix with the structure of the grid equations: the centre is
/// −1, the corners are multiples of the identity.
pub fn stencil<T: Real>(size: LevelSize) -> (EllPattern, Vec<T>) {
    let (mi, pattern) = (size.mi, EllPattern::NinePoint(size));
    let n = pattern.rows();
    let mut values = vec![T::zero(); n * pattern.width()];
    let noise = |k: usize| ((k * 7919 + 13) % 1000) as f64 / 1000.0 - 0.5;
    for row in 0..n {
        let (point, variable) = (row / 2, row % 2);
        let (i, j) = (point % mi, point / mi);
        let corner = 0.05 * noise(point);
        for (at, column) in pattern.row(row) {
            let (ci, cj) = ((column / 2) % mi, (column / 2) / mi);
            let west = (ci + 1) % mi == i;
            let own = column % 2 == variable;
            values[at] = T::narrow(match (ci == i, cj == j) {
                (true, true) if own => -1.0,
                (true, true) => unreachable!("the centre has no coupling in the pattern"),
                (false, false) => {
                    let rising = west == (cj < j);
                    if rising { corner } else { -corner }
                }
                _ if own => 0.2 + 0.05 * noise(row + column),
                _ => 0.05 * noise(3 * row + column),
            });
        }
    }
    (pattern, values)
}

/// Pattern and values of such a matrix by ten numbers a point, whose couplings away from the wall are stronger than
/// those toward it by twice `rise`.
pub fn ten_numbers<T: Real>(size: LevelSize, rise: f64) -> (EllPattern, Vec<T>) {
    let noise = |k: usize| ((k * 7919 + 13) % 1000) as f64 / 1000.0 - 0.5;
    let value = |slot: usize, row: usize| match (slot, row % 2) {
        (0, 0) => 0.2 + 0.05 * noise(row),
        (3, _) => rise + 0.05 * noise(row),
        _ => 0.05 * noise(3 * row + slot),
    };
    filled(EllPattern::TenNumbers(size), value)
}

/// A pattern, and this value of each slot and row.
fn filled<T: Real>(
    pattern: EllPattern,
    value: impl Fn(usize, usize) -> f64,
) -> (EllPattern, Vec<T>) {
    let rows = pattern.rows();
    let places = (0..pattern.width()).flat_map(|slot| (0..rows).map(move |row| (slot, row)));
    let values = places.map(|(slot, row)| T::narrow(value(slot, row))).collect();
    (pattern, values)
}

/// A stencil with stronger couplings away from the wall. In Galerkin operators the two couplings have
/// different signs, and some coarse levels keep no wall terms.
pub fn stencil_that_drops_walls<T: Real>(size: LevelSize) -> (EllPattern, Vec<T>) {
    let (pattern, mut values) = stencil::<T>(size);
    for row in 0..pattern.rows() {
        let [i, j] = [row / 2 % size.mi, row / 2 / size.mi];
        let north = |column: usize| column / 2 / size.mi > j && column / 2 % size.mi == i;
        for (at, _) in pattern.row(row).filter(|&(_, column)| north(column)) {
            values[at] *= T::narrow(1.5);
        }
    }
    (pattern, values)
}

/// Rows without coupling between them, whose points are coupled with those `beside` them. Near ½ a change
/// decays slowly along a row: by a factor of e in sixteen points with 0.499, in 158 with 0.49999.
pub fn stencil_of_lines<T: Real>(size: LevelSize, beside: f64) -> (EllPattern, Vec<T>) {
    let (pattern, mut values) = stencil::<T>(size);
    for row in 0..pattern.rows() {
        for (at, column) in pattern.row(row) {
            let same_line = row / 2 / size.mi == column / 2 / size.mi;
            values[at] = match (same_line, row == column, row % 2 == column % 2) {
                (false, ..) => T::zero(),
                (true, true, _) => -T::one(),
                (true, false, true) => T::narrow(beside),
                (true, false, false) => values[at] / T::narrow(100.0),
            };
        }
    }
    (pattern, values)
}

/// Pattern and values of wall columns of the first row, and of the last one, that decay from the wall and suit
/// [`stencil`]: pivots of the wall terms remain near those of their row.
pub fn wall_columns<T: Real>(size: LevelSize, walls: WalledSides) -> (EllPattern, Vec<T>) {
    let LevelSize { mi, mj, .. } = size;
    let noise = |k: usize| ((k * 6563 + 29) % 1000) as f64 / 1000.0 - 0.5;
    let sides: Vec<usize> = walls.sides().collect();
    let value = |slot: usize, row: usize| {
        let (i, j, term, side) = (row / 2 % mi, row / 2 / mi, slot % 2, sides[slot / 2]);
        let (away, own) = ([j, mj - 1 - j, i, mi - 1 - i][side], row % 2 == term);
        let decay = (-(away as f64) / if term == 0 { 2.0 } else { 7.0 }).exp();
        let row = row + side;
        decay * if own { 0.6 + 0.2 * noise(row) } else { 0.1 * noise(5 * row + term) }
    };
    filled(EllPattern::WallColumns(size, walls), value)
}

/// Five-point differences of both variables: `centre` on the diagonal, and `beside` for the neighbours in i and in j.
pub fn laplacian(size: LevelSize, centre: f64, beside: f64) -> (EllPattern, Vec<f64>) {
    let pattern = EllPattern::NinePoint(size);
    let mut values = vec![0.0; pattern.rows() * pattern.width()];
    for row in 0..pattern.rows() {
        for (at, column) in pattern.row(row).filter(|(_, column)| column % 2 == row % 2) {
            let (point, other) = (row / 2, column / 2);
            if column == row {
                values[at] = centre;
            } else if point % size.mi == other % size.mi || point / size.mi == other / size.mi {
                values[at] = beside;
            }
        }
    }
    (pattern, values)
}
