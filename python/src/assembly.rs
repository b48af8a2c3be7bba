//! Several elements in Python: their zones, and the results of checking them together.

use std::path::PathBuf;

use gridgen::generate::{RunResult, make_grids, run};
use gridgen::overset::Rim;
use numpy::PyArray2;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::arguments::{Caller, Compute, attended};
use crate::base::coordinates;
use crate::errors::{raised, refused};
use crate::grid::{json, page_of};
use crate::make::{CaseArgument, Event, case_of};

/// Grids of several elements.
#[pyclass(frozen, module = "gridgen._core")]
pub(crate) struct NativeAssembly(Box<RunResult>);

#[pymethods]
impl NativeAssembly {
    /// Names of the zones, and whether their outer line is an overset boundary.
    fn zones(&self) -> Vec<(String, bool)> {
        let zones = self.0.zones();
        zones.iter().map(|zone| (zone.name.to_owned(), zone.rim == Rim::Overset)).collect()
    }

    /// Coordinates x and y of a zone.
    fn coordinates<'py>(
        &self,
        py: Python<'py>,
        zone: usize,
    ) -> PyResult<[Bound<'py, PyArray2<f64>>; 2]> {
        let zones = self.0.zones();
        let grid = zones.get(zone).ok_or_else(|| PyIndexError::new_err("no such zone"))?.grid;
        coordinates(py, grid)
    }

    /// A page with the viewer, which needs no other file.
    fn page(&self, view: &str, colour: &str) -> String {
        page_of(&self.0.scene(), view, colour)
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notices.clone()
    }

    /// The report in JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        json(&self.0.report().map_err(|error| raised(py, error))?)
    }

    /// The resolved case in TOML.
    fn case(&self, py: Python<'_>) -> PyResult<String> {
        self.0.placed.case.to_toml_string().map_err(|error| raised(py, error))
    }

    /// Kind of the verdict, whether the grids may be used, and the reason.
    fn verdict(&self) -> (&'static str, bool, String) {
        let verdict = &self.0.verdict;
        (verdict.kind(), verdict.is_good(), verdict.to_string())
    }

    fn hint(&self) -> Option<String> {
        self.0.hint()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.0.files.clone()
    }
}

/// Makes the grids of several elements from a case file, from named arguments, or from both; with `output`
/// also files.
#[pyfunction]
#[pyo3(
    name = "make_assembly",
    signature = (case, arguments, *, backend, devices, threads, output, force, strict, on_event)
)]
pub(crate) fn assembly(
    py: Python<'_>,
    case: Option<CaseArgument<'_>>,
    arguments: Vec<(String, Bound<'_, PyAny>)>,
    backend: &str,
    devices: Option<Vec<usize>>,
    threads: Option<usize>,
    output: Option<PathBuf>,
    force: bool,
    strict: bool,
    on_event: Option<Bound<'_, PyAny>>,
) -> PyResult<NativeAssembly> {
    let compute = Compute::new(py, backend, devices, threads)?;
    let case = case_of(py, case, arguments)?;
    if case.section().is_some() {
        return Err(refused(py, "a case of one section: gridgen.make makes its grid"));
    }
    let written = output.is_some();
    let mut options = compute.options(output.unwrap_or_default());
    options.force = force;
    options.strict = strict;
    let made = attended(py, on_event.as_ref(), true, move |caller: &mut Caller<Event>| {
        if written { run(&case, &options, caller) } else { make_grids(&case, &options, caller) }
    })?;
    made.map(|made| NativeAssembly(Box::new(made))).map_err(|error| raised(py, error))
}
