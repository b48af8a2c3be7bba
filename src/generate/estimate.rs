//! A case judged without solving for its grid.

use super::Problem;
use crate::backend::DeviceError;
use crate::backend::cpu::check_factors;
use crate::case::Case;
use crate::error::Error;
use crate::memory;
use crate::solver::linear::Precision;
use crate::solver::precond::Kind;

/// Peak memory a point, in bytes: measured on 2049 × 1025 points, docs/performance.md.
const BYTES_SINGLE: f64 = 710.0;
const BYTES_DOUBLE: f64 = 900.0;

/// CPU time a point on one thread, in seconds: measured on 1025 × 513 points, docs/performance.md.
const SECONDS: f64 = 5e-6;

/// What a run of a case would take.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Points of the grid that is solved for: of half a grid those of the whole.
    pub points: usize,
    /// Peak memory in bytes.
    pub memory_bytes: f64,
    /// CPU time in seconds, with the default preconditioner on one thread of a present-day CPU.
    pub cpu_seconds: f64,
    /// What was repaired in the section, one sentence each.
    pub notices: Vec<String>,
}

/// Reads the section, places the points of its wall, and estimates what a run would take. Nothing
/// is solved and nothing is written.
///
/// # Errors
///
/// The section cannot be meshed as the case says, at the place in the case that has to do with it.
pub fn check(case: &Case) -> Result<Estimate, Error> {
    let problem = Problem::new(case)?;
    let points = points(case);
    Ok(Estimate {
        points,
        memory_bytes: memory_bytes(case),
        cpu_seconds: points as f64 * SECONDS,
        notices: problem.notices,
    })
}

/// Points of the grid that is solved for.
fn points(case: &Case) -> usize {
    case.grid.around() * case.grid.nj
}

/// Peak memory of a run on the CPU, in bytes.
fn memory_bytes(case: &Case) -> f64 {
    let bytes = match case.linear.precision {
        Precision::Single => BYTES_SINGLE,
        Precision::Double => BYTES_DOUBLE,
    };
    points(case) as f64 * bytes
}

/// Slots of a row of the grid's matrix: x and y of nine points.
const WIDTH: usize = 18;

/// Refuses a case that the CPU cannot do: incomplete factors whose entries 32 bits do not number, and
/// what does not fit the free memory.
///
/// # Errors
///
/// [`DeviceError::FactorsTooLarge`], [`DeviceError::Memory`].
pub(super) fn check_cpu(case: &Case) -> Result<(), DeviceError> {
    if matches!(case.linear.preconditioner, Kind::Dilu | Kind::Ilu0) {
        check_factors(2 * points(case), WIDTH)?;
    }
    Ok(memory::check(memory_bytes(case) as u64)?)
}
