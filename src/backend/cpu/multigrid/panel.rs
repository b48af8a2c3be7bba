//! Storage of the points of lines for the vector unit, and of the wall terms that the lines are not solved for.
//!
//! A line set holds the points of a level by lines of one direction ("along") and colour: line
//! `a` across has colour a mod 2 and number m = a div 2 within it. Lines are kept in panels of
//! [`LANES`] lines of one colour, `[panel][point along][component][lane]`, so that a panel's line
//! solves run in lockstep with unit stride, one stream of memory feeds each sweep, and panels are
//! disjoint slices for the threads. Right side and solution are zero in the lanes beyond the last line.

use crate::backend::Real;
use crate::backend::cpu::block::{product, subtract};
use std::ops::Range;

/// Lines that are solved in lockstep.
pub(super) const LANES: usize = 8;

pub(super) type Lane<M> = [M; LANES];

/// Points that one task takes at least.
const PARALLEL: usize = 4096;

/// Storage of the operator at each point, in lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    /// Ten numbers, as on the finest level (`EllPattern::TenNumbers`): g22, d, half the difference of the blocks right
    /// and left 4, that of next and prev 4, inverse pivot 4. For lines `along_xi` next and prev are E and W, else N and S.
    /// Lanes without a line have numbers with which the couplings beside the line are zero.
    TenNumbers { along_xi: bool },
    /// All blocks: left, right, left-prev, right-prev, left-next, right-next, prev, next, centre,
    /// inverse pivot, 4 each.
    Full,
}

impl Storage {
    /// Lanes a point, those of closed or bordered lines at the end: H or V of [`super::factor::Factor`].
    #[inline(always)]
    pub(super) fn width(self, shape: PanelShape) -> usize {
        let inverse = self.inverse();
        let borders = shape.borders.iter().filter(|there| **there).count();
        inverse + 4 * (1 + usize::from(shape.closed) + borders)
    }

    /// This storage of lines of the other direction.
    pub(super) fn turned(self) -> Self {
        match self {
            Self::TenNumbers { along_xi } => Self::TenNumbers { along_xi: !along_xi },
            Self::Full => Self::Full,
        }
    }

    /// For each lane of the operator of a point, its lane in the line of the other direction through it.
    pub(super) fn across(self) -> &'static [usize] {
        match self {
            Self::TenNumbers { .. } => &ACROSS_TEN,
            Self::Full => &ACROSS_FULL,
        }
    }

    /// First lane of the inverse pivot.
    #[inline(always)]
    pub(super) fn inverse(self) -> usize {
        match self {
            Self::TenNumbers { .. } => 10,
            Self::Full => 36,
        }
    }

    /// The couplings of a point by ten numbers along the line and beside it, in one lane each.
    #[inline(always)]
    pub(super) fn couplings<M: Real>(along_xi: bool, point: &[Lane<M>]) -> [Lane<M>; 2] {
        let g11 = std::array::from_fn(|k| M::narrow(0.5) - point[0][k]);
        if along_xi { [point[0], g11] } else { [g11, point[0]] }
    }

    /// The block of the neighbour before (`end` 0) or after (1) a point in its line.
    #[inline(always)]
    pub(super) fn along<M: Real>(self, point: &[Lane<M>], end: usize) -> [Lane<M>; 4] {
        match self {
            Self::TenNumbers { along_xi } => {
                let [own, _] = Self::couplings(along_xi, point);
                let slope = [point[6], point[7], point[8], point[9]];
                half_difference(&own, &slope, end)
            }
            Self::Full => {
                let at = 24 + 4 * end;
                [point[at], point[at + 1], point[at + 2], point[at + 3]]
            }
        }
    }

    /// A u with the block of the neighbour before (`end` 0) or after (1) a point in its line.
    #[inline(always)]
    pub(super) fn product_along<M: Real>(
        self,
        point: &[Lane<M>],
        end: usize,
        u: &[Lane<M>; 2],
    ) -> [Lane<M>; 2] {
        let Self::TenNumbers { along_xi } = self else {
            return product(&point[24 + 4 * end..][..4], u);
        };
        let [own, _] = Self::couplings(along_xi, point);
        let (slope, mut scaled) = (product(&point[6..10], u), [[M::zero(); LANES]; 2]);
        for c in 0..2 {
            for k in 0..LANES {
                scaled[c][k] = own[k] * u[c][k];
            }
        }
        for c in 0..2 {
            for k in 0..LANES {
                scaled[c][k] =
                    if end == 0 { scaled[c][k] - slope[c][k] } else { scaled[c][k] + slope[c][k] };
            }
        }
        scaled
    }

    /// b ← b − A u with that block.
    #[inline(always)]
    pub(super) fn subtract_along<M: Real>(
        self,
        b: &mut [Lane<M>; 2],
        point: &[Lane<M>],
        end: usize,
        u: &[Lane<M>; 2],
    ) {
        let product = self.product_along(point, end, u);
        for c in 0..2 {
            for k in 0..LANES {
                b[c][k] -= product[c][k];
            }
        }
    }
}

/// own I ∓ slope: the block of the neighbour before (`end` 0) or after (1).
#[inline(always)]
pub(super) fn half_difference<M: Real>(
    own: &Lane<M>,
    slope: &[Lane<M>; 4],
    end: usize,
) -> [Lane<M>; 4] {
    let mut block = *slope;
    for (entry, block) in block.iter_mut().enumerate() {
        for k in 0..LANES {
            let own = if matches!(entry, 0 | 3) { own[k] } else { M::zero() };
            block[k] = if end == 0 { own - block[k] } else { own + block[k] };
        }
    }
    block
}

/// [`Storage::across`]: right and left for next and prev.
const ACROSS_TEN: [usize; 10] = [0, 1, 6, 7, 8, 9, 2, 3, 4, 5];
const ACROSS_FULL: [usize; 36] = {
    let blocks = [6, 7, 2, 4, 3, 5, 0, 1, 8];
    let mut lanes = [0; 36];
    let mut k = 0;
    while k < lanes.len() {
        lanes[k] = 4 * blocks[k / 4] + k % 4;
        k += 1;
    }
    lanes
};

/// The 2×2 blocks of a point of each line of a panel, row-major, by neighbour: left-prev, prev, right-prev, left,
/// centre, right, left-next, next, right-next, where `prev` and `next` are along the line and `left` and
/// `right` across it. For an eta-line these are SW S SE W C E NW N NE.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nine<M>(pub(super) [[Lane<M>; 4]; 9]);

/// Blocks of [`Nine`] as [`Storage::Full`] has them.
const STORED: [usize; 9] = [3, 5, 0, 2, 6, 8, 1, 7, 4];
/// Places there of the blocks of [`Nine`].
pub(super) const PLACES: [usize; 9] = [2, 6, 3, 0, 8, 1, 4, 7, 5];

impl<M: Real> Nine<M> {
    #[inline(always)]
    pub(super) fn zero() -> Self {
        Self([[[M::zero(); LANES]; 4]; 9])
    }

    /// Writes the blocks of a point of the first `lanes` lines in [`Storage::Full`], zeros in the other lanes.
    #[inline(always)]
    pub(super) fn put(&self, lanes: usize, point: &mut [Lane<M>]) {
        for (to, at) in point.chunks_exact_mut(4).zip(STORED) {
            to.copy_from_slice(&self.0[at]);
        }
        if lanes < LANES {
            point[..4 * STORED.len()].iter_mut().for_each(|lane| lane[lanes..].fill(M::zero()));
        }
    }

    /// One lane ← the blocks of a point.
    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, blocks: &[[M; 4]; 9]) {
        for (to, block) in self.0.as_flattened_mut().iter_mut().zip(blocks.as_flattened()) {
            to[lane] = *block;
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct PanelShape {
    pub(super) along: usize,
    pub(super) across: usize,
    /// Whether a line's last point neighbours its first.
    pub(super) closed: bool,
    /// Whether the last line neighbours the first; their number is even then.
    pub(super) ring: bool,
    /// Whether the first and the last point of every line are given, and the wall terms of the line take the places of
    /// their unknowns.
    pub(super) borders: [bool; 2],
    /// Whether the first and the last line are given, those along a wall.
    pub(super) held: [bool; 2],
    /// Whether the equations are transposed: the points of walls have unknowns like the others, and the sums
    /// along the lines that the columns of the wall terms give are their equations.
    pub(super) transposed: bool,
}

impl PanelShape {
    pub(super) fn lines(&self, colour: usize) -> usize {
        (self.across + 1 - colour) / 2
    }

    /// Zeros for `width` lanes a point, by colour: `[panel][point along][width][lane]`.
    pub(super) fn room<M: Real>(&self, width: usize) -> [Vec<M>; 2] {
        [0, 1].map(|colour| {
            let panels = self.lines(colour).div_ceil(LANES);
            vec![M::zero(); panels * self.along * width * LANES]
        })
    }

    /// Colour, and position of the first of the `width` lanes of (line, point along) in [`Self::room`].
    #[inline(always)]
    pub(super) fn place(&self, line: usize, point: usize, width: usize) -> (usize, usize) {
        let (colour, m) = (line % 2, line / 2);
        (colour, (m / LANES * self.along + point) * width * LANES + m % LANES)
    }

    /// Both components at a point of a line, of an array of pairs.
    #[inline(always)]
    pub(super) fn pair<M: Real>(
        &self,
        pairs: &[Vec<M>; 2],
        (line, point): (usize, usize),
    ) -> [M; 2] {
        let (colour, at) = self.place(line, point, 2);
        [pairs[colour][at], pairs[colour][at + LANES]]
    }

    /// Sets both components at a point of a line, of an array of pairs.
    pub(super) fn set_pair<M: Real>(
        &self,
        pairs: &mut [Vec<M>; 2],
        (line, point): (usize, usize),
        pair: [M; 2],
    ) {
        let (colour, at) = self.place(line, point, 2);
        [pairs[colour][at], pairs[colour][at + LANES]] = pair;
    }

    /// Whether a line is given.
    pub(super) fn holds(&self, line: usize) -> bool {
        (self.held[0] && line == 0) || (self.held[1] && line + 1 == self.across)
    }

    /// Lane of the columns of a border in the operator of a point, which starts with the inverse pivot at `inverse`.
    #[inline(always)]
    pub(super) fn border(&self, inverse: usize, end: usize) -> usize {
        inverse + 4 * (1 + usize::from(self.closed) + usize::from(end == 1 && self.borders[0]))
    }

    /// Points of a line that are solved for, of the first `open` ones.
    #[inline(always)]
    pub(super) fn inner(&self, open: usize) -> Range<usize> {
        let first = usize::from(self.borders[0]);
        first..first.max(open - usize::from(self.borders[1]))
    }

    /// Values that a panel of pairs holds.
    pub(super) fn panel_len(&self) -> usize {
        self.along * 2 * LANES
    }

    /// Panels that one task takes at least: threads cost more than they give on small levels.
    pub(super) fn panels_together(&self) -> usize {
        PARALLEL / (self.along * LANES) + 1
    }

    #[inline(always)]
    pub(super) fn prev(&self, l: usize) -> Option<usize> {
        if l > 0 { Some(l - 1) } else { self.closed.then(|| self.along - 1) }
    }

    #[inline(always)]
    pub(super) fn next(&self, l: usize) -> Option<usize> {
        if l + 1 < self.along { Some(l + 1) } else { self.closed.then_some(0) }
    }
}

/// The wall terms of up to four sides, the absent ones last.
pub(super) type WallSet<'a, M> = [Option<Walls<'a, M>>; 4];

/// Wall terms in a set, without an allocation.
pub(super) fn wall_set<'a, M>(mut walls: impl Iterator<Item = Walls<'a, M>>) -> WallSet<'a, M> {
    std::array::from_fn(|_| walls.next())
}

/// Wall columns B of a side in the layout of some lines, and the wall terms d.
pub(super) struct Walls<'a, M> {
    /// `[panel][point along][entry of the block][lane]` of each colour.
    pub(super) columns: [&'a [M]; 2],
    /// d of each point along the side.
    pub(super) terms: &'a [[M; 2]],
    pub(super) shape: PanelShape,
    /// Whether the side is along the lines: the terms change from point to point of a line.
    pub(super) along: bool,
}

#[derive(Clone, Copy)]
pub(super) struct PanelWalls<'a, M> {
    columns: &'a [[Lane<M>; 4]],
    terms: Terms<'a, M>,
}

#[derive(Clone, Copy)]
enum Terms<'a, M> {
    /// A pair for each point along, the same in all lanes.
    Along(&'a [[M; 2]]),
    /// A pair for each lane, the same at all points.
    Across([Lane<M>; 2]),
}

impl<'a, M: Real> Walls<'a, M> {
    pub(super) fn of(&self, colour: usize, panel: usize) -> PanelWalls<'a, M> {
        let (along, length) = (self.shape.along, self.shape.along * 4 * LANES);
        let columns = &self.columns[colour][panel * length..][..length];
        let terms = if self.along {
            Terms::Along(&self.terms[..along])
        } else {
            let line = |lane: usize| self.terms.get(2 * (panel * LANES + lane) + colour);
            Terms::Across([0, 1].map(|component| {
                std::array::from_fn(|lane| line(lane).map_or(M::zero(), |pair| pair[component]))
            }))
        };
        PanelWalls { columns: columns.as_chunks::<LANES>().0.as_chunks::<4>().0, terms }
    }
}

impl<M: Real> PanelWalls<'_, M> {
    /// b ← b − B d at point `l`.
    #[inline(always)]
    pub(super) fn subtract_from(&self, b: &mut [Lane<M>; 2], l: usize) {
        let d = match self.terms {
            Terms::Along(pairs) => pairs[l].map(|value| [value; LANES]),
            Terms::Across(lanes) => lanes,
        };
        subtract(b, &self.columns[l], &d);
    }
}
