//! Operations that a machine must offer so that the solvers, written once, run on it.
//!
//! The algebra: [`Backend`] (vectors), [`SparseBackend`] (matrices, which make their own [`Preconditioner`]s)
//! and [`MultigridBackend`]. The grid: [`GridBackend`] (grids), [`EllipticBackend`] (the grid equations) and
//! [`MovementBackend`] (moving grids). A vector may live in one memory or be spread over several devices;
//! solver code never asks.
//!
//! To add a preconditioner made from the entries of a matrix: a variant of [`Algebraic`] or
//! [`Incomplete`], and a file with an object for each backend, which its
//! [`SparseMatrix::preconditioner`] makes.

mod bands;
pub mod cpu;
pub mod cuda;
pub(crate) mod elliptic;
mod error;
pub(crate) mod matrices;
pub(crate) mod multigrid;
pub mod scalars;
mod vectors;

pub use crate::pde::{EllipticData, WallTerms};
pub use bands::{Bands, NarrowBands};
pub use elliptic::{
    EllipticBackend, Evaluation, FixedLines, FixedPlaces, GridBackend, MovementBackend, Receivers,
    initial_grid,
};
pub use error::{DeviceError, Result};
pub use matrices::{
    Algebraic, BadPivot, Incomplete, LinearOperator, MatrixFormat, Preconditioner,
    PreconditionerFailure, Product, SolverError, SparseBackend, SparseMatrix,
};
pub use multigrid::{Coarsening, LevelSize, MultigridBackend, Order};
pub use vectors::{Advance, Backend, Fused, Pair, Projection, Real, Step, Update};
