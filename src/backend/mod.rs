//! What a machine must offer so that the solvers, written once, run on it.
//!
//! The algebra: [`Backend`] (vectors), [`SparseBackend`] (matrices, which make their own
//! [`Preconditioner`]s) and [`MultigridBackend`]. The grid: [`GridBackend`] (grids) and
//! [`EllipticBackend`] (the grid equations). A vector may live in one memory or be spread over several
//! devices; solver code never asks.
//!
//! To add a preconditioner made from the entries of a matrix: a variant of [`Algebraic`] or
//! [`Incomplete`], and a file with an object for each backend, which its
//! [`SparseMatrix::preconditioner`] makes.

mod bands;
pub mod cpu;
pub mod cuda;
mod elliptic;
mod error;
mod grids;
mod matrices;
mod multigrid;
pub(crate) mod preconditioner;
pub mod scalars;
mod vectors;

pub use bands::{Bands, NarrowBands};
pub use elliptic::{CellGuard, EllipticBackend, EllipticData, Scaling, WallTerms};
pub use error::DeviceError;
pub use grids::{GridBackend, initial_grid};
pub use matrices::{Format, Product, SparseBackend};
pub use multigrid::{Coarsening, LevelSize, MultigridBackend, Order};
pub use preconditioner::{
    Algebraic, BadPivot, Incomplete, LinearOperator, Preconditioner, PreconditionerFailure,
    SolverError, SparseMatrix,
};
pub use vectors::{Advance, Backend, Pair, Projection, Real};
