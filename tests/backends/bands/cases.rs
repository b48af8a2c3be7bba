//! A grid that is solved on any number of bands.

use std::sync::Mutex;

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::cuda::CudaBackend;
use gridgen::backend::{Bands, EllipticBackend, EllipticData, MultigridBackend};
use gridgen::elliptic::GridProblem;
use gridgen::grid::Grid;
use gridgen::grid::initial::InitialMethod;
use gridgen::pde::control::Wall;
use gridgen::solver::SolverError;
use gridgen::solver::krylov::Method;
use gridgen::solver::newton::NewtonReport;
use gridgen::solver::precond::Kind;

use support::grids::distance;
use support::problems::{TIGHT, newton, settings};
use support::walls::WallPoints;

const FIRST_CELL: f64 = 1e-3;
/// Tolerance on coordinates for a residual of 1e-12, in cells of up to a few chords.
const SAME: f64 = 1e-9;

/// A problem, and the methods to solve it with.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// A smooth body with a seam that is solved for; otherwise a NACA 4412.
    pub periodic: bool,
    pub nodes: (usize, usize),
    pub wall: Wall,
    pub kind: Kind,
    pub method: Method,
}

/// A frozen wall of a NACA section, solved by `BiCGStab` with a diagonal.
pub const JACOBI: Case = Case {
    periodic: false,
    nodes: (49, 17),
    wall: Wall::Frozen,
    kind: Kind::Jacobi,
    method: Method::Bicgstab,
};

pub struct Solved {
    pub grid: Grid,
    pub report: NewtonReport,
}

impl Case {
    /// The initial grid and its equations.
    pub fn start(self) -> (Grid, EllipticData) {
        let points = if self.periodic {
            WallPoints::ellipse(0.3, self.nodes.0)
        } else {
            WallPoints::naca("4412", self.nodes.0)
        };
        let grid = points.initial(InitialMethod::Hyperbolic, self.nodes.1, FIRST_CELL).grid;
        let data = EllipticData::new(&grid, &points.normals, &settings(self.wall, FIRST_CELL));
        (grid, data)
    }

    /// Solves on one backend, which may be a rank.
    fn solve<B: EllipticBackend + MultigridBackend>(
        self,
        backend: &B,
        data: &EllipticData,
        grid: &Mutex<Grid>,
    ) -> Result<NewtonReport, SolverError> {
        let (state, mut u) = backend.elliptic(data)?;
        let mut problem = GridProblem::<B, f64>::new(backend, state, Kind::None)?;
        let topology = grid.lock().unwrap().topology;
        let report = newton(backend, &mut problem, &mut u, (self.method, self.kind), &TIGHT)?;
        let nodes = problem.nodes(backend, &u, topology)?;
        backend.fetch(&nodes, &mut grid.lock().unwrap())?;
        Ok(report)
    }

    pub fn on_cpu(self) -> Solved {
        let (grid, data) = self.start();
        let grid = Mutex::new(grid);
        let report = self.solve(&CpuBackend, &data, &grid).unwrap();
        Solved { grid: grid.into_inner().unwrap(), report }
    }

    /// Solves on one band for each device; `run` starts the ranks.
    pub fn on_ranks(
        self,
        ranks: usize,
        run: impl FnOnce(&Bands, &Work<'_>) -> Result<Vec<NewtonReport>, SolverError>,
    ) -> Result<Solved, SolverError> {
        let (Grid { topology, ni, nj, .. }, data) = self.start();
        let bands = Bands::new(data.mi, ranks, data.periodic).unwrap();
        // Nodes that no rank stores remain NaN.
        let grid = Mutex::new(Grid::unset(topology, ni, nj));
        let reports = run(&bands, &|_, backend| self.solve(backend, &data, &grid))?;
        let [report, others @ ..] = reports.as_slice() else { unreachable!() };
        // All ranks must have the same residuals and iterations.
        for other in others {
            let seen = |NewtonReport { history, .. }: &NewtonReport| -> Vec<u64> {
                let residuals = history.steps.iter().map(|step| step.residual);
                residuals.chain([history.linear_iterations()]).map(f64::to_bits).collect()
            };
            assert_eq!(seen(other), seen(report));
        }
        Ok(Solved { report: report.clone(), grid: grid.into_inner().unwrap() })
    }
}

pub type Work<'a> = dyn Fn(usize, &CudaBackend) -> Result<NewtonReport, SolverError> + Sync + 'a;

/// Compares with the grid of the CPU; the numbers of Newton steps may differ by one. Returns the linear
/// iterations and prints them for the measurements in the documents.
#[allow(clippy::print_stdout, reason = "shown with --nocapture")]
pub fn check(case: Case, expected: &Solved, found: &Solved, what: &str) -> f64 {
    let [newton, most] = [found, expected].map(|solved| solved.report.history.newton_iterations());
    let linear = found.report.history.linear_iterations();
    println!("{case:?}, {what}: {newton} Newton steps, {linear} linear iterations");

    assert!(found.report.stop.converged(), "{what}: {}", found.report.stop);
    assert!(newton.abs_diff(most) <= 1, "{what}: {newton} steps");
    let distance = distance(&found.grid, &expected.grid);
    assert!(distance < SAME, "{what}: {distance:e}");
    linear
}
