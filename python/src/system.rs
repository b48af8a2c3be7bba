//! Solves linear systems: a matrix with its preconditioner, for one right-hand side after the other.

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use gridgen::backend::Algebraic;
use gridgen::formats::matrix_market::{Matrix, MatrixSymmetry};
use gridgen::generate::Progress;
use gridgen::linear_system::{RightHandSide, RightSide, SystemOptions, SystemSolver};
use gridgen::sparse::Csr;
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arguments::{Caller, Compute, attended, word};
use crate::base::unlocked;
use crate::errors::{in_python, raised, refused, refused_as};
use crate::grid::json;

/// Names of A and b in messages.
const MATRIX: &str = "A";
const RIGHT_SIDE: &str = "b";

/// The options of `gridgen solve` under their Python names; options not given keep their defaults.
fn options(
    py: Python<'_>,
    given: Vec<(String, Bound<'_, PyAny>)>,
    compute: Compute,
) -> PyResult<SystemOptions> {
    let mut options = SystemOptions::new(PathBuf::from(MATRIX), PathBuf::new());
    options.right_side = RightSide::File(PathBuf::from(RIGHT_SIDE));
    options.backend = compute.backend;
    options.devices = compute.devices;
    options.threads = compute.threads;
    let (mut schedule, mut shift) = (None, None);
    for (name, value) in given {
        let text = || value.extract::<String>();
        let range = |fits: bool, expected: &str| {
            let message = || format!("{name} = {value}: expected {expected}");
            if fits { Ok(()) } else { Err(refused(py, &message())) }
        };
        match &*name {
            "method" => options.linear.method = word(py, &name, &text()?)?,
            "preconditioner" => {
                let factors = |kind: &str| word(py, &name, kind);
                options.preconditioner = Algebraic::named(&text()?, factors)?;
            }
            "schedule" => schedule = Some(word(py, &name, &text()?)?),
            "format" => options.format = word(py, &name, &text()?)?,
            "reorder" => options.reorder = word(py, &name, &text()?)?,
            "tolerance" => {
                options.tolerance = value.extract()?;
                let fits = options.tolerance > 0.0 && options.tolerance < 1.0;
                range(fits, "a number between 0 and 1")?;
            }
            "shift" => {
                let given: f64 = value.extract()?;
                range(given >= 0.0 && given.is_finite(), "a number not below 0")?;
                shift = Some(given);
            }
            "max_iterations" => {
                options.linear.max_iterations = value.extract()?;
                range(options.linear.max_iterations > 0, "an integer from 1")?;
            }
            "restart" => {
                options.linear.restart = value.extract()?;
                range((1..=1000).contains(&options.linear.restart), "an integer from 1 to 1000")?;
            }
            _ => return Err(refused(py, &format!("unknown option {name}"))),
        }
    }
    let chosen = options.preconditioner.with(schedule, shift);
    options.preconditioner = chosen.map_err(|message| refused(py, &in_python(&message)))?;
    Ok(options)
}

/// A matrix with its preconditioner.
#[pyclass(frozen, module = "gridgen._core")]
pub(crate) struct NativeSolver(Arc<Mutex<SystemSolver>>);

#[pymethods]
impl NativeSolver {
    /// A is given by rows, and entries with the same row and column are summed.
    #[new]
    #[pyo3(signature = (indptr, indices, data, columns, options, *, backend, devices, threads))]
    fn new<'py>(
        py: Python<'py>,
        indptr: PyReadonlyArray1<'py, i64>,
        indices: PyReadonlyArray1<'py, i64>,
        data: PyReadonlyArray1<'py, f64>,
        columns: usize,
        options: Vec<(String, Bound<'py, PyAny>)>,
        backend: &str,
        devices: Option<Vec<usize>>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let options = self::options(py, options, Compute::new(py, backend, devices, threads)?)?;
        let matrix = matrix(
            indptr.as_array().iter().copied(),
            indices.as_array().iter().copied(),
            data.as_array().iter().copied().collect(),
            columns,
        );
        let matrix = matrix
            .map_err(|reason| refused_as(py, "MatrixError", &format!("{MATRIX}: {reason}")))?;
        let made = attended(py, None, false, move |caller: &mut Caller<Iteration>| {
            SystemSolver::new(matrix, &options, caller)
        })?;
        let solver = made.map_err(|error| raised(py, error))?;
        Ok(Self(Arc::new(Mutex::new(solver))))
    }

    /// Solves for the rows of b, from those of x0; returns the solutions as rows, and the report in JSON.
    /// `callback` gets iteration and relative residual.
    fn solve<'py>(
        &self,
        py: Python<'py>,
        b: PyReadonlyArray2<'py, f64>,
        x0: Option<PyReadonlyArray2<'py, f64>>,
        callback: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, String)> {
        let rows = |array: &PyReadonlyArray2<'_, f64>| -> Vec<Vec<f64>> {
            array.as_array().rows().into_iter().map(|row| row.to_vec()).collect()
        };
        let (b, x0) = (rows(&b), x0.as_ref().map(rows));
        for (name, numbers) in [(RIGHT_SIDE, Some(&b)), ("x0", x0.as_ref())] {
            if !numbers.into_iter().flatten().flatten().all(|number| number.is_finite()) {
                let message = format!("{name}: a number is not finite");
                return Err(refused_as(py, "MatrixError", &message));
            }
        }
        let solver = self.0.clone();
        let solved =
            attended(py, callback.as_ref(), false, move |caller: &mut Caller<Iteration>| {
                let start = |k: usize| x0.as_ref().and_then(|x0| x0.get(k)).map(Vec::as_slice);
                let sides: Vec<RightHandSide<'_>> =
                    b.iter().enumerate().map(|(k, b)| (&**b, start(k))).collect();
                unlocked(&solver).solve(&sides, caller)
            })?;
        let (x, report) = solved.map_err(|error| raised(py, error))?;
        Ok((PyArray2::from_vec2(py, &x)?, json(&report)?))
    }
}

/// The number of an iteration, and its relative residual.
type Iteration = (f64, f64);

impl Progress for Caller<Iteration> {
    fn linear(&mut self, iteration: f64, residual: f64) {
        self.report(|| (iteration, residual));
        if self.has_given_up() {
            // Unwinds the thread of the solve, whose result nobody receives any more.
            resume_unwind(Box::new("given up"));
        }
    }

    fn cancelled(&self) -> bool {
        self.has_given_up()
    }
}

/// The matrix of three arrays, after checks. Rows whose columns do not rise are sorted, and entries with the
/// same column summed.
fn matrix(
    indptr: impl Iterator<Item = i64>,
    indices: impl Iterator<Item = i64>,
    values: Vec<f64>,
    columns: usize,
) -> Result<Matrix, &'static str> {
    let index = |k: i64| usize::try_from(k).map_err(|_| "an index is negative");
    let row_start = indptr.map(index).collect::<Result<Vec<_>, _>>()?;
    let column = |k: i64| u32::try_from(k).ok().filter(|&k| (k as usize) < columns);
    let found = indices.map(column).collect::<Option<Vec<u32>>>();
    let found = found.ok_or("an index of a column is out of range")?;
    let ends = (row_start.first(), row_start.last());
    if ends != (Some(&0), Some(&found.len())) || values.len() != found.len() {
        return Err("indptr, indices and data do not belong together");
    }
    if !row_start.is_sorted() {
        return Err("indptr falls");
    }
    if !values.iter().all(|value| value.is_finite()) {
        return Err("an entry is not finite");
    }
    let csr = Csr { row_start, columns: found, values };
    let entries = csr.columns.len();
    let rises = |row: usize| csr.pattern().row(row).is_sorted_by(|a, b| a < b);
    let csr = if (0..csr.rows()).all(rises) { csr } else { summed(&csr) };
    let duplicates = entries - csr.columns.len();
    Ok(Matrix { csr, columns, symmetry: MatrixSymmetry::General, duplicates })
}

/// The matrix with rising columns, and entries with the same column summed.
fn summed(a: &Csr) -> Csr {
    Csr::from_rows((0..a.rows()).map(|row| {
        let mut entries: Vec<(usize, f64)> = a.row(row).collect();
        entries.sort_by_key(|(column, _)| *column);
        entries.dedup_by(|next, entry| {
            let same = next.0 == entry.0;
            entry.1 += if same { next.1 } else { 0.0 };
            same
        });
        entries
    }))
}
