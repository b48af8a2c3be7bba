//! The last lines of a run: quality of the grid and files written.

use std::fmt::Write;
use std::path::PathBuf;

use gridgen::case::{Case, PlacedCase};
use gridgen::generate::{Estimate, GridResult, RunResult};
use gridgen::grid::Grid;
use gridgen::grid::quality::{Quality, boundary_layer_thickness};
use gridgen::linear_system::SystemOutcome;
use gridgen::overset::Checks;
use gridgen::report::Timing;

use super::terminal::list;
use crate::diagnostics::counted;
use crate::geometry::Heights;
use crate::geometry::vector::distance;

/// The last lines of a run.
pub(super) fn outcome(outcome: &RunResult) -> String {
    let failed = if outcome.is_good() { "" } else { "FAILED, " };
    let head = format!("{}: {failed}{}\n", outcome.placed.case.name, outcome.verdict.label());
    let grids = outcome.section().map_or_else(|| elements(outcome), section);
    head + &grids + &written(&outcome.files, &outcome.removed)
}

/// Lines that describe a grid: the measures that flow computations depend on come first, the solve last.
fn section(outcome: &GridResult) -> String {
    // The first of several ranks has the grid.
    if outcome.grid.x.is_empty() {
        return String::new();
    }
    let GridResult { case, quality, grid, .. } = outcome;
    let corners = match quality.wall_corners {
        0 => String::new(),
        corners => format!(", {} left out", counted(corners as f64, "corner")),
    };
    let around: Vec<_> =
        outcome.passage.iter().map(|block| [block.grid.ni, block.grid.nj]).collect();
    format!(
        "  grid          {} x {} points, {} cells; {}\n{}\
         \x20 wall          {}\n\
         {}{}\
         \x20 first cell    {:.4e} to {:.4e}, asked for {}\n{}\
         \x20 growth        max {:.3} in i, {:.3} in j\n{}\
         \x20 wall angle    off normal by at most {:.2e} deg, mean {:.2e}{corners}\n\
         \x20 {}\
         \x20 waves         max {:.1} deg, lines above 1 deg {}\n\
         \x20 folded cells  {}\n\
         \x20 residual      {:.2e} after {}, {}\n",
        case.grid.ni,
        case.grid.nj,
        grid.cells(),
        case.shape(),
        passage(grid.cells(), &around),
        wall(case, grid),
        outcome.behind.as_ref().map_or_else(String::new, |block| base([block.ni, block.nj])),
        flow(case, quality),
        quality.first_cell_min,
        quality.first_cell_max,
        asked_for(case),
        outcome.box_walls(grid).map_or_else(String::new, |[low, high]| {
            format!("  box walls     first cell {low:.4e} to {high:.4e}\n")
        }),
        quality.max_growth_i,
        quality.max_growth_j,
        far_field(case, quality),
        quality.wall_angle_error_max_deg,
        quality.wall_angle_error_mean_deg,
        skewness(quality),
        quality.waves_deg,
        quality.wavy_lines,
        outcome.folded_cells,
        outcome.residual(),
        counted(outcome.newton_iterations() as f64, "Newton step"),
        counted(outcome.linear_iterations(), "linear iteration"),
    )
}

/// The line of the skewness of cells.
pub(super) fn skewness(quality: &Quality) -> String {
    let Quality { max_skewness, p99_skewness, mean_skewness, .. } = quality;
    format!(
        "skewness      max {max_skewness:.3}, 99% below {p99_skewness:.3}, mean {mean_skewness:.4}\n"
    )
}

/// Cells along the surfaces of a section, from the trailing edge to the nose and back, and on its base or along its wake;
/// those around a body without edges.
fn wall(case: &Case, grid: &Grid) -> String {
    let base = case.grid.base_cells.filter(|_| grid.topology.closed());
    let wall = grid.wall();
    let cells = wall.len() - 1;
    let rest = match grid.topology.wake() {
        0 if !grid.topology.closed() || case.geometry.contour.is_smooth() => {
            return format!("{cells} cells");
        }
        0 => base.map_or_else(String::new, |cells| format!(", {cells} on the base")),
        wake => format!(", {wake} along the wake"),
    };
    let (nose, half) = (nose(&wall), base.unwrap_or(0) / 2);
    let [lower, upper] = [nose, cells - nose].map(|cells| cells - half);
    format!("{lower} cells on the lower surface, {upper} on the upper{rest}")
}

/// Nodes of the blocks around the O-grid of a blade, and the cells of all blocks.
pub(super) fn passage(blade: usize, around: &[[usize; 2]]) -> String {
    if around.is_empty() {
        return String::new();
    }
    let sizes = ["passage", "ahead", "behind"].into_iter().zip(around);
    let sizes: Vec<_> = sizes.map(|(name, [ni, nj])| format!("{name} {ni} x {nj}")).collect();
    let cells = all_cells(blade, around);
    format!("  blocks        {}; {cells} cells in all\n", sizes.join(", "))
}

/// The number of cells of a grid and of blocks beside it, whose numbers of nodes are given.
pub(super) fn all_cells(cells: usize, blocks: &[[usize; 2]]) -> usize {
    cells + blocks.iter().map(|[ni, nj]| (ni - 1) * (nj - 1)).sum::<usize>()
}

/// The distances of the outer line, which is the far field but in a cascade.
fn far_field(case: &Case, quality: &Quality) -> String {
    let Quality { far_field_min: least, far_field_max: most, .. } = quality;
    if case.cascade.is_some() {
        return String::new();
    }
    format!("  far field     {least:.1} to {most:.1} chords\n")
}

/// Cells of a block of this many nodes behind a base.
pub(super) fn base([ni, nj]: [usize; 2]) -> String {
    let (wake, across) = (ni - 1, nj - 1);
    format!(
        "  base          {across} cells; {} in the block behind it, {wake} along the wake\n",
        wake * across
    )
}

/// The point of a wall that is farthest from its trailing edge.
pub(super) fn nose(wall: &[[f64; 2]]) -> usize {
    let off = |i: &usize| distance(wall[*i], wall[0]);
    (0..wall.len()).max_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(0)
}

/// The first cell in wall units and the layers within a boundary layer, where the Reynolds number is known.
fn flow(case: &Case, quality: &Quality) -> String {
    let known = wall_units(case).zip(case.grid.reynolds).zip(quality.boundary_layer_cells);
    let Some(((units, reynolds), cells)) = known else { return String::new() };
    format!(
        "  flow          {units}; {cells} of {} layers within a boundary layer of {:.3} chords\n",
        case.grid.nj - 1,
        boundary_layer_thickness(reynolds)
    )
}

/// Lists of the files that were written and of those that were removed.
pub(super) fn written(written: &[PathBuf], removed: &[PathBuf]) -> String {
    let list = |heading, files: &[PathBuf]| list(heading, files.iter().map(|file| file.display()));
    list("written", written) + &list("removed, of an earlier run", removed)
}

/// The first cell in wall units, where the Reynolds number is known.
pub(super) fn wall_units(case: &Case) -> Option<String> {
    let (y_plus, reynolds) = case.y_plus().zip(case.grid.reynolds)?;
    let y_plus = format!("{y_plus:.3}");
    Some(format!("y+ {} at Re {reynolds:e}", y_plus.trim_end_matches('0').trim_end_matches('.')))
}

/// The lines of the memory and the time that a run takes.
pub(super) fn cost(estimate: &Estimate) -> String {
    let (memory, time) = (memory(estimate.memory_bytes), time(estimate.cpu_seconds));
    format!("  memory        about {memory}\n  time          about {time} of CPU on one thread\n")
}

/// Two digits of a quantity of bytes.
fn memory(bytes: f64) -> String {
    if bytes < 1e9 {
        format!("{:.0} MB", (bytes / 1e6).ceil())
    } else {
        format!("{:.1} GB", bytes / 1e9)
    }
}

/// Two digits of a time.
fn time(seconds: f64) -> String {
    if seconds < 10.0 {
        format!("{:.1} s", seconds.max(0.1))
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{:.0} min", seconds / 60.0)
    }
}

pub(super) fn phases(timing: &Timing) -> String {
    let phases = timing.phases();
    let width = phases.iter().map(|(phase, _)| phase.len()).max().unwrap_or(0);
    let line = |(phase, seconds): &(&str, f64)| format!("time  {phase:width$}  {seconds:9.3} s\n");
    phases.iter().map(line).collect()
}

/// The first cell that a case asks for, from the least to the greatest height of a list.
fn asked_for(case: &Case) -> String {
    let range = case.grid.heights.as_ref().map(Heights::range);
    let [least, most] = range.unwrap_or([case.grid.first_cell; 2]);
    let to = if most > least { format!(" to {most:.4e}") } else { String::new() };
    format!("{least:.4e}{to}")
}

pub(super) fn system(outcome: &SystemOutcome) -> String {
    let report = &outcome.report;
    let (matrix, method) = (&report.matrix, &report.method);
    let verdict = if report.converged { "converged" } else { "FAILED, not converged" };
    let symmetry = if matrix.symmetric { "symmetric" } else { "unsymmetric" };
    let text = format!(
        "{}: {verdict}\n\
         \x20 matrix        {}, {}, at most {} in a row, {symmetry}\n\
         \x20 right side    {}\n\
         \x20 method        {}, preconditioner {}\n\
         \x20 residual      {:.2e} of the right side after {}, asked for {:.0e}\n",
        report.name,
        counted(matrix.rows as f64, "row"),
        entries(matrix.entries),
        matrix.longest_row,
        report.right_side,
        method.solver,
        method.preconditioner,
        report.true_relative_residual,
        counted(report.iterations, "iteration"),
        report.tolerance,
    );
    text + &written(&outcome.files, &outcome.removed)
}

fn entries(number: usize) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}

/// The lines on several elements.
fn elements(outcome: &RunResult) -> String {
    let mut text = String::new();
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
    text + &together(&outcome.checks)
}

/// The lines on several elements before their run.
pub(super) fn placed(placed: &PlacedCase) -> String {
    let mut text = String::new();
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
    text
}

/// Gaps, riggings, zones and the number of findings.
pub(super) fn together(checks: &Checks) -> String {
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
