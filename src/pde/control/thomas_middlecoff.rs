//! Control functions after Thomas and Middlecoff, from the spacing of the boundary points.

use super::{ControlFunctions, Ring, interval_control};
use crate::grid::Grid;

/// Largest |Q0|.
pub const LIMIT: f64 = 1.5;
/// Passes of ¼ ½ ¼ along xi over the curvature term.
pub(crate) const PASSES: usize = 4;

/// P0: the interval ratios of the wall and of the outer line, linear in j between them. Q0: the
/// ratio along each line of constant i, plus the curvature term
/// −r_eta·r_xixi / (|r_xi|² + |r_xixi|²/4), smoothed along xi, clipped (theory eq. 9).
pub(super) fn control_functions(grid: &Grid) -> ControlFunctions {
    let ring = Ring::new(grid);
    let (n, nj) = (ring.columns, grid.nj);
    let along_line = |j: usize| -> Vec<f64> {
        let mut line = vec![0.0; n];
        for i in ring.inner() {
            let at = grid.point(i, j);
            let before = distance(grid.point(ring.west(i), j), at);
            line[i] = interval_control(before, distance(at, grid.point(ring.east(i), j)));
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
            let square = m.xixi[0] * m.xixi[0] + m.xixi[1] * m.xixi[1];
            let bend = m.eta[0] * m.xixi[0] + m.eta[1] * m.xixi[1];
            line[i] = -bend / (m.g11 + 0.25 * square);
        }
        for _ in 0..PASSES {
            ring.smooth_xi(&line, &mut smoothed);
            std::mem::swap(&mut line, &mut smoothed);
        }
        for i in 0..n {
            let [south, at, north] = [j - 1, j, j + 1].map(|j| grid.point(i, j));
            let ratio = interval_control(distance(south, at), distance(at, north));
            q[j * n + i] = (ratio + line[i]).clamp(-LIMIT, LIMIT);
        }
    }
    ControlFunctions { p, q }
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (b[0] - a[0]).hypot(b[1] - a[1])
}
