//! The last lines of a run: how good the grid is and what was written.

use gridgen::case::Case;
use gridgen::generate::GridResult;
use gridgen::grid::Verdict;
use gridgen::linear_system::SystemOutcome;
use gridgen::pde::control::Base;
use std::path::PathBuf;

/// How to go on after a failed run.
pub(super) fn failure_hint(case: &Case, outcome: &GridResult) -> String {
    let way = if matches!(outcome.verdict, Verdict::BeyondLimit { .. }) {
        "raise the limit in [quality], or ni and nj"
    } else if !outcome.converged() && outcome.newton_iterations() >= case.newton.max_iterations {
        "allow more steps by newton.max_iterations"
    } else if case.control.base != Base::Marched {
        "control.base = \"marched\", the default, converges where others do not"
    } else {
        "closer wall points, a larger first cell or initial.dissipation, or \
         initial.method = \"normal\" can help"
    };
    format!("{way}. Do not use the failed grid; -v shows each step")
}

/// The compact summary.
pub(super) fn outcome(case: &Case, outcome: &GridResult) -> String {
    let quality = &outcome.quality;
    let failed = if outcome.verdict.is_good() { "" } else { "FAILED, " };
    let corners = match quality.wall_corners {
        0 => String::new(),
        corners => format!(", {} left out", counted(corners as f64, "corner")),
    };
    let mut text = format!(
        "{}: {failed}{}\n\
         \x20 grid          {} x {} points\n\
         \x20 residual      {:.2e} after {}, {}\n\
         \x20 folded cells  {}\n\
         \x20 first cell    {:.4e} to {:.4e}, asked for {:.4e}\n\
         \x20 wall angle    off normal by at most {:.2e} deg, mean {:.2e}{corners}\n\
         \x20 skewness      max {:.3}, 99% below {:.3}, mean {:.4}\n",
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
    );
    text += &written(&outcome.files);
    text
}

/// A number with its noun, which takes an s unless there is one.
fn counted(number: f64, noun: &str) -> String {
    let plural = if number <= 1.0 && number > 0.0 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Seconds of each phase.
pub(super) fn phases<P: AsRef<str>>(timings: &[(P, f64)]) -> String {
    let width = timings.iter().map(|(phase, _)| phase.as_ref().chars().count()).max().unwrap_or(0);
    let line =
        |(phase, seconds): &(P, f64)| format!("time  {:width$}  {seconds:9.3} s\n", phase.as_ref());
    timings.iter().map(line).collect()
}

/// The compact summary of a linear system.
pub(super) fn system(outcome: &SystemOutcome) -> String {
    let report = &outcome.report;
    let (matrix, method) = (&report.matrix, &report.method);
    let verdict = if report.converged { "converged" } else { "FAILED, not converged" };
    let symmetry = if matrix.symmetric { "symmetric" } else { "unsymmetric" };
    let mut text = format!(
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
    text += &written(&outcome.files);
    text
}

fn entries(number: usize) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}

/// The files of a run, or nothing.
fn written(files: &[PathBuf]) -> String {
    let lines: String =
        files.iter().map(|file| ["  ", &file.to_string_lossy(), "\n"].concat()).collect();
    if lines.is_empty() { lines } else { ["written:\n", &lines].concat() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

    use std::path::Path;

    use gridgen::grid::quality::Quality;
    use gridgen::grid::{Grid, Seam, Topology};
    use gridgen::report::Timing;
    use gridgen::solver::NewtonStop;
    use gridgen::solver::history::{History, NewtonStep};

    use super::*;

    fn case() -> Case {
        Case::from_toml("geometry.naca = '0012'", Path::new("wing.toml"), &[]).unwrap()
    }

    /// Of so many steps with 2.5 linear iterations each.
    fn history(steps: usize) -> History {
        let step = |step| NewtonStep {
            step,
            residual: 3.1e-12,
            linear_iterations: if step > 0 { 2.5 } else { 0.0 },
            ..NewtonStep::default()
        };
        History { steps: (0..=steps).map(step).collect() }
    }

    fn good() -> GridResult {
        GridResult {
            grid: Grid::new(Topology::O(Seam::Held), 3, 2),
            verdict: Verdict::Good,
            folded_cells: 0,
            stop: NewtonStop::Converged,
            history: history(5),
            files: vec![PathBuf::from("output/wing/wing.vts")],
            timing: Timing::default(),
            state: Vec::new(),
            system: None,
            quality: Quality {
                folded_cells: 0,
                min_jacobian: 1e-9,
                max_skewness: 0.908,
                max_skewness_at: [0, 0],
                wall_corners: 1,
                p99_skewness: 0.138,
                mean_skewness: 0.0242,
                wall_angle_error_max_deg: 2e-6,
                wall_angle_error_mean_deg: 1e-7,
                first_cell_min: 1e-5,
                first_cell_max: 1.00002e-5,
                max_aspect_ratio: 1e4,
                max_growth: 1.6,
                max_growth_i: 1.6,
                max_growth_j: 1.2,
                far_field_min: 15.0,
                far_field_max: 15.0,
            },
            notices: Vec::new(),
        }
    }

    #[test]
    fn a_converged_grid_is_summed_up() {
        let text = outcome(&case(), &good());

        insta::assert_snapshot!(text, @r"
        wing: converged
          grid          257 x 129 points
          residual      3.10e-12 after 5 Newton steps, 12.5 linear iterations
          folded cells  0
          first cell    1.0000e-5 to 1.0000e-5, asked for 1.0000e-5
          wall angle    off normal by at most 2.00e-6 deg, mean 1.00e-7, 1 corner left out
          skewness      max 0.908, 99% below 0.138, mean 0.0242
        written:
          output/wing/wing.vts
        ");
    }

    #[test]
    fn a_grid_that_is_not_good_is_a_failure_whatever_else_is_said() {
        let folded = GridResult { verdict: Verdict::Folded { cells: 3 }, ..good() };

        assert!(outcome(&case(), &folded).starts_with("wing: FAILED, folded\n"));
    }

    #[test]
    fn one_step_is_singular() {
        assert_eq!(counted(1.0, "step"), "1 step");
        assert_eq!(counted(0.0, "step"), "0 steps");
        assert_eq!(counted(12.5, "step"), "12.5 steps");
    }

    #[test]
    fn the_way_out_of_a_failure_depends_on_its_cause() {
        let verdict = Verdict::NotConverged { reason: "30 steps taken".into() };
        let stopped = GridResult { verdict, stop: NewtonStop::NotFinite, ..good() };
        let at_the_limit = GridResult { history: history(30), ..stopped.clone() };
        let text = "geometry.naca = '0012'\ncontrol.base = 'laplace'";
        let laplace = Case::from_toml(text, Path::new("wing.toml"), &[]).unwrap();

        assert!(failure_hint(&case(), &at_the_limit).contains("newton.max_iterations"));
        assert!(failure_hint(&laplace, &stopped).contains("control.base"));
        assert!(failure_hint(&case(), &stopped).contains("initial.method"));
    }

    #[test]
    fn the_times_of_the_phases_are_aligned() {
        insta::assert_snapshot!(phases(&[("initial grid", 0.25), ("solve", 12.0)]), @r"
        time  initial grid      0.250 s
        time  solve            12.000 s
        ");
    }
}
