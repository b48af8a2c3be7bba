//! The grid equations at one point, their control functions, and the equations of an initial grid: the nodes that
//! stay, control functions and wall terms. All are pure functions of coordinates.

pub mod control;
mod point;

pub use point::{Metrics, Stencil, StencilBlocks, Vec2, residual};
pub(crate) use point::{merit_weight, row_weight};

use self::control::{Base, ControlSettings, Wall, control_functions, decay};
use crate::grid::initial::first_heights;
use crate::grid::{Grid, Topology, arc_length};
use crate::sparse::{LevelSize, WalledSides};
use rayon::prelude::*;

/// Settings of the grid equations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EllipticSettings<'a> {
    /// Control functions.
    pub control: ControlSettings,
    /// Height of the first cell, in chords.
    pub first_cell: f64,
    /// Heights of the first cells at the points of the line j = 0; `None` means [`first_heights`].
    pub heights: Option<&'a [f64]>,
    /// Whether the row of points next to the outer line keeps the place that it has in the initial grid, as that
    /// beside the wall does.
    pub outer_wall: bool,
}

impl EllipticSettings<'_> {
    /// The sides with wall terms.
    pub(crate) fn walled_sides(&self) -> WalledSides {
        let coupled = self.control.wall == Wall::Coupled;
        WalledSides([coupled, coupled && self.outer_wall, false, false])
    }

    /// Heights of the first cells at these points of the line j = 0.
    pub(crate) fn heights(&self, topology: Topology, points: &[[f64; 2]]) -> Vec<f64> {
        let own = || first_heights(topology, points, self.first_cell);
        self.heights.map_or_else(own, <[f64]>::to_vec)
    }
}

/// Everything that stays fixed while the grid equations are solved.
///
/// The unknown points form a rectangle of `mi` × `mj` points, `[mj][mi]`, i fastest; unknown
/// (I, J) is node (I + 1, J + 1) of a frame of `mi + 2` × `mj + 2` nodes. A held seam keeps the
/// two outer columns of the frame; a periodic one copies them from the opposite side.
#[derive(Debug, Clone)]
pub struct EllipticData {
    /// Unknown points in i.
    pub mi: usize,
    /// Unknown points in j.
    pub mj: usize,
    /// Whether the outer columns of the frame repeat the opposite unknown columns.
    pub periodic: bool,
    /// Difference in y of a column of a periodic frame and the one that it repeats, `mi` columns before it: the pitch of a
    /// cascade, 0 where lines close.
    pub shift: f64,
    /// x of the frame's nodes, `[mj + 2][mi + 2]`; unknown nodes hold the first guess.
    pub x: Vec<f64>,
    /// y of the frame's nodes.
    pub y: Vec<f64>,
    /// P0 at the unknown points, `[mj][mi]`.
    pub control_p: Vec<f64>,
    /// Q0 at the unknown points, `[mj][mi]`.
    pub control_q: Vec<f64>,
    /// The decaying wall terms of the sides j = 0, j = mj − 1, i = 0 and i = mi − 1, where height and angle of the first
    /// cell are controlled. The unknown points there stay where they are.
    pub walls: [Option<WallTerms>; 4],
}

/// Decay of the wall terms of a side: P = P0 + p_i φ, Q = Q0 + q_i ψ on the lines from a side of constant j, and
/// Q = Q0 + p_j φ, P = P0 + q_j ψ on those from a side of constant i. So p turns the first cell, q makes it higher.
/// Both are zero on a line along another wall.
#[derive(Debug, Clone)]
pub struct WallTerms {
    /// φ at the unknown points, `[mj][mi]`.
    pub phi: Vec<f64>,
    /// ψ at the unknown points, `[mj][mi]`.
    pub psi: Vec<f64>,
}

impl EllipticData {
    /// Frame, control functions and wall terms of an initial grid. `normals` are the wall normals of
    /// all `ni` points of the line j = 0; a coupled wall puts the first row of points at
    /// r_{i,0} + h_i n_i with the heights of the settings.
    pub fn new(initial: &Grid, normals: &[[f64; 2]], settings: &EllipticSettings) -> Self {
        let heights = settings.heights(initial.topology, &initial.row(0));
        let mut data =
            Self::with_heights(initial, &heights, &settings.control, settings.walled_sides());
        if data.walls[0].is_some() {
            let (mi, stride, first) = (data.mi, data.mi + 2, usize::from(!data.periodic));
            for i in 0..mi {
                let ([nx, ny], height) = (normals[i + first], heights[i + first]);
                data.x[stride + i + 1] = data.x[i + 1] + height * nx;
                data.y[stride + i + 1] = data.y[i + 1] + height * ny;
            }
        }
        data
    }

    /// The equations that a given grid solves: P0 and Q0 are computed from its nodes at each point, neither
    /// clipped nor smoothed, and wall terms decay over `decay` wall spacings, with amplitude zero: those of the section,
    /// and of the outer line where a side of a box there is a wall.
    pub fn of_grid(grid: &Grid, decay: f64) -> Self {
        let exact = ControlSettings {
            base: Some(Base::Marched),
            wall: Wall::Coupled,
            smoothing: 0.0,
            smoothing_distance: 1.0,
            smoothing_columns: None,
            clip: f64::INFINITY,
            decay,
        };
        let heights = &arc_length(grid)[grid.ni..2 * grid.ni];
        let walls = grid.outside.as_ref().map(|outside| outside.walls(grid.ni - 1));
        let above = walls.is_some_and(|walls| !walls.is_empty());
        Self::with_heights(grid, heights, &exact, WalledSides([true, above, false, false]))
    }

    /// The equations with these P0 and Q0 at the unknown points, and the nodes of a grid as they are.
    pub fn of_terms(
        grid: &Grid,
        [control_p, control_q]: [Vec<f64>; 2],
        wall: Option<WallTerms>,
    ) -> Self {
        let walls = [wall, None, None, None];
        let LevelSize { mi, mj, periodic } = LevelSize::of(grid);
        let frame = |nodes: &[f64]| framed(nodes, grid.ni, periodic);
        let (x, y) = (frame(&grid.x), frame(&grid.y));
        Self { mi, mj, periodic, shift: 0.0, x, y, control_p, control_q, walls }
    }

    /// The equations with the nodes of a grid as they are, whose first cells have these heights, with wall terms on
    /// these of the sides j = 0 and j = mj − 1.
    fn with_heights(
        grid: &Grid,
        heights: &[f64],
        settings: &ControlSettings,
        walls: WalledSides,
    ) -> Self {
        let inner = |f: &[f64]| at_unknown_points(grid, f);
        let control = control_functions(grid, settings).map(|f| inner(&f));
        let terms =
            |(phi, psi): (Vec<f64>, Vec<f64>)| WallTerms { phi: inner(&phi), psi: inner(&psi) };
        let WalledSides([below, above, ..]) = walls;
        let arc = arc_length(grid);
        let opposite = above.then(|| &arc[arc.len() - grid.ni..]);
        let wall = below.then(|| decay(grid, (&arc, 0), heights, settings.decay, opposite));
        let mut data = Self::of_terms(grid, control, wall.map(terms));
        if let Some(lengths) = opposite {
            let from: Vec<f64> =
                arc.iter().enumerate().map(|(k, s)| lengths[k % grid.ni] - s).collect();
            let heights = &from[from.len() - 2 * grid.ni..][..grid.ni];
            let of = (from.as_slice(), grid.nj - 1);
            data.walls[1] = Some(terms(decay(grid, of, heights, settings.decay, opposite)));
        }
        data
    }

    /// The sides with wall terms.
    pub fn walled_sides(&self) -> WalledSides {
        WalledSides(self.walls.each_ref().map(Option::is_some))
    }

    /// Amplitudes (p_i, q_i) of the wall terms of the section and of the side opposite to it, side after side, with which P
    /// and Q beside these walls are P0 and Q0 of other equations; none without wall terms of the section.
    pub(crate) fn amplitudes_for(&self, exact: &Self) -> Option<Vec<f64>> {
        let [below, above, ..] = self.walls.each_ref().map(Option::as_ref);
        let below = below?;
        let of = |terms: &WallTerms, k: usize| [terms.phi[k], terms.psi[k]];
        let lacks = |k: usize| {
            [exact.control_p[k] - self.control_p[k], exact.control_q[k] - self.control_q[k]]
        };
        let (mut own, mut opposite) = (Vec::new(), Vec::new());
        for i in 0..self.mi {
            let (here, near, mut taken) = (lacks(i), of(below, i), [0.0; 2]);
            if let Some(above) = above {
                let last = self.mi * (self.mj - 1) + i;
                let (there, far) = (lacks(last), of(below, last));
                let (reach, other) = (of(above, i), of(above, last));
                for c in 0..2 {
                    let share = far[c] / near[c];
                    let amplitude = (there[c] - share * here[c]) / (other[c] - share * reach[c]);
                    taken[c] = amplitude * reach[c];
                    opposite.push(amplitude);
                }
            }
            own.extend([0, 1].map(|c| (here[c] - taken[c]) / near[c]));
        }
        own.append(&mut opposite);
        Some(own)
    }

    /// These equations with the nodes of a grid as they are, as frame and first guess.
    #[must_use]
    pub fn with_nodes(&self, grid: &Grid) -> Self {
        let frame = |nodes: &[f64]| framed(nodes, grid.ni, self.periodic);
        Self { x: frame(&grid.x), y: frame(&grid.y), ..self.clone() }
    }
}

/// value + shift; without a shift the bits of the value, which a sum would lose: -0 + 0 is 0.
pub(crate) fn moved(value: f64, shift: f64) -> f64 {
    if shift == 0.0 { value } else { value + shift }
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

/// The values at the unknown points, `[mj][mi]`, of those at the nodes, without the repeated column of an O-grid or with it.
pub(crate) fn at_unknown_points(grid: &Grid, f: &[f64]) -> Vec<f64> {
    let LevelSize { mi, mj, periodic } = LevelSize::of(grid);
    // Unknown columns start at node 0 of a periodic grid and at node 1 of one with held ends.
    let first = usize::from(!periodic);
    let mut kept = vec![0.0; mi * mj];
    let rows = kept.par_chunks_mut(mi).zip(f.par_chunks(f.len() / grid.nj).skip(1));
    rows.for_each(|(kept, row)| kept.copy_from_slice(&row[first..first + mi]));
    kept
}

impl LevelSize {
    /// The unknown points of a grid of `ni` × `nj` nodes: those off the wall, the outer line and a held seam.
    pub fn of_grid(topology: Topology, ni: usize, nj: usize) -> Self {
        let periodic = topology.periodic();
        Self { mi: if periodic { ni - 1 } else { ni - 2 }, mj: nj - 2, periodic }
    }

    /// The unknown points of this grid.
    pub(crate) fn of(grid: &Grid) -> Self {
        Self::of_grid(grid.topology, grid.ni, grid.nj)
    }
}
