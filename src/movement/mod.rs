//! Grids that follow a moving wall: the same equations with the control functions, the outer line and the
//! first cells of a reference grid, for other wall points.
//!
//! Frozen from the reference are P0, Q0, the decay φ, ψ of the wall terms, the outer line, and the first cell
//! of each wall point along its tangent and normal, whose formula is chosen at the reference. So the grid is
//! one smooth function of the wall points: it does not depend on the path by which the wall came there, and
//! the points of the reference give the reference.
//!
//! The backend is the CPU or a GPU, not one of several ranks.
//!
//! ```
//! use std::path::Path;
//!
//! use gridgen::backend::cpu::CpuBackend;
//! use gridgen::case::Case;
//! use gridgen::movement::Reference;
//!
//! let text = "geometry.naca = '2412'\n[grid]\nni = 65\nnj = 33\nfirst_cell = 1e-3\n";
//! let problem = Case::from_toml(text, Path::new("wing.toml"), &[])?.settle()?;
//! let reference = Reference::new(&CpuBackend, &problem)?;
//!
//! let thicker: Vec<_> = reference.wall().into_iter().map(|[x, y]| [x, 1.2 * y]).collect();
//! let moved = reference.move_to(&CpuBackend, &thicker)?;
//!
//! assert!(moved.verdict.is_good(), "{}", moved.verdict);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod derivative;
mod frame;
mod tangent;

use crate::backend::{
    DeviceError, EllipticBackend, EllipticData, GridBackend, MultigridBackend, Real,
};
use crate::elliptic::GridProblem;
use crate::generate::Problem;
use crate::grid::quality::{Quality, measure};
use crate::grid::{Grid, Verdict};
use crate::solver::linear::Precision;
use crate::solver::newton::{self, NewtonReport};
use crate::solver::{LinearStop, NonlinearProblem, SolverError};
use frame::Frame;

pub use derivative::{Adjoint, Derivatives, Forward, Solved};

/// Most parts into which a movement is cut where Newton's method does not get there at once.
const MOST_PARTS: usize = 16;

/// A grid from which others are moved.
#[derive(Debug, Clone)]
pub struct Reference {
    problem: Problem,
    data: EllipticData,
    frame: Frame,
    state: State,
}

/// A solution: the nodes, and the amplitudes (p_i, q_i) of the wall terms, interleaved.
#[derive(Debug, Clone)]
struct State {
    grid: Grid,
    amplitudes: Vec<f64>,
}

/// A moved grid.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Moved {
    /// The grid; where the verdict is not good it must not be used.
    pub grid: Grid,
    /// Its quality.
    pub quality: Quality,
    /// Whether it may be used.
    pub verdict: Verdict,
    /// Newton steps of all parts.
    pub newton_iterations: usize,
    /// Linear iterations of all parts.
    pub linear_iterations: f64,
    /// Into how many parts the movement was cut: one where Newton's method got there at once.
    pub parts: usize,
    /// Of the wall terms: those of the solution.
    amplitudes: Vec<f64>,
}

/// Why there is no reference, or no movement of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MovementError {
    /// The reference itself is no good grid.
    #[error("the reference is not a good grid: {verdict}")]
    Reference {
        /// Why not.
        verdict: Verdict,
    },
    /// Derivatives at a grid that must not be used.
    #[error("there are no derivatives of a grid that is not good: {verdict}")]
    NotGood {
        /// Why not.
        verdict: Verdict,
    },
    /// A linear solve that did not get there.
    #[error("{stop}: the linear residual is {residual:.1e}, where {tolerance:.1e} was asked")]
    Linear {
        /// Why it stopped.
        stop: LinearStop,
        /// ‖b − K x‖/‖b‖.
        residual: f64,
        /// What was asked.
        tolerance: f64,
    },
    /// Another number of nodes.
    #[error("values at {found} nodes, where the grid has {expected}")]
    Nodes {
        /// Values that were given.
        found: usize,
        /// Nodes of the grid.
        expected: usize,
    },
    /// Another number of wall points.
    #[error("{found} wall points, where the reference has {expected}")]
    WallPoints {
        /// Points that were given.
        found: usize,
        /// Points of the reference.
        expected: usize,
    },
    /// A wall point that is no point.
    #[error("wall point {index} is ({}, {})", .at[0], .at[1])]
    NotFinite {
        /// Its number, from 0.
        index: usize,
        /// What stands there.
        at: [f64; 2],
    },
    /// The wall of an O-grid that does not close.
    #[error("the last wall point of an O-grid repeats the first")]
    Open,
    /// The solve failed.
    #[error(transparent)]
    Solver(#[from] SolverError),
}

impl Reference {
    /// Solves for the grid of a problem by the settings of its case, without its retry plan. The nodes are
    /// those of the solve: no symmetry is restored, and a half grid is solved for as the whole.
    ///
    /// # Errors
    /// If the solve fails or the grid is not good.
    pub fn new<B>(backend: &B, problem: &Problem) -> Result<Self, MovementError>
    where
        B: EllipticBackend + MultigridBackend,
    {
        let device = |error| MovementError::Solver(SolverError::from(error));
        let made = problem.initial_grid(backend).map_err(device)?.grid;
        let initial = fetched(backend, problem, &made).map_err(device)?;
        let data = EllipticData::new(&initial, &problem.normals, &problem.elliptic_settings());
        let (state, report) = solve(backend, problem, &data, None)?;
        let verdict = problem.verdict(report.stop, &measure(&state.grid));
        if !verdict.is_good() {
            return Err(MovementError::Reference { verdict });
        }
        let data = data.with_nodes(&state.grid);
        let frame = Frame::new(state.grid.clone());
        Ok(Self { problem: problem.clone(), data, frame, state })
    }

    /// The reference grid, in the frame of its problem.
    pub fn grid(&self) -> &Grid {
        &self.state.grid
    }

    /// The same map with first cells that are higher by these amounts, one for each point of
    /// [`Self::wall`]; none if they are not as many.
    #[must_use]
    pub fn with_heights(&self, changes: &[f64]) -> Option<Self> {
        let frame = self.frame.with_heights(changes)?;
        Some(Self { frame, ..self.clone() })
    }

    /// The reference as a movement by nothing.
    pub fn unmoved(&self) -> Moved {
        let State { grid, amplitudes } = self.state.clone();
        let (quality, verdict) = (measure(&grid), Verdict::Good);
        Moved {
            grid,
            quality,
            verdict,
            newton_iterations: 0,
            linear_iterations: 0.0,
            parts: 1,
            amplitudes,
        }
    }

    /// The wall points of the reference: of an O-grid the last repeats the first, of a C-grid the edge is
    /// there twice.
    pub fn wall(&self) -> Vec<[f64; 2]> {
        self.frame.wall().map(|i| self.state.grid.point(i, 0)).collect()
    }

    /// The grid for other wall points, as many and in the order of [`Self::wall`], in chords.
    ///
    /// Every node begins where its share of the wall's displacement brings it. Where Newton's method does
    /// not get there from the reference, or the grid folds, the movement is halved, into 16 parts at most.
    /// The result has the same bits for any number of threads.
    ///
    /// # Errors
    /// If the points are not such points, or the device fails. A grid that is not converged or is folded is
    /// a result whose verdict says so.
    pub fn move_to<B>(&self, backend: &B, wall: &[[f64; 2]]) -> Result<Moved, MovementError>
    where
        B: EllipticBackend + MultigridBackend,
    {
        self.check(wall)?;
        let (mut newton_iterations, mut linear_iterations, mut parts) = (0, 0.0, 1);
        loop {
            let mut moved = self.move_in_parts(backend, wall, parts)?;
            newton_iterations += moved.newton_iterations;
            linear_iterations += moved.linear_iterations;
            let limited = matches!(moved.verdict, Verdict::BeyondLimit { .. });
            if moved.verdict.is_good() || limited || parts == MOST_PARTS {
                (moved.newton_iterations, moved.linear_iterations) =
                    (newton_iterations, linear_iterations);
                return Ok(moved);
            }
            parts *= 2;
        }
    }

    /// The same in so many parts, one at least, the wall points in between on straight lines; ends where a
    /// part does not get there.
    #[doc(hidden)] // For tests.
    pub fn move_in_parts<B>(
        &self,
        backend: &B,
        wall: &[[f64; 2]],
        parts: usize,
    ) -> Result<Moved, MovementError>
    where
        B: EllipticBackend + MultigridBackend,
    {
        let (before, parts) = (self.wall(), parts.max(1));
        let (mut newton_iterations, mut linear_iterations, mut part) = (0, 0.0, 1);
        let mut from = self.state.clone();
        loop {
            let share = part as f64 / parts as f64;
            let between =
                |(a, b): (&[f64; 2], &[f64; 2])| [0, 1].map(|k| a[k] + share * (b[k] - a[k]));
            let to: Vec<[f64; 2]> = if part < parts {
                before.iter().zip(wall).map(between).collect()
            } else {
                wall.to_vec()
            };
            let data = self.data.with_nodes(&self.frame.start(&from.grid, &to));
            let (state, report) = solve(backend, &self.problem, &data, Some(&from.amplitudes))?;
            newton_iterations += report.history.newton_iterations();
            linear_iterations += report.history.linear_iterations();
            let quality = measure(&state.grid);
            let verdict = self.problem.verdict(report.stop, &quality);
            if part == parts || !verdict.is_good() {
                let State { grid, amplitudes } = state;
                return Ok(Moved {
                    grid,
                    quality,
                    verdict,
                    newton_iterations,
                    linear_iterations,
                    parts,
                    amplitudes,
                });
            }
            (from, part) = (state, part + 1);
        }
    }

    fn check(&self, wall: &[[f64; 2]]) -> Result<(), MovementError> {
        let expected = self.frame.wall().count();
        if wall.len() != expected {
            return Err(MovementError::WallPoints { found: wall.len(), expected });
        }
        let wrong = wall.iter().position(|at| !at.iter().all(|c| c.is_finite()));
        if let Some(index) = wrong {
            return Err(MovementError::NotFinite { index, at: wall[index] });
        }
        let bits = |at: &[f64; 2]| at.map(f64::to_bits);
        if self.state.grid.topology.closed() && bits(&wall[0]) != bits(&wall[expected - 1]) {
            return Err(MovementError::Open);
        }
        Ok(())
    }
}

/// The solution of the equations of `data`, from its nodes and these amplitudes, in the precision of the case.
fn solve<B>(
    backend: &B,
    problem: &Problem,
    data: &EllipticData,
    amplitudes: Option<&[f64]>,
) -> Result<(State, NewtonReport), SolverError>
where
    B: EllipticBackend + MultigridBackend,
{
    match problem.case.linear.precision {
        Precision::Single => solve_in::<B, f32>(backend, problem, data, amplitudes),
        Precision::Double => solve_in::<B, f64>(backend, problem, data, amplitudes),
    }
}

fn solve_in<B, T>(
    backend: &B,
    problem: &Problem,
    data: &EllipticData,
    amplitudes: Option<&[f64]>,
) -> Result<(State, NewtonReport), SolverError>
where
    B: EllipticBackend + MultigridBackend,
    T: Real,
{
    let (mut equations, mut u) = GridProblem::<B, T>::from_data(backend, data)?;
    let mut whole = vec![0.0; equations.unknowns()];
    let walls = if data.wall.is_some() { 2 * data.mi } else { 0 };
    if let Some(amplitudes) = amplitudes {
        put_amplitudes(backend, &equations, &mut u, amplitudes)?;
    }
    let mut linear = problem.linear_solver(&equations);
    let settings = &problem.case.newton;
    let report = newton::solve(backend, &mut equations, &mut linear, &mut u, settings, &mut ())?;
    backend.download_unknowns(&u, &mut whole)?;
    let amplitudes = whole[..walls].to_vec();
    let nodes = equations.nodes(backend, &u, problem.topology)?;
    let grid = fetched(backend, problem, &nodes)?;
    Ok((State { grid, amplitudes }, report))
}

/// The amplitudes of the wall terms among the unknowns u, where there are any.
fn put_amplitudes<B: EllipticBackend, T: Real>(
    backend: &B,
    equations: &GridProblem<B, T>,
    u: &mut B::Vector<f64>,
    amplitudes: &[f64],
) -> Result<(), DeviceError> {
    let mut whole = vec![0.0; equations.unknowns()];
    backend.download_unknowns(u, &mut whole)?;
    whole[..amplitudes.len()].copy_from_slice(amplitudes);
    backend.upload_unknowns(&whole, u)
}

/// A grid of the problem on the host.
fn fetched<B: GridBackend>(
    backend: &B,
    problem: &Problem,
    grid: &B::Grid,
) -> Result<Grid, DeviceError> {
    let [ni, nj] = problem.size();
    let mut host = Grid::new(problem.topology, ni, nj);
    backend.fetch(grid, &mut host)?;
    Ok(host)
}
