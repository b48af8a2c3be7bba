//! Movements: references, moved grids, and their derivatives.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gridgen::backend::MovementBackend;
use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::cuda::CudaBackend;
use gridgen::case::SolverOptions;
use gridgen::generate::{BackendChoice, Machine, open_reference};
use gridgen::movement::{Derivatives, Moved, MovementError, Reference, Solved};
use numpy::ndarray::{Array1, Array2};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arguments::{in_pool, word};
use crate::errors::raised;
use crate::grid::NativeGrid;

/// Where movements are computed.
enum Device {
    Cpu,
    /// One call at a time.
    Gpu(Box<Mutex<CudaBackend>>),
}

/// A reference, and where it is moved.
struct Base {
    reference: Reference,
    device: Device,
}

/// A grid from which others are moved.
#[pyclass(frozen, module = "gridgen._core")]
pub(crate) struct NativeReference(Arc<Base>);

/// A moved grid.
#[pyclass(frozen, module = "gridgen._core")]
pub(crate) struct NativeMoved {
    base: Arc<Base>,
    moved: Moved,
    /// The equations at the grid, from the first derivative on.
    derivatives: Mutex<Option<Differentiable>>,
}

enum Differentiable {
    Cpu(Box<Derivatives<CpuBackend>>),
    Gpu(Box<Derivatives<CudaBackend>>),
}

/// What a derivative is asked for.
enum Asked {
    Forward { wall: Vec<[f64; 2]>, heights: Vec<f64> },
    Adjoint { x: Vec<f64>, y: Vec<f64> },
}

/// Both coordinates of the nodes, or wall points and heights; and the solve.
struct Found {
    points: Vec<[f64; 2]>,
    heights: Vec<f64>,
    solved: Solved,
}

fn unlocked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl NativeReference {
    fn of(
        py: Python<'_>,
        backend: &str,
        make: impl FnOnce() -> Result<Reference, gridgen::error::Error> + Send,
    ) -> PyResult<Self> {
        let backend: BackendChoice = word(py, "backend", backend)?;
        let made = in_pool(py, || {
            let reference = make()?;
            let points = reference.grid().x.len();
            let device = match Machine::for_points(backend, None, None, points)?.0 {
                Machine::Cuda(backend) => Device::Gpu(Box::new(Mutex::new(*backend))),
                Machine::Cpu | Machine::Ranks(_) => Device::Cpu,
            };
            Ok::<_, gridgen::error::Error>(Base { reference, device })
        })?;
        made.map(|base| Self(Arc::new(base))).map_err(|error| raised(py, error))
    }

    fn with(&self, moved: Moved) -> NativeMoved {
        NativeMoved { base: self.0.clone(), moved, derivatives: Mutex::new(None) }
    }
}

/// Points as rows of an array.
fn rows<'py>(py: Python<'py>, points: &[[f64; 2]]) -> Bound<'py, PyArray2<f64>> {
    Array2::from_shape_fn((points.len(), 2), |(k, c)| points[k][c]).into_pyarray(py)
}

fn points(array: &PyReadonlyArray2<'_, f64>) -> Vec<[f64; 2]> {
    array.as_array().rows().into_iter().map(|row| [row[0], row[1]]).collect()
}

fn settings(py: Python<'_>, settings: &[(String, String)]) -> PyResult<SolverOptions> {
    SolverOptions::new(settings).map_err(|error| raised(py, error))
}

/// The reference of a file.
#[pyfunction]
pub(crate) fn read_reference(
    py: Python<'_>,
    path: PathBuf,
    options: Vec<(String, String)>,
    backend: &str,
) -> PyResult<NativeReference> {
    let options = settings(py, &options)?;
    NativeReference::of(py, backend, || open_reference(&path, &options))
}

/// The reference of a grid that was made or read.
#[pyfunction]
pub(crate) fn reference_of(
    py: Python<'_>,
    grid: &Bound<'_, NativeGrid>,
    options: Vec<(String, String)>,
    backend: &str,
) -> PyResult<NativeReference> {
    let options = settings(py, &options)?;
    let grid = grid.get();
    NativeReference::of(py, backend, || Ok(grid.reference(&options)?))
}

#[pymethods]
impl NativeReference {
    fn wall<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        rows(py, &self.0.reference.wall())
    }

    fn grid(&self, py: Python<'_>) -> PyResult<NativeGrid> {
        in_pool(py, || NativeGrid::of(self.0.reference.grid().clone().into()))
    }

    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.0.reference.write(&path).map_err(|error| raised(py, error))
    }

    fn unmoved(&self) -> NativeMoved {
        self.with(self.0.reference.unmoved())
    }

    fn move_to(&self, py: Python<'_>, wall: PyReadonlyArray2<'_, f64>) -> PyResult<NativeMoved> {
        let wall = points(&wall);
        let Base { reference, device } = &*self.0;
        let moved = in_pool(py, || match device {
            Device::Cpu => reference.move_to(&CpuBackend, &wall),
            Device::Gpu(backend) => reference.move_to(&*unlocked(backend), &wall),
        })?;
        moved.map(|moved| self.with(moved)).map_err(|error| raised(py, error))
    }
}

#[pymethods]
impl NativeMoved {
    fn grid(&self, py: Python<'_>) -> PyResult<NativeGrid> {
        in_pool(py, || NativeGrid::of(self.moved.grid.clone().into()))
    }

    /// Kind, whether it is good, and the reason.
    fn verdict(&self) -> (&'static str, bool, String) {
        let verdict = &self.moved.verdict;
        (verdict.kind(), verdict.is_good(), verdict.to_string())
    }

    /// Newton steps, linear iterations, and into how many parts the movement was cut.
    fn counts(&self) -> (usize, f64, usize) {
        let moved = &self.moved;
        (moved.newton_iterations, moved.linear_iterations, moved.parts)
    }

    fn worn(&self) -> Option<&str> {
        self.moved.worn.as_deref()
    }

    /// The displacement of the nodes, points (nj ni, 2) row by row, with iterations and residual.
    fn derivative<'py>(
        &self,
        py: Python<'py>,
        wall: PyReadonlyArray2<'_, f64>,
        heights: Option<PyReadonlyArray1<'_, f64>>,
        tolerance: f64,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, f64, f64)> {
        let heights = heights.map_or_else(Vec::new, |heights| heights.as_array().to_vec());
        let asked = Asked::Forward { wall: points(&wall), heights };
        let Found { points, solved, .. } = self.differentiate(py, asked, tolerance)?;
        Ok((rows(py, &points), solved.iterations, solved.residual))
    }

    /// Derivatives by the wall points and by the heights, with iterations and residual.
    #[expect(clippy::type_complexity, reason = "two arrays and two numbers")]
    fn adjoint<'py>(
        &self,
        py: Python<'py>,
        nodes: PyReadonlyArray2<'_, f64>,
        tolerance: f64,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, f64, f64)> {
        let nodes = nodes.as_array();
        let [x, y] = [0, 1].map(|c| nodes.column(c).to_vec());
        let found = self.differentiate(py, Asked::Adjoint { x, y }, tolerance)?;
        let heights = Array1::from_vec(found.heights).into_pyarray(py);
        Ok((rows(py, &found.points), heights, found.solved.iterations, found.solved.residual))
    }
}

impl NativeMoved {
    fn differentiate(&self, py: Python<'_>, asked: Asked, tolerance: f64) -> PyResult<Found> {
        let Base { reference, device } = &*self.base;
        let found = in_pool(py, || -> Result<Found, MovementError> {
            let mut kept = unlocked(&self.derivatives);
            let backend = match device {
                Device::Cpu => None,
                Device::Gpu(backend) => Some(unlocked(backend)),
            };
            let differentiable = match kept.take() {
                Some(kept) => kept,
                None => match &backend {
                    None => {
                        let derivatives = reference.derivatives(&CpuBackend, &self.moved)?;
                        Differentiable::Cpu(Box::new(derivatives))
                    }
                    Some(backend) => {
                        let derivatives = reference.derivatives(&**backend, &self.moved)?;
                        Differentiable::Gpu(Box::new(derivatives))
                    }
                },
            };
            let (differentiable, found) = match (differentiable, &backend) {
                (Differentiable::Gpu(derivatives), Some(backend)) => {
                    let mut derivatives = derivatives.with_tolerance(tolerance);
                    let found = answer(&mut derivatives, &**backend, &asked);
                    (Differentiable::Gpu(Box::new(derivatives)), found)
                }
                (Differentiable::Cpu(derivatives), _) => {
                    let mut derivatives = derivatives.with_tolerance(tolerance);
                    let found = answer(&mut derivatives, &CpuBackend, &asked);
                    (Differentiable::Cpu(Box::new(derivatives)), found)
                }
                // A reference stays where it is.
                (Differentiable::Gpu(_), None) => unreachable!("derivatives of another device"),
            };
            *kept = Some(differentiable);
            found
        })?;
        found.map_err(|error| raised(py, error))
    }
}

fn answer<B>(
    derivatives: &mut Derivatives<B>,
    backend: &B,
    asked: &Asked,
) -> Result<Found, MovementError>
where
    B: MovementBackend,
{
    match asked {
        Asked::Forward { wall, heights } => {
            let found = derivatives.derivative(backend, wall, heights)?;
            let points = found.x.iter().zip(&found.y).map(|(&x, &y)| [x, y]).collect();
            Ok(Found { points, heights: Vec::new(), solved: found.solved })
        }
        Asked::Adjoint { x, y } => {
            let found = derivatives.adjoint(backend, x, y)?;
            Ok(Found { points: found.wall, heights: found.heights, solved: found.solved })
        }
    }
}
