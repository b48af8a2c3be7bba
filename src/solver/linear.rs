//! The linear solve of a Newton step: method, preconditioner, and what happens on a breakdown.

pub use super::Precision;

use super::krylov::{Bicgstab, Cg, Gmres, KrylovReport, Method, System, Target};
use super::precond::Preconditioners;
use super::{LinearOperator, LinearStop, SolverError, present};
use crate::backend::{Backend, Real, Result};

/// Iterations that every preconditioner gets before the residual is judged.
const FEWEST: usize = 10;

/// Settings of a linear solve, as in section `[linear]` of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LinearSettings {
    /// Krylov method.
    #[serde(rename = "solver")]
    pub method: Method,
    /// Limit of iterations, over all attempts.
    pub max_iterations: usize,
    /// GMRES restarts after this many iterations.
    pub restart: usize,
}

/// Outcome of the linear solve of a Newton step.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearReport {
    /// Reason for the stop.
    pub stop: LinearStop,
    /// Iterations of all attempts.
    pub iterations: f64,
    /// ‖b − A x‖ / ‖b‖ at the end.
    pub relative_residual: f64,
    /// Breakdowns met on the way, in words.
    pub events: Vec<String>,
}

/// Solves A x = b with a preconditioned Krylov method; its memory is kept between solves.
pub struct LinearSolver<B: Backend, T: Real, A> {
    settings: LinearSettings,
    preconditioner: Preconditioners<B, T, A>,
    n: usize,
    cg: Option<Cg<B, T>>,
    bicgstab: Option<Bicgstab<B, T>>,
    gmres: Option<Gmres<B, T>>,
    /// Restarts of BiCGStab after a breakdown before flexible GMRES takes over.
    pub restarts: usize,
    /// Whether the preconditioner was made for some matrix.
    made: bool,
    /// Whether it is kept for another one.
    kept: bool,
    /// Whether a fall-back has replaced the preconditioner.
    fallen: bool,
    /// Iterations left to fall-backs, over all solves.
    spare: usize,
    events: Vec<String>,
}

impl<B: Backend, T: Real, A: LinearOperator<B, T>> LinearSolver<B, T, A> {
    /// A solver for systems of `n` unknowns.
    pub fn new(
        settings: LinearSettings,
        n: usize,
        preconditioner: Preconditioners<B, T, A>,
    ) -> Self {
        Self {
            settings,
            preconditioner,
            n,
            cg: None,
            bicgstab: None,
            gmres: None,
            restarts: 2,
            made: false,
            kept: false,
            fallen: false,
            spare: usize::MAX,
            events: Vec::new(),
        }
    }

    /// This solver with a budget of iterations, over all its solves, for the fall-backs that replace the
    /// preconditioner.
    #[must_use]
    pub fn with_fall_back_budget(self, iterations: usize) -> Self {
        Self { spare: iterations, ..self }
    }

    /// Prepares the preconditioner for the present values of `a`, or a fall-back where it cannot be made.
    pub fn update(&mut self, backend: &B, a: &A) -> Result<(), SolverError> {
        (self.made, self.kept) = (true, false);
        loop {
            match self.preconditioner.current(backend, a)?.update(backend, a) {
                Err(SolverError::Preconditioner(failure)) => {
                    let Some(next) = self.fall_back() else {
                        return Err(failure.into());
                    };
                    self.events.push(format!("{failure}; {next} took over"));
                }
                updated => return updated,
            }
        }
    }

    /// Keeps the preconditioner for a matrix that is near the one it was made for, if there is one that may be kept;
    /// returns whether there is.
    pub(crate) fn keep(&mut self) -> bool {
        self.kept = self.lasts() && self.made;
        self.kept
    }

    /// Whether the preconditioner may be kept for matrices near the one that it was made for.
    pub(crate) fn lasts(&self) -> bool {
        self.preconditioner.lasts()
    }

    /// Replaces the preconditioner by the next fall-back, and returns its name.
    fn fall_back(&mut self) -> Option<&'static str> {
        let next = self.preconditioner.fall_back();
        self.fallen |= next.is_some();
        next
    }

    /// The events since the last call, in words.
    pub(crate) fn take_events(&mut self) -> Vec<String> {
        std::mem::take(&mut self.events)
    }

    /// Solves A x = b from the x that is given to ‖b − A x‖ ≤ rtol ‖b‖.
    ///
    /// If BiCGStab breaks down it restarts from the x it has reached, at most twice or as
    /// [`Self::restarts`] says; then flexible GMRES goes on from there. A preconditioner with a
    /// bound gets as many iterations as the bound allows, and at least ten. If they do not suffice, or a
    /// value is not a number, one that was kept is made anew and continues from the x reached. In place of one that
    /// was not, its fall-back does, in this solve and those that follow, within
    /// [`Self::with_fall_back_budget`]. `observe` gets the iteration and the relative residual.
    ///
    /// # Errors
    /// If the device fails, or neither the preconditioner nor a fall-back can be made.
    pub fn solve(
        &mut self,
        backend: &B,
        a: &A,
        b: &B::Vector<T>,
        rtol: f64,
        x: &mut B::Vector<T>,
        observe: &mut dyn FnMut(f64, f64),
    ) -> Result<LinearReport, SolverError> {
        self.solve_from((backend, a, b), rtol, (x, false), observe)
    }

    /// [`Self::solve`] from an x that may be known to be `zero`: its residual is known then.
    pub(super) fn solve_from(
        &mut self,
        (backend, a, b): (&B, &A, &B::Vector<T>),
        rtol: f64,
        (x, mut zero): (&mut B::Vector<T>, bool),
        observe: &mut dyn FnMut(f64, f64),
    ) -> Result<LinearReport, SolverError> {
        let [square] = backend.dot_products([(b, b)])?;
        let scale = square.sqrt();
        let mut solve =
            LinearSolve { backend, a, b, scale, rtol, observe, iterations: 0.0, relative: 1.0 };
        let stop = if scale == 0.0 {
            backend.lincomb(None, x, 0.0, &[])?;
            solve.relative = 0.0;
            LinearStop::Converged
        } else {
            loop {
                let (before, from) = (solve.iterations, solve.relative);
                let mut left = self.settings.max_iterations.saturating_sub(before.ceil() as usize);
                if self.fallen {
                    left = left.min(self.spare);
                }
                let bound = self.preconditioner.bound();
                let allowed = bound.map_or(left, |bound| left.min(allowance(rtol, from, bound)));
                let limit = before.ceil() as usize + allowed;
                let stop = self.iterate(&mut solve, limit, x, std::mem::take(&mut zero))?;
                if self.fallen {
                    let made = (solve.iterations - before).ceil() as usize;
                    self.spare = self.spare.saturating_sub(made);
                }
                let slow = stop == LinearStop::IterationLimit && allowed < left;
                if !slow && stop != LinearStop::NotFinite {
                    break stop;
                }
                if !self.kept {
                    let Some(next) = self.fall_back() else { break stop };
                    let why = if slow {
                        let made = solve.iterations - before;
                        let factor = (solve.relative / from).powf(made.recip());
                        format!("an iteration multiplied the linear residual by {factor:.2}")
                    } else {
                        stop.to_string()
                    };
                    self.events.push(format!("{why}; {next} took over"));
                }
                self.update(backend, a)?;
                // An x that is no better than none is worth nothing.
                if solve.relative.is_nan() || solve.relative >= 1.0 {
                    backend.lincomb(None, x, 0.0, &[])?;
                    solve.relative = 1.0;
                }
            }
        };
        let LinearSolve { iterations, relative: relative_residual, .. } = solve;
        Ok(LinearReport { stop, iterations, relative_residual, events: self.take_events() })
    }

    /// Improves x, which may be known to be `zero`, with the present preconditioner until `limit` iterations are done.
    fn iterate(
        &mut self,
        solve: &mut LinearSolve<'_, B, T, A>,
        limit: usize,
        x: &mut B::Vector<T>,
        mut zero: bool,
    ) -> Result<LinearStop, SolverError> {
        let LinearSolve { backend, a, b, scale, rtol, ref mut observe, .. } = *solve;
        let mut method = self.settings.method;
        let mut breakdowns = 0;
        loop {
            let before = solve.iterations;
            let left = limit.saturating_sub(before.ceil() as usize);
            let target = Target { norm: rtol * scale, max_iterations: left };
            let preconditioner = self.preconditioner.current(backend, a)?;
            let observe = &mut |iteration, norm| observe(before + iteration, norm / scale);
            let system = System::new(backend, (a, b), preconditioner, observe);
            let from_zero = std::mem::take(&mut zero).then_some(scale);
            let system = &mut System { from_zero, ..system };
            let KrylovReport { stop, iterations, residual } = match method {
                Method::Cg => {
                    present(&mut self.cg, || Cg::new(backend, self.n))?.solve(system, target, x)
                }
                Method::Bicgstab => present(&mut self.bicgstab, || Bicgstab::new(backend, self.n))?
                    .solve(system, target, x),
                Method::Gmres => {
                    let make = || Gmres::new(backend, self.n, self.settings.restart);
                    present(&mut self.gmres, make)?.solve(system, target, x)
                }
            }?;
            solve.iterations += iterations;
            solve.relative = residual / scale;
            let broken = matches!(stop, LinearStop::Breakdown { .. } | LinearStop::NotFinite);
            if !broken || method != Method::Bicgstab {
                return Ok(stop);
            }
            if !residual.is_finite() {
                backend.lincomb(None, x, 0.0, &[])?;
            }
            breakdowns += 1;
            if breakdowns <= self.restarts {
                self.events.push(format!("{stop}; BiCGStab restarted"));
            } else {
                self.events.push(format!("{stop}; flexible GMRES took over"));
                method = Method::Gmres;
            }
        }
    }
}

struct LinearSolve<'a, B: Backend, T: Real, A> {
    backend: &'a B,
    a: &'a A,
    b: &'a B::Vector<T>,
    /// ‖b‖.
    scale: f64,
    rtol: f64,
    observe: &'a mut dyn FnMut(f64, f64),
    iterations: f64,
    /// ‖b − A x‖ / ‖b‖.
    relative: f64,
}

/// Iterations in which a residual that falls by the factor `bound` an iteration gets from
/// `present` to `rtol`.
fn allowance(rtol: f64, present: f64, bound: f64) -> usize {
    let needed = (rtol / present).ln() / bound.ln();
    FEWEST.max(needed.ceil() as usize)
}
