//! The shape of the grid that `auto`, the default, chooses.

use std::fmt::Write as _;

use gridgen::grid::Topology;

use super::{refusals, resolve};

/// A section whose trailing edge is round: an ellipse, as points that begin at its rear end.
fn round() -> String {
    let mut points = String::new();
    for k in 0..=80 {
        let angle = f64::from(k) / 80.0 * std::f64::consts::TAU;
        let angle = if k == 80 { 0.0 } else { angle };
        write!(points, "[{}, {}], ", 0.5 + 0.5 * angle.cos(), 0.1 * angle.sin()).unwrap();
    }
    format!("points = [{points}]")
}

/// A wedge of 10 % thickness with a base of this thickness.
fn wedge(base: f64) -> String {
    let base = 0.5 * base;
    format!(
        "points = [[1.0, {base}], [0.8, 0.025], [0.6, 0.04], [0.3, 0.05], [0.1, 0.035], [0.02, 0.015], [0.0, 0.0], \
         [0.02, -0.015], [0.1, -0.035], [0.3, -0.05], [0.6, -0.04], [0.8, -0.025], [1.0, -{base}]]"
    )
}

fn cells_of_wake(geometry: &str, grid: &str) -> Option<usize> {
    let text = format!("[geometry]\n{geometry}\n[grid]\n{grid}\n");
    let problem = resolve(&text).unwrap().settle().unwrap();
    match problem.topology {
        Topology::C { wake } => Some(wake),
        _ => None,
    }
}

/// 3/14 of 256 cells are 54.9, of which 56 is the nearest multiple of 8. The cut leaves 145 points to the section.
#[test]
fn auto_is_c_for_a_sharp_edge_and_o_for_every_other() {
    let naca = "naca = \"2412\"";
    let edge = |closing: &str| format!("{naca}\ntrailing_edge = \"{closing}\"");
    let file = |name: &str| format!("file = \"{}/{name}\"", env!("CARGO_MANIFEST_DIR"));
    let (e387, tasopt) =
        (file("cases/airfoils/e387.dat"), file("tests/data/airfoils/tasopt-b.dat"));
    let turned = |angle: f64| format!("{naca}\nangle = {angle:?}");
    // By 38 degrees, nose up.
    let pitched = file("tests/data/airfoils/pitched-38deg-mm.csv") + "\ntrailing_edge = \"wedge\"";
    let (c, o) = (Some(56), None);
    for (geometry, grid, wake) in [
        (naca, "", c),
        (&edge("sharp"), "", c),
        (&edge("wedge"), "", c),
        (&edge("extended"), "", c),
        (&edge("blunt"), "", o),
        (&edge("rounded"), "", o),
        (&format!("{naca}\nedge_thickness = 0.01"), "", o),
        (&format!("{naca}\nedge_thickness = 0.0"), "", c),
        (&format!("{}\nedge_thickness = 0.01", edge("wedge")), "", c),
        (&format!("{naca}\nangle = 8.0\nflap = {{}}"), "", c),
        (&e387, "", c),
        (&tasopt, "", c),
        (&wedge(0.0), "", c),
        (&wedge(5e-4), "", c),
        (&wedge(2e-2), "", o),
        (&format!("{}\ntrailing_edge = \"sharp\"", wedge(2e-2)), "", c),
        (&round(), "", o),
        ("joukowski = {}", "", c),
        ("ellipse = {}", "", o),
        ("wing_body = {}", "", o),
        (naca, "reach = 0.5", o),
        (naca, "seam = \"periodic\"", o),
        (naca, "seam = \"auto\"", c),
        (naca, "ni = 129", Some(24)),
        (naca, "wake = 40", Some(40)),
        (naca, "wake_length = 5.0", c),
        (naca, "points_upper = 101\npoints_lower = 81", Some(64)),
        (&wedge(2e-2), "points_upper = 101\npoints_lower = 81", o),
        (naca, "layers = { count = 20 }", c),
        (&turned(75.0), "", c),
        (&turned(-75.0), "", c),
        (&turned(75.1), "", o),
        (&turned(-90.0), "", o),
        (&turned(180.0), "", o),
        (&turned(-180.0), "", o),
        (&pitched, "", c),
        (&format!("{pitched}\nangle = 40.0"), "", o),
        (&format!("{pitched}\nangle = -90.0"), "", c),
        (naca, "clusters = [{ x = 0.6, spacing = 2e-3 }]\nni = 385", Some(80)),
    ] {
        for topology in ["", "topology = \"auto\"\n"] {
            let found = cells_of_wake(geometry, &[topology, grid].concat());

            assert_eq!(found, wake, "{geometry} {grid}");
        }
    }
}

/// Each is refused by the file or by its section, whatever it is that makes the grid an O-grid.
#[test]
fn keys_of_a_wake_are_refused_where_auto_is_an_o_grid() {
    let with =
        |geometry: &str, grid: &str| resolve(&format!("[geometry]\n{geometry}\n[grid]\n{grid}\n"));
    let naca = "naca = \"2412\"";
    let blunt = "naca = \"2412\"\ntrailing_edge = \"blunt\"";
    let refused = [
        with("ellipse = {}", "wake = 40"),
        with(naca, "reach = 0.5\nwake_length = 5.0"),
        with(naca, "seam = \"held\"\nwake_direction = 2.0"),
        with(blunt, "wake = 40"),
        with("naca = \"2412\"\nedge_thickness = 0.01", "topology = \"auto\"\nwake_spacing = 1.0"),
        with("naca = \"2412\"\ntrailing_edge = \"rounded\"", "wake = 40"),
    ];
    insta::assert_snapshot!(refusals(refused), @r#"
    wing.toml:4: grid.wake = 40: expected a C-grid; this is an O-grid, since the contour has no trailing edge
    hint: leave grid.wake out
    wing.toml:5: grid.wake_length = 5.0: expected a C-grid; this is an O-grid, since a grid that ends at a distance from the wall closes around it
    hint: leave grid.wake_length out
    wing.toml:5: grid.wake_direction = 2.0: expected a C-grid; this is an O-grid, since grid.seam is given, which C-grids do not have
    hint: leave grid.wake_direction out, or grid.seam
    wing.toml:5: grid.wake = 40: expected a C-grid; this is an O-grid, since the trailing edge has a base
    hint: leave grid.wake out, or close the base by geometry.trailing_edge = "wedge"
    wing.toml:6: grid.wake_spacing = 1.0: expected a C-grid; this is an O-grid, since the trailing edge has a base
    hint: leave grid.wake_spacing out, or close the base by geometry.trailing_edge = "wedge"
    wing.toml:5: grid.wake = 40: expected a C-grid; this is an O-grid, since the trailing edge is round
    hint: leave grid.wake out, or close the base by geometry.trailing_edge = "wedge"
    "#);
    let settled = [
        (wedge(2e-2), "wake = 40"),
        (wedge(2e-2), "wall_points = \"as-given\"\nwake_first_cell = 1e-3"),
        (round(), "topology = \"auto\"\nwake_length = 5.0"),
        (format!("{naca}\nangle = 90.0"), "wake = 40"),
    ]
    .map(|(geometry, grid)| with(&geometry, grid).unwrap().settle());
    insta::assert_snapshot!(refusals(settled), @r#"
    wing.toml:4: grid.wake: a C-grid was expected; this is an O-grid, since the trailing edge has a base
    hint: leave grid.wake out, or close the base by geometry.trailing_edge = "wedge"
    wing.toml:5: grid.wake_first_cell: a C-grid was expected; this is an O-grid, since the trailing edge has a base
    hint: leave grid.wake_first_cell out
    wing.toml:5: grid.wake_length: a C-grid was expected; this is an O-grid, since the trailing edge is round
    hint: leave grid.wake_length out, or choose grid.topology = "C"
    wing.toml:5: grid.wake: a C-grid was expected; this is an O-grid, since the section is turned by more than 75 degrees
    hint: leave grid.wake out
    "#);
    // The remedies.
    assert!(with(blunt, "").unwrap().settle().is_ok());
    let closed = blunt.replace("blunt", "wedge");
    assert_eq!(cells_of_wake(&closed, "wake = 40"), Some(40));
    let closed = format!("{}\ntrailing_edge = \"wedge\"", wedge(2e-2));
    assert_eq!(cells_of_wake(&closed, "wake = 40"), Some(40));
    assert_eq!(cells_of_wake(&round(), "topology = \"C\"\nwake = 40"), Some(40));
}
