//! The parts of a multigrid cycle.

use super::{Rows, first_system};
use crate::BenchBackend;
use gridgen::backend::{Coarsening, EllipticData, LevelSize, Order, Real};
use gridgen::solver::{NonlinearProblem, SolverError};

/// Values of the finest operator at a point, for lines of one direction: ten numbers and the inverse pivot.
pub(super) const FINEST: usize = 14;
/// Values of the matrix of the finest level at a point.
pub(super) const MATRIX: usize = 10;
/// Values of a coarse operator at a point: nine blocks and the inverse pivot.
const COARSE: usize = 40;
/// Unknowns of a point.
const PAIR: usize = 2;
/// Points of the finest level for each point of the next level.
const RATIO: usize = 4;

/// Values that a sweep along lines of one direction moves at a point: the operator, the right-hand side, and the
/// solution, read and written.
const fn sweep(operator: usize) -> usize {
    operator + 3 * PAIR
}

/// Values that a sweep in both directions moves at a point. The solution is transposed `turns` times between
/// the layouts of the two directions, and read and written each time.
const fn both(operator: usize, turns: usize) -> usize {
    2 * sweep(operator) + turns * 2 * PAIR
}

/// Values that the residual moves at a point: operator without inverse pivots, right-hand side, solution and
/// residual. The residual is zero on the colour relaxed last, so only half of the points count.
const fn residual(operator: usize) -> usize {
    usize::midpoint(operator - 4, 3 * PAIR)
}

/// Values that the restriction moves at a fine point. Half of the residuals are read. The coarse right-hand
/// side is written in one layout, read, and written in the other, and the solution is cleared.
const RESTRICTION: usize = PAIR / 2 + 4 * PAIR / RATIO;
/// Values that the prolongation moves at a fine point.
const PROLONGATION: usize = PAIR / RATIO + 2 * PAIR;
/// The parts of a cycle on the two finest levels.
pub(super) fn rows<B: BenchBackend, T: Real>(
    rows: &mut Rows<'_, B>,
    data: &EllipticData,
) -> Result<(), SolverError> {
    let backend = rows.backend;
    let size = LevelSize { mi: data.mi, mj: data.mj, periodic: data.periodic };
    // The matrix is read; the operator is written for the lines of both directions and read again for the second
    // direction and for each factorisation.
    let finest_moved = MATRIX + 5 * FINEST;
    let second_moved = FINEST + 5 * COARSE / RATIO;
    let bytes = |values: usize| values * size_of::<T>() * data.mi * data.mj;
    let (mut problem, r) = first_system::<B, T>(backend, data)?;
    let jacobian = problem.linearise(backend)?;
    let a = jacobian.field();
    let factored = |level| {
        backend.factor(std::slice::from_ref(&level))?;
        Ok::<_, SolverError>(level)
    };
    let finest = |old, coarsening| {
        factored(backend.finest_level::<T, T>(old, (size, coarsening), false, a, None)?)
    };
    let second = |old, fine: &_| factored(backend.coarse_level(old, fine, Coarsening::Full)?);
    for (coarsening, name, moved) in [
        (Coarsening::Xi, "sweep along eta", sweep(FINEST)),
        (Coarsening::Full, "sweep along eta, then xi", both(FINEST, 2)),
    ] {
        let mut fine = finest(None, coarsening)?;
        backend.load_right(&r, &mut fine)?;
        rows.add(name, bytes(moved), || Ok(backend.smooth(&mut fine, Order::Forward)?))?;
    }
    let mut kept = None;
    rows.add("set-up of the finest level", bytes(finest_moved), || {
        kept = Some(finest(kept.take(), Coarsening::Full)?);
        Ok(())
    })?;
    let mut fine = finest(kept, Coarsening::Full)?;
    let mut kept = None;
    rows.add("set-up of the second level", bytes(second_moved), || {
        kept = Some(second(kept.take(), &fine)?);
        Ok(())
    })?;
    let mut coarse = second(kept, &fine)?;
    backend.load_right(&r, &mut fine)?;
    rows.add("residual and restriction", bytes(residual(FINEST) + RESTRICTION), || {
        Ok(backend.restrict_residual(&mut fine, &mut coarse)?)
    })?;
    rows.add("prolongation", bytes(PROLONGATION), || Ok(backend.prolong(&coarse, &mut fine, None)?))
}
