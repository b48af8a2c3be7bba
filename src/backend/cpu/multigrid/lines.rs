//! The lines of one direction with their operator, right side and solution; and the sources of the operator, panel by
//! panel: their interface, and the Jacobian as one of them.

use super::factor::{Factor, Guard};
use super::panel::{LANES, Lane, Nine, PanelShape, Storage, WallSet};
use super::sweep::{ColourLines, PanelWork, Sweep};
use crate::backend::Real;
use crate::backend::cpu::EllMatrix;
use crate::backend::multigrid::LevelSize;
use crate::simd::{self, Kernel};
use crate::sparse::{STENCIL, TEN_SLOTS};
use rayon::prelude::*;

/// Operator, right side and solution of a level, by lines of one direction.
#[derive(Debug)]
pub(super) struct LineSet<M> {
    pub(super) shape: PanelShape,
    pub(super) storage: Storage,
    operator: [Vec<M>; 2],
    pub(super) u: [Vec<M>; 2],
    pub(super) f: [Vec<M>; 2],
    /// The wall terms of bordered lines: `[panel][end][component][lane]`.
    pub(super) terms: [Vec<M>; 2],
}

/// Fills the operator of a panel: (colour, panel, number of its lines, operator).
type PanelFill<'f, M> = dyn Fn(usize, usize, usize, &mut [M]) + Sync + 'f;

impl<M: Real> LineSet<M> {
    pub(super) fn new(shape: PanelShape, storage: Storage) -> Self {
        let operator = shape.room(storage.width(shape));
        let terms = PanelShape { along: 1, ..shape }.room(4);
        Self { shape, storage, operator, u: shape.room(2), f: shape.room(2), terms }
    }

    /// Takes the operator from `blocks` and factors the lines: pivots D_l = C_l − P_l D_{l−1}⁻¹ N_{l−1}, kept as
    /// D⁻¹. Bordered lines take their wall columns from `column(end, line, point along)`. Returns whether all
    /// pivots are finite.
    pub(super) fn fill(
        &mut self,
        blocks: &impl BlockSource<M>,
        column: impl Fn(usize, usize, usize) -> [M; 4] + Sync,
        guards: [Guard; 2],
    ) -> bool {
        let width = self.storage.width(self.shape);
        self.factor(&column, guards, &|colour, panel, lanes, operator| {
            simd::run(Fill { blocks, colour, panel, lanes, width, operator });
        })
    }

    /// Fills the lines with the operator of the lines of the other direction.
    pub(super) fn fill_across(
        &mut self,
        lines: &Self,
        column: impl Fn(usize, usize, usize) -> [M; 4] + Sync,
        guards: [Guard; 2],
    ) -> bool {
        let shape = self.shape;
        self.factor(&column, guards, &|colour, panel, lanes, operator| {
            simd::run(Across { lines, shape, colour, panel, lanes, operator });
        })
    }

    /// Factors the lines of all panels after `fill(colour, panel, lanes, operator)` of each.
    fn factor(
        &mut self,
        column: &(dyn Fn(usize, usize, usize) -> [M; 4] + Sync),
        guards: [Guard; 2],
        fill: &PanelFill<'_, M>,
    ) -> bool {
        let (shape, storage) = (self.shape, self.storage);
        let width = storage.width(shape);
        let inverse = storage.inverse();
        let panel_len = shape.along * width * LANES;
        let factor = |colour: usize, panel: usize, operator: &mut [M]| {
            let lanes = LANES.min(shape.lines(colour) - panel * LANES);
            fill(colour, panel, lanes, operator);
            let line = |lane: usize| 2 * (panel * LANES + lane) + colour;
            for end in (0..2).filter(|&end| shape.borders[end]) {
                let points = operator.as_chunks_mut::<LANES>().0.chunks_mut(width);
                for (l, point) in points.enumerate() {
                    for lane in 0..lanes {
                        let to = point[shape.border(inverse, end)..].iter_mut();
                        to.zip(column(end, line(lane), l)).for_each(|(to, b)| to[lane] = b);
                    }
                }
            }
            let first = usize::from(shape.holds(line(0)));
            let lanes = first..lanes - usize::from(lanes > first && shape.holds(line(lanes - 1)));
            let mut finite = true;
            simd::run(Factor { operator, storage, shape, lanes, guards, finite: &mut finite });
            finite
        };
        // Panels of both colours in turn: they are filled from the same points, which are in the cache then.
        let mut panels = Vec::new();
        for (colour, operator) in self.operator.iter_mut().enumerate() {
            let own = operator.chunks_mut(panel_len).enumerate();
            panels.extend(own.map(|(panel, operator)| (panel, colour, operator)));
        }
        panels.sort_by_key(|(panel, colour, _)| (*panel, *colour));
        panels
            .into_par_iter()
            .map(|(panel, colour, operator)| factor(colour, panel, operator))
            .reduce(|| true, |a, b| a && b)
    }

    /// The operator at a point of the lines of a panel, where there is one.
    #[inline(always)]
    pub(super) fn panel_at(&self, colour: usize, panel: usize, point: usize) -> Option<&[Lane<M>]> {
        let width = self.storage.width(self.shape);
        let start = (panel * self.shape.along + point) * width;
        self.operator[colour].as_chunks::<LANES>().0.get(start..start + width)
    }

    /// The block of a point of a line whose first lane has this place in the operator.
    pub(super) fn block(&self, line: usize, point: usize, at: usize) -> [M; 4] {
        let (colour, first) = self.shape.place(line, point, self.storage.width(self.shape));
        [0, 1, 2, 3].map(|entry| self.operator[colour][first + (at + entry) * LANES])
    }

    /// One zebra sweep: solves the lines of `first`, then those of the other colour, and bordered ones for
    /// their wall terms. `walls` are the other wall columns.
    pub(super) fn relax(&mut self, first: usize, walls: &WallSet<'_, M>) {
        for colour in [first, 1 - first] {
            self.relax_colour(colour, walls);
        }
    }

    /// Half of [`Self::relax`]: the lines of one colour.
    pub(super) fn relax_colour(&mut self, colour: usize, walls: &WallSet<'_, M>) {
        let Self { shape, storage, operator, u, f, terms } = self;
        let (shape, storage) = (*shape, *storage);
        let [even, odd] = &mut *u;
        let (own, beside) = if colour == 0 { (even, odd) } else { (odd, even) };
        let (operator, f) = (&operator[colour], &f[colour]);
        let lines = &ColourLines { colour, shape, storage, operator, f, walls, beside };
        own.par_chunks_mut(shape.panel_len())
            .zip(terms[colour].par_chunks_mut(4 * LANES))
            .with_min_len(shape.panels_together())
            .enumerate()
            .for_each(|(panel, (u, terms))| {
                simd::run(Sweep { lines, panel, work: PanelWork::Relax { u, terms } });
            });
    }

    /// r ← f − A u − B d on the lines of one colour, in the layout of its pairs.
    pub(super) fn residual(&self, colour: usize, walls: &WallSet<'_, M>, r: &mut [M]) {
        let Self { shape, storage, operator, u, f, .. } = self;
        let (shape, storage, beside) = (*shape, *storage, &u[1 - colour]);
        let (operator, f) = (&operator[colour], &f[colour]);
        let lines = &ColourLines { colour, shape, storage, operator, f, walls, beside };
        r.par_chunks_mut(shape.panel_len())
            .zip(u[colour].par_chunks(shape.panel_len()))
            .with_min_len(shape.panels_together())
            .enumerate()
            .for_each(|(panel, (r, u))| {
                simd::run(Sweep { lines, panel, work: PanelWork::Residual { u, r } });
            });
    }
}

/// The operator of one panel from that of the lines of the other direction.
struct Across<'a, M> {
    lines: &'a LineSet<M>,
    shape: PanelShape,
    colour: usize,
    panel: usize,
    lanes: usize,
    operator: &'a mut [M],
}

impl<M: Real> Kernel for Across<'_, M> {
    #[inline(always)]
    fn run(self) {
        let Self { lines, shape, colour, panel, lanes, operator } = self;
        let (storage, across) = (lines.storage, lines.shape);
        let width = storage.width(shape);
        let to = operator.as_chunks_mut::<LANES>().0;
        // Their lines are points of these.
        for from_colour in 0..2 {
            for from_panel in 0..across.lines(from_colour).div_ceil(LANES) {
                let points = LANES.min(across.lines(from_colour) - from_panel * LANES);
                let row = |k: usize| {
                    let line = 2 * (panel * LANES + k) + colour;
                    lines.panel_at(from_colour, from_panel, line).filter(|_| k < lanes)
                };
                let from: [Option<&[Lane<M>]>; LANES] = std::array::from_fn(row);
                for (at, &from_at) in storage.across().iter().enumerate() {
                    // Lanes without a line have no couplings beside it: g22 is a half there.
                    let of_none = match storage {
                        Storage::TenNumbers { .. } if at == 0 => M::narrow(0.5),
                        _ => M::zero(),
                    };
                    let rows = from.map(|row| row.map_or([of_none; LANES], |row| row[from_at]));
                    let columns: [Lane<M>; LANES] =
                        std::array::from_fn(|m| std::array::from_fn(|k| rows[k][m]));
                    for (m, column) in columns[..points].iter().enumerate() {
                        to[(2 * (from_panel * LANES + m) + from_colour) * width + at] = *column;
                    }
                }
            }
        }
    }
}

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
struct Fill<'a, M, S> {
    blocks: &'a S,
    colour: usize,
    panel: usize,
    lanes: usize,
    width: usize,
    operator: &'a mut [M],
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
