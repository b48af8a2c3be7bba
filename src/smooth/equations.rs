//! The equations of a grid that is given: its control functions P0 and Q0, smoothed, exact first cells on its walls,
//! the grid from which they are solved, and the decay of the wall terms.

use std::mem::swap;
use std::ops::Range;

use rayon::prelude::*;

use super::block::Orientation;
use crate::geometry::vector::{along, difference, distance, dot, unit};
use crate::geometry::{chord_lengths, open_normals, wall_normals};
use crate::grid::boundary::Side;
use crate::grid::quality::folds;
use crate::grid::{Grid, arc_length, interval_control, smooth};
use crate::pde::control::{CURVATURE_LIMIT, PSI_REACH, clip};
use crate::pde::{EllipticData, Stencil, WallTerms, at_unknown_points};

/// The origin of the control functions of a solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Functions {
    /// The functions that the grid solves by itself, smoothed.
    Own,
    /// The ratios of its intervals, smoothed across, and its curvature: those of a right-angled grid of its spacing.
    Law,
    /// [`Self::Law`] of a grid that is interpolated from the four sides.
    Anew,
}

/// Smoothing passes; the curvature takes four times as many.
const PASSES: usize = 30;
/// Largest value of a grid's own functions.
const OWN_LIMIT: f64 = 1.0;

impl Functions {
    /// P0 and Q0 at the unknown points of a grid, `[mj][mi]`.
    pub(super) fn of(self, grid: &Grid) -> [Vec<f64>; 2] {
        let data = EllipticData::of_grid(grid, 1.0);
        let clipped = |f: Vec<f64>, limit| f.into_iter().map(|v| clip(v, limit)).collect();
        if self == Self::Own {
            let own = [data.control_p, data.control_q].map(|f| clipped(f, OWN_LIMIT));
            return own.map(|f| smoothed(f, data.mi, data.periodic, [true; 2], PASSES));
        }
        let laws: Vec<[f64; 4]> =
            (0..data.mi * data.mj).into_par_iter().map(|k| law(&data, k)).collect();
        [0, 1].map(|c| {
            let pass = |c: usize, along, passes| {
                let f = clipped(laws.iter().map(|law| law[c]).collect(), CURVATURE_LIMIT);
                smoothed(f, data.mi, data.periodic, along, passes)
            };
            // P0 is smoothed along eta, Q0 along xi, curvatures along both.
            let [mut f, bend] =
                [pass(c, [c == 1, c == 0], PASSES), pass(c + 2, [true; 2], 4 * PASSES)];
            f.iter_mut().zip(bend).for_each(|(f, bend)| *f = clip(*f + bend, CURVATURE_LIMIT));
            f
        })
    }
}

/// −2 (d⁺ − d⁻)/(d⁺ + d⁻) of the intervals along xi and eta at unknown point `k`, and the curvature terms
/// −r_xi·r_etaeta/g22 and −r_eta·r_xixi/g11.
fn law(data: &EllipticData, k: usize) -> [f64; 4] {
    let (stride, at) = (data.mi + 2, (k / data.mi + 1) * (data.mi + 2) + k % data.mi + 1);
    let row = |at: usize| [at - 1, at, at + 1].map(|at| [data.x[at], data.y[at]]);
    let stencil = Stencil { south: row(at - stride), middle: row(at), north: row(at + stride) };
    let (m, [south, middle, north]) =
        (stencil.metrics(), [stencil.south, stencil.middle, stencil.north]);
    let [g11, g22] = [[m.xi, m.xixi], [m.eta, m.etaeta]]
        .map(|[first, second]| dot(first, first) + 0.25 * dot(second, second));
    let bends = [-dot(m.xi, m.etaeta) / g22, -dot(m.eta, m.xixi) / g11];
    let across = [south, middle, north].map(|row| row[1]);
    [interval_control(middle), interval_control(across), bends[0], bends[1]]
}

/// Passes with weights ¼ ½ ¼ over values `[rows][n]` along xi, along eta or both. Ends are their own neighbours, or each
/// other's along xi where the ends in i are joined.
fn smoothed(mut f: Vec<f64>, n: usize, joined: bool, along: [bool; 2], passes: usize) -> Vec<f64> {
    let (mut old, last) = (f.clone(), f.len() / n - 1);
    let mean = |before: f64, at: f64, after: f64| 0.5 * at + 0.25 * (before + after);
    for pass in 0..2 * passes {
        let direction = pass % 2;
        if !along[direction] {
            continue;
        }
        swap(&mut f, &mut old);
        f.par_chunks_mut(n).enumerate().for_each(|(j, row)| {
            let line = |j: usize| &old[j * n..][..n];
            let at = line(j);
            if direction == 1 {
                let beside = line(j.saturating_sub(1)).iter().zip(line((j + 1).min(last)));
                for ((value, at), (before, after)) in row.iter_mut().zip(at).zip(beside) {
                    *value = mean(*before, *at, *after);
                }
                return;
            }
            for (value, of) in row[1..].iter_mut().zip(at.array_windows()) {
                let [before, at, after] = of;
                *value = mean(*before, *at, *after);
            }
            let ends = if joined { [n - 1, 0] } else { [0, n - 1] };
            row[0] = mean(at[ends[0]], at[0], at[1]);
            row[n - 1] = mean(at[n - 2], at[n - 1], at[ends[1]]);
        });
    }
    f
}

/// Passes over the logarithms of the heights of a grid's own first cells.
const HEIGHT_PASSES: usize = 20;
/// Decay of the wall terms in wall spacings, in first cells at least, and in lengths of the line at most.
const DECAY: [f64; 3] = [3.0, 3.0, 0.1];
/// Passes over it along the wall.
const DECAY_PASSES: usize = 3;
/// Distance over which lines are bent onto the normal: in wall spacings, in first cells at least, and in lengths of the
/// line at most.
const BEND: [f64; 3] = [6.0, 10.0, 0.3];
/// Halvings of it while the grid folds.
const HALVINGS: i32 = 3;
/// Part of a wall over which its directions turn into the wall beside it, where that is right-angled.
const TURN: f64 = 0.05;
/// Growth of that part with 1 − cos of the angle between the wall beside and the normal: with a shorter turn cells beside
/// an acute corner fold.
const OBLIQUE: f64 = 3.0;

/// A side whose first cells are exact, in the orientation in which it is j = 0: node (k, 1) is at r_k + h_k n_k.
#[derive(Debug, Clone)]
pub(super) struct WallSide {
    side: Side,
    pub(super) turn: Orientation,
    pub(super) heights: Vec<f64>,
    /// Unit normals; longer beside another wall, where they lean and heights along the normal stay.
    directions: Vec<[f64; 2]>,
    spacing: Vec<f64>,
    /// Whether there is a wall at the first and at the last node.
    beside: [bool; 2],
}

/// Columns whose first node off the line j = 0 is not on another side.
fn free(grid: &Grid) -> Range<usize> {
    if grid.topology.periodic() { 0..grid.ni } else { 1..grid.ni - 1 }
}

impl WallSide {
    /// The walls of a grid, whose points are apart, with their first cells: of one height, or of the grid's own heights,
    /// smoothed.
    pub(super) fn all(grid: &Grid, walls: &[Side], first_cell: Option<f64>) -> Vec<Self> {
        walls.iter().map(|side| Self::of(grid, *side, walls, first_cell)).collect()
    }

    fn of(grid: &Grid, side: Side, walls: &[Side], first_cell: Option<f64>) -> Self {
        let turn = Orientation::of(grid, side);
        let own = turn.turned(grid);
        let (points, last, closed) = (own.row(0), own.ni - 1, own.topology.closed());
        let s = chord_lengths(&points);
        let step = |k: usize| s[k + 1] - s[k];
        let spacing = (0..=last).map(|k| {
            let open = [k.saturating_sub(1), k.min(last - 1)];
            let beside = if closed { [(k + last - 1) % last, k % last] } else { open };
            0.5 * (step(beside[0]) + step(beside[1]))
        });
        let mut directions = if closed { wall_normals(&points) } else { open_normals(&points) };
        if !closed {
            for (k, from) in [(0, 0), (last, last - 1)] {
                let [x, y] = unit(difference(points[from + 1], points[from]));
                directions[k] = [-y, x];
            }
        }
        let height = |k: usize| distance(points[k], own.point(k, 1)).max(f64::MIN_POSITIVE);
        let mut heights: Vec<f64> =
            (0..=last).map(|k| first_cell.unwrap_or_else(|| height(k)).ln()).collect();
        smooth(&mut heights, closed, HEIGHT_PASSES);
        let beside = [Side::Before, Side::Behind]
            .map(|end| !closed && walls.iter().any(|wall| turn.side(*wall) == end));
        for (corner, _) in [0, last].into_iter().zip(beside).filter(|(_, wall)| *wall) {
            let towards = unit(difference(own.point(corner, 1), points[corner]));
            let part = TURN * (1.0 + OBLIQUE * (1.0 - dot(towards, directions[corner])));
            for (k, direction) in directions.iter_mut().enumerate() {
                let share = (-(s[k] - s[corner]).abs() / (part * s[last])).exp();
                let leaning = along(direction.map(|c| (1.0 - share) * c), towards, share);
                let onto = dot(leaning, *direction);
                *direction = leaning.map(|c| c / onto);
            }
        }
        let heights = heights.into_iter().map(f64::exp).collect();
        Self { side, turn, heights, directions, spacing: spacing.collect(), beside }
    }

    fn first(&self, own: &Grid, k: usize) -> [f64; 2] {
        along(own.point(k, 0), self.directions[k], self.heights[k])
    }

    /// Largest relative error of the heights of a grid, without the two at each end where these are held.
    pub(super) fn height_error(&self, grid: &Grid) -> f64 {
        let (own, n) = (self.turn.turned(grid), self.heights.len());
        let inner = if own.topology.periodic() { 0..n } else { 2..n - 2 };
        let height = |k: usize, to| distance(own.point(k, 0), to);
        let ratio = |k: usize| height(k, own.point(k, 1)) / height(k, self.first(&own, k));
        inner.map(|k| (ratio(k) - 1.0).abs()).fold(0.0, f64::max)
    }

    /// φ and ψ at the unknown points; zero on a line along another wall, whose points are given.
    fn terms(&self, grid: &Grid) -> WallTerms {
        let mut own = self.turn.turned(grid);
        let (s, ni) = (arc_length(&own), own.ni);
        let [spacings, heights, part] = DECAY;
        let length = |k: usize| {
            let most = part * s[s.len() - ni + k];
            (spacings * self.spacing[k]).min(most).max(heights * self.heights[k])
        };
        let closed = own.topology.closed();
        let mut lengths: Vec<f64> = (0..ni).map(length).collect();
        smooth(&mut lengths, closed, DECAY_PASSES);
        for (k, s) in s.iter().enumerate() {
            let decay = |reach: f64| (-s / (reach * lengths[k % ni])).exp();
            let other = self.beside[0] && k % ni == 1 || self.beside[1] && k % ni == ni - 2;
            (own.x[k], own.y[k]) = if other { (0.0, 0.0) } else { (decay(1.0), decay(PSI_REACH)) };
        }
        let all = self.turn.back(&own, grid);
        let [phi, psi] = [&all.x, &all.y].map(|f| at_unknown_points(grid, f));
        WallTerms { phi, psi }
    }

    /// Puts the first cells in their places; the node in the corner with another wall becomes the fourth corner of a
    /// parallelogram.
    fn set_first_cells(&self, grid: &mut Grid) {
        let mut own = self.turn.turned(grid);
        for k in free(&own) {
            own.set([k, 1], self.first(&own, k));
        }
        let last = own.ni - 1;
        let corners = [(0, 1), (last, last - 1)].into_iter().zip(self.beside);
        for ((corner, inner), _) in corners.filter(|(_, wall)| *wall) {
            let [a, b, c] = [(inner, 0), (corner, 1), (corner, 0)].map(|(i, j)| own.point(i, j));
            own.set([inner, 1], along(a, difference(b, c), 1.0));
        }
        *grid = self.turn.back(&own, grid);
    }

    /// Moves the nodes of `bent` by what bends the lines of `grid` onto the normals:
    /// r_j ← r_j + (s_j n − (r_j − r_0)) exp(−(s_j/L)²), with L smaller by `factor`.
    fn bend(&self, grid: &Grid, factor: f64, bent: &mut Grid) {
        let (own, mut moved) = (self.turn.turned(grid), self.turn.turned(bent));
        let (s, ni) = (arc_length(&own), own.ni);
        let [spacings, heights, part] = BEND;
        for (j, k) in (1..own.nj - 1).flat_map(|j| free(&own).map(move |k| (j, k))) {
            let (s_j, height, whole) = (s[j * ni + k], self.heights[k], s[s.len() - ni + k]);
            let length =
                (factor * spacings * self.spacing[k]).max(heights * height).min(part * whole);
            let ratio = (height / s[ni + k]).min(1e9);
            let stretched = s_j * (1.0 + (ratio - 1.0) * (-s_j / length).exp());
            let straight = along(own.point(k, 0), self.directions[k], stretched);
            let way = difference(straight, own.point(k, j));
            let place = along(moved.point(k, j), way, (-(s_j / length).powi(2)).exp());
            moved.set([k, j], place);
        }
        *bent = self.turn.back(&moved, bent);
    }
}

/// The grid from which the equations are solved: lines near walls are bent onto the normals, less where that folds cells.
fn bent(grid: &Grid, walls: &[WallSide]) -> Grid {
    let with = |factor: Option<f64>| {
        let mut bent = grid.clone();
        for (wall, factor) in walls.iter().filter_map(|wall| Some((wall, factor?))) {
            wall.bend(grid, factor, &mut bent);
        }
        for wall in walls {
            wall.set_first_cells(&mut bent);
        }
        bent
    };
    let plain = with(None);
    let most = folds(grid).min(folds(&plain));
    let mut bent = (0..=HALVINGS).map(|halvings| with(Some(0.5_f64.powi(halvings))));
    bent.find(|bent| folds(bent) <= most).unwrap_or(plain)
}

/// The equations with these control functions and exact first cells on the walls, from the grid bent onto their normals.
pub(super) fn equations(grid: &Grid, control: [Vec<f64>; 2], walls: &[WallSide]) -> EllipticData {
    let start = bent(grid, walls);
    let mut data = EllipticData::of_terms(&start, control, None);
    for wall in walls {
        // The sides of constant j come first there.
        data.walls[(wall.side as usize + 2) % 4] = Some(wall.terms(&start));
    }
    data
}
