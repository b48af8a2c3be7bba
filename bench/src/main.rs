//! The program: what to measure, and where the results go.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it tells what it measured")]

mod arguments;

use std::process::ExitCode;

use arguments::Arguments;

fn main() -> ExitCode {
    let arguments = Arguments::read();
    match arguments.measure() {
        Ok(results) => {
            println!("{}", results.markdown());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            if let Some(hint) = error.hint() {
                eprintln!("hint: {hint}");
            }
            ExitCode::FAILURE
        }
    }
}
