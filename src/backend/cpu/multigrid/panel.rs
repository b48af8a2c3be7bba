//! How the points of lines are stored for the vector unit.
//!
//! A line set holds the points of a level by lines of one direction ("along") and colour: line
//! `a` across has colour a mod 2 and number m = a div 2 within it. Lines are kept in panels of
//! [`LANES`] lines of one colour, `[panel][point along][component][lane]`, so that a panel's line
//! solves run in lockstep with unit stride, one stream of memory feeds each sweep, and panels are
//! disjoint slices for the threads. Lanes beyond the last line hold zero everywhere.

use crate::backend::Real;

/// Lines that are solved in lockstep.
pub(super) const LANES: usize = 8;

pub(super) type Lane<M> = [M; LANES];

/// Points that one task takes at least.
const PARALLEL: usize = 4096;

/// How the operator is stored at each point, in lanes.
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
    pub(super) fn width(self, shape: Shape) -> usize {
        let [_, _, _, inverse] = self.line_blocks();
        inverse + if shape.closed || shape.wall == WallPlace::Start { 8 } else { 4 }
    }

    /// Writes the blocks of one lane of a point; its pivot follows in [`super::factor::Factor`].
    pub(super) fn put<M: Real>(self, point: &mut [Lane<M>], lane: usize, blocks: &Nine<M>) {
        let mut rest = point.iter_mut();
        let mut put = |values: &[M]| {
            for (value, to) in values.iter().zip(rest.by_ref()) {
                to[lane] = *value;
            }
        };
        let in_order = STORED.map(|at| &blocks.0[at]);
        match self {
            Self::Compact => {
                let [left, right, left_prev, right_prev, left_next, right_next, prev, next, centre] =
                    in_order;
                // At the rim some corners are absent and zero.
                let corners = [right_next[0], left_prev[0], -right_prev[0], -left_next[0]];
                let d = corners.into_iter().find(|d| *d != M::zero()).unwrap_or(M::zero());
                for values in [&left[..], right, &[d], prev, next, &centre[..1]] {
                    put(values);
                }
            }
            Self::Full => in_order.iter().for_each(|block| put(&block[..])),
        }
    }

    /// Where the blocks of the line itself start: prev, next, centre, inverse.
    #[inline(always)]
    pub(super) fn line_blocks(self) -> [usize; 4] {
        match self {
            Self::Compact => [9, 13, 17, 18],
            Self::Full => [24, 28, 32, 36],
        }
    }
}

/// The 2×2 blocks of a point, row-major, by neighbour: left-prev, prev, right-prev, left, centre, right,
/// left-next, next, right-next, where `prev` and `next` are along the line and `left` and `right` across
/// it. For an eta-line these are SW S SE W C E NW N NE.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Nine<M>(pub(super) [[M; 4]; 9]);

/// Blocks of [`Nine`] as [`Storage::Full`] has them.
pub(super) const STORED: [usize; 9] = [3, 5, 0, 2, 6, 8, 1, 7, 4];

impl<M: Copy> Nine<M> {
    /// The blocks for a line of the other direction through the point.
    pub(super) fn transposed(&self) -> Self {
        Self(std::array::from_fn(|k| self.0[3 * (k % 3) + k / 3]))
    }
}

/// Where a set of lines has the first row of points, if wall terms are unknown in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WallPlace {
    /// The first row is like the others.
    Nowhere,
    /// At the first point of every line, whose place the wall terms of that line take.
    Start,
    /// On the first line, which is not solved.
    Line,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) along: usize,
    pub(super) across: usize,
    /// Whether a line's last point neighbours its first.
    pub(super) closed: bool,
    /// Whether the last line neighbours the first; their number is even then.
    pub(super) ring: bool,
    pub(super) wall: WallPlace,
    /// Whether the equations are transposed: the first row has unknowns like the others, and the sums
    /// along the lines that the columns of the wall terms give are its equations.
    pub(super) transposed: bool,
}

impl Shape {
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
