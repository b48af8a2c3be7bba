//! The data that pictures of a grid are drawn from.

use crate::grid::Grid;
use crate::grid::quality::Quality;
use crate::solver::history::History;

/// The data of a run's report on its grid.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Artifacts<'a> {
    /// Name of the case, the title of the pictures.
    pub name: &'a str,
    /// The grid.
    pub grid: &'a Grid,
    /// The block behind the base of a C-grid around one.
    pub behind: Option<&'a Grid>,
    /// Its quality.
    pub quality: &'a Quality,
    /// The Newton steps.
    pub history: &'a History,
    /// Newton residual below which the solve has converged.
    pub tolerance: f64,
    /// Whether the grid converged and passed the quality gate.
    pub good: bool,
}
