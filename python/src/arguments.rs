//! Converts Python arguments to values of a case and to options of the library.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use gridgen::case::{Table, Value};
use gridgen::generate::{BackendChoice, RunOptions};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::de::DeserializeOwned;

use crate::errors::{in_python, refused};

/// Longest time between two checks for signals.
const SIGNALS: Duration = Duration::from_millis(20);

/// The given keys of a case with their values in TOML's types; keys that are None are skipped.
///
/// # Errors
/// `CaseError` for a value that TOML has no type for.
pub(crate) fn values(arguments: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Vec<(String, Value)>> {
    let given = arguments.into_iter().filter(|(_, value)| !value.is_none());
    given
        .map(|(name, value)| {
            let value = self::value(&name, &value)?;
            Ok((name, value))
        })
        .collect()
}

/// A value of the key `name`, or a part of one.
fn value(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    // NumPy scalars, which behave like arrays without dimensions.
    if value.hasattr("dtype")? && value.getattr("ndim")?.extract::<usize>()? == 0 {
        return self::value(name, &value.call_method0("item")?);
    }
    Ok(if let Ok(flag) = value.cast::<PyBool>() {
        Value::from(flag.is_true())
    } else if let Ok(number) = value.cast::<PyInt>() {
        // An integer that TOML cannot hold becomes a float, which the check of its key refuses.
        match number.extract::<i64>() {
            Ok(number) => Value::from(number),
            Err(_) => Value::from(number.extract::<f64>().unwrap_or(f64::INFINITY)),
        }
    } else if let Ok(number) = value.cast::<PyFloat>() {
        Value::from(number.value())
    } else if let Ok(text) = value.cast::<PyString>() {
        Value::from(text.to_str()?)
    } else if value.hasattr("__fspath__")? {
        Value::from(value.call_method0("__fspath__")?.extract::<String>()?)
    } else if let Ok(table) = value.cast::<PyDict>() {
        let mut items = Table::new();
        for (key, item) in table {
            items.insert(key.extract::<String>()?, self::value(name, &item)?);
        }
        Value::Table(items)
    } else if let Ok(array) = value.extract::<PyReadonlyArrayDyn<'_, f64>>() {
        nested(&mut array.as_array().iter().copied(), array.shape())
    } else if value.cast::<PyList>().is_ok() || value.cast::<PyTuple>().is_ok() {
        let items = value.try_iter()?.map(|item| self::value(name, &item?));
        Value::Array(items.collect::<PyResult<_>>()?)
    } else {
        let found = value.get_type().name()?;
        let expected = "a number, a text, True or False, a list, or an array";
        return Err(refused(value.py(), &format!("{name}: expected {expected}, found {found}")));
    })
}

/// Numbers in C order as nested lists.
fn nested(numbers: &mut dyn Iterator<Item = f64>, shape: &[usize]) -> Value {
    match shape {
        [] => Value::from(numbers.next().unwrap_or(f64::NAN)),
        [first, rest @ ..] => Value::Array((0..*first).map(|_| nested(numbers, rest)).collect()),
    }
}

/// A word as a variant of an enumeration of the library.
///
/// # Errors
/// `CaseError` that lists the words allowed.
pub(crate) fn word<T: DeserializeOwned>(py: Python<'_>, name: &str, word: &str) -> PyResult<T> {
    serde_json::from_value(word.into())
        .map_err(|error| refused(py, &format!("{name} = \"{word}\": {error}")))
}

/// Backend, GPUs and threads of a call that computes.
pub(crate) struct Compute {
    pub(crate) backend: BackendChoice,
    pub(crate) devices: Option<Vec<usize>>,
    pub(crate) threads: Option<usize>,
}

impl Compute {
    /// # Errors
    /// `CaseError` for an unknown backend, GPUs with the CPU backend, a GPU named twice, and zero threads.
    pub(crate) fn new(
        py: Python<'_>,
        backend: &str,
        devices: Option<Vec<usize>>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let backend: BackendChoice = word(py, "backend", backend)?;
        let named = devices.as_deref().unwrap_or_default();
        let checked = backend.check_devices(named);
        checked.map_err(|message| refused(py, &in_python(&message)))?;
        if threads.is_some_and(|threads| !(1..=4096).contains(&threads)) {
            return Err(refused(py, "threads: expected an integer from 1 to 4096"));
        }
        Ok(Self { backend, devices, threads })
    }

    /// The options of a run there, with files in `output`.
    pub(crate) fn options(self, output: PathBuf) -> RunOptions {
        let mut options = RunOptions::new(output);
        options.backend = self.backend;
        options.devices = self.devices;
        options.threads = self.threads;
        options
    }
}

/// Runs multithreaded work without the GIL, in its own thread pool. A panic, which is a bug of gridgen, becomes an
/// exception.
pub(crate) fn in_pool<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool()?;
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(|| pool.install(work))));
    done.map_err(|_| panicked())
}

/// A pool with one thread for each core.
pub(crate) fn pool() -> PyResult<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new().build().map_err(|error| no_threads(&error))
}

fn no_threads(error: &dyn std::error::Error) -> PyErr {
    PyRuntimeError::new_err(format!("no threads: {error}"))
}

/// The call that waits for work in a separate thread.
pub(crate) struct Caller<E> {
    events: Sender<E>,
    /// True if the call has a callback for events.
    heard: bool,
    given_up: Arc<AtomicBool>,
}

impl<E> Caller<E> {
    /// True if the call is to raise an exception: the work may end early.
    pub(crate) fn has_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Reports an event if the call has a callback.
    pub(crate) fn report(&self, event: impl FnOnce() -> E) {
        if self.heard {
            let _ = self.events.send(event());
        }
    }
}

/// Runs work in a separate thread while this one passes events to `on_event` and checks for signals, which only the
/// main thread of Python receives. The exception of either is raised: at once, or if the call `waits`, after the work has
/// ended, which it may do early.
///
/// # Errors
/// The exception of a signal or of `on_event`, and `RuntimeError` for a panic or if the system cannot create
/// threads.
pub(crate) fn attended<E, T>(
    py: Python<'_>,
    on_event: Option<&Bound<'_, PyAny>>,
    waits: bool,
    work: impl FnOnce(&mut Caller<E>) -> T + Send + 'static,
) -> PyResult<T>
where
    E: for<'py> PyCallArgs<'py> + Send + 'static,
    T: Send + 'static,
{
    let given_up = Arc::new(AtomicBool::new(false));
    let (events, mut receiver) = mpsc::channel();
    let mut caller = Caller { events, heard: on_event.is_some(), given_up: given_up.clone() };
    let working = std::thread::Builder::new().spawn(move || work(&mut caller));
    let working = working.map_err(|error| no_threads(&error))?;
    let mut raised = None;
    loop {
        let (event, back) = py.detach(move || (receiver.recv_timeout(SIGNALS), receiver));
        receiver = back;
        let answered = match (event, on_event) {
            // The work has ended, and all its events have been passed on.
            (Err(RecvTimeoutError::Disconnected), _) => break,
            (Ok(event), Some(on_event)) if raised.is_none() => on_event.call1(event).map(drop),
            _ => Ok(()),
        };
        if let Err(exception) = answered.and_then(|()| py.check_signals()) {
            given_up.store(true, Ordering::Relaxed);
            if !waits {
                return Err(exception);
            }
            raised.get_or_insert(exception);
        }
    }
    let done = py.detach(|| working.join()).map_err(|_| panicked());
    raised.map_or(done, Err)
}

fn panicked() -> PyErr {
    PyRuntimeError::new_err("gridgen panicked: please report what it was given")
}
