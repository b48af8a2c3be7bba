//! Numbers at the nodes of a grid in a GPU's memory.

use std::sync::{Arc, OnceLock};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::CudaGrid;
use gridgen::error::Error;
use gridgen::grid::{Grid, Topology};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::base::{DeviceReference, MovementDevice, unlocked};
use crate::device;
use crate::errors::raised;

/// Two numbers at each node of a grid, in a GPU's memory, and on the host after they were requested there.
pub(crate) struct GpuNodes {
    base: Arc<DeviceReference>,
    pub(crate) topology: Topology,
    pub(crate) size: [usize; 2],
    pub(crate) nodes: Arc<CudaGrid>,
    /// The blocks beside the grid.
    around: Arc<[Grid]>,
    host: OnceLock<Grid>,
}

impl GpuNodes {
    pub(crate) fn new(
        base: &Arc<DeviceReference>,
        (topology, size): (Topology, [usize; 2]),
        nodes: Arc<CudaGrid>,
        around: Arc<[Grid]>,
    ) -> Self {
        Self { base: base.clone(), topology, size, nodes, around, host: OnceLock::new() }
    }

    /// The blocks beside the grid.
    pub(crate) fn around(&self) -> Vec<&Grid> {
        self.around.iter().collect()
    }

    /// The numbers on the host. Waits for other work on the GPU, and must not have Python's lock meanwhile.
    pub(crate) fn host(&self) -> Result<&Grid, Error> {
        if self.host.get().is_none() {
            let mut grid = Grid::unset(self.topology, self.size[0], self.size[1]);
            grid.outside.clone_from(&self.base.reference.grid().outside);
            let [x, y] = self.nodes.nodes();
            let _alone = match &self.base.device {
                MovementDevice::Gpu(_, gpu) => Some(unlocked(gpu)),
                MovementDevice::Cpu | MovementDevice::Several(_) => None,
            };
            x.download(&mut grid.x).and_then(|()| y.download(&mut grid.y))?;
            // If another thread was faster, its grid is the same.
            let _ = self.host.set(grid);
        }
        self.host.get().ok_or_else(|| DeviceError::NoGpu.into())
    }
}

/// Displacements of the nodes of a grid in a GPU's memory.
#[pyclass(frozen, module = "gridgen._core")]
pub(crate) struct NativeNodes(pub(crate) Arc<GpuNodes>);

#[pymethods]
impl NativeNodes {
    #[getter]
    fn ni(&self) -> usize {
        self.0.size[0]
    }

    #[getter]
    fn nj(&self) -> usize {
        self.0.size[1]
    }

    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.on_host(py, |grid| &grid.x)
    }

    #[getter]
    fn y<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.on_host(py, |grid| &grid.y)
    }

    fn dlpack_device(&self) -> (u32, usize) {
        device::device(&self.0.nodes)
    }

    /// The first number (axis 0) or the second (1) at the nodes, as a capsule like that of
    /// `NativeGrid.dlpack`.
    #[pyo3(signature = (axis, stream, max_version))]
    fn dlpack<'py>(
        &self,
        py: Python<'py>,
        axis: usize,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        device::capsule(py, &self.0.nodes, axis.min(1), (stream, max_version))
    }
}

impl NativeNodes {
    fn on_host<'py>(
        &self,
        py: Python<'py>,
        values: impl Fn(&Grid) -> &Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let grid = py.detach(|| self.0.host()).map_err(|error| raised(py, error))?;
        PyArray1::from_slice(py, values(grid)).reshape([grid.nj, grid.ni])
    }
}
