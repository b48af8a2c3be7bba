//! The distribution of the growth of neighbouring cells.

use rayon::prelude::*;

use super::cell::edge_length_squared;
use super::{PERCENTILE, percentile, ratio};
use crate::grid::Grid;

/// Growth of consecutive edges along i or along j.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Growth {
    /// Largest ratio of two consecutive edges, the longer over the shorter.
    pub largest: f64,
    /// Node i, j between these two.
    pub node: [usize; 2],
    /// Its place, in the unit of the grid.
    pub at: [f64; 2],
    /// 99th percentile of the ratios.
    pub p99: f64,
}

/// Growth along i, without the pair across a seam, and along j. None for a grid without inner nodes.
pub fn growth(grid: &Grid) -> Option<[Growth; 2]> {
    (grid.ni > 2 && grid.nj > 2).then(|| [0, 1].map(|direction| along(grid, direction)))
}

/// Growth along i (`direction` 0) or j (1).
fn along(grid: &Grid, direction: usize) -> Growth {
    let mut size = [grid.ni, grid.nj];
    size[direction] -= 2;
    let node = |k: usize| {
        let mut node = [k % size[0], k / size[0]];
        node[direction] += 1;
        node
    };
    let of_node = |k: usize| {
        let node = node(k);
        let beside = |step: usize| {
            let mut node = node;
            node[direction] = node[direction] + step - 1;
            grid.point(node[0], node[1])
        };
        let [before, at, after] = [0, 1, 2].map(beside);
        ratio(edge_length_squared(before, at), edge_length_squared(at, after)).sqrt()
    };
    let ratios: Vec<f64> = (0..size[0] * size[1]).into_par_iter().map(of_node).collect();
    // The first of the largest.
    let larger = |a: usize, b: usize| if ratios[b].total_cmp(&ratios[a]).is_gt() { b } else { a };
    let worst = (0..ratios.len()).fold(0, larger);
    let node = node(worst);
    let (largest, at) = (ratios[worst], grid.point(node[0], node[1]));
    Growth { largest, node, at, p99: percentile(&ratios, PERCENTILE) }
}
