//! Times products, compared with a copy of the bytes that they must move.

use super::{Problem, milliseconds, row, times};
use crate::timing;
use crate::{BenchBackend, Table, VendorWork};
use gridgen::backend::{LinearOperator, MatrixFormat};
use gridgen::solver::SolverError;

pub(crate) fn table() -> Table {
    let columns = ["matrix", "product", "MB", "ms", "GB/s", "share of copy", "times ours"];
    Table::new("Products in double precision", &columns)
}

/// The bytes counted are values, columns and row starts, x and y, each once.
pub(crate) fn measure<B: BenchBackend>(
    problem: &Problem<'_, B>,
    table: &mut Table,
) -> Result<(), SolverError> {
    let (backend, n) = (problem.backend, problem.csr.rows());
    let bytes = problem.csr.values.len() * (8 + 4) + n * (2 * 8 + 4);
    let copy = timing::copy_seconds(backend, bytes)?;
    let mut y = backend.zeros(n)?;
    let cells = |name: &str, seconds: f64, ours: f64| {
        [
            name.to_owned(),
            format!("{:.2}", bytes as f64 / 1e6),
            milliseconds(seconds),
            format!("{:.1}", bytes as f64 / seconds / 1e9),
            format!("{:.0} %", 100.0 * copy / seconds),
            times(seconds, ours),
        ]
    };
    let mut ours = f64::INFINITY;
    for (name, format) in [("by rows", MatrixFormat::Csr), ("ELL", MatrixFormat::Ell)] {
        let a = backend.csr(problem.csr, format)?;
        let seconds = timing::seconds(backend, &mut || Ok(a.apply(backend, &problem.b, &mut y)?))?;
        ours = ours.min(seconds);
        row(table, &problem.name, cells(name, seconds, ours));
    }
    for (work, form) in [(VendorWork::Product, "by rows"), (VendorWork::SlicedProduct, "sliced")] {
        match backend.vendor::<f64>(work, problem.csr) {
            Ok(None) => {}
            Ok(Some((name, mut product))) => {
                let seconds = timing::seconds(backend, &mut || Ok(product()?))?;
                row(table, &problem.name, cells(&format!("{name}, {form}"), seconds, ours));
            }
            Err(error) => row(table, &problem.name, [error.to_string()]),
        }
    }
    Ok(())
}
