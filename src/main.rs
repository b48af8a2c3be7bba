//! Command-line entry: parse, run, exit code.

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cli::Cli::try_parse() {
        Ok(cli) => cli.execute(),
        Err(error) => cli::explain(&error),
    }
}
