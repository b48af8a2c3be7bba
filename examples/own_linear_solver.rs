//! A linear solver of one's own: `cargo run --release --example own_linear_solver`.
//!
//! Newton's iteration takes any [`Preconditioner`]. This one eliminates the whole matrix as a band, so
//! that a single Krylov iteration a Newton step is left: a direct solver.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::path::Path;

use gridgen::backend::DeviceError;
use gridgen::backend::cpu::CpuBackend;
use gridgen::case::Case;
use gridgen::elliptic::{EllipticSettings, GridJacobian, GridProblem};
use gridgen::geometry::{
    BaseCells, SurfaceSettings, airfoil_from_naca, distribute, spacing_geometric, wall_normals,
};
use gridgen::grid::initial::{self, InitialSettings, Outline};
use gridgen::grid::{Seam, Topology};
use gridgen::pde::control::{ControlSettings, Wall};
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearSettings, LinearSolver};
use gridgen::solver::newton::{self, Forcing, NewtonSettings};
use gridgen::solver::{NonlinearProblem, Preconditioner, SolverError};

type Failure = Box<dyn std::error::Error>;

/// A = L U in a band of `width` entries on each side of the diagonal, without pivoting.
#[derive(Default)]
struct Band {
    width: usize,
    /// Row r, column c at `r * (2 width + 1) + width + c − r`.
    values: Vec<f64>,
}

impl Preconditioner<CpuBackend, f64, GridJacobian<CpuBackend, f64>> for Band {
    fn update(
        &mut self,
        backend: &CpuBackend,
        a: &GridJacobian<CpuBackend, f64>,
    ) -> Result<(), SolverError> {
        let a = a.to_csr(backend)?;
        let n = a.rows();
        let off = |row: usize| a.row(row).map(move |(column, _)| column.abs_diff(row)).max();
        self.width = (0..n).filter_map(off).max().unwrap_or(0);
        let stride = 2 * self.width + 1;
        self.values = vec![0.0; n * stride];
        for row in 0..n {
            for (column, value) in a.row(row) {
                self.values[row * stride + self.width + column - row] = value;
            }
        }
        self.eliminate(n);
        Ok(())
    }

    fn apply(
        &mut self,
        _: &CpuBackend,
        _: &GridJacobian<CpuBackend, f64>,
        r: &Vec<f64>,
        z: &mut Vec<f64>,
    ) -> Result<(), DeviceError> {
        let (n, width) = (r.len(), self.width);
        for row in 0..n {
            let below = (row.saturating_sub(width)..row).map(|c| self.at(row, c) * z[c]);
            z[row] = r[row] - below.sum::<f64>();
        }
        for row in (0..n).rev() {
            let above = (row + 1..n.min(row + width + 1)).map(|c| self.at(row, c) * z[c]);
            z[row] = (z[row] - above.sum::<f64>()) / self.at(row, row);
        }
        Ok(())
    }
}

impl Band {
    fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * (2 * self.width + 1) + self.width + column - row]
    }

    fn eliminate(&mut self, n: usize) {
        let (width, stride) = (self.width, 2 * self.width + 1);
        for pivot in 0..n {
            let end = n.min(pivot + width + 1);
            for row in pivot + 1..end {
                let factor = self.at(row, pivot) / self.at(pivot, pivot);
                self.values[row * stride + width + pivot - row] = factor;
                if factor != 0.0 {
                    for column in pivot + 1..end {
                        self.values[row * stride + width + column - row] -=
                            factor * self.at(pivot, column);
                    }
                }
            }
        }
    }
}

/// Solves for a grid by elimination.
pub fn main() -> Result<(), Failure> {
    let case = Case::from_toml(
        "geometry.naca = '0012'\n[grid]\nni = 65\nnj = 33\nfirst_cell = 1e-3\n",
        Path::new("direct.toml"),
        &[],
    )?;
    let airfoil = airfoil_from_naca("0012", case.geometry.trailing_edge)?;
    let wall = distribute(
        &airfoil,
        &SurfaceSettings {
            ni: case.grid.ni,
            leading_edge_spacing: 0.012,
            trailing_edge_spacing: 0.004,
            trailing_edge: case.geometry.trailing_edge,
            base_cells: BaseCells::AtLeast { base: 8, cap: 12 },
            max_turn_deg: case.grid.max_turn.unwrap_or(15.0),
        },
    )?;
    let normals = wall_normals(&wall.x, &wall.y);
    let layers = spacing_geometric(case.grid.nj, case.grid.first_cell, case.grid.far_field)?;
    let outline = Outline {
        x: &wall.x,
        y: &wall.y,
        normals: &normals,
        layers: &layers,
        far_field: case.grid.far_field,
        topology: Topology::O(Seam::Held),
    };
    let march = InitialSettings {
        method: case.initial.method,
        dissipation: 0.2,
        volume_smoothing: 0.3,
        spread: 10.0,
    };
    let equations = EllipticSettings {
        control: ControlSettings {
            base: case.control.base,
            smoothing: case.control.smoothing,
            smoothing_distance: case.control.smoothing_distance,
            clip: case.control.clip,
        },
        wall: Wall::Frozen,
        first_cell: case.grid.first_cell,
        decay: case.control.decay,
    };
    let initial = initial::build(&outline, &march).grid;
    let (mut problem, mut u) =
        GridProblem::<_, f64>::new(&CpuBackend, &initial, &normals, &equations)?;
    let settings = LinearSettings { method: Method::Gmres, max_iterations: 10, restart: 10 };
    let mut linear = LinearSolver::new(settings, problem.unknowns(), Band::default());
    let settings = NewtonSettings {
        tolerance: 1e-10,
        max_iterations: 20,
        forcing: Forcing { initial: 1e-8, min: 1e-8, max: 1e-8 },
        max_halvings: 10,
    };

    let report = newton::solve(&CpuBackend, &mut problem, &mut linear, &mut u, &settings, &mut ())?;

    println!("{}", report.stop);
    for step in &report.history.steps {
        println!("{}  {:.2e}  {} iterations", step.step, step.residual, step.linear_iterations);
    }
    assert!(report.stop.converged());
    assert!(report.history.steps.iter().all(|step| step.linear_iterations <= 2.0));
    Ok(())
}
