//! Smoothing on a machine.

use crate::backend::DeviceError;
use crate::backend::cpu::CpuBackend;
use crate::case::SolverOptions;
use crate::grid::Grid;
use crate::run::Machine;
use crate::smooth::{SmoothError, SmoothSettings, Smoothed, smooth_on};
use crate::solver::SolverError;

impl Machine {
    /// [`smooth_on`] this machine, one that works alone.
    ///
    /// # Errors
    /// The errors of that function, and several devices.
    pub fn smooth(
        &self,
        grid: &Grid,
        settings: &SmoothSettings,
        options: &SolverOptions,
    ) -> Result<Smoothed, SmoothError> {
        match self {
            Self::Cpu => smooth_on(&CpuBackend, grid, settings, options),
            Self::Cuda(backend) => smooth_on(&**backend, grid, settings, options),
            Self::Ranks(_) => Err(SolverError::from(DeviceError::OtherWalls).into()),
        }
    }
}
