//! The tables of the page.

use super::escaped;
use crate::report::{Report, Timing};
use crate::solver::history::History;

/// The numbers that matter most.
pub(super) fn facts(report: &Report, nonorthogonality: f64) -> String {
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
pub(super) fn notes(notes: &[String]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let items = notes.iter().map(|note| format!("<li>{}</li>\n", escaped(note)));
    format!("<ul>\n{}</ul>", items.collect::<String>())
}

/// All measures and what they mean.
pub(super) fn quality_table(report: &Report, nonorthogonality: f64) -> String {
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
pub(super) fn steps_table(history: &History) -> String {
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
pub(super) fn timing_table(timing: &Timing) -> String {
    let rows = [
        ("geometry", timing.geometry_seconds),
        ("initial grid", timing.initial_grid_seconds),
        ("Newton", timing.newton_seconds),
        ("of it assembly and set-up", timing.assembly_seconds),
        ("of it linear solves", timing.linear_seconds),
        ("quality", timing.quality_seconds),
        ("writing", timing.writing_seconds),
        ("all, this page left out", timing.total_seconds),
    ];
    let rows = rows.map(|(phase, seconds)| {
        format!("<tr><td>{phase}</td><td class=\"number\">{seconds:.3} s</td></tr>\n")
    });
    format!("<table>\n{}</table>", rows.concat())
}
