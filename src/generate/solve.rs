//! From the initial grid to the solution on a backend.

use std::path::{Path, PathBuf};

use super::export::{Export, Exporting};
use super::identity::identity;
use super::layout::Layout;
use super::observe::{Follow, download};
use crate::backend::{
    DeviceError, EllipticBackend, GridBackend, LevelSize, MultigridBackend, Real,
};
use crate::case::Case;
use crate::elliptic::{EllipticSettings, GridJacobian, GridPreconditioner, GridProblem};
use crate::error::Error;
use crate::files::restart::{self, Identity, Restart};
use crate::grid::Grid;
use crate::pde::control::ControlSettings;
use crate::solver::history::History;
use crate::solver::linear::{LinearSettings, LinearSolver, Precision};
use crate::solver::newton::{self, Forcing, NewtonSettings, Observer};
use crate::solver::precond::MultigridSettings;
use crate::solver::{NewtonStop, NonlinearProblem, SolverError};

/// What a solve starts from.
pub(super) struct Start<'a, 'f, G> {
    pub(super) case: &'a Case,
    pub(super) initial: G,
    pub(super) layout: &'a Layout,
    pub(super) tolerance: f64,
    pub(super) export: Option<Export<'a>>,
    pub(super) restart: Option<&'a Path>,
    pub(super) observer: &'a mut Follow<'f>,
}

/// What a solve ends with.
pub(super) struct Solved {
    pub(super) grid: Grid,
    pub(super) report: newton::NewtonReport,
    /// The unknowns of a solve that can go on; empty where there is no use in it.
    pub(super) state: Vec<f64>,
    /// Files of the exported linear system.
    pub(super) exported: Vec<PathBuf>,
}

impl<G> Start<'_, '_, G> {
    /// The grid, and the same where it was solved for.
    pub(super) fn solve<B, T>(self, backend: &B) -> Result<(Solved, G), Error>
    where
        B: EllipticBackend + MultigridBackend + GridBackend<Grid = G>,
        T: Real,
    {
        let Self { case, initial, layout, tolerance, export, restart, observer } = self;
        let (topology, ni, nj) = (layout.topology, case.grid.around(), case.grid.nj);
        let (problem, mut u) = GridProblem::<_, T>::on_device(
            backend,
            initial,
            (topology, ni, nj),
            &layout.normals,
            &elliptic_settings(case),
        )?;
        let (n, size) = (problem.unknowns(), problem.size());
        let mut history = History::default();
        if let Some(path) = restart {
            let Restart { history: taken, state, .. } = usable_restart(path, &identity(case)?, n)?;
            backend.upload(&state, &mut u)?;
            history = taken;
        }
        let mut problem = Exporting::new(problem, export, history.newton_iterations());
        observer.unknowns = n;
        let goal = (tolerance, history);
        let (report, grid) = std::thread::scope(|scope| {
            // Room for the nodes is made while the device solves for them.
            let grid = scope.spawn(|| layout.room(nj));
            (iterate(case, goal, backend, (&mut problem, size), &mut u, observer), grid.join())
        });
        let report = report?;
        let state = if can_go_on(report.stop) { download(backend, &u, n)? } else { Vec::new() };
        let (problem, exported) = problem.finish();
        let mut grid = grid.unwrap_or_else(|_| layout.room(nj));
        let nodes = problem.nodes(backend, &u, topology)?;
        let nodes = finished(backend, nodes, layout, report.stop.converged())?;
        backend.fetch(&nodes, &mut grid)?;
        Ok((Solved { grid, report, state, exported: exported? }, nodes))
    }
}

/// A solution as the grid of its layout: with the symmetry of the wall, or the half that is kept.
pub(super) fn finished<B: GridBackend>(
    backend: &B,
    mut nodes: B::Grid,
    layout: &Layout,
    converged: bool,
) -> Result<B::Grid, DeviceError> {
    if let Some(symmetry) = layout.symmetry(converged) {
        backend.restore(symmetry, &mut nodes)?;
    }
    match layout.half {
        Some(symmetry) => backend.half(symmetry, &nodes),
        None => Ok(nodes),
    }
}

/// What the equations ask of the grid.
pub(super) fn elliptic_settings(case: &Case) -> EllipticSettings {
    EllipticSettings {
        control: ControlSettings {
            base: case.control.base,
            smoothing: case.control.smoothing,
            smoothing_distance: case.control.smoothing_distance,
            clip: case.control.clip,
        },
        wall: case.control.wall,
        first_cell: case.grid.first_cell,
        decay: case.control.decay,
    }
}

/// Newton's method as the case asks for it, down to a tolerance and after what a history tells, on a
/// problem of this size.
pub(super) fn iterate<B, T, P>(
    case: &Case,
    (tolerance, history): (f64, History),
    backend: &B,
    (problem, size): (&mut P, LevelSize),
    u: &mut B::Vector<f64>,
    observer: &mut dyn Observer<B>,
) -> Result<newton::NewtonReport, SolverError>
where
    B: EllipticBackend + MultigridBackend,
    T: Real,
    P: NonlinearProblem<B, Real = T, Jacobian = GridJacobian<B, T>>,
{
    let linear_settings = LinearSettings {
        method: case.linear.solver,
        max_iterations: case.linear.max_iterations,
        restart: case.linear.restart,
    };
    let newton_settings = NewtonSettings {
        tolerance,
        max_iterations: case.newton.max_iterations,
        forcing: Forcing {
            initial: case.newton.forcing_initial,
            min: case.newton.forcing_min,
            max: case.newton.forcing_max,
        },
        max_halvings: case.newton.max_halvings,
    };
    let preconditioner = GridPreconditioner::scheduled(
        (case.linear.preconditioner, case.linear.schedule),
        MultigridSettings {
            cycle: case.multigrid.cycle,
            sweeps: case.multigrid.sweeps,
            levels: case.multigrid.levels,
            coarsening: case.multigrid.coarsening,
            precision: Precision::Single,
        },
        size,
    );
    let mut linear = LinearSolver::new(linear_settings, problem.unknowns(), preconditioner);
    newton::resume(backend, problem, &mut linear, u, history, &newton_settings, observer)
}

/// Whether a solve that stopped so can go on from its state.
pub(super) fn can_go_on(stop: NewtonStop) -> bool {
    matches!(stop, NewtonStop::Interrupted | NewtonStop::IterationLimit { .. })
}

/// A restart file that belongs to these equations of `n` unknowns.
pub(super) fn usable_restart(path: &Path, identity: &Identity, n: usize) -> Result<Restart, Error> {
    let restart = restart::read(path)?;
    restart.check(path, identity, n)?;
    Ok(restart)
}
