//! Preconditioners made from the entries of a matrix: the inverse of its diagonal, and incomplete factors with their
//! triangular solves.

use super::rows::{AtomicValues, FactorRows, RowPlan, by_pieces, pieces};
use crate::backend::cpu::{CpuBackend, PIECE};
use crate::backend::error::check_lengths;
use crate::backend::{
    BadPivot, Incomplete, Preconditioner, PreconditionerFailure, Real, Result, SolverError,
};
use crate::sparse::{EllPattern, Pattern, Schedule, Triangle};
use parking_lot::Mutex;
use rayon::prelude::*;
use std::cell::Cell;
use std::ops::Range;
use std::time::Instant;

/// A matrix of whose entries preconditioners are made.
pub(in crate::backend::cpu) trait Entries<T>: Sync {
    /// Its values, in the order by which its pattern knows the entries.
    fn values(&self) -> &[T];

    /// The entry of a row on the diagonal, if there is one.
    fn diagonal(&self, row: usize) -> Option<T>;

    /// The failure to be reported for a pivot.
    fn failure(kind: Incomplete, bad: BadPivot) -> PreconditionerFailure;
}

/// z ← d ∘ r with d = diag(A)⁻¹.
pub(in crate::backend::cpu) struct Jacobi<T> {
    pub(in crate::backend::cpu) inverse: Vec<T>,
}

impl<T: Real, A: Entries<T>> Preconditioner<CpuBackend, T, A> for Jacobi<T> {
    fn update(&mut self, _: &CpuBackend, a: &A) -> Result<(), SolverError> {
        let rows = self.inverse.par_iter_mut().with_min_len(PIECE).enumerate();
        rows.for_each(|(row, d)| *d = a.diagonal(row).unwrap_or(T::zero()).recip());
        match self.inverse.iter().position(|d| !d.is_finite() || *d == T::zero()) {
            Some(row) => Err(PreconditionerFailure::Pivot { preconditioner: "Jacobi", row }.into()),
            None => Ok(()),
        }
    }

    fn apply(&mut self, _: &CpuBackend, _: &A, r: &Vec<T>, z: &mut Vec<T>) -> Result<()> {
        check_lengths(self.inverse.len(), [r.len(), z.len()])?;
        let operands = self.inverse.par_chunks(PIECE).zip(r.par_chunks(PIECE));
        z.par_chunks_mut(PIECE).zip(operands).for_each(|(z, (d, r))| {
            for (z, (d, r)) in z.iter_mut().zip(d.iter().zip(r)) {
                *z = *d * *r;
            }
        });
        Ok(())
    }
}

/// A row so much longer than another is searched for its entries rather than gone through.
const UNEVEN: usize = 8;

/// Applications in which each way through the rows is timed before the fastest is kept.
const TRIALS: usize = 3;

/// M = (I + L)(D + U): L left of the diagonal, D on it, U right of it.
///
/// Levels and waiting row by row give the same result to the last bit as the natural order, since
/// every row adds in the same order. These are what [`Schedule::Auto`] chooses from, beside the
/// natural order on one thread: its result does not depend on the choice.
#[derive(Debug)]
pub(in crate::backend::cpu) struct CsrFactors<T> {
    kind: Incomplete,
    /// The matrix that is factorised is A + `shift` diag(A).
    shift: f64,
    rows: FactorRows,
    values: Vec<T>,
    inverse: Vec<T>,
    plans: Vec<RowPlan>,
    choice: Choice,
    y: AtomicValues<T>,
}

#[derive(Debug)]
struct Choice {
    /// Seconds of the fastest application of each so far.
    seconds: Vec<f64>,
    applications: usize,
}

impl Choice {
    /// The plan of the next application, and whether it is timed.
    fn next(&self) -> (usize, bool) {
        let plans = self.seconds.len();
        if plans > 1 && self.applications < TRIALS * plans {
            return (self.applications % plans, true);
        }
        let fastest = (0..plans).min_by(|&a, &b| self.seconds[a].total_cmp(&self.seconds[b]));
        (fastest.unwrap_or(0), false)
    }

    fn timed(&mut self, plan: usize, seconds: f64) {
        self.seconds[plan] = self.seconds[plan].min(seconds);
        self.applications += 1;
    }
}

impl<T: Real> CsrFactors<T> {
    /// The factors, not computed yet, of matrices with the pattern of `a`.
    pub(super) fn new(a: Pattern<'_>, kind: Incomplete, schedule: Schedule, shift: f64) -> Self {
        let rows = FactorRows::new(a, kind, schedule);
        let plans = match (schedule, &rows.renumbering) {
            (Schedule::Colours, Some(numbers)) => vec![RowPlan::colours(&numbers.colours)],
            (Schedule::Tiles, _) => vec![RowPlan::Tiles],
            (Schedule::Levels, _) => vec![RowPlan::levels(&rows)],
            (Schedule::SyncFree, _) => vec![RowPlan::sync_free(&rows)],
            (Schedule::Auto, _) => candidates(&rows),
            _ => vec![RowPlan::Natural],
        };
        Self::of_rows(rows, plans, kind, shift)
    }

    /// DILU or ILU(0) factors, not computed yet, of ELL matrices with this pattern. One thread goes through the
    /// rows, which is fastest where they are beside each other, but for colours.
    pub(in crate::backend::cpu) fn of_ell(
        a: EllPattern,
        kind: Incomplete,
        schedule: Schedule,
    ) -> Self {
        let rows = FactorRows::of_ell(a, schedule);
        let plan = match &rows.renumbering {
            Some(numbers) => RowPlan::colours(&numbers.colours),
            None => RowPlan::Natural,
        };
        Self::of_rows(rows, vec![plan], kind, 0.0)
    }

    fn of_rows(rows: FactorRows, plans: Vec<RowPlan>, kind: Incomplete, shift: f64) -> Self {
        let alone = plans.iter().all(|plan| matches!(plan, RowPlan::Natural));
        Self {
            kind,
            shift,
            values: vec![T::zero(); rows.columns.len()],
            inverse: vec![T::zero(); rows.len()],
            choice: Choice { seconds: vec![f64::INFINITY; plans.len()], applications: 0 },
            plans,
            y: AtomicValues::zeros(if alone { 0 } else { rows.len() }),
            rows,
        }
    }

    /// The first pivot, in the order of elimination, that cannot be used; the factors must then not be
    /// applied.
    fn factor(&mut self, a: &[T]) -> Option<BadPivot> {
        let bad = FirstBad { found: Mutex::new(None), positive: self.kind.symmetric() };
        let shift = self.shift;
        let inverse = AtomicValues::zeros(self.rows.len());
        let plan = &self.plans[self.choice.next().0];
        let rows = &self.rows;
        if self.kind.diagonal_only() {
            dilu(rows, plan, (a, shift), &inverse, &bad);
            // L_ij ← a_ij / D_j, U ← the entries of A.
            let start = |row: usize| rows.row_start[row];
            by_pieces(&pieces(&rows.row_start), &start, &mut self.values, &|range, values| {
                let first = start(range.start);
                for (at, value) in (first..).zip(&mut *values) {
                    *value = rows.value(at, a);
                }
                for at in range.flat_map(|row| rows.side(row, Triangle::Lower)) {
                    values[at - first] *= T::narrow(inverse.get(rows.columns[at] as usize));
                }
            });
        } else {
            let values = self.values.par_iter_mut().with_min_len(PIECE).enumerate();
            values.for_each(|(at, value)| *value = rows.value(at, a));
            for row in 0..rows.len() {
                self.values[rows.diagonal[row]] *= T::narrow(1.0 + shift);
            }
            if let RowPlan::Natural = plan {
                let values = Cell::from_mut(&mut *self.values).as_slice_of_cells();
                let (get, set) = (|at: usize| values[at].get(), |at: usize, v| values[at].set(v));
                (0..rows.len()).for_each(|row| eliminate(rows, row, (&get, &set), &inverse, &bad));
            } else {
                let work = AtomicValues::of(&self.values);
                let (get, set) = (|at| work.get(at), |at, value| work.set(at, value));
                plan.run(rows, Triangle::Lower, &|row| {
                    eliminate(rows, row, (&get, &set), &inverse, &bad);
                });
                let values = self.values.par_iter_mut().with_min_len(PIECE).enumerate();
                values.for_each(|(at, value)| *value = work.get(at));
            }
        }
        for (row, value) in self.inverse.iter_mut().enumerate() {
            *value = T::narrow(inverse.get(row));
        }
        let bad = bad.found.into_inner();
        bad.map(|bad| BadPivot { row: rows.row_of_a(bad.row), ..bad })
    }

    /// z ← M⁻¹ r.
    fn solve(&mut self, r: &[T], z: &mut [T]) {
        let (plan, timed) = self.choice.next();
        let started = timed.then(Instant::now);
        match &self.plans[plan] {
            RowPlan::Natural => self.solve_alone(r, z),
            plan => self.solve_by(plan, r, z),
        }
        if let Some(started) = started {
            self.choice.timed(plan, started.elapsed().as_secs_f64());
        }
    }

    fn solve_alone(&self, r: &[T], z: &mut [T]) {
        let Self { rows, values, inverse, .. } = self;
        let columns = &rows.columns;
        for row in 0..rows.len() {
            let entries = rows.side(row, Triangle::Lower);
            z[row] = entries.fold(r[row], |sum, k| sum - values[k] * z[columns[k] as usize]);
        }
        for row in (0..rows.len()).rev() {
            let entries = rows.side(row, Triangle::Upper);
            let sum = entries.fold(z[row], |sum, k| sum - values[k] * z[columns[k] as usize]);
            z[row] = sum * inverse[row];
        }
    }

    fn solve_by(&self, plan: &RowPlan, r: &[T], z: &mut [T]) {
        let Self { rows, values, inverse, y, .. } = self;
        let columns = &rows.columns;
        let subtract = |sum: T, k: usize| sum - values[k] * y.get(columns[k] as usize);
        plan.run(rows, Triangle::Lower, &|row| {
            let entries = rows.side(row, Triangle::Lower);
            y.set(row, entries.fold(r[rows.row_of_a(row)], subtract));
        });
        plan.run(rows, Triangle::Upper, &|row| {
            let entries = rows.side(row, Triangle::Upper);
            y.set(row, entries.fold(y.get(row), subtract) * inverse[row]);
        });
        let place = rows.renumbering.as_ref().map(|numbers| &numbers.place);
        z.par_iter_mut().with_min_len(PIECE).enumerate().for_each(|(row, z)| {
            *z = y.get(place.map_or(row, |place| place[row] as usize));
        });
    }
}

impl<T: Real, A: Entries<T>> Preconditioner<CpuBackend, T, A> for CsrFactors<T> {
    fn update(&mut self, _: &CpuBackend, a: &A) -> Result<(), SolverError> {
        let bad = self.factor(a.values());
        bad.map_or(Ok(()), |bad| Err(A::failure(self.kind, bad).into()))
    }

    fn apply(&mut self, _: &CpuBackend, _: &A, r: &Vec<T>, z: &mut Vec<T>) -> Result<()> {
        check_lengths(self.rows.len(), [r.len(), z.len()])?;
        self.solve(r, z);
        Ok(())
    }
}

/// The ways through the rows that may pay: with one thread, or without a set large enough to share,
/// none but the natural order.
fn candidates(rows: &FactorRows) -> Vec<RowPlan> {
    let mut plans = vec![RowPlan::Natural];
    if rayon::current_num_threads() > 1 {
        plans.extend(Some(RowPlan::levels(rows)).filter(RowPlan::is_shared));
        plans.push(RowPlan::sync_free(rows));
    }
    plans
}

struct FirstBad {
    found: Mutex<Option<BadPivot>>,
    /// Whether pivots must be positive, and not only not zero.
    positive: bool,
}

impl FirstBad {
    fn check(&self, rows: &FactorRows, row: usize, pivot: f64) {
        let value = if rows.has_diagonal(row) { pivot } else { 0.0 };
        if value == 0.0 || !value.is_finite() || self.positive && value < 0.0 {
            let mut found = self.found.lock();
            // The rows that come before it in the order of elimination do not depend on it, so that
            // the first is the same whatever the order in which the threads find them.
            if found.is_none_or(|first| row < first.row) {
                *found = Some(BadPivot { row, value });
            }
        }
    }
}

/// The pivots of DILU, D_i = (1 + shift) a_ii − Σ_j K_ij / D_j with the Hadamard product
/// K_ij = a_ij a_ji (Wang and Liu 2022, algorithms 3 and 5); `inverse` gets 1 / D.
///
/// Pivots are made in double precision: K has the squares of the entries.
fn dilu<T: Real>(
    rows: &FactorRows,
    plan: &RowPlan,
    (a, shift): (&[T], f64),
    inverse: &AtomicValues<f64>,
    bad: &FirstBad,
) {
    plan.run(rows, Triangle::Lower, &|row| {
        let mut pivot = (1.0 + shift) * rows.value(rows.diagonal[row], a).widen();
        for left in rows.side(row, Triangle::Lower) {
            let column = rows.columns[left] as usize;
            let above = rows.side(column, Triangle::Upper);
            if let Ok(at) = rows.columns[above.clone()].binary_search(&(row as u32)) {
                let k = rows.value(left, a).widen() * rows.value(above.start + at, a).widen();
                pivot -= k * inverse.get(column);
            }
        }
        inverse.set(row, pivot.recip());
        bad.check(rows, row, pivot);
    });
}

/// A row of Gaussian elimination that drops every entry outside the pattern, by ways to read and to write the
/// value of an entry: that of A, which becomes one of L, D or U.
#[inline(always)]
fn eliminate<T: Real>(
    rows: &FactorRows,
    row: usize,
    (get, set): (&impl Fn(usize) -> T, &impl Fn(usize, T)),
    inverse: &AtomicValues<f64>,
    bad: &FirstBad,
) {
    let right_end = rows.side(row, Triangle::Upper).end;
    for at in rows.side(row, Triangle::Lower) {
        let column = rows.columns[at] as usize;
        let factor = get(at) * T::narrow(inverse.get(column));
        set(at, factor);
        let above = rows.side(column, Triangle::Upper);
        meetings(&rows.columns, at + 1..right_end, above, |own, other| {
            set(own, get(own) - factor * get(other));
        });
    }
    let pivot = get(rows.diagonal[row]).widen();
    inverse.set(row, pivot.recip());
    bad.check(rows, row, pivot);
}

/// Calls `each` with the positions of every column that both ranges contain; columns rise in each range.
#[inline(always)]
fn meetings(
    columns: &[u32],
    own: Range<usize>,
    other: Range<usize>,
    mut each: impl FnMut(usize, usize),
) {
    let find = |range: &Range<usize>, column: u32| {
        columns[range.clone()].binary_search(&column).ok().map(|k| range.start + k)
    };
    if own.len() > UNEVEN * other.len() {
        for at in other {
            if let Some(found) = find(&own, columns[at]) {
                each(found, at);
            }
        }
    } else if other.len() > UNEVEN * own.len() {
        for at in own {
            if let Some(found) = find(&other, columns[at]) {
                each(at, found);
            }
        }
    } else {
        let (mut i, mut j) = (own.start, other.start);
        while i < own.end && j < other.end {
            let (a, b) = (columns[i], columns[j]);
            if a == b {
                each(i, j);
            }
            i += usize::from(a <= b);
            j += usize::from(b <= a);
        }
    }
}
