//! Nodes that stay on a GPU.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::backend::DeviceError;
use crate::backend::cuda::CudaGrid;
use crate::grid::Grid;

/// The nodes of a grid where a GPU has computed them, for programs that go on there. The memory is freed
/// with the last of these.
#[derive(Clone)]
pub struct DeviceNodes(Arc<CudaGrid>);

impl From<Arc<CudaGrid>> for DeviceNodes {
    fn from(nodes: Arc<CudaGrid>) -> Self {
        Self(nodes)
    }
}

impl DeviceNodes {
    /// The nodes of a backend's grid, if it is one of a GPU.
    pub(super) fn of(nodes: impl Any) -> Option<Self> {
        let nodes: Box<dyn Any> = Box::new(nodes);
        nodes.downcast().ok().map(|grid| Self(Arc::new(*grid)))
    }

    /// x and y ← those of the grid on the host.
    pub(super) fn place(&self, grid: &Grid) -> Result<(), DeviceError> {
        let [x, y] = self.0.nodes();
        x.upload(&grid.x)?;
        y.upload(&grid.y)
    }
}

impl Deref for DeviceNodes {
    type Target = CudaGrid;

    fn deref(&self) -> &CudaGrid {
        &self.0
    }
}

impl PartialEq for DeviceNodes {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for DeviceNodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DeviceNodes").field(&self.0.size()).finish()
    }
}
