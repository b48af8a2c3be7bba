//! Times the set-up of incomplete factors.

use super::{Problem, SCHEDULES, factors, milliseconds, row, times};
use crate::timing;
use crate::{BenchBackend, Table, VendorWork};
use gridgen::backend::{Incomplete, SparseMatrix};
use gridgen::solver::SolverError;

const KINDS: [(Incomplete, &str); 2] = [(Incomplete::Dilu, "DILU"), (Incomplete::Ilu0, "ILU(0)")];

pub(crate) fn table() -> Table {
    let columns =
        ["matrix", "factors", "analysis ms", "values ms", "set-up ms", "vendor's set-up, times"];
    Table::new("Construction of incomplete factors", &columns)
}

pub(crate) fn measure<B: BenchBackend>(
    problem: &Problem<'_, B>,
    table: &mut Table,
) -> Result<(), SolverError> {
    let backend = problem.backend;
    let a = &problem.operator;
    let mut vendor: Option<f64> = None;
    for (levels, name) in [(true, "ILU(0), levels"), (false, "ILU(0), no levels")] {
        match backend.vendor::<f64>(VendorWork::Ilu0 { levels }, problem.csr) {
            Ok(None) => {}
            Ok(Some((library, mut work))) => {
                let seconds = timing::seconds_of_long(backend, &mut || Ok(work()?))?;
                let cells = [format!("{library}, {name}"), String::new(), String::new()];
                row(table, &problem.name, cells.into_iter().chain([milliseconds(seconds)]));
                vendor = Some(vendor.map_or(seconds, |faster| faster.min(seconds)));
            }
            Err(error) => row(table, &problem.name, [error.to_string()]),
        }
    }
    for (kind, kind_name) in KINDS {
        // `auto` has no set-up of its own: it chooses one of the others.
        for (schedule, schedule_name) in SCHEDULES.into_iter().skip(1) {
            let name = format!("{kind_name}, {schedule_name}");
            let analysis = timing::seconds_of_long(backend, &mut || {
                drop(a.preconditioner(backend, factors(kind, schedule))?);
                Ok(())
            })?;
            let mut factors = a.preconditioner(backend, factors(kind, schedule))?;
            let mut bad = None;
            let values = timing::seconds_of_long(backend, &mut || {
                match factors.update(backend, a) {
                    Err(SolverError::Preconditioner(failure)) => bad = Some(failure),
                    updated => updated?,
                }
                Ok(())
            })?;
            if let Some(bad) = bad {
                row(table, &problem.name, [name, bad.to_string()]);
                continue;
            }
            let whole = analysis + values;
            let against = vendor.map_or_else(String::new, |vendor| times(vendor, whole));
            let cells = [analysis, values, whole].map(milliseconds);
            row(table, &problem.name, [name].into_iter().chain(cells).chain([against]));
        }
    }
    Ok(())
}
