//! Control functions P0 and Q0 of a grid that is given, smoothed.

use std::mem::swap;

use rayon::prelude::*;

use crate::geometry::vector::dot;
use crate::grid::{Grid, interval_control};
use crate::pde::control::{CURVATURE_LIMIT, clip};
use crate::pde::{EllipticData, Stencil};

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
