//! The cut of a C-grid, and edges closed for it.

use gridgen::geometry::{
    Airfoil, BoundaryPoints, GeometryError, SurfaceSettings, TrailingEdge, Wake, airfoil_from_naca,
    distribute, edge_closes, open_normals, with_wake,
};
use support::vectors::closed_turns;
use support::walls::nasas_naca_0012;

use crate::settings;

fn wall(airfoil: &Airfoil, ni: usize, trailing_edge: TrailingEdge) -> BoundaryPoints {
    let settings = settings(ni, 4e-3, trailing_edge);
    let settings = SurfaceSettings { leading_edge_spacing: 1e-3, ..settings };
    distribute(airfoil, &settings).unwrap()
}

fn cut(direction: f64) -> Wake {
    Wake { cells: 40, length: 20.0, direction, end_spacing: None }
}

/// The wall of a sharp section, and its line with the cut.
fn with_cut(code: &str, direction: f64) -> [Vec<[f64; 2]>; 2] {
    let airfoil = airfoil_from_naca(code, TrailingEdge::Sharp).unwrap();
    let section = wall(&airfoil, 97, TrailingEdge::Sharp);
    let line = with_wake(code, &section, &cut(direction), (4e-3, f64::INFINITY)).unwrap();
    [section.line, line.line]
}

#[test]
fn both_sides_of_the_cut_are_the_same_points_and_the_section_stays() {
    let [section, line] = with_cut("4412", 3.0);

    assert_eq!(line.len(), 177);
    assert_eq!(line[40..137], section);
    for i in 0..=40 {
        assert_eq!(line[i], line[176 - i], "{i}");
    }
    assert_eq!(line[0][0], section[0][0] + 20.0);
    assert!(line[..41].windows(2).all(|pair| pair[1][0] < pair[0][0]));
    // ds/dj at the edge equals the spacing, so the first interval is longer by half the growth.
    let intervals: Vec<f64> = (0..40).rev().map(|i| line[i][0] - line[i + 1][0]).collect();
    let growth = intervals[1] / intervals[0];
    assert!(intervals.windows(2).all(|d| (d[1] / d[0] / growth - 1.0).abs() < 1e-9));
    let exact = 4e-3 * (growth - 1.0) / growth.ln();
    assert!((intervals[0] / exact - 1.0).abs() < 1e-9, "{} {exact}", intervals[0]);
}

#[test]
fn the_cut_of_a_symmetric_section_is_straight() {
    let [_, line] = with_cut("0012", 0.0);

    assert!(line[..=40].iter().all(|[_, y]| y.abs() < 1e-13), "{:?}", &line[..=40]);
}

#[test]
fn the_ends_of_an_open_line_have_normals_in_the_plane_of_the_outflow() {
    let [_, line] = with_cut("4412", 5.0);

    let normals = open_normals(&line);

    assert_eq!([normals[0], normals[176]], [[0.0, -1.0], [0.0, 1.0]]);
    // The normals of the two sides of the cut point away from each other.
    for i in 1..40 {
        let (a, b) = (normals[i], normals[176 - i]);
        assert!((a[0] + b[0]).hypot(a[1] + b[1]) < 1e-12, "{i}");
    }
    assert!(normals.iter().all(|n| (n[0].hypot(n[1]) - 1.0).abs() < 1e-14));
}

#[test]
fn a_cut_that_runs_into_the_section_is_refused() {
    // The section is bent back over its own edge, so the cut along x crosses it.
    let lower = [[1.0, 0.0], [0.9, -0.01], [0.5, -0.05], [0.0, 0.0]];
    let upper = [[0.5, 0.6], [1.3, 0.6], [1.3, -0.2], [1.1, -0.1], [1.0, 0.0]];
    let section = BoundaryPoints { line: [&lower[..], &upper].concat(), base_cells: 0 };

    let error = with_wake("hook", &section, &cut(0.0), (4e-3, f64::INFINITY)).unwrap_err();

    assert!(matches!(error, GeometryError::CutCrosses { .. }), "{error}");
    assert!(error.hint().unwrap().contains("wake_direction"));
}

#[test]
fn a_wedge_is_tangent_to_both_surfaces_and_ends_in_one_point() {
    for (code, gap) in [("0012", 0.00252), ("4424", 0.00504)] {
        let airfoil = airfoil_from_naca(code, TrailingEdge::Blunt).unwrap();

        let wall = wall(&airfoil, 401, TrailingEdge::Wedge);

        assert!(wall.base_cells == 0 && edge_closes(&airfoil, TrailingEdge::Wedge));
        let tip = wall.line[0];
        assert_eq!(tip, wall.line[400]);
        let reach = tip[0] - 1.0;
        assert!(reach > 1.0 * gap && reach <= 4.01 * gap, "{code}: {reach}");
        // The wedge begins without a corner: near the edge the only turn above 3° is at the tip.
        let turns = closed_turns(&wall.line);
        for i in (1..40).chain(361..400) {
            let turn = turns[i].to_degrees();
            assert!(turn.abs() < 3.0, "{code}, point {i}: {turn}");
        }
    }
}

#[test]
fn an_extended_section_is_nasas() {
    let airfoil = airfoil_from_naca("0012", TrailingEdge::Extended).unwrap();

    let last = airfoil.points.len() - 1;
    assert_eq!((airfoil.points[0], airfoil.points[last]), ([1.0, 0.0], [1.0, 0.0]));
    for &[x, y] in &airfoil.points {
        let half = nasas_naca_0012(x);
        assert!((y.abs() - half).abs() < 1e-9, "{x}: {y} {half}");
    }
}
