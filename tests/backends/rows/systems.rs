//! Products and solves by rows on any machine with several ranks.

use gridgen::backend::cuda::{CudaBackend, CudaCsr};
use gridgen::backend::{
    Algebraic, Backend, Bands, LinearOperator, MatrixFormat, Real, SparseBackend, SparseMatrix,
};
use gridgen::solver::SolverError;
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearReport, LinearSettings, LinearSolver};
use gridgen::solver::precond::Preconditioners;
use gridgen::sparse::{Csr, RowBlocks};

pub trait Machine {
    fn ranks(&self) -> usize;

    /// Does `work` on every rank; returns the results by rank.
    fn run<R: Send>(
        &self,
        bands: &Bands,
        work: impl Fn(usize, &CudaBackend) -> Result<R, SolverError> + Sync,
    ) -> Result<Vec<R>, SolverError>;

    /// Does `work` with the rows of each rank of a matrix and of a vector.
    fn by_rows<T: Real, R: Send>(
        &self,
        (a, x): (&Csr, &[T]),
        format: MatrixFormat,
        work: impl Fn(&CudaBackend, CudaCsr<T>, &[T]) -> Result<R, SolverError> + Sync,
    ) -> Result<Vec<R>, SolverError> {
        let blocks = RowBlocks::new(a.pattern(), self.ranks()).unwrap();
        self.run(&Bands::from(&blocks), |rank, backend| {
            let part = blocks.part(rank, a);
            let matrix = CudaCsr::of_rows(backend, &part, format)?;
            work(backend, matrix, &x[part.rows])
        })
    }
}

/// A x, computed twice to check that successive messages keep their order.
pub fn product<M: Machine, T: Real>(machine: &M, a: &Csr, x: &[T], format: MatrixFormat) -> Vec<T> {
    let parts = machine.by_rows((a, x), format, |backend, a, x| {
        let (mut from, mut y) = (backend.zeros(x.len())?, backend.zeros(x.len())?);
        let mut host = vec![T::zero(); x.len()];
        backend.upload(&vec![T::one(); x.len()], &mut from)?;
        a.apply(backend, &from, &mut y)?;
        backend.upload(x, &mut from)?;
        a.apply(backend, &from, &mut y)?;
        backend.download(&y, &mut host)?;
        Ok(host)
    });
    parts.unwrap().concat()
}

/// M⁻¹ r with a preconditioner of this kind.
pub fn preconditioned<B: Backend, A: SparseMatrix<B, f64>>(
    backend: &B,
    a: &A,
    kind: Algebraic,
    r: &[f64],
) -> Result<Vec<f64>, SolverError> {
    let mut preconditioner = a.preconditioner(backend, kind)?;
    preconditioner.update(backend, a)?;
    let (mut x, mut z) = (backend.zeros(r.len())?, backend.zeros(r.len())?);
    backend.upload(r, &mut x)?;
    preconditioner.apply(backend, a, &x, &mut z)?;
    let mut host = vec![0.0; r.len()];
    backend.download(&z, &mut host)?;
    Ok(host)
}

/// The methods of a solve.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    pub method: Method,
    pub kind: Algebraic,
}

/// The solution x, and the report of its solve.
#[derive(Debug)]
pub struct Solved {
    pub x: Vec<f64>,
    pub report: LinearReport,
}

/// Solves on one backend, which may be a rank, to a relative residual of 1e-10.
pub fn solve_on<B: SparseBackend>(
    backend: &B,
    matrix: &B::CsrMatrix<f64>,
    b: &[f64],
    way: Way,
) -> Result<Solved, SolverError> {
    let n = b.len();
    let settings = LinearSettings { method: way.method, max_iterations: 500, restart: 20 };
    let preconditioner = Preconditioners::one(move |backend, a: &B::CsrMatrix<f64>| {
        a.preconditioner(backend, way.kind)
    });
    let mut solver = LinearSolver::new(settings, n, preconditioner);
    let (mut right, mut x) = (backend.zeros(n)?, backend.zeros(n)?);
    backend.upload(b, &mut right)?;
    solver.update(backend, matrix)?;
    let report = solver.solve(backend, matrix, &right, 1e-10, &mut x, &mut |_, _| {})?;
    let mut host = vec![0.0; n];
    backend.download(&x, &mut host)?;
    Ok(Solved { x: host, report })
}

/// Solves on all ranks, which must take the same steps.
pub fn solve<M: Machine>(machine: &M, a: &Csr, b: &[f64], way: Way) -> Result<Solved, SolverError> {
    let work = |backend: &CudaBackend, a, b: &[f64]| solve_on(backend, &a, b, way);
    let parts = machine.by_rows((a, b), MatrixFormat::Csr, work)?;
    let report = parts[0].report.clone();
    assert!(parts.iter().all(|part| part.report == report), "{way:?}");
    Ok(Solved { x: parts.into_iter().flat_map(|part| part.x).collect(), report })
}
