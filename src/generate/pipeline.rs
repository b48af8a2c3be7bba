//! The steps of a run: the case is settled while the machine opens, solved, and written while the machine closes.

use super::assembly::{self, RunResult};
use super::outputs;
use super::problem::fingerprint;
use super::rank::SolveOptions;
use super::result::{GridResult, of_first};
use super::solve::solve_logged;
use crate::case::{AssemblyError, Case, CaseFile, PlacedCase, Problem};
use crate::error::Error;
use crate::files::RESTART_FILE;
use crate::ranks::Job;
use crate::report::Timing;
use crate::run::{
    Closing, Machine, Opened, Opening, Progress, RunLog, RunOptions, demand, of_background,
    thread_pool,
};

/// Makes the grids of a case, of one section or of several elements, and writes their files: geometry, initial grids,
/// Newton, quality, files. Of a family of grids the result is the finest, with the verdict on the worst, and the
/// folded cells and the files of all.
///
/// # Errors
/// See [`Error`]; [`Error::Family`] where the grid cannot be halved so often, [`Error::Overset`] where elements cannot
/// stand so. A grid that is not converged or is folded is a result, whose files are named as failed.
pub fn run(
    case: &CaseFile,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<RunResult, Error> {
    steps(case, opening(case, options)?, true, options, progress)
}

/// [`run`] on a machine that is there already, whatever the options name: for tests.
pub fn run_on(
    machine: Machine,
    case: &CaseFile,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<RunResult, Error> {
    steps(case, Some(Opening::Done((machine, None))), true, options, progress)
}

/// Makes the grids of a case, of one section or of several elements, in memory: nothing is written.
///
/// # Errors
/// See [`Error`]. Grids that are not good are no error: ask [`RunResult::is_good`].
pub fn make_grids(
    case: &CaseFile,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<RunResult, Error> {
    steps(case, opening(case, options)?, false, options, progress)
}

/// [`make_grids`] of the case of a section.
///
/// # Errors
/// See [`Error`]. A grid that is not good is no error: ask [`GridResult::is_good`].
pub fn make_grid(
    case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<GridResult, Error> {
    Ok(make_grids(&case.clone().into(), options, progress)?.into_section())
}

/// Makes the grid of a case in memory, on the GPU if one is there and faster: nothing is written.
///
/// # Errors
/// The errors of [`make_grid`], which takes options and reports progress.
pub fn generate(case: &Case) -> Result<GridResult, Error> {
    make_grid(case, &RunOptions::default(), &mut ())
}

/// A GPU takes long to open, and the geometry of a section does not need it. The largest of several elements is known
/// once all are settled.
fn opening(case: &CaseFile, options: &RunOptions) -> Result<Option<Opening>, AssemblyError> {
    let opening = case.section().map(|section| Opening::of(section, options));
    if opening.is_none() {
        refuse(options)?;
    }
    Ok(opening)
}

/// Makes the grids of a case, and their files, if it `writes` any. Without an `opening` the machine is chosen for the
/// largest of several elements.
fn steps(
    case: &CaseFile,
    opening: Option<Opening>,
    writes: bool,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<RunResult, Error> {
    thread_pool(options.threads)?.install(|| {
        let of_elements = || Timing::of(&assembly::PHASES);
        let timing = opening.as_ref().map_or_else(of_elements, |_| Timing::default());
        let mut log = RunLog::new(progress, timing);
        let placed = log.timed("geometry", |_| case.settle());
        let opening = opening.or_else(|| {
            let largest = placed.as_ref().ok()?.cases().max_by_key(|case| demand(case).points)?;
            Some(Opening::of(largest, options))
        });
        let opened = opening.map(|opening| log.timed("device", |_| opening.end())).transpose();
        let placed = placed.map_err(Error::from).and_then(|placed| {
            check_outputs(&placed, writes, options)?;
            Ok(placed)
        });
        let (placed, opened) = match (placed, opened) {
            (Ok(placed), opened) => (placed, opened?.unwrap_or((Machine::Cpu, None))),
            // The machine is sound: the next case takes it.
            (Err(error), Ok(Some(opened))) => {
                drop(Closing::or_keep(opened, options.pool.as_deref()));
                return Err(error);
            }
            (Err(error), _) => return Err(error),
        };
        check(&opened, &placed, options, &mut log)?;
        // A section that cannot be meshed leaves the folder as it is; a folder that takes no files is found
        // before the work.
        let is_writer = writes && options.job.as_deref().is_none_or(Job::is_first);
        let open = || outputs::open(&placed, options, &mut log.notices);
        let folders = is_writer.then(open).transpose()?;
        let mut made = match placed.section() {
            None => assembly::solved(placed, &opened.0, options.strict, &mut log)?,
            Some(problem) => {
                let restart_file = folders.as_ref().and_then(|folders| folders.first());
                let restart_file = restart_file.map(|output| output.root().join(RESTART_FILE));
                let solving = SolveOptions {
                    restart: options.restart.clone(),
                    save: restart_file.map(|file| (file, options.restart_every)),
                    export: options.export_jacobian.filter(|_| writes),
                    keep_nodes: options.keep_on_device && !writes,
                };
                let mut made = solve_logged(problem, &opened.0, &solving, &mut log)?;
                made.find(options.strict);
                if !writes {
                    in_place(problem, &mut made, &opened.0, options)?;
                }
                RunResult::of_section(placed, made)
            }
        };
        let _closing = Closing::or_keep(opened, options.pool.as_deref());
        match folders {
            Some(folders) => outputs::write(&mut made, folders, options, &mut log)?,
            None => made.timing = log.total(),
        }
        // The other ranks wait until rank 0 has written the files.
        made.verdict = of_first(options.job.as_deref(), made.verdict)?;
        made.tell_section();
        Ok(made)
    })
}

/// Brings the grid of a section to where the body is, on the GPU that keeps its nodes, too.
fn in_place(
    problem: &Problem,
    made: &mut GridResult,
    machine: &Machine,
    options: &RunOptions,
) -> Result<(), Error> {
    if made.nodes.is_some() && options.pool.is_none() {
        machine.trim()?;
    }
    made.place(problem);
    if let Some(nodes) = made.nodes.as_ref().filter(|_| problem.placement().is_elsewhere()) {
        let [x, y] = nodes.nodes();
        x.upload(&made.grid.x)?;
        y.upload(&made.grid.y)?;
        machine.rest()?;
    }
    Ok(())
}

/// Refuses options for one section alone.
fn refuse(options: &RunOptions) -> Result<(), AssemblyError> {
    let given = [
        ("--family", options.grids > 1),
        ("--export-jacobian", options.export_jacobian.is_some()),
        ("--restart", options.restart.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(AssemblyError::Option { option }),
        None => Ok(()),
    }
}

/// Checks that the grid can be halved to a family where the options ask for one. A case of
/// several elements is checked for memory for its background instead.
fn check_outputs(placed: &PlacedCase, writes: bool, options: &RunOptions) -> Result<(), Error> {
    let Some(problem) = placed.section() else { return Ok(of_background(placed).map(drop)?) };
    Ok(problem.check_family(if writes { options.grids } else { 1 })?)
}

/// Compares the case on all ranks of a job, checks that its grids fit the machine, and notes the choice of that.
fn check(
    (machine, notice): &Opened,
    placed: &PlacedCase,
    options: &RunOptions,
    log: &mut RunLog<'_>,
) -> Result<(), Error> {
    let cases: Vec<&Case> = placed.cases().collect();
    if let Some(job) = machine.job() {
        let mut compared = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
        compared.extend(placed.elements.iter().map(|element| {
            let [ni, nj] = element.problem.size();
            ("a grid of", format!("{ni} × {nj} points"))
        }));
        compared.push(("a family of", format!("{} grids", options.grids)));
        let digest = fingerprint(placed.case.clone())?;
        compared.push(("the case and the program of fingerprint", digest));
        job.compare(&compared)?;
    }
    machine.check_memory(&cases)?;
    log.notices.extend(notice.clone());
    log.notices.extend(cases.iter().filter_map(|case| machine.refused_order(&case.linear)));
    log.notices.dedup();
    Ok(())
}
