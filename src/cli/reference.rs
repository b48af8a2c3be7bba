//! `schema`, `man` and `licences`: texts that stand in the program; examples of commands
//! without options.

use std::process::ExitCode;

use clap::CommandFactory;
use gridgen::case::json_schema;

use super::terminal::Terminal;
use super::{Cli, answer, stdout_failed};

pub(super) const SCHEMA_EXAMPLE: &str = "\
Example:
  gridgen schema > case.schema.json

Editors that know TOML complete the keys of a case whose first line is
  #:schema case.schema.json";

pub(super) const COMPLETIONS_EXAMPLE: &str = "\
Example:
  gridgen completions bash > ~/.local/share/bash-completion/completions/gridgen";

pub(super) const DEVICES_EXAMPLE: &str = "\
Example:
  gridgen devices";

pub(super) const MAN_EXAMPLE: &str = "\
Example:
  gridgen man > ~/.local/share/man/man1/gridgen.1";

pub(super) const LICENCES_EXAMPLE: &str = "\
Example:
  gridgen licences | less";

pub(super) fn schema() -> ExitCode {
    // `#` asks for indented JSON.
    answer(&Terminal::new(false), &format!("{:#}\n", json_schema()))
}

/// The licences: of the program, and of what is embedded in it.
pub(super) fn licences() -> ExitCode {
    answer(&Terminal::new(false), include_str!("../../docs/licences.md"))
}

pub(super) fn man() -> ExitCode {
    let terminal = Terminal::new(false);
    let mut page = Vec::new();
    match clap_mangen::Man::new(Cli::command()).render(&mut page) {
        Ok(()) => answer(&terminal, &String::from_utf8_lossy(&page)),
        Err(error) => stdout_failed(&terminal, &error),
    }
}
