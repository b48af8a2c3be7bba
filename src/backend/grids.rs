//! Grids where a backend keeps them, from the march to the host.

use super::DeviceError;
use crate::grid::initial::{self, InitialGrid, InitialSettings, Outline};
use crate::grid::quality::Quality;
use crate::grid::{Grid, Symmetry};

/// Grids where a backend keeps them, from the march to the host.
pub trait GridBackend {
    /// A grid.
    type Grid;

    /// Marches as [`initial::hyperbolic::march`] does; the grid and its folded cells, or `None` if a
    /// line solve is singular or a point is not finite.
    fn march(
        &self,
        outline: &Outline,
        settings: &InitialSettings,
        dissipation: f64,
    ) -> Result<Option<(Self::Grid, usize)>, DeviceError>;

    /// Takes over a grid made on the host.
    fn take(&self, grid: Grid) -> Result<Self::Grid, DeviceError>;

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

/// [`initial::build`] with the marches of a backend, which keeps the grid.
///
/// # Errors
/// If the device fails.
pub fn initial_grid<B: GridBackend>(
    backend: &B,
    outline: &Outline,
    settings: &InitialSettings,
) -> Result<InitialGrid<B::Grid>, DeviceError> {
    let march = |dissipation| backend.march(outline, settings, dissipation);
    initial::build_with(outline, settings, march, |grid| backend.take(grid))
}
