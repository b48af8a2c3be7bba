//! A linear system on a backend.

use std::time::Instant;

use super::options::SystemOptions;
use super::report::SystemTiming;
use crate::backend::{Backend, DeviceError, SparseBackend, scalars};
use crate::generate::Progress;
use crate::solver::SolverError;
use crate::solver::linear::{LinearReport, LinearSettings, LinearSolver};
use crate::solver::precond::FromMatrix;

/// What a solve ends with.
pub(super) struct Solved {
    pub(super) x: Vec<f64>,
    pub(super) report: LinearReport,
    /// Iterations and the relative residuals after them.
    pub(super) residuals: Vec<[f64; 2]>,
}

/// Solves A x = b from x = 0 as the options ask for it, with what makes A on the backend. On one of
/// several ranks A, b and x are its rows.
pub(super) fn solve_on<B: SparseBackend>(
    backend: &B,
    (matrix, b): (impl FnOnce(&B) -> Result<B::CsrMatrix<f64>, DeviceError>, &[f64]),
    options: &SystemOptions,
    timing: &mut SystemTiming,
    progress: &mut dyn Progress,
) -> Result<Solved, SolverError> {
    let n = b.len();
    let (ready, scalars) = (backend.zeros(1)?, scalars::room(backend)?);
    let mut clock = Clock { backend, ready, scalars, last: Instant::now() };
    progress.phase("set-up");
    let operator = matrix(backend)?;
    let (mut right, mut x) = (backend.zeros::<f64>(n)?, backend.zeros::<f64>(n)?);
    backend.upload(b, &mut right)?;
    timing.set_up_seconds = clock.lap()?;
    progress.phase("analysis");
    let mut preconditioner = FromMatrix::new(options.preconditioner);
    preconditioner.analyse(backend, &operator)?;
    timing.analysis_seconds = clock.lap()?;
    progress.phase("factorisation");
    let settings = LinearSettings {
        method: options.method,
        max_iterations: options.max_iterations,
        restart: options.restart,
    };
    let mut solver = LinearSolver::new(settings, n, preconditioner);
    solver.update(backend, &operator)?;
    timing.factorisation_seconds = clock.lap()?;
    progress.phase("solve");
    let mut residuals = vec![[0.0, 1.0]];
    let mut observe = |iteration, residual| {
        residuals.push([iteration, residual]);
        progress.linear(iteration, residual);
    };
    let report =
        solver.solve(backend, &operator, &right, options.tolerance, &mut x, &mut observe)?;
    timing.solve_seconds = clock.lap()?;
    let mut host = vec![0.0; n];
    backend.download(&x, &mut host)?;
    Ok(Solved { x: host, report, residuals })
}

/// Time between two moments at which a backend has nothing left to do.
struct Clock<'a, B: Backend> {
    backend: &'a B,
    /// An inner product that is read waits for all work before it.
    ready: B::Vector<f64>,
    scalars: B::Vector<f64>,
    last: Instant,
}

impl<B: Backend> Clock<'_, B> {
    /// Seconds since the last call.
    fn lap(&mut self) -> Result<f64, DeviceError> {
        scalars::read_dots(self.backend, &mut self.scalars, [(&self.ready, &self.ready)])?;
        let before = std::mem::replace(&mut self.last, Instant::now());
        Ok((self.last - before).as_secs_f64())
    }
}
