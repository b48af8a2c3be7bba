//! `report.html`: a run on one page that needs no other file.
//!
//! The grid is in the page, compressed, and a script shows it in place of its picture, which is printed and
//! stays where the script does not run.
//!
//! Pictures are drawn into the page as SVG. Their colours are exchanged by the page's style on a
//! dark ground, so that there is one set of pictures for both.

mod parts;

use std::io::Write;
use std::iter;
use std::path::Path;

use self::parts::{escaped, findings, of_gaps, placed, section, table, zones_table};
use super::figures::Figures;
use super::json::{AssemblyReport, Report, RunReport, Timing};
use super::plot::{compared, palette};
use crate::diagnostics::counted;
use crate::files::{IoError, WriteFault, atomic};
use crate::grid::quality::Growth;
use crate::grid::{Grid, Verdict};
use crate::solver::history::History;
use crate::viewer::{self, Scene};

const STYLE: &str = include_str!("style.css");

/// A page on the grid of a section, or on those of several elements.
pub(crate) struct Page<'a> {
    pub(crate) report: &'a RunReport,
    pub(crate) figures: &'a Figures,
    /// The grids to look at.
    pub(crate) scene: Scene<'a>,
    pub(crate) case: &'a str,
}

impl Page<'_> {
    pub(crate) fn write(&self, path: &Path) -> Result<(), IoError> {
        let text = self.text().map_err(|fault| fault.at(path))?;
        atomic::write(path, |out| out.write_all(text.as_bytes()))
    }

    fn text(&self) -> Result<String, WriteFault> {
        let largest = self.figures.nonorthogonality;
        let pictures =
            || rayon::join(|| self.figures.shown("grid"), || self.figures.shown("quality"));
        let (scene, (lines, maps)) = rayon::join(|| self.scene.element("", ""), pictures);
        let (grid, maps) = (section("Grid", &[scene, lines?].concat()), &maps?);
        let mut sections = Vec::new();
        let (timing, frame) = match self.report {
            RunReport::Section(report) => {
                let Report { name, version, verdict, backend, threads, timing, .. } = &**report;
                sections.push(section("", &facts(report, largest)));
                sections.extend([section("Notes", &notes(&report.notes)), grid]);
                let topology = match report.grid.topology {
                    "half" => "Half O",
                    other => other,
                };
                sections.extend(self.on_grid(report, "", maps)?);
                let [ni, nj] = [report.grid.ni, report.grid.nj];
                let behind = report
                    .grid
                    .behind
                    .map(|[ni, nj]| format!(" with a block of {ni} × {nj} behind the base"));
                let others = report.grid.blocks.len();
                let around = (others > 0).then(|| format!(" and {others} blocks around it"));
                let behind = behind.or(around).unwrap_or_default();
                let about = format!("{topology}-grid of {ni} × {nj} points{behind}");
                (timing, PageFrame { name, verdict, about, version, backend, threads: *threads })
            }
            RunReport::Elements(report) => {
                let AssemblyReport { name, version, verdict, backend, threads, timing, .. } =
                    &**report;
                let checks = &report.overset;
                sections.push(section("Findings", &findings(&checks.findings)));
                sections.extend([section("Notes", &notes(&report.notes)), grid]);
                sections.push(section("Gaps", &of_gaps(checks, &self.figures.shown("gap.")?)));
                sections.push(section("Zones", &zones_table(&checks.zones)));
                for element in &report.elements {
                    let report = &element.report;
                    let heading = escaped(&["Element ", &report.name].concat());
                    let facts = [placed(element), facts(report, None)].concat();
                    sections.push(section(&heading, &facts));
                    sections.extend(self.on_grid(report, &report.name, maps)?);
                }
                let elements: Vec<&str> =
                    report.elements.iter().map(|element| element.report.name.as_str()).collect();
                let background = if report.background.is_some() { " and a background" } else { "" };
                let about = format!("overset grids of {}{background}", elements.join(", "));
                (timing, PageFrame { name, verdict, about, version, backend, threads: *threads })
            }
        };
        sections.push(section("Time", &timing_table(timing)));
        sections.push(section("Case", &["<pre>", &escaped(self.case), "</pre>"].concat()));
        Ok(frame.around(&sections))
    }

    /// Sections on the grid of an element, which has a name among several, with the maps of its quality.
    fn on_grid(
        &self,
        report: &Report,
        element: &str,
        maps: &str,
    ) -> Result<[String; 3], WriteFault> {
        let figures = self.figures;
        let (picture, history) = figures.solve(element)?;
        let convergence = [picture, history.map_or_else(String::new, steps_table)].concat();
        Ok([
            section("Quality", &quality_table(report, figures.nonorthogonality)),
            section("Quality maps", maps),
            section("Convergence", &convergence),
        ])
    }
}

/// The head and the foot of a page.
struct PageFrame<'a> {
    name: &'a str,
    verdict: &'a Verdict,
    /// The grids of the page.
    about: String,
    version: &'a str,
    backend: &'a str,
    threads: usize,
}

impl PageFrame<'_> {
    /// The page with these sections.
    fn around(&self, sections: &[String]) -> String {
        let [name, version, backend, label, reason, about] = [
            self.name,
            self.version,
            self.backend,
            self.verdict.label(),
            &self.verdict.to_string(),
            &self.about,
        ]
        .map(escaped);
        let (class, not) =
            if self.verdict.is_good() { ("good", "") } else { ("bad", ": do not use") };
        let threads = counted(self.threads as f64, "thread");
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{name} – gridgen</title>\n<style>\n{STYLE}{}{}</style>\n</head>\n<body>\n\
             <header><h1>{name}</h1> <span class=\"verdict {class}\">{label}{not}</span>\n\
             <span class=\"about\">{about}; {reason}</span></header>\n{}\
             <footer>gridgen {version} on {backend}, {threads}</footer>\n\
             <script>\n{}</script>\n</body>\n</html>\n",
            viewer::STYLE,
            dark_pictures(),
            sections.concat(),
            viewer::SCRIPT,
        )
    }
}

/// A grid before and after a change, of one size.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// Name of the mesh.
    pub name: &'a str,
    /// The change, a clause.
    pub about: &'a str,
    /// Both grids.
    pub grids: [&'a Grid; 2],
    /// Measures before and after, with their names.
    pub measures: &'a [[String; 3]],
    /// The verdict on the changed grid.
    pub verdict: &'a Verdict,
}

impl Comparison<'_> {
    /// Writes the page, and the picture in it to another file.
    ///
    /// # Errors
    /// [`IoError`] when one cannot be drawn or written.
    pub fn write(&self, page: &Path, picture: &Path) -> Result<(), IoError> {
        let Self { name, about, grids: [before, after], measures, verdict } = *self;
        let drawn = compared(name, about, self.grids);
        drawn.write(picture)?;
        let figure = drawn.figure().map_err(|fault| fault.at(page))?;
        let scene = Scene { name, unit: 1.0, zones: vec![("", after)], before: vec![before] };
        let rows =
            table(["name", "number", "number"], Some(["", "before", "after"]), measures.to_vec());
        let sections = [
            section("Measures", &rows),
            section("Grid", &[scene.element("", ""), figure].concat()),
        ];
        let (version, about) = (env!("CARGO_PKG_VERSION"), about.to_owned());
        let threads = rayon::current_num_threads();
        let frame = PageFrame { name, verdict, about, version, backend: "cpu", threads };
        let text = frame.around(&sections);
        atomic::write(page, |out| out.write_all(text.as_bytes()))
    }
}

fn dark_pictures() -> String {
    let rules = palette::COLOURS.map(|(light, dark)| {
        let light = palette::hexadecimal(light);
        ["fill", "stroke"].map(|what| format!("svg [{what}=\"{light}\"] {{ {what}: {dark}; }}\n"))
    });
    format!("@media (prefers-color-scheme: dark) {{\n{}}}\n", rules.concat().concat())
}

fn facts(report: &Report, nonorthogonality: Option<f64>) -> String {
    let (quality, grid) = (&report.quality, &report.grid);
    let others = grid.blocks.iter().map(|block| [block.ni, block.nj]);
    let blocks = iter::once([grid.ni, grid.nj]).chain(grid.behind).chain(others);
    let cells: usize = blocks.map(|[ni, nj]| (ni - 1) * (nj - 1)).sum();
    let facts = [
        ("cells", cells.to_string()),
        ("first cell, chords", format!("{:.3e}", quality.first_cell_min)),
        ("folded cells", quality.folded_cells.to_string()),
        ("wall angle error at most", format!("{:.1e}°", quality.wall_angle_error_max_deg)),
        ("skewness at most", format!("{:.3}", quality.max_skewness)),
        ("growth along i at most", format!("{:.2}", quality.max_growth_i)),
        ("growth along j at most", format!("{:.2}", quality.max_growth_j)),
        ("waves at most", format!("{:.1}°", quality.waves_deg)),
    ];
    let layer =
        quality.boundary_layer_cells.map(|n| ("cells in the boundary layer", n.to_string()));
    let largest = nonorthogonality.map(|largest| format!("{largest:.1}°"));
    let largest = largest.map(|largest| ("non-orthogonality at most", largest));
    let far = || ("far field from, chords", format!("{:.1}", quality.far_field_min));
    let far = grid.blocks.is_empty().then(far);
    let facts = facts.into_iter().chain(far).chain(layer).chain(largest);
    let facts =
        facts.map(|(name, value)| format!("<div><b>{value}</b><span>{name}</span></div>\n"));
    format!("<div class=\"facts\">\n{}</div>", facts.collect::<String>())
}

fn notes(notes: &[String]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let items = notes.iter().map(|note| format!("<li>{}</li>\n", escaped(note)));
    format!("<ul>\n{}</ul>", items.collect::<String>())
}

fn quality_table(report: &Report, nonorthogonality: Option<f64>) -> String {
    let q = &report.quality;
    let [i, j] = q.max_skewness_at;
    let growth = |direction: usize| {
        let of_edges = "of consecutive edges".to_owned();
        let found = report.grid.growth.map(|growth| growth[direction]);
        found.map_or(of_edges.clone(), |Growth { p99, node: [i, j], .. }| {
            format!("{of_edges}, at the node ({i}, {j}); 99 % are below {p99:.3}")
        })
    };
    let [along_i, along_j] = [growth(0), growth(1)];
    let rows = [
        ("folded cells", q.folded_cells.to_string(), "a corner determinant is not positive"),
        ("smallest determinant", format!("{:.3e}", q.min_jacobian), "of a cell's corners"),
        (
            "skewness, largest",
            format!("{:.4}", q.max_skewness),
            &*format!("equiangle, 0 is a rectangle; in cell ({i}, {j})"),
        ),
        ("skewness, 99 %", format!("{:.4}", q.p99_skewness), "of the cells are below"),
        ("skewness, mean", format!("{:.4}", q.mean_skewness), ""),
        (
            "non-orthogonality, largest",
            nonorthogonality.map_or_else(String::new, |largest| format!("{largest:.2}°")),
            "between a face's normal and the line of the centres beside it",
        ),
        (
            "wall angle error, largest",
            format!("{:.2e}°", q.wall_angle_error_max_deg),
            &*format!(
                "of the first grid line off the normal; corners left out: {}",
                q.wall_corners
            ),
        ),
        ("wall angle error, mean", format!("{:.2e}°", q.wall_angle_error_mean_deg), ""),
        ("first cell, lowest", format!("{:.5e}", q.first_cell_min), "chords"),
        ("first cell, highest", format!("{:.5e}", q.first_cell_max), "chords"),
        (
            "aspect ratio, largest",
            format!("{:.3e}", q.max_aspect_ratio),
            "longest over shortest edge",
        ),
        ("growth along i, largest", format!("{:.3}", q.max_growth_i), &*along_i),
        ("growth along j, largest", format!("{:.3}", q.max_growth_j), &*along_j),
        (
            "waves, largest",
            format!("{:.1}°", q.waves_deg),
            &*format!("turning of a line against its sense; lines above 1°: {}", q.wavy_lines),
        ),
        (
            "boundary layer",
            q.boundary_layer_cells.map_or_else(String::new, |cells| cells.to_string()),
            "cells within 0.37 chords/Re^(1/5) of the wall, on the line that has fewest",
        ),
        ("far field, nearest", format!("{:.4}", q.far_field_min), "chords from mid-chord"),
        ("far field, farthest", format!("{:.4}", q.far_field_max), "chords from mid-chord"),
    ];
    let rows = rows.into_iter().filter(|(_, value, _)| !value.is_empty());
    let rows = rows.map(|(name, value, meaning)| [name.to_owned(), value, meaning.to_owned()]);
    table(["name", "number", "meaning"], None, rows)
}

fn steps_table(history: &History) -> String {
    let heads = [
        "step",
        "residual",
        "forcing term",
        "linear iterations",
        "step length",
        "smallest area",
        "folded",
    ];
    let rows = history.steps.iter().map(|s| {
        [
            s.step.to_string(),
            format!("{:.3e}", s.residual),
            format!("{:.1e}", s.forcing_term),
            s.linear_iterations.to_string(),
            s.step_length.to_string(),
            format!("{:.2e}", s.min_area),
            s.folded_cells.to_string(),
        ]
    });
    table(["number"; 7], Some(heads), rows)
}

fn timing_table(timing: &Timing) -> String {
    let rows = timing.phases().iter();
    let rows = rows.map(|(phase, seconds)| [(*phase).to_owned(), format!("{seconds:.3} s")]);
    table(["name", "number"], None, rows)
}
