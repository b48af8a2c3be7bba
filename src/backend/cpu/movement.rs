//! Grids that move, on the CPU.

use super::{CpuBackend, EllipticState};
use crate::backend::cpu::vector::clear;
use crate::backend::error::{check_length, check_room};
use crate::backend::{
    EllipticBackend, EllipticData, FixedLines, FixedPlaces, MovementBackend, Result,
};
use crate::grid::{Grid, Seam, Symmetry, Topology, arc_length};
use crate::pde::{Stencil, StencilBlocks, Vec2, row_weight};
use rayon::prelude::*;

impl EllipticState {
    /// The blocks w ∂R/∂r of unknown point (i, j) for the nine nodes around, row-major, south-west first.
    fn blocks(&self, i: usize, j: usize) -> [[f64; 4]; 9] {
        let (data, stride, k) = (&self.data, self.data.mi + 2, j * self.data.mi + i);
        let row = |dj: usize| {
            [0, 1, 2].map(|di| (j + dj) * stride + i + di).map(|at| [data.x[at], data.y[at]])
        };
        let stencil = Stencil { south: row(0), middle: row(1), north: row(2) };
        // Walls are on sides of constant j.
        let terms = data.walls.iter().zip(&self.amplitudes).take(2);
        let terms = terms.filter_map(|(wall, own)| Some((wall.as_ref()?, &own[2 * i..][..2])));
        let (p, q) = terms.fold((data.control_p[k], data.control_q[k]), |(p, q), (wall, own)| {
            (p + own[0] * wall.phi[k], q + own[1] * wall.psi[k])
        });
        let metrics = stencil.metrics();
        let (b, w) = (StencilBlocks::new(&metrics, p, q), row_weight(&metrics));
        let full = |m: [Vec2; 2]| [m[0][0], m[0][1], m[1][0], m[1][1]].map(|c| w * c);
        let scalar = |c: f64| full([[c, 0.0], [0.0, c]]);
        let (same, other) = (scalar(b.diagonal), scalar(-b.diagonal));
        let ([west, east], [south, north]) = (b.west_and_east(), b.south_and_north());
        let [west, east, south, north] = [west, east, south, north].map(full);
        [same, south, other, west, scalar(b.centre()), east, other, north, same]
    }
}

impl MovementBackend for CpuBackend {
    fn with_nodes(&self, state: &EllipticState, nodes: &Grid) -> Result<(EllipticState, Vec<f64>)> {
        self.elliptic(&state.data.with_nodes(nodes))
    }

    fn shares(&self, nodes: &Grid, lines: usize) -> Result<Vec<f64>> {
        let (of, ni) = (|s: f64| (s * s).ln_1p(), nodes.ni);
        check_room(lines, [nodes.nj])?;
        let mut shares = arc_length(nodes);
        let (within, beyond) = shares.split_at_mut(lines * ni);
        let whole: Vec<f64> = within[(lines - 1) * ni..].iter().map(|s| of(*s)).collect();
        within.par_chunks_mut(ni).for_each(|row| {
            row.iter_mut().zip(&whole).for_each(|(s, whole)| *s = 1.0 - of(*s) / whole);
        });
        clear(beyond);
        Ok(shares)
    }

    fn displaced(&self, from: &Grid, shares: &Vec<f64>, lines: &FixedLines) -> Result<Grid> {
        let Grid { ni, nj, .. } = *from;
        check_length(shares.len(), ni * nj)?;
        let mut moved = from.clone();
        let first = &lines.values[..ni];
        for (k, nodes) in [&mut moved.x, &mut moved.y].into_iter().enumerate() {
            let (wall, rows) = nodes.split_at_mut(ni);
            let rows = rows[..(nj - 2) * ni].par_chunks_mut(ni).zip(shares[ni..].par_chunks(ni));
            rows.for_each(|(row, shares)| {
                for (i, node) in row.iter_mut().enumerate() {
                    *node += shares[i] * (first[i][k] - wall[i]);
                }
            });
        }
        put(lines, &mut moved);
        Ok(moved)
    }

    fn displacement(&self, state: &EllipticState, lines: &FixedLines) -> Result<EllipticState> {
        let FixedPlaces { ni, nj } = lines.places;
        let seam = if state.data.periodic { Seam::Periodic } else { Seam::Held };
        let mut nodes = Grid::new(Topology::O(seam), ni, nj);
        put(lines, &mut nodes);
        Ok(self.with_nodes(state, &nodes)?.0)
    }

    fn lines_of(&self, grid: &Grid) -> Result<FixedLines> {
        let places = FixedPlaces { ni: grid.ni, nj: grid.nj };
        let mut lines = FixedLines::zeros(places, true);
        for (at, [i, j]) in places.nodes(true) {
            lines.values[at] = grid.point(i, j);
        }
        Ok(lines)
    }

    fn frame_product(
        &self,
        state: &EllipticState,
        displacement: &EllipticState,
        f: &mut Vec<f64>,
    ) -> Result<()> {
        check_length(f.len(), self.size(state).values())?;
        self.size(state).check(Some(self.size(displacement)))?;
        let EllipticData { mi, ref x, ref y, .. } = displacement.data;
        f.par_chunks_mut(2 * mi).enumerate().for_each(|(j, f)| {
            for (i, f) in f.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                let around =
                    [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|k| (j + k / 3) * (mi + 2) + i + k % 3);
                *f = [0.0; 2];
                // Most nodes are not displaced.
                if around.iter().all(|&node| x[node] == 0.0 && y[node] == 0.0) {
                    continue;
                }
                for (m, node) in state.blocks(i, j).iter().zip(around) {
                    f[0] += m[0] * x[node] + m[1] * y[node];
                    f[1] += m[2] * x[node] + m[3] * y[node];
                }
            }
        });
        Ok(())
    }

    fn frame_sums(&self, state: &EllipticState, u: &Vec<f64>) -> Result<FixedLines> {
        check_length(u.len(), self.size(state).values())?;
        let EllipticData { mi, mj, periodic, .. } = state.data;
        let places = FixedPlaces { ni: mi + if periodic { 1 } else { 2 }, nj: mj + 2 };
        let mut sums = FixedLines::zeros(places, !periodic);
        for j in 0..mj {
            for i in (0..mi).filter(|&i| j < 2 || (!periodic && (i == 0 || i + 1 == mi))) {
                let k = 2 * (j * mi + i);
                for (at, m) in state.blocks(i, j).iter().enumerate() {
                    let value = [m[0] * u[k] + m[2] * u[k + 1], m[1] * u[k] + m[3] * u[k + 1]];
                    let (column, row) = (i + at % 3, j + at / 3);
                    // Column c of a periodic frame is column c − 1 of the grid, around the seam.
                    let node = if periodic { (column + mi - 1) % mi } else { column };
                    let end = usize::from(column > 0);
                    let on_line = (row < 2).then(|| places.on_line(row, node));
                    let on_column = (!periodic && (column == 0 || column == mi + 1))
                        .then(|| places.on_column(end, row));
                    for at in on_line.into_iter().chain(on_column) {
                        let sum = &mut sums.values[at];
                        *sum = [sum[0] + value[0], sum[1] + value[1]];
                    }
                }
            }
        }
        Ok(sums)
    }

    fn padded(&self, (symmetry, whole): (Symmetry, Topology), half: &Grid) -> Result<Grid> {
        let ni = 2 * half.ni - 1;
        let kept = symmetry.kept(ni);
        let mut padded = Grid::new(whole, ni, half.nj);
        for (nodes, half_nodes) in [(&mut padded.x, &half.x), (&mut padded.y, &half.y)] {
            for (row, half_row) in nodes.chunks_mut(ni).zip(half_nodes.chunks(half.ni)) {
                row[kept.clone()].copy_from_slice(half_row);
            }
        }
        Ok(padded)
    }

    fn fold_seam(&self, grid: &mut Grid) -> Result<()> {
        let ni = grid.ni;
        for row in grid.x.chunks_mut(ni).chain(grid.y.chunks_mut(ni)) {
            row[0] += row[ni - 1];
        }
        Ok(())
    }
}

/// Nodes ← the values of the lines.
fn put(lines: &FixedLines, grid: &mut Grid) {
    for (at, [i, j]) in lines.places.nodes(lines.has_columns()) {
        let k = grid.index(i, j);
        [grid.x[k], grid.y[k]] = lines.values[at];
    }
}
