//! Storage of the points of lines for the vector unit.
//!
//! A line set holds the points of a level by lines of one direction ("along") and colour: line
//! `a` across has colour a mod 2 and number m = a div 2 within it. Lines are kept in panels of
//! [`LANES`] lines of one colour, `[panel][point along][component][lane]`, so that a panel's line
//! solves run in lockstep with unit stride, one stream of memory feeds each sweep, and panels are
//! disjoint slices for the threads. Lanes beyond the last line hold zero everywhere.

use crate::backend::Real;
use std::ops::Range;

/// Lines that are solved in lockstep.
pub(super) const LANES: usize = 8;

pub(super) type Lane<M> = [M; LANES];

/// Points that one task takes at least.
const PARALLEL: usize = 4096;

/// Storage of the operator at each point, in lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    /// Four off-line corner blocks are ±d I and the centre is c I, as on the finest level:
    /// left 4, right 4, d, prev 4, next 4, c, inverse pivot 4.
    Compact,
    /// All blocks: left, right, left-prev, right-prev, left-next, right-next, prev, next, centre,
    /// inverse pivot, 4 each.
    Full,
}

impl Storage {
    /// Lanes a point, those of closed or bordered lines at the end: H or V of [`super::factor::Factor`].
    #[inline(always)]
    pub(super) fn width(self, shape: PanelShape) -> usize {
        let [_, _, _, inverse] = self.line_blocks();
        let borders = shape.borders.iter().filter(|there| **there).count();
        inverse + 4 * (1 + usize::from(shape.closed) + borders)
    }

    /// Writes the blocks of a point of each line; its pivot follows in [`super::factor::Factor`].
    #[inline(always)]
    pub(super) fn put<M: Real>(self, point: &mut [Lane<M>], blocks: &Nine<M>) {
        let in_order = STORED.map(|at| &blocks.0[at]);
        match self {
            Self::Compact => {
                let [left, right, left_prev, right_prev, left_next, right_next, prev, next, centre] =
                    in_order;
                // At the rim some corners are absent and zero.
                let zero = M::zero();
                let d = std::array::from_fn(|k| {
                    let corners = [right_next, left_prev, right_prev, left_next];
                    let [first, second, third, fourth] = corners.map(|corner| corner[0][k]);
                    if first != zero {
                        first
                    } else if second != zero {
                        second
                    } else if third != zero {
                        -third
                    } else {
                        zero - fourth
                    }
                });
                point[..4].copy_from_slice(left);
                point[4..8].copy_from_slice(right);
                point[8] = d;
                point[9..13].copy_from_slice(prev);
                point[13..17].copy_from_slice(next);
                point[17] = centre[0];
            }
            Self::Full => {
                for (to, block) in point.chunks_exact_mut(4).zip(in_order) {
                    to.copy_from_slice(block);
                }
            }
        }
    }

    /// For each lane of the operator of a point, its lane in the line of the other direction through it.
    pub(super) fn across(self) -> &'static [usize] {
        match self {
            Self::Compact => &ACROSS_COMPACT,
            Self::Full => &ACROSS_FULL,
        }
    }

    /// First lanes of the blocks of the line itself: prev, next, centre, inverse.
    #[inline(always)]
    pub(super) fn line_blocks(self) -> [usize; 4] {
        match self {
            Self::Compact => [9, 13, 17, 18],
            Self::Full => [24, 28, 32, 36],
        }
    }
}

/// [`Storage::across`]: left and right for prev and next.
const ACROSS_COMPACT: [usize; 18] = [9, 10, 11, 12, 13, 14, 15, 16, 8, 0, 1, 2, 3, 4, 5, 6, 7, 17];
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
