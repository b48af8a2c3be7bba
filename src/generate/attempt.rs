//! From a layout to a grid: the case's own try, and those of the retry plan.

use std::path::{Path, PathBuf};

use super::Job;
use super::export::Export;
use super::layout::Layout;
use super::machine::Machine;
use super::observe::{Follow, Keeper};
use super::retry::{RetryPlan, may_help, verdict};
use super::solve::{Solved, Start};
use crate::backend::cpu::CpuBackend;
use crate::backend::{self, DeviceError, EllipticBackend, GridBackend, MultigridBackend, Real};
use crate::case::Case;
use crate::error::Error;
use crate::files::output::Output;
use crate::grid::quality::Quality;
use crate::grid::{Grid, Verdict};
use crate::report::Timing;
use crate::solver::NewtonStop;
use crate::solver::history::History;
use crate::solver::linear::Precision;
use crate::solver::newton;

/// One try at a grid.
pub(super) struct Attempt {
    pub(super) grid: Grid,
    pub(super) solved: newton::NewtonReport,
    /// The unknowns of a solve that can go on.
    pub(super) state: Vec<f64>,
    pub(super) exported: Vec<PathBuf>,
    pub(super) quality: Quality,
    pub(super) verdict: Verdict,
}

/// What a solve is to reach, and where its state is kept.
#[derive(Clone, Copy)]
pub(super) struct Goal<'a> {
    pub(super) tolerance: f64,
    /// None where nothing is kept.
    pub(super) keeper: Option<&'a Keeper>,
    /// None where nothing is written.
    pub(super) output: Option<&'a Output>,
}

impl Job<'_> {
    /// The first good grid among that of the case and those of the retry plan; the case's own where none
    /// is good.
    pub(super) fn best_attempt(
        &mut self,
        machine: &Machine,
        layout: &Layout,
        goal: Goal<'_>,
        timing: &mut Timing,
    ) -> Result<Attempt, Error> {
        let case = &layout.case;
        let first = self.attempt(case, machine, layout, goal, timing)?;
        if first.verdict.is_good() {
            return Ok(first);
        }
        // A restart file is one of the case as it stands.
        let goal = Goal { keeper: None, ..goal };
        let mut plan = RetryPlan::new(case, layout.initial(case));
        let mut tried = false;
        while may_help(case, first.solved.stop)
            && let Some((change, changed)) = plan.next()
        {
            if !tried {
                self.notices.push(format!("{}; tried again", first.verdict));
                tried = true;
            }
            let attempt = self.attempt(&changed, machine, layout, goal, timing)?;
            self.notices.push(format!("tried {change}: {}", attempt.verdict));
            if attempt.verdict.is_good() {
                return Ok(attempt);
            }
        }
        Ok(first)
    }

    /// Makes a grid by the settings of `case`.
    fn attempt(
        &mut self,
        case: &Case,
        machine: &Machine,
        layout: &Layout,
        goal: Goal<'_>,
        timing: &mut Timing,
    ) -> Result<Attempt, Error> {
        self.go_on()?;
        let (Solved { grid, report: solved, state, exported }, quality) =
            self.solve_on(case, machine, layout, goal, timing)?;
        let steps = &solved.history.steps;
        timing.assembly_seconds += steps.iter().map(|s| s.setup_seconds).sum::<f64>();
        timing.linear_seconds += steps.iter().map(|s| s.linear_seconds).sum::<f64>();
        let verdict = verdict(case, solved.stop, &quality);
        Ok(Attempt { grid, solved, state, exported, quality, verdict })
    }

    /// An error where the run is cancelled before its solve.
    pub(super) fn go_on(&self) -> Result<(), Error> {
        if self.progress.cancelled() {
            return Err(Error::Interrupted { steps: None, restart: None });
        }
        Ok(())
    }

    pub(super) fn initial_grid<B: GridBackend>(
        &mut self,
        case: &Case,
        backend: &B,
        layout: &Layout,
        timing: &mut Timing,
    ) -> Result<B::Grid, DeviceError> {
        let (outline, settings) = (layout.outline(), layout.initial(case));
        let initial = self.timed("initial grid", &mut timing.initial_grid_seconds, |_| {
            backend::initial_grid(backend, &outline, &settings)
        })?;
        self.notices.extend(initial.notes);
        Ok(initial.grid)
    }

    /// Marches, solves and measures on the machine and in the precision of the linear solves that
    /// were chosen.
    fn solve_on(
        &mut self,
        case: &Case,
        machine: &Machine,
        layout: &Layout,
        goal: Goal<'_>,
        timing: &mut Timing,
    ) -> Result<(Solved, Quality), Error> {
        match (machine, case.linear.precision) {
            (Machine::Cpu, Precision::Single) => {
                self.solve::<_, f32>(case, &CpuBackend, layout, goal, timing)
            }
            (Machine::Cpu, Precision::Double) => {
                self.solve::<_, f64>(case, &CpuBackend, layout, goal, timing)
            }
            (Machine::Cuda(backend), Precision::Single) => {
                self.solve::<_, f32>(case, &**backend, layout, goal, timing)
            }
            (Machine::Cuda(backend), Precision::Double) => {
                self.solve::<_, f64>(case, &**backend, layout, goal, timing)
            }
            (Machine::Ranks(ranks), Precision::Single) => {
                self.solve_in_bands::<f32>(case, &**ranks, layout, goal, timing)
            }
            (Machine::Ranks(ranks), Precision::Double) => {
                self.solve_in_bands::<f64>(case, &**ranks, layout, goal, timing)
            }
        }
    }

    fn solve<B, T>(
        &mut self,
        case: &Case,
        backend: &B,
        layout: &Layout,
        Goal { tolerance, keeper, output }: Goal<'_>,
        timing: &mut Timing,
    ) -> Result<(Solved, Quality), Error>
    where
        B: EllipticBackend + MultigridBackend,
        T: Real,
    {
        let initial = self.initial_grid(case, backend, layout, timing)?;
        let exports = output.filter(|_| self.options.export_jacobian.is_some());
        let aside = exports.map(Output::aside).transpose()?;
        let export = self.options.export_jacobian.zip(aside.as_deref());
        let export = export.map(|(step, folder)| Export { step, folder });
        let (solved, nodes) =
            self.followed(case, layout, keeper, timing, |observer, restart| {
                let start = Start { case, initial, layout, tolerance, export, restart, observer };
                start.solve::<B, T>(backend)
            })?;
        let quality =
            self.timed("quality", &mut timing.quality_seconds, |_| backend.measure(&nodes))?;
        Ok((solved, quality))
    }

    /// Solves for the grid of `case`, watched, from a restart file if there is one to go on from.
    pub(super) fn followed<S>(
        &mut self,
        case: &Case,
        layout: &Layout,
        keeper: Option<&Keeper>,
        timing: &mut Timing,
        solve: impl FnOnce(&mut Follow<'_>, Option<&Path>) -> Result<(Solved, S), Error>,
    ) -> Result<(Solved, S), Error> {
        self.go_on()?;
        // A restart file is one of the case as it stands, not of one that the retry plan changed.
        let restarts = std::ptr::eq(case, &raw const layout.case);
        let (solved, nodes) = self.timed("newton", &mut timing.newton_seconds, |job| {
            let Self { progress, options, notices, .. } = job;
            let observer = &mut Follow::new(*progress, keeper, options.restart_every);
            let restart = options.restart.as_deref().filter(|_| restarts);
            let solved = solve(observer, restart);
            let trouble = observer.trouble.take();
            notices.extend(trouble.map(|trouble| format!("no restart file was kept: {trouble}")));
            solved
        })?;
        let newton::NewtonReport { stop, history, .. } = &solved.report;
        if *stop == NewtonStop::Interrupted {
            return Err(interrupted(keeper, history, &solved.state)?);
        }
        Ok((solved, nodes))
    }
}

/// Keeps the state of an interrupted solve and says so.
fn interrupted(keeper: Option<&Keeper>, history: &History, state: &[f64]) -> Result<Error, Error> {
    let steps = Some(history.newton_iterations());
    keeper.map_or(Ok(()), |keeper| keeper.keep(history, state))?;
    Ok(Error::Interrupted { steps, restart: keeper.map(|keeper| keeper.path.clone()) })
}
