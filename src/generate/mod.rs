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
mod pipeline;
mod problem;
mod rank;
mod restart;
mod result;
mod shared;
mod solve;

use std::path::Path;

pub use self::assembly::{AssemblyResult, check_assembly, solve_elements};
pub use self::batch::{BatchObserver, BatchOptions, BatchResult, Summary, default_jobs, run_batch};
pub use self::files::BACKGROUND;
pub use self::movement::DerivativesAt;
pub use self::nodes::DeviceNodes;
#[doc(hidden)] // For tests.
pub use self::restart::fingerprint;
pub use self::result::{GridResult, LinearSystem};
pub use self::solve::{SolveOptions, solve};
use crate::backend::cpu::CpuBackend;
pub use crate::case::Problem;
use crate::case::{Assembly, Case, SolverOptions};
use crate::error::Error;
use crate::formats;
use crate::geometry::Airfoil;
use crate::movement::Reference;
pub use crate::run::{
    BackendChoice, Estimate, Machine, MachinePool, Progress, RESTART_EVERY, RunOptions, check,
};
#[doc(hidden)]
// For tests, on devices of another kind too, and for the measurement of the size.
pub use crate::run::{CROSSOVER, RankWork, Ranks};
use crate::run::{Opening, demand};

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
    pipeline::section(|| Ok(case.settle()?), opening, true, options, progress)
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
    pipeline::section(|| Ok(case.settle()?), opening, true, options, progress)
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
    pipeline::section(settle, Opening::of(case, &options), false, &options, progress)
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
    of_elements(assembly, false, options, progress)
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
    of_elements(assembly, true, options, progress)
}

fn of_elements(
    assembly: &Assembly,
    writes: bool,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<AssemblyResult, Error> {
    assembly::refuse(options)?;
    let cases = assembly.elements.iter().map(|element| &element.case);
    let opening = match cases.max_by_key(|case| demand(case).points) {
        Some(largest) => Opening::of(largest, options),
        None => Opening::Done((Machine::Cpu, None)),
    };
    pipeline::elements(|| Ok(assembly.settle()?), opening, writes, options, progress)
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
