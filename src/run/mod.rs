//! A run's surroundings: its options, its progress, the machine that it is on, and its folder. Grids and general
//! linear systems use them alike.

mod choice;
mod estimate;
mod machine;
mod options;

use std::path::Path;

pub(crate) use self::choice::{Closing, Opening, gpus_of, needs_several};
pub use self::estimate::{CROSSOVER, Estimate};
pub(crate) use self::estimate::{demand, memory_bytes, of_background};
pub use self::machine::{BackendChoice, Machine, MachinePool};
pub(crate) use self::machine::{Opened, on_each, thread_pool};
pub(crate) use self::options::RunLog;
pub use self::options::{Progress, RESTART_EVERY, RunOptions};
use crate::files::IoError;
use crate::files::output::{FolderRules, Output};

/// Opens a folder and checks that files of these names can be written there, where no input stands, before the
/// work.
pub(crate) fn open_output(
    root: &Path,
    rules: FolderRules,
    force: bool,
    (names, inputs): (&[impl AsRef<str>], &[&Path]),
    notices: &mut Vec<String>,
) -> Result<Output, IoError> {
    let output = Output::open(root, rules, force)?;
    output.check(names.iter().map(AsRef::as_ref))?;
    output.spare(names.iter(), inputs)?;
    notices.extend(output.notice());
    Ok(output)
}
