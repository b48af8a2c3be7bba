//! `init` and `check`: case files before they are run.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use gridgen::case::{Case, Contour, Purpose, template};
use gridgen::error::Error;
use gridgen::files::atomic;
use gridgen::generate::{Estimate, check};

use super::terminal::Terminal;
use super::{answer, parse_set, refuse};

/// Arguments of `init`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gridgen init
  gridgen init wing.toml --naca 4412
  gridgen init wing.toml --file airfoils/e387.dat
  gridgen init wing.toml --openfoam

An existing file is not replaced.")]
pub(super) struct InitArguments {
    /// Case file to write.
    #[arg(value_name = "CASE.toml", default_value = "case.toml")]
    case: PathBuf,
    /// NACA designation of the section.
    #[arg(long, value_name = "DESIGNATION", default_value = "0012")]
    naca: String,
    /// File with the section's coordinates, relative to the case file.
    #[arg(long, value_name = "FILE", conflicts_with = "naca")]
    file: Option<PathBuf>,
    /// Set keys for inviscid flow by OpenFOAM: the run writes a case that its script Allrun solves.
    #[arg(long)]
    openfoam: bool,
}

impl InitArguments {
    pub(super) fn execute(&self) -> ExitCode {
        let terminal = Terminal::new(false);
        let contour = match &self.file {
            Some(file) => Contour::File(file.clone()),
            None => Contour::Naca(self.naca.clone()),
        };
        let purpose = if self.openfoam { Purpose::Openfoam } else { Purpose::Any };
        let text = template(&contour, purpose);
        match atomic::write_new(&self.case, |out| out.write_all(text.as_bytes())) {
            Ok(()) => answer(&terminal, &format!("written:\n  {}\n", self.case.display())),
            Err(error) => refuse(&terminal, &error.into()),
        }
    }
}

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gridgen check cases/naca0012.toml
  gridgen check cases/naca0012.toml --set grid.ni=2049 --set grid.nj=1025

Exit codes: 0 the case can be run, 2 it cannot.")]
pub(super) struct CheckArguments {
    /// Case file.
    #[arg(value_name = "CASE.toml")]
    case: PathBuf,
    /// Replace a key of the case file; can be repeated.
    #[arg(long, value_name = "SECTION.KEY=VALUE", value_parser = parse_set)]
    set: Vec<(String, String)>,
}

impl CheckArguments {
    pub(super) fn execute(&self) -> ExitCode {
        let terminal = Terminal::new(false);
        match self.estimate() {
            Ok((case, estimate)) => {
                estimate.notices.iter().for_each(|notice| terminal.note(notice));
                answer(&terminal, &summary(&case, &estimate))
            }
            Err(error) => refuse(&terminal, &error),
        }
    }

    fn estimate(&self) -> Result<(Case, Estimate), Error> {
        let case = Case::from_file(&self.case, &self.set)?;
        let estimate = check(&case)?;
        Ok((case, estimate))
    }
}

fn summary(case: &Case, estimate: &Estimate) -> String {
    let whole = match case.grid.around() {
        around if around == case.grid.ni => String::new(),
        around => format!(", half of {around} x {}", case.grid.nj),
    };
    format!(
        "{}: can be run\n\
         \x20 grid          {} x {} points{whole}, {} in all\n\
         \x20 memory        about {}\n\
         \x20 time          about {} of CPU on one thread\n",
        case.name,
        case.grid.ni,
        case.grid.nj,
        estimate.points,
        memory(estimate.memory_bytes),
        time(estimate.cpu_seconds),
    )
}

/// Two digits of a quantity of bytes.
fn memory(bytes: f64) -> String {
    if bytes < 1e9 {
        format!("{:.0} MB", (bytes / 1e6).ceil())
    } else {
        format!("{:.1} GB", bytes / 1e9)
    }
}

/// Two digits of a time.
fn time(seconds: f64) -> String {
    if seconds < 10.0 {
        format!("{:.1} s", seconds.max(0.1))
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{:.0} min", seconds / 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_shown_in_units_of_their_size() {
        assert_eq!([26.3e6, 1.67e9].map(memory), ["27 MB", "1.7 GB"]);
        assert_eq!([1e-3, 4.21, 16.8, 900.0].map(time), ["0.1 s", "4.2 s", "17 s", "15 min"]);
    }
}
