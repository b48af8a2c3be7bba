//! Command-line entry: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(gridgen::cli::main(std::env::args_os()))
}
