//! Grids that follow a moving wall, on the CPU.

use gridgen::backend::cpu::CpuBackend;
use gridgen::movement::{Moved, Reference, Resident};

pub fn on_cpu(reference: &Reference) -> Resident<&Reference, CpuBackend> {
    Resident::new(reference, &CpuBackend).unwrap()
}

/// The grid moved to a wall, which is good, in one part.
#[track_caller]
pub fn moved(reference: &Reference, wall: &[[f64; 2]]) -> Moved {
    let moved = on_cpu(reference).move_to(&CpuBackend, wall).unwrap();
    assert!(moved.verdict.is_good(), "{}", moved.verdict);
    assert_eq!((moved.quality.folded_cells, moved.parts), (0, 1));
    moved
}
