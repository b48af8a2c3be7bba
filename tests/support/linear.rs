//! Small matrices, operators and preconditioners.

use std::cell::Cell;

use gridgen::backend::cpu::{CpuBackend, CsrMatrix};
use gridgen::backend::{
    Algebraic, Backend, BadPivot, DeviceError, MatrixFormat, PreconditionerFailure, Real,
    SparseBackend, SparseMatrix,
};
use gridgen::solver::linear::{LinearSettings, LinearSolver};
use gridgen::solver::precond::{Kind, Preconditioners};
use gridgen::solver::{LinearOperator, Preconditioner, SolverError};
use gridgen::sparse::{Csr, Schedule};
use nalgebra::{DMatrix, DVector};

/// All preconditioners of a matrix.
pub const KINDS: [Kind; 4] = [Kind::None, Kind::Jacobi, Kind::Dilu, Kind::Ilu0];

/// A matrix as an operator that counts its products.
pub struct Matrix<T> {
    pub rows: Csr,
    entries: CsrMatrix<T>,
    pub products: Cell<usize>,
}

impl<T: Real> From<Csr> for Matrix<T> {
    fn from(rows: Csr) -> Self {
        let entries = CpuBackend.csr(&rows, MatrixFormat::Csr).unwrap();
        Self { rows, entries, products: Cell::new(0) }
    }
}

impl<T: Real> Matrix<T> {
    /// The matrix with the nonzero entries of a dense one.
    pub fn new(rows: &[Vec<f64>]) -> Self {
        let entries =
            |row: &Vec<f64>| row.clone().into_iter().enumerate().filter(|(_, v)| *v != 0.0);
        Csr::from_rows(rows.iter().map(entries)).into()
    }

    /// The matrix of `n` rows with this entry in each row and column.
    pub fn of(n: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let row = |row| (0..n).map(|column| entry(row, column)).collect();
        Self::new(&(0..n).map(row).collect::<Vec<_>>())
    }

    pub fn n(&self) -> usize {
        self.rows.rows()
    }

    /// A x in double precision, entry by entry.
    pub fn times(&self, x: &[T]) -> Vec<f64> {
        let row = |r| self.rows.row(r).map(|(c, v)| T::narrow(v).widen() * x[c].widen()).sum();
        (0..self.n()).map(row).collect()
    }

    /// ‖b − A x‖ in double precision.
    pub fn residual(&self, b: &[T], x: &[T]) -> f64 {
        norm(b.iter().zip(self.times(x)).map(|(b, ax)| b.widen() - ax))
    }
}

/// (a, b).
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// max |a_i|.
pub fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |most, value| value.abs().max(most))
}

/// max |a_i − b_i|, infinite if one of them is no number.
pub fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    apart.fold(0.0, |most, off| if off.is_nan() { f64::INFINITY } else { off.max(most) })
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

/// The pivot at which an update of incomplete factors stopped.
pub fn bad_pivot(updated: Result<(), SolverError>) -> Option<BadPivot> {
    match updated {
        Ok(()) => None,
        Err(SolverError::Preconditioner(PreconditionerFailure::Factor { row, value, .. })) => {
            Some(BadPivot { row, value })
        }
        Err(other) => panic!("{other}"),
    }
}

/// A preconditioner of [`Matrix`] that counts its applications.
pub struct Counted<T: Real> {
    kind: Algebraic,
    inner: Option<Box<dyn Preconditioner<CpuBackend, T, CsrMatrix<T>>>>,
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

    fn inner(&mut self, a: &Matrix<T>) -> &mut dyn Preconditioner<CpuBackend, T, CsrMatrix<T>> {
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

/// Uploads a vector.
pub fn to_device<B: Backend, T: Real>(backend: &B, host: &[T]) -> B::Vector<T> {
    let mut v = backend.zeros(host.len()).unwrap();
    backend.upload(host, &mut v).unwrap();
    v
}

/// Downloads a vector of length `n`.
pub fn to_host<B: Backend, T: Real>(backend: &B, v: &B::Vector<T>, n: usize) -> Vec<T> {
    let mut host = vec![T::zero(); n];
    backend.download(v, &mut host).unwrap();
    host
}

/// The matrix of an operator on `n` unknowns, column by column.
pub fn dense<B: Backend, T: Real>(
    backend: &B,
    a: &impl LinearOperator<B, T>,
    n: usize,
) -> DMatrix<f64> {
    let mut y = backend.zeros::<T>(n).unwrap();
    columns(n, |unit| {
        let x: Vec<T> = unit.iter().copied().map(T::narrow).collect();
        a.apply(backend, &to_device(backend, &x), &mut y).unwrap();
        to_host(backend, &y, n).into_iter().map(T::widen).collect()
    })
}

/// The matrix of a linear map of vectors of `n` values, by columns.
pub fn columns(n: usize, mut map: impl FnMut(&Vec<f64>) -> Vec<f64>) -> DMatrix<f64> {
    let column = |k: usize| {
        let unit = (0..n).map(|row| f64::from(row == k)).collect();
        DVector::from_vec(map(&unit))
    };
    DMatrix::from_columns(&(0..n).map(column).collect::<Vec<_>>())
}

/// A x.
pub fn product(a: &impl LinearOperator<CpuBackend, f64>, x: &Vec<f64>) -> Vec<f64> {
    let mut y = vec![f64::NAN; x.len()];
    a.apply(&CpuBackend, x, &mut y).unwrap();
    y
}

/// |⟨A v, w⟩ − ⟨v, B w⟩| over ‖A v‖ ‖w‖ for two maps of vectors of length `n`: zero if B is Aᵀ.
pub fn off_transpose(
    n: usize,
    a: impl FnOnce(&Vec<f64>) -> Vec<f64>,
    b: impl FnOnce(&Vec<f64>) -> Vec<f64>,
) -> f64 {
    let [v, w]: [Vec<f64>; 2] =
        [0.37, 0.73].map(|a| (0..n).map(|k| ((k * k) as f64 * a).sin()).collect());
    let (av, bw) = (a(&v), b(&w));
    (dot(&av, &w) - dot(&v, &bw)).abs() / (dot(&av, &av) * dot(&w, &w)).sqrt()
}

/// Aᵀ.
pub fn transposed(a: &Csr) -> Csr {
    let mut columns = vec![Vec::new(); a.rows()];
    for row in 0..a.rows() {
        a.row(row).for_each(|(column, value)| columns[column].push((row, value)));
    }
    Csr::from_rows(columns.into_iter())
}
