//! Why there is no reference, or no movement of it.

use crate::grid::Verdict;
use crate::solver::{LinearStop, SolverError};

/// Why there is no reference, or no movement of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MovementError {
    /// The reference itself is no good grid.
    #[error("the reference is not a good grid: {verdict}")]
    Reference {
        /// Why not.
        verdict: Verdict,
    },
    /// A grid that does not run around a body.
    #[error(
        "the ends in i do not meet, nor do they lie on a plane of symmetry: there is no wall to move"
    )]
    NoBody,
    /// A grid that another process of the job has.
    #[error("several processes share the solve: rank 0 alone has the grid for a reference")]
    Shared,
    /// Derivatives at a grid that must not be used.
    #[error("there are no derivatives of a grid that is not good: {verdict}")]
    NotGood {
        /// Why not.
        verdict: Verdict,
    },
    /// A linear solve that did not get there.
    #[error("{stop}: the linear residual is {residual:.1e}, where {tolerance:.1e} was asked")]
    Linear {
        /// Why it stopped.
        stop: LinearStop,
        /// ‖b − K x‖/‖b‖.
        residual: f64,
        /// What was asked.
        tolerance: f64,
    },
    /// Another number of nodes.
    #[error("values at {found} nodes, where the grid has {expected}")]
    Nodes {
        /// Values that were given.
        found: usize,
        /// Nodes of the grid.
        expected: usize,
    },
    /// Another number of wall points.
    #[error("{found} wall points, where the reference has {expected}")]
    WallPoints {
        /// Points that were given.
        found: usize,
        /// Points of the reference.
        expected: usize,
    },
    /// A displacement or a derivative with which nothing can be computed.
    #[error("{of} is {value:e}, finite numbers of at most 1e100 were expected")]
    Size {
        /// Which one.
        of: String,
        /// What it is.
        value: f64,
    },
    /// A wall point that is no point.
    #[error("wall point {index} is ({}, {})", .at[0], .at[1])]
    NotFinite {
        /// Its number, from 0.
        index: usize,
        /// What stands there.
        at: [f64; 2],
    },
    /// An end of the wall of a half grid.
    #[error("wall point {index} at ({}, {}) is an end of a half grid's wall and off its plane of symmetry",
        .at[0], .at[1])]
    OffPlane {
        /// Its number, from 0.
        index: usize,
        /// Where it is.
        at: [f64; 2],
    },
    /// A wall that does not close.
    #[error("the last wall point of a grid all around a body repeats the first")]
    Open,
    /// Points in the order of the reference backwards.
    #[error("the wall points run the other way around the body than those of the reference")]
    Reversed,
    /// The wall of the reference from another point on, that of this number from 0.
    #[error("the wall begins at another point: it is the reference's shifted by {0} points")]
    Shifted(usize),
    /// A wall that crosses or touches itself.
    #[error(
        "the wall crosses or touches itself: the segment from point {first} meets that from point {second}"
    )]
    Crosses {
        /// Number of the point where one segment begins, from 0.
        first: usize,
        /// That of the other.
        second: usize,
    },
    /// The solve failed.
    #[error(transparent)]
    Solver(#[from] SolverError),
}

impl MovementError {
    /// What the user can do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::Reference { .. } => {
                "a reference is converged and has no folded cells: make the grid anew, or take another"
            }
            Self::Shared => "set output.reference, and open the file that rank 0 writes",
            Self::NoBody => "give an O-grid, a C-grid or half a grid",
            Self::NotGood { .. } => "take a smaller movement, or a reference nearer to the wall",
            Self::Linear { .. } => "ask for a larger residual, or raise linear.max_iterations",
            Self::Nodes { .. } => "give a value for each node, those on the seam twice",
            Self::WallPoints { .. }
            | Self::NotFinite { .. }
            | Self::OffPlane { .. }
            | Self::Open
            | Self::Reversed => {
                "give the points of the reference's wall, as many and in its order, where they are now"
            }
            Self::Size { .. } => {
                "derivatives are linear: divide all of them by one number, and multiply the result by it"
            }
            Self::Shifted(_) => "begin where the wall begins that --wall writes",
            Self::Crosses { .. } => "give a wall around which a grid can run",
            Self::Solver(SolverError::Device(error)) => error.hint(),
            Self::Solver(SolverError::Preconditioner(_)) => "choose another linear.preconditioner",
        }
    }
}
