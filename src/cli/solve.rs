//! `gridgen solve`: a linear system from files.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::RangedU64ValueParser;
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use gridgen::backend::{Algebraic, Format, Incomplete};
use gridgen::linear_system::{Reordering, RightSide, SystemOptions, SystemOutcome, solve_system};
use gridgen::solver::krylov::Method;
use gridgen::sparse;

use super::progress::Reporter;
use super::terminal::Terminal;
use super::{Backend, NOT_CONVERGED, each_once, refuse, refuse_use, stdout_failed, summary};

/// Arguments of `gridgen solve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gridgen solve A.mtx
  gridgen solve A.mtx.gz --rhs b.mtx --solver gmres --restart 50 --preconditioner ilu0
  gridgen solve A.mtx --solver cg --preconditioner ic0 --tolerance 1e-10 --seed 1
  gridgen solve A.mtx --reorder rcm --schedule levels --backend cuda
  gridgen solve A.mtx --reorder rcm --preconditioner jacobi --devices 0,1
  gridgen solve A.mtx --preconditioner none --max-iterations 500 --output solutions

A and b are Matrix Market files, plain or packed by gzip; docs/formats.md describes what is read.

Exit codes: 0 converged, 1 not converged (the files are written all the same) or no preconditioner,
2 bad input or files that cannot be read or written, 3 device.")]
pub(super) struct SolveArguments {
    /// Matrix Market file of a square matrix.
    #[arg(value_name = "A.mtx")]
    matrix: PathBuf,
    /// Matrix Market file of the right side [default: ones].
    #[arg(long, value_name = "b.mtx")]
    rhs: Option<PathBuf>,
    /// Take a random right side, always the same for a seed.
    #[arg(long, value_name = "N", conflicts_with = "rhs")]
    seed: Option<u64>,
    /// Krylov method.
    #[arg(long, value_enum, default_value_t = Solver::Bicgstab)]
    solver: Solver,
    /// Iterations of GMRES between restarts.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    restart: usize,
    /// Preconditioner.
    #[arg(long, value_enum, default_value_t = Preconditioner::Dilu)]
    preconditioner: Preconditioner,
    /// Make the factors of A + ALPHA diag(A), whose pivots are farther from zero [default: 0].
    #[arg(long, value_name = "ALPHA", value_parser = shift, allow_negative_numbers = true)]
    shift: Option<f64>,
    /// Order in which the rows of the factors are worked on [default: auto].
    #[arg(long, value_enum)]
    schedule: Option<Schedule>,
    /// How the matrix is stored for products.
    #[arg(long, value_enum, default_value_t = Storage::Csr)]
    format: Storage,
    /// Renumber rows and columns before the solve; x is written as A is numbered.
    #[arg(long, value_enum, default_value_t = Reorder::None)]
    reorder: Reorder,
    /// Relative residual to reach, of b.
    #[arg(long, value_name = "RATIO", default_value_t = 1e-8, value_parser = tolerance)]
    tolerance: f64,
    /// Limit of iterations.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    max_iterations: usize,
    /// Where to compute; auto takes a GPU if there is one.
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    backend: Backend,
    /// GPUs to use, by number. Several have a block of rows each, and the factors of dilu, dic, ilu0
    /// and ic0 leave out what couples the blocks.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    devices: Option<Vec<usize>>,
    /// Threads on the CPU [default: all].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
    threads: Option<usize>,
    /// Files go to DIR/<name of the matrix>.
    #[arg(short, long, value_name = "DIR", default_value = "output")]
    output: PathBuf,
    /// Replace files in the output folder that gridgen did not write.
    #[arg(long)]
    force: bool,
    /// Say nothing but errors.
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Show the time of each phase.
    #[arg(short, long)]
    verbose: bool,
}

/// Values of `--solver`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Solver {
    /// Conjugate gradients, for symmetric positive definite matrices.
    Cg,
    /// BiCGStab.
    Bicgstab,
    /// Restarted flexible GMRES.
    Gmres,
}

/// Values of `--preconditioner`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Preconditioner {
    /// The identity.
    None,
    /// The diagonal.
    Jacobi,
    /// Diagonal incomplete LU.
    Dilu,
    /// Diagonal incomplete Cholesky, for symmetric matrices.
    Dic,
    /// Incomplete LU without fill.
    Ilu0,
    /// Incomplete Cholesky without fill, for symmetric matrices.
    Ic0,
}

/// Values of `--schedule`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Schedule {
    /// The fastest of those that apply the same factors.
    Auto,
    /// One level of rows after the other.
    Levels,
    /// Each row as soon as its entries are known.
    SyncFree,
    /// Rows renumbered by colour: other factors.
    Colours,
    /// Rows in blocks that do not see each other: other factors.
    Tiles,
    /// Each column as soon as its value is known.
    Correlation,
}

/// Values of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Storage {
    /// By rows.
    Csr,
    /// By slots, every row as wide as the longest.
    Ell,
}

/// Values of `--reorder`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reorder {
    /// As in the file.
    None,
    /// Reverse Cuthill–McKee: entries gather around the diagonal.
    Rcm,
}

/// A shift that makes the diagonal no smaller.
fn shift(text: &str) -> Result<f64, String> {
    let shift = text.parse().ok().filter(|shift: &f64| *shift >= 0.0 && shift.is_finite());
    shift.ok_or_else(|| "a number not below 0 was expected".to_owned())
}

fn tolerance(text: &str) -> Result<f64, String> {
    let tolerance = text.parse().ok().filter(|t: &f64| *t > 0.0 && *t < 1.0);
    tolerance.ok_or_else(|| "a number between 0 and 1 was expected".to_owned())
}

impl SolveArguments {
    /// Solves, and says how well.
    pub(super) fn execute(&self) -> ExitCode {
        if let Err(error) = self.check() {
            error.exit();
        }
        let terminal = Terminal::new(self.quiet);
        let mut reporter = Reporter::new(terminal.can_draw(), self.verbose);
        let solved = solve_system(&self.options(), &mut reporter);
        reporter.finish();
        match solved {
            Ok(outcome) => self.report(&outcome, &terminal),
            Err(error) => refuse(&terminal, &error),
        }
    }

    /// What must hold between arguments beyond clap's rules.
    fn check(&self) -> Result<(), clap::Error> {
        let conflict = |message| refuse_use(ErrorKind::ArgumentConflict, message);
        let devices = self.devices.as_deref().unwrap_or_default();
        if !devices.is_empty() && self.backend == Backend::Cpu {
            return conflict("--devices names GPUs, which --backend cpu does not use");
        }
        let factors = !matches!(self.preconditioner, Preconditioner::None | Preconditioner::Jacobi);
        if !factors && self.shift.is_some() {
            return conflict("--shift is for preconditioners with factors: dilu, dic, ilu0, ic0");
        }
        if !factors && self.schedule.is_some() {
            return conflict(
                "--schedule is for preconditioners with factors: dilu, dic, ilu0, ic0",
            );
        }
        each_once(devices)
    }

    fn options(&self) -> SystemOptions {
        let matrix = SystemOptions::new(self.matrix.clone(), self.output.clone());
        SystemOptions {
            right_side: match (&self.rhs, self.seed) {
                (Some(path), _) => RightSide::File(path.clone()),
                (None, Some(seed)) => RightSide::Random { seed },
                (None, None) => RightSide::Ones,
            },
            method: match self.solver {
                Solver::Cg => Method::Cg,
                Solver::Bicgstab => Method::Bicgstab,
                Solver::Gmres => Method::Gmres,
            },
            restart: self.restart,
            preconditioner: self.preconditioner(),
            format: match self.format {
                Storage::Csr => Format::Csr,
                Storage::Ell => Format::Ell,
            },
            reorder: match self.reorder {
                Reorder::None => Reordering::None,
                Reorder::Rcm => Reordering::Rcm,
            },
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            output: self.output.join(matrix.name()),
            backend: self.backend.into(),
            devices: self.devices.clone(),
            threads: self.threads,
            force: self.force,
            ..matrix
        }
    }

    fn preconditioner(&self) -> Algebraic {
        let kind = match self.preconditioner {
            Preconditioner::None => return Algebraic::None,
            Preconditioner::Jacobi => return Algebraic::Jacobi,
            Preconditioner::Dilu => Incomplete::Dilu,
            Preconditioner::Dic => Incomplete::Dic,
            Preconditioner::Ilu0 => Incomplete::Ilu0,
            Preconditioner::Ic0 => Incomplete::Ic0,
        };
        let schedule = match self.schedule.unwrap_or(Schedule::Auto) {
            Schedule::Auto => sparse::Schedule::Auto,
            Schedule::Levels => sparse::Schedule::Levels,
            Schedule::SyncFree => sparse::Schedule::SyncFree,
            Schedule::Colours => sparse::Schedule::Colours,
            Schedule::Tiles => sparse::Schedule::Tiles,
            Schedule::Correlation => sparse::Schedule::Correlation,
        };
        Algebraic::Factors { kind, schedule, shift: self.shift.unwrap_or(0.0) }
    }

    fn report(&self, outcome: &SystemOutcome, terminal: &Terminal) -> ExitCode {
        outcome.report.notes.iter().for_each(|note| terminal.note(note));
        if self.verbose {
            terminal.log(&summary::phases(&outcome.timings()));
        }
        let converged = outcome.report.converged;
        if !converged {
            let message = format!("the system is not solved: {}", outcome.report.stop_reason);
            terminal.error(&message, Some(&self.remedy(outcome)));
        }
        match terminal.result(&summary::system(outcome)) {
            Err(error) => stdout_failed(terminal, &error),
            Ok(()) if converged => ExitCode::SUCCESS,
            Ok(()) => ExitCode::from(NOT_CONVERGED),
        }
    }

    /// How to go on after a solve that stopped short.
    fn remedy(&self, outcome: &SystemOutcome) -> String {
        let way = if outcome.report.iterations >= self.max_iterations as f64 {
            "allow more with --max-iterations, or use another --preconditioner or --solver"
        } else if outcome.report.matrix.empty_rows > 0 {
            "the matrix has empty rows and is singular"
        } else if self.solver == Solver::Cg {
            "use --solver bicgstab or gmres"
        } else {
            "use --solver gmres with a larger --restart, another --preconditioner, or a larger \
             --tolerance"
        };
        format!(
            "{way}. The residual of the x written is {:.2e} of b",
            outcome.report.true_relative_residual
        )
    }
}
