//! References of movements, and the devices that move them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{DeviceError, GridBackend};
use gridgen::case::SolverOptions;
use gridgen::error::Error;
use gridgen::generate::{Machine, open_reference};
use gridgen::grid::Grid;
use gridgen::movement::{MovementError, Reference, Resident};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arguments::{Caller, Compute, attended, in_pool, pool};
use crate::base::{DeviceReference, MovementDevice, OnGpu, points, rows, unlocked};
use crate::device::{Borrowed, Reading};
use crate::errors::{raised, refused};
use crate::grid::NativeGrid;
use crate::moved::{Found, NativeMoved};

/// A grid from which others are moved.
#[pyclass(frozen, module = "gridgen._core")]
pub(crate) struct NativeReference(Arc<DeviceReference>);

impl NativeReference {
    fn of(
        py: Python<'_>,
        (backend, devices): (&str, Option<Vec<usize>>),
        make: impl FnOnce() -> Result<Reference, Error> + Send,
    ) -> PyResult<Self> {
        let Compute { backend, devices, .. } = Compute::new(py, backend, devices, None)?;
        let made = in_pool(py, || {
            let reference = Arc::new(make()?);
            let points = reference.grid().x.len();
            let (machine, _) = Machine::for_points(backend, devices.as_deref(), None, points)?;
            let device = match machine {
                Machine::Cpu => MovementDevice::Cpu,
                Machine::Cuda(backend) => {
                    let device = backend.device().clone();
                    let gpu = OnGpu { backend: *backend, resident: None };
                    MovementDevice::Gpu(device, Box::new(Mutex::new(gpu)))
                }
                ranks @ Machine::Ranks(_) => MovementDevice::Several(Box::new(Mutex::new(ranks))),
            };
            Ok::<_, Error>(DeviceReference { reference, device })
        })?;
        made.map(|base| Self(Arc::new(base))).map_err(|error| raised(py, error))
    }
}

fn settings(py: Python<'_>, settings: &[(String, String)]) -> PyResult<SolverOptions> {
    SolverOptions::new(settings).map_err(|error| raised(py, error))
}

/// The reference read from a file.
#[pyfunction]
pub(crate) fn read_reference(
    py: Python<'_>,
    path: PathBuf,
    options: Vec<(String, String)>,
    backend: &str,
    devices: Option<Vec<usize>>,
) -> PyResult<NativeReference> {
    let options = settings(py, &options)?;
    NativeReference::of(py, (backend, devices), || open_reference(&path, &options))
}

/// The reference in the bytes of such a file.
#[pyfunction]
pub(crate) fn reference_in(
    py: Python<'_>,
    content: &[u8],
    backend: &str,
    devices: Option<Vec<usize>>,
) -> PyResult<NativeReference> {
    let made = Reference::from_bytes(content);
    let made = made.map_err(|fault| refused(py, &format!("the pickled reference: {fault}")))?;
    NativeReference::of(py, (backend, devices), || Ok(made))
}

/// The reference made from a grid.
#[pyfunction]
pub(crate) fn reference_of(
    py: Python<'_>,
    grid: &Bound<'_, NativeGrid>,
    options: Vec<(String, String)>,
    backend: &str,
    devices: Option<Vec<usize>>,
) -> PyResult<NativeReference> {
    let options = settings(py, &options)?;
    let grid = grid.get();
    grid.check_equations(py)?;
    NativeReference::of(py, (backend, devices), || grid.reference(&options))
}

const NO_BASE: &str = "there is no block behind a base";

/// Lines and columns of nodes, and a point of each.
type Displacements<'py> = (usize, usize, Bound<'py, PyArray2<f64>>);

/// Makes a grid like another one from the points of an array with the lines and columns of `shape`.
fn of_points(
    py: Python<'_>,
    (name, shape): (&str, [usize; 2]),
    like: &Grid,
    points: &[[f64; 2]],
) -> PyResult<Grid> {
    let Grid { topology, ni, nj, .. } = *like;
    if shape != [nj, ni] {
        let [lines, columns] = shape;
        let expected = format!("an array of shape ({nj}, {ni}, 2) was expected");
        return Err(refused(py, &format!("{name}: {expected}, found ({lines}, {columns}, 2)")));
    }
    let [x, y] = [0, 1].map(|c| points.iter().map(|point| point[c]).collect());
    Ok(Grid { topology, ni, nj, x, y, outside: None })
}

fn points_of(grid: &Grid) -> Vec<[f64; 2]> {
    grid.x.iter().zip(&grid.y).map(|(x, y)| [*x, *y]).collect()
}

#[pymethods]
impl NativeReference {
    fn wall<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        rows(py, &self.0.reference.wall())
    }

    fn grid(&self, py: Python<'_>) -> PyResult<NativeGrid> {
        let blocks = || self.0.reference.blocks().into_iter().cloned().collect();
        in_pool(py, || NativeGrid::of_linked(blocks()))
    }

    /// Displacements of the nodes of the block behind a base, (nj, ni) of the block and points row by row, for those of the
    /// nodes of the grid.
    fn displacement_behind<'py>(
        &self,
        py: Python<'py>,
        nodes: PyReadonlyArray2<'_, f64>,
        shape: [usize; 2],
    ) -> PyResult<Displacements<'py>> {
        let reference = &self.0.reference;
        let nodes = of_points(py, ("nodes", shape), reference.grid(), &points(&nodes))?;
        let found = reference.displacement_behind(&nodes);
        let found = found.ok_or_else(|| refused(py, NO_BASE))?;
        Ok((found.nj, found.ni, rows(py, &points_of(&found))))
    }

    /// Derivatives by the nodes of the grid from those by the nodes of the block behind its base, row by row.
    fn gather_behind<'py>(
        &self,
        py: Python<'py>,
        block: PyReadonlyArray2<'_, f64>,
        shape: [usize; 2],
    ) -> PyResult<Displacements<'py>> {
        let reference = &self.0.reference;
        let [grid, behind] = reference.blocks()[..] else { return Err(refused(py, NO_BASE)) };
        let by_block = of_points(py, ("block", shape), behind, &points(&block))?;
        let mut nodes = Grid::new(grid.topology, grid.ni, grid.nj);
        reference.gather_behind(&by_block, &mut nodes);
        Ok((grid.nj, grid.ni, rows(py, &points_of(&nodes))))
    }

    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.0.reference.write(&path).map_err(|error| raised(py, error))
    }

    /// Points, (n, 2), from an array of another library on the GPU of the reference.
    fn points_of<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        array: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let MovementDevice::Gpu(device, gpu) = &self.0.device else {
            let message = "an array on a GPU is for a reference on one GPU: copy it to the host";
            return Err(refused(py, message));
        };
        let n = self.0.reference.wall().len();
        let borrowed = Borrowed::new(&**device, name, array, &[n, 2])?;
        let (at, strides) = (borrowed.at.0, [0, borrowed.at.1[0], borrowed.at.1[1]]);
        let topology = self.0.reference.grid().topology;
        let fetched = in_pool(py, || {
            let _reading = Reading(&**device);
            let gpu = unlocked(gpu);
            // SAFETY: the array stays borrowed until the device has read it.
            #[allow(unsafe_code, reason = "an array of another library")]
            let taken = unsafe { gpu.backend.take_array(topology, [1, n], (at, strides)) };
            let mut host = Grid::new(topology, n, 1);
            gpu.backend.fetch(&taken?, &mut host)?;
            Ok::<_, DeviceError>(host)
        });
        drop(borrowed);
        let host = fetched?.map_err(|error| raised(py, error))?;
        let points: Vec<[f64; 2]> = (0..n).map(|i| host.point(i, 0)).collect();
        Ok(rows(py, &points))
    }

    /// The grid moved to these wall points, or unmoved.
    fn move_to(
        &self,
        py: Python<'_>,
        wall: Option<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<NativeMoved> {
        let (wall, base, pool) = (wall.as_ref().map(points), self.0.clone(), pool()?);
        let found = attended(py, None, false, move |_: &mut Caller<()>| {
            pool.install(|| moved(&base, wall.as_deref()))
        })?;
        let found = found.map_err(|error| raised(py, error))?;
        Ok(NativeMoved { base: self.0.clone(), found })
    }
}

/// The grid moved to these wall points, or unmoved.
fn moved(base: &Arc<DeviceReference>, wall: Option<&[[f64; 2]]>) -> Result<Found, MovementError> {
    let DeviceReference { reference, device } = &**base;
    match (device, wall) {
        (MovementDevice::Gpu(_, gpu), wall) => {
            let mut gpu = unlocked(gpu);
            let (backend, resident) = gpu.resident(reference)?;
            let moved = match wall {
                Some(wall) => resident.move_to(backend, wall)?,
                None => resident.unmoved(backend)?,
            };
            Ok(Found::on_gpu(base, moved))
        }
        (MovementDevice::Several(machine), Some(wall)) => {
            unlocked(machine).move_to(reference, wall).map(Found::on_host)
        }
        (MovementDevice::Cpu | MovementDevice::Several(_), wall) => {
            let resident = Resident::new(&**reference, &CpuBackend)?;
            let moved = match wall {
                Some(wall) => resident.move_to(&CpuBackend, wall)?,
                None => resident.unmoved(&CpuBackend)?,
            };
            Ok(Found::on_host(moved))
        }
    }
}
