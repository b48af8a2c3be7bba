//! Initial grids on a section and on an ellipse.
#![allow(clippy::float_cmp, reason = "boundary points must be kept to the last bit")]

use gridgen::geometry::spacing_geometric;
use gridgen::grid::initial::{InitialMethod, first_heights};
use gridgen::grid::quality::folds;
use gridgen::grid::{FAR_FIELD_CENTRE, Grid};
use support::vectors::distance;
use support::walls::{FAR_FIELD, TRAILING, WallPoints};

use super::{assert_mirrored, line};

const FIRST_CELLS: [f64; 4] = [1e-3, 1e-4, 1e-5, 1e-6];
const SECTIONS: [&str; 2] = ["0012", "4412"];

/// Distance of point i of the first layer from r + h n.
fn first_layer_error(grid: &Grid, points: &WallPoints, i: usize, height: f64) -> f64 {
    let ([wall_x, wall_y], n) = (points.line[i], points.normals[i]);
    distance(grid.point(i, 1), [wall_x + height * n[0], wall_y + height * n[1]])
}

/// Largest distance of the outer line from the circle.
fn circle_error(grid: &Grid) -> f64 {
    let outer = line(grid, grid.nj - 1).into_iter();
    let error = |point| (distance(point, FAR_FIELD_CENTRE) - FAR_FIELD).abs();
    outer.map(error).fold(0.0, f64::max)
}

/// Asserts that the wall is unchanged and the seam is a single line, bit for bit.
fn assert_wall_and_seam(at: &str, grid: &Grid, points: &WallPoints) {
    assert_eq!(line(grid, 0), points.line, "{at}");
    for j in 0..grid.nj {
        assert_eq!(grid.point(0, j), grid.point(grid.ni - 1, j), "{at}, layer {j}");
    }
}

#[test]
fn the_marches_keep_wall_first_layer_circle_and_seam_and_fold_no_cell() {
    for (code, method) in SECTIONS.into_iter().flat_map(|code| MARCHES.map(|method| (code, method)))
    {
        let points = WallPoints::naca(code, 129);
        for first_cell in FIRST_CELLS {
            let initial = points.initial(method, 65, first_cell);

            let (grid, at) = (&initial.grid, format!("NACA {code}, first cell {first_cell:e}"));
            assert_eq!(initial.method, method, "{at}: {:?}", initial.notes);
            assert_wall_and_seam(&at, grid, &points);
            // The march itself is exact. Moving the end of a line, off by d, onto the circle moves its first
            // point by (h/s_end)² d: h²/110 in the hyperbolic march, h²/16 in the normal one.
            let error = |i| first_layer_error(grid, &points, i, first_cell);
            let error = (0..grid.ni).map(error).fold(0.0, f64::max);
            assert!(error < 0.1 * first_cell.powi(2) + 1e-15, "{at}: first layer off by {error:e}");
            let error = circle_error(grid);
            assert!(error < 1e-12, "{at}: outer line off by {error:e}");
            assert_eq!((initial.folded, folds(grid)), (0, 0), "{at}: {:?}", initial.notes);
            // The hyperbolic march folds none at its first try.
            let first_try = initial.notes.is_empty() || method == InitialMethod::Normal;
            assert!(first_try, "{at}: {:?}", initial.notes);
        }
    }
}

#[test]
fn transfinite_interpolation_meets_both_boundaries() {
    let points = WallPoints::naca("0012", 65);

    let initial = points.initial(InitialMethod::Transfinite, 33, 1e-3);

    let grid = &initial.grid;
    assert_wall_and_seam("transfinite", grid, &points);
    // The outer points are equally spaced, clockwise from the downstream end.
    for i in 0..grid.ni {
        let angle = std::f64::consts::TAU * i as f64 / (grid.ni - 1) as f64;
        let expected = [0.5 + FAR_FIELD * angle.cos(), -FAR_FIELD * angle.sin()];
        assert!(distance(grid.point(i, grid.nj - 1), expected) < 1e-12, "point {i}");
    }
    // Layers are at fixed fractions of the straight lines in between.
    let layers = spacing_geometric(33, 1e-3, FAR_FIELD).unwrap();
    let (wall, end, between) = (grid.point(20, 0), grid.point(20, 32), grid.point(20, 10));
    let share = layers[10] / layers[32];
    for k in 0..2 {
        assert!((between[k] - wall[k] - share * (end[k] - wall[k])).abs() < 1e-14);
    }
}

#[test]
fn folds_of_a_transfinite_grid_are_counted_and_noted() {
    // Straight lines from the hollow lower surface of a strongly cambered section cross it.
    let points = WallPoints::naca("9412", 129);

    let initial = points.initial(InitialMethod::Transfinite, 65, 1e-5);

    assert_eq!(initial.folded, folds(&initial.grid));
    assert!(initial.folded > 0);
    let note = format!("{} cells of the initial grid are folded", initial.folded);
    assert_eq!(initial.notes, [note]);
}

#[test]
fn the_grid_of_an_ellipse_is_symmetric() {
    for method in [InitialMethod::Hyperbolic, InitialMethod::Normal, InitialMethod::Transfinite] {
        for first_cell in [1e-3, 1e-5] {
            let points = WallPoints::ellipse(0.3, 65);

            let initial = points.initial(method, 33, first_cell);

            let grid = &initial.grid;
            assert_eq!((initial.method, initial.folded), (method, 0), "{:?}", initial.notes);
            assert_wall_and_seam("ellipse", grid, &points);
            assert_mirrored(grid, 1e-13, |[x, y]| [x, -y]);
        }
    }
}

const MARCHES: [InitialMethod; 2] = [InitialMethod::Hyperbolic, InitialMethod::Normal];

#[test]
fn a_c_grid_keeps_its_cut_outflow_and_far_field() {
    for method in [InitialMethod::Hyperbolic, InitialMethod::Normal, InitialMethod::Transfinite] {
        for code in SECTIONS {
            let (ni, wake) = (129, 28);
            let points = WallPoints::naca_with_wake(code, ni, wake);

            let initial = points.initial(method, 49, 1e-4);

            let (grid, at) = (&initial.grid, format!("{method:?}, NACA {code}"));
            assert_eq!(initial.method, method, "{at}: {:?}", initial.notes);
            if code == "0012" {
                // No node is farther away than 1.5 far fields.
                assert_mirrored(grid, 1e-12 / 1.5, |[x, y]| [x, -y]);
            }
            assert_eq!(line(grid, 0), points.line, "{at}");
            for i in 0..=wake {
                assert_eq!(grid.point(i, 0), grid.point(ni - 1 - i, 0), "{at}: cut at {i}");
            }
            for j in 0..grid.nj {
                for i in [0, ni - 1] {
                    let off = grid.point(i, j)[0] - (1.0 + FAR_FIELD);
                    // Interpolated points are rounded, marched points are not moved at all.
                    let relative = if method == InitialMethod::Transfinite { 1e-14 } else { 0.0 };
                    let allowed = relative * FAR_FIELD;
                    assert!(off.abs() <= allowed, "{at}: outflow at {j} off by {off:e}");
                }
            }
            for i in 0..ni {
                let [x, y] = grid.point(i, grid.nj - 1);
                let radius = (x - 0.5).hypot(y);
                let error = if x < 0.5 { radius - FAR_FIELD } else { y.abs() - FAR_FIELD };
                assert!(error.abs() < 1e-12, "{at}: outer line at {i} off by {error:e}");
            }
        }
    }
}

#[test]
fn the_first_line_of_a_marched_c_grid_continues_along_the_wake() {
    for first_cell in FIRST_CELLS {
        let points = WallPoints::naca_with_wake("4412", 129, 28);

        let initial = points.initial(InitialMethod::Hyperbolic, 49, first_cell);

        let grid = &initial.grid;
        let heights = first_heights(points.topology, &points.line, first_cell);
        for (i, height) in heights.into_iter().enumerate() {
            let error = first_layer_error(grid, &points, i, height);
            // The shift to the far field moves it by (h/s_end)² times the line's length.
            assert!(error < height.powi(2) + 1e-14, "{first_cell:e}, {i}: {error:e}");
        }
        assert_eq!(initial.folded, 0, "{first_cell:e}: {:?}", initial.notes);
    }
}

#[test]
fn heights_grow_in_the_wake_from_the_first_cell_and_bound_its_aspect_ratio() {
    let points = WallPoints::naca_with_wake("0012", 129, 28);
    let heights = first_heights(points.topology, &points.line, 1e-6);

    assert!(heights[28..=100].iter().all(|&height| height == 1e-6));
    for i in 0..28 {
        assert_eq!(heights[i], heights[128 - i]);
        assert!(heights[i] >= heights[i + 1], "{i}");
        let length = distance(points.line[i], points.line[i + 1]);
        assert!(length / heights[i] < 1.2e6, "{i}: {}", length / heights[i]);
    }
    // h √(1 + (d/(A h))²) beside the outflow and at it, where d is the mean of two intervals.
    let mean = 0.5 * (points.line[0][0] - points.line[2][0]);
    let expected = 1e-6 * f64::hypot(1.0, (mean - TRAILING) / 1.0);
    assert!((heights[1] / expected - 1.0).abs() < 1e-12, "{} {expected}", heights[1]);
    assert_eq!(heights[0], heights[1]);
}

/// Cells of the wake are much longer than high. Their centres lie above each other only if all heights grow
/// along the wake at one rate.
#[test]
fn the_layers_of_the_wake_are_those_of_the_wall_times_one_factor_a_line() {
    let points = WallPoints::naca_with_wake("0012", 129, 28);
    let grid = points.initial(InitialMethod::Hyperbolic, 65, 1e-6).grid;
    let height = |i: usize, j: usize| grid.point(i, j + 1)[1] - grid.point(i, j)[1];

    // These columns are on the upper side of the cut, near its end and at it.
    for i in 110..129 {
        let factor = height(i, 0) / height(102, 0);
        for j in (1..40).filter(|&j| grid.point(i, j)[1] < 1e-3) {
            let ratio = height(i, j) / height(102, j) / factor;
            assert!((ratio - 1.0).abs() < 0.02, "({i}, {j}): {ratio}");
        }
    }
    assert!(height(128, 0) > 1.5 * height(102, 0), "{:e}", height(128, 0));
}
