//! Options for solving a linear system.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::report::MethodReport;
use crate::backend::{Algebraic, Incomplete, MatrixFormat};
use crate::case::is_fit_name;
use crate::ranks::Job;
use crate::run::BackendChoice;
use crate::solver::krylov::Method;
use crate::solver::linear::LinearSettings;
use crate::sparse::Schedule;

/// The right-hand side of a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RightSide {
    /// From a Matrix Market file.
    File(PathBuf),
    /// All ones.
    Ones,
    /// Uniform random numbers in [−1, 1), determined by the seed.
    #[allow(missing_docs, reason = "the text of the variant says it")]
    Random { seed: u64 },
}

/// A right-hand side, and the x from which its solve starts, 0 if there is none.
pub type RightHandSide<'b> = (&'b [f64], Option<&'b [f64]>);

/// Renumbering of rows and columns before the solve; x is written in the numbering of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reordering {
    /// The order of the file.
    #[default]
    None,
    /// Reverse Cuthill–McKee.
    Rcm,
}

/// Options for solving a linear system.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SystemOptions {
    /// Matrix Market file of A.
    pub matrix: PathBuf,
    /// The right-hand side b.
    pub right_side: RightSide,
    /// Krylov method, and its limits.
    pub linear: LinearSettings,
    /// Preconditioner.
    pub preconditioner: Algebraic,
    /// Storage of the entries in products.
    pub format: MatrixFormat,
    /// Renumbering.
    pub reorder: Reordering,
    /// ‖b − A x‖ / ‖b‖ to be reached.
    pub tolerance: f64,
    /// Folder the files are written to.
    pub output: PathBuf,
    /// Backend.
    pub backend: BackendChoice,
    /// GPUs to use, with a block of rows each; `None` leaves the choice to the backend.
    pub devices: Option<Vec<usize>>,
    /// Threads to use on the CPU; `None` means all.
    pub threads: Option<usize>,
    /// Replace files in the output folder that gridgen did not write.
    pub force: bool,
    /// The job in which this process is a rank. The ranks share the rows, with a GPU each, and the first rank
    /// alone writes files.
    pub job: Option<Arc<Job>>,
}

impl SystemOptions {
    /// DILU-preconditioned BiCGStab to 1e-8 with a right-hand side of ones, files to `output`.
    pub fn new(matrix: PathBuf, output: PathBuf) -> Self {
        Self {
            matrix,
            right_side: RightSide::Ones,
            linear: LinearSettings {
                method: Method::Bicgstab,
                max_iterations: 10_000,
                restart: 30,
            },
            preconditioner: Algebraic::Factors {
                kind: Incomplete::Dilu,
                schedule: Schedule::Auto,
                shift: 0.0,
            },
            format: MatrixFormat::Csr,
            reorder: Reordering::None,
            tolerance: 1e-8,
            output,
            backend: BackendChoice::Auto,
            devices: None,
            threads: None,
            force: false,
            job: None,
        }
    }

    /// Name of the matrix: its file name without `.mtx` and `.gz`, or `system` if that cannot be the name of
    /// a folder.
    pub fn name(&self) -> String {
        let name = self.matrix.file_name().unwrap_or_default().to_string_lossy();
        let plain = name.strip_suffix(".gz").unwrap_or(&name);
        let stem = plain.strip_suffix(".mtx").unwrap_or(plain);
        if is_fit_name(stem) { stem.to_owned() } else { "system".to_owned() }
    }

    /// The chosen option that needs a symmetric matrix, if there is one.
    pub(super) fn needs_symmetry(&self) -> Option<&'static str> {
        match (self.linear.method, self.preconditioner) {
            (Method::Cg, _) => Some("CG"),
            (_, Algebraic::Factors { kind, .. }) if kind.symmetric() => Some(kind.name()),
            _ => None,
        }
    }

    /// True if the preconditioner eliminates, so that every row needs an entry on the diagonal.
    pub(super) fn is_eliminated(&self) -> bool {
        matches!(self.preconditioner, Algebraic::Factors { .. })
    }

    /// The names of the method and its options, for this number of blocks of rows.
    pub(super) fn method_report(&self, blocks: usize) -> MethodReport {
        let (preconditioner, schedule, shift) = match self.preconditioner {
            Algebraic::None => ("none".to_owned(), None, None),
            Algebraic::Jacobi => ("jacobi".to_owned(), None, None),
            Algebraic::Factors { kind, schedule, shift } => {
                (word(&kind), Some(word(&schedule)), Some(shift))
            }
        };
        MethodReport {
            solver: word(&self.linear.method),
            restart: self.linear.restart,
            preconditioner,
            shift,
            blocks: (schedule.is_some() && blocks > 1).then_some(blocks),
            schedule,
            format: word(&self.format),
            reorder: word(&self.reorder),
        }
    }
}

fn word(choice: &impl serde::Serialize) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(word)) => word,
        other => format!("{other:?}"),
    }
}

impl fmt::Display for RightSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Ones => write!(f, "ones"),
            Self::Random { seed } => write!(f, "random, seed {seed}"),
        }
    }
}

/// `n` uniform random numbers in [−1, 1) by SplitMix64 (Steele, Lea and Flood 2014,
/// doi:10.1145/2660193.2660195).
pub(super) fn random(seed: u64, n: usize) -> Vec<f64> {
    let mut numbers = SplitMix64::seed_from_u64(seed);
    let mut next = || (numbers.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    (0..n).map(|_| next()).collect()
}
