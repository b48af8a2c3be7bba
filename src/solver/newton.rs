//! Inexact Newton with Eisenstat–Walker forcing, backtracking and a guard against folded cells.

use super::history::{History, NewtonStep};
use super::linear::LinearSolver;
use super::{NewtonStop, NonlinearProblem, SolverError};
use crate::backend::{Backend, Evaluation, Result};
use std::ops::ControlFlow;
use std::time::Instant;

/// Settings of the Newton iteration: the section `[newton]` of a case.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct NewtonSettings {
    /// Merit to reach.
    pub tolerance: f64,
    /// Limit of steps.
    pub max_iterations: usize,
    /// Forcing terms.
    #[serde(flatten)]
    pub forcing: Forcing,
    /// Halvings of a step before the line search gives up.
    pub max_halvings: usize,
}

/// Forcing terms of Eisenstat and Walker 1996 (doi:10.1137/0917003), choice 2 with γ = 0.9 and
/// exponent 2, with Kelley's safeguard against solving more than the last step needs
/// (doi:10.1137/1.9781611970944, section 6.3), τ the tolerance:
/// η_k = clip(max(0.9 (F_k / F_{k−1})², 0.25 τ / F_k), min, max).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Forcing {
    /// η of the first step.
    #[serde(rename = "forcing_initial")]
    pub initial: f64,
    /// Smallest η.
    #[serde(rename = "forcing_min")]
    pub min: f64,
    /// Largest η.
    #[serde(rename = "forcing_max")]
    pub max: f64,
}

impl Forcing {
    /// Forcing term from the present merit, the one before, and the tolerance.
    pub fn term(&self, merit: f64, before: Option<f64>, tolerance: f64) -> f64 {
        match before {
            None => self.initial,
            Some(before) => (0.9 * (merit / before).powi(2))
                .max(LAST * tolerance / merit)
                .clamp(self.min, self.max),
        }
    }
}

/// Part of the tolerance that the last step asks for.
const LAST: f64 = 0.25;

/// Part of the forcing term to which a direction is solved for again after no step length was accepted.
const TIGHTER: f64 = 0.01;

/// Outcome of a Newton solve.
#[derive(Debug, Clone)]
#[must_use]
pub struct NewtonReport {
    /// Reason of the stop.
    pub stop: NewtonStop,
    /// Every step, the start included.
    pub history: History,
    /// Unusual events of the linear solves, in words.
    pub events: Vec<String>,
}

/// Follows a solve from outside: for a progress bar, to keep its state, to end it.
pub trait Observer<B: Backend> {
    /// A Newton step was taken (step 0: the start was evaluated).
    fn newton(&mut self, _step: &NewtonStep) {}
    /// A linear iteration was made.
    fn linear(&mut self, _iteration: f64, _relative_residual: f64) {}
    /// Another step is due from the state `u`, which `history` led to. A break ends the solve there.
    ///
    /// # Errors
    /// If the state cannot be read from the device.
    fn accepted(
        &mut self,
        _backend: &B,
        _u: &B::Vector<f64>,
        _history: &History,
    ) -> Result<ControlFlow<()>> {
        Ok(ControlFlow::Continue(()))
    }
}

/// Watches nothing.
impl<B: Backend> Observer<B> for () {}

/// Sufficient decrease: ‖F(u + λ d)‖ ≤ (1 − `DECREASE` λ) ‖F(u)‖.
const DECREASE: f64 = 1e-4;

struct NewtonSolve<'a, B: Backend, P: NonlinearProblem<B>> {
    backend: &'a B,
    problem: &'a mut P,
    linear: &'a mut LinearSolver<B, P::Real, P::Jacobian>,
    settings: &'a NewtonSettings,
    observer: &'a mut dyn Observer<B>,
    events: Vec<String>,
    f: B::Vector<f64>,
    trial: B::Vector<f64>,
    right: B::Vector<P::Real>,
    solution: B::Vector<P::Real>,
    /// Largest magnitude in f.
    largest: f64,
    /// Whether the preconditioner is to be kept, if it lasts.
    keeps: bool,
}

/// Euclidean norm of F up to which the preconditioner of a state is kept for those that follow.
const NEAR: f64 = 0.125;

/// Residual factor an iteration up to which the preconditioner is kept. Good ones are below 0.15.
const FAST: f64 = 0.2;

/// The last step whose preconditioner may be kept. A solve that goes on makes the steps before it again.
const LATEST: usize = 2;

/// The step whose preconditioner is kept for those that follow: the first that begins at a state with a residual
/// of n values that is small enough. From there on the matrices differ little.
#[must_use]
pub fn lasting_step(history: &History, n: usize) -> Option<usize> {
    let small = |step: &NewtonStep| step.residual * (n as f64).sqrt() <= NEAR;
    Some(1 + history.steps.iter().take(LATEST).position(small)?)
}

/// Whether a step from this merit, with this forcing term, keeps the preconditioner of an earlier one. No step does
/// after a slow linear solve, nor if it, or a step since then, may end near the tolerance, on either side of it.
fn keeps(history: &History, (merit, term): (f64, f64), n: usize, tolerance: f64) -> bool {
    let doubtful = |merit: f64, term: f64| {
        let share = merit * term / tolerance;
        share > 1.01 * LAST && share < 2.0
    };
    let slow = |step: &NewtonStep| {
        step.linear_residuals.last().is_some_and(|last| *last > FAST.powf(step.linear_iterations))
    };
    let first = lasting_step(history, n).filter(|first| *first < history.steps.len());
    first.is_some_and(|first| {
        let mut since = history.steps[first..].windows(2);
        !doubtful(merit, term)
            && !history.steps[first..].iter().any(slow)
            && !since.any(|pair| doubtful(pair[0].residual, pair[1].forcing_term))
    })
}

/// Solves F(u) = 0 from the guess in `u`, or goes on with a solve that was ended: `history`, empty for a
/// guess, led to the state `u`.
///
/// Each step solves J d = −F to the forcing term, then halves λ until u + λ d folds no cell more
/// than u does (none, if u is unfolded) and lowers the merit sufficiently, with the row scaling
/// of the step's start. Where there is no such λ, the direction is solved for once more, to a hundredth
/// of the forcing term: along a rough one the residual may rise at once where the equations are strongly
/// nonlinear. The residual returned in the history is the merit with the scaling of
/// its own state. On any stop `u` holds the last accepted state. A solve that goes on makes the steps that it
/// would have made otherwise, bit for bit, unless a preconditioner had given way before: it is tried again.
pub fn solve<B: Backend, P: NonlinearProblem<B>>(
    backend: &B,
    problem: &mut P,
    linear: &mut LinearSolver<B, P::Real, P::Jacobian>,
    u: &mut B::Vector<f64>,
    mut history: History,
    settings: &NewtonSettings,
    observer: &mut dyn Observer<B>,
) -> Result<NewtonReport, SolverError> {
    let n = problem.unknowns();
    let mut solve = NewtonSolve {
        backend,
        problem,
        linear,
        settings,
        observer,
        events: Vec::new(),
        f: backend.unset(n)?,
        trial: backend.unset(n)?,
        right: backend.unset(n)?,
        solution: backend.unset(n)?,
        largest: 0.0,
        keeps: false,
    };
    let Evaluation { mut merit, mut folded, min_area, .. } = solve.evaluate(u)?;
    if history.steps.is_empty() {
        let (residual, folded_cells) = (merit, folded);
        let start = NewtonStep { residual, min_area, folded_cells, ..NewtonStep::default() };
        history.steps.push(start);
        solve.observer.newton(&history.steps[0]);
    }
    let stop = loop {
        if !merit.is_finite() {
            break NewtonStop::NotFinite;
        }
        if merit <= settings.tolerance {
            break NewtonStop::Converged;
        }
        let step = history.steps.len();
        if step > settings.max_iterations {
            break NewtonStop::IterationLimit { limit: settings.max_iterations };
        }
        if solve.observer.accepted(backend, u, &history)?.is_break() {
            break NewtonStop::Interrupted;
        }
        let before = history.steps.iter().nth_back(1).map(|before| before.residual);
        let mut record = NewtonStep {
            step,
            forcing_term: settings.forcing.term(merit, before, settings.tolerance),
            ..NewtonStep::default()
        };
        solve.keeps = keeps(&history, (merit, record.forcing_term), n, settings.tolerance);
        if let Err(stop) = solve.step(u, merit, folded, &mut record)? {
            break stop;
        }
        std::mem::swap(u, &mut solve.trial);
        (folded, merit) = (record.folded_cells, record.residual);
        solve.observer.newton(&record);
        history.steps.push(record);
    };
    Ok(NewtonReport { stop, history, events: solve.events })
}

impl<B: Backend, P: NonlinearProblem<B>> NewtonSolve<'_, B, P> {
    /// f ← F(u) with the scaling of u, which is kept.
    fn evaluate(&mut self, u: &B::Vector<f64>) -> Result<Evaluation> {
        let evaluation = self.problem.residual(self.backend, u, &mut self.f)?;
        self.problem.keep_scaling(self.backend);
        self.largest = evaluation.largest;
        Ok(evaluation)
    }

    /// trial ← u + λ d, accepted, and f ← F(trial) with its scaling, which is kept.
    fn step(
        &mut self,
        u: &B::Vector<f64>,
        merit: f64,
        folded: usize,
        record: &mut NewtonStep,
    ) -> Result<Result<(), NewtonStop>, SolverError> {
        let mut again = false;
        loop {
            if let Err(stop) = self.direction(record)? {
                return Ok(Err(stop));
            }
            let found = self.search(u, (merit, folded), record)?;
            let tighter = (TIGHTER * record.forcing_term).max(self.settings.forcing.min);
            let refused = matches!(found, Err(NewtonStop::LineSearch { .. }));
            if !refused || again || tighter >= record.forcing_term {
                return Ok(found);
            }
            self.events.push(format!(
                "Newton step {}: no step length was accepted; the direction is solved for again, to \
                 {tighter:.1e}",
                record.step
            ));
            (again, record.forcing_term) = (true, tighter);
            // The line search left that of its last trial.
            self.evaluate(u)?;
        }
    }

    /// solution ← d / max |F| with J d = −F to the forcing term, in the precision of the Jacobian. The right side is so
    /// scaled that single precision does not lose it.
    fn direction(
        &mut self,
        record: &mut NewtonStep,
    ) -> Result<Result<(), NewtonStop>, SolverError> {
        let Self { backend, problem, linear, observer, events, keeps, largest, .. } = self;
        let started = Instant::now();
        let jacobian = problem.linearise(backend)?;
        let kept = *keeps && linear.keep();
        let updated = if kept { Ok(()) } else { linear.update(backend, jacobian) };
        let set_up = Instant::now();
        let (mut residuals, term) = (Vec::new(), record.forcing_term);
        let solved = updated.and_then(|()| {
            backend.convert(-1.0 / *largest, &self.f, &mut self.right)?;
            let mut observe = |iteration, relative| {
                residuals.push(relative);
                observer.linear(iteration, relative);
            };
            let (right, x) = (&self.right, &mut self.solution);
            backend.lincomb(None, x, 0.0, &[])?;
            linear.solve_from((backend, jacobian, right), term, (x, true), &mut observe)
        });
        let at_step = |event: String| format!("Newton step {}: {event}", record.step);
        let report = match solved {
            Err(SolverError::Preconditioner(failure)) => {
                events.extend(linear.take_events().into_iter().map(at_step));
                return Ok(Err(NewtonStop::Preconditioner(failure)));
            }
            solved => solved?,
        };
        events.extend(report.events.into_iter().map(at_step));
        record.setup_seconds += (set_up - started).as_secs_f64();
        record.linear_seconds += set_up.elapsed().as_secs_f64();
        record.linear_iterations += report.iterations;
        record.linear_residuals.extend(residuals);
        // A direction that lowers the linear residual at all is tried; the line search judges it.
        if report.relative_residual >= 1.0 || !report.relative_residual.is_finite() {
            return Ok(Err(NewtonStop::Linear(report.stop)));
        }
        if report.relative_residual > 1.01 * term {
            events.push(format!(
                "Newton step {}: {}; the direction reached {:.1e} where {term:.1e} was asked",
                record.step, report.stop, report.relative_residual
            ));
        }
        Ok(Ok(()))
    }

    /// trial ← u + λ d, d = max |F| times the solution, with the largest λ = 1, ½, ¼, … that is accepted.
    fn search(
        &mut self,
        u: &B::Vector<f64>,
        (merit, folded): (f64, usize),
        record: &mut NewtonStep,
    ) -> Result<Result<(), NewtonStop>, SolverError> {
        let backend = self.backend;
        let mut step_length = 1.0;
        let mut refused = NewtonStop::NotFinite;
        for _ in 0..=self.settings.max_halvings {
            // λ is a power of two, so that it rounds nothing; a vector for d would only take memory.
            backend.convert(step_length * self.largest, &self.solution, &mut self.trial)?;
            backend.lincomb(None, &mut self.trial, 1.0, &[(1.0, u)])?;
            let found = self.problem.residual(backend, &self.trial, &mut self.f)?;
            let at_trial = found.kept_merit;
            if at_trial <= (1.0 - DECREASE * step_length) * merit && found.folded <= folded {
                self.problem.keep_scaling(backend);
                self.largest = found.largest;
                (record.step_length, record.residual) = (step_length, found.merit);
                (record.min_area, record.folded_cells) = (found.min_area, found.folded);
                return Ok(Ok(()));
            }
            refused = if at_trial.is_finite() {
                NewtonStop::LineSearch { folded: found.folded, ratio: at_trial / merit }
            } else {
                NewtonStop::NotFinite
            };
            step_length *= 0.5;
        }
        Ok(Err(refused))
    }
}
