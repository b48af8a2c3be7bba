//! Makes grids: a solve runs in a separate thread, while the calling thread answers to Python.

use std::path::PathBuf;
use std::sync::Arc;

use gridgen::case::CaseFile;
use gridgen::generate::{self, MachinePool, Progress, make_grids, run};
use gridgen::solver::history::NewtonStep;
use pyo3::prelude::*;

use crate::arguments::{Caller, Compute, attended, values};
use crate::errors::raised;
use crate::grid::NativeGrid;

/// An event of a solve: its kind, and the name of a phase or a Newton step in JSON.
pub(crate) type Event = (&'static str, String);

impl Progress for Caller<Event> {
    fn phase(&mut self, name: &str) {
        self.report(|| ("phase", name.to_owned()));
    }

    fn newton(&mut self, step: &NewtonStep) {
        self.report(|| ("newton", serde_json::to_string(step).unwrap_or_default()));
    }

    fn cancelled(&self) -> bool {
        self.has_given_up()
    }
}

/// The base of a call's case, before arguments replace keys of it.
#[derive(FromPyObject)]
pub(crate) enum CaseArgument<'py> {
    /// A case file.
    File(PathBuf),
    /// Keys and their values.
    Keys(Vec<(String, Bound<'py, PyAny>)>),
}

/// GPUs that stay open for a number of cases side by side on each.
#[pyclass(name = "MachinePool", frozen)]
pub(crate) struct NativePool(Arc<MachinePool>);

#[pymethods]
impl NativePool {
    #[new]
    fn new(jobs: usize) -> Self {
        Self(Arc::new(MachinePool::new(jobs)))
    }
}

/// Default number of cases at a time: for cases like this one, as many as the processors or the GPUs can run.
#[pyfunction]
pub(crate) fn default_jobs(
    py: Python<'_>,
    case: Option<CaseArgument<'_>>,
    arguments: Vec<(String, Bound<'_, PyAny>)>,
    backend: &str,
    devices: Option<Vec<usize>>,
) -> PyResult<usize> {
    let compute = Compute::new(py, backend, devices, None)?;
    let case = case_of(py, case, arguments)?;
    let options = compute.options(PathBuf::new());
    Ok(py.detach(|| generate::default_jobs(&[case], &options)))
}

/// The case of a case file, of named arguments, or of both.
pub(crate) fn case_of(
    py: Python<'_>,
    case: Option<CaseArgument<'_>>,
    arguments: Vec<(String, Bound<'_, PyAny>)>,
) -> PyResult<CaseFile> {
    let arguments = values(arguments)?;
    let (file, base) = match case {
        None => (None, Vec::new()),
        Some(CaseArgument::File(file)) => (Some(file), Vec::new()),
        Some(CaseArgument::Keys(keys)) => (None, values(keys)?),
    };
    let case = CaseFile::from_arguments(file.as_deref(), &base, &arguments);
    case.map_err(|error| raised(py, error))
}

/// Makes the grid of a case file, of named arguments, or of both; with `output` also its files.
#[pyfunction]
#[pyo3(signature = (case, arguments, *, backend, devices, threads, output, force, restart, on_event, pool=None))]
pub(crate) fn make(
    py: Python<'_>,
    case: Option<CaseArgument<'_>>,
    arguments: Vec<(String, Bound<'_, PyAny>)>,
    backend: &str,
    devices: Option<Vec<usize>>,
    threads: Option<usize>,
    output: Option<PathBuf>,
    force: bool,
    restart: Option<PathBuf>,
    on_event: Option<Bound<'_, PyAny>>,
    pool: Option<&Bound<'_, NativePool>>,
) -> PyResult<NativeGrid> {
    let compute = Compute::new(py, backend, devices, threads)?;
    let case = case_of(py, case, arguments)?.into_section();
    let case = case.map(CaseFile::from).map_err(|error| raised(py, error))?;
    let written = output.is_some();
    let mut options = compute.options(output.unwrap_or_default());
    options.force = force;
    options.restart = restart;
    options.keep_on_device = true;
    options.pool = pool.map(|pool| pool.get().0.clone());
    let made = attended(py, on_event.as_ref(), true, move |caller: &mut Caller<Event>| {
        if written { run(&case, &options, caller) } else { make_grids(&case, &options, caller) }
    })?;
    made.map(NativeGrid::from).map_err(|error| raised(py, error))
}
