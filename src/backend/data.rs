//! The data of the grid equations from an initial grid, on the host.

use super::elliptic::WallTerms;
use super::{EllipticData, LevelSize};
use crate::grid::Grid;
use crate::grid::initial::first_heights;
use crate::pde::control::{Wall, arc_length, control_functions};
use crate::pde::{EllipticSettings, decay};
use rayon::prelude::*;

impl EllipticData {
    /// Frame, control functions and wall terms of an initial grid. `normals` are the wall normals of
    /// all `ni` points of the line j = 0; a coupled wall puts the first row of points at
    /// r_{i,0} + h_i n_i with the heights of [`first_heights`].
    #[must_use]
    pub fn new(initial: &Grid, normals: &[[f64; 2]], settings: &EllipticSettings) -> Self {
        let (ni, nj) = (initial.ni, initial.nj);
        let LevelSize { mi, mj, periodic } = LevelSize::of_grid(initial.topology, ni, nj);
        // Unknown columns start at node 0 of a periodic grid and at node 1 of one with held ends.
        let first = usize::from(!periodic);
        let columns = initial.topology.columns(ni);
        let heights = first_heights(
            initial.topology,
            &initial.x[..ni],
            &initial.y[..ni],
            settings.first_cell,
        );
        let inner = |f: &[f64]| -> Vec<f64> {
            let mut kept = vec![0.0; mi * mj];
            let rows = kept.par_chunks_mut(mi).zip(f.par_chunks(columns).skip(1));
            rows.for_each(|(kept, row)| kept.copy_from_slice(&row[first..first + mi]));
            kept
        };
        let control = control_functions(initial, &settings.control);
        let wall = (settings.wall == Wall::Coupled).then(|| {
            let (phi, psi) = decay(initial, &arc_length(initial), &heights, settings.decay);
            WallTerms { phi: inner(&phi), psi: inner(&psi) }
        });
        let (mut x, mut y) = (framed(&initial.x, ni, periodic), framed(&initial.y, ni, periodic));
        if wall.is_some() {
            let stride = mi + 2;
            for i in 0..mi {
                let ([nx, ny], height) = (normals[i + first], heights[i + first]);
                x[stride + i + 1] = x[i + 1] + height * nx;
                y[stride + i + 1] = y[i + 1] + height * ny;
            }
        }
        Self {
            mi,
            mj,
            periodic,
            x,
            y,
            control_p: inner(&control.p),
            control_q: inner(&control.q),
            wall,
        }
    }
}

/// Nodes of a grid as a frame: a periodic one gets one more column at its start.
fn framed(nodes: &[f64], ni: usize, periodic: bool) -> Vec<f64> {
    let more = usize::from(periodic);
    let mut frame = vec![0.0; nodes.len() / ni * (ni + more)];
    frame.par_chunks_mut(ni + more).zip(nodes.par_chunks(ni)).for_each(|(frame, row)| {
        frame[..more].copy_from_slice(&row[ni - 2..ni - 2 + more]);
        frame[more..].copy_from_slice(row);
    });
    frame
}

/// The unknowns of the frame's nodes; wall terms start at zero.
pub(super) fn first_guess(data: &EllipticData, u: &mut [f64]) {
    let (mi, stride) = (data.mi, data.mi + 2);
    let fixed = usize::from(data.wall.is_some());
    u.fill(0.0);
    u.par_chunks_mut(2 * mi).enumerate().skip(fixed).for_each(|(j, row)| {
        for (i, point) in row.chunks_exact_mut(2).enumerate() {
            let k = (j + 1) * stride + i + 1;
            point[0] = data.x[k];
            point[1] = data.y[k];
        }
    });
}
