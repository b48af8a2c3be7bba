//! Code shared by test programs: walls given by formulas, problems on them, grids, small matrices, random
//! numbers; and devices on the CPU.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing step fails the test")]

pub mod around;
pub mod blocks;
pub mod cases;
pub mod documents;
pub mod elements;
pub mod fibers;
pub mod gpus;
pub mod grids;
pub mod jobs;
pub mod krylov;
pub mod linear;
pub mod moves;
pub mod problems;
pub mod random;
#[cfg(target_os = "linux")]
pub mod stand_in;
pub mod stencil;
pub mod vectors;
pub mod walls;

use std::path::{Path, PathBuf};

/// The result of `work` on a pool of this number of threads.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

pub fn names_in(folder: impl AsRef<Path>) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Names of the files below a folder, separated by `/`; none if there is no such folder.
pub fn names_below(folder: &Path) -> Vec<String> {
    let names = if folder.is_dir() { names_in(folder) } else { Vec::new() };
    let below = |name: String| match folder.join(&name) {
        path if path.is_dir() => {
            names_below(&path).into_iter().map(|inner| format!("{name}/{inner}")).collect()
        }
        _ => vec![name],
    };
    names.into_iter().flat_map(below).collect()
}

/// A folder with this name for files that test programs compile, kept with cargo's build output. Test
/// programs are in `target/PROFILE/deps`.
fn scratch(name: &str) -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.ancestors().nth(3).unwrap().join("tmp").join(name)
}
