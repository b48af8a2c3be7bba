//! `report.html` of several elements.

use std::path::Path;

use super::{Frame, Picture, escaped, figure, notes, section, steps_table, table, timing_table};
use crate::files::IoError;
use crate::overset::{Finding, Gap, Rigged, ZoneReport};
use crate::report::history::convergence;
use crate::report::plot::{self, OversetPictures};
use crate::report::{AssemblyReport, ElementReport};
use crate::solver::history::History;

/// A page on several elements.
pub(crate) struct AssemblyPage<'a> {
    pub(crate) report: &'a AssemblyReport,
    /// The solves of the elements.
    pub(crate) histories: Vec<&'a History>,
    pub(crate) pictures: OversetPictures<'a>,
    pub(crate) case: &'a str,
}

impl AssemblyPage<'_> {
    /// Writes the page.
    ///
    /// # Errors
    /// [`IoError`] when the page cannot be drawn or written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), IoError> {
        super::write(path, self.text())
    }

    fn text(&self) -> Result<String, plot::DrawError> {
        let report = self.report;
        let shown = |picture: Picture| picture.svg().map(|svg| figure(&svg));
        let checks = &report.overset;
        let gaps: Vec<String> = checks
            .gaps
            .iter()
            .map(|gap| shown(self.pictures.gap(gap)))
            .collect::<Result<_, plot::DrawError>>()?;
        let mut elements = String::new();
        for (element, history) in report.elements.iter().zip(&self.histories) {
            elements += &Self::element(element, history)?;
        }
        let sections = [
            section("Findings", &findings(&checks.findings)),
            section("Grids", &shown(self.pictures.whole())?),
            section("Gaps", &[gaps_table(&checks.gaps), rigged_table(&checks.rigged)].concat()),
            section("", &gaps.concat()),
            section("Zones", &zones_table(&checks.zones)),
            elements,
            section("Notes", &notes(&report.notes)),
            section("Time", &timing_table(&report.timing)),
            section("Case", &["<pre>", &escaped(self.case), "</pre>"].concat()),
        ];
        let elements: Vec<&str> =
            report.elements.iter().map(|element| element.report.name.as_str()).collect();
        let background = if report.background.is_some() { " and a background" } else { "" };
        let frame = Frame {
            name: &report.name,
            verdict: &report.verdict,
            about: &format!("overset grids of {}{background}", escaped(&elements.join(", "))),
            version: &report.version,
            backend: &report.backend,
            threads: report.threads,
        };
        Ok(frame.around(&sections))
    }

    fn element(element: &ElementReport, history: &History) -> Result<String, plot::DrawError> {
        let ElementReport { placement, reach, report } = element;
        let q = &report.quality;
        let [x, y] = placement.at;
        let rows = [
            ("verdict", report.verdict.to_string()),
            ("points", format!("{} × {}", report.grid.ni, report.grid.nj)),
            ("chord", format!("{}", placement.chord)),
            ("angle, nose up", format!("{:.4}°", placement.angle)),
            ("nose at", format!("({x:.5}, {y:.5})")),
            ("reach", reach.map_or("to the far field".to_owned(), |reach| format!("{reach:.4}"))),
            ("residual reached", format!("{:.2e}", report.newton.residual)),
            ("folded cells", q.folded_cells.to_string()),
            (
                "first cells, own chords",
                format!("{:.4e} to {:.4e}", q.first_cell_min, q.first_cell_max),
            ),
            ("wall angle error at most", format!("{:.1e}°", q.wall_angle_error_max_deg)),
            (
                "skewness at most, 99 % below",
                format!("{:.3}, {:.3}", q.max_skewness, q.p99_skewness),
            ),
        ];
        let rows = rows.map(|(name, value)| [name.to_owned(), escaped(&value)]);
        let tolerance = report.newton.tolerance;
        let picture = convergence(&report.name, history, tolerance).picture().svg()?;
        let heading = ["Element ", &report.name].concat();
        let contents =
            [table(["name", "number"], None, rows), figure(&picture), steps_table(history)];
        Ok(section(&escaped(&heading), &contents.concat()))
    }
}

fn findings(findings: &[Finding]) -> String {
    let rows = findings
        .iter()
        .map(|Finding { what, key, remedy }| [what, key, remedy].map(|text| escaped(text)));
    if findings.is_empty() {
        return String::new();
    }
    table(["name", "name", "meaning"], Some(["what was found", "key", "what mends it"]), rows)
}

fn gaps_table(gaps: &[Gap]) -> String {
    let heads = ["gap between", "width", "cells across", "ratio of sizes in its middle"];
    let rows = gaps.iter().map(|gap| {
        [
            escaped(&gap.elements.join(" and ")),
            format!("{:.5}", gap.distance),
            format!("{} and {}", gap.cells[0], gap.cells[1]),
            gap.size_ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}")),
        ]
    });
    table(["name", "number", "number", "number"], Some(heads), rows)
}

fn rigged_table(rigged: &[Rigged]) -> String {
    if rigged.is_empty() {
        return String::new();
    }
    let heads = ["rigging", "gap", "overlap", "deflection"];
    let rows = rigged.iter().map(|Rigged { element, to, rigging }| {
        [
            escaped(&format!("{element} to {to}")),
            format!("{:.6}", rigging.gap),
            format!("{:.6}", rigging.overlap),
            format!("{:.4}°", rigging.deflection),
        ]
    });
    table(["name", "number", "number", "number"], Some(heads), rows)
}

fn zones_table(zones: &[ZoneReport]) -> String {
    let heads = [
        "zone",
        "cells",
        "solved for",
        "interpolated",
        "holes",
        "orphans",
        "outermost, in a body",
        "size ratio, median, 95 %",
    ];
    let rows = zones.iter().map(|zone| {
        [
            escaped(&zone.name),
            format!("{} × {}", zone.cells[0], zone.cells[1]),
            zone.calculated.to_string(),
            zone.interpolated.to_string(),
            zone.holes.to_string(),
            zone.orphans.to_string(),
            format!("{}, {}", zone.rim[0], zone.rim[1]),
            zone.size_ratios.map_or_else(
                || "–".to_owned(),
                |[median, p95, _]| format!("{median:.2}, {p95:.2}"),
            ),
        ]
    });
    table(["number"; 8], Some(heads), rows)
}
