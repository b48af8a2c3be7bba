//! The convergence history as comma-separated values.

use std::io::{self, Write};
use std::path::Path;

use crate::files::{IoError, atomic};
use crate::solver::history::History;

/// Names of the columns, the first line of the file.
pub const COLUMNS: &str = "step,residual,forcing_term,linear_iterations,\
                           cumulative_linear_iterations,step_length,min_area,folded_cells,seconds";

/// Writes one line for each Newton step, step 0 being the start.
///
/// `residual` is the scaled rms residual after the step, `min_area` and `folded_cells` describe
/// the grid after it, `seconds` is the time of the step in set-up and linear solve. Numbers are
/// written with as many digits as it takes to read back the same bits.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write_csv(path: &Path, history: &History) -> Result<(), IoError> {
    atomic::write(path, |out| write_csv_to(out, history))
}

/// Writes the same bytes to any writer.
pub fn write_csv_to(out: &mut impl Write, history: &History) -> io::Result<()> {
    writeln!(out, "{COLUMNS}")?;
    let mut cumulative = 0.0;
    for step in &history.steps {
        cumulative += step.linear_iterations;
        writeln!(
            out,
            "{},{:e},{:e},{},{},{},{:e},{},{:.6}",
            step.step,
            step.residual,
            step.forcing_term,
            step.linear_iterations,
            cumulative,
            step.step_length,
            step.min_area,
            step.folded_cells,
            step.setup_seconds + step.linear_seconds,
        )?;
    }
    Ok(())
}
