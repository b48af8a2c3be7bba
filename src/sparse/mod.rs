//! Layout of sparse matrices: patterns, orders and partitions. No arithmetic.

mod csr;
mod ell;
mod orders;
mod row_blocks;

pub(crate) use csr::Sorted;
pub use csr::{Csr, Pattern};
pub use ell::{Elimination, EllPattern, LevelSize, Schedule, WalledSides};
pub(crate) use ell::{STENCIL, TEN_SLOTS, TILE};
pub use orders::{
    Graph, ROW_TILE, RowSets, Triangle, Turn, colours, levels, reverse_cuthill_mckee,
};
pub use row_blocks::{Passage, RowBlocks, RowPart, TooFewRows};
