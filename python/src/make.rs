//! Makes grids: a solve runs in a separate thread, while the calling thread answers to Python.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;

use gridgen::case::{Case, CaseFile, Value};
use gridgen::error::Error;
use gridgen::generate::{self, MachinePool, Progress, make_grid, run};
use gridgen::solver::history::NewtonStep;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::arguments::{Compute, SIGNALS, values};
use crate::errors::raised;
use crate::grid::NativeGrid;

/// A report from a solve.
enum Event {
    Phase(String),
    Newton(String),
}

/// Sends events of a solve to the thread that called it.
pub(crate) struct EventSender<'a> {
    events: Sender<Event>,
    cancelled: &'a AtomicBool,
    /// True if the caller wants events; otherwise none is serialised.
    heard: bool,
}

impl Progress for EventSender<'_> {
    fn phase(&mut self, name: &str) {
        if self.heard {
            let _ = self.events.send(Event::Phase(name.to_owned()));
        }
    }

    fn newton(&mut self, step: &NewtonStep) {
        if self.heard {
            let text = serde_json::to_string(step).unwrap_or_default();
            let _ = self.events.send(Event::Newton(text));
        }
    }

    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
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
    let case = CaseFile::from(case_of(py, case, arguments)?);
    let options = compute.options(PathBuf::new());
    Ok(py.detach(|| generate::default_jobs(&[case], &options)))
}

fn case_of(
    py: Python<'_>,
    case: Option<CaseArgument<'_>>,
    arguments: Vec<(String, Bound<'_, PyAny>)>,
) -> PyResult<Case> {
    let arguments = values(py, arguments)?;
    let (file, base) = CaseArgument::split(py, case)?;
    let case = CaseFile::from_arguments(file.as_deref(), &base, &arguments);
    case.and_then(CaseFile::into_section).map_err(|error| raised(py, error))
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
    let case = case_of(py, case, arguments)?;
    let written = output.is_some();
    let mut options = compute.options(output.unwrap_or_default());
    options.force = force;
    options.restart = restart;
    options.keep_on_device = true;
    options.pool = pool.map(|pool| pool.get().0.clone());
    let solve = |mut reporter: EventSender<'_>| {
        if written {
            run(&case, &options, &mut reporter)
        } else {
            make_grid(&case, &options, &mut reporter)
        }
    };
    attended(py, solve, on_event.as_ref()).map(NativeGrid::from)
}

/// The file of a case, and the keys.
type FileAndKeys = (Option<PathBuf>, Vec<(String, Value)>);

impl CaseArgument<'_> {
    /// The file, or the keys, of the argument.
    pub(crate) fn split(py: Python<'_>, case: Option<Self>) -> PyResult<FileAndKeys> {
        Ok(match case {
            None => (None, Vec::new()),
            Some(Self::File(file)) => (Some(file), Vec::new()),
            Some(Self::Keys(keys)) => (None, values(py, keys)?),
        })
    }
}

/// Runs a solve in a separate thread. Meanwhile this thread passes events to `on_event` and checks for
/// signals, which only the main thread of Python receives. An exception of either ends the solve within a
/// Newton step, and is raised.
pub(crate) fn attended<R: Send>(
    py: Python<'_>,
    solve: impl FnOnce(EventSender<'_>) -> Result<R, Error> + Send,
    on_event: Option<&Bound<'_, PyAny>>,
) -> PyResult<R> {
    let cancelled = AtomicBool::new(false);
    let (events, mut receiver) = mpsc::channel();
    let heard = on_event.is_some();
    thread::scope(|scope| {
        let reporter = EventSender { events, cancelled: &cancelled, heard };
        let solving = scope.spawn(|| solve(reporter));
        let mut raised_here = None;
        loop {
            let (event, back) = py.detach(move || next(receiver));
            receiver = back;
            let answered = match event {
                Ok(event) if raised_here.is_none() => answer(on_event, event),
                Ok(_) => Ok(()),
                Err(RecvTimeoutError::Timeout) => py.check_signals(),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Err(exception) = answered {
                cancelled.store(true, Ordering::Relaxed);
                raised_here.get_or_insert(exception);
            }
        }
        let solved = py.detach(|| solving.join());
        if let Some(exception) = raised_here {
            return Err(exception);
        }
        match solved {
            Ok(solved) => solved.map_err(|error| raised(py, error)),
            Err(_) => Err(PyRuntimeError::new_err("the solve panicked: please report this case")),
        }
    })
}

/// The next event; waits at most until the next check for signals.
fn next(receiver: Receiver<Event>) -> (Result<Event, RecvTimeoutError>, Receiver<Event>) {
    (receiver.recv_timeout(SIGNALS), receiver)
}

fn answer(on_event: Option<&Bound<'_, PyAny>>, event: Event) -> PyResult<()> {
    let Some(on_event) = on_event else { return Ok(()) };
    let (kind, text) = match event {
        Event::Phase(name) => ("phase", name),
        Event::Newton(step) => ("newton", step),
    };
    on_event.call1((kind, text)).map(drop)
}
