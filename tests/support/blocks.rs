//! Blocks with walls on any sides.

use std::f64::consts::{FRAC_PI_2, TAU};

use gridgen::backend::{EllipticBackend, EllipticData, MultigridBackend, WallTerms};
use gridgen::grid::{Grid, Topology};
use gridgen::solver::NewtonStop;
use gridgen::solver::krylov::Method;
use gridgen::solver::precond::Kind;

use super::problems::{NEWTON, loaded, newton};

/// A block of `ni` × `nj` points with walls on some sides, and its equations.
pub struct Block {
    pub ni: usize,
    pub nj: usize,
    /// Points, i fastest.
    pub at: Vec<[f64; 2]>,
    pub walls: [bool; 4],
    /// Height of the first cells that is asked for on all walls.
    pub height: f64,
}

impl Block {
    /// Points of the unit square, clustered on all sides, mapped by `map` off the lines beside walls.
    pub fn new(
        [ni, nj]: [usize; 2],
        walls: [bool; 4],
        [first, height]: [f64; 2],
        map: impl Fn([f64; 2]) -> [f64; 2],
    ) -> Self {
        let cluster = |n: usize| -> Vec<f64> {
            // The growth with which half of the intervals fill half of the side.
            let half = (n - 1) / 2;
            let sum = |growth: f64| (0..half).map(|k| first * growth.powf(k as f64)).sum::<f64>();
            let low = bisected(1.0, 3.0, |growth| sum(growth) >= 0.5);
            let from = |k: usize| (0..k).map(|k| first * low.powf(k as f64)).sum::<f64>();
            (0..n).map(|k| if k <= half { from(k) } else { 1.0 - from(n - 1 - k) }).collect()
        };
        let (x, y) = (cluster(ni), cluster(nj));
        let at = y.iter().flat_map(|y| x.iter().map(|x| map([*x, *y]))).collect();
        Self { ni, nj, at, walls, height }
    }

    /// The equations with P0 and Q0 of these intervals, and first cells that are to be as high as asked.
    pub fn data(&self) -> EllipticData {
        let Self { ni, nj, ref at, walls, height } = *self;
        let (mi, mj) = (ni - 2, nj - 2);
        let distance = |a: usize, b: usize| (at[a][0] - at[b][0]).hypot(at[a][1] - at[b][1]);
        let inner = || (1..nj - 1).flat_map(|j| (1..ni - 1).map(move |i| j * ni + i));
        let control = |k: usize, step: usize| {
            let (before, after) = (distance(k, k - step), distance(k, k + step));
            -2.0 * (after - before) / (after + before)
        };
        let [mut x, mut y] = [0, 1].map(|c| at.iter().map(|p| p[c]).collect::<Vec<_>>());
        // Steps along the side and away from it, and the point of the side, for each.
        let (row, last) = (ni.cast_signed(), (nj - 1) * ni);
        let sides: [(usize, isize, usize, usize); 4] =
            [(1, row, 0, ni), (1, -row, last, ni), (ni, 1, 0, nj), (ni, -1, ni - 1, nj)];
        let mut decays: [Option<WallTerms>; 4] = Default::default();
        for (side, (along, away, first, points)) in sides.into_iter().enumerate() {
            if !walls[side] {
                continue;
            }
            let mut terms = WallTerms { phi: vec![0.0; mi * mj], psi: vec![0.0; mi * mj] };
            for k in 1..points - 1 {
                let foot = first + k * along;
                let d = [0, 1].map(|c| at[foot + along][c] - at[foot - along][c]);
                let (length, spacing) = (d[0].hypot(d[1]), 0.5 * d[0].hypot(d[1]));
                let off = |n: usize| foot.wrapping_add_signed(away * n.cast_signed());
                let next = [0, 1].map(|c| at[off(1)][c] - at[foot][c]);
                let turn = (d[0] * next[1] - d[1] * next[0]).signum();
                let normal = [-turn * d[1] / length, turn * d[0] / length];
                x[off(1)] = at[foot][0] + height * normal[0];
                y[off(1)] = at[foot][1] + height * normal[1];
                let others = if side < 2 { [walls[2], walls[3]] } else { [walls[0], walls[1]] };
                // The line along another wall belongs to that.
                if (k == 1 && others[0]) || (k == points - 2 && others[1]) {
                    continue;
                }
                let decay = (3.0 * spacing).max(3.0 * height).min(0.1);
                let mut s = 0.0;
                for n in 1..if side < 2 { nj - 1 } else { ni - 1 } {
                    s += distance(off(n), off(n - 1));
                    let (i, j) = (off(n) % ni - 1, off(n) / ni - 1);
                    terms.phi[j * mi + i] = (-s / decay).exp();
                    terms.psi[j * mi + i] = (-s / (10.0 * decay)).exp();
                }
            }
            decays[side] = Some(terms);
        }
        // The point on two walls completes a parallelogram.
        for (of_j, of_i) in [(0, 2), (0, 3), (1, 2), (1, 3)] {
            if walls[of_j] && walls[of_i] {
                let i = if of_i == 2 { [0, 1] } else { [ni - 1, ni - 2] };
                let j = if of_j == 0 { [0, 1] } else { [nj - 1, nj - 2] };
                let [corner, along, up] = [[0, 0], [0, 1], [1, 0]].map(|[b, a]| j[b] * ni + i[a]);
                for v in [&mut x, &mut y] {
                    let share = |k: usize| (v[k] - v[corner]) * height / distance(corner, k);
                    v[j[1] * ni + i[1]] = v[corner] + share(along) + share(up);
                }
            }
        }
        EllipticData {
            mi,
            mj,
            periodic: false,
            shift: 0.0,
            x,
            y,
            control_p: inner().map(|k| control(k, 1)).collect(),
            control_q: inner().map(|k| control(k, ni)).collect(),
            walls: decays,
        }
    }

    /// The grid that solves the equations, Newton steps and linear iterations.
    pub fn solved<B: EllipticBackend + MultigridBackend>(
        &self,
        backend: &B,
    ) -> (Vec<[f64; 2]>, usize, f64) {
        let (mut problem, mut u) = loaded(backend, &self.data());
        let of = (Method::Bicgstab, Kind::Multigrid);
        let report = newton(backend, &mut problem, &mut u, of, &NEWTON).unwrap();
        assert_eq!(report.stop, NewtonStop::Converged, "{:?}", report.events);
        assert_eq!(report.events, Vec::<String>::new(), "no other preconditioner is needed");
        let mut grid = Grid::unset(Topology::Rectangle, self.ni, self.nj);
        let nodes = problem.nodes(backend, &u, Topology::Rectangle).unwrap();
        backend.fetch(&nodes, &mut grid).unwrap();
        let nodes = grid.x.into_iter().zip(grid.y).map(|(x, y)| [x, y]).collect();
        (nodes, report.history.newton_iterations(), report.history.linear_iterations())
    }

    /// The block seen from another side: i and j exchanged, or j counted from the other end.
    pub fn seen(&self, exchanged: bool, reversed: bool) -> Self {
        let Self { ni, nj, walls: [below, above, before, behind], height, .. } = *self;
        let (ni, nj, mut walls) = if exchanged {
            (nj, ni, [before, behind, below, above])
        } else {
            (ni, nj, [below, above, before, behind])
        };
        if reversed {
            walls.swap(0, 1);
        }
        let at =
            (0..ni * nj).map(|k| self.at[self.place(k, [ni, nj], exchanged, reversed)]).collect();
        Self { ni, nj, at, walls, height }
    }

    /// The place here of point k of the block of this size that is seen from another side.
    pub fn place(&self, k: usize, [ni, nj]: [usize; 2], exchanged: bool, reversed: bool) -> usize {
        let (i, j) = (k % ni, k / ni);
        let j = if reversed { nj - 1 - j } else { j };
        if exchanged { i * self.ni + j } else { j * self.ni + i }
    }
}

/// The last number that is not `above`, between one that is not and one that is.
fn bisected(mut low: f64, mut high: f64, above: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if above(middle) { high = middle } else { low = middle }
    }
    low
}

/// A map of the unit square.
pub type Map = fn([f64; 2]) -> [f64; 2];

/// A wave in the rows of a square.
pub fn wave([x, y]: [f64; 2]) -> [f64; 2] {
    [x, y + 0.05 * (TAU * x).sin() * (y * (1.0 - y))]
}

/// A quarter of a ring.
pub fn bend([x, y]: [f64; 2]) -> [f64; 2] {
    let (sin, cos) = (FRAC_PI_2 * (1.0 - x)).sin_cos();
    [(0.5 + y) * cos, (0.5 + y) * sin]
}

/// A parallelogram with corners of 73 and 107 degrees.
pub fn sheared([x, y]: [f64; 2]) -> [f64; 2] {
    [x + 0.3 * y, y]
}

/// A channel with a throat.
pub fn nozzle([x, y]: [f64; 2]) -> [f64; 2] {
    [3.0 * x, (y - 0.5) * (1.0 - 0.4 * (3.0 * (x - 0.5)).cosh().powi(-4))]
}

pub const MAPS: [(&str, Map); 4] =
    [("wave", wave), ("bend", bend), ("sheared", sheared), ("nozzle", nozzle)];
