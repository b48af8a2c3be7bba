//! Layout of sparse matrices: which entries there are and where they stand. No arithmetic.

mod csr;
mod ell;
mod graph;
mod levels;
mod row_blocks;

pub(crate) use csr::Sorted;
pub use csr::{Csr, Pattern};
pub use ell::{EllPattern, Schedule};
pub(crate) use ell::{STENCIL, TILE};
pub use row_blocks::TooFewRows;

// For the tests and measurements of this workspace: what the schedules of factors are made of, and how
// ranks share a matrix.
#[doc(hidden)]
pub use ell::{Elimination, Structure};
#[doc(hidden)]
pub use graph::{Graph, colours, reverse_cuthill_mckee};
#[doc(hidden)]
pub use levels::{ROW_TILE, RowSets, Triangle, Turn, levels};
#[doc(hidden)]
pub use row_blocks::{Passage, RowBlocks, RowPart};
