//! Grids and references as bytes that another process reads.

use std::path::{Path, PathBuf};

use gridgen::case::{Case, Table};
use gridgen::error::Error;
use gridgen::formats::{Mesh, MeshData, Settings, Span};
use gridgen::generate::Problem;
use gridgen::grid::quality::WallLine;
use gridgen::grid::{Grid, Outside, Topology};
use gridgen::internals::generate::fingerprint;
use gridgen::movement::Reference;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::arguments::in_pool;
use crate::grid::NativeGrid;

/// The values of a grid that was made, as text; those of `report.json`, and the settings of its meshes.
#[derive(Serialize, Deserialize)]
pub(crate) struct Texts {
    pub(crate) quality: String,
    pub(crate) report: String,
    pub(crate) history: String,
    pub(crate) case: String,
    pub(crate) verdict: (String, bool, String),
    pub(crate) hint: Option<String>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) notes: Vec<String>,
    pub(crate) span: Option<Span>,
    pub(crate) settings: Settings,
    /// The blocks beside the grid.
    pub(crate) others: Vec<Grid>,
}

/// Returns true if a block that was read is whole, and may lie beside this grid.
fn is_beside(block: &Grid, grid: &Grid) -> bool {
    let Grid { topology, ni, nj, ref x, ref y, .. } = *block;
    let behind = Topology::Behind { around: grid.ni };
    let fits = match topology {
        Topology::Behind { .. } => topology == behind && ni == grid.topology.wake() + 1,
        _ => true,
    };
    let whole = x.len() == y.len() && ni.checked_mul(nj) == Some(x.len());
    fits && whole && ni > 1 && nj > 1
}

/// A grid that was made in another process.
pub(crate) struct StoredGrid {
    pub(crate) grid: Grid,
    pub(crate) others: Vec<Grid>,
    pub(crate) texts: Texts,
}

/// All of a mesh but its coordinates.
#[derive(Serialize, Deserialize)]
struct Head {
    topology: Topology,
    wall: ((usize, usize), bool),
    notes: Vec<String>,
    texts: Option<Texts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outside: Option<Outside>,
    /// The blocks beside a mesh that was not made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<Grid>,
}

impl StoredGrid {
    fn blocks(&self) -> Vec<&Grid> {
        std::iter::once(&self.grid).chain(&self.others).collect()
    }

    /// The grid as a mesh with the settings of its case.
    pub(crate) fn mesh(&self) -> MeshData<'_> {
        let Texts { span, settings, verdict: (_, good, _), .. } = self.texts;
        MeshData { span, settings, good, ..MeshData::of_blocks(&self.blocks()) }
    }

    /// The problem of the grid, made from its case again: an error if the section cannot be read any more.
    fn problem(&self) -> Result<Problem, Error> {
        let case = Case::from_toml(&self.texts.case, Path::new("grid.toml"), &[])?;
        Ok(case.settle()?)
    }

    /// True if the program would solve the problem of the grid again: both are as they were.
    pub(crate) fn is_current(&self) -> Result<bool, Error> {
        let report: serde_json::Value =
            serde_json::from_str(&self.texts.report).unwrap_or_default();
        Ok(report["fingerprint"] == fingerprint(self.problem()?.case)?)
    }

    /// The reference of movements of a good grid.
    pub(crate) fn reference(&self) -> Result<Reference, Error> {
        Ok(self.problem()?.reference_of(&self.blocks())?)
    }
}

/// All of a mesh but its coordinates as text, in TOML, which keeps each bit of numbers.
pub(crate) fn head(
    (topology, outside): (Topology, Option<Outside>),
    wall: ((usize, usize), bool),
    texts: Option<Texts>,
    (notes, beside): (Vec<String>, Vec<&Grid>),
) -> PyResult<String> {
    let others = beside.into_iter().filter(|_| texts.is_none()).cloned().collect();
    let head = Table::try_from(Head { topology, wall, notes, texts, outside, others });
    head.map(|head| head.to_string()).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The grid of these parts.
#[pyfunction]
pub(crate) fn restored_grid(
    py: Python<'_>,
    head: &str,
    x: PyReadonlyArray2<'_, f64>,
    y: PyReadonlyArray2<'_, f64>,
) -> PyResult<NativeGrid> {
    let damaged =
        || PyValueError::new_err("the pickled grid is damaged, or of another version of gridgen");
    let table: Table = head.parse().map_err(|_| damaged())?;
    let Head { topology, wall: ((from, to), closed), notes, mut texts, outside, others } =
        table.try_into().map_err(|_| damaged())?;
    let [nj, ni] = [x.shape()[0], x.shape()[1]];
    let cut = topology.wake();
    if x.shape() != y.shape() || ni < 2 || nj < 2 || from > to || to >= ni || cut >= ni / 2 {
        return Err(damaged());
    }
    let [x, y] = [x, y].map(|nodes| nodes.as_array().iter().copied().collect());
    let grid = Grid { topology, ni, nj, x, y, outside };
    let others = texts.as_mut().map_or(others, |texts| std::mem::take(&mut texts.others));
    if !others.iter().all(|block| is_beside(block, &grid)) {
        return Err(damaged());
    }
    if let Some(texts) = texts {
        return Ok(StoredGrid { grid, others, texts }.into());
    }
    let wall = WallLine { from, to, closed };
    in_pool(py, || NativeGrid::of_blocks(Mesh { grid, wall, notes }, others))
}
