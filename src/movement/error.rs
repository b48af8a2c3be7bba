//! Errors of references and of their movements.

use crate::backend::DeviceError;
use crate::diagnostics::errors;
use crate::grid::Verdict;
use crate::solver::{LinearStop, SolverError};

/// The hint where points are not those of the wall.
const WALL: &str =
    "give the points of the reference's wall, as many and in its order, where they are now";

errors! {
    /// Reasons for which there is no reference, or no movement of it.
    #[derive(Debug, thiserror::Error)]
    #[class(Input)]
    pub enum MovementError {
        /// The reference itself is no good grid.
        #[error("the reference is not a good grid: {verdict}")]
        #[hint("a reference is converged and has no folded cells: make the grid anew, or take another")]
        Reference { verdict: Verdict },
        #[error("the ends in i do not meet, nor do they lie on a plane of symmetry: there is no wall to move")]
        #[hint("give an O-grid, a C-grid or half a grid")]
        NoBody,
        #[error("several processes share the solve: rank 0 alone has the grid for a reference")]
        #[hint("set output.reference, and open the file that rank 0 writes")]
        Shared,
        #[error("there are no derivatives of a grid that is not good: {verdict}")]
        #[hint("take a smaller movement, or a reference nearer to the wall")]
        NotGood { verdict: Verdict },
        /// A linear solve that did not get there.
        /// `residual`: ‖b − K x‖/‖b‖.
        #[error("{stop}: the linear residual is {residual:.1e}, where {tolerance:.1e} was asked")]
        #[hint("ask for a larger residual, or raise linear.max_iterations")]
        #[class(Unsolved)]
        Linear { stop: LinearStop, residual: f64, tolerance: f64 },
        #[error("values at {found} nodes, where the grid has {expected}")]
        #[hint("give a value for each node, those on the seam twice")]
        Nodes { found: usize, expected: usize },
        #[error("{found} wall points, where the reference has {expected}")]
        #[hint("{WALL}")]
        WallPoints { found: usize, expected: usize },
        /// A displacement or a derivative with which nothing can be computed.
        #[error("{of} is {value:e}, finite numbers of at most 1e100 were expected")]
        #[hint("derivatives are linear: divide all of them by one number, and multiply the result by it")]
        Size { of: String, value: f64 },
        /// `index`: its number, from 0.
        #[error("wall point {index} is ({}, {})", .at[0], .at[1])]
        #[hint("{WALL}")]
        NotFinite { index: usize, at: [f64; 2] },
        /// An end of the wall of a half grid.
        /// `index`: its number, from 0.
        #[error(
            "wall point {index} at ({}, {}) is an end of a half grid's wall and off its plane of symmetry",
            .at[0], .at[1]
        )]
        #[hint("{WALL}")]
        OffPlane { index: usize, at: [f64; 2] },
        #[error("the last wall point of a grid all around a body repeats the first")]
        #[hint("{WALL}")]
        Open,
        #[error("the wall points run the other way around the body than those of the reference")]
        #[hint("{WALL}")]
        Reversed,
        /// The wall of the reference from another point on, that of this number from 0.
        #[error("the wall begins at another point: it is the reference's shifted by {0} points")]
        #[hint("begin where the wall begins that --wall writes")]
        Shifted(usize),
        /// A wall that crosses or touches itself.
        /// `first`: number of the point where one segment begins, from 0.
        #[error("the wall crosses or touches itself: the segment from point {first} meets that from point {second}")]
        #[hint("give a wall around which a grid can run")]
        Crosses { first: usize, second: usize },
        /// The solve failed.
        #[error(transparent)]
        Solver(#[from] SolverError),
    }
}

impl From<DeviceError> for MovementError {
    fn from(error: DeviceError) -> Self {
        Self::Solver(error.into())
    }
}
