//! References with the devices that move them, and points in arrays.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gridgen::backend::cuda::{self, CudaBackend};
use gridgen::generate::Machine;
use gridgen::grid::Grid;
use gridgen::movement::{MovementError, Reference, Resident};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;

/// A GPU, and the resident data of a reference after its first movement.
pub(crate) struct OnGpu {
    pub(crate) backend: CudaBackend,
    pub(crate) resident: Option<Resident<Arc<Reference>, CudaBackend>>,
}

impl OnGpu {
    /// The backend, and the reference on it.
    pub(crate) fn resident(
        &mut self,
        reference: &Arc<Reference>,
    ) -> Result<(&CudaBackend, &Resident<Arc<Reference>, CudaBackend>), MovementError> {
        let resident = match self.resident.take() {
            Some(resident) => resident,
            None => Resident::new(reference.clone(), &self.backend)?,
        };
        Ok((&self.backend, self.resident.insert(resident)))
    }
}

/// The device that computes movements; all but the CPU take one call at a time.
pub(crate) enum MovementDevice {
    Cpu,
    /// To avoid a deadlock this is locked without the GIL, or around work that needs neither lock.
    Gpu(Arc<dyn cuda::Device>, Box<Mutex<OnGpu>>),
    /// GPUs that share a grid in bands.
    Several(Box<Mutex<Machine>>),
}

/// A reference, and its device.
pub(crate) struct DeviceReference {
    pub(crate) reference: Arc<Reference>,
    pub(crate) device: MovementDevice,
}

pub(crate) fn unlocked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// x and y of a grid as arrays `(nj, ni)`.
pub(crate) fn coordinates<'py>(
    py: Python<'py>,
    grid: &Grid,
) -> PyResult<[Bound<'py, PyArray2<f64>>; 2]> {
    let array = |values: &[f64]| PyArray1::from_slice(py, values).reshape([grid.nj, grid.ni]);
    Ok([array(&grid.x)?, array(&grid.y)?])
}

/// Points as the rows of an array.
pub(crate) fn rows<'py>(py: Python<'py>, points: &[[f64; 2]]) -> Bound<'py, PyArray2<f64>> {
    Array2::from_shape_fn((points.len(), 2), |(k, c)| points[k][c]).into_pyarray(py)
}

pub(crate) fn points(array: &PyReadonlyArray2<'_, f64>) -> Vec<[f64; 2]> {
    array.as_array().rows().into_iter().map(|row| [row[0], row[1]]).collect()
}
