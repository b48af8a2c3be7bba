//! A linear solver of one's own: `cargo run --release --example own_linear_solver`.
//!
//! Newton's iteration takes any [`Preconditioner`]. This one eliminates the whole matrix as a band, so
//! that a single Krylov iteration a Newton step is left: a direct solver.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::path::Path;

use gridgen::backend::DeviceError;
use gridgen::backend::cpu::CpuBackend;
use gridgen::case::Case;
use gridgen::elliptic::GridJacobian;
use gridgen::solver::history::History;
use gridgen::solver::linear::LinearSolver;
use gridgen::solver::precond::Preconditioners;
use gridgen::solver::{NonlinearProblem, Preconditioner, SolverError, newton};

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

/// Solves for a grid by elimination, with the settings that the program takes by default. The wall is
/// frozen: coupled wall terms reach along whole eta-lines and would widen the band to the whole matrix.
pub fn main() -> Result<(), Failure> {
    let text = "geometry.naca = '0012'\ncontrol.wall = 'frozen'\n\
                [grid]\ntopology = 'O'\nni = 65\nnj = 33\nfirst_cell = 1e-3\n";
    let problem = Case::from_toml(text, Path::new("direct.toml"), &[])?.settle()?;
    let backend = CpuBackend;
    let initial = problem.initial_grid(&backend)?.grid;
    let (mut equations, mut u) = problem.equations::<_, f64>(&backend, initial)?;
    let krylov = problem.case.linear.krylov;
    let band = Preconditioners::one(|_, _| Ok(Box::new(Band::default())));
    let mut linear = LinearSolver::new(krylov, equations.unknowns(), band);

    let newton = &problem.case.newton;
    let report = newton::solve(
        &backend,
        &mut equations,
        &mut linear,
        &mut u,
        History::default(),
        newton,
        &mut (),
    )?;

    println!("{}", report.stop);
    for step in &report.history.steps {
        println!("{}  {:.2e}  {} iterations", step.step, step.residual, step.linear_iterations);
    }
    assert!(report.stop.converged());
    assert!(report.history.steps.iter().all(|step| step.linear_iterations <= 2.0));
    Ok(())
}
