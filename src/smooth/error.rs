//! Errors of smoothing.

use crate::diagnostics::errors;
use crate::solver::{NewtonStop, SolverError};

errors! {
    /// Reasons for which a grid is not smoothed.
    #[derive(Debug, thiserror::Error)]
    #[class(Input)]
    pub enum SmoothError {
        #[error("the grid has {ni} x {nj} points: at least 5 x 5 were expected")]
        #[hint("smooth a finer grid")]
        Small { ni: usize, nj: usize },
        #[error("node ({i}, {j}) is not finite")]
        #[hint("give each node a place, if need be anywhere inside: a grid that is folded all over is made anew from its four sides")]
        NotFinite { i: usize, j: usize },
        #[error("no wall was named")]
        #[hint("name the sides that are walls, of jmin, jmax, imin and imax")]
        NoWall,
        #[error("{side} is a seam of the grid, at which it meets itself")]
        #[hint("name another side: nodes on a seam are not moved by themselves, nor are they a wall")]
        Seam { side: &'static str },
        #[error("{side} is a wall, whose points stay")]
        #[hint("let points slide on other sides than walls")]
        SlidingWall { side: &'static str },
        /// `index`: number of the first of them, from 0.
        #[error("points {index} and {} of the wall {side} coincide", index + 1)]
        #[hint("a wall is no side that is collapsed to a point, nor does it have points twice")]
        Coincident { side: &'static str, index: usize },
        #[error("a first cell of {height:e} was asked: a number above 0 was expected")]
        #[hint("give the height in the unit of the mesh, or leave it out to keep that of the mesh")]
        FirstCell { height: f64 },
        #[error("the equations of the grid were not solved: {stop}")]
        #[hint("give a first cell nearer to that of the mesh, name other walls, or begin with a coarser grid")]
        #[class(Unsolved)]
        NotSolved { stop: NewtonStop },
        /// The solve failed.
        #[error(transparent)]
        Solver(#[from] SolverError),
    }
}
