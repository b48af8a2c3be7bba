//! From a case to its grid and its files: the only place where all layers meet. No formulas.
//!
//! A [`Problem`] is what a grid is solved for: the points of the wall, normals, layers and the settings of
//! all that follows. [`solve`] takes it to a [`GridResult`] on a [`Machine`], which is the CPU, a GPU or
//! several. [`run`] does all that for a case and writes its
//! files, [`make_grid`] does it in memory, [`run_batch`] for many cases.

mod assembly;
mod batch;
mod corner;
mod files;
mod movement;
mod nodes;
mod outputs;
mod problem;
mod rank;
mod restart;
mod result;
mod shared;
mod solve;

use std::path::Path;

pub use self::assembly::{
    AssemblyResult, BACKGROUND, check_assembly, make_assembly, run_assembly, solve_elements,
};
pub use self::batch::{BatchObserver, BatchOptions, BatchResult, Summary, default_jobs, run_batch};
pub use self::movement::DerivativesAt;
pub use self::nodes::DeviceNodes;
use self::outputs::Outputs;
#[doc(hidden)] // For tests.
pub use self::restart::fingerprint;
pub use self::result::{GridResult, LinearSystem};
use self::shared::of_first;
use self::solve::solve_logged;
pub use self::solve::{SolveOptions, solve};
use crate::backend::cpu::CpuBackend;
pub use crate::case::Problem;
use crate::case::{Case, SectionError, SolverOptions};
use crate::error::Error;
use crate::formats;
use crate::geometry::Airfoil;
use crate::movement::Reference;
use crate::ranks::Job;
use crate::report::Timing;
pub use crate::run::{
    BackendChoice, Estimate, Machine, MachinePool, Progress, RESTART_EVERY, RunOptions, check,
};
#[doc(hidden)]
// For tests, on devices of another kind too, and for the measurement of the size.
pub use crate::run::{CROSSOVER, RankWork, Ranks};
use crate::run::{Closing, Opened, Opening, RunLog, thread_pool};

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
    let pool = thread_pool(options.threads)?;
    // A GPU takes long to open, and the geometry does not need it.
    let opening = Opening::of(case, options);
    pool.install(|| write_grid(case, options, opening, progress))
}

/// [`run`] on a machine that is there already, whatever the options name: for tests.
///
/// # Errors
/// See [`Error`].
#[doc(hidden)]
pub fn run_on(
    machine: Machine,
    case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<GridResult, Error> {
    let opening = Opening::Done((machine, None));
    let pool = thread_pool(options.threads)?;
    pool.install(|| write_grid(case, options, opening, progress))
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
    in_memory(|| case.settle(), case, options, progress)
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
    in_memory(|| case.settle_around(airfoil), case, options, progress)
}

fn in_memory(
    problem: impl FnOnce() -> Result<Problem, SectionError> + Send,
    case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<GridResult, Error> {
    let pool = thread_pool(options.threads)?;
    let opening = Opening::of(case, &RunOptions { export_jacobian: None, ..options.clone() });
    pool.install(|| {
        let mut log = RunLog::new(progress, Timing::default());
        let pool = options.pool.as_deref();
        let solving = SolveOptions {
            restart: options.restart.clone(),
            keep_nodes: options.keep_on_device,
            ..SolveOptions::default()
        };
        let (problem, opened) = prepare(problem, opening, 1, &mut log)?;
        let machine = &opened.0;
        let mut result = solve_logged(&problem, machine, &solving, &mut log)?;
        result.find(options.strict);
        if result.nodes.is_some() && pool.is_none() {
            machine.trim()?;
        }
        problem.place(&mut result.grid);
        if let Some(nodes) = result.nodes.as_ref().filter(|_| problem.is_placed_elsewhere()) {
            nodes.place(&result.grid)?;
            machine.rest()?;
        }
        let _closing = Closing::or_keep(opened, pool);
        result.timing = log.total();
        Ok(result)
    })
}

/// Solves for the grid of a case and writes its files. A machine is given up after the solve, since a GPU
/// takes long to close, and nothing that follows needs it.
fn write_grid(
    case: &Case,
    options: &RunOptions,
    opening: Opening,
    progress: &mut dyn Progress,
) -> Result<GridResult, Error> {
    let mut log = RunLog::new(progress, Timing::default());
    let (problem, machine) = prepare(|| case.settle(), opening, options.grids, &mut log)?;
    let job = options.job.as_deref();
    // A section that cannot be meshed leaves the folder as it is; a folder that takes no files is found
    // before the work.
    let open = || Outputs::open(&problem.case, options, &mut log.notices);
    let outputs = job.is_none_or(Job::is_first).then(open).transpose()?;
    let restart_file = outputs.as_ref().and_then(Outputs::restart_file);
    let solving = SolveOptions {
        restart: options.restart.clone(),
        save: restart_file.map(|file| (file, options.restart_every)),
        export: options.export_jacobian,
        keep_nodes: false,
    };
    let mut result = solve_logged(&problem, &machine.0, &solving, &mut log)?;
    result.find(options.strict);
    let _closing = Closing::or_keep(machine, options.pool.as_deref());
    if let Some(outputs) = outputs {
        outputs.write(&problem, &mut result, options, &mut log)?;
    }
    // The other ranks wait until rank 0 has written the files.
    result.verdict = of_first(job, result.verdict)?;
    Ok(result)
}

/// The reference of movements in a file: one that a case has written, or that of any mesh, whose solves are
/// by `options`.
///
/// # Errors
/// The file cannot be read, or its mesh is no good grid around a body.
pub fn open_reference(path: &Path, options: &SolverOptions) -> Result<Reference, Error> {
    if Reference::is_stored(path) {
        return Ok(Reference::read(path)?);
    }
    let mesh = formats::mesh(path)?;
    Ok(Reference::of_mesh(&CpuBackend, &mesh, options)?)
}

/// The values that must be alike on all ranks of a job.
fn comparison(problem: &Problem, grids: u32) -> Result<[(&'static str, String); 4], Error> {
    let [ni, nj] = problem.size();
    Ok([
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("a grid of", format!("{ni} × {nj} points")),
        ("a family of", format!("{grids} grids")),
        ("the case and the program of fingerprint", fingerprint(&problem.case)?),
    ])
}

fn prepare(
    problem: impl FnOnce() -> Result<Problem, SectionError>,
    opening: Opening,
    grids: u32,
    log: &mut RunLog<'_>,
) -> Result<(Problem, Opened), Error> {
    let problem = log.timed("geometry", |_| problem());
    let opened = log.timed("device", |_| opening.end());
    let problem = problem?;
    problem.check_family(grids)?;
    let (machine, notice) = opened?;
    if let Some(job) = machine.job() {
        job.compare(&comparison(&problem, grids)?)?;
    }
    let order = machine.refused_order(&problem.case.linear);
    machine.check_memory(&[&problem.case])?;
    log.notices.extend(notice.iter().cloned().chain(order));
    Ok((problem, (machine, notice)))
}
