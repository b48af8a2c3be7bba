//! The program: parses arguments, measures, and prints or writes the results.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it tells what it measured")]

mod arguments;

use std::process::ExitCode;

use arguments::Arguments;
use gridgen::error::ErrorClass;

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
            ExitCode::from(code(error.class()))
        }
    }
}

/// The exit code of `gridgen` for a failure.
fn code(class: ErrorClass) -> u8 {
    match class {
        ErrorClass::Unsolved => 1,
        ErrorClass::Device => 3,
        ErrorClass::Interrupted => 130,
        _ => 2,
    }
}
