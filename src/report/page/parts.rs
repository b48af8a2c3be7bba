//! Parts of a page: pieces of HTML, and tables on several elements.

use crate::overset::{Checks, Finding, Gap, Rigged, ZoneReport};
use crate::report::json::ElementReport;

/// A section with a heading; nothing where there is nothing to show.
pub(super) fn section(heading: &str, contents: &str) -> String {
    if contents.is_empty() {
        return String::new();
    }
    let heading =
        if heading.is_empty() { String::new() } else { ["<h2>", heading, "</h2>\n"].concat() };
    ["<section>\n", &heading, contents, "\n</section>\n"].concat()
}

/// Text that is no markup.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A table of rows, with the class of each column in the style.
pub(super) fn table<const N: usize>(
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

/// The place of an element, and the verdict on its grid.
pub(super) fn placed(ElementReport { placement, reach, report }: &ElementReport) -> String {
    let [x, y] = placement.at;
    let rows = [
        ("verdict", report.verdict.to_string()),
        ("points", format!("{} × {}", report.grid.ni, report.grid.nj)),
        ("chord", format!("{}", placement.chord)),
        ("angle, nose up", format!("{:.4}°", placement.angle)),
        ("nose at", format!("({x:.5}, {y:.5})")),
        ("reach", reach.map_or("to the far field".to_owned(), |reach| format!("{reach:.4}"))),
    ];
    let rows = rows.map(|(name, value)| [name.to_owned(), escaped(&value)]);
    table(["name", "number"], None, rows)
}

/// Tables of the gaps and of riggings, and pictures of the gaps.
pub(super) fn of_gaps(checks: &Checks, pictures: &str) -> String {
    [&gaps_table(&checks.gaps), &*rigged_table(&checks.rigged), pictures].concat()
}

pub(super) fn findings(findings: &[Finding]) -> String {
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

pub(super) fn zones_table(zones: &[ZoneReport]) -> String {
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
