//! Lines that go on across the outer line of the O-grid: wall terms there, and the places of the first nodes.

use super::blocks::{BladeLine, INLET, PASSAGE, raised};
use crate::geometry::vector::{along, between, distance};
use crate::grid::{Grid, arc_length};
use crate::pde::control::decay;
use crate::pde::{EllipticData, WallTerms};

/// Decay of the wall terms in spacings of the line.
const DECAY: f64 = 3.0;
/// Share of the height of the last cell of the O-grid in the logarithm of a first height.
const MATCH: f64 = 0.5;
/// Cells beside a corner over which first nodes return to their places without wall terms.
const CORNER: f64 = 6.0;

/// The equations of a block, and the ways of its first nodes.
pub(super) struct Continuation {
    data: EllipticData,
    /// Place of a node in the frame, its place without wall terms, and the one it is to have.
    ways: Vec<(usize, [[f64; 2]; 2])>,
}

impl Continuation {
    /// From a block that solves Winslow's equations `plain`.
    pub(super) fn of(ring: &BladeLine, block: usize, grid: &Grid, plain: &EllipticData) -> Self {
        let mut data = plain.with_nodes(grid);
        let [a, b, c, d] = ring.corners;
        let (n, last, top) = (ring.cells(), grid.ni - 1, grid.nj - 1);
        let own = |node: usize| Some(node % n);
        // The node of the outer line at column i of the line j = 0.
        let below = |i: usize| match block {
            PASSAGE => own(c + i),
            INLET => own(b + i).filter(|_| i <= c - b),
            _ => (i + n - d + a).checked_sub(last).and_then(|k| own(d + k)),
        };
        let above = |i: usize| own(b - i);
        let mut sides = vec![(0, &below as &dyn Fn(usize) -> Option<usize>)];
        if block == PASSAGE {
            sides.push((1, &above));
        }
        let arc = arc_length(grid);
        let lengths = &arc[arc.len() - grid.ni..];
        let far: Vec<f64> = arc.iter().enumerate().map(|(k, s)| lengths[k % grid.ni] - s).collect();
        let (first, stride) = (usize::from(!data.periodic), data.mi + 2);
        let columns = grid.topology.columns(grid.ni);
        let heights = vec![0.0; grid.ni];
        let mut ways = Vec::new();
        for (side, node_at) in sides {
            let (row, inner, distances) =
                if side == 0 { (0, 1, &arc) } else { (top, top - 1, &far) };
            let (phi, psi) = decay(grid, (distances, row), &heights, DECAY, Some(lengths));
            let unknown = |f: &[f64]| {
                let rows = f.chunks(columns).skip(1).take(data.mj);
                rows.flat_map(|row| row[first..first + data.mi].to_vec()).collect()
            };
            data.walls[side] = Some(WallTerms { phi: unknown(&phi), psi: unknown(&psi) });
            for i in first..first + data.mi {
                let at = grid.point(i, inner);
                let target = node_at(i).map_or(at, |node| {
                    let own = distance(grid.point(i, row), at);
                    let height = ring.heights[node].powf(MATCH) * own.powf(1.0 - MATCH);
                    let lift = if side == 1 {
                        ring.pitch
                    } else {
                        grid.point(i, 0)[1] - ring.points[node][1]
                    };
                    let place = raised(along(ring.points[node], ring.normals[node], height), lift);
                    let corner = ring.corners.iter().map(|corner| corner.abs_diff(node)).min();
                    let off = (corner.unwrap_or(0) as f64 - 1.0).max(0.0) / CORNER;
                    between(at, place, 1.0 - (-off * off).exp())
                });
                ways.push((inner * stride + i + 1 - first, [at, target]));
            }
        }
        Self { data, ways }
    }

    /// The equations with first nodes this share of their way along.
    pub(super) fn equations(&self, share: f64) -> EllipticData {
        let mut data = self.data.clone();
        for (k, [from, to]) in &self.ways {
            [data.x[*k], data.y[*k]] = between(*from, *to, share);
        }
        data
    }
}
