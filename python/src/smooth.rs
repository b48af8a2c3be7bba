//! Smoothing of arrays of nodes.

use gridgen::case::SolverOptions;
use gridgen::error::Error;
use gridgen::generate::Machine;
use gridgen::grid::boundary::Side;
use gridgen::grid::{Grid, Topology};
use gridgen::smooth::{SmoothSettings, side_named};
use numpy::{PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::arguments::{Caller, Compute, attended, pool};
use crate::base::coordinates;
use crate::errors::{raised, refused};
use crate::grid::json;

type Arrays<'py> = [Bound<'py, PyArray2<f64>>; 2];

/// x and y of the smoothed grid, its measures and solves in JSON, and the measures that have grown.
#[pyfunction]
#[pyo3(name = "smooth")]
pub(crate) fn smoothed<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'_, f64>,
    y: PyReadonlyArray2<'_, f64>,
    walls: Vec<String>,
    first_cell: Option<f64>,
    slide: Vec<String>,
    options: Vec<(String, String)>,
    backend: &str,
) -> PyResult<(Arrays<'py>, String, Vec<String>)> {
    let sides = |argument: &str, names: Vec<String>| -> PyResult<Vec<Side>> {
        let side = |name: String| {
            let message = format!("{argument} = {name:?}: jmin, jmax, imin or imax was expected");
            side_named(&name).ok_or_else(|| refused(py, &message))
        };
        names.into_iter().map(side).collect()
    };
    let (walls, slide) = (sides("walls", walls)?, sides("slide", slide)?);
    let settings = SmoothSettings { walls, first_cell, slide };
    let options = SolverOptions::new(&options).map_err(|error| raised(py, error))?;
    let [nj, ni] = [x.shape()[0], x.shape()[1]];
    let [x, y] = [x, y].map(|nodes| nodes.as_array().iter().copied().collect());
    let grid = Grid { topology: Topology::Rectangle, ni, nj, x, y, outside: None };
    let backend = Compute::new(py, backend, None, None)?.backend;
    let pool = pool()?;
    let work = move |_: &mut Caller<()>| {
        pool.install(|| {
            let (machine, _) = Machine::for_points(backend, None, None, ni * nj)?;
            Ok::<_, Error>(machine.smooth(&grid, &settings, &options)?)
        })
    };
    let done = attended(py, None, false, work)?.map_err(|error| raised(py, error))?;
    Ok((coordinates(py, &done.grid)?, json(&done)?, done.grown()))
}
