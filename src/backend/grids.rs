//! What is done with a finished grid where it was solved for.

use super::DeviceError;
use crate::grid::initial::Marcher;
use crate::grid::quality::Quality;
use crate::grid::{Grid, Symmetry};

/// Grids where a backend keeps them, from the solution to the host.
pub trait GridBackend: Marcher<Error = DeviceError> {
    /// Each node and its mirror image ← their mean: [`Symmetry::restore`].
    fn restore(&self, symmetry: Symmetry, grid: &mut Self::Grid) -> Result<(), DeviceError>;

    /// Half of a grid with this symmetry: [`Symmetry::half`].
    fn half(&self, symmetry: Symmetry, grid: &Self::Grid) -> Result<Self::Grid, DeviceError>;

    /// The quality of a grid: that of [`measure`](crate::grid::quality::measure), in which sums may run
    /// in another order.
    fn measure(&self, grid: &Self::Grid) -> Result<Quality, DeviceError>;

    /// Nodes of `host`, which is of the same size, ← those of `grid`.
    fn fetch(&self, grid: &Self::Grid, host: &mut Grid) -> Result<(), DeviceError>;
}
