//! Values out of range.

use gridgen::case::first_cell_from_y_plus;

use super::{refusals, resolve, resolve_with, shown};

/// At 3e-10 chords some Newton steps are taken, below 1e-10 none: the round-off of the nodes then exceeds the
/// residual of the start.
#[test]
fn a_first_cell_that_round_off_leaves_unsolved_is_refused() {
    for topology in ["O", "C", "half"] {
        let settle = |first_cell: &str| {
            let text = format!(
                "geometry.naca = '0012'\n[grid]\ntopology = '{topology}'\nfirst_cell = {first_cell}\n"
            );
            resolve(&text).unwrap().settle()
        };
        for first_cell in ["3.1e-10", "1e-12", "1e-30", "1e-300"] {
            let refused = settle(first_cell).err().unwrap().to_string();
            let said = format!(
                "wing.toml:4: first_cell = {first_cell}: 3.2e-10 chords or more, at which round-off allows a solve, \
                 was expected"
            );
            assert_eq!(refused, said, "{topology}");
        }
        assert!(settle("3.2e-10").is_ok(), "{topology}");
    }
}

#[test]
fn first_cells_are_measured_against_the_outer_line_of_the_case() {
    let boxed = "[grid]\nfirst_cell = 0.1\n[domain]\nbox = [-1, 3, -1, 1]\n";
    let refused = ["[cascade]\npitch = 1e-5\n", boxed].map(resolve_with);

    insta::assert_snapshot!(refusals(refused), @"
    wing.toml:4: cascade.pitch = 1e-5: expected a first cell below the uniform spacing reach/(nj - 1) = 3.91e-9, here 1e-5
    hint: choose a smaller first cell, fewer points in j, or a larger reach
    wing.toml:4: grid.first_cell = 0.1: expected a first cell below the uniform spacing extent/(nj - 1) = 0.00859, here 0.1
    hint: choose a smaller first cell, fewer points in j, or a larger [domain]
    ");
}

#[test]
fn too_few_points_for_a_topology_are_refused_with_its_range() {
    for (topology, least, most) in
        [("O", 17, 1_000_000), ("C", 21, 1_000_000), ("auto", 21, 1_000_000), ("half", 9, 500_000)]
    {
        let with = |ni: usize| {
            resolve_with(&format!("[grid]\ntopology = \"{topology}\"\nni = {ni}\nnj = 17\n"))
        };

        assert_eq!(with(least).unwrap().grid.ni, least);
        // No grid has fewer than 9 points by the range of the key.
        if least > 9 {
            let few = least - 1;
            let range = format!("expected {least} to {most} points on a grid of this topology");
            let said = format!(
                "wing.toml:5: grid.ni = {few}: {range}\nhint: the least grid.ni is {least} here"
            );
            assert_eq!(shown(with(few)), said);
        }
    }
    let refined =
        |ni: usize| resolve_with(&format!("[grid]\ntopology = \"O\"\nni = {ni}\nrefine = 2\n"));
    assert_eq!(refined(9).unwrap().grid.ni, 17);
    let half = resolve_with("[grid]\ntopology = \"half\"\nni = 500001\nnj = 5\n");
    assert!(shown(half).contains("expected 9 to 500000 points"));
    // Points that follow from those of the surfaces are refused there.
    let surfaces = resolve_with("[grid]\ntopology = 'O'\npoints_lower = 5\npoints_upper = 5\n");
    let message = shown(surfaces);
    assert!(message.starts_with("wing.toml:6: grid.points_upper = 5: expected 17 to"), "{message}");
}

/// H. Blasius, after Schlichting, eq. 7.32: at Re = 100 Cf is .0664, where the formula for turbulent plates
/// gives .060. By hand, at Re = 1e6: Cf = 11.35^-2.3 = 3.7460e-3, √(Cf/2) = 0.043278, 0.45/(1e6 · 0.043278) = 1.0398e-5.
#[test]
fn wall_units_give_the_height_of_a_flat_plate() {
    let height = |reynolds: f64| {
        let text = format!("[grid]\ny_plus = 1e-2\nreynolds = {reynolds}\nreference_length = 1\n");
        resolve_with(&text).unwrap().grid.first_cell
    };

    assert!((height(100.0) / (1e-4 / 0.0332_f64.sqrt()) - 1.0).abs() < 1e-12);
    assert!((height(4e5) / (1e-2 / (4e5 * (0.332 / 4e5_f64.sqrt()).sqrt())) - 1.0).abs() < 1e-12);
    // (2 log₁₀ 5e5 − 0.65)^−2.3 = 0.0042457.
    assert!((height(5e5) / (1e-2 / (5e5 * 2.122_86e-3_f64.sqrt())) - 1.0).abs() < 1e-5);
    let height = first_cell_from_y_plus(0.9, 1e6, 0.5);
    assert!((height / 1.03983e-5 - 1.0).abs() < 1e-4, "{height:e}");
    let case = resolve_with("[grid]\ny_plus = 0.9\nreynolds = 1e6\n").unwrap();
    assert_eq!(case.grid.first_cell, height);
}

#[test]
fn keys_along_the_wall_that_cannot_be_used_are_refused() {
    for (keys, said) in [
        ("topology = \"half\"\npoints_upper = 81", "expected a grid around both surfaces"),
        ("topology = \"O\"\nwake_spacing = 0.5", "expected grid.topology = \"C\" or \"auto\""),
        ("wall_points = \"as-given\"", "expected the section of geometry.file or points"),
        ("clusters = 0.6", "expected a list of clusters"),
        ("clusters = [0.6]", "expected a list of clusters"),
        ("clusters = [{ x = 0.6 }]", "expected a list of clusters"),
        ("clusters = [{ x = 1.6, spacing = 1e-3 }]", "expected a list of clusters"),
        ("clusters = [{ x = 0.6, spacing = 0.0 }]", "expected a list of clusters"),
        ("clusters = [{ x = 0.6, spacing = 1e-3, side = \"upper\" }]", "a list of clusters"),
        ("clusters = [{ x = 0.6, spacing = 1e-3, surface = \"top\" }]", "a list of clusters"),
    ] {
        let refused = shown(resolve_with(&format!("[grid]\n{keys}\n")));

        assert!(refused.contains(said), "{keys}: {refused}");
    }
    resolve_with("[grid]\nclusters = [{ x = 1, spacing = 1e-3 }, { x = 0, spacing = 0.1, surface = \"lower\" }]\n")
        .unwrap();
    let endless = resolve_with("[grid]\nmax_spacing = 1e-300\n").unwrap().settle();
    let message = endless.err().unwrap().to_string();
    assert!(message.contains("points: about 18446744073709551615 are needed"), "{message}");
    for key in
        ["points_upper = 81", "clusters = [{ x = 0.5, spacing = 0.01 }]", "wall_growth = 1.1"]
    {
        let refused = shown(resolve(&format!("[geometry.ellipse]\n[grid]\n{key}\n")));

        let said = "expected a section with a leading and a trailing edge";
        assert!(refused.contains(said), "{refused}");
    }
}
