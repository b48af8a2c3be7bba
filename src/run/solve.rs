//! From the initial grid to the solution on a backend.

use std::path::{Path, PathBuf};

use super::export::{Export, Exporting};
use super::follow::{Follow, download};
use super::identity::identity;
use crate::backend::{EllipticBackend, MultigridBackend, Real};
use crate::case::Case;
use crate::elliptic::{EllipticSettings, GridPreconditioner, GridProblem};
use crate::error::Error;
use crate::grid::Grid;
use crate::io::restart::{self, Identity, Restart};
use crate::pde::control::ControlSettings;
use crate::solver::history::History;
use crate::solver::linear::{LinearSettings, LinearSolver, Precision};
use crate::solver::newton::{self, Forcing, NewtonSettings};
use crate::solver::precond::MultigridSettings;
use crate::solver::{NewtonStop, NonlinearProblem};

/// What a solve starts from.
pub(super) struct Start<'a, 'f> {
    pub(super) case: &'a Case,
    pub(super) initial: Grid,
    pub(super) normals: &'a [[f64; 2]],
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

impl Start<'_, '_> {
    pub(super) fn solve<B, T>(self, backend: &B) -> Result<Solved, Error>
    where
        B: EllipticBackend + MultigridBackend,
        T: Real,
    {
        let Self { case, initial, normals, tolerance, export, restart, observer } = self;
        let settings = EllipticSettings {
            control: ControlSettings {
                base: case.control.base,
                smoothing: case.control.smoothing,
                smoothing_distance: case.control.smoothing_distance,
                clip: case.control.clip,
            },
            wall: case.control.wall,
            first_cell: case.grid.first_cell,
            decay: case.control.decay,
        };
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
        let (problem, mut u) = GridProblem::<_, T>::new(backend, &initial, normals, &settings)?;
        let n = problem.unknowns();
        let mut history = History::default();
        if let Some(path) = restart {
            let Restart { history: taken, state, .. } = usable_restart(path, &identity(case)?, n)?;
            backend.upload(&state, &mut u)?;
            history = taken;
        }
        // The solve needs the room.
        let Grid { topology, ni, nj, .. } = initial;
        let preconditioner = GridPreconditioner::new(
            case.linear.preconditioner,
            MultigridSettings {
                cycle: case.multigrid.cycle,
                sweeps: case.multigrid.sweeps,
                levels: case.multigrid.levels,
                coarsening: case.multigrid.coarsening,
                precision: Precision::Single,
            },
            problem.size(),
        );
        let mut problem = Exporting::new(problem, export);
        let mut linear = LinearSolver::new(linear_settings, problem.unknowns(), preconditioner);
        observer.unknowns = n;
        let report = newton::resume(
            backend,
            &mut problem,
            &mut linear,
            &mut u,
            history,
            &newton_settings,
            observer,
        )?;
        let state = match report.stop {
            NewtonStop::Interrupted | NewtonStop::IterationLimit { .. } => {
                download(backend, &u, n)?
            }
            _ => Vec::new(),
        };
        let (mut problem, exported) = problem.finish();
        drop(linear);
        let mut grid = Grid::new(topology, ni, nj);
        problem.store(backend, &u, &mut grid)?;
        Ok(Solved { grid, report, state, exported: exported? })
    }
}

/// A restart file that belongs to these equations of `n` unknowns.
fn usable_restart(path: &Path, identity: &Identity, n: usize) -> Result<Restart, Error> {
    let restart = restart::read(path)?;
    restart.check(path, identity, n)?;
    Ok(restart)
}
