//! `gridgen solve`: a linear system from files.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gridgen::backend::{Algebraic, MatrixFormat};
use gridgen::linear_system::{Reordering, RightSide, SystemOptions, SystemOutcome, solve_system};
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::LinearSettings;
use gridgen::sparse::Schedule;

use super::terminal::{Reporter, Terminal};
use super::values::number;
use super::{CommandFailure, ComputeArguments, code_if, count, possible, summary, word, words};

/// Arguments of `gridgen solve`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/solve.txt").trim_ascii_end())]
#[command(mut_arg("output", |output| output.help("Files go to DIR/<name of the matrix>")))]
#[command(mut_arg("backend", |backend| backend.help("Where to compute; auto takes a GPU if there is one")))]
#[command(mut_arg("devices", |devices| devices.help(DEVICES)))]
#[command(mut_arg("force", |force| force.help("Replace files in the output folder that gridgen did not write")))]
#[command(mut_arg("verbose", |verbose| verbose.help("Show the time of each phase")))]
pub(super) struct SolveArguments {
    /// Matrix Market file of a square matrix.
    #[arg(value_name = "A.mtx")]
    matrix: PathBuf,
    /// Matrix Market file of the right side, or of several as columns [default: ones].
    #[arg(long, value_name = "b.mtx")]
    rhs: Option<PathBuf>,
    /// Take a random right side, always the same for a seed.
    #[arg(long, value_name = "N", conflicts_with = "rhs")]
    seed: Option<u64>,
    /// Krylov method.
    #[arg(long, default_value = "bicgstab", value_parser = words::<Method>(&SOLVERS))]
    solver: Method,
    /// Iterations of GMRES between restarts.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = count(1..=1000))]
    restart: usize,
    /// Preconditioner.
    #[arg(long, default_value = "dilu", value_parser = preconditioner())]
    preconditioner: Algebraic,
    /// Make the factors of A + ALPHA diag(A), whose pivots are farther from zero [default: 0].
    #[arg(long, value_name = "ALPHA", value_parser = shift, allow_negative_numbers = true)]
    shift: Option<f64>,
    /// Order in which the rows of the factors are worked on [default: auto].
    #[arg(long, value_parser = words::<Schedule>(&SCHEDULES))]
    schedule: Option<Schedule>,
    /// Storage of the matrix for products.
    #[arg(long, default_value = "csr", value_parser = words::<MatrixFormat>(&STORAGES))]
    format: MatrixFormat,
    /// Renumber rows and columns before the solve; x is written as A is numbered.
    #[arg(long, default_value = "none", value_parser = words::<Reordering>(&ORDERS))]
    reorder: Reordering,
    /// Relative residual to reach, of b.
    #[arg(long, value_name = "RATIO", default_value_t = 1e-8, value_parser = tolerance)]
    tolerance: f64,
    /// Limit of iterations.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = count(1..))]
    max_iterations: usize,
    #[command(flatten)]
    pub(super) compute: ComputeArguments,
}

/// Help of `--devices`.
const DEVICES: &str = "GPUs to use, by number. Several have a block of rows each, and the factors of \
                       dilu, dic, ilu0 and ic0 leave out what couples the blocks";

/// Values of `--solver`.
const SOLVERS: [(&str, &str); 3] = [
    ("cg", "Conjugate gradients, for symmetric positive definite matrices"),
    ("bicgstab", "BiCGStab"),
    ("gmres", "Restarted flexible GMRES"),
];

/// Values of `--preconditioner`.
const PRECONDITIONERS: [(&str, &str); 6] = [
    ("none", "The identity"),
    ("jacobi", "The diagonal"),
    ("dilu", "Diagonal incomplete LU"),
    ("dic", "Diagonal incomplete Cholesky, for symmetric matrices"),
    ("ilu0", "Incomplete LU without fill"),
    ("ic0", "Incomplete Cholesky without fill, for symmetric matrices"),
];

/// Values of `--schedule`.
const SCHEDULES: [(&str, &str); 5] = [
    ("auto", "The fastest of those that apply the same factors"),
    ("levels", "One level of rows after the other"),
    ("sync-free", "Each row as soon as its entries are known"),
    ("colours", "Rows renumbered by colour: other factors"),
    ("tiles", "Rows in blocks that do not see each other: other factors"),
];

/// Values of `--format`.
const STORAGES: [(&str, &str); 2] =
    [("csr", "By rows"), ("ell", "By slots, every row as wide as the longest")];

/// Values of `--reorder`.
const ORDERS: [(&str, &str); 2] = [
    ("none", "As in the file"),
    ("rcm", "Reverse Cuthill–McKee: entries gather around the diagonal"),
];

/// Reads a preconditioner; schedule and shift of factors have options of their own.
fn preconditioner() -> impl TypedValueParser<Value = Algebraic> {
    PossibleValuesParser::new(possible(&PRECONDITIONERS))
        .try_map(|text| Algebraic::named(&text, word))
}

/// A shift that makes the diagonal no smaller.
fn shift(text: &str) -> Result<f64, String> {
    number(text, |shift| shift >= 0.0, "not below 0")
}

pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    number(text, |tolerance| tolerance > 0.0 && tolerance < 1.0, "between 0 and 1")
}

impl SolveArguments {
    pub(super) fn execute(&self, terminal: &Terminal) -> Result<u8, CommandFailure> {
        let options = self.options()?;
        let mut reporter = Reporter::new(terminal.can_draw(), self.compute.verbose);
        let solved = solve_system(&options, &mut reporter);
        reporter.finish();
        self.report(&solved?, terminal)
    }

    fn options(&self) -> Result<SystemOptions, CommandFailure> {
        let preconditioner = self.preconditioner.with(self.schedule, self.shift);
        let compute = &self.compute;
        let matrix = SystemOptions::new(self.matrix.clone(), compute.output.clone());
        Ok(SystemOptions {
            right_side: match (&self.rhs, self.seed) {
                (Some(path), _) => RightSide::File(path.clone()),
                (None, Some(seed)) => RightSide::Random { seed },
                (None, None) => RightSide::Ones,
            },
            linear: LinearSettings {
                method: self.solver,
                max_iterations: self.max_iterations,
                restart: self.restart,
            },
            preconditioner: preconditioner.map_err(CommandFailure::Usage)?,
            format: self.format,
            reorder: self.reorder,
            tolerance: self.tolerance,
            output: compute.output.join(matrix.name()),
            backend: compute.machine.backend,
            devices: compute.machine.devices.clone(),
            threads: compute.threads,
            force: compute.force,
            job: compute.machine.job.clone(),
            ..matrix
        })
    }

    fn report(&self, outcome: &SystemOutcome, terminal: &Terminal) -> Result<u8, CommandFailure> {
        outcome.report.notes.iter().for_each(|note| terminal.note(note));
        if self.compute.verbose {
            terminal.log(&summary::phases(&outcome.report.timing));
        }
        let converged = outcome.report.converged;
        if !converged {
            let message = format!("the system is not solved: {}", outcome.report.stop_reason);
            terminal.error(&message, Some(&self.remedy(outcome)));
        }
        terminal.result(&summary::system(outcome))?;
        Ok(code_if(converged))
    }

    /// Advice after a solve that stopped short.
    fn remedy(&self, outcome: &SystemOutcome) -> String {
        let most = outcome.report.columns.iter().map(|column| column.iterations).reduce(f64::max);
        let way = if most.unwrap_or(outcome.report.iterations) >= self.max_iterations as f64 {
            "allow more with --max-iterations, or use another --preconditioner or --solver"
        } else if outcome.report.matrix.empty_rows > 0 {
            "the matrix has empty rows and is singular"
        } else if self.solver == Method::Cg {
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
