//! Control functions P0, Q0 of the grid equations, computed from the initial grid, and the decay of the wall
//! terms.

use super::point::{Metrics, Stencil, Vec2, residual};
use crate::geometry::vector::{cross, distance, dot};
use crate::grid::{Grid, Topology, arc_length, beside, interval_control};
use rayon::prelude::*;

/// Source of the control functions P0, Q0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// P0 = Q0 = 0.
    Laplace,
    /// From the point spacing on the boundaries (Thomas and Middlecoff 1980, doi:10.2514/3.50801).
    ThomasMiddlecoff,
    /// Values for which the initial grid is a discrete solution, clipped and smoothed.
    #[default]
    Marched,
}

/// Control of height and angle of the first cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wall {
    /// P = P0, Q = Q0 everywhere.
    Frozen,
    /// The amplitudes `p_i`, `q_i` of decaying wall terms are Newton unknowns.
    Coupled,
}

/// The way P0 and Q0 are derived from the initial grid, and the terms added at the wall: the section
/// `[control]` of a case.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ControlSettings {
    /// Source of P0, Q0; `None` is the marched one.
    pub base: Option<Base>,
    /// Control of the first cell.
    pub wall: Wall,
    /// Length along the wall, in chords, over which the marched base is smoothed.
    pub smoothing: f64,
    /// Distance from the wall, in chords, over which this smoothing sets in.
    pub smoothing_distance: f64,
    /// Columns over which the marched base is smoothed in addition, beyond 0.05 chord; `None` leaves it to
    /// the topology.
    pub smoothing_columns: Option<f64>,
    /// Limit of |P0|, |Q0| of the marched base before smoothing.
    pub clip: f64,
    /// Decay length of the wall terms in wall spacings.
    pub decay: f64,
}

impl ControlSettings {
    /// Number of columns on either side of a point on which its control functions P0, Q0 depend, on lines
    /// with `columns` distinct columns.
    pub(crate) fn reach(&self, columns: usize) -> usize {
        match self.base.unwrap_or_default() {
            Base::Laplace => 1,
            Base::ThomasMiddlecoff => CURVATURE_PASSES + 1,
            Base::Marched => self.strides(columns).sum::<usize>() + 1,
        }
    }

    /// Strides of the smoothing passes: 1, 2, 4 and so on up to an eighth of the columns, at most
    /// [`LONGEST_STRIDE`].
    pub(crate) fn strides(&self, columns: usize) -> impl Iterator<Item = usize> + use<> {
        let any = self.smoothing + self.smoothing_columns.unwrap_or_default() > 0.0;
        let longest = if any { LONGEST_STRIDE.min(columns / 8) } else { 0 };
        std::iter::successors(Some(1), |stride| Some(2 * stride))
            .take_while(move |&stride| stride <= longest)
    }
}

/// The control functions P0 and Q0 of `settings` for the initial grid (theory section 3), at every node except the
/// repeated column of an O-grid, `[nj][ni − 1]` or `[nj][ni]`, i fastest. The equations do not use the values on the
/// wall and on the outer line.
pub(crate) fn control_functions(grid: &Grid, settings: &ControlSettings) -> [Vec<f64>; 2] {
    match settings.base.unwrap_or_default() {
        Base::Laplace => [(); 2].map(|()| vec![0.0; grid.topology.columns(grid.ni) * grid.nj]),
        Base::ThomasMiddlecoff => thomas_middlecoff(grid),
        Base::Marched => marched(grid, settings),
    }
}

/// The nodes of a grid without the repeated column of an O-grid. There neighbours in i wrap around; on a
/// C-grid the ends have none.
#[derive(Clone, Copy)]
struct Ring<'a> {
    grid: &'a Grid,
    /// Number of distinct columns.
    columns: usize,
}

impl<'a> Ring<'a> {
    fn new(grid: &'a Grid) -> Self {
        Self { grid, columns: grid.topology.columns(grid.ni) }
    }

    /// The columns at the distance `stride` on either side of a column.
    fn beside(self, i: usize, stride: usize) -> [usize; 2] {
        let n = self.columns;
        [if i < stride { i + n - stride } else { i - stride }, (i + stride) % n]
    }

    /// Columns in which the equations are solved.
    fn solved(self) -> std::ops::Range<usize> {
        match (self.grid.topology.periodic(), self.grid.topology.closed()) {
            (true, _) => 0..self.columns,
            (false, true) => 1..self.columns,
            (false, false) => 1..self.columns - 1,
        }
    }

    /// Columns with neighbours on both sides.
    fn inner(self) -> std::ops::Range<usize> {
        if self.grid.topology.closed() { 0..self.columns } else { self.solved() }
    }

    /// Fills the columns that are not solved for: the mean of both neighbours at a held seam, the neighbour's
    /// value at an end.
    fn fill_held(self, row: &mut [f64]) {
        let n = self.columns;
        match (self.grid.topology.periodic(), self.grid.topology.closed()) {
            (true, _) => {}
            (false, true) => row[0] = 0.5 * (row[1] + row[n - 1]),
            (false, false) => (row[0], row[n - 1]) = (row[1], row[n - 2]),
        }
    }

    /// Metrics at a node off the boundaries.
    fn metrics(self, i: usize, j: usize) -> Metrics {
        let [south, middle, north] = [j - 1, j, j + 1].map(|j| self.around(i, j));
        Stencil { south, middle, north }.metrics()
    }

    /// A node between its neighbours in i.
    fn around(self, i: usize, j: usize) -> [Vec2; 3] {
        let [west, east] = self.beside(i, 1);
        [west, i, east].map(|i| self.grid.point(i, j))
    }

    /// One smoothing pass with weights ¼ ½ ¼ over columns `stride` apart along a line of constant j, into
    /// `out`. Near an end the stride is the distance from it, so that the end values do not change.
    fn smooth_xi(self, line: &[f64], stride: usize, out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            let from_end = i.min(self.columns - 1 - i);
            let closed = self.grid.topology.closed();
            let [west, east] = self.beside(i, if closed { stride } else { stride.min(from_end) });
            *out = 0.5 * line[i] + 0.25 * (line[west] + line[east]);
        }
    }
}

/// Largest |Q0| of [`Base::ThomasMiddlecoff`].
pub(crate) const CURVATURE_LIMIT: f64 = 1.5;
/// Smoothing passes with weights ¼ ½ ¼ along xi over the curvature term.
pub(crate) const CURVATURE_PASSES: usize = 4;

/// P0: the interval ratios of the wall and of the outer line, linear in j between them. Q0: the
/// ratio along each line of constant i, plus the curvature term
/// −r_eta·r_xixi / (|r_xi|² + |r_xixi|²/4), smoothed along xi, clipped (theory eq. 9).
fn thomas_middlecoff(grid: &Grid) -> [Vec<f64>; 2] {
    let ring = Ring::new(grid);
    let (n, nj) = (ring.columns, grid.nj);
    let along_line = |j: usize| -> Vec<f64> {
        let mut line = vec![0.0; n];
        for i in ring.inner() {
            line[i] = interval_control(ring.around(i, j));
        }
        line
    };
    let (wall, outer) = (along_line(0), along_line(nj - 1));
    let mut p = Vec::with_capacity(n * nj);
    for j in 0..nj {
        let t = j as f64 / (nj - 1) as f64;
        p.extend(wall.iter().zip(&outer).map(|(wall, outer)| (1.0 - t) * wall + t * outer));
    }
    let mut q = vec![0.0; n * nj];
    let (mut line, mut smoothed) = (vec![0.0; n], vec![0.0; n]);
    for j in 1..nj - 1 {
        line.fill(0.0);
        for i in ring.inner() {
            let m = ring.metrics(i, j);
            line[i] = -dot(m.eta, m.xixi) / (m.g11 + 0.25 * dot(m.xixi, m.xixi));
        }
        for _ in 0..CURVATURE_PASSES {
            ring.smooth_xi(&line, 1, &mut smoothed);
            std::mem::swap(&mut line, &mut smoothed);
        }
        for i in 0..n {
            let ratio = interval_control([j - 1, j, j + 1].map(|j| grid.point(i, j)));
            q[j * n + i] = (ratio + line[i]).clamp(-CURVATURE_LIMIT, CURVATURE_LIMIT);
        }
    }
    [p, q]
}

/// Distance from the wall, in chords, over which the smoothing by a number of columns sets in.
pub(crate) const FAR_DISTANCE: f64 = 0.05;
/// Distance behind the edge of a C-grid, in chords, over which smoothing decays.
const WAKE_DISTANCE: f64 = 0.5;

/// Most columns over which a length along the wall smooths. With more of them, as in finer meshes, the lines next to
/// a sharp edge are oblique (skewness p99 is 0.22 instead of 0.06 on 4097 × 1025 points).
const MOST_COLUMNS: f64 = 3.0;

/// Longest stride of a smoothing pass: the root mean square reach of the smoothing is at most 26 columns.
const LONGEST_STRIDE: usize = 32;

/// At each node (g22 r_xi) P + (g11 r_eta) Q = −R(P = Q = 0), clipped. Then, for each stride m of
/// [`ControlSettings::strides`], F ← F + w (S_m F − F) with S_m = ¼ ½ ¼ over columns m apart and the weight w
/// of [`pass_weight`] (theory eq. 8).
fn marched(grid: &Grid, settings: &ControlSettings) -> [Vec<f64>; 2] {
    let ring = Ring::new(grid);
    let (n, nj) = (ring.columns, grid.nj);
    let mut p = vec![0.0; n * nj];
    let mut q = vec![0.0; n * nj];
    let rows = p.par_chunks_mut(n).zip(q.par_chunks_mut(n)).enumerate();
    rows.skip(1).take(nj - 2).for_each(|(j, (p, q))| {
        for i in ring.solved() {
            let m = ring.metrics(i, j);
            let r = residual(&m, 0.0, 0.0);
            // Cramer's rule for [r_xi r_eta] (g22 P, g11 Q)ᵀ = −R.
            let det = cross(m.xi, m.eta);
            p[i] = clip(-cross(r, m.eta) / det / m.g22, settings.clip);
            q[i] = clip(-cross(m.xi, r) / det / m.g11, settings.clip);
        }
    });
    let mut variances = arc_length(grid);
    let widths = smoothing_widths(grid, settings);
    let set_in = |s: f64, distance: f64| -(-s / distance).exp_m1();
    variances.par_chunks_mut(grid.ni).for_each(|row| {
        for (s, [near, far]) in row.iter_mut().zip(&widths) {
            let near = near * set_in(*s, settings.smoothing_distance);
            *s = near.powi(2) + (far * set_in(*s, FAR_DISTANCE)).powi(2);
        }
    });
    for f in [&mut p, &mut q] {
        extend_to_rim(f, ring, nj);
        smooth(f, ring, &variances, settings.strides(n));
    }
    [p, q]
}

/// Weight of the pass with stride m for a smoothing of variance v, in columns squared. A pass of weight 1 has
/// the variance m²/2, and the passes before it (m² − 1)/6 together.
fn pass_weight(variance: f64, stride: usize) -> f64 {
    let square = (stride * stride) as f64;
    ((2.0 * variance - (square - 1.0) / 3.0) / square).clamp(0.0, 1.0)
}

/// Numbers of columns over which each line is smoothed: from the smoothing length and the spacing of the
/// wall's points, and in addition far from the wall. In the wake of a C-grid both decay with the distance
/// from the edge.
///
/// Smoothing changes the layers of a line at their far end, and the wall terms, which preserve its height,
/// compensate for it along the whole line. If neighbouring lines do so differently, heights grow along the
/// wake at rates that differ from layer to layer, and the centres of long cells no longer lie above each
/// other.
pub(crate) fn smoothing_widths(grid: &Grid, settings: &ControlSettings) -> Vec<[f64; 2]> {
    let wall = grid.topology.wall(grid.ni);
    let edge = grid.point(*wall.start(), 0);
    let ring = Ring::new(grid);
    let widths = |i: usize| {
        let at = grid.point(i, 0);
        let beside = ring.beside(i % ring.columns, 1).map(|i| distance(at, grid.point(i, 0)));
        let share =
            if wall.contains(&i) { 1.0 } else { (-distance(edge, at) / WAKE_DISTANCE).exp() };
        let spacing = 0.5 * (beside[0] + beside[1]);
        [
            share * (settings.smoothing / spacing).min(MOST_COLUMNS),
            share * settings.smoothing_columns.unwrap_or_default(),
        ]
    };
    (0..grid.ni).map(widths).collect()
}

/// Clips to ±limit; NaN, from a node without cells, becomes 0.
pub(crate) fn clip(value: f64, limit: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(-limit, limit) }
}

/// Copies the adjacent values to the boundaries, since smoothing averages over them.
fn extend_to_rim(f: &mut [f64], ring: Ring, nj: usize) {
    let n = ring.columns;
    f.chunks_mut(n).for_each(|row| ring.fill_held(row));
    f.copy_within(n..2 * n, 0);
    f.copy_within((nj - 2) * n..(nj - 1) * n, (nj - 1) * n);
}

/// `variances` includes the repeated column of an O-grid, `f` does not.
fn smooth(f: &mut [f64], ring: Ring, variances: &[f64], strides: impl Iterator<Item = usize>) {
    let n = ring.columns;
    let mut g = vec![0.0; f.len()];
    for stride in strides {
        let rows = f.par_chunks(n).zip(g.par_chunks_mut(n));
        rows.for_each(|(row, out)| ring.smooth_xi(row, stride, out));
        let rows = f.par_chunks_mut(n).zip(g.par_chunks(n)).zip(variances.par_chunks(ring.grid.ni));
        rows.for_each(|((f, smoothed), variances)| {
            for ((f, smoothed), variance) in f.iter_mut().zip(smoothed).zip(variances) {
                *f += pass_weight(*variance, stride) * (smoothed - *f);
            }
        });
    }
}

/// Smoothing passes with weights ¼ ½ ¼ along i over the decay length.
const DECAY_PASSES: usize = 3;
/// Upper limit of the decay length on a C-grid, in chords, applied before the lower limit from the heights.
const LONGEST_DECAY: f64 = 0.1;
/// Longest decay of the terms of a wall in lengths of the line to the wall opposite to it.
const SHARE_OF_LINE: f64 = 0.25;
/// ψ decays this many times more slowly than φ.
pub(crate) const PSI_REACH: f64 = 10.0;

/// φ = exp(−s/ℓ_i) and ψ = exp(−s/(10 ℓ_i)) at every node except the repeated column of an O-grid, `[nj][ni −
/// 1]` or `[nj][ni]`, with s the distance `arc` from the wall along the line (`[nj][ni]`) and ℓ_i =
/// max(factor |r_xi|, 3 h_i) at the wall, smoothed along i (theory eq. 6). On a C-grid factor |r_xi| is
/// limited to 0.1 chord; in the wake it would grow to chords. `heights` are the heights of the first cells,
/// `[ni]`. The wall is the `row` with which the distances come; where the `opposite` one is a wall, too, with these lengths
/// of the lines between, ℓ_i and 10 ℓ_i are at most a quarter of those.
///
/// The decay is in physical distance. With decay in j the amplitude for a given height would grow like 1/h.
pub(crate) fn decay(
    grid: &Grid,
    (arc, row): (&[f64], usize),
    heights: &[f64],
    factor: f64,
    opposite: Option<&[f64]>,
) -> (Vec<f64>, Vec<f64>) {
    let n = grid.topology.columns(grid.ni);
    let points = row * grid.ni..(row + 1) * grid.ni;
    let line = (&grid.x[points.clone()], &grid.y[points]);
    let length = decay_lengths(grid.topology, line, heights, factor);
    let most = |i: usize| opposite.map_or(f64::INFINITY, |lengths| SHARE_OF_LINE * lengths[i]);
    let term = |reach: f64| {
        let length: Vec<f64> =
            length.iter().enumerate().map(|(i, l)| (reach * l).min(most(i))).collect();
        let mut term = vec![0.0; n * grid.nj];
        term.par_chunks_mut(n).zip(arc.par_chunks(grid.ni)).for_each(|(row, arc)| {
            for (value, (s, l)) in row.iter_mut().zip(arc.iter().zip(&length)) {
                *value = (-s / l).exp();
            }
        });
        term
    };
    (term(1.0), term(PSI_REACH))
}

/// The decay lengths ℓ_i of [`decay`], one for each distinct line, from the points (x, y) of the line j = 0.
pub(crate) fn decay_lengths(
    topology: Topology,
    (x, y): (&[f64], &[f64]),
    heights: &[f64],
    factor: f64,
) -> Vec<f64> {
    let closed = topology.closed();
    let n = topology.columns(x.len());
    let longest = if closed { f64::INFINITY } else { LONGEST_DECAY };
    let interval = |i: usize| (x[i + 1] - x[i]).hypot(y[i + 1] - y[i]);
    let mut spacing: Vec<f64> = (0..x.len() - 1).map(interval).collect();
    // At the end of an open line the last interval is repeated.
    spacing.extend(spacing.last().copied().filter(|_| !closed));
    let around = |i: usize| beside(i, n, closed);
    let mut length: Vec<f64> = (0..n)
        .map(|i| factor * 0.5 * (spacing[around(i)[0]] + spacing[i]))
        .zip(heights)
        .map(|(length, height)| length.min(longest).max(3.0 * height))
        .collect();
    for _ in 0..DECAY_PASSES {
        let mean = |i: usize| {
            let [west, east] = around(i);
            0.5 * length[i] + 0.25 * (length[west] + length[east])
        };
        length = (0..n).map(mean).collect();
    }
    length
}
