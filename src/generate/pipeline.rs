//! The steps of a run: the case is settled while the machine opens, solved, and written while the machine closes.

use super::assembly::{self, AssemblyResult};
use super::restart::fingerprint;
use super::shared::of_first;
use super::solve::solve_logged;
use super::{GridResult, Problem, Progress, RunOptions, SolveOptions, outputs};
use crate::case::{Case, PlacedAssembly};
use crate::error::Error;
use crate::files::RESTART_FILE;
use crate::ranks::Job;
use crate::report::Timing;
use crate::run::{Closing, Opened, Opening, RunLog, of_background, thread_pool};

/// Makes the grid of a section, and its files, if it `writes` any.
pub(super) fn section(
    settle: impl FnOnce() -> Result<Problem, Error> + Send,
    opening: Opening,
    writes: bool,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<GridResult, Error> {
    thread_pool(options.threads)?.install(|| {
        let mut log = RunLog::new(progress, Timing::default());
        let (problem, opened) = settled(settle, opening, &mut log)?;
        problem.check_family(options.grids)?;
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
            problem.place(&mut made.grid);
            if let Some(nodes) = made.nodes.as_ref().filter(|_| problem.is_placed_elsewhere()) {
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
pub(super) fn elements(
    settle: impl FnOnce() -> Result<PlacedAssembly, Error> + Send,
    opening: Opening,
    writes: bool,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<AssemblyResult, Error> {
    thread_pool(options.threads)?.install(|| {
        let mut log = RunLog::new(progress, Timing::of(&assembly::PHASES));
        let (placed, opened) = settled(settle, opening, &mut log)?;
        let opened = opened?;
        let cases: Vec<&Case> =
            placed.elements.iter().map(|element| &element.problem.case).collect();
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

/// Settles a case while the machine opens. An error of the case is reported before one of the machine.
fn settled<S>(
    settle: impl FnOnce() -> Result<S, Error>,
    opening: Opening,
    log: &mut RunLog<'_>,
) -> Result<(S, Result<Opened, Error>), Error> {
    let settled = log.timed("geometry", |_| settle());
    let opened = log.timed("device", |_| opening.end());
    Ok((settled?, opened.map_err(Error::from)))
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
