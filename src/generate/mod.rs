//! From a case to its grid and its files: the only place where all layers meet. No formulas.
//!
//! A [`Problem`] is what a grid is solved for: the points of the wall, normals, layers and the settings of
//! all that follows. [`solve()`] takes it to a [`GridResult`] on a [`Machine`], which is the CPU, a GPU or
//! several. [`run`] does all that for a case and writes its
//! files, [`make_grid`] does it in memory, [`run_batch`] for many cases.

mod assembly;
mod batch;
mod files;
mod movement;
mod outputs;
pub(crate) mod pipeline;
pub(crate) mod problem;
mod rank;
mod result;
mod solve;

pub use self::assembly::{RunResult, check_case, solve_elements};
pub use self::batch::{BatchObserver, BatchResult, Summary, default_jobs, run_batch};
pub use self::files::BACKGROUND;
pub use self::movement::open_reference;
pub use self::pipeline::{generate, make_grid, make_grids, run};
pub use self::rank::SolveOptions;
pub use self::result::{GridResult, LinearSystem};
pub use self::solve::solve;
pub use crate::case::Problem;
pub use crate::run::{
    BackendChoice, Estimate, Machine, MachinePool, Progress, RESTART_EVERY, RunOptions,
};
