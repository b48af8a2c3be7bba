//! The block behind the base of a moved grid: its nodes follow the interfaces.
//!
//! A node keeps its share σ of the way from the lower interface to the upper one:
//! δr = (1 − σ) δr_lower + σ δr_upper, a linear map, so that displacements and derivatives follow alike.

use crate::geometry::vector::{between, difference, dot};
use crate::grid::{Grid, interface_columns};

/// The index of each node of a block, its columns of the grid around the block, which has so many, and its share.
fn shares(block: &Grid, around: usize) -> impl Iterator<Item = (usize, [usize; 2], f64)> {
    let last = block.nj - 1;
    (0..block.nj).flat_map(move |j| {
        (0..block.ni).map(move |i| {
            let [lower, upper] = [0, last].map(|j| block.point(i, j));
            let across = difference(upper, lower);
            let share = match j {
                0 => 0.0,
                _ if j == last => 1.0,
                _ => dot(difference(block.point(i, j), lower), across) / dot(across, across),
            };
            (block.index(i, j), interface_columns(around, block.ni - 1, i), share)
        })
    })
}

/// Displacements of the nodes of a block for those of the nodes of the grid around it.
pub(super) fn displacement(block: &Grid, around: &Grid) -> Grid {
    let mut found = Grid::unset(block.topology, block.ni, block.nj);
    for (node, columns, share) in shares(block, around.ni) {
        let [lower, upper] = columns.map(|column| around.point(column, 0));
        [found.x[node], found.y[node]] = between(lower, upper, share);
    }
    found
}

/// The transpose of [`displacement`]: adds derivatives by the nodes of the block to those by the nodes of the grid around it.
pub(super) fn gather(block: &Grid, by_block: &Grid, around: &mut Grid) {
    for (node, columns, share) in shares(block, around.ni) {
        for (column, weight) in columns.into_iter().zip([1.0 - share, share]) {
            around.x[column] += weight * by_block.x[node];
            around.y[column] += weight * by_block.y[node];
        }
    }
}

/// The block of a reference beside a moved grid. The interfaces have the nodes of the grid, bit for bit.
pub(super) fn moved(block: &Grid, before: &Grid, grid: &Grid) -> Grid {
    let change = |now: &[f64], then: &[f64]| now.iter().zip(then).map(|(a, b)| a - b).collect();
    let (x, y) = (change(&grid.x, &before.x), change(&grid.y, &before.y));
    let own = displacement(block, &Grid { x, y, ..before.clone() });
    let mut found = block.clone();
    for (node, columns, _) in shares(block, grid.ni) {
        let [lower, upper] = columns.map(|column| grid.point(column, 0));
        [found.x[node], found.y[node]] = match node / block.ni {
            0 => lower,
            j if j + 1 == block.nj => upper,
            _ => [block.x[node] + own.x[node], block.y[node] + own.y[node]],
        };
    }
    found
}
