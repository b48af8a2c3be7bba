//! The native module `gridgen._core` of the Python package: the library in Python's types.
//!
//! The Python files in `gridgen/` provide names, defaults and documentation. Every call releases the GIL
//! while Rust works and uses its own thread pool, so nothing is shared between calls or lost in a forked
//! process.

#![allow(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "Python hands values over, and its functions have many named arguments"
)]

mod arguments;
mod assembly;
mod base;
mod device;
mod errors;
mod grid;
mod make;
mod moved;
mod movement;
mod nodes;
mod smooth;
mod stored;
mod system;

use std::ffi::OsString;
use std::path::PathBuf;

use gridgen::case::json_schema;
use gridgen::internals::schema;
use pyo3::prelude::*;

/// Runs the program with these arguments, which exclude its name; returns the exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let program = std::iter::once(OsString::from("gridgen"));
    py.detach(|| gridgen::cli::main(program.chain(arguments)))
}

/// Sets the folders that are searched first for NVRTC and NCCL.
#[pyfunction]
fn library_folders(folders: Vec<PathBuf>) {
    gridgen::backend::cuda::library_folders(folders);
}

/// The JSON schema of a case.
#[pyfunction]
#[pyo3(name = "schema")]
fn case_schema() -> String {
    json_schema().to_string()
}

/// Path, value, default, unit and meaning of every key of a case.
#[pyfunction]
fn keys() -> Vec<(&'static str, String, String, &'static str, &'static str)> {
    let row = |key: &'static schema::Key| {
        (key.path, key.kind.to_string(), key.default.to_string(), key.unit, key.meaning)
    };
    schema::KEYS.iter().map(row).collect()
}

/// The native module.
#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<grid::NativeGrid>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(library_folders, module)?)?;
    module.add_function(wrap_pyfunction!(case_schema, module)?)?;
    module.add_function(wrap_pyfunction!(keys, module)?)?;
    module.add_class::<make::NativePool>()?;
    module.add_function(wrap_pyfunction!(make::default_jobs, module)?)?;
    module.add_function(wrap_pyfunction!(make::make, module)?)?;
    module.add_class::<assembly::NativeAssembly>()?;
    module.add_function(wrap_pyfunction!(assembly::assembly, module)?)?;
    module.add_function(wrap_pyfunction!(grid::read, module)?)?;
    module.add_function(wrap_pyfunction!(grid::from_points, module)?)?;
    module.add_function(wrap_pyfunction!(smooth::smoothed, module)?)?;
    module.add_class::<movement::NativeReference>()?;
    module.add_class::<moved::NativeMoved>()?;
    module.add_class::<nodes::NativeNodes>()?;
    module.add_function(wrap_pyfunction!(movement::read_reference, module)?)?;
    module.add_function(wrap_pyfunction!(movement::reference_of, module)?)?;
    module.add_function(wrap_pyfunction!(movement::reference_in, module)?)?;
    module.add_function(wrap_pyfunction!(stored::restored_grid, module)?)?;
    module.add_class::<system::NativeSolver>()
}
