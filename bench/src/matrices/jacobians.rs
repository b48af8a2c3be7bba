//! Matrices of the grid equations.

use crate::{BenchBackend, Size, ellipses};
use gridgen::backend::EllipticData;
use gridgen::elliptic::{GridPreconditioner, GridProblem};
use gridgen::solver::history::History;
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearSettings, LinearSolver};
use gridgen::solver::newton::{self, Forcing, NewtonSettings};
use gridgen::solver::precond::{Kind, MultigridSettings};
use gridgen::solver::{NonlinearProblem, SolverError};
use gridgen::sparse::Csr;

/// The Jacobian of the grid of ellipses after `steps` Newton steps, scaled by rows, with a frozen wall.
pub(crate) fn jacobian<B: BenchBackend>(
    backend: &B,
    (ni, nj): Size,
    steps: usize,
) -> Result<Csr, SolverError> {
    let data = EllipticData { walls: Default::default(), ..ellipses(ni, nj) };
    let (state, mut u) = backend.elliptic(&data)?;
    let mut problem = GridProblem::<B, f64>::new(backend, state, data.walls[0].is_some())?;
    if steps > 0 {
        let settings = NewtonSettings {
            tolerance: 1e-13,
            max_iterations: steps,
            forcing: Forcing { initial: 0.1, min: 1e-4, max: 0.1 },
            max_halvings: 10,
        };
        let linear = LinearSettings { method: Method::Bicgstab, max_iterations: 1000, restart: 30 };
        let multigrid = MultigridSettings::default();
        let preconditioner =
            GridPreconditioner::new(Kind::Multigrid, multigrid, problem.jacobian());
        let mut linear = LinearSolver::new(linear, problem.unknowns(), preconditioner);
        let _ = newton::solve(
            backend,
            &mut problem,
            &mut linear,
            &mut u,
            History::default(),
            &settings,
            &mut (),
        )?;
    }
    let mut f = backend.zeros(problem.unknowns())?;
    problem.residual(backend, &u, &mut f)?;
    Ok(problem.linearise(backend)?.to_csr(backend)?)
}
