//! Points along the wall and along the cut, measured on the grids that have them.
#![allow(clippy::float_cmp, reason = "points that are given are kept bit for bit")]

use std::fs;
use std::path::Path;

use gridgen::case::Case;
use gridgen::generate::GridResult;
use gridgen::geometry::{SurfaceSide, points_from_file};
use gridgen::grid::{Grid, Topology};

use support::vectors::{distance, largest_growth, lengths};

use super::{assert_steps, make};

const NACA: &str = "naca = \"0012\"";
const THICK: &str = "naca = \"4430\"";

/// Spacings at the edges and a turn that do not depend on the number of points.
const SPACED: &str = "leading_edge_spacing = 2e-3\ntrailing_edge_spacing = 1e-3\nmax_turn = 15.0\n";

fn e387() -> String {
    format!("file = \"{}/cases/airfoils/e387.dat\"", env!("CARGO_MANIFEST_DIR"))
}

fn case(geometry: &str, grid: &str) -> Case {
    let text = format!("[geometry]\n{geometry}\n[grid]\nnj = 33\n{grid}\n");
    super::case(&text)
}

/// The grid of the case, which is good after few steps.
#[track_caller]
fn good(geometry: &str, grid: &str) -> GridResult {
    let made = make(&case(geometry, grid)).unwrap();
    assert!(made.is_good(), "{grid}: {}", made.verdict);
    assert_steps(&made, [6.0, 12.0], &format!("{geometry} {grid}"));
    made
}

/// The grid of the archived case.
fn again(made: &GridResult) -> Grid {
    make(&super::case(&made.case.to_toml_string().unwrap())).unwrap().grid
}

/// The number of points of a surface. The nose is farthest from the trailing edge.
fn points_of(made: &GridResult, side: SurfaceSide) -> usize {
    let wall = made.grid.wall();
    let edge = wall[0];
    let off = |k: &usize| distance(wall[*k], edge);
    let nose = (0..wall.len()).max_by(|a, b| off(a).total_cmp(&off(b))).unwrap();
    match side {
        SurfaceSide::Lower => nose + 1,
        SurfaceSide::Upper => wall.len() - nose,
    }
}

/// Length of the cell of a surface that holds x.
fn spacing_at(made: &GridResult, side: SurfaceSide, x: f64) -> f64 {
    let (wall, nose) = (made.grid.wall(), points_of(made, SurfaceSide::Lower) - 1);
    let cells = match side {
        SurfaceSide::Lower => 0..nose,
        SurfaceSide::Upper => nose..wall.len() - 1,
    };
    let holds = |k: &usize| (wall[*k][0] - x) * (wall[k + 1][0] - x) <= 0.0;
    lengths(&wall)[cells.into_iter().find(holds).unwrap()]
}

#[test]
fn both_surfaces_have_the_points_asked_for() {
    let section = e387();
    let both = "points_upper = 121\npoints_lower = 81";
    // The number of one surface leaves the other points to the other.
    let (one, rest) = ("ni = 225\npoints_lower = 65", [161, 65]);
    for (geometry, numbers, topology, points) in [
        (NACA, one, "topology = \"O\"", rest),
        (NACA, both, "topology = \"O\"", [121, 81]),
        (&section, both, "topology = \"O\"", [121, 81]),
        (NACA, both, "topology = \"C\"\nwake = 40", [121, 81]),
        (&section, both, "topology = \"auto\"\nwake = 40", [121, 81]),
        (THICK, both, "topology = \"C\"\nwake = 40", [121, 81]),
    ] {
        let made = good(geometry, &format!("{numbers}\n{topology}"));

        let wake = if topology.contains("wake") { 40 } else { 0 };
        assert_eq!(made.grid.ni, points[0] + points[1] - 1 + 2 * wake, "{geometry} {topology}");
        let found = [SurfaceSide::Upper, SurfaceSide::Lower].map(|side| points_of(&made, side));
        assert_eq!(found, points, "{geometry} {topology}");
        // The archived case says all three, and makes the same grid.
        assert!(geometry != section || again(&made) == made.grid, "{topology}");
    }
}

#[test]
fn a_base_adds_its_cells_to_the_points_of_the_surfaces() {
    let blunt = "naca = \"0012\"\ntrailing_edge = \"blunt\"";
    for (keys, ni, base) in [
        ("points_upper = 101\npoints_lower = 91", 199, 8),
        ("points_upper = 101\npoints_lower = 91\nbase_cells = 12", 203, 12),
        ("points_upper = 101\npoints_lower = 91\nni = 201", 201, 10),
        ("points_upper = 101\nni = 257", 257, 8),
    ] {
        let made = good(blunt, keys);

        assert_eq!((made.grid.ni, made.case.grid.base_cells), (ni, Some(base)), "{keys}");
    }
}

#[test]
fn numbers_of_points_that_disagree_are_refused() {
    for (grid, said) in [
        (
            "ni = 257\npoints_upper = 101\npoints_lower = 101",
            "wing.toml:5: 257 points along the wall, 201 were expected: points_upper + points_lower - 1, ",
        ),
        (
            "topology = \"C\"\nwake = 40\nni = 257\npoints_upper = 101\npoints_lower = 101",
            "wing.toml:7: 257 points along the wall, 281 were expected: ",
        ),
        ("ni = 65\npoints_upper = 63", "65 points along the wall, 67 were expected: "),
    ] {
        let refused = make(&case(NACA, grid)).unwrap_err();

        assert!(refused.to_string().contains(said), "{refused}");
        assert!(refused.hint().unwrap().contains("leave one of the numbers out"));
    }
}

/// 65 + 65 - 1 and 8 cells of the base are 137; with 11 or none there is no base.
#[test]
fn points_that_leave_no_base_are_refused_with_a_number_that_does() {
    let blunt = "naca = \"2412\"\ntrailing_edge = \"blunt\"";
    let with = |ni: usize| case(blunt, &format!("ni = {ni}\npoints_upper = 65\npoints_lower = 65"));

    for ni in [128, 129, 140] {
        let refused = with(ni).settle().unwrap_err();
        let said = format!("{ni} points along the wall, 137 were expected: ");
        assert!(refused.to_string().contains(&said), "{refused}");
    }
    for ni in [133, 137, 139] {
        assert_eq!(with(ni).settle().unwrap().points.base_cells, ni - 129);
    }
}

#[test]
fn points_gather_at_clusters() {
    let section = e387();
    for (geometry, more, side, x, spacing) in [
        (NACA, "", SurfaceSide::Upper, 0.6, 2e-3),
        (NACA, "topology = \"C\"\nni = 385", SurfaceSide::Upper, 0.6, 2e-3),
        (&section, "topology = \"C\"\nni = 385", SurfaceSide::Lower, 0.3, 1e-3),
        (&section, "max_spacing = 0.02", SurfaceSide::Upper, 0.8, 4e-4),
        (THICK, "", SurfaceSide::Upper, 0.45, 3e-3),
        (THICK, "trailing_edge_spacing = 2e-3\nwall_growth = 1.2", SurfaceSide::Lower, 0.7, 1e-3),
    ] {
        let name = format!("{side:?}").to_lowercase();
        let cluster = format!("{{ x = {x}, spacing = {spacing}, surface = \"{name}\" }}");

        let made = good(geometry, &format!("clusters = [{cluster}]\n{more}"));

        let found = spacing_at(&made, side, x);
        assert!((found / spacing - 1.0).abs() < 0.02, "{geometry} {more}: {found:e}");
        let other =
            if side == SurfaceSide::Upper { SurfaceSide::Lower } else { SurfaceSide::Upper };
        assert!(spacing_at(&made, other, x) > 1.5 * spacing, "{geometry} {more}");
        let growth = largest_growth(&lengths(&made.grid.wall()));
        assert!(growth < 1.25, "{geometry} {more}: {growth}");
    }
}

#[test]
fn several_clusters_on_both_surfaces_each_have_their_spacing() {
    let made = good(
        NACA,
        "ni = 321\nclusters = [{ x = 0.3, spacing = 2e-3 }, { x = 0.7, spacing = 1e-3 }]",
    );

    for (x, spacing) in [(0.3, 2e-3), (0.7, 1e-3)] {
        for side in [SurfaceSide::Upper, SurfaceSide::Lower] {
            let found = spacing_at(&made, side, x);
            assert!((found / spacing - 1.0).abs() < 0.02, "{side:?} {x}: {found:e}");
        }
    }
}

#[test]
fn the_spacing_and_its_growth_stay_within_their_limits() {
    for (keys, longest, growth) in [
        ("max_spacing = 0.012", 0.012, 1.18),
        ("wall_growth = 1.06", 1.0, 1.06),
        ("ni = 385\nmax_spacing = 8e-3\nwall_growth = 1.05", 8e-3, 1.05),
        ("topology = \"C\"\nni = 385\nwall_growth = 1.1", 1.0, 1.1),
    ] {
        let lengths = lengths(&good(NACA, keys).grid.wall());

        let most = lengths.iter().copied().fold(0.0, f64::max);
        assert!(most <= 1.002 * longest, "{keys}: {most}");
        // The cells beside nose and edge have the same length on both surfaces.
        let ratio = largest_growth(&lengths);
        assert!(ratio <= growth * 1.01, "{keys}: {ratio}");
    }
}

#[test]
fn limits_that_need_more_points_tell_how_many() {
    for (keys, key) in [
        ("ni = 65\nclusters = [{ x = 0.5, spacing = 1e-5 }]", ":9:"),
        ("wall_growth = 1.01", ":8:"),
        ("points_upper = 41\npoints_lower = 101\nmax_spacing = 4e-3", ":8:"),
    ] {
        let refused = make(&case(NACA, &format!("{SPACED}{keys}"))).unwrap_err();

        let said = refused.to_string();
        assert!(said.contains(" are needed for the spacings asked for"), "{said}");
        assert!(said.contains(key), "{said}");
        // A tenth more than it says are enough.
        let said: f64 =
            said.split("about ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let numbers = |line: &&str| line.starts_with("ni") || line.starts_with("points");
        let other: Vec<&str> = keys.lines().filter(|line| !numbers(line)).collect();
        let (other, n) = (other.join("\n"), (1.1 * said) as usize);
        let enough = format!("{SPACED}{other}\npoints_upper = {n}\npoints_lower = {n}");
        case(NACA, &enough).settle().unwrap();
    }
}

#[test]
fn the_last_cell_of_the_cut_has_the_length_asked_for() {
    for (geometry, spacing) in [(NACA, 0.5), (THICK, 0.2)] {
        let keys = format!("topology = \"C\"\nwake_spacing = {spacing}\nwake = 56\nni = 337");

        let made = good(geometry, &keys);

        let grid = &made.grid;
        let found = grid.point(0, 0)[0] - grid.point(1, 0)[0];
        assert!((found / spacing - 1.0).abs() < 1e-6, "{found}");
    }
}

#[test]
fn a_wake_that_takes_points_from_the_section_is_told_and_below_100_a_finding() {
    let notices =
        |grid: &str| case(NACA, &format!("topology = \"C\"\n{grid}")).settle().unwrap().notices;

    let told = notices("ni = 385\nwake = 120");
    assert!(told[0].contains("takes 240 of 385 points and leaves 145 to the section"), "{told:?}");
    for grid in
        ["", "ni = 129", "ni = 385\nwake = 80", "points_upper = 41\npoints_lower = 41\nwake = 160"]
    {
        assert_eq!(notices(grid), [""; 0], "{grid}");
    }
}

#[test]
fn the_points_of_a_file_are_those_of_the_wall() {
    let folder = tempfile::tempdir().unwrap();
    let e387 = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/cases/airfoils/e387.dat"))
        .unwrap();
    // Some noses lie at other places than 0.
    let fine = good("naca = \"4412\"", "ni = 161").grid.wall();
    let fine = fine.iter().rev().map(|[x, y]| format!("{:?} {y:?}\n", x + 1e-3));
    for (name, text) in [("e387", e387), ("fine", fine.collect())] {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let given: Vec<[f64; 2]> = points_from_file(&path).unwrap().into_iter().rev().collect();
        let geometry = format!("file = \"{}\"", path.display());
        for topology in ["O", "C"] {
            let made =
                good(&geometry, &format!("topology = \"{topology}\"\nwall_points = \"as-given\""));

            assert_eq!(made.grid.wall(), given, "{name} {topology}");
            let wake = if let Topology::C { wake } = made.grid.topology { wake } else { 0 };
            assert_eq!(made.grid.ni, given.len() + 2 * wake);
            assert_eq!(again(&made), made.grid, "{name} {topology}");
        }
    }
}

#[test]
fn an_open_contour_as_given_gets_a_base() {
    let points: Vec<[f64; 2]> =
        good("naca = \"0012\"\ntrailing_edge = \"blunt\"", "base_cells = 8\nni = 161").grid.wall();
    let surfaces = &points[4..points.len() - 4];
    let geometry = format!("points = {:?}", surfaces.iter().rev().collect::<Vec<_>>());

    let made = good(&geometry, "wall_points = \"as-given\"");

    assert_eq!(made.grid.wall()[4..points.len() - 4], *surfaces);
    let refused =
        make(&case(&geometry, "topology = \"C\"\nwall_points = \"as-given\"")).unwrap_err();
    assert!(refused.to_string().contains("one point was expected"), "{refused}");
    for (keys, remedy) in [
        ("max_turn = 5.0", "leave grid.max_turn out"),
        ("refine = 2", "leave grid.refine out"),
        ("points_upper = 91", "leave grid.points_upper out"),
    ] {
        let text = format!("[geometry]\n{geometry}\n[grid]\nwall_points = \"as-given\"\n{keys}\n");
        let refused = Case::from_toml(&text, Path::new("wing.toml"), &[]).unwrap_err();
        assert!(refused.hint().unwrap().contains(remedy), "{refused}");
    }
    let disagrees = make(&case(&geometry, "wall_points = \"as-given\"\nni = 33")).unwrap_err();
    let said = "33 points along the wall, 161 were expected: those of the section";
    assert!(disagrees.to_string().contains(said), "{disagrees}");
}
