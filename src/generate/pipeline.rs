//! The steps of a run: the case is settled while the machine opens, solved, and written while the machine closes.

use super::assembly::{self, AssemblyResult};
use super::outputs;
use super::rank::SolveOptions;
use super::restart::fingerprint;
use super::result::{GridResult, of_first};
use super::solve::solve_logged;
use crate::case::{Assembly, Case, Problem};
use crate::error::Error;
use crate::files::RESTART_FILE;
use crate::geometry::Airfoil;
use crate::ranks::Job;
use crate::report::Timing;
use crate::run::{
    Closing, Machine, Opened, Opening, Progress, RunLog, RunOptions, demand, of_background,
    thread_pool,
};

/// Runs a case: geometry, initial grid, Newton, quality, files. Of a family of grids the result is the
/// finest, with the verdict on the worst, and the folded cells and the files of all.
///
/// # Errors
/// See [`Error`]; [`Error::Family`] where the grid cannot be halved so often. A grid that is not converged
/// or is folded is a result, whose files are named as failed.
pub fn run(
    case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<GridResult, Error> {
    // A GPU takes long to open, and the geometry does not need it.
    let opening = Opening::of(case, options);
    section(|| Ok(case.settle()?), opening, true, options, progress)
}

/// [`run`] on a machine that is there already, whatever the options name: for tests.
///
/// # Errors
/// See [`Error`].
pub fn run_on(
    machine: Machine,
    case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<GridResult, Error> {
    let opening = Opening::Done((machine, None));
    section(|| Ok(case.settle()?), opening, true, options, progress)
}

/// Makes the grid of a case in memory, on the GPU if one is there and faster: nothing is written.
///
/// # Errors
/// The errors of [`make_grid`], which takes options and reports progress.
pub fn generate(case: &Case) -> Result<GridResult, Error> {
    make_grid(case, &RunOptions::default(), &mut ())
}

/// Makes the grid of a case in memory: nothing is written.
///
/// # Errors
/// See [`Error`]. A grid that is not good is no error: ask [`GridResult::is_good`].
pub fn make_grid(
    case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<GridResult, Error> {
    in_memory(|| Ok(case.settle()?), case, options, progress)
}

/// Makes a grid around a section in memory. The case gives all but the contour, the trailing
/// edge too.
///
/// # Errors
/// The errors of [`make_grid`].
pub fn make_grid_around(
    airfoil: &Airfoil,
    case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<GridResult, Error> {
    in_memory(|| Ok(case.settle_around(airfoil)?), case, options, progress)
}

fn in_memory(
    settle: impl FnOnce() -> Result<Problem, Error> + Send,
    case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<GridResult, Error> {
    let options = RunOptions { grids: 1, export_jacobian: None, ..options.clone() };
    section(settle, Opening::of(case, &options), false, &options, progress)
}

/// Makes the grids of several elements in memory: nothing is written.
///
/// # Errors
/// See [`Error`]. Grids that are not good are no error: ask [`AssemblyResult::is_good`].
pub fn make_assembly(
    assembly: &Assembly,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<AssemblyResult, Error> {
    elements(assembly, false, options, progress)
}

/// Makes the grids of several elements and writes their files.
///
/// # Errors
/// See [`Error`]; [`Error::Overset`] where elements cannot stand so. Grids that are not good are a result, whose
/// files are named as failed.
pub fn run_assembly(
    assembly: &Assembly,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<AssemblyResult, Error> {
    elements(assembly, true, options, progress)
}

/// Makes the grid of a section, and its files, if it `writes` any.
fn section(
    settle: impl FnOnce() -> Result<Problem, Error> + Send,
    opening: Opening,
    writes: bool,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<GridResult, Error> {
    thread_pool(options.threads)?.install(|| {
        let mut log = RunLog::new(progress, Timing::default());
        let problem = log.timed("geometry", |_| settle());
        let opened = log.timed("device", |_| opening.end());
        let problem = problem?;
        problem.check_family(options.grids)?;
        if problem.case.output.reference {
            problem.check_movable()?;
        }
        let opened = opened?;
        let [ni, nj] = problem.size();
        let compared = || {
            Ok(vec![
                ("a grid of", format!("{ni} × {nj} points")),
                ("a family of", format!("{} grids", options.grids)),
                ("the case and the program of fingerprint", fingerprint(&problem.case)?),
            ])
        };
        check(&opened, &[&problem.case], compared, &mut log)?;
        // A section that cannot be meshed leaves the folder as it is; a folder that takes no files is found
        // before the work.
        let open = || outputs::open(&problem, options, &mut log.notices);
        let folders = is_writer(writes, options).then(open).transpose()?;
        let restart_file = folders.as_ref().and_then(|folders| folders.first());
        let restart_file = restart_file.map(|output| output.root().join(RESTART_FILE));
        let solving = SolveOptions {
            restart: options.restart.clone(),
            save: restart_file.map(|file| (file, options.restart_every)),
            export: options.export_jacobian,
            keep_nodes: options.keep_on_device && !writes,
        };
        let mut made = solve_logged(&problem, &opened.0, &solving, &mut log)?;
        made.find(options.strict);
        let pool = options.pool.as_deref();
        if !writes {
            let machine = &opened.0;
            if made.nodes.is_some() && pool.is_none() {
                machine.trim()?;
            }
            made.place(&problem);
            if let Some(nodes) = made.nodes.as_ref().filter(|_| problem.placement().is_elsewhere())
            {
                nodes.place(&made.grid)?;
                machine.rest()?;
            }
        }
        let _closing = Closing::or_keep(opened, pool);
        match folders {
            Some(folders) => outputs::write(&problem, &mut made, folders, options, &mut log)?,
            None => made.timing = log.total(),
        }
        // The other ranks wait until rank 0 has written the files.
        made.verdict = of_first(options.job.as_deref(), made.verdict)?;
        Ok(made)
    })
}

/// Makes the grids of several elements, and their files, if it `writes` any.
fn elements(
    assembly: &Assembly,
    writes: bool,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<AssemblyResult, Error> {
    assembly::refuse(options)?;
    thread_pool(options.threads)?.install(|| {
        let mut log = RunLog::new(progress, Timing::of(&assembly::PHASES));
        let placed = log.timed("geometry", |_| assembly.settle())?;
        let cases: Vec<&Case> =
            placed.elements.iter().map(|element| &element.problem.case).collect();
        // Layers that the case leaves open are known now, and with them the largest grid.
        let opening = match cases.iter().max_by_key(|case| demand(case).points) {
            Some(largest) => Opening::of(largest, options),
            None => Opening::Done((Machine::Cpu, None)),
        };
        let opened = log.timed("device", |_| opening.end())?;
        let compared = || {
            let digest = assembly::fingerprint(&placed.assembly)?;
            Ok(vec![("the case and the program of fingerprint", digest)])
        };
        check(&opened, &cases, compared, &mut log)?;
        of_background(&placed)?;
        let open = || assembly::open(&placed, options, &mut log.notices);
        let folder = is_writer(writes, options).then(open).transpose()?;
        let mut made = assembly::solved(placed, &opened.0, options.strict, &mut log)?;
        let _closing = Closing::or_keep(opened, options.pool.as_deref());
        match folder {
            Some(folder) => assembly::write(&mut made, folder, options, &mut log)?,
            None => made.timing = log.total(),
        }
        made.verdict = of_first(options.job.as_deref(), made.verdict)?;
        Ok(made)
    })
}

/// Whether this process writes files: of the ranks of a job the first does.
fn is_writer(writes: bool, options: &RunOptions) -> bool {
    writes && options.job.as_deref().is_none_or(Job::is_first)
}

/// Compares the case on all ranks of a job, checks that its grids fit the machine, and notes the choice of that.
fn check(
    (machine, notice): &Opened,
    cases: &[&Case],
    compared: impl FnOnce() -> Result<Vec<(&'static str, String)>, Error>,
    log: &mut RunLog<'_>,
) -> Result<(), Error> {
    if let Some(job) = machine.job() {
        let version = ("version", env!("CARGO_PKG_VERSION").to_owned());
        job.compare(&[vec![version], compared()?].concat())?;
    }
    machine.check_memory(cases)?;
    log.notices.extend(notice.clone());
    log.notices.extend(cases.iter().filter_map(|case| machine.refused_order(&case.linear)));
    log.notices.dedup();
    Ok(())
}
