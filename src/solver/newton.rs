//! Inexact Newton with Eisenstat–Walker forcing, backtracking and a guard against folded cells.

use super::history::{History, NewtonStep};
use super::linear::LinearSolver;
use super::{NewtonStop, NonlinearProblem, SolverError};
use crate::backend::{Backend, CellGuard, Result, Scaling};
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
                .max(0.25 * tolerance / merit)
                .clamp(self.min, self.max),
        }
    }

    /// Forcing term of a second direction, where no step length along one of `term` was accepted.
    fn tighter(&self, term: f64) -> f64 {
        (TIGHTER * term).max(self.min)
    }
}

/// Part of a forcing term to which a direction is solved for that no step length was accepted of.
const TIGHTER: f64 = 0.01;

/// How a Newton solve went.
#[derive(Debug, Clone)]
#[must_use]
pub struct NewtonReport {
    /// Why it stopped.
    pub stop: NewtonStop,
    /// Every step, the start included.
    pub history: History,
    /// What happened in linear solves beside the usual, in words.
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

struct Work<B: Backend, P: NonlinearProblem<B>> {
    f: B::Vector<f64>,
    direction: B::Vector<f64>,
    trial: B::Vector<f64>,
    right: B::Vector<P::Real>,
    solution: B::Vector<P::Real>,
}

struct Accepted {
    step_length: f64,
    guard: CellGuard,
}

/// Solves F(u) = 0 from the guess in `u`.
///
/// Each step solves J d = −F to the forcing term, then halves λ until u + λ d folds no cell more
/// than u does (none, if u is unfolded) and lowers the merit sufficiently, with the row scaling
/// of the step's start. Where there is no such λ, the direction is solved for once more, to a hundredth
/// of the forcing term: along a rough one the residual may rise at once where the equations are strongly
/// nonlinear. The residual returned in the history is the merit with the scaling of
/// its own state. On any stop `u` holds the last accepted state.
pub fn solve<B: Backend, P: NonlinearProblem<B>>(
    backend: &B,
    problem: &mut P,
    linear: &mut LinearSolver<B, P::Real, P::Jacobian>,
    u: &mut B::Vector<f64>,
    settings: &NewtonSettings,
    observer: &mut dyn Observer<B>,
) -> Result<NewtonReport, SolverError> {
    resume(backend, problem, linear, u, History::default(), settings, observer)
}

/// Goes on with a solve that was ended: `history` led to the state `u`.
///
/// The steps to come are those that [`solve`] would have made, bit for bit, unless a preconditioner
/// had given way before: it is tried again.
pub fn resume<B: Backend, P: NonlinearProblem<B>>(
    backend: &B,
    problem: &mut P,
    linear: &mut LinearSolver<B, P::Real, P::Jacobian>,
    u: &mut B::Vector<f64>,
    mut history: History,
    settings: &NewtonSettings,
    observer: &mut dyn Observer<B>,
) -> Result<NewtonReport, SolverError> {
    let n = problem.unknowns();
    let mut work = Work::<B, P> {
        f: backend.zeros(n)?,
        direction: backend.zeros(n)?,
        trial: backend.zeros(n)?,
        right: backend.zeros(n)?,
        solution: backend.zeros(n)?,
    };
    let mut events = Vec::new();

    let mut merit = problem.residual(backend, u, Scaling::Renewed, &mut work.f)?;
    let mut guard = problem.guard(backend)?;
    let mut before = match history.steps.as_slice() {
        [.., before, _] => Some(before.residual),
        _ => None,
    };
    if history.steps.is_empty() {
        history.steps.push(NewtonStep {
            residual: merit,
            min_area: guard.min_area,
            folded_cells: guard.folded,
            ..NewtonStep::default()
        });
        observer.newton(&history.steps[0]);
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
        if observer.accepted(backend, u, &history)?.is_break() {
            break NewtonStop::Interrupted;
        }
        let mut record = NewtonStep {
            step,
            forcing_term: settings.forcing.term(merit, before, settings.tolerance),
            ..NewtonStep::default()
        };
        let mut again = false;
        let found = loop {
            let directed =
                direction(backend, problem, linear, &mut work, &mut record, &mut events, observer)?;
            let found = match directed {
                Ok(()) => search(backend, problem, u, &mut work, merit, guard, settings)?,
                Err(stop) => Err(stop),
            };
            let tighter = settings.forcing.tighter(record.forcing_term);
            match found {
                Err(NewtonStop::LineSearch { .. }) if !again && tighter < record.forcing_term => {}
                found => break found,
            }
            events.push(format!(
                "Newton step {step}: no step length was accepted; the direction is solved for again, \
                 to {tighter:.1e}"
            ));
            (again, record.forcing_term) = (true, tighter);
            // The line search left that of its last trial.
            problem.residual(backend, u, Scaling::Renewed, &mut work.f)?;
        };
        let accepted = match found {
            Ok(accepted) => accepted,
            Err(stop) => break stop,
        };
        std::mem::swap(u, &mut work.trial);
        guard = accepted.guard;
        before = Some(merit);
        merit = problem.residual(backend, u, Scaling::Renewed, &mut work.f)?;
        record.residual = merit;
        record.step_length = accepted.step_length;
        record.min_area = guard.min_area;
        record.folded_cells = guard.folded;
        observer.newton(&record);
        history.steps.push(record);
    };
    Ok(NewtonReport { stop, history, events })
}

/// direction ← d with J d = −F to the forcing term, in the precision of the Jacobian. The right
/// side is scaled by max |F| so that single precision does not lose it.
fn direction<B: Backend, P: NonlinearProblem<B>>(
    backend: &B,
    problem: &mut P,
    linear: &mut LinearSolver<B, P::Real, P::Jacobian>,
    work: &mut Work<B, P>,
    record: &mut NewtonStep,
    events: &mut Vec<String>,
    observer: &mut dyn Observer<B>,
) -> Result<Result<(), NewtonStop>, SolverError> {
    let started = Instant::now();
    let size = backend.max_abs(&work.f)?;
    let jacobian = problem.linearise(backend)?;
    let updated = linear.update(backend, jacobian);
    let set_up = Instant::now();
    let (mut residuals, term) = (Vec::new(), record.forcing_term);
    let solved = updated.and_then(|()| {
        backend.convert(-1.0 / size, &work.f, &mut work.right)?;
        let mut observe = |iteration, relative| {
            residuals.push(relative);
            observer.linear(iteration, relative);
        };
        linear.solve(backend, jacobian, &work.right, term, &mut work.solution, &mut observe)
    });
    let report = match solved {
        Err(SolverError::Preconditioner(failure)) => {
            events.extend(at_step(record.step, linear.take_events()));
            return Ok(Err(NewtonStop::Preconditioner(failure)));
        }
        solved => solved?,
    };
    record.setup_seconds += (set_up - started).as_secs_f64();
    record.linear_seconds += set_up.elapsed().as_secs_f64();
    record.linear_iterations += report.iterations;
    record.linear_residuals.extend(residuals);
    events.extend(at_step(record.step, report.events));
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
    backend.convert(size, &work.solution, &mut work.direction)?;
    Ok(Ok(()))
}

/// Events of a linear solve with their Newton step.
fn at_step(step: usize, events: Vec<String>) -> impl Iterator<Item = String> {
    events.into_iter().map(move |event| format!("Newton step {step}: {event}"))
}

/// trial ← u + λ d with the largest λ = 1, ½, ¼, … that is accepted.
fn search<B: Backend, P: NonlinearProblem<B>>(
    backend: &B,
    problem: &mut P,
    u: &B::Vector<f64>,
    work: &mut Work<B, P>,
    merit: f64,
    guard: CellGuard,
    settings: &NewtonSettings,
) -> Result<Result<Accepted, NewtonStop>, SolverError> {
    let mut step_length = 1.0;
    let mut refused = NewtonStop::NotFinite;
    for _ in 0..=settings.max_halvings {
        let terms = [(1.0, u), (step_length, &work.direction)];
        backend.lincomb(None, &mut work.trial, 0.0, &terms)?;
        let trial_merit = problem.residual(backend, &work.trial, Scaling::Kept, &mut work.f)?;
        let trial_guard = problem.guard(backend)?;
        let lower = trial_merit <= (1.0 - DECREASE * step_length) * merit;
        if lower && trial_guard.folded <= guard.folded {
            return Ok(Ok(Accepted { step_length, guard: trial_guard }));
        }
        refused = if trial_merit.is_finite() {
            NewtonStop::LineSearch { folded: trial_guard.folded, ratio: trial_merit / merit }
        } else {
            NewtonStop::NotFinite
        };
        step_length *= 0.5;
    }
    Ok(Err(refused))
}
