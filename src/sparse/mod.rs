//! Layout of sparse matrices: which entries there are and where they stand. No arithmetic.

mod colours;
mod csr;
mod cuthill_mckee;
mod elimination;
mod ell;
mod graph;
mod levels;
mod row_blocks;
mod row_sets;

pub use colours::colours;
pub(crate) use csr::Sorted;
pub use csr::{Csr, Pattern};
pub use cuthill_mckee::reverse_cuthill_mckee;
pub use elimination::Schedule;
pub(crate) use elimination::{Elimination, TILE};
pub(crate) use ell::STENCIL;
pub use ell::{EllPattern, Structure};
pub use graph::Graph;
pub use levels::{Triangle, levels};
pub use row_blocks::{Passage, RowBlocks, RowPart, TooFewRows};
pub use row_sets::{ROW_TILE, RowSets, Turn};
