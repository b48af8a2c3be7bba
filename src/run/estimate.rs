//! Estimates a case without solving for its grid: memory, time, and the number of devices that it keeps busy.

use crate::backend::DeviceError;
use crate::backend::cuda::{MemoryEstimate, PreconditionerStorage};
use crate::case::{Case, PlacedCase};
use crate::memory;
use crate::solver::linear::Precision;
use crate::solver::precond::Kind;
use crate::sparse::Schedule;

/// Peak memory per point, in bytes, in single and in double precision: measured on 2049 × 1025 points, docs/performance.md.
/// Without a preconditioner and with Jacobi it is less than with multigrid.
const BYTES: [f64; 2] = [560.0, 690.0];
/// [`BYTES`] with DILU and ILU(0).
const BYTES_OF_FACTORS: [f64; 2] = [800.0, 1150.0];

/// CPU time per point on one thread, in seconds: measured on 1025 × 513 points, docs/performance.md.
const SECONDS: f64 = 3.5e-6;

/// Memory and CPU time per node of a background, its checks and files included: measured on 100185 × 141
/// nodes, docs/performance.md.
const BACKGROUND_BYTES: f64 = 230.0;
const BACKGROUND_SECONDS: f64 = 1.8e-6;

/// Fixed cost of a run, independent of its points: the program, its pictures.
const BYTES_BESIDE: f64 = 35e6;
const SECONDS_BESIDE: f64 = 0.1;

/// Points for which one more GPU is worth its messages, and the second that the GPUs take to meet:
/// docs/performance.md.
const POINTS_A_GPU: usize = 32_000_000;

/// Points of a grid from which a run takes less time on a GPU than on the CPU, from the case file to the
/// mesh: where `BackendChoice::Auto` changes over. Measured with `gridgen-bench crossover` on an H200 with
/// 32 cores: docs/performance.md.
pub const CROSSOVER: usize = 205_000;

/// Estimated cost of a run of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Points of the grid that is solved for: of half a grid those of the whole.
    pub points: usize,
    /// Peak memory in bytes.
    pub memory_bytes: f64,
    /// CPU time in seconds, with the default preconditioner on one thread of a present-day CPU.
    pub cpu_seconds: f64,
    /// Repairs made to the section, one sentence each.
    pub notices: Vec<String>,
}

impl Estimate {
    /// Estimates what a run of this case would take; refused where its background does not fit.
    pub(crate) fn of(placed: &PlacedCase) -> Result<Self, DeviceError> {
        let mut all = of_background(placed)?;
        for problem in placed.elements.iter().map(|element| &element.problem) {
            let (case, points) = (&problem.case, points(&problem.case));
            all.points += points;
            all.memory_bytes += memory_bytes(case);
            all.cpu_seconds += points as f64 * SECONDS;
            all.notices.extend(problem.notices.iter().map(|notice| match placed.section() {
                Some(_) => notice.clone(),
                None => format!("{}: {notice}", case.name),
            }));
        }
        Ok(all)
    }
}

/// Estimated cost of a run but for its elements, with the nodes of the background; refused where it does not fit.
pub(crate) fn of_background(placed: &PlacedCase) -> Result<Estimate, DeviceError> {
    let nodes = placed.background.map_or(0.0, |(background, [low, high])| {
        background.size(low, high).map(|n| n as f64).iter().product()
    });
    let memory_bytes = BYTES_BESIDE + nodes * BACKGROUND_BYTES;
    memory::check(memory_bytes as u64)?;
    let cpu_seconds = SECONDS_BESIDE + nodes * BACKGROUND_SECONDS;
    Ok(Estimate { points: nodes as usize, memory_bytes, cpu_seconds, notices: Vec::new() })
}

fn points(case: &Case) -> usize {
    case.grid.around() * case.grid.nj
}

/// Peak memory of a run on the CPU, in bytes.
pub(crate) fn memory_bytes(case: &Case) -> f64 {
    let [single, double] = match case.linear.preconditioner {
        Kind::Dilu | Kind::Ilu0 => BYTES_OF_FACTORS,
        Kind::None | Kind::Jacobi | Kind::Multigrid => BYTES,
    };
    let bytes = match case.linear.precision {
        Precision::Single => single,
        Precision::Double => double,
    };
    points(case) as f64 * bytes
}

/// The memory that a case takes on GPUs.
pub(crate) fn demand(case: &Case) -> MemoryEstimate {
    MemoryEstimate {
        points: points(case),
        columns: case.grid.around(),
        value: match case.linear.precision {
            Precision::Single => 4,
            Precision::Double => 8,
        },
        preconditioner: match (case.linear.preconditioner, case.linear.schedule) {
            (Kind::None | Kind::Jacobi, _) => PreconditionerStorage::Diagonal,
            (Kind::Dilu, Schedule::Auto | Schedule::Tiles) => PreconditionerStorage::Tiles,
            (Kind::Dilu | Kind::Ilu0, _) => PreconditionerStorage::Factors,
            (Kind::Multigrid, _) => PreconditionerStorage::Hierarchy,
        },
    }
}

/// GPUs, each with `memory` bytes, that a solve keeps busy or needs for its memory.
pub(crate) fn wanted(demand: MemoryEstimate, memory: usize) -> usize {
    (demand.points / POINTS_A_GPU).max(demand.bytes().div_ceil(memory.max(1)))
}
