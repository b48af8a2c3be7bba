//! Tests of measurements at small sizes: their output, and the evaluation of made-up times.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

#[cfg(all(feature = "cuda", target_os = "linux"))]
mod crossover;
#[cfg(feature = "cuda")]
mod gpu;
mod matrices;
mod program;
mod scaling;
mod solvers;
mod tables;

use std::process::Command;

/// The program with arguments.
fn bench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridgen-bench"));
    command.args(arguments);
    command
}

/// Exit code, standard output and standard error.
fn ran(mut command: Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}
