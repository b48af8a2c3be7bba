//! Operators of coarse levels by Galerkin products, panel by panel.

use super::lines::{BlockSource, LineSet};
use super::panel::{LANES, Lane, Nine, PLACES, PanelShape, Storage, half_difference};
use crate::backend::Real;

/// The operator of a coarse level, by eta-lines, from that of the eta-lines of the fine one.
pub(super) struct Galerkin<'a, M> {
    fine: &'a LineSet<M>,
    /// Eta-lines of the coarse level.
    lines: usize,
    coarsen_eta: bool,
    /// The operator of a point of no lines.
    absent: Vec<Lane<M>>,
}

/// A panel of [`Galerkin`], and fine rows that are coarsened along xi: row k in place k mod 3.
pub(super) struct Coarsened<M> {
    colour: usize,
    panel: usize,
    rows: [Nine<M>; 3],
    /// The first row that is not there.
    next: usize,
}

impl<M: Real> BlockSource<M> for Galerkin<'_, M> {
    type Carried = Coarsened<M>;

    #[inline(always)]
    fn begin(&self, colour: usize, panel: usize) -> Coarsened<M> {
        self.before(colour, panel, 0)
    }

    #[inline(always)]
    fn put(&self, carried: &mut Coarsened<M>, j: usize, lanes: usize, point: &mut [Lane<M>]) {
        self.blocks(carried, j).put(lanes, point);
    }
}

impl<'a, M: Real> Galerkin<'a, M> {
    /// The blocks of point j of each line of a panel, after those of the points before it.
    #[inline(always)]
    fn blocks(&self, carried: &mut Coarsened<M>, j: usize) -> Nine<M> {
        let last = if self.coarsen_eta { 2 * j + 2 } else { j };
        while carried.next <= last {
            let row = carried.next;
            self.along_xi((carried.colour, carried.panel), row, &mut carried.rows[row % 3]);
            carried.next += 1;
        }
        if !self.coarsen_eta {
            return carried.rows[j % 3];
        }
        let [before, here, after] = [0, 1, 2].map(|k| &carried.rows[(2 * j + k) % 3]);
        let mut nine = Nine::zero();
        coarsen_line((before, here, after), ALONG_ETA, &mut nine);
        nine
    }

    /// [`Self::blocks`] where the speed of the vector unit does not count: one copy of the code for all such places.
    #[inline(never)]
    fn blocks_of_point(&self, carried: &mut Coarsened<M>, j: usize) -> Nine<M> {
        self.blocks(carried, j)
    }

    pub(super) fn new(fine: &'a LineSet<M>, lines: usize, coarsen_eta: bool) -> Self {
        let absent = vec![[M::zero(); LANES]; fine.storage.width(fine.shape)];
        Self { fine, lines, coarsen_eta, absent }
    }

    /// The carried state before point j of a panel.
    #[inline(always)]
    fn before(&self, colour: usize, panel: usize, j: usize) -> Coarsened<M> {
        let next = if self.coarsen_eta { 2 * j } else { j };
        Coarsened { colour, panel, rows: [Nine::zero(); 3], next }
    }

    /// The traces of the blocks for a neighbour of point j of all lines, by its place in [`Nine`].
    pub(super) fn traces(&self, j: usize, neighbour: usize) -> Vec<M> {
        let mut traces = vec![M::zero(); self.lines];
        for colour in 0..2 {
            let mut of_colour = traces.iter_mut().skip(colour).step_by(2);
            for panel in 0..self.lines.div_ceil(2 * LANES) {
                let blocks = self.blocks_of_point(&mut self.before(colour, panel, j), j);
                let [xx, _, _, yy] = blocks.0[neighbour];
                let sums = xx.iter().zip(&yy).map(|(xx, yy)| *xx + *yy);
                of_colour.by_ref().take(LANES).zip(sums).for_each(|(to, trace)| *to = trace);
            }
        }
        traces
    }

    /// The traces of the blocks for a neighbour of the first `points` points of a line, by its place in [`Nine`].
    pub(super) fn traces_along(&self, line: usize, points: usize, neighbour: usize) -> Vec<M> {
        let lane = line / 2 % LANES;
        let mut carried = self.before(line % 2, line / 2 / LANES, 0);
        let trace = |j| {
            let [xx, _, _, yy] = self.blocks_of_point(&mut carried, j).0[neighbour];
            xx[lane] + yy[lane]
        };
        (0..points).map(trace).collect()
    }

    /// Fine row j coarsened along xi; zero outside the level. Coarse line L takes from fine lines 2L, 2L + 1 and
    /// 2L + 2.
    #[inline(always)]
    fn along_xi(&self, (colour, panel): (usize, usize), j: usize, to: &mut Nine<M>) {
        if j >= self.fine.shape.along {
            *to = Nine::zero();
            return;
        }
        match (self.fine.storage, colour) {
            (Storage::TenNumbers { .. }, 0) => self.along::<0, 1, true>(panel, j, to),
            (Storage::TenNumbers { .. }, _) => self.along::<1, 2, true>(panel, j, to),
            (Storage::Full, 0) => self.along::<0, 1, false>(panel, j, to),
            (Storage::Full, _) => self.along::<1, 2, false>(panel, j, to),
        }
    }

    /// [`Self::along_xi`] for coarse lines of colour `COLOUR`; `AFTER` is `COLOUR` + 1.
    #[inline(always)]
    fn along<const COLOUR: usize, const AFTER: usize, const TEN: bool>(
        &self,
        panel: usize,
        j: usize,
        to: &mut Nine<M>,
    ) {
        let fine = |colour: usize| -> [&[Lane<M>]; 3] {
            let panel =
                |k: usize| self.fine.panel_at(colour, 2 * panel + k, j).unwrap_or(&self.absent);
            [panel(0), panel(1), panel(2)]
        };
        let (even, odd) = (fine(0), fine(1));
        let before = EveryOtherRow::<M, COLOUR, TEN>::new(even, self.fine.shape, (0, panel, j));
        let here = EveryOtherRow::<M, COLOUR, TEN>::new(odd, self.fine.shape, (1, panel, j));
        // Around a ring the last line takes from the first one, which so follows those of its colour.
        let (mut following, mut around) = (even, Vec::new());
        let last = self.lines - 1;
        if self.fine.shape.ring && (last % 2, last / 2 / LANES) == (COLOUR, panel) {
            let (nth, lane) = ((last + 1) / LANES - 2 * panel, (last + 1) % LANES);
            around.extend_from_slice(even[nth]);
            let first = self.fine.panel_at(0, 0, j).unwrap_or(&self.absent);
            around.iter_mut().zip(first).for_each(|(to, from)| to[lane] = from[0]);
            following[nth] = &around;
        }
        let after = EveryOtherRow::<M, AFTER, TEN>::new(following, self.fine.shape, (0, panel, j));
        coarsen_line((&before, &here, &after), ALONG_XI, to);
    }
}

/// Places of the corners of [`Nine`] in [`EveryOtherRow::corners`].
const CORNERS: [usize; 9] = [0, 0, 1, 0, 0, 0, 2, 0, 3];

/// Blocks of a point of each of some lines.
trait PointBlocks<M> {
    /// Entry `k` of the blocks for a neighbour, by its place in [`Nine`].
    fn entry(&self, neighbour: usize, k: usize) -> Lane<M>;
}

impl<M: Real> PointBlocks<M> for Nine<M> {
    #[inline(always)]
    fn entry(&self, neighbour: usize, k: usize) -> Lane<M> {
        self.0[neighbour][k]
    }
}

/// The operator at a point of every other line of a colour, from line `FROM` of a panel on.
struct EveryOtherRow<'a, M, const FROM: usize, const TEN: bool> {
    panels: [&'a [Lane<M>]; 3],
    /// ±d of ten numbers for the neighbours at the corners.
    corners: [Lane<M>; 4],
    /// The blocks of W, E, S and N from ten numbers.
    faces: [[Lane<M>; 4]; 4],
    /// Their centre.
    centre: Lane<M>,
}

impl<'a, M: Real, const FROM: usize, const TEN: bool> EveryOtherRow<'a, M, FROM, TEN> {
    /// At point j of the lines in these panels, the first of which has the lines from coarse panel `panel` on.
    #[inline(always)]
    fn new(
        panels: [&'a [Lane<M>]; 3],
        shape: PanelShape,
        (colour, panel, j): (usize, usize, usize),
    ) -> Self {
        let zero = [M::zero(); LANES];
        let (corners, faces, centre) = ([zero; 4], [[zero; 4]; 4], zero);
        let mut row = Self { panels, corners, faces, centre };
        if TEN {
            let numbers: [Lane<M>; 10] = std::array::from_fn(|at| row.lane(at));
            let (prev, next) = (j > 0, j + 1 < shape.along);
            let [g11, g22] = Storage::couplings(false, &numbers);
            let [_, _, x0, x1, x2, x3, y0, y1, y2, y3] = numbers;
            let slopes = [[x0, x1, x2, x3], [y0, y1, y2, y3]];
            for (end, there) in [(0, prev), (1, next)] {
                row.faces[end] = half_difference(&g22, &slopes[0], end);
                if there {
                    row.faces[2 + end] = half_difference(&g11, &slopes[1], end);
                }
            }
            let d = numbers[1];
            for k in 0..LANES {
                // Around a ring the lane behind the last line has the first one.
                let line = 2 * (2 * panel * LANES + FROM + 2 * k) + colour;
                let there = line < shape.across + usize::from(shape.ring);
                let left = there && (shape.ring || line > 0);
                let right = there && (shape.ring || line + 1 < shape.across);
                for (corner, present, d) in [
                    (0, prev && left, d[k]),
                    (1, prev && right, -d[k]),
                    (2, next && left, -d[k]),
                    (3, next && right, d[k]),
                ] {
                    row.corners[corner][k] = if present { d } else { M::zero() };
                }
                for (face, present) in [left, right, there, there].into_iter().enumerate() {
                    for entry in &mut row.faces[face] {
                        entry[k] = if present { entry[k] } else { M::zero() };
                    }
                }
                row.centre[k] = if there { -M::one() } else { M::zero() };
            }
        }
        row
    }

    #[inline(always)]
    fn lane(&self, at: usize) -> Lane<M> {
        let panels = [self.panels[0][at], self.panels[1][at], self.panels[2][at]];
        std::array::from_fn(|k| panels[(FROM + 2 * k) / LANES][(FROM + 2 * k) % LANES])
    }
}

impl<M: Real, const FROM: usize, const TEN: bool> PointBlocks<M>
    for EveryOtherRow<'_, M, FROM, TEN>
{
    #[inline(always)]
    fn entry(&self, neighbour: usize, k: usize) -> Lane<M> {
        if !TEN {
            return self.lane(4 * PLACES[neighbour] + k);
        }
        match (neighbour, k) {
            (3, _) => self.faces[0][k],
            (5, _) => self.faces[1][k],
            (1, _) => self.faces[2][k],
            (7, _) => self.faces[3][k],
            (_, 1 | 2) => [M::zero(); LANES],
            (4, _) => self.centre,
            (corner, _) => self.corners[CORNERS[corner]],
        }
    }
}

/// Triples of blocks along xi, by rising eta offset.
const ALONG_XI: [[usize; 3]; 3] = [[0, 1, 2], [3, 4, 5], [6, 7, 8]];
/// Triples of blocks along eta, by rising xi offset.
const ALONG_ETA: [[usize; 3]; 3] = [[0, 3, 6], [1, 4, 7], [2, 5, 8]];

/// One dimension of R A P with P = (½ 1 ½), R = (¼ ½ ¼), at the fine points f − 1, f, f + 1 with
/// blocks w, c, e along the dimension (theory eq. 12):
///
/// C = ½ (c₀ + ½ w₀ + ½ e₀) + ¼ (w₊ + ½ c₊) + ¼ (e₋ + ½ c₋),
/// E = ¼ e₀ + ¼ (e₊ + ½ c₊),  W = ¼ w₀ + ¼ (w₋ + ½ c₋).
#[inline(always)]
fn coarsen_line<M: Real>(
    (minus, zero, plus): (&impl PointBlocks<M>, &impl PointBlocks<M>, &impl PointBlocks<M>),
    triples: [[usize; 3]; 3],
    coarse: &mut Nine<M>,
) {
    let (half, quarter) = (M::narrow(0.5), M::narrow(0.25));
    for [w, c, e] in triples {
        for k in 0..4 {
            let [wm, cm, em] = [minus.entry(w, k), minus.entry(c, k), minus.entry(e, k)];
            let [w0, c0, e0] = [zero.entry(w, k), zero.entry(c, k), zero.entry(e, k)];
            let [wp, cp, ep] = [plus.entry(w, k), plus.entry(c, k), plus.entry(e, k)];
            for l in 0..LANES {
                coarse.0[c][k][l] = half * (c0[l] + half * (w0[l] + e0[l]))
                    + quarter * (wp[l] + half * cp[l])
                    + quarter * (em[l] + half * cm[l]);
                coarse.0[e][k][l] = quarter * (e0[l] + ep[l] + half * cp[l]);
                coarse.0[w][k][l] = quarter * (w0[l] + wm[l] + half * cm[l]);
            }
        }
    }
}
