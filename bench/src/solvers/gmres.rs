//! GMRES with short restarts, on the backend and on the CPU.

use super::{Problem, from_zero, milliseconds, row, times};
use crate::timing;
use crate::{BenchBackend, Table};
use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{Algebraic, MatrixFormat, SparseBackend, SparseMatrix};
use gridgen::solver::SolverError;
use gridgen::solver::krylov::{Gmres, Target};

/// Dimensions of the Krylov space, and number of restarts, from table 3 of Liu, Yin and Wu (2011).
const DIMENSIONS: [usize; 3] = [8, 16, 32];
const RESTARTS: usize = 10;

pub(crate) fn table() -> Table {
    let columns = ["matrix", "m", "iterations", "ms", "ms on the CPU", "times"];
    Table::new(format!("GMRES(m), {RESTARTS} restarts without preconditioner"), &columns)
}

pub(crate) fn measure<B: BenchBackend>(
    problem: &Problem<'_, B>,
    right: &[f64],
    table: &mut Table,
) -> Result<(), SolverError> {
    let (backend, n) = (problem.backend, problem.rows);
    let on_cpu = backend.name() == CpuBackend.name();
    for m in DIMENSIONS {
        let (iterations, seconds) = solve(backend, (&problem.operator, &problem.b), (n, m))?;
        let mut cells = vec![m.to_string(), format!("{iterations}"), milliseconds(seconds)];
        if !on_cpu {
            let (cpu, b) = (CpuBackend.csr(problem.csr, MatrixFormat::Csr)?, right.to_vec());
            let (_, reference) = solve(&CpuBackend, (&cpu, &b), (n, m))?;
            cells.extend([milliseconds(reference), times(reference, seconds)]);
        }
        row(table, &problem.name, cells);
    }
    Ok(())
}

/// Iterations and seconds of a solve that ends after all restarts.
fn solve<B: BenchBackend>(
    backend: &B,
    (operator, b): (&B::CsrMatrix<f64>, &B::Vector<f64>),
    (n, m): (usize, usize),
) -> Result<(f64, f64), SolverError> {
    let mut krylov = Gmres::new(backend, n, m)?;
    let mut preconditioner = operator.preconditioner(backend, Algebraic::None)?;
    let mut x = backend.zeros(n)?;
    let mut iterations = 0.0;
    let seconds = timing::seconds_of_long(backend, &mut || {
        let target = Target { norm: 0.0, max_iterations: RESTARTS * m };
        iterations =
            from_zero(backend, (operator, b), &mut *preconditioner, &mut x, |system, x| {
                krylov.solve(system, target, x)
            })?;
        Ok(())
    })?;
    Ok((iterations, seconds))
}
