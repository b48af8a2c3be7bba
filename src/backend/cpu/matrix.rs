//! ELL matrices of the CPU backend, and products with them.

use super::csr::{CsrFactors, Entries, Jacobi};
use super::{CpuBackend, CsrMatrix};
use crate::backend::error::check_length;
use crate::backend::matrices::{Identity, OfEntries, check_product, entries_of_ten_numbers};
use crate::backend::{
    Algebraic, BadPivot, DeviceError, Incomplete, LevelSize, LinearOperator, MatrixFormat,
    Preconditioner, PreconditionerFailure, Product, Real, Result, SparseBackend, SparseMatrix,
};
use crate::simd::{self, Kernel};
use crate::sparse::{Csr, EllPattern, STENCIL, Schedule, TEN_SLOTS, WalledSides};
use rayon::prelude::*;

/// A matrix in ELL format: `values[k * rows + r]` is slot k of row r.
#[derive(Debug, Clone)]
pub struct EllMatrix<T> {
    pub(super) pattern: EllPattern,
    pub(super) values: Vec<T>,
}

impl<T: Real> EllMatrix<T> {
    /// A matrix with given values, column-major like its pattern; padding must be zero.
    ///
    /// # Panics
    /// If the number of values does not fit the pattern: an error of the caller.
    pub fn from_values(pattern: EllPattern, values: Vec<T>) -> Self {
        assert_eq!(values.len(), pattern.rows() * pattern.width());
        Self { pattern, values }
    }

    /// The positions of the entries.
    pub fn pattern(&self) -> EllPattern {
        self.pattern
    }

    /// Values by slot, column-major.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// (column, value) of each entry of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, T)> + '_ {
        self.pattern.row(row).map(|(at, column)| (column, self.values[at]))
    }

    /// DILU or ILU(0) factors, not computed yet, eliminated by this schedule as on a GPU.
    /// [`SparseMatrix::preconditioner`] keeps to the natural order.
    pub fn factors(&self, kind: Incomplete, schedule: Schedule) -> EllPreconditioner<T> {
        Box::new(CsrFactors::of_ell(self.pattern(), kind, schedule))
    }

    /// The values as mutable blocks of `rows` rows: `blocks[b][k]` is slot k of block b.
    pub(super) fn row_blocks_mut(&mut self, rows: usize) -> Vec<Vec<&mut [T]>> {
        let n = self.pattern.rows();
        let mut blocks: Vec<Vec<&mut [T]>> =
            (0..n.div_ceil(rows)).map(|_| Vec::with_capacity(self.pattern.width())).collect();
        for slot in self.values.chunks_mut(n) {
            for (block, part) in blocks.iter_mut().zip(slot.chunks_mut(rows)) {
                block.push(part);
            }
        }
        blocks
    }
}

impl<T: Real> LinearOperator<CpuBackend, T> for EllMatrix<T> {
    fn apply(&self, backend: &CpuBackend, x: &Vec<T>, y: &mut Vec<T>) -> Result<()> {
        backend.multiply(self, x, Product::default(), y)
    }
}

impl<T: Real> SparseMatrix<CpuBackend, T> for EllMatrix<T> {
    fn preconditioner(&self, _: &CpuBackend, kind: Algebraic) -> Result<EllPreconditioner<T>> {
        if let EllPattern::TenNumbers(size) = self.pattern {
            return Ok(Box::new(OfEntries::new(&CpuBackend, size, kind)?));
        }
        Ok(match kind {
            Algebraic::None => Box::new(Identity),
            Algebraic::Jacobi => Box::new(Jacobi { inverse: vec![T::zero(); self.pattern.rows()] }),
            Algebraic::Factors { shift, .. } if shift != 0.0 => {
                return Err(DeviceError::NotInEll { what: "shifted factors" });
            }
            Algebraic::Factors { kind, .. } if kind.symmetric() => {
                return Err(DeviceError::NotInEll { what: kind.name() });
            }
            Algebraic::Factors { kind, .. } => self.factors(kind, Schedule::Levels),
        })
    }
}

impl<T: Real> Entries<T> for EllMatrix<T> {
    fn values(&self) -> &[T] {
        &self.values
    }

    fn diagonal(&self, row: usize) -> Option<T> {
        self.row(row).find(|&(column, _)| column == row).map(|(_, value)| value)
    }

    fn failure(kind: Incomplete, bad: BadPivot) -> PreconditionerFailure {
        PreconditionerFailure::Pivot { preconditioner: kind.name(), row: bad.row }
    }
}

type EllPreconditioner<T> = Box<dyn Preconditioner<CpuBackend, T, EllMatrix<T>>>;

impl SparseBackend for CpuBackend {
    type Matrix<T: Real> = EllMatrix<T>;
    type CsrMatrix<T: Real> = CsrMatrix<T>;

    fn matrix<T: Real>(&self, pattern: EllPattern) -> Result<EllMatrix<T>> {
        Ok(EllMatrix { pattern, values: vec![T::zero(); pattern.rows() * pattern.width()] })
    }

    fn matrix_values<T: Real>(&self, a: &EllMatrix<T>) -> Result<Vec<T>> {
        Ok(a.values.clone())
    }

    fn multiply<T: Real>(
        &self,
        a: &EllMatrix<T>,
        x: &Vec<T>,
        part: Product,
        y: &mut Vec<T>,
    ) -> Result<()> {
        check_product(a.pattern, x.len(), y.len())?;
        multiply(a, x, part, y);
        Ok(())
    }

    fn transpose<T: Real>(&self, a: &EllMatrix<T>, t: &mut EllMatrix<T>) -> Result<()> {
        let EllPattern::NinePoint(size) = a.pattern else { return Ok(()) };
        check_length(t.values.len(), a.values.len())?;
        let length = 2 * size.mi;
        t.row_blocks_mut(length).into_par_iter().enumerate().for_each(|(j, mut slots)| {
            for row in 0..length {
                let mirrored = EllPattern::mirrored(size, length * j + row);
                for (slot, from) in mirrored.enumerate() {
                    slots[slot][row] = a.values[from];
                }
            }
        });
        Ok(())
    }

    fn entries<T: Real>(&self, numbers: &EllMatrix<T>, entries: &mut EllMatrix<T>) -> Result<()> {
        let EllPattern::TenNumbers(size) = numbers.pattern else { return Ok(()) };
        entries.values = entries_of_ten_numbers(size, &numbers.values);
        Ok(())
    }

    fn csr<T: Real>(&self, a: &Csr, format: MatrixFormat) -> Result<CsrMatrix<T>> {
        Ok(CsrMatrix::new(a, format))
    }
}

/// Rows that are multiplied in one go: their part of the result stays in the first-level cache
/// over all slots.
const BLOCK: usize = 1024;

/// y ← (+) A x, the part that `product` names.
fn multiply<T: Real>(a: &EllMatrix<T>, x: &[T], product: Product, y: &mut [T]) {
    match a.pattern {
        EllPattern::NinePoint(LevelSize { mi, mj, .. }) => {
            y.par_chunks_mut(2 * mi).enumerate().for_each(|(j, y)| {
                // Most rows of points have no column to skip and need not look at each.
                let [before, after] = product.skipped;
                let skips = 2 * mi * j.saturating_sub(1) < before
                    || 2 * mi * mj.saturating_sub(j + 2) < after;
                if skips || mi < 3 {
                    one_by_one(a, x, product, 2 * mi * j, y);
                } else {
                    nine_point_row(a, x, product, (mi, mj), j, y);
                }
            });
        }
        EllPattern::TenNumbers(LevelSize { mi, mj, periodic }) => {
            let ([before, after], n) = (product.skipped, a.pattern.rows());
            let nothing = vec![T::zero(); 2 * mi];
            y.par_chunks_mut(2 * mi).enumerate().for_each(|(j, y)| {
                let around = [-1, 0, 1].map(|dj| {
                    let row = j.checked_add_signed(dj).filter(|&j| j < mj).map(|j| 2 * mi * j);
                    let row = row.filter(|start| (before..n - after).contains(start));
                    row.map_or(nothing.as_slice(), |start| &x[start..start + 2 * mi])
                });
                let numbers = std::array::from_fn(|k| &a.values[k * n + 2 * mi * j..][..2 * mi]);
                simd::run(TenNumbersRow { numbers, around, periodic, add: product.add, y });
            });
        }
        // The wall columns have no column to skip.
        EllPattern::WallColumns(LevelSize { mi, mj, .. }, walls) => {
            let n = a.pattern.rows();
            let row = |j: usize, k: usize| &a.values[k * n + 2 * mi * j..][..2 * mi];
            y.par_chunks_mut(2 * mi).enumerate().for_each(|(j, y)| {
                for (k, side) in walls.sides().enumerate() {
                    let slots = [row(j, 2 * k), row(j, 2 * k + 1)];
                    let point = |k: usize| &x[2 * WalledSides::point(side, k, mi, mj)..];
                    let (along, add) = (side < 2, product.add || k > 0);
                    let terms = if along { &point(0)[..2 * mi] } else { &point(j)[..2] };
                    simd::run(WallProductRow { slots, terms, add, y });
                }
            });
        }
    }
}

/// Rows from `start` on, entry by entry.
fn one_by_one<T: Real>(a: &EllMatrix<T>, x: &[T], product: Product, start: usize, y: &mut [T]) {
    let [before, after] = product.skipped;
    let kept = before..a.pattern.rows() - after;
    for (row, y) in (start..).zip(y) {
        if !product.add {
            *y = T::zero();
        }
        for (column, value) in a.row(row) {
            if kept.contains(&column) {
                *y += value * x[column];
            }
        }
    }
}

/// The rows of the points (·, j): the first and the last point have fewer neighbours, or some
/// across the seam.
fn nine_point_row<T: Real>(
    a: &EllMatrix<T>,
    x: &[T],
    product: Product,
    (mi, mj): (usize, usize),
    j: usize,
    y: &mut [T],
) {
    let (start, last) = (2 * mi * j, 2 * (mi - 1));
    one_by_one(a, x, product, start, &mut y[..2]);
    one_by_one(a, x, product, start + last, &mut y[last..]);
    let rows_there = |dj: isize| j.checked_add_signed(dj).is_some_and(|j| j < mj);
    for from in (2..last).step_by(BLOCK) {
        let to = (from + BLOCK).min(last);
        let y = &mut y[from..to];
        if !product.add {
            y.fill(T::zero());
        }
        let there = STENCIL.into_iter().filter(|&(_, dj, _)| rows_there(dj));
        for (slot, (di, dj, other)) in there.enumerate() {
            // The points' neighbours at this offset, a part of one row of points.
            let column =
                (2 * (mi * j) + from).wrapping_add_signed(2 * (mi.cast_signed() * dj + di));
            let values = &a.values[slot * a.pattern.rows() + start + from..][..y.len()];
            simd::run(Slot { values, x: &x[column..column + y.len()], other, y });
        }
    }
}

/// y ← y + v x for one slot of points inside a row: x of the row's own variable, or of the other.
struct Slot<'a, T> {
    values: &'a [T],
    x: &'a [T],
    other: bool,
    y: &'a mut [T],
}

impl<T: Real> Kernel for Slot<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { values, x, other, y } = self;
        if other {
            let points = y.as_chunks_mut::<2>().0.iter_mut();
            let points = points.zip(values.as_chunks::<2>().0).zip(x.as_chunks::<2>().0);
            for ((y, v), x) in points {
                y[0] += v[0] * x[1];
                y[1] += v[1] * x[0];
            }
        } else {
            for ((y, v), x) in y.iter_mut().zip(values).zip(x) {
                *y += *v * *x;
            }
        }
    }
}

/// y ← (+) A x for a row of points from their ten numbers.
struct TenNumbersRow<'a, T> {
    numbers: [&'a [T]; TEN_SLOTS],
    /// x of the rows of points before, here and after.
    around: [&'a [T]; 3],
    periodic: bool,
    add: bool,
    y: &'a mut [T],
}

/// Points of a row of ten numbers that are multiplied at a time, x and y apart.
const POINTS: usize = 64;

impl<T: Real> Kernel for TenNumbersRow<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { numbers, around, periodic, add, y } = self;
        let mi = y.len() / 2;
        let mut of_points = [[[T::zero(); POINTS]; 2]; TEN_SLOTS];
        let mut x = [[[T::zero(); POINTS + 2]; 2]; 3];
        for (chunk, y) in y.chunks_mut(2 * POINTS).enumerate() {
            let (first, count) = (chunk * POINTS, y.len() / 2);
            for (to, from) in of_points.iter_mut().zip(numbers) {
                apart(&from[2 * first..][..2 * count], to, 0);
            }
            let west = first.checked_sub(1).or(periodic.then_some(mi - 1));
            let east = Some(first + count).filter(|&i| i < mi).or(periodic.then_some(0));
            for (to, from) in x.iter_mut().zip(around) {
                apart(&from[2 * first..][..2 * count], to, 1);
                for (at, beside) in [(0, west), (count + 1, east)] {
                    for (variable, to) in to.iter_mut().enumerate() {
                        to[at] = beside.map_or(T::zero(), |i| from[2 * i + variable]);
                    }
                }
            }
            let mut sums = [[T::zero(); POINTS]; 2];
            for (k, sum) in sums.iter_mut().enumerate() {
                ten_products(&of_points, &x, k, sum);
            }
            for (i, y) in y.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                for k in 0..2 {
                    y[k] = if add { y[k] + sums[k][i] } else { sums[k][i] };
                }
            }
        }
    }
}

/// The two rows of some points apart, in each from place `first` on.
#[inline(always)]
fn apart<T: Real, const N: usize>(from: &[T], to: &mut [[T; N]; 2], first: usize) {
    let [x, y] = to;
    let to = x[first..].iter_mut().zip(&mut y[first..]);
    for (pair, (x, y)) in from.as_chunks::<2>().0.iter().zip(to) {
        (*x, *y) = (pair[0], pair[1]);
    }
}

/// sum ← row k of A x at each point, from the ten numbers and x of the rows of points before, here and after.
#[inline(always)]
fn ten_products<T: Real>(
    numbers: &[[[T; POINTS]; 2]; TEN_SLOTS],
    x: &[[[T; POINTS + 2]; 2]; 3],
    k: usize,
    sum: &mut [T; POINTS],
) {
    let [[g22, d], xi, xi_other, eta, eta_other] = numbers;
    let (south, here, north) = (&x[0][k], &x[1][k], &x[2][k]);
    let [below, beside, above] = [&x[0][1 - k], &x[1][1 - k], &x[2][1 - k]];
    let [xi, xi_other, eta, eta_other] = [&xi[k], &xi_other[k], &eta[k], &eta_other[k]];
    let half = T::narrow(0.5);
    for i in 0..POINTS {
        let (w, c, e) = (here[i], here[i + 1], here[i + 2]);
        let (s, n) = (south[i + 1], north[i + 1]);
        let corners = (south[i] - south[i + 2]) + (north[i + 2] - north[i]);
        sum[i] = g22[i] * ((w - c) + (e - c))
            + (half - g22[i]) * ((s - c) + (n - c))
            + d[i] * corners
            + xi[i] * (e - w)
            + xi_other[i] * (beside[i + 2] - beside[i])
            + eta[i] * (n - s)
            + eta_other[i] * (above[i + 1] - below[i + 1]);
    }
}

/// y ← (+) B x for a row of points: the wall terms p, q of each line, interleaved, or one pair for all points.
struct WallProductRow<'a, T> {
    slots: [&'a [T]; 2],
    terms: &'a [T],
    add: bool,
    y: &'a mut [T],
}

impl<T: Real> Kernel for WallProductRow<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { slots: [along_p, along_q], terms, add, y } = self;
        let terms = terms.as_chunks::<2>().0;
        if let &[pair] = terms {
            let points = y.as_chunks_mut::<2>().0.iter_mut();
            let entries = along_p.as_chunks::<2>().0.iter().zip(along_q.as_chunks::<2>().0);
            for (y, (p, q)) in points.zip(entries) {
                let [x0, y0] = if add { *y } else { [T::zero(); 2] };
                *y = [x0 + p[0] * pair[0] + q[0] * pair[1], y0 + p[1] * pair[0] + q[1] * pair[1]];
            }
            return;
        }
        let points = y.as_chunks_mut::<2>().0.iter_mut().zip(terms);
        let entries = along_p.as_chunks::<2>().0.iter().zip(along_q.as_chunks::<2>().0);
        for ((y, terms), (p, q)) in points.zip(entries) {
            let [x0, y0] = if add { *y } else { [T::zero(); 2] };
            y[0] = x0 + p[0] * terms[0] + q[0] * terms[1];
            y[1] = y0 + p[1] * terms[0] + q[1] * terms[1];
        }
    }
}
