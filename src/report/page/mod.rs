//! `report.html`: a run on one page that needs nothing beside it.
//!
//! Pictures are drawn into the page as SVG. Their colours are exchanged by the page's style on a
//! dark ground, so that there is one set of pictures for both.

use std::io::Write;
use std::path::Path;

use super::plot::{self, GridFigure, Picture, QualityFigure};
use super::{Artifacts, Report, Timing, history::convergence};
use crate::files::{IoError, atomic};
use crate::grid::quality::nonorthogonality;
use crate::solver::history::History;

const STYLE: &str = include_str!("style.css");

/// The colours of page and pictures on a dark ground: the page's by the name of a variable, the
/// pictures' by the name of the colour they replace.
const DARK_PAGE: [(&str, &str); 9] = [
    ("ground", "#0f1318"),
    ("paper", "#171c23"),
    ("text", "#e3e8ef"),
    ("label", "#9aa6b5"),
    ("rule", "#2b323c"),
    ("frame", "#66717f"),
    ("good", "#1f8f5f"),
    ("bad", "#d2473b"),
    ("code", "#11161c"),
];
const DARK_PICTURES: [(&str, &str); 10] = [
    ("paper", "#171c23"),
    ("text", "#e3e8ef"),
    ("label", "#9aa6b5"),
    ("frame", "#66717f"),
    ("rule", "#2b323c"),
    ("grid", "#86b1e0"),
    ("body", "#262c35"),
    ("wall", "#ff6b57"),
    ("folded", "#ffa640"),
    ("linear", "#5d8fc0"),
];

/// What a page shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page<'a> {
    /// The run.
    pub(crate) report: &'a Report,
    /// The grid and its history.
    pub(crate) artifacts: &'a Artifacts<'a>,
    /// The resolved case as text.
    pub(crate) case: &'a str,
}

/// Writes the page.
///
/// # Errors
///
/// [`IoError`] when the page cannot be drawn or written.
pub(crate) fn write(path: &Path, page: &Page<'_>) -> Result<(), IoError> {
    let text = page.text().map_err(|error| error.of(path))?;
    atomic::write(path, |out| out.write_all(text.as_bytes()))
}

impl Page<'_> {
    fn text(&self) -> Result<String, plot::DrawError> {
        let &Artifacts { name, grid, quality, history, tolerance, good, .. } = self.artifacts;
        let grid_figure = GridFigure { name, grid, quality, good };
        let off_normal = nonorthogonality(grid);
        let maps = QualityFigure { grid: grid_figure, nonorthogonality: &off_normal };
        let shown = |picture: Picture| picture.svg().map(|svg| figure(&svg));
        let grid_picture = shown(grid_figure.picture())?;
        let maps = shown(maps.picture())?;
        let convergence = shown(convergence(name, history, tolerance).picture())?;
        let report = self.report;
        let largest = off_normal.into_iter().fold(0.0, f64::max);
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
        let title = escaped(&report.name);
        Ok([
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
            &title,
            " – gridgen</title>\n<style>\n",
            STYLE,
            &dark(),
            "</style>\n</head>\n<body>\n",
            &header(report),
            &sections.concat(),
            &format!(
                "<footer>gridgen {} on {}</footer>\n",
                escaped(&report.version),
                machine(report)
            ),
            "</body>\n</html>\n",
        ]
        .concat())
    }
}

/// Name and verdict.
fn header(report: &Report) -> String {
    let label = report.verdict.label();
    let (class, verdict) = if report.verdict.is_good() {
        ("good", label.to_owned())
    } else {
        ("bad", format!("{label}: do not use"))
    };
    let topology = match report.grid.topology {
        "half" => "Half O",
        other => other,
    };
    format!(
        "<header><h1>{}</h1> <span class=\"verdict {class}\">{verdict}</span>\n\
         <span class=\"about\">{}-grid of {} × {} points; {}</span></header>\n",
        escaped(&report.name),
        topology,
        report.grid.ni,
        report.grid.nj,
        escaped(&report.verdict.to_string()),
    )
}

fn machine(report: &Report) -> String {
    let plural = if report.threads == 1 { "" } else { "s" };
    format!("{}, {} thread{plural}", escaped(&report.backend), report.threads)
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

/// The style on a dark ground.
fn dark() -> String {
    let mut style = String::from("@media (prefers-color-scheme: dark) {\n:root {");
    for (name, colour) in DARK_PAGE {
        style += &[" --", name, ": ", colour, ";"].concat();
    }
    style += " }\n";
    for (name, colour) in plot::COLOURS {
        let dark = DARK_PICTURES.iter().find(|(other, _)| *other == name);
        let light = plot::hexadecimal(colour);
        for attribute in ["fill", "stroke"] {
            if let Some((_, dark)) = dark {
                let which = ["svg [", attribute, "=\"", &light, "\"]"].concat();
                style += &[&which, " { ", attribute, ": ", dark, "; }\n"].concat();
            }
        }
    }
    style + "}\n"
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

/// What was repaired or chosen on the way.
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
        ("far field, nearest", format!("{:.4}", q.far_field_min), "chords from mid-chord"),
        ("far field, farthest", format!("{:.4}", q.far_field_max), "chords from mid-chord"),
    ];
    let rows = rows.map(|(name, value, meaning)| {
        format!(
            "<tr><td>{name}</td><td class=\"number\">{value}</td><td class=\"meaning\">{meaning}</td>\
             </tr>\n"
        )
    });
    format!("<table>\n{}</table>", rows.concat())
}

/// One row a Newton step.
fn steps_table(history: &History) -> String {
    let heads = [
        "step",
        "residual",
        "forcing term",
        "linear iterations",
        "step length",
        "smallest area",
        "folded",
    ]
    .map(|head| format!("<th class=\"number\">{head}</th>"));
    let rows = history.steps.iter().map(|s| {
        let cells = [
            s.step.to_string(),
            format!("{:.3e}", s.residual),
            format!("{:.1e}", s.forcing_term),
            s.linear_iterations.to_string(),
            s.step_length.to_string(),
            format!("{:.2e}", s.min_area),
            s.folded_cells.to_string(),
        ];
        let cells = cells.map(|cell| format!("<td class=\"number\">{cell}</td>"));
        format!("<tr>{}</tr>\n", cells.concat())
    });
    format!("<table>\n<tr>{}</tr>\n{}</table>", heads.concat(), rows.collect::<String>())
}

/// Seconds of each phase.
fn timing_table(timing: &Timing) -> String {
    let rows = timing.phases().iter().map(|(phase, seconds)| {
        format!("<tr><td>{phase}</td><td class=\"number\">{seconds:.3} s</td></tr>\n")
    });
    format!("<table>\n{}</table>", rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        assert_eq!(escaped("<b>\"a&b\""), "&lt;b&gt;&quot;a&amp;b&quot;");
    }

    #[test]
    fn every_colour_has_another_on_a_dark_ground() {
        let names = plot::COLOURS.map(|(name, _)| name);

        assert_eq!(DARK_PICTURES.map(|(name, _)| name), names);
    }
}
