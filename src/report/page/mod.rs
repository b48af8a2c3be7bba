//! `report.html`: a run on one page that needs no other file.
//!
//! Pictures are drawn into the page as SVG. Their colours are exchanged by the page's style on a
//! dark ground, so that there is one set of pictures for both.

mod overset;

use std::io::Write;
use std::path::Path;

pub(crate) use self::overset::AssemblyPage;

use super::plot::{self, Picture};
use super::{Artifacts, Figures, Report, Timing, history::convergence};
use crate::files::{IoError, atomic};
use crate::grid::Verdict;
use crate::solver::history::History;

const STYLE: &str = include_str!("style.css");

#[derive(Clone, Copy)]
pub(crate) struct Page<'a> {
    pub(crate) report: &'a Report,
    pub(crate) artifacts: &'a Artifacts<'a>,
    pub(crate) figures: &'a Figures,
    pub(crate) case: &'a str,
}

/// Writes the text of a page.
fn write(path: &Path, text: Result<String, plot::DrawError>) -> Result<(), IoError> {
    let text = text.map_err(|error| error.of(path))?;
    atomic::write(path, |out| out.write_all(text.as_bytes()))
}

/// The head and the foot of a page.
struct Frame<'a> {
    name: &'a str,
    verdict: &'a Verdict,
    /// The grids of the page.
    about: &'a str,
    version: &'a str,
    backend: &'a str,
    threads: usize,
}

impl Frame<'_> {
    /// The page with these sections.
    fn around(&self, sections: &[String]) -> String {
        let Self { about, threads, .. } = self;
        let [name, version, backend, label, reason] = [
            self.name,
            self.version,
            self.backend,
            self.verdict.label(),
            &self.verdict.to_string(),
        ]
        .map(escaped);
        let (class, not) =
            if self.verdict.is_good() { ("good", "") } else { ("bad", ": do not use") };
        let plural = if *threads == 1 { "" } else { "s" };
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{name} – gridgen</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n\
             <header><h1>{name}</h1> <span class=\"verdict {class}\">{label}{not}</span>\n\
             <span class=\"about\">{about}; {reason}</span></header>\n{}\
             <footer>gridgen {version} on {backend}, {threads} thread{plural}</footer>\n</body>\n</html>\n",
            dark_pictures(),
            sections.concat(),
        )
    }
}

impl Page<'_> {
    /// Writes the page.
    ///
    /// # Errors
    /// [`IoError`] when the page cannot be drawn or written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), IoError> {
        write(path, self.text())
    }

    fn text(&self) -> Result<String, plot::DrawError> {
        let &Artifacts { name, history, tolerance, .. } = self.artifacts;
        let shown = |picture: &Picture| picture.svg().map(|svg| figure(&svg));
        let drawn = |picture: &Option<Picture>| picture.as_ref().map(shown).transpose();
        let grid_picture = drawn(&self.figures.grid)?.unwrap_or_default();
        let maps = drawn(&self.figures.quality)?.unwrap_or_default();
        let convergence = shown(&convergence(name, history, tolerance).picture())?;
        let (report, largest) = (self.report, self.figures.nonorthogonality);
        let sections = [
            section("", &facts(report, largest)),
            section("Notes", &notes(&report.notes)),
            section("Grid", &grid_picture),
            section("Quality", &quality_table(report, largest)),
            section("Quality maps", &maps),
            section("Convergence", &[convergence, steps_table(history)].concat()),
            section("Time", &timing_table(&report.timing)),
            section("Case", &["<pre>", &escaped(self.case), "</pre>"].concat()),
        ];
        let topology = match report.grid.topology {
            "half" => "Half O",
            other => other,
        };
        let frame = Frame {
            name: &report.name,
            verdict: &report.verdict,
            about: &format!("{topology}-grid of {} × {} points", report.grid.ni, report.grid.nj),
            version: &report.version,
            backend: &report.backend,
            threads: report.threads,
        };
        Ok(frame.around(&sections))
    }
}

/// A section with a heading; nothing where there is nothing to show.
fn section(heading: &str, contents: &str) -> String {
    if contents.is_empty() {
        return String::new();
    }
    let heading =
        if heading.is_empty() { String::new() } else { ["<h2>", heading, "</h2>\n"].concat() };
    ["<section>\n", &heading, contents, "\n</section>\n"].concat()
}

/// A picture without what only a file of its own needs.
fn figure(svg: &str) -> String {
    let start = svg.find("<svg").unwrap_or(0);
    ["<figure>", svg[start..].trim_end(), "</figure>\n"].concat()
}

/// The style of the pictures on a dark ground.
fn dark_pictures() -> String {
    let rules = plot::COLOURS.map(|(light, dark)| {
        let light = plot::hexadecimal(light);
        ["fill", "stroke"].map(|what| format!("svg [{what}=\"{light}\"] {{ {what}: {dark}; }}\n"))
    });
    format!("@media (prefers-color-scheme: dark) {{\n{}}}\n", rules.concat().concat())
}

/// Text that is no markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The numbers that matter most.
fn facts(report: &Report, nonorthogonality: f64) -> String {
    let quality = &report.quality;
    let facts = [
        ("folded cells", quality.folded_cells.to_string()),
        ("residual reached", format!("{:.2e}", report.newton.residual)),
        ("Newton steps", report.newton.iterations.to_string()),
        ("linear iterations", report.linear.iterations.to_string()),
        ("first cell, chords", format!("{:.3e}", quality.first_cell_min)),
        ("wall angle error at most", format!("{:.1e}°", quality.wall_angle_error_max_deg)),
        ("skewness at most", format!("{:.3}", quality.max_skewness)),
        ("non-orthogonality at most", format!("{nonorthogonality:.1}°")),
    ];
    let facts =
        facts.map(|(name, value)| format!("<div><b>{value}</b><span>{name}</span></div>\n"));
    format!("<div class=\"facts\">\n{}</div>", facts.concat())
}

fn notes(notes: &[String]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let items = notes.iter().map(|note| format!("<li>{}</li>\n", escaped(note)));
    format!("<ul>\n{}</ul>", items.collect::<String>())
}

/// All measures and what they mean.
fn quality_table(report: &Report, nonorthogonality: f64) -> String {
    let q = &report.quality;
    let [i, j] = q.max_skewness_at;
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
            format!("{nonorthogonality:.2}°"),
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
        ("growth along i, largest", format!("{:.3}", q.max_growth_i), "of consecutive edges"),
        ("growth along j, largest", format!("{:.3}", q.max_growth_j), "of consecutive edges"),
        (
            "waves, largest",
            format!("{:.1}°", q.waves_deg),
            &*format!("turning of a line against its sense; lines above 1°: {}", q.wavy_lines),
        ),
        ("far field, nearest", format!("{:.4}", q.far_field_min), "chords from mid-chord"),
        ("far field, farthest", format!("{:.4}", q.far_field_max), "chords from mid-chord"),
    ];
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

/// A table of rows, with the class of each column in the style.
fn table<const N: usize>(
    classes: [&str; N],
    heads: Option<[&str; N]>,
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let row = |tag: &str, cells: [String; N]| {
        let cells = cells.into_iter().zip(classes);
        let cells = cells.map(|(cell, class)| format!("<{tag} class=\"{class}\">{cell}</{tag}>"));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let heads = heads.map(|heads| row("th", heads.map(str::to_owned)));
    let rows = rows.into_iter().map(|cells| row("td", cells));
    format!("<table>\n{}</table>", heads.into_iter().chain(rows).collect::<String>())
}
