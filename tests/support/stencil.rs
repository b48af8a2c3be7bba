//! Matrices with the structure of the grid equations.

use gridgen::backend::{LevelSize, Real};
use gridgen::sparse::EllPattern;

/// Pattern and values of a diagonally dominant matrix with the pattern and the structure of the
/// grid equations: the centre is −1, the corners are multiples of the identity.
pub fn stencil<T: Real>(size: LevelSize) -> (EllPattern, Vec<T>) {
    let LevelSize { mi, mj, periodic } = size;
    let pattern = EllPattern::nine_point(mi, mj, periodic);
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
