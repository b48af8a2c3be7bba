//! An estimate of the memory that a solve needs.

use crate::backend::DeviceError;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Device;
use crate::backend::cuda::launch::Result;
use crate::backend::cuda::launch::constants::{
    COMPACT_STORAGE, FULL_STORAGE, WALL_VALUES, half_row,
};

impl CudaBackend {
    /// Refuses what does not fit the GPU's free memory.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn check_memory(&self, estimate: MemoryEstimate) -> Result<()> {
        estimate.check(&*self.device)
    }
}

/// Quantities that determine the memory that a solve needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// Unknown points.
    pub points: usize,
    /// Points of a line along xi.
    pub columns: usize,
    /// Bytes of a value of the linear solve: 4 or 8.
    pub value: usize,
    /// Storage of the preconditioner.
    pub preconditioner: PreconditionerStorage,
}

/// Storage of a preconditioner per point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreconditionerStorage {
    /// A diagonal, or nothing.
    Diagonal,
    /// Incomplete factors within tiles.
    Tiles,
    /// Incomplete factors by rows, with their columns.
    Factors,
    /// A multigrid hierarchy in single precision.
    Hierarchy,
}

/// Values per point in double precision whatever the settings: nodes, control functions, decay of the
/// wall terms, weights, and the vectors of Newton's method.
const DOUBLES: usize = 8 + 8;
/// Values per point of the linear solve: field Jacobian and wall columns, right side and solution,
/// seven vectors of BiCGStab, three of the wall reduction.
const VALUES: usize = 26 + 4 + 4 + 14 + 6;
/// Memory in addition to that of the points: recordings, compiled kernels, the matrix of small levels.
const FIXED: usize = 256 << 20;

impl MemoryEstimate {
    /// Bytes of the GPU's memory.
    pub fn bytes(&self) -> usize {
        let points = self.points;
        let stored = match self.preconditioner {
            PreconditionerStorage::Diagonal => points * 2 * self.value,
            // 26 entries, and at most as many of tiles that reach over the rim.
            PreconditionerStorage::Tiles => points * 2 * 26 * self.value,
            // 26 entries of the eliminated matrix with their columns and sources, again by triangles, and
            // the products of one; pivots and intermediate vectors, and both orders of the rows.
            PreconditionerStorage::Factors => {
                points * (26 * (12 + 5 * self.value / 2) + 8 * self.value + 96)
            }
            // Rows are padded. A point has the operator, wall terms, inverse pivots of closed xi-lines, right side and
            // solution.
            PreconditionerStorage::Hierarchy => {
                let (columns, rows) = (self.columns, points.div_ceil(self.columns.max(1)));
                let padded = |level: u32| 2 * half_row(columns >> level) * (rows >> level);
                let coarse = (1..).take_while(|level| columns >> level > 1 && rows >> level > 0);
                let values = |stored: usize| stored + WALL_VALUES + 8 + 4;
                let below = values(FULL_STORAGE) * coarse.map(padded).sum::<usize>();
                4 * (values(COMPACT_STORAGE) * padded(0) + below)
            }
        };
        points * (8 * DOUBLES + VALUES * self.value) + stored + FIXED
    }

    /// The share of each of several devices, which have bands of columns.
    #[must_use]
    pub fn share(self, devices: usize) -> Self {
        let part = |whole: usize| whole.div_ceil(devices.max(1));
        Self { points: part(self.points), columns: part(self.columns), ..self }
    }

    /// Refuses what does not fit the free memory of a device.
    pub(crate) fn check(&self, device: &dyn Device) -> Result<()> {
        let asked = self.bytes();
        match device.memory()? {
            Some((free, _)) if asked > free => {
                Err(DeviceError::OutOfMemory { device: device.name().to_owned(), asked, free })
            }
            _ => Ok(()),
        }
    }
}
