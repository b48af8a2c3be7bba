//! The parts of a multigrid cycle.

use super::{FIELD, Rows};
use crate::BenchBackend;
use gridgen::backend::{Coarsening, EllipticData, LevelSize, Order, Real, Scaling};
use gridgen::elliptic::GridProblem;
use gridgen::solver::{NonlinearProblem, SolverError};

/// Values of the finest operator at a point, by lines of one direction: left, right, prev and next
/// 4 each, d, c, and the inverse pivot's 4.
const FINE: usize = 22;
/// Values of a coarse operator at a point: nine blocks and the inverse pivot.
const COARSE: usize = 40;
/// Unknowns of a point.
const PAIR: usize = 2;
/// Points of the finest level for one of the level below.
const RATIO: usize = 4;

/// Values that a sweep along lines of one direction moves at a point: the operator without the
/// centre's `centre` values, the right side, the solution read and written.
const fn sweep(operator: usize, centre: usize) -> usize {
    operator - centre + 3 * PAIR
}

/// Values that a sweep in both directions moves at a point; the solution is turned `turns` times
/// from the layout of one direction to that of the other, read and written.
const fn both(operator: usize, centre: usize, turns: usize) -> usize {
    2 * sweep(operator, centre) + turns * 2 * PAIR
}

/// Values that the residual moves at a point: it is zero on the colour relaxed last, half of the
/// points. Operator without inverse pivots, right side, solution, residual.
const fn residual(operator: usize) -> usize {
    usize::midpoint(operator - 4, 3 * PAIR)
}

/// Values that the restriction moves at a fine point: half of the residuals are read; the coarse
/// right side is written in one layout, read, and written in the other, the solution cleared.
const RESTRICTION: usize = PAIR / 2 + 4 * PAIR / RATIO;
/// Values that the prolongation moves at a fine point.
const PROLONGATION: usize = PAIR / RATIO + 2 * PAIR;
/// Values that set-up of the finest level moves at a point: the matrix is read; the operator is written by
/// lines of both directions and read again for the second and for each factorisation.
const FINEST: usize = PAIR * FIELD + 5 * FINE;
/// Values that set-up of the second level moves at a fine point.
const SECOND: usize = FINE + 5 * COARSE / RATIO;

/// The parts of a cycle on the two finest levels.
pub(super) fn rows<B: BenchBackend, T: Real>(
    rows: &mut Rows<'_, '_, B>,
    data: &EllipticData,
) -> Result<(), SolverError> {
    let backend = rows.bench.backend;
    let size = LevelSize { mi: data.mi, mj: data.mj, periodic: data.periodic };
    let n = 2 * data.mi * data.mj;
    let bytes = |values: usize| values * size_of::<T>() * data.mi * data.mj;
    let (state, u) = backend.elliptic(data)?;
    let mut problem = GridProblem::<B, T>::new(backend, state, data.wall.is_some())?;
    let mut f = backend.zeros(n)?;
    problem.residual(backend, &u, Scaling::Renewed, &mut f)?;
    let jacobian = problem.linearise(backend)?;
    let mut r = backend.zeros::<T>(n)?;
    backend.convert(1.0, &f, &mut r)?;
    let a = jacobian.field();
    let factored = |level| {
        backend.factor(std::slice::from_ref(&level))?;
        Ok::<_, SolverError>(level)
    };
    let finest = |old, coarsening| {
        factored(backend.finest_level::<T, T>(old, (size, coarsening), a, None)?)
    };
    let second = |old, fine: &_| factored(backend.coarse_level(old, fine, Coarsening::Full)?);
    for (coarsening, name, moved) in [
        (Coarsening::Xi, "sweep along eta", sweep(FINE, 1)),
        (Coarsening::Full, "sweep along eta, then xi", both(FINE, 1, 2)),
    ] {
        let mut fine = finest(None, coarsening)?;
        backend.load_right(&r, &mut fine)?;
        rows.add(name, bytes(moved), || Ok(backend.smooth(&mut fine, Order::Forward)?))?;
    }
    let mut kept = None;
    rows.add("set-up of the finest level", bytes(FINEST), || {
        kept = Some(finest(kept.take(), Coarsening::Full)?);
        Ok(())
    })?;
    let mut fine = finest(kept, Coarsening::Full)?;
    let mut kept = None;
    rows.add("set-up of the second level", bytes(SECOND), || {
        kept = Some(second(kept.take(), &fine)?);
        Ok(())
    })?;
    let mut coarse = second(kept, &fine)?;
    backend.load_right(&r, &mut fine)?;
    rows.add("residual and restriction", bytes(residual(FINE) + RESTRICTION), || {
        Ok(backend.restrict_residual(&mut fine, &mut coarse)?)
    })?;
    rows.add("prolongation", bytes(PROLONGATION), || Ok(backend.prolong(&coarse, &mut fine)?))
}
