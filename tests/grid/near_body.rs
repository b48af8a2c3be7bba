//! Near-body grids, whose outer line is at a constant distance from the wall.

use gridgen::generate::GridResult;
use gridgen::grid::Grid;
use support::walls::distance_from;

use super::{assert_heights, good, line};

/// The good grid of a section, of this size, reach and first cell, with these keys.
fn made(section: &str, [ni, nj]: [usize; 2], [reach, first]: [f64; 2], more: &str) -> GridResult {
    good(&format!(
        "[geometry]\n{section}\n[grid]\nni = {ni}\nnj = {nj}\nreach = {reach}\nfirst_cell = {first}\n{more}\n"
    ))
}

/// Smallest and largest distance of the outer line's nodes from the wall.
fn reach(grid: &Grid) -> [f64; 2] {
    let [wall, outer] = [0, grid.nj - 1].map(|j| line(grid, j));
    let off = outer.into_iter().map(|point| distance_from(&wall, point));
    off.fold([f64::INFINITY, 0.0], |[a, b], off| [a.min(off), b.max(off)])
}

/// Sections of all kinds, with distances from a hair's breadth to two chords and first cells from 1e-6 to the
/// largest that fit: each has a good grid with its outer line at the requested distance.
#[test]
fn outer_lines_keep_their_distance() {
    let sections = [
        "naca = \"0012\"",
        "naca = \"4412\"\ntrailing_edge = \"blunt\"",
        "naca = \"23012\"\ntrailing_edge = \"rounded\"",
        "naca = \"2412\"\nflap = { angle = 30 }",
        "ellipse = { thickness = 0.3 }",
    ];
    for section in sections {
        for (reach_asked, first_cell) in [(0.02, 1e-6), (0.1, 1e-4), (0.5, 5e-3), (2.0, 1e-5)] {
            let made = made(section, [65, 25], [reach_asked, first_cell], "");

            let [least, most] = reach(&made.grid);
            let share = [least / reach_asked, most / reach_asked];
            assert!(share[0] > 0.997 && share[1] < 1.05, "{section}, {reach_asked}: {share:?}");
            assert_heights(&made.quality, first_cell, 0.06, section);
            assert!(made.quality.wall_angle_error_max_deg < 0.01, "{section}, {reach_asked}");
        }
    }
}

/// The points of a main element, from its trailing edge over nose and lower side to the lip of its cove at x
/// = 0.68, and back through the cove.
pub(super) fn main_with_cove() -> String {
    let upper = |x: f64| 0.55 * (0.2969 * x.sqrt() - 0.126 * x - 0.17 * x * x);
    let lower = |x: f64| -0.32 * (0.2969 * x.sqrt() - 0.126 * x - 0.17 * x * x);
    let shares = |from: usize, n: usize| (from..=n).map(move |k| k as f64 / n as f64);
    let above = shares(0, 60).map(|s| (1.0 - s).powi(2)).map(|x| [x, upper(x)]);
    let below = shares(1, 40).map(|s| 0.68 * s.powi(2)).map(|x| [x, lower(x)]);
    let lip = [0.68, lower(0.68)];
    let control = [lip, [0.69, lip[1] + 0.07], [0.85, upper(0.85) - 0.025], [1.0, upper(1.0)]];
    let cove = shares(1, 50).map(|t| {
        let s = 1.0 - t;
        let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
        [0, 1].map(|c| weights.iter().zip(&control).map(|(w, p)| w * p[c]).sum())
    });
    let points: Vec<[f64; 2]> = above.chain(below).chain(cove).collect();
    format!("points = {points:?}\ncorners = 30")
}

/// A cove with a lip has points on the corner, and cells up to the lip and in the cove.
#[test]
fn a_cove_with_a_corner_is_gridded() {
    let section = main_with_cove();
    for (ni, nj) in [(97, 25), (161, 33)] {
        for (reach_asked, first_cell) in [(0.05, 1e-5), (0.1, 1e-3), (0.4, 1e-4), (1.0, 1e-3)] {
            let made = made(&section, [ni, nj], [reach_asked, first_cell], "");

            let [least, most] = reach(&made.grid);
            assert!(least > 0.997 * reach_asked && most < 1.2 * reach_asked, "{least}, {most}");
            let lip = |i: usize| (made.grid.x[i] - 0.68).hypot(made.grid.y[i] + 0.0257) < 2e-3;
            assert!((0..ni).any(lip), "{ni}: no point near the lip");
        }
    }
}

#[test]
fn every_initial_grid_ends_on_the_line() {
    for method in ["hyperbolic", "normal", "transfinite"] {
        let initial = format!("[initial]\nmethod = \"{method}\"");

        let made = made("naca = \"0012\"", [65, 33], [0.2, 1e-3], &initial);

        let [least, most] = reach(&made.grid);
        assert!(least > 0.199 && most < 0.201, "{method}: {least}, {most}");
    }
}

/// After refinement by two, every other point of wall and layers is a point of the coarser grid.
#[test]
fn refinement_divides_the_layers_of_a_near_body_grid() {
    let [coarse, fine] =
        ["", "refine = 2"].map(|more| made("naca = \"0012\"", [65, 17], [0.2, 1e-3], more));

    assert_eq!((fine.grid.ni, fine.grid.nj), (129, 33));
    let [a, b] = [&coarse, &fine].map(|made| made.case.grid.first_cell);
    assert!(b < 0.5 * a && b > 0.4 * a, "{a}, {b}");
    assert!((reach(&fine.grid)[0] - 0.2).abs() < 1e-3);
}
