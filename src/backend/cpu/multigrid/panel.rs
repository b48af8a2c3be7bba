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

/// One value a lane.
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
    pub(super) fn put<M: Real>(self, point: &mut [Lane<M>], lane: usize, blocks: &PointBlocks<M>) {
        let mut rest = point.iter_mut();
        let mut put = |values: &[M]| {
            for (value, to) in values.iter().zip(rest.by_ref()) {
                to[lane] = *value;
            }
        };
        let b = blocks;
        match self {
            Self::Compact => {
                // At the rim some corners are absent and zero.
                let corners = [b.right_next[0], b.left_prev[0], -b.right_prev[0], -b.left_next[0]];
                let d = corners.into_iter().find(|d| *d != M::zero()).unwrap_or(M::zero());
                for values in [&b.left[..], &b.right, &[d], &b.prev, &b.next] {
                    put(values);
                }
                put(&b.centre[..1]);
            }
            Self::Full => {
                let corners = [&b.left_prev, &b.right_prev, &b.left_next, &b.right_next];
                for values in [&b.left, &b.right].into_iter().chain(corners) {
                    put(values);
                }
                for values in [&b.prev, &b.next, &b.centre] {
                    put(values);
                }
            }
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

/// The 2×2 blocks of a point, row-major, named by direction: `prev` and `next` along the line,
/// `left` and `right` across, the corners by both.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PointBlocks<M> {
    pub(super) left: [M; 4],
    pub(super) right: [M; 4],
    pub(super) left_prev: [M; 4],
    pub(super) right_prev: [M; 4],
    pub(super) left_next: [M; 4],
    pub(super) right_next: [M; 4],
    pub(super) prev: [M; 4],
    pub(super) next: [M; 4],
    pub(super) centre: [M; 4],
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

/// Number and kind of the lines of a set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Points along a line.
    pub(super) along: usize,
    /// Lines.
    pub(super) across: usize,
    /// Whether a line's last point neighbours its first.
    pub(super) closed: bool,
    /// Whether the last line neighbours the first; their number is even then.
    pub(super) ring: bool,
    /// Where the wall terms stand.
    pub(super) wall: WallPlace,
}

impl Shape {
    /// Lines of a colour.
    pub(super) fn lines(&self, colour: usize) -> usize {
        (self.across + 1 - colour) / 2
    }

    /// Values that a panel of pairs holds.
    pub(super) fn panel_len(&self) -> usize {
        self.along * 2 * LANES
    }

    /// Panels that one task takes at least: threads cost more than they give on small levels.
    pub(super) fn panels_together(&self) -> usize {
        PARALLEL / (self.along * LANES) + 1
    }

    /// The point before `l`, if there is one.
    #[inline(always)]
    pub(super) fn prev(&self, l: usize) -> Option<usize> {
        if l > 0 { Some(l - 1) } else { self.closed.then(|| self.along - 1) }
    }

    /// The point after `l`, if there is one.
    #[inline(always)]
    pub(super) fn next(&self, l: usize) -> Option<usize> {
        if l + 1 < self.along { Some(l + 1) } else { self.closed.then_some(0) }
    }
}
