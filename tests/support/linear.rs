//! Small matrices, operators and preconditioners.

use std::cell::Cell;

use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::backend::{Algebraic, DeviceError, Real, SparseMatrix};
use gridgen::solver::linear::{LinearSettings, LinearSolver};
use gridgen::solver::precond::{Kind, Preconditioners};
use gridgen::solver::{LinearOperator, Preconditioner, SolverError};
use gridgen::sparse::{EllPattern, Schedule};
use nalgebra::{DMatrix, DVector, Dyn, LU};

/// All preconditioners of a matrix.
pub const KINDS: [Kind; 4] = [Kind::None, Kind::Jacobi, Kind::Dilu, Kind::Ilu0];

/// A matrix as an operator that counts its products.
pub struct Matrix<T> {
    pub entries: EllMatrix<T>,
    pub products: Cell<usize>,
}

impl<T: Real> Matrix<T> {
    /// The matrix with the nonzero entries of a dense one.
    pub fn new(rows: &[Vec<f64>]) -> Self {
        let width = rows.iter().map(|row| row.iter().filter(|v| **v != 0.0).count()).max();
        let present = |row: usize| (0..rows.len()).filter(move |&c| rows[row][c] != 0.0);
        let pattern = EllPattern::new(rows.len(), width.unwrap(), present);
        let mut values = vec![T::zero(); pattern.rows() * pattern.width()];
        for (row, dense) in rows.iter().enumerate() {
            for (at, column) in pattern.row(row) {
                values[at] = T::narrow(dense[column]);
            }
        }
        Self { entries: EllMatrix::from_values(pattern, values), products: Cell::new(0) }
    }

    /// The matrix of `n` rows with this entry in each row and column.
    pub fn of(n: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let row = |row| (0..n).map(|column| entry(row, column)).collect();
        Self::new(&(0..n).map(row).collect::<Vec<_>>())
    }

    pub fn n(&self) -> usize {
        self.entries.pattern().rows()
    }

    /// A x in double precision, entry by entry.
    pub fn times(&self, x: &[T]) -> Vec<f64> {
        let row = |r| self.entries.row(r).map(|(c, v)| v.widen() * x[c].widen()).sum();
        (0..self.n()).map(row).collect()
    }

    /// ‖b − A x‖ in double precision.
    pub fn residual(&self, b: &[T], x: &[T]) -> f64 {
        norm(b.iter().zip(self.times(x)).map(|(b, ax)| b.widen() - ax))
    }
}

/// The Euclidean norm.
pub fn norm(v: impl IntoIterator<Item = f64>) -> f64 {
    v.into_iter().map(|v| v * v).sum::<f64>().sqrt()
}

impl<T: Real> LinearOperator<CpuBackend, T> for Matrix<T> {
    fn apply(&self, backend: &CpuBackend, x: &Vec<T>, y: &mut Vec<T>) -> Result<(), DeviceError> {
        self.products.set(self.products.get() + 1);
        self.entries.apply(backend, x, y)
    }
}

/// A preconditioner of [`Matrix`] that counts its applications.
pub struct Counted<T: Real> {
    kind: Algebraic,
    inner: Option<Box<dyn Preconditioner<CpuBackend, T, EllMatrix<T>>>>,
    pub applications: usize,
}

impl<T: Real> Counted<T> {
    /// A preconditioner of this kind, prepared for `a`.
    pub fn prepared(kind: Kind, a: &Matrix<T>) -> Self {
        let mut counted = Self::new(kind);
        counted.update(&CpuBackend, a).unwrap();
        counted
    }

    pub fn new(kind: Kind) -> Self {
        Self { kind: kind.algebraic(Schedule::Levels), inner: None, applications: 0 }
    }

    fn inner(&mut self, a: &Matrix<T>) -> &mut dyn Preconditioner<CpuBackend, T, EllMatrix<T>> {
        let make = || a.entries.preconditioner(&CpuBackend, self.kind).unwrap();
        &mut **self.inner.get_or_insert_with(make)
    }

    /// A linear solver with it.
    pub fn solver(
        settings: LinearSettings,
        n: usize,
        kind: Kind,
    ) -> LinearSolver<CpuBackend, T, Matrix<T>> {
        let counted = Preconditioners::one(move |_, _| Ok(Box::new(Self::new(kind))));
        LinearSolver::new(settings, n, counted)
    }
}

impl<T: Real> Preconditioner<CpuBackend, T, Matrix<T>> for Counted<T> {
    fn update(&mut self, backend: &CpuBackend, a: &Matrix<T>) -> Result<(), SolverError> {
        self.inner(a).update(backend, &a.entries)
    }

    fn apply(
        &mut self,
        backend: &CpuBackend,
        a: &Matrix<T>,
        r: &Vec<T>,
        z: &mut Vec<T>,
    ) -> Result<(), DeviceError> {
        self.applications += 1;
        self.inner(a).apply(backend, &a.entries, r, z)
    }
}

/// The matrix of an operator on `n` unknowns, column by column.
pub fn dense<T: Real, A: LinearOperator<CpuBackend, T>>(a: &A, n: usize) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(n, n);
    let mut column = vec![T::zero(); n];
    for k in 0..n {
        let mut unit = vec![T::zero(); n];
        unit[k] = T::one();
        a.apply(&CpuBackend, &unit, &mut column).unwrap();
        matrix.set_column(k, &DVector::from_iterator(n, column.iter().map(|v| v.widen())));
    }
    matrix
}

/// The exact inverse by dense LU factors, which makes a Newton step exact.
pub struct ExactInverse {
    n: usize,
    factors: Option<LU<f64, Dyn, Dyn>>,
}

impl ExactInverse {
    pub fn new(n: usize) -> Self {
        Self { n, factors: None }
    }
}

impl<A: LinearOperator<CpuBackend, f64>> Preconditioner<CpuBackend, f64, A> for ExactInverse {
    fn update(&mut self, _backend: &CpuBackend, a: &A) -> Result<(), SolverError> {
        self.factors = Some(dense(a, self.n).lu());
        Ok(())
    }

    fn apply(
        &mut self,
        _backend: &CpuBackend,
        _a: &A,
        r: &Vec<f64>,
        z: &mut Vec<f64>,
    ) -> Result<(), DeviceError> {
        let solved = self.factors.as_ref().unwrap().solve(&DVector::from_column_slice(r)).unwrap();
        z.copy_from_slice(solved.as_slice());
        Ok(())
    }
}
