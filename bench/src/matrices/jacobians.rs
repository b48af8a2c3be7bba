//! Matrices of the grid equations.

use crate::newton::timed;
use crate::{BenchBackend, Size, ellipses};
use gridgen::backend::EllipticData;
use gridgen::elliptic::GridProblem;
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
    let mut problem = GridProblem::<B, f64>::new(backend, state, Kind::None)?;
    if steps > 0 {
        let multigrid = (Kind::Multigrid, MultigridSettings::default());
        let _ = timed(backend, (&mut problem, &mut u), multigrid, (1e-13, steps))?;
    }
    let mut f = backend.zeros(problem.unknowns())?;
    problem.residual(backend, &u, &mut f)?;
    Ok(problem.linearise(backend)?.to_csr(backend)?)
}
