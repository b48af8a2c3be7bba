//! The convergence of a Newton solve as comma-separated values and as a figure, and that of one linear
//! solve.

use std::io::Write;
use std::path::Path;

use super::plot::{Axis, Rule, Stroke, XyCurve, XyFigure, XyLine, XyPanel};
use crate::files::{IoError, atomic};
use crate::solver::history::History;

/// Residuals below this are rounding noise even of a perfect solve.
const LEAST_RESIDUAL: f64 = 1e-30;

/// Height of the panels in pixels, and the widths of one of two and of one alone.
const HEIGHT: f64 = 443.0;
const WIDTHS: [f64; 2] = [535.0, 835.0];

const NEWTON: XyLine = XyLine { colour: Some(0), stroke: Stroke::Dotted };
const LINEAR: XyLine = XyLine { colour: Some(1), stroke: Stroke::Thin };
const SOLVE: XyLine = XyLine { colour: Some(0), stroke: Stroke::Plain };
const TOLERANCE: XyLine = XyLine { colour: Some(3), stroke: Stroke::Dashed };

const COLUMNS: &str = "step,residual,forcing_term,linear_iterations,\
                       cumulative_linear_iterations,step_length,min_area,folded_cells,seconds";

/// Writes one line for each Newton step, step 0 being the start.
///
/// `residual` is the scaled rms residual after the step, `min_area` and `folded_cells` describe
/// the grid after it, `seconds` is the time of the step in set-up and linear solve. Numbers are
/// written with as many digits as it takes to read back the same bits.
pub(crate) fn write_csv(path: &Path, history: &History) -> Result<(), IoError> {
    atomic::write(path, |out| {
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
    })
}

/// The residual of a Newton solve against its steps and against the linear iterations of all of them,
/// with the linear residual within each step. `tolerance` is the residual below which it has converged.
pub(crate) fn convergence(name: &str, history: &History, tolerance: f64) -> XyFigure {
    let steps = history.steps.iter();
    let by_step = vec![curve(NEWTON, steps.map(|step| [step.step as f64, step.residual]))];
    let legend =
        [(NEWTON, "Newton residual"), (LINEAR, "linear residual"), (TOLERANCE, "tolerance")];
    let (steps, iterations) = (history.newton_iterations(), history.linear_iterations());
    XyFigure {
        name: name.to_owned(),
        summary: format!("{steps} Newton steps   ·   {iterations} linear iterations"),
        legend: legend.map(|(line, name)| (line, name.to_owned())).to_vec(),
        across: 2,
        panel: [WIDTHS[0], HEIGHT],
        panels: vec![
            panel(["Newton steps", "residual"], by_step, tolerance),
            panel(
                ["linear iterations, all steps together", "residual"],
                by_iteration(history),
                tolerance,
            ),
        ],
        same_y: true,
    }
}

/// The relative residual of a linear solve after its iterations. `tolerance` is that at which it was to
/// stop.
pub(crate) fn residuals(
    name: &str,
    summary: &str,
    residuals: &[[f64; 2]],
    tolerance: f64,
) -> XyFigure {
    let curves = vec![curve(SOLVE, residuals.iter().copied())];
    XyFigure {
        name: name.to_owned(),
        summary: summary.to_owned(),
        across: 1,
        panel: [WIDTHS[1], HEIGHT],
        panels: vec![panel(
            ["iterations", "relative residual, dashed: tolerance"],
            curves,
            tolerance,
        )],
        ..XyFigure::default()
    }
}

/// The residual within each linear solve, times the Newton residual it started from, and the Newton
/// residuals.
fn by_iteration(history: &History) -> Vec<XyCurve> {
    let (mut curves, mut newton) = (Vec::new(), Vec::new());
    let (mut iterations, mut start) = (0.0, f64::NAN);
    for step in &history.steps {
        // Methods that check their residual twice an iteration list it twice.
        let spacing = step.linear_iterations / step.linear_residuals.len().max(1) as f64;
        let inner = step.linear_residuals.iter().enumerate();
        let inner =
            inner.map(|(k, relative)| [iterations + (k + 1) as f64 * spacing, start * relative]);
        curves.push(curve(LINEAR, [[iterations, start]].into_iter().chain(inner)));
        iterations += step.linear_iterations;
        newton.push([iterations, step.residual]);
        start = step.residual;
    }
    curves.push(curve(NEWTON, newton));
    curves
}

/// A curve of the residuals that have a place on a logarithmic axis.
fn curve(line: XyLine, points: impl IntoIterator<Item = [f64; 2]>) -> XyCurve {
    let points = points.into_iter().filter(|point| point[1] > LEAST_RESIDUAL).collect();
    XyCurve { line, name: None, points }
}

fn panel([x, y]: [&str; 2], curves: Vec<XyCurve>, tolerance: f64) -> XyPanel {
    let rule = Rule { y: tolerance, colour: TOLERANCE.colour, text: String::new() };
    XyPanel {
        axes: [
            Axis { name: x.to_owned(), logarithmic: false },
            Axis { name: y.to_owned(), logarithmic: true },
        ],
        curves,
        rules: if tolerance > LEAST_RESIDUAL { vec![rule] } else { Vec::new() },
        ..XyPanel::default()
    }
}
