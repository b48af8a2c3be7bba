//! Operators of the levels: from the Jacobian, and Galerkin products.

use crate::backend::Real;
use crate::backend::cpu::EllMatrix;
use crate::backend::multigrid::LevelSize;

/// The 2×2 blocks of a point by compass: SW S SE W C E NW N NE, row-major.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Nine<M>(pub(super) [[M; 4]; 9]);

/// Triples of blocks along xi, by rising eta offset.
const ALONG_XI: [[usize; 3]; 3] = [[0, 1, 2], [3, 4, 5], [6, 7, 8]];
/// Triples of blocks along eta, by rising xi offset.
const ALONG_ETA: [[usize; 3]; 3] = [[0, 3, 6], [1, 4, 7], [2, 5, 8]];

/// Compass of the thirteen entries of a row, and whether the entry is of the other variable: the
/// order of `sparse::ell::STENCIL`.
const ENTRIES: [(usize, bool); 13] = [
    (0, false),
    (1, false),
    (1, true),
    (2, false),
    (3, false),
    (3, true),
    (4, false),
    (5, false),
    (5, true),
    (6, false),
    (7, false),
    (7, true),
    (8, false),
];

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
