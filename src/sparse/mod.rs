//! Layout of sparse matrices: patterns, orders and partitions. No arithmetic.

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

// For the tests and measurements of this workspace: the structures behind the schedules of factors, and the
// partition of a matrix over ranks.
pub use ell::{Elimination, Structure};
pub use graph::{Graph, colours, reverse_cuthill_mckee};
pub use levels::{ROW_TILE, RowSets, Triangle, Turn, levels};
pub use row_blocks::{Passage, RowBlocks, RowPart};
