//! Products and solves by rows on any machine with several ranks.

use gridgen::backend::cuda::{CudaBackend, CudaCsr};
use gridgen::backend::{
    Algebraic, Backend, Bands, Incomplete, LinearOperator, MatrixFormat, Real, SparseBackend,
    SparseMatrix,
};
use gridgen::solver::SolverError;
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearReport, LinearSettings, LinearSolver};
use gridgen::solver::precond::Preconditioners;
use gridgen::sparse::{Csr, RowBlocks};
use support::linear::{to_device, to_host};

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
        let mut y = backend.zeros(x.len())?;
        a.apply(backend, &to_device(backend, &vec![T::one(); x.len()]), &mut y)?;
        a.apply(backend, &to_device(backend, x), &mut y)?;
        Ok(to_host(backend, &y, x.len()))
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
    let mut z = backend.zeros(r.len())?;
    preconditioner.apply(backend, a, &to_device(backend, r), &mut z)?;
    Ok(to_host(backend, &z, r.len()))
}

/// The methods of a solve.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    pub method: Method,
    pub kind: Algebraic,
}

/// The incomplete factors that suit a method.
pub fn factors_for(method: Method) -> [Incomplete; 2] {
    match method {
        Method::Cg => [Incomplete::Dic, Incomplete::Ic0],
        _ => [Incomplete::Dilu, Incomplete::Ilu0],
    }
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
    let (right, mut x) = (to_device(backend, b), backend.zeros(n)?);
    solver.update(backend, matrix)?;
    let report = solver.solve(backend, matrix, &right, 1e-10, &mut x, &mut |_, _| {})?;
    Ok(Solved { x: to_host(backend, &x, n), report })
}

/// Solves on all ranks, which must take the same steps.
pub fn solve<M: Machine>(machine: &M, a: &Csr, b: &[f64], way: Way) -> Result<Solved, SolverError> {
    let work = |backend: &CudaBackend, a, b: &[f64]| solve_on(backend, &a, b, way);
    let parts = machine.by_rows((a, b), MatrixFormat::Csr, work)?;
    let report = parts[0].report.clone();
    assert!(parts.iter().all(|part| part.report == report), "{way:?}");
    Ok(Solved { x: parts.into_iter().flat_map(|part| part.x).collect(), report })
}
