//! Passages of blade cascades: three blocks around the O-grid of a blade, which repeat with the pitch.
//!
//! The outer line of the O-grid has four corners a, b on the lower and c, d on the upper side of the blade, with as many
//! cells from a to b as from c to d. The passage P lies between c … d of the blade and b … a of the next one, the pitch
//! above: no periodic line runs through it. The strips I, from the nose b … c and the front of P to the inlet, and E,
//! from the rear of P and the edge d … a to the outlet, close after one pitch. Lines between the blocks are given as
//! curves, so that each block is a problem of its own, Winslow's equations. Then all blocks are one mesh, whose cells off
//! the wall are brought near right angles (theory section 12).

mod blocks;
mod shape;

pub use self::blocks::repeat;

use std::iter;

use self::blocks::{BladeLine, joined, passage_block, strips};
use self::shape::shape;
use crate::backend::{EllipticBackend, LevelSize, MultigridBackend};
use crate::case::SolverOptions;
use crate::grid::Grid;
use crate::pde::EllipticData;
use crate::smooth::solution;
use crate::solver::{NewtonStop, SolverError};

/// A plane ahead of or behind a cascade, and the strip that ends there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StripEnd {
    /// Its x.
    pub x: f64,
    /// Angle of the rows of the strip against the x axis, degrees.
    pub angle: f64,
    /// Cells of the strip along its rows.
    pub cells: usize,
}

/// The passage of a cascade, in the unit of its O-grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BladePassage {
    /// Distance in y of one blade and the next.
    pub pitch: f64,
    /// Nodes a, b, c, d of the outer line of the O-grid, rising, with d − c = b − a.
    pub corners: [usize; 4],
    /// Cells of the passage block from blade to blade.
    pub cells: usize,
    /// The plane ahead.
    pub inlet: StripEnd,
    /// The plane behind.
    pub outlet: StripEnd,
}

impl BladePassage {
    /// Nodes in i and j of the passage and the strips ahead and behind, beside an O-grid of this many cells around.
    #[must_use]
    pub fn sizes(&self, around: usize) -> [[usize; 2]; 3] {
        let [a, b, c, d] = self.corners;
        let across = self.cells + 1;
        [
            [d - c + 1, across],
            [c - b + across, self.inlet.cells + 1],
            [around - d + a + across, self.outlet.cells + 1],
        ]
    }
}

/// A block that was solved for.
#[derive(Debug, Clone, PartialEq)]
pub struct SolvedBlock {
    /// The block, with its boundary.
    pub grid: Grid,
    /// The reason why the solve stopped.
    pub stop: NewtonStop,
    /// Newton steps.
    pub newton_iterations: usize,
    /// Linear iterations.
    pub linear_iterations: f64,
}

/// The O-grid `ring` with its boundary, and the blocks P, I and E around it, solved for on the backend, on the CPU side
/// by side. The cells off the wall are then brought near right angles on the host.
///
/// Blocks share nodes bit for bit. Of two nodes that are a pitch apart, the upper one has the x of the lower one and
/// y = fl(y + pitch).
///
/// # Errors
/// If the memory does not suffice, the device fails, or the backend is one of several ranks. A block that is not solved,
/// or is folded, is a result.
pub fn passage_blocks<B: EllipticBackend + MultigridBackend>(
    backend: &B,
    ring: &Grid,
    passage: &BladePassage,
    options: &SolverOptions,
) -> Result<(Grid, Vec<SolvedBlock>), SolverError> {
    let line = BladeLine::of(ring, passage);
    let start = passage_block(&line);
    let [inlet, outlet] = strips(&line, &start);
    let starts = vec![(start, 0.0), (inlet, passage.pitch), (outlet, -passage.pitch)];
    let each = backend.each(starts, |backend, of| solved(backend, of, options));
    let mut solved: Vec<SolvedBlock> = each.into_iter().collect::<Result<_, _>>()?;
    let own = solved.iter().map(|block| block.grid.clone());
    let mut grids: Vec<Grid> = iter::once(ring.clone()).chain(own).collect();
    joined(&mut grids, &line);
    repeat(&mut grids, passage.pitch);
    if solved.iter().all(|block| block.stop.converged()) {
        shape(&mut grids, passage);
    }
    let mut grids = grids.into_iter();
    let ring = grids.next().unwrap_or_else(|| ring.clone());
    solved.iter_mut().zip(grids).for_each(|(block, grid)| block.grid = grid);
    Ok((ring, solved))
}

/// A block by Winslow's equations, from its first guess and with the sides of that; its rows close after `shift`.
fn solved<B: EllipticBackend + MultigridBackend>(
    backend: &B,
    (start, shift): (Grid, f64),
    options: &SolverOptions,
) -> Result<SolvedBlock, SolverError> {
    let zeros = || vec![0.0; LevelSize::of(&start).values() / 2];
    let mut data = EllipticData::of_terms(&start, [zeros(), zeros()], None);
    data.shift = shift;
    let (state, guess) = backend.elliptic(&data)?;
    let problem = (state, start.topology);
    let (nodes, _, report) = solution::<B, f64>(backend, problem, options, guess)?;
    let mut grid = Grid::new(start.topology, start.ni, start.nj);
    backend.fetch(&nodes, &mut grid)?;
    Ok(SolvedBlock {
        grid,
        stop: report.stop,
        newton_iterations: report.history.newton_iterations(),
        linear_iterations: report.history.linear_iterations(),
    })
}
