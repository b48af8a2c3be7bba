//! Arguments, help and what the program says. No numerics.
#![allow(rustdoc::invalid_html_tags, reason = "the texts are those of the help")]

mod airfoil;
mod batch;
mod convert;
mod movement;
mod named;
mod quality;
mod ranks;
mod smooth;
mod solve;
mod summary;
mod terminal;
mod tools;
mod ui;
mod values;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use gridgen::case::json_schema;
use gridgen::files::{PAGE_FILE, REPORT_FILE};
use gridgen::generate::{RESTART_EVERY, RunOptions, run};
use gridgen::ranks::Job;

use self::named::KeyArguments;
use self::ranks::MachineArguments;
pub use self::terminal::exit_code;
use self::terminal::{CommandFailure, Reporter, Terminal, code_if, explain, listen};
use self::values::{count, parse_set, possible, word, words};

const EXAMPLES: &str = include_str!("cli/help/gridgen.txt").trim_ascii_end();

/// Structured meshes around airfoils by elliptic grid equations.
///
/// Reads a case file, solves the grid equations by Newton–Krylov to a stated residual, and writes
/// the grid, its quality and the resolved case.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    grid: GridArguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make the grids of many cases.
    Run(batch::BatchArguments),
    /// Show what is understood of a section.
    Airfoil(airfoil::AirfoilArguments),
    /// Write a mesh in another format.
    Convert(convert::ConvertArguments),
    /// Move a grid with its wall, or differentiate it.
    Move(Box<movement::MoveArguments>),
    /// Measure a plane structured grid of one zone or several.
    Quality(quality::QualityArguments),
    /// Make a plane structured grid of one block better.
    Smooth(smooth::SmoothArguments),
    /// Solve a linear system from Matrix Market files.
    Solve(solve::SolveArguments),
    /// Show the grid of a case in a browser while keys are changed.
    Ui(ui::UiArguments),
    /// Write the completions of a shell to standard output.
    #[command(after_help = "\
Example:
  gridgen completions bash > ~/.local/share/bash-completion/completions/gridgen")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write a case file to begin with.
    Init(tools::InitArguments),
    /// Check a case without solving for its grid, and estimate what a run takes.
    Check(tools::CheckArguments),
    /// Write the JSON schema of the case file to standard output.
    #[command(after_help = "\
Example:
  gridgen schema > case.schema.json

Editors that know TOML complete the keys of a case whose first line is
  #:schema case.schema.json")]
    Schema,
    /// Write the licences of the program and of the font in its pictures to standard output.
    #[command(after_help = "\
Example:
  gridgen licences | less")]
    Licences,
    /// Write the manual page to standard output.
    #[command(after_help = "\
Example:
  gridgen man > ~/.local/share/man/man1/gridgen.1")]
    Man,
    /// List the GPUs and NVIDIA's libraries that are found.
    #[command(after_help = "\
Example:
  gridgen devices")]
    Devices,
}

/// Arguments of a run.
#[derive(Debug, Args)]
struct GridArguments {
    /// Case file, file of a section's coordinates, NACA designation such as 2412 or 63-215, or name of a section such
    /// as cylinder or e387. A section is gridded as a case of two lines would be.
    #[arg(value_name = "CASE.toml|FILE|NACA|NAME", required_unless_present = "naca")]
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
    #[command(flatten)]
    compute: ComputeArguments,
    /// Seconds between two restart files of a run.
    #[arg(long, value_name = "SECONDS", default_value_t = RESTART_EVERY.as_secs())]
    restart_every: u64,
    #[command(flatten)]
    keys: KeyArguments,
    /// Treat findings as errors: of the growth of cells, of the wake, of grids of several elements.
    #[arg(long)]
    strict: bool,
}

/// Arguments of every command that computes.
#[derive(Debug, Args)]
struct ComputeArguments {
    /// Files go to DIR/<name of the case>.
    #[arg(short, long, value_name = "DIR", default_value = "output")]
    output: PathBuf,
    #[command(flatten)]
    machine: MachineArguments,
    /// Threads on the CPU [default: all].
    #[arg(long, value_name = "N", value_parser = count(1..=4096))]
    threads: Option<usize>,
    /// Replace files in the output folder that gridgen did not write; with many cases also run those
    /// again whose results are there.
    #[arg(long)]
    force: bool,
    /// Say nothing but errors.
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Show the time of each phase, and each Newton step.
    #[arg(short, long)]
    verbose: bool,
}

/// Runs the program with its arguments, the first being its name, and returns its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    // A file above the size limit is then an error of that file, and no silent end of the program.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli.execute(),
        Err(error) => {
            // Behind a misspelt command, clap would blame its arguments.
            let option = |word: &OsString| word.to_string_lossy().starts_with('-');
            let first = arguments.get(1).filter(|word| error.use_stderr() && !option(word));
            match first.and_then(|word| named::unknown(Path::new(word))) {
                Some(failure) => report(failure, &Terminal::new(false)),
                None => explain(&error),
            }
        }
    }
}

/// Prints a failure, and returns the exit code.
fn report(failure: CommandFailure, terminal: &Terminal) -> u8 {
    match failure {
        CommandFailure::Usage(message) => {
            explain(&Cli::command().error(ErrorKind::ArgumentConflict, message))
        }
        CommandFailure::Message { message, hint, class } => {
            terminal.error(&message, hint.as_deref());
            exit_code(class)
        }
    }
}

impl Cli {
    /// Runs the command and returns the exit code.
    fn execute(mut self) -> u8 {
        let (quiet, job) = match &mut self.command {
            None => self.grid.common.compute.begin(),
            Some(Command::Run(arguments)) => arguments.common.compute.begin(),
            Some(Command::Solve(arguments)) => arguments.compute.begin(),
            Some(Command::Move(arguments)) => (false, arguments.machine.begin()),
            Some(_) => (false, Ok(None)),
        };
        let terminal = Terminal::new(quiet);
        let done = job.and_then(|job| {
            let Some(job) = job else { return self.perform(&terminal) };
            let own = terminal.silent_if(!job.is_first());
            ranks::begin(&job, own.clone());
            ranks::end(&job, self.perform(&own))
        });
        match done {
            Ok(code) => code,
            Err(failure) => report(failure, &terminal),
        }
    }

    fn perform(&self, terminal: &Terminal) -> Result<u8, CommandFailure> {
        match &self.command {
            None => self.grid.execute(terminal),
            Some(Command::Run(arguments)) => arguments.execute(terminal),
            Some(Command::Convert(arguments)) => arguments.execute(terminal),
            Some(Command::Completions { shell }) => terminal.result(&tools::completions(*shell)),
            Some(Command::Init(arguments)) => arguments.execute(terminal),
            Some(Command::Check(arguments)) => arguments.execute(terminal),
            Some(Command::Schema) => terminal.result(&format!("{:#}\n", json_schema())),
            Some(Command::Licences) => terminal.result(include_str!("../docs/licences.md")),
            Some(Command::Man) => tools::man(terminal),
            Some(Command::Devices) => terminal.result(&tools::devices(terminal)),
            Some(Command::Airfoil(arguments)) => arguments.execute(terminal),
            Some(Command::Move(arguments)) => arguments.execute(terminal),
            Some(Command::Quality(arguments)) => arguments.execute(terminal),
            Some(Command::Smooth(arguments)) => arguments.execute(terminal),
            Some(Command::Solve(arguments)) => arguments.execute(terminal),
            Some(Command::Ui(arguments)) => arguments.execute(terminal),
        }
    }
}

impl ComputeArguments {
    /// Calls [`MachineArguments::begin`], and returns its job beside the wish to be quiet. Of several processes only
    /// the first prints.
    fn begin(&mut self) -> (bool, Result<Option<Arc<Job>>, CommandFailure>) {
        let job = self.machine.begin();
        if job.as_ref().is_ok_and(|job| job.as_ref().is_some_and(|job| !job.is_first())) {
            self.verbose = false;
        }
        (self.quiet, job)
    }
}

impl CommonArguments {
    /// The options of a run that writes to `output`.
    fn options(&self, output: PathBuf) -> RunOptions {
        RunOptions {
            backend: self.compute.machine.backend,
            devices: self.compute.machine.devices.clone(),
            threads: self.compute.threads,
            restart_every: Duration::from_secs(self.restart_every),
            force: self.compute.force,
            job: self.compute.machine.job.clone(),
            strict: self.strict,
            ..RunOptions::new(output)
        }
    }
}

impl GridArguments {
    fn execute(&self, terminal: &Terminal) -> Result<u8, CommandFailure> {
        let MachineArguments { devices, job, .. } = &self.common.compute.machine;
        let named = devices.as_ref().is_some_and(|devices| devices.len() > 1);
        if self.export_jacobian.is_some() && (named || job.is_some()) {
            let message = "--export-jacobian writes the system of one GPU: name one with --devices, and start one process";
            return Err(CommandFailure::Usage(message.to_owned()));
        }
        let case = self.common.keys.case(self.case.as_deref())?;
        let options = RunOptions {
            grids: self.family,
            export_jacobian: self.export_jacobian,
            restart: self.restart.clone(),
            ..self.common.options(self.common.compute.output.join(&case.name))
        };
        listen(terminal);
        let mut reporter = Reporter::new(terminal.can_draw(), self.common.compute.verbose);
        let outcome = run(&case, &options, &mut reporter);
        reporter.finish();
        let outcome = outcome?;
        let verbose = self.common.compute.verbose;
        let events = outcome.elements.iter().flat_map(|made| &made.events).filter(|_| verbose);
        outcome.notices.iter().chain(events).for_each(|note| terminal.note(note));
        if verbose {
            terminal.log(&summary::phases(&outcome.timing));
        }
        outcome.checks.findings.iter().for_each(|found| terminal.note(&found.to_string()));
        if self.open {
            show(&outcome.files, terminal);
        }
        if !outcome.is_good() {
            let hint = outcome.hint().map(|hint| format!("{hint}; -v shows each step"));
            terminal.error(&outcome.verdict.to_string(), hint.as_deref());
        }
        let report = self.json.then(|| report_of(&outcome.files)).transpose()?;
        terminal.result(&report.unwrap_or_else(|| summary::outcome(&outcome)))?;
        Ok(code_if(outcome.is_good()))
    }
}

fn show(files: &[PathBuf], terminal: &Terminal) {
    match files.iter().find(|file| file.ends_with(PAGE_FILE)) {
        None => terminal.note("there is no report.html to open: output.report is false"),
        Some(page) => {
            if let Err(error) = open::that_detached(page) {
                terminal.note(&format!("{} could not be opened: {error}", page.display()));
            }
        }
    }
}

fn report_of(files: &[PathBuf]) -> Result<String, CommandFailure> {
    let report = files.iter().find(|file| file.ends_with(REPORT_FILE));
    let text = report.map_or_else(|| Ok(String::new()), std::fs::read_to_string);
    text.map_err(|error| terminal::stdout_failed(&error))
}
