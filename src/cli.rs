//! Arguments, help and what the program says. No numerics.

mod airfoil;
mod batch;
mod case_tools;
mod convert;
mod devices;
mod interrupt;
mod progress;
mod quality;
mod reference;
mod solve;
mod summary;
mod terminal;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use gridgen::case::Case;
use gridgen::error::Error;
use gridgen::files::{PAGE_FILE, REPORT_FILE};
use gridgen::generate::{BackendChoice, GridResult, RESTART_EVERY, RunOptions, run};

use self::airfoil::AirfoilArguments;
use self::batch::BatchArguments;
use self::progress::Reporter;
use self::quality::QualityArguments;
use self::terminal::Terminal;
pub(crate) use self::terminal::explain;

/// Exit code of a run whose grid did not converge or is folded.
const NOT_CONVERGED: u8 = 1;

const EXAMPLES: &str = "\
Examples:
  gridgen cases/naca0012.toml
  gridgen cases/naca0012.toml --output grids --set grid.ni=513 --set grid.nj=257
  gridgen cases/naca0012.toml --set geometry.naca=4412 --set name=naca4412
  gridgen cases/e387.toml --backend cuda --devices 0,1
  gridgen cases/tmr-naca0012.toml --family 4
  gridgen cases/naca0012.toml --restart output/naca0012/restart.bin
  gridgen run 'cases/*.toml' --jobs 2
  gridgen init wing.toml --naca 4412
  gridgen check wing.toml
  gridgen devices
  gridgen airfoil airfoils/e387.dat
  gridgen quality output/naca0012/mesh.p3d
  gridgen convert output/naca0012/mesh.p3d -o wing.su2
  gridgen solve A.mtx --rhs b.mtx
  gridgen completions bash > ~/.local/share/bash-completion/completions/gridgen

A case of two lines is enough:
  [geometry]
  naca = \"2412\"

docs/case-format.md lists all keys.

Exit codes: 0 a good grid, 1 not converged, folded or beyond a limit of the case, 2 bad input or files
that cannot be read or written, 3 device, 130 interrupted.";

/// Structured meshes around airfoils by elliptic grid equations.
///
/// Reads a case file, solves the grid equations by Newton–Krylov to a stated residual, and writes
/// the grid, its quality and the resolved case.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    grid: GridArguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make the grids of many cases.
    Run(BatchArguments),
    /// Show what is understood of a section.
    Airfoil(AirfoilArguments),
    /// Write a mesh in another format.
    Convert(convert::ConvertArguments),
    /// Measure a plane structured grid of one block.
    Quality(QualityArguments),
    /// Solve a linear system from Matrix Market files.
    Solve(solve::SolveArguments),
    /// Write the completions of a shell to standard output.
    #[command(after_help = reference::COMPLETIONS_EXAMPLE)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write a case file to begin with, in which every key stands as a comment.
    Init(case_tools::InitArguments),
    /// Check a case without solving for its grid, and estimate what a run takes.
    Check(case_tools::CheckArguments),
    /// Write the JSON schema of the case file to standard output.
    #[command(after_help = reference::SCHEMA_EXAMPLE)]
    Schema,
    /// Write the licences of the program and of the font in its pictures to standard output.
    #[command(after_help = reference::LICENCES_EXAMPLE)]
    Licences,
    /// Write the manual page to standard output.
    #[command(after_help = reference::MAN_EXAMPLE)]
    Man,
    /// List the GPUs and NVIDIA's libraries that are found.
    #[command(after_help = reference::DEVICES_EXAMPLE)]
    Devices,
}

/// Arguments of a run.
#[derive(Debug, Args)]
struct GridArguments {
    /// Case file.
    #[arg(value_name = "CASE.toml", required = true)]
    case: Option<PathBuf>,
    #[command(flatten)]
    common: CommonArguments,
    /// Write the linear system of this Newton step, from 0, as Matrix Market and as binary blocks.
    #[arg(long, value_name = "STEP")]
    export_jacobian: Option<usize>,
    /// Write this many nested grids, the case's and every other point of each, down to the coarsest;
    /// each goes to a folder of its own.
    #[arg(long, value_name = "GRIDS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=20))]
    family: u32,
    /// Go on with an interrupted run of the same case.
    #[arg(long, value_name = "FILE")]
    restart: Option<PathBuf>,
    /// Print the report as JSON, the text of report.json.
    #[arg(long)]
    json: bool,
    /// Show report.html in the browser when the grid is done.
    #[arg(long)]
    open: bool,
}

/// Arguments of one run and of many.
#[derive(Debug, Args)]
struct CommonArguments {
    /// Files go to DIR/<name of the case>.
    #[arg(short, long, value_name = "DIR", default_value = "output")]
    output: PathBuf,
    /// Where to compute; auto takes a GPU if there is one and the grid is large enough to be faster there.
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    backend: Backend,
    /// GPUs to use, by number: 0,1; of a batch each takes whole cases [default: one, and for large grids as many as help].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    devices: Option<Vec<usize>>,
    /// Threads on the CPU [default: all].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
    threads: Option<usize>,
    /// Seconds between two restart files of a run.
    #[arg(long, value_name = "SECONDS", default_value_t = RESTART_EVERY.as_secs())]
    restart_every: u64,
    /// Replace a key of the case file; can be repeated.
    #[arg(long, value_name = "SECTION.KEY=VALUE", value_parser = parse_set)]
    set: Vec<(String, String)>,
    /// Replace files in the output folder that gridgen did not write; with many cases also run those
    /// again whose results are there.
    #[arg(long)]
    force: bool,
    /// Say nothing but errors.
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Show each Newton step and the time of each phase.
    #[arg(short, long)]
    verbose: bool,
}

/// Values of `--backend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Backend {
    /// A GPU, if there is one that can be used, where it is faster; else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// NVIDIA GPUs.
    Cuda,
}

impl From<Backend> for BackendChoice {
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Auto => Self::Auto,
            Backend::Cpu => Self::Cpu,
            Backend::Cuda => Self::Cuda,
        }
    }
}

impl Cli {
    /// Does what was asked for and returns the exit code.
    pub(crate) fn execute(self) -> ExitCode {
        match &self.command {
            Some(Command::Run(arguments)) => return arguments.execute(),
            Some(Command::Convert(arguments)) => return arguments.execute(),
            Some(Command::Completions { shell }) => return completions(*shell),
            Some(Command::Init(arguments)) => return arguments.execute(),
            Some(Command::Check(arguments)) => return arguments.execute(),
            Some(Command::Schema) => return reference::schema(),
            Some(Command::Licences) => return reference::licences(),
            Some(Command::Man) => return reference::man(),
            Some(Command::Devices) => return devices::list(),
            Some(Command::Airfoil(arguments)) => return arguments.execute(),
            Some(Command::Quality(arguments)) => return arguments.execute(),
            Some(Command::Solve(arguments)) => return arguments.execute(),
            None => {}
        }
        let terminal = Terminal::new(self.grid.common.quiet);
        match self.grid.check() {
            Ok(path) => self.grid.make_grid(path, &terminal),
            Err(error) => explain(&error),
        }
    }
}

impl CommonArguments {
    /// What must hold between arguments beyond clap's rules.
    fn check(&self) -> Result<(), clap::Error> {
        let devices = self.devices.as_deref().unwrap_or_default();
        if !devices.is_empty() && self.backend == Backend::Cpu {
            return refuse_use(
                clap::error::ErrorKind::ArgumentConflict,
                "--devices names GPUs, which --backend cpu does not use",
            );
        }
        each_once(devices)
    }

    /// What a run takes, its files to `output`.
    fn options(&self, output: PathBuf) -> RunOptions {
        RunOptions {
            backend: self.backend.into(),
            devices: self.devices.clone(),
            threads: self.threads,
            restart_every: Duration::from_secs(self.restart_every),
            force: self.force,
            ..RunOptions::new(output)
        }
    }
}

/// The refusal of arguments.
fn refuse_use<T>(kind: clap::error::ErrorKind, message: &str) -> Result<T, clap::Error> {
    Err(Cli::command().error(kind, message))
}

impl GridArguments {
    /// What must hold between arguments beyond clap's rules; returns the case file.
    fn check(&self) -> Result<&Path, clap::Error> {
        self.common.check()?;
        let several = self.common.devices.as_ref().is_some_and(|devices| devices.len() > 1);
        if several && self.export_jacobian.is_some() {
            return refuse_use(
                clap::error::ErrorKind::ArgumentConflict,
                "--export-jacobian writes the system of one GPU: name one with --devices",
            );
        }
        match &self.case {
            Some(path) => Ok(path),
            None => refuse_use(clap::error::ErrorKind::MissingRequiredArgument, "name a case file"),
        }
    }

    /// Runs the case file `path` and reports the outcome.
    fn make_grid(&self, path: &Path, terminal: &Terminal) -> ExitCode {
        match self.run(path, terminal) {
            Ok((case, outcome)) => self.report(&case, &outcome, terminal),
            Err(error) => refuse(terminal, &error),
        }
    }

    fn run(&self, path: &Path, terminal: &Terminal) -> Result<(Case, GridResult), Error> {
        let case = Case::from_file(path, &self.common.set)?;
        let options = RunOptions {
            grids: self.family,
            export_jacobian: self.export_jacobian,
            restart: self.restart.clone(),
            ..self.common.options(self.common.output.join(&case.name))
        };
        interrupt::listen(terminal);
        let mut reporter = Reporter::new(terminal.can_draw(), self.common.verbose);
        let outcome = run(&case, &options, &mut reporter);
        reporter.finish();
        Ok((case, outcome?))
    }

    fn report(&self, case: &Case, outcome: &GridResult, terminal: &Terminal) -> ExitCode {
        outcome.notices.iter().for_each(|notice| terminal.note(notice));
        if self.common.verbose {
            terminal.log(&summary::phases(&outcome.phases()));
        }
        if self.open {
            show(outcome, terminal);
        }
        let verdict = &outcome.verdict;
        if !verdict.is_good() {
            terminal.error(&verdict.to_string(), Some(&summary::failure_hint(case, outcome)));
        }
        let text = match self.json.then(|| report_of(outcome)) {
            None => summary::outcome(case, outcome),
            Some(Ok(text)) => text,
            Some(Err(error)) => return stdout_failed(terminal, &error),
        };
        match terminal.result(&text) {
            Err(error) => stdout_failed(terminal, &error),
            Ok(()) => ExitCode::from(verdict.exit_code()),
        }
    }
}

/// Refuses a device that is named twice.
fn each_once(devices: &[usize]) -> Result<(), clap::Error> {
    match devices.iter().enumerate().find(|(k, device)| devices[..*k].contains(device)) {
        None => Ok(()),
        Some((_, device)) => Err(Cli::command().error(
            clap::error::ErrorKind::ValueValidation,
            format!("--devices names device {device} twice"),
        )),
    }
}

/// Opens the page that a run wrote.
fn show(outcome: &GridResult, terminal: &Terminal) {
    match outcome.files.iter().find(|file| file.ends_with(PAGE_FILE)) {
        None => terminal.note("there is no report.html to open: output.report is false"),
        Some(page) => {
            if let Err(error) = open::that_detached(page) {
                terminal.note(&format!("{} could not be opened: {error}", page.display()));
            }
        }
    }
}

/// The text of the report that a run wrote.
fn report_of(outcome: &GridResult) -> std::io::Result<String> {
    let report = outcome.files.iter().find(|file| file.ends_with(REPORT_FILE));
    report.map_or_else(|| Ok(String::new()), std::fs::read_to_string)
}

fn completions(shell: clap_complete::Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gridgen", &mut script);
    answer(&Terminal::new(false), &String::from_utf8_lossy(&script))
}

/// Writes a text to standard output, all that was asked for.
fn answer(terminal: &Terminal, text: &str) -> ExitCode {
    match terminal.result(text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => stdout_failed(terminal, &error),
    }
}

/// Says what went wrong and how to mend it.
fn refuse(terminal: &Terminal, error: &Error) -> ExitCode {
    terminal.error(&error.to_string(), error.hint().as_deref());
    ExitCode::from(error.exit_code())
}

/// Reports input or files that cannot be used.
fn bad_input(terminal: &Terminal, message: &str, hint: Option<&str>) -> ExitCode {
    terminal.error(message, hint);
    ExitCode::from(2)
}

fn stdout_failed(terminal: &Terminal, error: &std::io::Error) -> ExitCode {
    terminal.error(&format!("cannot write to standard output: {error}"), None);
    ExitCode::from(2)
}

/// Splits `section.key=value`.
fn parse_set(argument: &str) -> Result<(String, String), String> {
    match argument.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected section.key=value, for example grid.ni=513".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_arguments_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_override_is_split_at_its_first_equals_sign() {
        let split = parse_set("name = a=b");

        assert_eq!(split, Ok(("name".to_owned(), "a=b".to_owned())));
    }

    #[test]
    fn an_override_without_key_is_refused() {
        let refused = [parse_set("=3"), parse_set("grid.ni")];

        assert!(refused.iter().all(Result::is_err), "{refused:?}");
    }
}
