//! The last lines of a run: quality of the grid and files written.

use gridgen::case::Case;
use gridgen::generate::GridResult;
use gridgen::linear_system::SystemOutcome;
use gridgen::report::Timing;

use super::terminal::list;
use crate::diagnostics::counted;

pub(super) fn outcome(case: &Case, outcome: &GridResult) -> String {
    let quality = &outcome.quality;
    let failed = if outcome.verdict.is_good() { "" } else { "FAILED, " };
    let corners = match quality.wall_corners {
        0 => String::new(),
        corners => format!(", {} left out", counted(corners as f64, "corner")),
    };
    let text = format!(
        "{}: {failed}{}\n\
         \x20 grid          {} x {} points\n\
         \x20 residual      {:.2e} after {}, {}\n\
         \x20 folded cells  {}\n\
         \x20 first cell    {:.4e} to {:.4e}, asked for {:.4e}\n\
         \x20 wall angle    off normal by at most {:.2e} deg, mean {:.2e}{corners}\n\
         \x20 skewness      max {:.3}, 99% below {:.3}, mean {:.4}\n\
         \x20 growth        max {:.3} in i, {:.3} in j\n\
         \x20 waves         max {:.1} deg, lines above 1 deg {}\n",
        case.name,
        outcome.verdict.label(),
        case.grid.ni,
        case.grid.nj,
        outcome.residual(),
        counted(outcome.newton_iterations() as f64, "Newton step"),
        counted(outcome.linear_iterations(), "linear iteration"),
        outcome.folded_cells,
        quality.first_cell_min,
        quality.first_cell_max,
        case.grid.first_cell,
        quality.wall_angle_error_max_deg,
        quality.wall_angle_error_mean_deg,
        quality.max_skewness,
        quality.p99_skewness,
        quality.mean_skewness,
        quality.max_growth_i,
        quality.max_growth_j,
        quality.waves_deg,
        quality.wavy_lines,
    );
    text + &list("written", outcome.files.iter().map(|file| file.display()))
}

/// Two digits of a quantity of bytes.
pub(super) fn memory(bytes: f64) -> String {
    if bytes < 1e9 {
        format!("{:.0} MB", (bytes / 1e6).ceil())
    } else {
        format!("{:.1} GB", bytes / 1e9)
    }
}

/// Two digits of a time.
pub(super) fn time(seconds: f64) -> String {
    if seconds < 10.0 {
        format!("{:.1} s", seconds.max(0.1))
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{:.0} min", seconds / 60.0)
    }
}

pub(super) fn phases(timing: &Timing) -> String {
    let phases = timing.phases();
    let width = phases.iter().map(|(phase, _)| phase.len()).max().unwrap_or(0);
    let line = |(phase, seconds): &(&str, f64)| format!("time  {phase:width$}  {seconds:9.3} s\n");
    phases.iter().map(line).collect()
}

pub(super) fn system(outcome: &SystemOutcome) -> String {
    let report = &outcome.report;
    let (matrix, method) = (&report.matrix, &report.method);
    let verdict = if report.converged { "converged" } else { "FAILED, not converged" };
    let symmetry = if matrix.symmetric { "symmetric" } else { "unsymmetric" };
    let text = format!(
        "{}: {verdict}\n\
         \x20 matrix        {}, {}, at most {} in a row, {symmetry}\n\
         \x20 right side    {}\n\
         \x20 method        {}, preconditioner {}\n\
         \x20 residual      {:.2e} of the right side after {}, asked for {:.0e}\n",
        report.name,
        counted(matrix.rows as f64, "row"),
        entries(matrix.entries),
        matrix.longest_row,
        report.right_side,
        method.solver,
        method.preconditioner,
        report.true_relative_residual,
        counted(report.iterations, "iteration"),
        report.tolerance,
    );
    text + &list("written", outcome.files.iter().map(|file| file.display()))
}

fn entries(number: usize) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}
