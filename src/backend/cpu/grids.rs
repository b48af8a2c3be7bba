//! Grids on the CPU.

use super::CpuBackend;
use crate::backend::{DeviceError, GridBackend};
use crate::grid::initial::{InitialSettings, Outline, marched};
use crate::grid::quality::{Quality, measure};
use crate::grid::{Grid, Symmetry};

impl GridBackend for CpuBackend {
    type Grid = Grid;

    fn march(
        &self,
        outline: &Outline,
        settings: &InitialSettings,
        dissipation: f64,
    ) -> Result<Option<(Grid, usize)>, DeviceError> {
        Ok(marched(outline, settings, dissipation))
    }

    fn take(&self, grid: Grid) -> Result<Grid, DeviceError> {
        Ok(grid)
    }

    fn restore(&self, symmetry: Symmetry, grid: &mut Grid) -> Result<(), DeviceError> {
        symmetry.restore(grid);
        Ok(())
    }

    fn half(&self, symmetry: Symmetry, grid: &Grid) -> Result<Grid, DeviceError> {
        Ok(symmetry.half(grid))
    }

    fn measure(&self, grid: &Grid) -> Result<Quality, DeviceError> {
        Ok(measure(grid))
    }

    fn fetch(&self, grid: &Grid, host: &mut Grid) -> Result<(), DeviceError> {
        host.x.copy_from_slice(&grid.x);
        host.y.copy_from_slice(&grid.y);
        Ok(())
    }
}
