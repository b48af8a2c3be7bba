//! Passages of blade cascades: three blocks around the O-grid of a blade, which repeat with the pitch.
//!
//! The outer line of the O-grid has four corners a, b on the lower and c, d on the upper side of the blade, with as many
//! cells from a to b as from c to d. The passage P lies between c … d of the blade and b … a of the next one, the pitch
//! above: no periodic line runs through it. The strips I, from the nose b … c and the front of P to the inlet, and E,
//! from the rear of P and the edge d … a to the outlet, close after one pitch. Lines between the blocks are given as
//! curves, so that each block is a problem of its own: Winslow's equations first, then with wall terms on the outer line
//! of the O-grid, whose first nodes move in steps to where the lines of the O-grid go on.

mod blocks;
mod strips;
mod walls;

pub use self::blocks::repeat;

use std::iter;

use rayon::prelude::*;

use self::blocks::{BladeLine, joined, passage_block};
use self::strips::{inlet_strip, outlet_strip};
use self::walls::Continuation;
use crate::backend::EllipticBackend;
use crate::backend::cpu::CpuBackend;
use crate::case::SolverOptions;
use crate::elliptic::GridProblem;
use crate::grid::Grid;
use crate::grid::quality::folds;
use crate::pde::EllipticData;
use crate::solver::history::History;
use crate::solver::linear::LinearSettings;
use crate::solver::newton::{self, NewtonReport, NewtonSettings};
use crate::solver::{NewtonStop, SolverError};

/// Steps in which first nodes move, and the tolerance of all but the last.
const STEPS: usize = 5;
const ROUGH: f64 = 1e-4;
/// Most linear iterations of a Newton step: where they do not suffice, shorter ways are gone.
const ITERATIONS: usize = 100;

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

/// A block that was solved for.
#[derive(Debug, Clone, PartialEq)]
pub struct SolvedBlock {
    /// The block, with its boundary.
    pub grid: Grid,
    /// The reason why the solve stopped.
    pub stop: NewtonStop,
    /// Newton steps of all its solves.
    pub newton_iterations: usize,
    /// Linear iterations of all its solves.
    pub linear_iterations: f64,
    /// Share of their way that its first nodes went: less than 1 where a solve on the way stopped.
    pub share: f64,
}

/// The O-grid `ring` with its boundary, and the blocks P, I and E around it, solved for side by side on the CPU.
///
/// Blocks share nodes bit for bit. Of two nodes that are a pitch apart, the upper one has the x of the lower one and
/// y = fl(y + pitch).
///
/// # Errors
/// If the memory does not suffice. A block that is not solved, or is folded, is a result.
pub fn passage_blocks(
    ring: &Grid,
    passage: &BladePassage,
    options: &SolverOptions,
) -> Result<(Grid, Vec<SolvedBlock>), SolverError> {
    let line = BladeLine::of(ring, passage);
    let start = passage_block(&line, passage);
    let strips = [inlet_strip(&line, &start, passage), outlet_strip(&line, &start, passage)];
    let [inlet, outlet] = strips;
    let starts = vec![(start, 0.0), (inlet, passage.pitch), (outlet, -passage.pitch)];
    let solved: Result<Vec<SolvedBlock>, SolverError> = starts
        .into_par_iter()
        .enumerate()
        .map(|(block, (start, shift))| solved(&line, (block + 1, &start, shift), options))
        .collect();
    let mut solved = solved?;
    let own = solved.iter().map(|block| block.grid.clone());
    let mut grids: Vec<Grid> = iter::once(ring.clone()).chain(own).collect();
    joined(&mut grids, &line);
    repeat(&mut grids, passage.pitch);
    let mut grids = grids.into_iter();
    let ring = grids.next().unwrap_or_else(|| ring.clone());
    solved.iter_mut().zip(grids).for_each(|(block, grid)| block.grid = grid);
    Ok((ring, solved))
}

/// A block from its first guess: by Winslow's equations, then with wall terms on the line of the O-grid.
fn solved(
    line: &BladeLine,
    (block, start, shift): (usize, &Grid, f64),
    options: &SolverOptions,
) -> Result<SolvedBlock, SolverError> {
    let [fine, rough] = [0.0, ROUGH].map(|least| NewtonSettings {
        tolerance: least.max(options.newton.tolerance),
        ..options.newton
    });
    let (mut newton_iterations, mut linear_iterations) = (0, 0.0);
    let mut solve = |data: &EllipticData, u, settings: &NewtonSettings| {
        let solved = solve(data, u, start, settings, options)?;
        newton_iterations += solved.2.history.newton_iterations();
        linear_iterations += solved.2.history.linear_iterations();
        Ok::<_, SolverError>(solved)
    };
    let zeros = || vec![0.0; start.x.len()];
    let mut plain = EllipticData::of_terms(start, [zeros(), zeros()], None);
    let unknown = plain.mi * plain.mj;
    plain.control_p.truncate(unknown);
    plain.control_q.truncate(unknown);
    plain.shift = shift;
    let (mut grid, _, report) = solve(&plain, None, &fine)?;
    let (stop, mut share, mut last, mut kept) = (report.stop, 0.0, None, Vec::new());
    if stop.converged() {
        let walls = Continuation::of(line, block, &grid, &plain);
        let first = grid.clone();
        for step in 1..=STEPS {
            let next = step as f64 / STEPS as f64;
            let settings = if step == STEPS { &fine } else { &rough };
            let (found, u, report) = solve(&walls.equations(next), last.take(), settings)?;
            if !report.stop.converged() {
                break;
            }
            // A step on the way may fold cells that a later one unfolds.
            if folds(&found) <= folds(&grid) {
                (grid, share) = (found, next);
                kept.push((next, u.clone()));
            }
            last = Some(u);
        }
        if share < 1.0 {
            // A solve to the rough tolerance is no result.
            (grid, share) = (first, 0.0);
            while let Some((least, u)) = kept.pop() {
                let (found, _, report) = solve(&walls.equations(least), Some(u), &fine)?;
                if report.stop.converged() && folds(&found) <= folds(&grid) {
                    (grid, share) = (found, least);
                    break;
                }
            }
        }
    }
    Ok(SolvedBlock { grid, stop, newton_iterations, linear_iterations, share })
}

/// Newton's method on the equations of a block like `start`, from these unknowns or from the nodes of the equations.
fn solve(
    data: &EllipticData,
    from: Option<Vec<f64>>,
    start: &Grid,
    settings: &NewtonSettings,
    SolverOptions { linear, multigrid, .. }: &SolverOptions,
) -> Result<(Grid, Vec<f64>, NewtonReport), SolverError> {
    let cpu = &CpuBackend;
    let (state, guess) = cpu.elliptic(data)?;
    let mut u = from.unwrap_or(guess);
    let mut problem = GridProblem::<_, f64>::new(cpu, state, data.walled_sides())?;
    let kind = (linear.preconditioner, linear.schedule);
    let most = linear.krylov.max_iterations.min(ITERATIONS);
    let krylov = LinearSettings { max_iterations: most, ..linear.krylov };
    let mut solver = problem.jacobian().linear_solver(krylov, kind, *multigrid);
    let begin = History::default();
    let report = newton::solve(cpu, &mut problem, &mut solver, &mut u, begin, settings, &mut ())?;
    Ok((problem.nodes(cpu, &u, start.topology)?, u, report))
}
