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
pub mod problems;
pub mod random;
#[cfg(target_os = "linux")]
pub mod stand_in;
pub mod stencil;
pub mod vectors;
pub mod walls;

/// The result of `work` on a pool of this number of threads.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// A folder with this name for files that test programs compile, kept with cargo's build output. Test
/// programs are in `target/PROFILE/deps`.
fn scratch(name: &str) -> std::path::PathBuf {
    let program = std::env::current_exe().unwrap();
    program.ancestors().nth(3).unwrap().join("tmp").join(name)
}
