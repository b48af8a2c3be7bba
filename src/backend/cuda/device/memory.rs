//! Estimate of the memory that a solve needs.

use super::interface::Device;
use crate::backend::DeviceError;

/// What determines the memory that a solve needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// Points of the grid.
    pub points: usize,
    /// Bytes of a value of the linear solve: 4 or 8.
    pub value: usize,
    /// What the preconditioner stores.
    pub preconditioner: PreconditionerStorage,
}

/// What a preconditioner stores per point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreconditionerStorage {
    /// A diagonal, or nothing.
    Diagonal,
    /// Incomplete factors with their columns.
    Factors,
    /// A multigrid hierarchy in single precision.
    Hierarchy,
}

/// Values per point in double precision whatever the settings: nodes, control functions, decay of the
/// wall terms, weights, and the vectors of Newton's method.
const DOUBLES: usize = 8 + 8;
/// Values per point of the linear solve: field Jacobian and wall columns, right side and solution,
/// six vectors of BiCGStab, three of the wall reduction.
const VALUES: usize = 26 + 4 + 4 + 12 + 6;
/// Memory beside the points: recordings, compiled kernels, the matrix of small levels.
const FIXED: usize = 256 << 20;

impl MemoryEstimate {
    /// Bytes of the GPU's memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let stored = match self.preconditioner {
            PreconditionerStorage::Diagonal => 2 * self.value,
            // Factors, columns and sources of 26 entries, pivots, and the order of the rows.
            PreconditionerStorage::Factors => 26 * (self.value + 8) + 2 * self.value + 16,
            // 32 values on the finest level, 52 on the coarse ones, a third as many points.
            PreconditionerStorage::Hierarchy => 4 * (32 + 52 / 3),
        };
        self.points * (8 * DOUBLES + VALUES * self.value + stored) + FIXED
    }

    /// Refuses what does not fit the free memory of a device.
    pub(crate) fn check(&self, device: &dyn Device) -> Result<(), DeviceError> {
        let asked = self.bytes();
        match device.memory()? {
            Some((free, _)) if asked > free => {
                Err(DeviceError::OutOfMemory { device: device.name().to_owned(), asked, free })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_million_points_fit_one_large_gpu_and_a_thousand_million_do_not() {
        let preconditioner = PreconditionerStorage::Hierarchy;
        let gib = |points| MemoryEstimate { points, value: 4, preconditioner }.bytes() >> 30;

        assert!(gib(100_000_000) < 60, "{}", gib(100_000_000));
        assert!(gib(1_000_000_000) > 141, "{}", gib(1_000_000_000));
    }
}
