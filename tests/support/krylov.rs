//! One Krylov method on one small system, and the systems.

use gridgen::backend::Real;
use gridgen::backend::cpu::CpuBackend;
use gridgen::solver::krylov::{Bicgstab, Cg, Gmres, KrylovReport, Method, System, Target};
use gridgen::solver::precond::Kind;

use super::linear::{Counted, Matrix};
use super::random::Random;

/// The methods for any matrix.
pub const METHODS: [Method; 2] = [Method::Bicgstab, Method::Gmres];

/// One linear system and its bounds.
pub struct Solve<'a, T> {
    pub method: Method,
    pub kind: Kind,
    pub restart: usize,
    pub target: Target,
    pub matrix: &'a Matrix<T>,
}

/// The result of a solve.
pub struct Solved<T> {
    pub report: KrylovReport,
    pub x: Vec<T>,
    /// The observed pairs of iteration and residual norm.
    pub observed: Vec<(f64, f64)>,
    /// Applications of the preconditioner.
    pub applications: usize,
}

impl<'a, T: Real> Solve<'a, T> {
    /// A solve to 1e-10 without a preconditioner.
    pub fn new(method: Method, matrix: &'a Matrix<T>) -> Self {
        let target = Target { norm: 1e-10, max_iterations: 200 };
        Self { method, kind: Kind::None, restart: 100, target, matrix }
    }

    /// Solves A x = b from this guess.
    pub fn from(&self, b: &Vec<T>, start: &[T]) -> Solved<T> {
        let (backend, n) = (CpuBackend, self.matrix.n());
        let mut preconditioner = Counted::prepared(self.kind, self.matrix);
        let (mut x, mut observed) = (start.to_vec(), Vec::new());
        self.matrix.products.set(0);
        let observe = &mut |iteration, residual| observed.push((iteration, residual));
        let mut system = System::new(&backend, (self.matrix, b), &mut preconditioner, observe);
        let report = match self.method {
            Method::Cg => Cg::new(&backend, n).unwrap().solve(&mut system, self.target, &mut x),
            Method::Bicgstab => {
                Bicgstab::new(&backend, n).unwrap().solve(&mut system, self.target, &mut x)
            }
            Method::Gmres => Gmres::new(&backend, n, self.restart).unwrap().solve(
                &mut system,
                self.target,
                &mut x,
            ),
        };
        let report = report.unwrap();
        Solved { report, x, observed, applications: preconditioner.applications }
    }

    /// Solves A x = b from zero.
    pub fn solve(&self, b: &Vec<T>) -> Solved<T> {
        self.from(b, &vec![T::zero(); b.len()])
    }
}

/// A nonsymmetric, well-conditioned dense matrix.
pub fn full_matrix(n: usize) -> Matrix<f64> {
    let values = Random::new(11).vector(n * n);
    let shift = 0.7 * (n as f64).sqrt();
    Matrix::of(n, |row, column| values[row * n + column] + f64::from(row == column) * shift)
}

/// A tridiagonal matrix with rows (−1 − c, 2 + d, −1 + c).
pub fn tridiagonal(n: usize, c: f64, d: f64) -> Matrix<f64> {
    Matrix::of(n, |row, column| match (row.abs_diff(column), row < column) {
        (0, _) => 2.0 + d,
        (1, false) => -1.0 - c,
        (1, true) => -1.0 + c,
        _ => 0.0,
    })
}

pub fn diagonal(entries: &[f64]) -> Matrix<f64> {
    Matrix::of(entries.len(), |row, column| if row == column { entries[row] } else { 0.0 })
}

/// −u″ between two free ends, h = 1: constants are its kernel.
pub fn free_ends(n: usize) -> Matrix<f64> {
    Matrix::of(n, |row, column| match row.abs_diff(column) {
        0 if row == 0 || row == n - 1 => 1.0,
        distance => [2.0, -1.0, 0.0][distance.min(2)],
    })
}

/// Five-point differences on an m × m grid.
pub fn laplacian(m: usize) -> Matrix<f64> {
    Matrix::of(m * m, |row, column| {
        let distance = (row % m).abs_diff(column % m) + (row / m).abs_diff(column / m);
        [4.0, -1.0, 0.0][distance.min(2)]
    })
}
