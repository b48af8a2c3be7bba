//! Moved grids, and their derivatives.

use std::sync::{Arc, Mutex};

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::cuda::{self, CudaBackend};
use gridgen::backend::{DeviceError, MovementBackend};
use gridgen::grid::{Grid, Topology};
use gridgen::movement::{Adjoint, Derivatives, Moved, MovementError, Resident};
use gridgen::solver::SolverError;
use numpy::ndarray::Array1;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arguments::in_pool;
use crate::base::{DeviceReference, MovementDevice, OnGpu, points, rows, unlocked};
use crate::device::{Borrowed, Reading};
use crate::errors::{raised, refused};
use crate::grid::NativeGrid;
use crate::nodes::{GpuNodes, NativeNodes};

/// A moved grid where it was computed, and its equations from the first derivative on.
pub(crate) enum Found {
    Host(Box<Moved>, Kept<CpuBackend>),
    Gpu { moved: Box<Moved<CudaBackend>>, nodes: Arc<GpuNodes>, derivatives: Kept<CudaBackend> },
}

type Kept<B> = Mutex<Option<Box<Derivatives<B>>>>;

impl Found {
    pub(crate) fn on_host(moved: Moved) -> Self {
        Self::Host(Box::new(moved), Mutex::default())
    }

    pub(crate) fn on_gpu(base: &Arc<DeviceReference>, moved: Moved<CudaBackend>) -> Self {
        let (nodes, beside) = (moved.nodes().clone(), moved.beside().clone());
        let nodes = Arc::new(GpuNodes::new(base, moved.shape(), nodes, beside));
        Self::Gpu { moved: Box::new(moved), nodes, derivatives: Mutex::default() }
    }
}

/// Asks derivatives, which are made at the first time.
fn ask<B: MovementBackend, T>(
    kept: &Kept<B>,
    make: impl FnOnce() -> Result<Derivatives<B>, MovementError>,
    tolerance: f64,
    ask: impl FnOnce(&mut Derivatives<B>) -> Result<T, MovementError>,
) -> Result<T, MovementError> {
    let mut kept = unlocked(kept);
    let derivatives = match kept.take() {
        Some(derivatives) => *derivatives,
        None => make()?,
    };
    ask(kept.insert(Box::new(derivatives.with_tolerance(tolerance))))
}

/// A moved grid.
#[pyclass(frozen, module = "gridgen._core")]
pub(crate) struct NativeMoved {
    pub(crate) base: Arc<DeviceReference>,
    pub(crate) found: Found,
}

/// Displacements of the nodes, or derivatives with respect to wall points and heights.
struct Answer {
    points: Vec<[f64; 2]>,
    heights: Vec<f64>,
}

/// A derivative that is asked for on the host.
enum Asked {
    Forward { wall: Vec<[f64; 2]>, heights: Vec<f64> },
    Adjoint { x: Vec<f64>, y: Vec<f64> },
}

/// The GPU of a grid, and the grid's topology and size.
type Gpu<'a> = (&'a dyn cuda::Device, &'a Mutex<OnGpu>, (Topology, [usize; 2]));

/// Kind of the verdict, whether it is good, and the reason; Newton steps, linear iterations, and number of parts of the
/// movement; the reason for a new grid, if there is one.
type Facts<'a> = ((&'static str, bool, String), (usize, f64, usize), Option<&'a str>);

/// Arrays by wall point and by height.
type Gradient<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl NativeMoved {
    fn grid(&self, py: Python<'_>) -> PyResult<NativeGrid> {
        in_pool(py, || match &self.found {
            Found::Host(moved, _) => NativeGrid::of_linked(moved.blocks()),
            Found::Gpu { moved, nodes, .. } => {
                NativeGrid::moved(nodes.clone(), moved.quality.clone())
            }
        })
    }

    /// See [`Facts`].
    fn facts(&self) -> Facts<'_> {
        match &self.found {
            Found::Host(moved, _) => facts(moved),
            Found::Gpu { moved, .. } => facts(moved),
        }
    }

    /// The displacement of the nodes, points (nj ni, 2) row by row.
    fn derivative<'py>(
        &self,
        py: Python<'py>,
        wall: PyReadonlyArray2<'_, f64>,
        heights: Option<PyReadonlyArray1<'_, f64>>,
        tolerance: f64,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let heights = heights.map_or_else(Vec::new, |heights| heights.as_array().to_vec());
        let asked = Asked::Forward { wall: points(&wall), heights };
        Ok(rows(py, &self.answer(py, &asked, tolerance)?.points))
    }

    /// [`Self::derivative`] left on the GPU.
    fn derivative_on_gpu(
        &self,
        py: Python<'_>,
        wall: PyReadonlyArray2<'_, f64>,
        heights: Option<PyReadonlyArray1<'_, f64>>,
        tolerance: f64,
    ) -> PyResult<NativeNodes> {
        let heights = heights.map_or_else(Vec::new, |heights| heights.as_array().to_vec());
        let wall = points(&wall);
        let (_, gpu, shape) = self.gpu(py)?;
        let found = in_pool(py, || {
            self.on_gpu(gpu, tolerance, |derivatives, backend| {
                let (nodes, _) = derivatives.derivative(backend, &wall, &heights)?;
                // Whoever takes them may ask for no order.
                backend.device().synchronise().map_err(SolverError::from)?;
                let nodes = GpuNodes::new(&self.base, shape, Arc::new(nodes), Arc::default());
                Ok(NativeNodes(Arc::new(nodes)))
            })
        })?;
        found.map_err(|error| raised(py, error))
    }

    /// Derivatives with respect to the wall points and the heights.
    fn adjoint<'py>(
        &self,
        py: Python<'py>,
        nodes: PyReadonlyArray2<'_, f64>,
        tolerance: f64,
    ) -> PyResult<Gradient<'py>> {
        let nodes = nodes.as_array();
        let [x, y] = [0, 1].map(|c| nodes.column(c).to_vec());
        let found = self.answer(py, &Asked::Adjoint { x, y }, tolerance)?;
        Ok(gradient(py, found))
    }

    /// [`Self::adjoint`] from an array (nj, ni, 2) of another library on the GPU of the grid.
    fn adjoint_on_gpu<'py>(
        &self,
        py: Python<'py>,
        nodes: &Bound<'py, PyAny>,
        tolerance: f64,
    ) -> PyResult<Gradient<'py>> {
        let (device, gpu, (topology, [ni, nj])) = self.gpu(py)?;
        let borrowed = Borrowed::new(device, "nodes", nodes, &[nj, ni, 2])?;
        let (at, strides) = (borrowed.at.0, [0, 1, 2].map(|axis| borrowed.at.1[axis]));
        let found = in_pool(py, || {
            let _reading = Reading(device);
            self.on_gpu(gpu, tolerance, |derivatives, backend| {
                // SAFETY: the array stays borrowed until the device has read it.
                #[allow(unsafe_code, reason = "an array of another library")]
                let taken = unsafe { backend.take_array(topology, [nj, ni], (at, strides)) };
                derivatives.adjoint(backend, taken.map_err(SolverError::from)?)
            })
        });
        drop(borrowed);
        let found = found?.map_err(|error| raised(py, error))?;
        Ok(gradient(py, found.into()))
    }
}

fn facts<B: MovementBackend>(moved: &Moved<B>) -> Facts<'_> {
    let Moved { verdict, newton_iterations, linear_iterations, parts, worn, .. } = moved;
    let verdict = (verdict.kind(), verdict.is_good(), verdict.to_string());
    (verdict, (*newton_iterations, *linear_iterations, *parts), worn.as_deref())
}

fn gradient(py: Python<'_>, found: Answer) -> Gradient<'_> {
    (rows(py, &found.points), Array1::from_vec(found.heights).into_pyarray(py))
}

impl NativeMoved {
    /// The GPU that has the grid, and the grid's topology and size.
    fn gpu(&self, py: Python<'_>) -> PyResult<Gpu<'_>> {
        match (&self.base.device, &self.found) {
            (MovementDevice::Gpu(device, gpu), Found::Gpu { moved, .. }) => {
                Ok((&**device, gpu, moved.shape()))
            }
            _ => Err(refused(py, "the grid is not on one GPU: give an array on the host")),
        }
    }

    /// Asks the derivatives on the GPU.
    fn on_gpu<T>(
        &self,
        gpu: &Mutex<OnGpu>,
        tolerance: f64,
        asked: impl FnOnce(&mut Derivatives<CudaBackend>, &CudaBackend) -> Result<T, MovementError>,
    ) -> Result<T, MovementError> {
        let Found::Gpu { moved, derivatives, .. } = &self.found else {
            return Err(SolverError::from(DeviceError::NoGpu).into());
        };
        let mut gpu = unlocked(gpu);
        let (backend, resident) = gpu.resident(&self.base.reference)?;
        let make = || resident.derivatives(backend, moved);
        ask(derivatives, make, tolerance, |derivatives| asked(derivatives, backend))
    }

    fn answer(&self, py: Python<'_>, asked: &Asked, tolerance: f64) -> PyResult<Answer> {
        let DeviceReference { reference, device } = &*self.base;
        let found = in_pool(py, || match (device, &self.found) {
            (MovementDevice::Gpu(_, gpu), _) => {
                self.on_gpu(gpu, tolerance, |derivatives, backend| {
                    answer(derivatives, backend, asked)
                })
            }
            (MovementDevice::Several(machine), Found::Host(moved, _)) => {
                let (at, machine) = ((&**reference, &**moved, tolerance), unlocked(machine));
                match asked {
                    Asked::Forward { wall, heights } => {
                        machine.derivative(at, wall, heights).map(|(by, _)| by.into())
                    }
                    Asked::Adjoint { x, y } => machine.adjoint(at, x, y).map(Answer::from),
                }
            }
            (_, Found::Host(moved, derivatives)) => {
                let make =
                    || Resident::new(&**reference, &CpuBackend)?.derivatives(&CpuBackend, moved);
                ask(derivatives, make, tolerance, |derivatives| {
                    answer(derivatives, &CpuBackend, asked)
                })
            }
            // A grid is where its reference is.
            (_, Found::Gpu { .. }) => unreachable!("a grid of another device"),
        })?;
        found.map_err(|error| raised(py, error))
    }
}

impl From<Grid> for Answer {
    fn from(by: Grid) -> Self {
        let points = by.x.iter().zip(&by.y).map(|(&x, &y)| [x, y]).collect();
        Self { points, heights: Vec::new() }
    }
}

impl From<Adjoint> for Answer {
    fn from(found: Adjoint) -> Self {
        Self { points: found.wall, heights: found.heights }
    }
}

fn answer<B: MovementBackend>(
    derivatives: &mut Derivatives<B>,
    backend: &B,
    asked: &Asked,
) -> Result<Answer, MovementError> {
    match asked {
        Asked::Forward { wall, heights } => {
            let (nodes, _) = derivatives.derivative(backend, wall, heights)?;
            Ok(derivatives.fetch(backend, &nodes)?.into())
        }
        Asked::Adjoint { x, y } => {
            let nodes = derivatives.by_nodes(backend, x, y)?;
            derivatives.adjoint(backend, nodes).map(Answer::from)
        }
    }
}
