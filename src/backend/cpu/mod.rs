//! The CPU backend: plain loops over [`crate::pde`], threaded by rayon.
//!
//! Every reduction is a tree over fixed pieces, so that results do not depend on the number of
//! threads, to the last bit. The triangular solves of DILU and ILU(0) in natural order are
//! recurrences and run on one thread.

mod block;
mod csr;
mod elliptic;
mod matrix;
mod movement;
mod multigrid;
mod points;
mod vector;

// For the tests of this workspace, and what users meet as associated types of the backend.
#[doc(hidden)]
pub use {
    csr::{CsrMatrix, ENTRIES, RowSlices, pieces},
    elliptic::EllipticState,
    matrix::EllMatrix,
    multigrid::Level,
};

/// The CPU. Work runs in the rayon thread pool that is current where a method is called.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuBackend;

/// Entries that one task handles: large enough to hide the cost of a task, small enough that a
/// task's operands stay in the first-level cache.
const PIECE: usize = 4096;
