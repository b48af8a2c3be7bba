//! The figures of a grid: its views, and maps of its quality.

use std::path::Path;

use super::picture::Picture;
use crate::files::IoError;
use crate::report::Artifacts;

/// The figures of a grid.
#[derive(Default)]
pub struct Figures {
    /// Four views of the grid.
    pub(in crate::report) grid: Option<Picture>,
    /// Maps of its quality.
    pub(in crate::report) quality: Option<Picture>,
    /// Largest non-orthogonality of a cell in degrees, with the maps.
    pub(in crate::report) nonorthogonality: f64,
}

impl Figures {
    /// The views of the grid and the maps of its quality, as far as they are wanted.
    #[must_use]
    pub fn of(artifacts: &Artifacts<'_>, [grid, quality]: [bool; 2]) -> Self {
        let views = artifacts.views();
        let grid = grid.then(|| artifacts.grid_picture(&views));
        let (quality, largest) = quality.then(|| artifacts.quality_picture(&views)).unzip();
        Self { grid, quality, nonorthogonality: largest.unwrap_or_default() }
    }

    /// Writes the views of the grid, if they are drawn.
    pub(in crate::report) fn write_grid(&self, path: &Path) -> Result<(), IoError> {
        self.grid.as_ref().map_or(Ok(()), |picture| picture.write(path))
    }

    /// Writes the maps of its quality, if they are drawn.
    pub(in crate::report) fn write_quality(&self, path: &Path) -> Result<(), IoError> {
        self.quality.as_ref().map_or(Ok(()), |picture| picture.write(path))
    }
}
