//! From a problem to its grid: the initial grid, Newton's method, and the retry plan.

use std::thread;

use super::rank::{self, Host, RankResult, SolveOptions};
use super::result::{GridResult, of_first};
use crate::case::{Case, NEWTON_STEPS, Problem};
use crate::error::Error;
use crate::grid::{Limited, Verdict};
use crate::report::Timing;
use crate::run::{Machine, Progress, RunLog};
use crate::solver::NewtonStop;

/// Skewness that at most 1 % of the cells of a retry may exceed: beyond it flow solvers have no use for the grid.
const MOST_SKEWED: f64 = 0.9;

/// Solves for the grid of a problem: the first good one among that of the problem and those of its retry
/// plan, the problem's own where none is good.
///
/// A restart file is one of the problem as it stands; it plays no part in a retry.
///
/// # Errors
/// [`Error::Interrupted`] where the solve is cancelled, and what the device or a restart file refuses. A
/// grid that is not converged or is folded is a result, whose verdict says so.
pub fn solve(
    problem: &Problem,
    machine: &Machine,
    options: &SolveOptions,
    progress: &mut dyn Progress,
) -> Result<GridResult, Error> {
    solve_logged(problem, machine, options, &mut RunLog::new(progress, Timing::default()))
}

/// [`solve`] as a part of a run: its notices and times are added to those of the `log`, all of which the result takes.
pub(super) fn solve_logged(
    problem: &Problem,
    machine: &Machine,
    options: &SolveOptions,
    log: &mut RunLog<'_>,
) -> Result<GridResult, Error> {
    log.notices.splice(0..0, problem.notices.iter().cloned());
    // After an error or a panic too: others of its group would wait for it. The error of the solve is the one reported.
    scopeguard::defer! { let _ = machine.rest(); }
    let mut result = first_good(problem, machine, options, log)?;
    machine.rest()?;
    result.notices.splice(0..0, std::mem::take(&mut log.notices));
    if !result.is_good() && result.has_grid() {
        result.notices.extend(problem.worst_corner(&result.grid));
        if problem.enclosed.is_some() && problem.topology.closed() {
            let note =
                "a C-grid, grid.topology = \"C\", serves where the floor is near or the box long";
            result.notices.push(note.into());
        }
    }
    result.timing = log.timing.clone();
    result.backend = machine.name();
    Ok(result)
}

/// The first good grid of the problem and its retry plan.
fn first_good(
    problem: &Problem,
    machine: &Machine,
    options: &SolveOptions,
    log: &mut RunLog<'_>,
) -> Result<GridResult, Error> {
    let result = attempt(problem, machine, options, log)?;
    // Retries make the same layers.
    let grows =
        matches!(result.verdict, Verdict::BeyondLimit { measure: Limited::GrowthAlongJ, .. });
    if result.is_good() || grows || !may_help(&problem.case, result.stop) {
        return Ok(result);
    }
    let mut plan = problem.case.retries().peekable();
    if plan.peek().is_some() {
        log.notices.push(format!("{}; tried again", result.verdict));
    }
    let afresh = SolveOptions { restart: None, save: None, ..options.clone() };
    for (change, case) in plan {
        let changed = Problem { case, ..problem.clone() };
        let retried = attempt(&changed, machine, &afresh, log)?;
        let p99 = retried.quality.p99_skewness;
        let job = machine.job().map(|job| &**job);
        let useless = of_first(job, retried.is_good() && p99 > MOST_SKEWED)?;
        let found = if useless {
            format!("1 % of the cells have a skewness above {p99:.3}")
        } else {
            retried.verdict.to_string()
        };
        log.notices.push(format!("tried {change}: {found}"));
        if retried.is_good() && !useless {
            // The case retries by itself.
            return Ok(GridResult { case: problem.case.clone(), ..retried });
        }
    }
    Ok(result)
}

/// Whether other settings may help: not where the case itself allows so few steps.
fn may_help(case: &Case, stop: NewtonStop) -> bool {
    let limited = matches!(stop, NewtonStop::IterationLimit { .. });
    let few = i64::try_from(case.newton.max_iterations).is_ok_and(|steps| steps < NEWTON_STEPS);
    !(limited && few)
}

/// Solves by the settings of the problem alone.
fn attempt(
    problem: &Problem,
    machine: &Machine,
    options: &SolveOptions,
    log: &mut RunLog<'_>,
) -> Result<GridResult, Error> {
    let interrupted = || Error::Interrupted { steps: None, restart: None };
    if log.progress.cancelled() {
        return Err(interrupted());
    }
    let job = machine.job().map(|job| &**job);
    let host = Host::new(problem, options, job)?;
    let solved = thread::scope(|scope| {
        // Memory for the grid is made while a device solves for it; a solve on the CPU needs the room for itself.
        if !matches!(machine, Machine::Cpu) {
            scope.spawn(|| host.prepare());
        }
        rank::solve_on(machine, &host, log)
    })?;
    let RankResult { report, quality, system, nodes } = solved.ok_or_else(interrupted)?;
    let (grid, state) = host.finish(&report)?;
    let result = GridResult::new(problem, (report, state), (grid, quality), machine, log)?;
    Ok(GridResult { system, nodes, ..result })
}
