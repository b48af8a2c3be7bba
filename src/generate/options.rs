//! Options of a solve.

use std::path::PathBuf;
use std::time::Duration;

/// Options of a solve in addition to the settings of its problem.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SolveOptions {
    /// Restart file to go on from; none begins at the initial grid.
    pub restart: Option<PathBuf>,
    /// Restart file that is written each time that the duration has passed, and on cancellation.
    pub save: Option<(PathBuf, Duration)>,
    /// Newton step whose linear system the result has.
    pub export: Option<usize>,
    /// Whether the result has the nodes of the device.
    pub keep_nodes: bool,
}
