//! Operators of the levels: from the Jacobian, and Galerkin products.

use super::panel::PointBlocks;
use crate::backend::Real;
use crate::backend::cpu::EllMatrix;
use crate::backend::multigrid::LevelSize;
use crate::sparse::STENCIL;

/// The 2×2 blocks of a point by compass: SW S SE W C E NW N NE, row-major.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Nine<M>(pub(super) [[M; 4]; 9]);

impl<M: Real> Nine<M> {
    /// Blocks named for an eta-line: left is W, prev is S.
    pub(super) fn eta_line(&self) -> PointBlocks<M> {
        let [sw, s, se, w, c, e, nw, n, ne] = self.0;
        PointBlocks {
            left: w,
            right: e,
            left_prev: sw,
            right_prev: se,
            left_next: nw,
            right_next: ne,
            prev: s,
            next: n,
            centre: c,
        }
    }

    /// Blocks named for a xi-line: left is S, prev is W.
    pub(super) fn xi_line(&self) -> PointBlocks<M> {
        let [sw, s, se, w, c, e, nw, n, ne] = self.0;
        PointBlocks {
            left: s,
            right: n,
            left_prev: sw,
            right_prev: nw,
            left_next: se,
            right_next: ne,
            prev: w,
            next: e,
            centre: c,
        }
    }

    /// The same from the blocks named for an eta-line.
    pub(super) fn from_eta_line(b: &PointBlocks<M>) -> Self {
        Self([
            b.left_prev,
            b.prev,
            b.right_prev,
            b.left,
            b.centre,
            b.right,
            b.left_next,
            b.next,
            b.right_next,
        ])
    }
}

/// Triples of blocks along xi, by rising eta offset.
const ALONG_XI: [[usize; 3]; 3] = [[0, 1, 2], [3, 4, 5], [6, 7, 8]];
/// Triples of blocks along eta, by rising xi offset.
const ALONG_ETA: [[usize; 3]; 3] = [[0, 3, 6], [1, 4, 7], [2, 5, 8]];

/// Compass of the thirteen entries of a row, and whether the entry is of the other variable.
const ENTRIES: [(usize, bool); STENCIL.len()] = {
    let mut entries = [(0, false); STENCIL.len()];
    let mut k = 0;
    while k < STENCIL.len() {
        let (di, dj, other) = STENCIL[k];
        entries[k] = ((3 * (dj + 1) + di + 1).cast_unsigned(), other);
        k += 1;
    }
    entries
};

/// Blocks of unknown point (i, j) of a matrix with the nine-point pattern; couplings across a
/// periodic seam are dropped where the level does not wrap.
pub(super) fn finest_blocks<T: Real, M: Real>(
    a: &EllMatrix<T>,
    size: LevelSize,
    i: usize,
    j: usize,
) -> Nine<M> {
    let (west, east) = (i > 0, i + 1 < size.mi);
    let columns = [west, true, east];
    let rows = [j > 0, true, j + 1 < size.mj];
    let (n, values) = (a.pattern().rows(), a.values());
    let mut nine = Nine::default();
    for variable in 0..2 {
        let mut at = 2 * (j * size.mi + i) + variable;
        for (compass, other) in ENTRIES {
            let here = columns[compass % 3];
            if !rows[compass / 3] || !(here || size.periodic) {
                continue;
            }
            if here || size.wraps() {
                let column = if other { 1 - variable } else { variable };
                nine.0[compass][2 * variable + column] = M::narrow(values[at].widen());
            }
            at += n;
        }
    }
    nine
}

/// Galerkin blocks of coarse point (i, j) from those of the fine points around it.
pub(super) fn galerkin<M: Real>(
    fine: &impl Fn(usize, usize) -> Nine<M>,
    i: usize,
    j: usize,
    coarsen_eta: bool,
) -> Nine<M> {
    let along_xi = |j: usize| {
        let f = 2 * i + 1;
        coarsen_line(&[fine(f - 1, j), fine(f, j), fine(f + 1, j)], ALONG_XI)
    };
    if !coarsen_eta {
        return along_xi(j);
    }
    let f = 2 * j + 1;
    coarsen_line(&[along_xi(f - 1), along_xi(f), along_xi(f + 1)], ALONG_ETA)
}

/// One dimension of R A P with P = (½ 1 ½), R = (¼ ½ ¼), at the fine points f − 1, f, f + 1 with
/// blocks w, c, e along the dimension (theory eq. 12):
///
/// C = ½ (c₀ + ½ w₀ + ½ e₀) + ¼ (w₊ + ½ c₊) + ¼ (e₋ + ½ c₋),
/// E = ¼ e₀ + ¼ (e₊ + ½ c₊),  W = ¼ w₀ + ¼ (w₋ + ½ c₋).
fn coarsen_line<M: Real>([minus, zero, plus]: &[Nine<M>; 3], triples: [[usize; 3]; 3]) -> Nine<M> {
    let (half, quarter) = (M::narrow(0.5), M::narrow(0.25));
    let mut coarse = Nine::default();
    for [w, c, e] in triples {
        for k in 0..4 {
            let at = |nine: &Nine<M>| [nine.0[w][k], nine.0[c][k], nine.0[e][k]];
            let ([wm, cm, em], [w0, c0, e0], [wp, cp, ep]) = (at(minus), at(zero), at(plus));
            coarse.0[c][k] = half * (c0 + half * (w0 + e0))
                + quarter * (wp + half * cp)
                + quarter * (em + half * cm);
            coarse.0[e][k] = quarter * (e0 + ep + half * cp);
            coarse.0[w][k] = quarter * (w0 + wm + half * cm);
        }
    }
    coarse
}
