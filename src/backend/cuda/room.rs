//! The memory that a solve takes.

use super::{CudaBackend, Device};
use crate::backend::DeviceError;

/// What decides how much memory a solve takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// Points of the grid.
    pub points: usize,
    /// Bytes of a value of the linear solve: 4 or 8.
    pub value: usize,
    /// What the preconditioner keeps.
    pub preconditioner: Kept,
}

/// What a preconditioner keeps of each point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// A diagonal, or nothing.
    Diagonal,
    /// Incomplete factors with their columns.
    Factors,
    /// A multigrid hierarchy in single precision.
    Hierarchy,
}

/// Values a point in double precision whatever the settings: nodes, control functions, decay of the
/// wall terms, weights, and the vectors of Newton's method.
const DOUBLES: usize = 8 + 8;
/// Values a point of the linear solve: field Jacobian and wall columns, right side and solution,
/// six vectors of BiCGStab, three of the wall reduction.
const VALUES: usize = 26 + 4 + 4 + 12 + 6;
/// Memory beside the points: recordings, compiled kernels, the matrix of small levels.
const FIXED: usize = 256 << 20;

impl Demand {
    /// Bytes of the GPU's memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let kept = match self.preconditioner {
            Kept::Diagonal => 2 * self.value,
            // Factors, columns and sources of 26 entries, pivots, and the order of the rows.
            Kept::Factors => 26 * (self.value + 8) + 2 * self.value + 16,
            // 32 values on the finest level, 52 on the coarse ones, a third as many points.
            Kept::Hierarchy => 4 * (32 + 52 / 3),
        };
        self.points * (8 * DOUBLES + VALUES * self.value + kept) + FIXED
    }

    /// Refuses what does not fit the free memory of a device.
    pub(super) fn check(&self, device: &dyn Device) -> Result<(), DeviceError> {
        let asked = self.bytes();
        match device.memory()? {
            Some((free, _)) if asked > free => {
                Err(DeviceError::OutOfMemory { device: device.name().to_owned(), asked, free })
            }
            _ => Ok(()),
        }
    }
}

impl CudaBackend {
    /// Refuses what does not fit the GPU's free memory.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn check_room(&self, demand: Demand) -> Result<(), DeviceError> {
        demand.check(&*self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_million_points_fit_one_large_gpu_and_a_thousand_million_do_not() {
        let demand = |points| Demand { points, value: 4, preconditioner: Kept::Hierarchy };
        let gib = |points| demand(points).bytes() >> 30;

        assert!(gib(100_000_000) < 60, "{}", gib(100_000_000));
        assert!(gib(1_000_000_000) > 141, "{}", gib(1_000_000_000));
    }
}
