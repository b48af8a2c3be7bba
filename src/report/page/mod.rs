//! `report.html`: a run on one page that needs nothing beside it.
//!
//! Pictures are drawn into the page as SVG. Their colours are exchanged by the page's style on a
//! dark ground, so that there is one set of pictures for both.

mod tables;

use std::io::Write;
use std::path::Path;

use self::tables::{facts, notes, quality_table, steps_table, timing_table};
use super::Artifacts;
use super::Report;
use super::plot::{self, Figure, GridFigure, QualityFigure};
use crate::files::{IoError, atomic};
use crate::grid::quality::nonorthogonality;

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
pub struct Page<'a> {
    /// The run.
    pub report: &'a Report,
    /// The grid and its history.
    pub artifacts: &'a Artifacts<'a>,
    /// The resolved case as text.
    pub case: &'a str,
}

/// Writes the page.
///
/// # Errors
///
/// [`IoError`] when the page cannot be drawn or written.
pub fn write(path: &Path, page: &Page<'_>) -> Result<(), IoError> {
    let text = page.text().map_err(|error| plot::draw_error(path, error))?;
    atomic::write(path, |out| out.write_all(text.as_bytes()))
}

impl Page<'_> {
    fn text(&self) -> Result<String, plot::DrawError> {
        let &Artifacts { name, grid, quality, history, tolerance, good, .. } = self.artifacts;
        let grid_figure = GridFigure { name, grid, quality, good };
        let off_normal = nonorthogonality(grid);
        let maps = QualityFigure { grid: grid_figure, nonorthogonality: &off_normal };
        let picture = |drawn: Figure<'_>| drawn.svg().map(|svg| figure(&svg));
        let grid_picture = picture(Figure::Grid(grid_figure))?;
        let maps = picture(Figure::Quality(maps))?;
        let convergence = picture(Figure::Xy(plot::convergence(name, history, tolerance)))?;
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
