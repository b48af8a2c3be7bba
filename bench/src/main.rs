//! The program: parses arguments, measures, and prints or writes the results.
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
            ExitCode::from(error.class().exit_code())
        }
    }
}
