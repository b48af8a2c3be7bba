//! Texts on several elements: their grids, and the checks of them together.

use std::fmt::Write;

use gridgen::case::PlacedAssembly;
use gridgen::generate::{AssemblyResult, Estimate};
use gridgen::overset::Checks;

use super::summary::{files, memory, time};
use super::terminal::Terminal;

/// Prints each finding of the checks, with its remedy.
pub(super) fn findings(checks: &Checks, terminal: &Terminal) {
    for finding in &checks.findings {
        terminal.note(&finding.to_string());
    }
}

/// The last lines of a run.
pub(super) fn outcome(outcome: &AssemblyResult) -> String {
    let failed = if outcome.is_good() { "" } else { "FAILED, " };
    let mut text =
        format!("{}: {failed}{}\n", outcome.placed.assembly.name, outcome.verdict.label());
    for made in &outcome.elements {
        let quality = &made.quality;
        let _ = writeln!(
            text,
            "  {:<13} {} x {} points, {}, residual {:.1e}, {} folded, skewness max {:.3}",
            made.case.name,
            made.grid.ni,
            made.grid.nj,
            made.verdict.label(),
            made.residual(),
            made.folded_cells,
            quality.max_skewness,
        );
    }
    if let Some(grid) = &outcome.background {
        let _ = writeln!(text, "  {:<13} {} x {} points", "background", grid.ni, grid.nj);
    }
    text += &together(&outcome.checks);
    text + &files(&outcome.files, &outcome.removed)
}

/// The estimate of a run, and the findings before it.
pub(super) fn estimate(placed: &PlacedAssembly, estimate: &Estimate, checks: &Checks) -> String {
    let mut text = format!("{}: can be run\n", placed.assembly.name);
    for element in &placed.elements {
        let ([ni, nj], name) = (element.problem.size(), &element.problem.case.name);
        let reach = element
            .reach
            .map_or_else(|| "to its far field".to_owned(), |reach| format!("reach {reach:.3}"));
        let _ = writeln!(text, "  {name:<13} {ni} x {nj} points, {reach}");
    }
    if let Some((background, [low, high])) = placed.background {
        let ([ni, nj], spacing) = (background.size(low, high), background.spacing);
        let _ = writeln!(text, "  {:<13} {ni} x {nj} points, spacing {spacing}", "background");
    }
    let _ = writeln!(text, "  {:<13} about {}", "memory", memory(estimate.memory_bytes));
    let _ = writeln!(
        text,
        "  {:<13} about {} of CPU on one thread",
        "time",
        time(estimate.cpu_seconds)
    );
    text + &together(checks)
}

/// Gaps, riggings, zones and the number of findings.
fn together(checks: &Checks) -> String {
    let mut text = String::new();
    for rigged in &checks.rigged {
        let of = &rigged.rigging;
        // No sign of a rounding error.
        let overlap = (1e6 * of.overlap).round() / 1e6 + 0.0;
        let _ = writeln!(
            text,
            "  {:<13} {} to {}: gap {:.6}, overlap {overlap:.6}, deflection {:.3} deg",
            "rigging", rigged.element, rigged.to, of.gap, of.deflection
        );
    }
    for gap in &checks.gaps {
        let ([a, b], [cells_a, cells_b]) = (&gap.elements, gap.cells);
        let _ = writeln!(
            text,
            "  {:<13} {:.5} between {a} and {b}, {cells_a} and {cells_b} cells across",
            "gap", gap.distance
        );
    }
    for zone in &checks.zones {
        let ratio = zone.size_ratios.map_or_else(String::new, |[median, p95, _]| {
            format!(", size ratio {median:.2}, 95% below {p95:.2}")
        });
        let _ = writeln!(
            text,
            "  {:<13} {}: {} calculated, {} interpolated, {} holes, {} orphans{ratio}",
            "cells", zone.name, zone.calculated, zone.interpolated, zone.holes, zone.orphans
        );
    }
    let _ = writeln!(text, "  {:<13} {}", "findings", checks.findings.len());
    text
}
