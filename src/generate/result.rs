//! A grid, how good it is, and how it was made.

use std::iter;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::CudaGrid;
use crate::cascade::{SolvedBlock, passage_blocks};
use crate::case::{Case, Problem};
use crate::error::Error;
use crate::grid::quality::{Quality, measure};
use crate::grid::{Grid, Limited, Verdict, block_behind};
use crate::movement::{MovementError, Reference};
use crate::pde::control::Base;
use crate::ranks::{Job, RanksError};
use crate::report::Timing;
#[cfg(doc)]
use crate::run::RunOptions;
use crate::run::{Machine, RunLog};
use crate::solver::NewtonStop;
use crate::solver::history::History;
use crate::solver::newton::NewtonReport;
use crate::sparse::Csr;

/// The linear system A x = b of a Newton step: A is the Jacobian, b the residual with its sign changed.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSystem {
    /// The matrix.
    pub a: Csr,
    /// The right side.
    pub b: Vec<f64>,
}

/// A grid and how good it is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GridResult {
    /// The case with every default, as the section settled it: it makes the same grid.
    pub case: Case,
    /// The machine: `cpu`, or the device.
    pub backend: String,
    /// Threads used on the CPU.
    pub threads: usize,
    /// The grid, of a family the finest: as [`solve()`](super::solve()) returns it in the frame of its problem, else in
    /// the unit of the files. Of the ranks of a job rank 0 has it; that of the others has no nodes.
    pub grid: Grid,
    /// The block behind the base of a C-grid around one, in the frame of the grid.
    pub behind: Option<Grid>,
    /// The passage of a cascade and the strips ahead and behind, in the frame of the grid.
    pub passage: Vec<SolvedBlock>,
    /// Its quality, that of the other blocks included.
    pub quality: Quality,
    /// Whether it may be used; of a family the verdict on the worst.
    pub verdict: Verdict,
    /// Folded cells, of a family those of all its grids.
    pub folded_cells: usize,
    /// The reason why the solve stopped.
    pub stop: NewtonStop,
    /// The Newton steps.
    pub history: History,
    /// Notes for the user, one sentence each.
    pub notices: Vec<String>,
    /// Unusual events of the solve, such as a restart of the Krylov method, one sentence each.
    pub events: Vec<String>,
    /// The time of each phase.
    pub timing: Timing,
    /// The unknowns of a solve that can go on, of the ranks of a job on rank 0; empty where there is no use in
    /// it.
    pub state: Vec<f64>,
    /// The linear system of the Newton step that was to be exported.
    pub system: Option<LinearSystem>,
    /// The nodes on the GPU that computed them, for programs that go on there, where [`RunOptions::keep_on_device`] is
    /// set. Their memory is freed with the last clone.
    pub nodes: Option<Arc<CudaGrid>>,
    /// The problem that was solved, or the one of its retry plan that gave the grid.
    pub(super) problem: Problem,
}

impl GridResult {
    /// Adds the findings about the section and its grid to the notices; with `strict` the grid is unfit by them.
    pub(super) fn find(&mut self, strict: bool) {
        let Quality { max_growth_i, max_growth_j, .. } = self.quality;
        let growth = if self.is_good() { [max_growth_i, max_growth_j] } else { [1.0; 2] };
        let found = self.problem.findings_with(growth, &self.blocks());
        self.notices.extend(found.iter().map(ToString::to_string));
        if let Some(first) = found.first().filter(|_| strict) {
            let unfit = Verdict::Unfit { findings: found.len(), first: first.what.clone() };
            self.verdict = self.verdict.clone().and(unfit);
        }
    }

    /// Whether the grid is on this process, not on another one with rank 0 of the job.
    pub(super) fn has_grid(&self) -> bool {
        !self.grid.x.is_empty()
    }

    /// Brings the grid and the block behind it to where the body is, in the unit of the files.
    pub(super) fn place(&mut self, problem: &Problem) {
        if self.passage.is_empty() {
            for grid in iter::once(&mut self.grid).chain(&mut self.behind) {
                problem.place(grid);
            }
            return;
        }
        let mut grids = problem.placed(&self.blocks()).into_iter();
        let of_case = iter::once(&mut self.grid);
        let all = of_case.chain(self.passage.iter_mut().map(|block| &mut block.grid));
        all.zip(&mut grids).for_each(|(grid, placed)| *grid = placed);
    }

    /// Smallest and largest height of the first cells on walls of the box around a grid of this result, in chords.
    pub fn box_walls(&self, grid: &Grid) -> Option<[f64; 2]> {
        let chord = self.case.geometry.length();
        grid.box_wall_heights().map(|heights| heights.map(|height| height / chord))
    }

    /// The grid and its other blocks: the one behind a base, or those of a cascade.
    pub fn blocks(&self) -> Vec<&Grid> {
        let others = self.behind.iter().chain(self.passage.iter().map(|block| &block.grid));
        iter::once(&self.grid).chain(others).collect()
    }

    /// Whether the grid may be used: [`GridResult::verdict`] says why not.
    pub fn is_good(&self) -> bool {
        self.verdict.is_good()
    }

    /// A remedy where the grid is not good.
    pub fn hint(&self) -> Option<String> {
        let Case { newton, control, .. } = &self.case;
        let way = match self.verdict {
            Verdict::Good => return None,
            Verdict::Unfit { .. } => "drop --strict, or do what the finding says",
            Verdict::BeyondLimit {
                measure: measure @ (Limited::GrowthAlongI | Limited::GrowthAlongJ),
                value,
                limit,
            } => {
                let (key, remedy) = self.problem.growth_remedy(measure, value, limit);
                return Some(format!("{key}: {remedy}. Do not use the failed grid"));
            }
            Verdict::BeyondLimit { .. } => "raise the limit in [quality], or ni and nj",
            Verdict::FoldedCurved { .. } => {
                "another output.curved_order, closer points, or, beside an edge, a C-grid or a \
                 grid.trailing_edge_spacing of the height of the first cell can help"
            }
            _ if !self.converged() && self.newton_iterations() >= newton.max_iterations => {
                "allow more steps by newton.max_iterations"
            }
            _ if self.problem.heights.is_some() => {
                "grid.first_cell and wake_first_cell: heights that vary less from point to point can help"
            }
            _ if self.case.domain.is_some() => {
                "an inlet as far ahead as floor and roof are from the section, larger first cells or sides of \
                 [domain] farther away can help"
            }
            _ if control.base != Some(Base::Marched) => {
                "control.base = \"marched\", the default, converges where others do not"
            }
            _ => {
                "closer wall points, a larger first cell or initial.dissipation, or \
                 initial.method = \"normal\" can help"
            }
        };
        Some(format!("{way}. Do not use the failed grid"))
    }

    /// The reference of movements of the grid, which is in the unit of the files: its equations, and the
    /// grid as their solution; of a cascade the equations that the nodes of its O-grid solve.
    ///
    /// # Errors
    /// If the grid is not good, or rank 0 of a job has it, which is another process.
    pub fn reference(&self) -> Result<Reference, MovementError> {
        if !self.has_grid() {
            return Err(MovementError::Shared);
        }
        if !self.is_good() {
            return Err(MovementError::Reference { verdict: self.verdict.clone() });
        }
        self.problem.reference_of(&self.blocks())
    }

    /// Whether the residual reached the tolerance.
    pub fn converged(&self) -> bool {
        self.stop.converged()
    }

    /// Newton steps taken.
    pub fn newton_iterations(&self) -> usize {
        self.history.newton_iterations()
    }

    /// Linear iterations of all steps.
    pub fn linear_iterations(&self) -> f64 {
        self.history.linear_iterations()
    }

    /// Scaled rms residual reached.
    pub fn residual(&self) -> f64 {
        self.history.steps.last().map_or(f64::NAN, |step| step.residual)
    }

    /// The result of one solve, its verdict and the times of its steps counted. All ranks of a job must call.
    pub(super) fn new(
        problem: &Problem,
        (report, state): (NewtonReport, Vec<f64>),
        (mut grid, mut quality): (Grid, Quality),
        machine: &Machine,
        log: &mut RunLog<'_>,
    ) -> Result<Self, Error> {
        let job = machine.job().map(|job| &**job);
        let NewtonReport { stop, history, events } = report;
        let base = problem.case.grid.base_cells.filter(|_| !grid.x.is_empty());
        let behind = base.and_then(|cells| block_behind(&grid, cells));
        if behind.is_some() {
            quality = quality.joined(grid.cells(), &behind);
        }
        let passage = problem.passage().filter(|_| !grid.x.is_empty() && stop.converged());
        let passage = passage.map(|passage| {
            let options = problem.case.solver_options();
            log.timed("newton", |_| match machine {
                Machine::Cuda(cuda) => passage_blocks(&**cuda, &grid, &passage, &options),
                // Blocks of a few thousand cells are not worth several devices.
                Machine::Cpu | Machine::Ranks(_) => {
                    passage_blocks(&CpuBackend, &grid, &passage, &options)
                }
            })
        });
        let passage = match passage.transpose()? {
            None => Vec::new(),
            Some((ring, blocks)) => {
                // Its layers off the wall have moved.
                quality = measure(&ring);
                grid = ring;
                blocks
            }
        };
        quality.boundary_layer_cells = problem.boundary_layer_cells(&grid);
        let beside = || behind.iter().chain(passage.iter().map(|block| &block.grid));
        let curved = problem.curved_quality(&iter::once(&grid).chain(beside()).collect::<Vec<_>>());
        if !passage.is_empty() {
            quality = quality.with_blocks(&grid, passage.iter().map(|block| &block.grid));
        }
        let stopped = passage.iter().map(|block| block.stop).find(|stop| !stop.converged());
        let found = problem.verdict(stopped.unwrap_or(stop), &quality, curved.as_ref());
        let verdict = of_first(job, found)?;
        let curved = curved.filter(|_| verdict.is_good());
        let notices = curved.as_ref().map(ToString::to_string).into_iter().collect();
        let steps = &history.steps;
        log.timing.add("assembly", steps.iter().map(|step| step.setup_seconds).sum());
        log.timing.add("linear", steps.iter().map(|step| step.linear_seconds).sum());
        Ok(Self {
            case: problem.case.clone(),
            backend: String::new(),
            threads: rayon::current_num_threads(),
            grid,
            behind,
            passage,
            verdict,
            folded_cells: quality.folded_cells,
            quality,
            stop,
            history,
            notices,
            events,
            timing: Timing::default(),
            state,
            system: None,
            nodes: None,
            problem: problem.clone(),
        })
    }
}

/// The verdict or decision of rank 0, which alone has all blocks, on all ranks of a job, which must all call.
///
/// # Errors
/// [`RanksError::Ended`].
pub(super) fn of_first<T: Serialize + DeserializeOwned>(
    job: Option<&Job>,
    own: T,
) -> Result<T, RanksError> {
    let Some(job) = job else { return Ok(own) };
    // Numbers and texts can always be written.
    let sent = job.broadcast(serde_json::to_vec(&own).unwrap_or_default())?;
    Ok(serde_json::from_slice(&sent).unwrap_or(own))
}
