//! Incomplete factors and their triangular solves.

use super::cells::Cells;
use super::correlation::Correlation;
use super::elimination::{FirstBad, Mirrored, dilu, ilu0};
use super::matrix::CsrMatrix;
use super::plan::Plan;
use super::rows::Rows;
use crate::backend::cpu::{CpuBackend, PIECE};
use crate::backend::{
    BadPivot, DeviceError, Incomplete, Preconditioner, PreconditionerFailure, Real, SolverError,
};
use crate::sparse::{Schedule, Triangle};
use rayon::prelude::*;
use std::ops::Range;
use std::time::Instant;

/// Applications in which each way through the rows is timed before the fastest is kept.
const TRIALS: usize = 3;

/// M = (I + L)(D + U): L left of the diagonal, D on it, U right of it.
///
/// Levels and waiting row by row give the same result to the last bit as the natural order, since
/// every row adds in the same order. These are what [`Schedule::Auto`] chooses from, beside the
/// natural order on one thread: its result does not depend on the choice.
#[derive(Debug)]
pub(super) struct CsrFactors<T> {
    kind: Incomplete,
    /// They are those of A + `shift` diag(A).
    shift: f64,
    rows: Rows,
    values: Vec<T>,
    inverse: Vec<T>,
    /// Entries on both sides, for the kinds that need no others.
    mirrored: Option<Mirrored>,
    plans: Vec<Plan>,
    choice: Choice,
    correlation: Option<Correlation>,
    /// Where the solve is under way.
    y: Cells<T>,
}

/// Which of the plans is in use.
#[derive(Debug)]
struct Choice {
    /// Seconds of the fastest application of each so far.
    seconds: Vec<f64>,
    applications: usize,
}

impl Choice {
    fn new(plans: usize) -> Self {
        Self { seconds: vec![f64::INFINITY; plans], applications: 0 }
    }

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
    /// Room for the factors of matrices with the pattern of `a`.
    pub(super) fn new(a: &CsrMatrix<T>, kind: Incomplete, schedule: Schedule, shift: f64) -> Self {
        let rows = Rows::new(a.pattern(), kind, schedule);
        let plans = match (schedule, rows.renumbering()) {
            (Schedule::Colours, Some(numbers)) => vec![Plan::colours(&numbers.sets)],
            (Schedule::Tiles, _) => vec![Plan::Tiles],
            (Schedule::Levels, _) => vec![Plan::levels(&rows)],
            (Schedule::SyncFree, _) => vec![Plan::sync_free(&rows)],
            (Schedule::Auto, _) => candidates(&rows),
            _ => vec![Plan::Natural],
        };
        let pushes = schedule == Schedule::Correlation;
        Self {
            kind,
            shift,
            values: vec![T::zero(); rows.columns().len()],
            inverse: vec![T::zero(); rows.len()],
            mirrored: kind.diagonal_only().then(|| Mirrored::new(&rows)),
            choice: Choice::new(plans.len()),
            plans,
            correlation: pushes.then(|| Correlation::new(&rows)),
            y: Cells::zeros(rows.len()),
            rows,
        }
    }

    /// The first pivot, in the order of elimination, that cannot be used; the factors must then not be
    /// applied.
    fn factor(&mut self, a: &CsrMatrix<T>) -> Option<BadPivot> {
        let (bad, shift) = (FirstBad::new(self.kind.symmetric()), self.shift);
        let inverse = Cells::zeros(self.rows.len());
        let plan = &self.plans[self.choice.next().0];
        let rows = &self.rows;
        if let Some(mirrored) = &self.mirrored {
            dilu(rows, plan, mirrored, (a.values(), shift), &inverse, &bad);
            take(rows, 0..rows.len(), a.values(), &inverse, &mut self.values);
        } else {
            let work = Cells::zeros(self.values.len());
            (0..self.values.len()).into_par_iter().with_min_len(PIECE).for_each(|at| {
                work.set(at, rows.value(at, a.values()));
            });
            for row in 0..rows.len() {
                let at = rows.diagonal(row);
                work.set(at, work.get(at) * T::narrow(1.0 + shift));
            }
            ilu0(rows, plan, &work, &inverse, &bad);
            let values = self.values.par_iter_mut().with_min_len(PIECE).enumerate();
            values.for_each(|(at, value)| *value = work.get(at));
        }
        for (row, value) in self.inverse.iter_mut().enumerate() {
            *value = T::narrow(inverse.get(row));
        }
        let bad = bad.into_found();
        bad.map(|bad| BadPivot { row: rows.row_of_a(bad.row), ..bad })
    }

    /// z ← M⁻¹ r.
    fn solve(&mut self, r: &[T], z: &mut [T]) {
        if let Some(correlation) = &self.correlation {
            correlation.solve(&self.rows, &self.values, &self.inverse, (r, z));
            return;
        }
        let (plan, timed) = self.choice.next();
        let started = timed.then(Instant::now);
        match &self.plans[plan] {
            Plan::Natural => self.solve_alone(r, z),
            plan => self.solve_by(plan, r, z),
        }
        if let Some(started) = started {
            self.choice.timed(plan, started.elapsed().as_secs_f64());
        }
    }

    /// One row after the other, in place.
    fn solve_alone(&self, r: &[T], z: &mut [T]) {
        let Self { rows, values, inverse, .. } = self;
        let columns = rows.columns();
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

    fn solve_by(&self, plan: &Plan, r: &[T], z: &mut [T]) {
        let Self { rows, values, inverse, y, .. } = self;
        let columns = rows.columns();
        let subtract = |sum: T, k: usize| sum - values[k] * y.get(columns[k] as usize);
        plan.run(rows, Triangle::Lower, &|row| {
            let entries = rows.side(row, Triangle::Lower);
            y.set(row, entries.fold(r[rows.row_of_a(row)], subtract));
        });
        plan.run(rows, Triangle::Upper, &|row| {
            let entries = rows.side(row, Triangle::Upper);
            y.set(row, entries.fold(y.get(row), subtract) * inverse[row]);
        });
        let place = rows.renumbering().map(|numbers| &numbers.place);
        z.par_iter_mut().with_min_len(PIECE).enumerate().for_each(|(row, z)| {
            *z = y.get(place.map_or(row, |place| place[row] as usize));
        });
    }
}

impl<T: Real> Preconditioner<CpuBackend, T, CsrMatrix<T>> for CsrFactors<T> {
    fn update(&mut self, _: &CpuBackend, a: &CsrMatrix<T>) -> Result<(), SolverError> {
        let bad = self.factor(a);
        bad.map_or(Ok(()), |bad| Err(PreconditionerFailure::factor(self.kind, bad).into()))
    }

    fn apply(
        &mut self,
        _: &CpuBackend,
        _: &CsrMatrix<T>,
        r: &Vec<T>,
        z: &mut Vec<T>,
    ) -> Result<(), DeviceError> {
        self.solve(r, z);
        Ok(())
    }
}

/// L_ij ← a_ij / D_j, U ← the entries of A; `values` are those of `range`.
fn take<T: Real>(
    rows: &Rows,
    range: Range<usize>,
    a: &[T],
    inverse: &Cells<f64>,
    values: &mut [T],
) {
    let first = rows.pattern().row_start[range.start];
    if range.len() > PIECE {
        let middle = range.start + range.len() / 2;
        let (low, high) = values.split_at_mut(rows.pattern().row_start[middle] - first);
        rayon::join(
            || take(rows, range.start..middle, a, inverse, low),
            || take(rows, middle..range.end, a, inverse, high),
        );
        return;
    }
    for (at, value) in (first..).zip(&mut *values) {
        *value = rows.value(at, a);
    }
    for row in range {
        for at in rows.side(row, Triangle::Lower) {
            values[at - first] *= T::narrow(inverse.get(rows.columns()[at] as usize));
        }
    }
}

/// The ways through the rows that may pay: with one thread, or without a set large enough to share,
/// none but the natural order.
fn candidates(rows: &Rows) -> Vec<Plan> {
    let mut plans = vec![Plan::Natural];
    if rayon::current_num_threads() > 1 {
        plans.extend(Some(Plan::levels(rows)).filter(Plan::is_shared));
        plans.push(Plan::sync_free(rows));
    }
    plans
}
