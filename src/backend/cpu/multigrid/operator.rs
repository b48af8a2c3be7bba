//! Operators of the levels, panel by panel: the interface, and that of the Jacobian.

use super::panel::{LANES, Lane, Nine, Storage};
use crate::backend::Real;
use crate::backend::cpu::EllMatrix;
use crate::backend::multigrid::LevelSize;
use crate::simd::Kernel;
use crate::sparse::{STENCIL, TEN_SLOTS};

/// A source of the operator of a set of lines, panel by panel.
pub(super) trait BlockSource<M>: Sync {
    /// Data that pass from point to point of a panel.
    type Carried;
    /// Makes the data for the first point of a panel.
    fn begin(&self, colour: usize, panel: usize) -> Self::Carried;
    /// Writes the operator of point `l` of the first `lanes` lines; those of the points before it are written by then.
    /// The other lanes get the values that the storage prescribes where there is no line.
    fn put(&self, carried: &mut Self::Carried, l: usize, lanes: usize, point: &mut [Lane<M>]);
}

/// The operator of one panel from `blocks`.
pub(super) struct Fill<'a, M, S> {
    pub(super) blocks: &'a S,
    pub(super) colour: usize,
    pub(super) panel: usize,
    pub(super) lanes: usize,
    pub(super) width: usize,
    pub(super) operator: &'a mut [M],
}

impl<M: Real, S: BlockSource<M>> Kernel for Fill<'_, M, S> {
    #[inline(always)]
    fn run(self) {
        let Self { blocks, colour, panel, lanes, width, operator } = self;
        let mut carried = blocks.begin(colour, panel);
        let points = operator.as_chunks_mut::<LANES>().0.chunks_exact_mut(width);
        for (l, point) in points.enumerate() {
            blocks.put(&mut carried, l, lanes, point);
        }
    }
}

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

/// The operator of the finest level, by eta-lines, from a matrix of the grid equations that is stored in the same way;
/// couplings across a periodic seam are dropped where the level does not wrap.
pub(super) struct FromMatrix<'a, T> {
    pub(super) a: &'a EllMatrix<T>,
    pub(super) size: LevelSize,
    pub(super) storage: Storage,
}

/// Values of a slot from those of the first line's point on to those of the last one's: lines are every other point.
const WINDOW: usize = 4 * LANES - 2;

/// The first lanes of `to` ← a variable of every other point of a slot, of as many as `from` has, at most a window.
#[inline(always)]
fn every_other_point<T: Real, M: Real>(from: &[T], variable: usize, to: &mut Lane<M>) {
    if let Some(from) = from.first_chunk::<WINDOW>() {
        for lane in 0..LANES {
            to[lane] = M::narrow(from[4 * lane + variable].widen());
        }
    } else {
        for lane in 0..from.len().div_ceil(4) {
            to[lane] = M::narrow(from[4 * lane + variable].widen());
        }
    }
}

impl<T: Real, M: Real> BlockSource<M> for FromMatrix<'_, T> {
    /// The first line.
    type Carried = usize;

    #[inline(always)]
    fn begin(&self, colour: usize, panel: usize) -> usize {
        2 * panel * LANES + colour
    }

    #[inline(always)]
    fn put(&self, first: &mut usize, j: usize, lanes: usize, point: &mut [Lane<M>]) {
        match self.storage {
            Storage::TenNumbers { .. } => self.put_numbers(*first, j, lanes, point),
            Storage::Full => self.put_blocks(*first, j, lanes, point),
        }
    }
}

/// The lanes of a point that the rows of x and y of a slot of ten numbers go to.
const TEN: [[usize; 2]; TEN_SLOTS] = [[0, 1], [2, 5], [3, 4], [6, 9], [7, 8]];

impl<T: Real> FromMatrix<'_, T> {
    #[inline(always)]
    fn put_numbers<M: Real>(&self, first: usize, j: usize, lanes: usize, point: &mut [Lane<M>]) {
        let (n, mi) = (self.a.pattern().rows(), self.size.mi);
        let count = WINDOW.min(2 * (mi - first));
        for (slot, to) in TEN.into_iter().enumerate() {
            let from = &self.a.values()[slot * n + 2 * (j * mi + first)..][..count];
            for (variable, to) in to.into_iter().enumerate() {
                every_other_point(from, variable, &mut point[to]);
                point[to][lanes..].fill(M::zero());
            }
        }
    }

    #[inline(always)]
    fn put_blocks<M: Real>(&self, first: usize, j: usize, lanes: usize, point: &mut [Lane<M>]) {
        let LevelSize { mi, mj, .. } = self.size;
        let rows = [j > 0, true, j + 1 < mj];
        let (n, values) = (self.a.pattern().rows(), self.a.values());
        let start = 2 * (j * mi + first);
        let count = WINDOW.min(2 * (mi - first));
        let mut nine = Nine::zero();
        let mut slot = start;
        for (compass, other) in ENTRIES {
            if !rows[compass / 3] {
                continue;
            }
            let from = &values[slot..slot + count];
            for variable in 0..2 {
                let column = if other { 1 - variable } else { variable };
                let to = &mut nine.0[compass][2 * variable + column];
                every_other_point(from, variable, to);
            }
            slot += n;
        }
        // At the ends of a row entries are missing, or dropped.
        for i in [0, mi - 1] {
            if i >= first && (i - first).is_multiple_of(2) && (i - first) / 2 < LANES {
                nine.set((i - first) / 2, &self.of_point(i, j));
            }
        }
        nine.put(lanes, point);
    }

    /// Blocks of unknown point (i, j).
    fn of_point<M: Real>(&self, i: usize, j: usize) -> [[M; 4]; 9] {
        let Self { a, size, .. } = self;
        let (west, east) = (i > 0, i + 1 < size.mi);
        let columns = [west, true, east];
        let rows = [j > 0, true, j + 1 < size.mj];
        let (n, values) = (a.pattern().rows(), a.values());
        let mut nine = [[M::zero(); 4]; 9];
        for variable in 0..2 {
            let mut at = 2 * (j * size.mi + i) + variable;
            for (compass, other) in ENTRIES {
                let here = columns[compass % 3];
                if !rows[compass / 3] || !(here || size.periodic) {
                    continue;
                }
                if here || size.wraps() {
                    let column = if other { 1 - variable } else { variable };
                    nine[compass][2 * variable + column] = M::narrow(values[at].widen());
                }
                at += n;
            }
        }
        nine
    }
}
