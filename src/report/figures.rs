//! Tables and pictures of a run, by the names of their files: the convergence of a Newton solve as comma-separated
//! values and as a figure, and that of one linear solve.

use std::io::Write;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::plot::{
    Artifacts, Axis, OversetPictures, Picture, Rule, Stroke, XyCurve, XyFigure, XyLine, XyPanel,
};
use crate::files::{IoError, WriteFault, atomic};
use crate::solver::history::History;

/// A table or a picture of a run.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportFile {
    /// Its name without an ending.
    pub stem: String,
    /// The endings of its files.
    pub ends: &'static [&'static str],
    /// Whether it shows the grid: its name tells where that is not good.
    pub shows_grid: bool,
}

impl ReportFile {
    /// The names of its files, for a good grid or for one that is not.
    pub fn names(&self, good: bool) -> Vec<String> {
        let failed = if good || !self.shows_grid { "" } else { ".failed" };
        self.ends.iter().map(|end| [&self.stem, failed, end].concat()).collect()
    }
}

/// The tables and pictures of a run, as far as pictures and maps of quality are wanted. A section is one element,
/// without a name; gaps that turn out to be none have no picture.
#[doc(hidden)]
pub fn report_files([pictures, maps]: [bool; 2], elements: &[&str]) -> Vec<ReportFile> {
    let ends: &[&str] = if pictures { &[".csv", ".svg"] } else { &[".csv"] };
    let solve = |name: &&str| ReportFile { stem: of_solve(name), ends, shows_grid: false };
    let mut files: Vec<ReportFile> = elements.iter().map(solve).collect();
    let pairs = elements.iter().enumerate().flat_map(|(k, a)| {
        elements[k + 1..].iter().map(move |b| of_gap(&[(*a).to_owned(), (*b).to_owned()]))
    });
    let shown = pictures.then(|| std::iter::once("grid".to_owned()).chain(pairs));
    let shown = shown.into_iter().flatten().chain(maps.then(|| "quality".to_owned()));
    let picture = |stem| ReportFile { stem, ends: &[".svg", ".png"], shows_grid: true };
    files.extend(shown.map(picture));
    files
}

/// Name of the files on the solve for an element.
fn of_solve(element: &str) -> String {
    let parted = if element.is_empty() { "" } else { "." };
    ["convergence", parted, element].concat()
}

fn of_gap([a, b]: &[String; 2]) -> String {
    ["gap.", a, "-", b].concat()
}

/// The solves of a run and its pictures, by the names of their files.
#[doc(hidden)]
#[derive(Default)]
pub struct Figures {
    solves: Vec<(String, History)>,
    pictures: Vec<(String, Picture)>,
    /// Largest non-orthogonality of a cell in degrees, with the maps of quality.
    pub(super) nonorthogonality: Option<f64>,
}

impl Figures {
    /// The views of a grid and the maps of its quality, as far as they are wanted.
    pub fn of(grid: &Artifacts<'_>, [wanted, maps]: [bool; 2]) -> Self {
        let views = grid.views();
        let (lines, quality) = rayon::join(
            || wanted.then(|| grid.grid_picture(&views)),
            || maps.then(|| grid.quality_picture(&views)),
        );
        let (quality, nonorthogonality) = quality.unzip();
        let named = [("grid", lines), ("quality", quality)];
        let pictures =
            named.into_iter().filter_map(|(name, picture)| Some((name.to_owned(), picture?)));
        Self { pictures: pictures.collect(), nonorthogonality, ..Self::default() }
    }

    /// Views of the grids of several elements, and of the gaps between them.
    pub(crate) fn of_elements(all: &OversetPictures<'_>) -> Self {
        let gaps = all.checks.gaps.iter().map(|gap| (of_gap(&gap.elements), all.gap(gap)));
        let pictures = std::iter::once(("grid".to_owned(), all.whole())).chain(gaps).collect();
        Self { pictures, ..Self::default() }
    }

    /// Adds the solve for an element, which has a name among several.
    #[must_use]
    pub fn with_solve(mut self, element: &str, solved: &Artifacts<'_>) -> Self {
        let figure = convergence(solved.name, solved.history, solved.tolerance);
        self.solves.push((of_solve(element), solved.history.clone()));
        self.pictures.push((of_solve(element), figure.picture()));
        self
    }

    /// The picture of this name, for a page, or those whose names begin with it, where it ends in a dot.
    pub(super) fn shown(&self, stem: &str) -> Result<String, WriteFault> {
        let named = |name: &str| name == stem || (stem.ends_with('.') && name.starts_with(stem));
        let shown = self.pictures.iter().filter(|(name, _)| named(name));
        shown.map(|(_, picture)| picture.figure()).collect()
    }

    /// The picture of the solve for an element, for a page, and its steps.
    pub(super) fn solve(&self, element: &str) -> Result<(String, Option<&History>), WriteFault> {
        let stem = of_solve(element);
        let solve = self.solves.iter().find(|(name, _)| *name == stem);
        Ok((self.shown(&stem)?, solve.map(|(_, history)| history)))
    }

    /// Writes the files of a table or a picture, if it is among these; returns them.
    pub fn write(
        &self,
        file: &ReportFile,
        good: bool,
        folder: &Path,
    ) -> Result<Vec<PathBuf>, IoError> {
        let solve = self.solves.iter().find(|(stem, _)| *stem == file.stem);
        let picture = self.pictures.iter().find(|(stem, _)| *stem == file.stem);
        let files = file.ends.par_iter().zip(file.names(good)).map(|(end, name)| {
            let path = folder.join(name);
            match (*end, solve, picture) {
                (".csv", Some((_, history)), _) => write_csv(&path, history)?,
                (".svg" | ".png", _, Some((_, picture))) => picture.write(&path)?,
                _ => return Ok(None),
            }
            Ok(Some(path))
        });
        Ok(files.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}

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
fn write_csv(path: &Path, history: &History) -> Result<(), IoError> {
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
fn convergence(name: &str, history: &History, tolerance: f64) -> XyFigure {
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
