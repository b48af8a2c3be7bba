//! Converts errors of the library to exceptions of the package.

use gridgen::case::{AssemblyError, CaseError, Place};
use gridgen::cli::exit_code;
use gridgen::error::Error;
use gridgen::movement::MovementError;
use gridgen::smooth::SmoothError;
use gridgen::solver::SolverError;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The exception for an error, with its message, hint, exit code and data.
pub(crate) fn raised(py: Python<'_>, error: impl Into<Error>) -> PyErr {
    let error = error.into();
    if let Error::Interrupted { .. } = error {
        return PyKeyboardInterrupt::new_err(error.to_string());
    }
    let class = match &error {
        Error::Smooth(SmoothError::NotSolved { .. })
        | Error::Movement(
            MovementError::Reference { .. }
            | MovementError::NotGood { .. }
            | MovementError::Linear { .. },
        ) => "NotConverged",
        Error::Case(_)
        | Error::Smooth(_)
        | Error::Movement(MovementError::Size { .. })
        | Error::Overset(
            AssemblyError::EndsInGap { .. }
            | AssemblyError::Option { .. }
            | AssemblyError::Background { .. },
        ) => "CaseError",
        Error::Device(_) | Error::Movement(MovementError::Solver(SolverError::Device(_))) => {
            "DeviceError"
        }
        Error::Geometry(_) | Error::Overset(_) | Error::Movement(_) => "GeometryError",
        Error::System(_) | Error::Preconditioner(_) | Error::MatrixMarket(_) => "MatrixError",
        _ => "FileError",
    };
    let hint = error.hint().map(|hint| in_python(&hint));
    let exception = data(py, &error).and_then(|data| {
        exception(py, class, (error.to_string(), hint, exit_code(error.class()), data))
    });
    exception.unwrap_or_else(|failed| failed)
}

/// The exception for an argument that cannot be used, in the library's wording.
pub(crate) fn refused(py: Python<'_>, message: &str) -> PyErr {
    refused_as(py, "CaseError", message)
}

/// The exception for an unusable argument, as another class of the package.
pub(crate) fn refused_as(py: Python<'_>, class: &str, message: &str) -> PyErr {
    exception(py, class, (message.to_owned(), None, 2, PyDict::new(py)))
        .unwrap_or_else(|failed| failed)
}

/// An exception of `gridgen.errors`.
fn exception(
    py: Python<'_>,
    class: &str,
    arguments: (String, Option<String>, u8, Bound<'_, PyDict>),
) -> PyResult<PyErr> {
    let class = py.import("gridgen.errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call1(arguments)?))
}

/// Data of an error for programs, in addition to its message.
fn data<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyDict>> {
    let data = PyDict::new(py);
    let place = match error {
        Error::Case(error) => case_data(error, &data)?,
        Error::Geometry(error) => Some(&*error.place),
        Error::Overset(error) => assembly_place(error),
        _ => None,
    };
    match place {
        Some(Place::Line { path, line }) => {
            data.set_item("file", path)?;
            data.set_item("line", line)?;
        }
        Some(Place::Argument { name, .. }) => data.set_item("argument", name)?,
        Some(Place::File { path }) => data.set_item("file", path)?,
        Some(Place::Set { .. }) | None => {}
    }
    Ok(data)
}

/// The place in the case file of an error about elements.
fn assembly_place(error: &AssemblyError) -> Option<&Place> {
    match error {
        AssemblyError::Section { error, .. } => Some(&*error.place),
        AssemblyError::Rigging { place, .. } | AssemblyError::Crossing { place, .. } => {
            Some(&**place)
        }
        AssemblyError::EndsInGap { found, .. } | AssemblyError::Background { found, .. } => {
            Some(&found.place)
        }
        _ => None,
    }
}

/// Adds the key, its value and what was expected to `data`; returns the place in the case file.
fn case_data<'a>(error: &'a CaseError, data: &Bound<'_, PyDict>) -> PyResult<Option<&'a Place>> {
    let found = match error {
        CaseError::Invalid { found, expected, .. } => {
            data.set_item("expected", expected)?;
            found
        }
        CaseError::AirfoilFile { found, path, .. } => {
            data.set_item("path", path)?;
            found
        }
        CaseError::Conflict { found, other } | CaseError::Incomplete { found, other } => {
            data.set_item("other", other)?;
            found
        }
        CaseError::Unknown { place, name, nearest, known, .. } => {
            data.set_item("key", name)?;
            data.set_item("nearest", nearest)?;
            data.set_item("known", known)?;
            return Ok(Some(place));
        }
        CaseError::Ambiguous { place, keys } => {
            data.set_item("known", keys)?;
            return Ok(Some(place));
        }
        CaseError::NoElement { place, known, .. } => {
            data.set_item("known", known)?;
            return Ok(Some(place));
        }
        CaseError::Elements { place } => return Ok(Some(place)),
        CaseError::NoCase { place, .. } => return Ok(Some(place)),
        CaseError::Syntax { path, line, .. } => {
            data.set_item("file", path)?;
            data.set_item("line", line)?;
            return Ok(None);
        }
        CaseError::Several { errors } => {
            return errors.first().map_or(Ok(None), |first| case_data(first, data));
        }
        CaseError::Missing { key, .. } => {
            data.set_item("key", key)?;
            return Ok(None);
        }
        _ => return Ok(None),
    };
    data.set_item("key", &found.key)?;
    data.set_item("value", &found.value)?;
    Ok(Some(&found.place))
}

/// Replaces command-line options in a text by arguments of Python.
pub(crate) fn in_python(hint: &str) -> String {
    let words = hint.split(' ').map(|word| match word.strip_prefix("--") {
        Some("solver") => "method".to_owned(),
        Some(option) => option.replace('-', "_"),
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}
