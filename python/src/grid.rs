//! Grids in Python: views of their coordinates, measures, files.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::cuda::CudaGrid;
use gridgen::case::SolverOptions;
use gridgen::error::Error;
use gridgen::formats::plot3d::Flavour;
use gridgen::formats::{self, Compression, Format, Mesh, MeshData, Sides, Span, block_names};
use gridgen::generate::{GridResult, RunResult};
use gridgen::grid::quality::{CellMeasure, MOST_ORDER, Quality, measure_along, nonorthogonality};
use gridgen::grid::{Grid, Seam, Topology};
use gridgen::movement::Reference;
use gridgen::viewer::{SCRIPT, STYLE, Scene};
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule};
use rayon::prelude::*;

use crate::arguments::{in_pool, word};
use crate::base::coordinates;
use crate::device;
use crate::errors::{raised, refused, refused_as};
use crate::nodes::GpuNodes;
use crate::stored::{self, StoredGrid, Texts};

/// A grid that was made or read. It is immutable, so arrays can be views of its memory.
#[pyclass(frozen, module = "gridgen._core")]
pub(crate) struct NativeGrid(GridSource);

enum GridSource {
    /// A grid that was made, and the files written.
    Made(Box<GridResult>, Vec<PathBuf>),
    /// A mesh, the quality of all blocks, and the blocks beside the mesh.
    Read(Box<(Mesh, Quality, Vec<Grid>)>),
    /// The grid stays on a GPU until a host copy is needed.
    Moved(Arc<GpuNodes>, Box<Quality>),
    /// A grid that was made in another process.
    Stored(Box<StoredGrid>),
}

impl From<StoredGrid> for NativeGrid {
    fn from(stored: StoredGrid) -> Self {
        Self(GridSource::Stored(Box::new(stored)))
    }
}

impl From<RunResult> for NativeGrid {
    fn from(mut made: RunResult) -> Self {
        let files = std::mem::take(&mut made.files);
        Self(GridSource::Made(Box::new(made.into_section()), files))
    }
}

impl NativeGrid {
    /// A mesh, and its quality.
    pub(crate) fn of(mesh: Mesh) -> Self {
        Self::of_blocks(mesh, Vec::new())
    }

    /// A mesh with blocks beside it, and the quality of all.
    pub(crate) fn of_blocks(mesh: Mesh, others: Vec<Grid>) -> Self {
        let mut quality = measure_along(&mesh.grid, mesh.wall);
        if !others.is_empty() {
            quality = quality.with_blocks(&mesh.grid, others.iter());
        }
        Self(GridSource::Read(Box::new((mesh, quality, others))))
    }

    /// The first of some blocks, with the others beside it.
    pub(crate) fn of_linked(mut blocks: Vec<Grid>) -> Self {
        let others = blocks.split_off(1);
        Self::of_blocks(blocks.swap_remove(0).into(), others)
    }

    /// A moved grid on a GPU.
    pub(crate) fn moved(nodes: Arc<GpuNodes>, quality: Quality) -> Self {
        Self(GridSource::Moved(nodes, Box::new(quality)))
    }

    /// Refuses a grid that was made elsewhere, if its equations cannot be made again.
    pub(crate) fn check_equations(&self, py: Python<'_>) -> PyResult<()> {
        let GridSource::Stored(stored) = &self.0 else { return Ok(()) };
        let current = in_pool(py, || stored.is_current())?;
        if current.map_err(|error| raised(py, error))? {
            return Ok(());
        }
        let message = "the grid was pickled by another version of gridgen, or the file of its section has \
                       changed since: make it again";
        Err(refused_as(py, "GeometryError", message))
    }

    /// This grid as a reference of movements; a grid that was made uses its own equations and settings.
    pub(crate) fn reference(&self, options: &SolverOptions) -> Result<Reference, Error> {
        Ok(match &self.0 {
            GridSource::Stored(stored) => stored.reference()?,
            GridSource::Made(result, _) => result.reference()?,
            GridSource::Read(_) | GridSource::Moved(..) if !self.beside().is_empty() => {
                let blocks: Vec<&Grid> =
                    std::iter::once(self.grid()?).chain(self.beside()).collect();
                Reference::of_blocks(&CpuBackend, &blocks, options)?
            }
            GridSource::Read(read) => Reference::of_mesh(&CpuBackend, &read.0, options)?,
            GridSource::Moved(nodes, _) => Reference::of_grid(&CpuBackend, nodes.host()?, options)?,
        })
    }

    /// The grid on the host, or the nodes of a moved grid on a GPU.
    fn source(&self) -> Result<&Grid, &GpuNodes> {
        match &self.0 {
            GridSource::Made(result, _) => Ok(&result.grid),
            GridSource::Read(read) => Ok(&read.0.grid),
            GridSource::Moved(nodes, _) => Err(nodes),
            GridSource::Stored(stored) => Ok(&stored.grid),
        }
    }

    /// The grid on the host; for a moved grid on a GPU see [`GpuNodes::host`].
    fn grid(&self) -> Result<&Grid, Error> {
        self.source().or_else(GpuNodes::host)
    }

    /// The blocks beside the grid: that behind a base, or those of a cascade.
    fn beside(&self) -> Vec<&Grid> {
        match &self.0 {
            GridSource::Made(result, _) => result.blocks().into_iter().skip(1).collect(),
            GridSource::Stored(stored) => stored.others.iter().collect(),
            GridSource::Read(read) => read.2.iter().collect(),
            GridSource::Moved(nodes, _) => nodes.around(),
        }
    }

    /// Topology, and numbers of nodes in i and j.
    fn shape(&self) -> (Topology, [usize; 2]) {
        let of = |grid: &Grid| (grid.topology, [grid.ni, grid.nj]);
        self.source().map_or_else(|nodes| (nodes.topology, nodes.size), of)
    }

    /// A value of a grid that was made: from its result, or as it was stored; `None` for a mesh that was read.
    fn made<T>(
        &self,
        of_result: impl FnOnce(&GridResult) -> PyResult<T>,
        stored: impl FnOnce(&Texts) -> T,
    ) -> PyResult<Option<T>> {
        match &self.0 {
            GridSource::Made(result, _) => of_result(result).map(Some),
            GridSource::Stored(grid) => Ok(Some(stored(&grid.texts))),
            GridSource::Read(_) | GridSource::Moved(..) => Ok(None),
        }
    }

    fn nodes(&self) -> Option<&Arc<CudaGrid>> {
        match &self.0 {
            GridSource::Made(result, _) => result.nodes.as_ref(),
            GridSource::Read(_) | GridSource::Stored(_) => None,
            GridSource::Moved(nodes, _) => Some(&nodes.nodes),
        }
    }

    /// The mesh with the settings of the grid's case, or with default settings.
    fn mesh_data(&self) -> Result<MeshData<'_>, Error> {
        Ok(match &self.0 {
            GridSource::Made(result, _) => result.mesh(),
            GridSource::Read(_) | GridSource::Moved(..) => {
                let grids = std::iter::once(self.grid()?).chain(self.beside());
                MeshData::of_blocks(&grids.collect::<Vec<_>>())
            }
            GridSource::Stored(stored) => stored.mesh(),
        })
    }

    /// The values of a grid that was made, as text.
    fn texts(&self, py: Python<'_>) -> PyResult<Option<Texts>> {
        let (Some(report), Some(history), Some(case), Some(verdict)) =
            (self.report(py)?, self.history()?, self.case(py)?, self.verdict()?)
        else {
            return Ok(None);
        };
        let mesh = self.mesh_data().map_err(|error| raised(py, error))?;
        Ok(Some(Texts {
            quality: self.quality()?,
            report,
            history,
            case,
            verdict,
            hint: self.hint()?,
            files: self.files(),
            notes: self.notes(),
            span: mesh.span,
            settings: mesh.settings,
            others: self.beside().into_iter().cloned().collect(),
        }))
    }
}

/// Coordinates as a read-only array that is a view of the grid.
fn view<'py>(
    slf: &Bound<'py, NativeGrid>,
    values: impl Fn(&Grid) -> &[f64],
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (py, own) = (slf.py(), slf.get());
    let grid = py.detach(|| own.grid()).map_err(|error| raised(py, error))?;
    let values = ArrayView2::from_shape((grid.nj, grid.ni), values(grid))
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    // SAFETY: the array keeps a reference to the object, which is frozen, so its grid neither moves nor
    // changes.
    #[allow(unsafe_code, reason = "an array without a copy")]
    let array = unsafe { PyArray2::borrow_from_array(&values, slf.clone().into_any()) };
    array.call_method1("setflags", (false,))?;
    Ok(array)
}

#[pymethods]
impl NativeGrid {
    #[getter]
    fn ni(&self) -> usize {
        self.shape().1[0]
    }

    #[getter]
    fn nj(&self) -> usize {
        self.shape().1[1]
    }

    #[getter]
    fn topology(&self) -> &'static str {
        self.shape().0.name()
    }

    #[getter]
    fn wall(&self) -> (usize, usize) {
        if let GridSource::Read(read) = &self.0 {
            return (read.0.wall.from, read.0.wall.to);
        }
        let (topology, [ni, _]) = self.shape();
        let wall = topology.wall(ni);
        (*wall.start(), *wall.end())
    }

    #[getter]
    fn x<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        view(slf, |grid| &grid.x)
    }

    /// x and y of each block beside the grid.
    #[getter]
    fn others<'py>(&self, py: Python<'py>) -> PyResult<Vec<[Bound<'py, PyArray2<f64>>; 2]>> {
        self.beside().into_iter().map(|block| coordinates(py, block)).collect()
    }

    #[getter]
    fn y<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        view(slf, |grid| &grid.y)
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        match &self.0 {
            GridSource::Made(result, _) => result.notices.clone(),
            GridSource::Read(read) => read.0.notes.clone(),
            GridSource::Moved(..) => Vec::new(),
            GridSource::Stored(stored) => stored.texts.notes.clone(),
        }
    }

    /// A measure of each cell, `(nj - 1, ni - 1)`.
    fn cells<'py>(&self, py: Python<'py>, measure: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let grid = py.detach(|| self.grid()).map_err(|error| raised(py, error))?;
        let shape = (grid.nj - 1, grid.ni - 1);
        let measure = match measure {
            "area" => Some(CellMeasure::Area),
            "skewness" => Some(CellMeasure::Skewness),
            "aspect_ratio" => Some(CellMeasure::AspectRatio),
            "determinant" => Some(CellMeasure::SmallestDeterminant),
            "nonorthogonality" => None,
            other => return Err(PyValueError::new_err(format!("no measure of cells: {other}"))),
        };
        let values = in_pool(py, || match measure {
            None => nonorthogonality(grid),
            Some(measure) => {
                let mut values = vec![0.0; grid.cells()];
                let rows = values.par_chunks_mut(shape.1).enumerate();
                rows.for_each(|(j, row)| measure.fill_row(grid, j, row));
                values
            }
        })?;
        let values = Array2::from_shape_vec(shape, values);
        let values = values.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(values.into_pyarray(py))
    }

    /// The quality, in the form of `report.json`.
    fn quality(&self) -> PyResult<String> {
        json(match &self.0 {
            GridSource::Made(result, _) => &result.quality,
            GridSource::Read(read) => &read.1,
            GridSource::Moved(_, quality) => quality,
            GridSource::Stored(stored) => return Ok(stored.texts.quality.clone()),
        })
    }

    /// The text of `report.json`; `None` for a mesh that was read.
    fn report(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let report = |result: &GridResult| json(&result.report().map_err(|e| raised(py, e))?);
        self.made(report, |texts| texts.report.clone())
    }

    /// The Newton steps in JSON; `None` for a mesh that was read.
    fn history(&self) -> PyResult<Option<String>> {
        self.made(|result| json(&result.history.steps), |texts| texts.history.clone())
    }

    /// The resolved case in TOML; `None` for a mesh that was read.
    fn case(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let case = |result: &GridResult| {
            result.case.to_toml_string().map_err(|error| raised(py, Error::from(error)))
        };
        self.made(case, |texts| texts.case.clone())
    }

    /// Kind, whether it is good, and the reason; `None` for a mesh that was read.
    fn verdict(&self) -> PyResult<Option<(String, bool, String)>> {
        let verdict = |GridResult { verdict, .. }: &GridResult| {
            Ok((verdict.kind().to_owned(), verdict.is_good(), verdict.to_string()))
        };
        self.made(verdict, |texts| texts.verdict.clone())
    }

    /// Advice if the grid is not good.
    fn hint(&self) -> PyResult<Option<String>> {
        Ok(self.made(|result| Ok(result.hint()), |texts| texts.hint.clone())?.flatten())
    }

    /// The files that were written with the grid.
    fn files(&self) -> Vec<PathBuf> {
        match &self.0 {
            GridSource::Made(_, files) => files.clone(),
            GridSource::Stored(stored) => stored.texts.files.clone(),
            GridSource::Read(_) | GridSource::Moved(..) => Vec::new(),
        }
    }

    /// The call that makes the grid again in another process: its shape, texts and coordinates.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, own) = (slf.py(), slf.get());
        let (topology, _) = own.shape();
        let closed = match &own.0 {
            GridSource::Read(read) => read.0.wall.closed,
            _ => topology.closed(),
        };
        let grid = py.detach(|| own.grid()).map_err(|error| raised(py, error))?;
        let outside = grid.outside.clone();
        let (texts, notes, beside) = (own.texts(py)?, own.notes(), own.beside());
        let head = stored::head((topology, outside), (own.wall(), closed), texts, (notes, beside))?;
        let restored = py.import("gridgen._core")?.getattr("restored_grid")?;
        (restored, (head, Self::x(slf)?, Self::y(slf)?)).into_bound_py_any(py)
    }

    /// DLPack's device if x and y are on one.
    fn dlpack_device(&self) -> Option<(u32, usize)> {
        self.nodes().map(|nodes| device::device(nodes))
    }

    /// x (axis 0) or y (1) on the device as a DLPack capsule.
    #[pyo3(signature = (axis, stream, max_version))]
    fn dlpack<'py>(
        &self,
        py: Python<'py>,
        axis: usize,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let nodes = self.nodes().filter(|_| axis < 2);
        let nodes = nodes.ok_or_else(|| PyBufferError::new_err("the grid is not on a device"))?;
        device::capsule(py, nodes, axis, (stream, max_version))
    }

    /// A page with the viewer, which needs no other file, and shows this view, in the colours of a measure, and the mesh before.
    fn page(
        &self,
        py: Python<'_>,
        view: &str,
        colour: &str,
        before: Option<&Self>,
    ) -> PyResult<String> {
        let blocks = |mesh: &'_ Self| -> PyResult<Vec<Grid>> {
            let grid = py.detach(|| mesh.grid()).map_err(|error| raised(py, error))?;
            Ok(std::iter::once(grid).chain(mesh.beside()).cloned().collect())
        };
        let (own, old) = (blocks(self)?, before.map(blocks).transpose()?.unwrap_or_default());
        let sizes =
            |grids: &[Grid]| grids.iter().map(|grid| [grid.ni, grid.nj]).collect::<Vec<_>>();
        if before.is_some() && sizes(&own) != sizes(&old) {
            return Err(refused(py, "before: expected a mesh of the same size"));
        }
        let names = block_names(own.len());
        let (name, unit) = match &self.0 {
            GridSource::Made(result, _) => {
                (result.case.name.as_str(), result.case.geometry.length())
            }
            _ => ("grid", 1.0),
        };
        let zones = names.iter().copied().zip(&own).collect();
        let scene = Scene { name, unit, zones, before: old.iter().collect() };
        Ok(py.detach(|| page_of(&scene, view, colour)))
    }

    /// Writes the mesh to a file whose name determines the format; returns notes.
    #[pyo3(signature = (path, *, force, span_cells, span, plot3d, compression, curved_order))]
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        force: bool,
        span_cells: Option<usize>,
        span: Option<f64>,
        plot3d: Option<BTreeMap<String, Bound<'_, PyAny>>>,
        compression: Option<&str>,
        curved_order: Option<usize>,
    ) -> PyResult<Vec<String>> {
        let mut mesh = py.detach(|| self.mesh_data()).map_err(|error| raised(py, error))?;
        mesh.settings.compression = match compression {
            Some(given) => word::<Compression>(py, "compression", given)?,
            None => mesh.settings.compression,
        };
        if let Some(given) = plot3d {
            mesh.settings.plot3d = flavour(py, mesh.settings.plot3d, given)?;
        }
        mesh.span = extent(py, mesh.span, span_cells, span)?;
        if let Some(order) = curved_order {
            if !(1..=MOST_ORDER).contains(&order) {
                let message = format!("curved_order: expected a number from 1 to {MOST_ORDER}");
                return Err(refused(py, &message));
            }
            mesh.settings.curved_order = order;
        }
        let written = in_pool(py, || match Format::of_file_or_folder(&path) {
            Some(format) => format.convert(&path, &mesh, force).map(|converted| converted.notes),
            None => formats::write(&path, &mesh).map(|()| Vec::new()),
        })?;
        written.map_err(|error| raised(py, error))
    }
}

/// A page with the viewer of a scene alone, which needs no other file, and begins as [`Scene::element`] says.
pub(crate) fn page_of(scene: &Scene<'_>, view: &str, colour: &str) -> String {
    let title = scene.name.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<style>\n\
         :root {{ color-scheme: light dark; }}\nbody {{ margin: 0; }}\n.gridgen-viewer {{ padding: .7rem; }}\n\
         {STYLE}</style>\n</head>\n<body>\n<main>\n{}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        scene.element(view, colour)
    )
}

/// The extrusion of a grid into the third dimension, from the case and the arguments that override it.
fn extent(
    py: Python<'_>,
    case: Option<Span>,
    cells: Option<usize>,
    length: Option<f64>,
) -> PyResult<Option<Span>> {
    if length.is_some_and(|length| !(length > 0.0 && length.is_finite())) {
        return Err(refused(py, "span: expected a length above 0"));
    }
    let given = case.unwrap_or(Span { length: 1.0, cells: 0, sides: Sides::Symmetry });
    let cells = cells.unwrap_or(given.cells.max(usize::from(length.is_some())));
    let length = length.unwrap_or(given.length);
    Ok((cells > 0).then_some(Span { length, cells, ..given }))
}

/// A layout of Plot3D with the given keys `plot3d_…` of a case; the prefix is optional.
fn flavour(
    py: Python<'_>,
    layout: Flavour,
    given: BTreeMap<String, Bound<'_, PyAny>>,
) -> PyResult<Flavour> {
    let wrong = |error: serde_json::Error| refused(py, &format!("plot3d: {error}"));
    let mut layout = serde_json::to_value(layout).map_err(wrong)?;
    for (name, value) in given {
        let key = ["plot3d_", name.strip_prefix("plot3d_").unwrap_or(&name)].concat();
        let Some(place) = layout.get_mut(&key) else {
            return Err(refused(py, &format!("plot3d: unknown key {name}")));
        };
        *place = if let Ok(flag) = value.cast::<PyBool>() {
            flag.is_true().into()
        } else if let Ok(number) = value.extract::<u64>() {
            number.into()
        } else {
            value.str()?.to_str()?.into()
        };
    }
    serde_json::from_value(layout).map_err(wrong)
}

/// A value in JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Reads a mesh.
#[pyfunction]
pub(crate) fn read(py: Python<'_>, path: PathBuf) -> PyResult<NativeGrid> {
    let mesh = in_pool(py, || formats::mesh(&path).map(NativeGrid::of))?;
    mesh.map_err(|error| raised(py, error))
}

/// The mesh of two coordinate arrays, `(nj, ni)`.
#[pyfunction]
pub(crate) fn from_points(
    py: Python<'_>,
    x: PyReadonlyArray2<'_, f64>,
    y: PyReadonlyArray2<'_, f64>,
) -> PyResult<NativeGrid> {
    let [nj, ni] = [x.shape()[0], x.shape()[1]];
    if x.shape() != y.shape() || ni < 2 || nj < 2 {
        let expected = "two arrays of one shape (nj, ni), at least (2, 2)";
        let (x, y) = (x.shape(), y.shape());
        return Err(refused(py, &format!("x and y: expected {expected}, found {x:?} and {y:?}")));
    }
    let [x, y] = [x, y].map(|nodes| nodes.as_array().iter().copied().collect());
    let grid = Grid { topology: Topology::O(Seam::Held), ni, nj, x, y, outside: None };
    in_pool(py, || NativeGrid::of(Mesh::from(grid)))
}
