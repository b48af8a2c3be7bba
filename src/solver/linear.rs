//! The linear solve of a Newton step: method, preconditioner, and what happens on a breakdown.

use super::krylov::{Bicgstab, Gmres, KrylovReport, Method, System, Target};
use super::{LinearOperator, LinearStop, Preconditioner, SolverError};
use crate::backend::{Backend, Real};

/// Restarts of BiCGStab after a breakdown before flexible GMRES takes over.
const RESTARTS: usize = 2;

/// Precision of a linear solve: matrix, vectors and preconditioner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// `f32`.
    Single,
    /// `f64`.
    Double,
}

/// Settings of a linear solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearSettings {
    /// Krylov method.
    pub method: Method,
    /// Limit of iterations, over all attempts.
    pub max_iterations: usize,
    /// GMRES restarts after this many iterations.
    pub restart: usize,
}

/// How the linear solve of a Newton step went.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearReport {
    /// Why it stopped.
    pub stop: LinearStop,
    /// Iterations of all attempts.
    pub iterations: f64,
    /// ‖b − A x‖ / ‖b‖ at the end.
    pub relative_residual: f64,
    /// Breakdowns met on the way, in words.
    pub events: Vec<String>,
}

/// Solves A x = b with a preconditioned Krylov method; room is kept between solves.
pub struct LinearSolver<B: Backend, T: Real, M> {
    settings: LinearSettings,
    preconditioner: M,
    n: usize,
    bicgstab: Option<Bicgstab<B, T>>,
    gmres: Option<Gmres<B, T>>,
}

impl<B: Backend, T: Real, M> LinearSolver<B, T, M> {
    /// A solver for systems of `n` unknowns.
    pub fn new(settings: LinearSettings, n: usize, preconditioner: M) -> Self {
        Self { settings, preconditioner, n, bicgstab: None, gmres: None }
    }

    /// Prepares the preconditioner for the present values of `a`.
    pub fn update<A>(&mut self, backend: &B, a: &A) -> Result<(), SolverError>
    where
        M: Preconditioner<B, T, A>,
    {
        self.preconditioner.update(backend, a)
    }

    /// Solves A x = b from x = 0 to ‖b − A x‖ ≤ rtol ‖b‖.
    ///
    /// Where BiCGStab breaks down it restarts from the x it has reached, at most twice; then
    /// flexible GMRES goes on from there. `observe` gets the iteration and the relative residual.
    pub fn solve<A>(
        &mut self,
        backend: &B,
        a: &A,
        b: &B::Vector<T>,
        rtol: f64,
        x: &mut B::Vector<T>,
        observe: &mut dyn FnMut(f64, f64),
    ) -> Result<LinearReport, SolverError>
    where
        A: LinearOperator<B, T>,
        M: Preconditioner<B, T, A>,
    {
        backend.lincomb::<T, 0>(x, 0.0, [])?;
        let [square] = backend.dots([(b, b)])?;
        let scale = square.sqrt();
        let mut report = LinearReport {
            stop: LinearStop::Converged,
            iterations: 0.0,
            relative_residual: 0.0,
            events: Vec::new(),
        };
        if scale == 0.0 {
            return Ok(report);
        }
        let mut method = self.settings.method;
        loop {
            let done = report.iterations;
            let left = self.settings.max_iterations.saturating_sub(done.ceil() as usize);
            let target = Target { norm: rtol * scale, max_iterations: left };
            let mut relative = |iteration: f64, norm: f64| observe(done + iteration, norm / scale);
            let mut system = System {
                backend,
                operator: a,
                preconditioner: &mut self.preconditioner,
                b,
                observe: &mut relative,
            };
            let KrylovReport { stop, iterations, residual } = match method {
                Method::Bicgstab => present(&mut self.bicgstab, || Bicgstab::new(backend, self.n))?
                    .solve(&mut system, target, x)?,
                Method::Gmres => {
                    let restart = self.settings.restart;
                    present(&mut self.gmres, || Gmres::new(backend, self.n, restart))?.solve(
                        &mut system,
                        target,
                        x,
                    )?
                }
            };
            report.stop = stop;
            report.iterations += iterations;
            report.relative_residual = residual / scale;
            let broken = matches!(stop, LinearStop::Breakdown { .. } | LinearStop::NotFinite);
            if !broken || method == Method::Gmres {
                return Ok(report);
            }
            if !residual.is_finite() {
                backend.lincomb::<T, 0>(x, 0.0, [])?;
            }
            if report.events.len() < RESTARTS {
                report.events.push(format!("{stop}; BiCGStab restarted"));
            } else {
                report.events.push(format!("{stop}; flexible GMRES took over"));
                method = Method::Gmres;
            }
        }
    }
}

/// The value, made first if it is not there yet.
fn present<V, E>(slot: &mut Option<V>, make: impl FnOnce() -> Result<V, E>) -> Result<&mut V, E> {
    let value = match slot.take() {
        Some(value) => value,
        None => make()?,
    };
    Ok(slot.insert(value))
}
