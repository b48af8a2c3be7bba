//! Near-body grids, whose outer line is at a constant distance from the wall.

use gridgen::generate::GridResult;
use gridgen::grid::Grid;
use support::walls::distance_from;

use super::{case, line, make};

fn made(geometry: &str, grid: &str) -> GridResult {
    make(&case(&format!("[geometry]\n{geometry}\n[grid]\n{grid}\n"))).unwrap()
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
            let grid =
                format!("ni = 65\nnj = 25\nreach = {reach_asked}\nfirst_cell = {first_cell}");

            let made = made(section, &grid);

            assert!(made.is_good(), "{section}, {reach_asked}: {}", made.verdict);
            let [least, most] = reach(&made.grid);
            let share = [least / reach_asked, most / reach_asked];
            assert!(share[0] > 0.997 && share[1] < 1.05, "{section}, {reach_asked}: {share:?}");
            let first = [made.quality.first_cell_min, made.quality.first_cell_max];
            assert!(first.iter().all(|h| (h / first_cell - 1.0).abs() < 0.06), "{first:?}");
            assert!(made.quality.wall_angle_error_max_deg < 0.01, "{section}, {reach_asked}");
        }
    }
}

/// The points of a main element, from its trailing edge over nose and lower side to the lip of its cove at x
/// = 0.68, and back through the cove.
pub(super) fn main_with_cove() -> String {
    let upper = |x: f64| 0.55 * (0.2969 * x.sqrt() - 0.126 * x - 0.17 * x * x);
    let lower = |x: f64| -0.32 * (0.2969 * x.sqrt() - 0.126 * x - 0.17 * x * x);
    let share = |k: usize, n: usize| k as f64 / n as f64;
    let mut points: Vec<[f64; 2]> =
        (0..=60).map(|k| (1.0 - share(k, 60)).powi(2)).map(|x| [x, upper(x)]).collect();
    points.extend((1..=40).map(|k| 0.68 * share(k, 40).powi(2)).map(|x| [x, lower(x)]));
    let lip = [0.68, lower(0.68)];
    let control = [lip, [0.69, lip[1] + 0.07], [0.85, upper(0.85) - 0.025], [1.0, upper(1.0)]];
    points.extend((1..=50).map(|k| {
        let (t, s) = (share(k, 50), 1.0 - share(k, 50));
        let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
        [0, 1].map(|c| weights.iter().zip(&control).map(|(w, p)| w * p[c]).sum())
    }));
    let points: Vec<String> = points.iter().map(|[x, y]| format!("[{x}, {y}]")).collect();
    format!("points = [{}]\ncorners = 30", points.join(", "))
}

/// A cove with a lip has points on the corner, and cells up to the lip and in the cove.
#[test]
fn a_cove_with_a_corner_is_gridded() {
    let section = main_with_cove();
    for (ni, nj) in [(97, 25), (161, 33)] {
        for (reach_asked, first_cell) in [(0.05, 1e-5), (0.1, 1e-3), (0.4, 1e-4), (1.0, 1e-3)] {
            let grid =
                format!("ni = {ni}\nnj = {nj}\nreach = {reach_asked}\nfirst_cell = {first_cell}");

            let made = made(&section, &grid);

            assert!(made.is_good(), "{ni}, {reach_asked}: {}", made.verdict);
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
        let grid = format!(
            "ni = 65\nnj = 33\nreach = 0.2\nfirst_cell = 1e-3\n[initial]\nmethod = \"{method}\""
        );

        let made = made("naca = \"0012\"", &grid);

        assert!(made.is_good(), "{method}: {}", made.verdict);
        let [least, most] = reach(&made.grid);
        assert!(least > 0.199 && most < 0.201, "{method}: {least}, {most}");
    }
}

/// After refinement by two, every other point of wall and layers is a point of the coarser grid.
#[test]
fn refinement_divides_the_layers_of_a_near_body_grid() {
    let grid = "ni = 65\nnj = 17\nreach = 0.2\nfirst_cell = 1e-3\n";

    let coarse = made("naca = \"0012\"", grid);
    let fine = made("naca = \"0012\"", &[grid, "refine = 2\n"].concat());

    assert_eq!((fine.grid.ni, fine.grid.nj), (129, 33));
    let [a, b] = [&coarse, &fine].map(|made| made.case.grid.first_cell);
    assert!(b < 0.5 * a && b > 0.4 * a, "{a}, {b}");
    assert!(fine.is_good() && (reach(&fine.grid)[0] - 0.2).abs() < 1e-3);
}
