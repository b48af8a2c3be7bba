//! Values out of range.

use super::{refusals, resolve, resolve_with, shown};

#[test]
fn values_out_of_range_are_refused() {
    let refused = vec![
        resolve_with("[grid]\nni = 8\n"),
        resolve_with("[grid]\nni = 100000\nnj = 100000\n"),
        resolve_with("[grid]\nfirst_cell = 0\n"),
        resolve_with("[grid]\nfirst_cell = -1e-5\n"),
        resolve_with("[grid]\nfirst_cell = 20.0\n"),
        resolve_with("[grid]\nnj = 5\nfar_field = 1.0\nfirst_cell = 0.25\n"),
        resolve_with("[grid]\ny_plus = 1000.0\nreynolds = 1e3\n"),
        resolve_with("[grid]\nnj = 1000000\nni = 17\nfar_field = 1.0\ntopology = 'O'\n"),
        resolve_with("[grid]\nfar_field = inf\n"),
        resolve_with("[grid]\nni = 21\nbase_cells = 11\n"),
        resolve_with("[newton]\nforcing_max = 0.05\n"),
    ];

    insta::assert_snapshot!(refusals(refused), @r#"
    wing.toml:4: grid.ni = 8: expected an integer from 9 to 1000000
    wing.toml:4: grid.ni = 100000: expected grid.ni × grid.nj of at most 1073741823, here 100000 × 100000
    hint: choose fewer points
    wing.toml:4: grid.first_cell = 0: expected a height greater than 0 and less than 1e6, or a list of heights along the wall
    wing.toml:4: grid.first_cell = -1e-5: expected a height greater than 0 and less than 1e6, or a list of heights along the wall
    wing.toml:4: grid.first_cell = 20.0: expected a first cell below the uniform spacing far_field/(nj - 1) = 0.117, here 20
    hint: choose a smaller first cell, fewer points in j, or a farther far field
    wing.toml:6: grid.first_cell = 0.25: expected a first cell below the uniform spacing far_field/(nj - 1) = 0.25, here 0.25
    hint: choose a smaller first cell, fewer points in j, or a farther far field
    wing.toml:4: grid.y_plus = 1000.0: expected a first cell below the uniform spacing far_field/(nj - 1) = 0.117, here 4.88
    hint: choose a smaller first cell, fewer points in j, or a farther far field
    wing.toml:4: grid.nj = 1000000: expected a first cell below the uniform spacing far_field/(nj - 1) = 1e-6, here 1e-5
    hint: choose a smaller first cell, fewer points in j, or a farther far field
    wing.toml:4: grid.far_field = inf: expected a number at least 1 and at most 1e6
    wing.toml:5: grid.base_cells = 11: expected at most (grid.ni - 1)/2 = 10
    hint: choose fewer cells on the base, or more points around the body
    wing.toml:4: newton.forcing_max = 0.05: expected forcing_min ≤ forcing_initial ≤ forcing_max, here 1e-4, 0.1, 0.05
    hint: set all three, or leave all three out
    "#);
}

/// At 3e-10 chords some Newton steps are taken, below 1e-10 none: the round-off of the nodes then exceeds the
/// residual of the start.
#[test]
fn a_first_cell_that_round_off_leaves_unsolved_is_refused() {
    for topology in ["O", "C", "half"] {
        let settle = |first_cell: &str| {
            let text = format!(
                "geometry.naca = '0012'\n[grid]\ntopology = '{topology}'\nfirst_cell = {first_cell}\n"
            );
            resolve(&text).unwrap().settle().map(|_| ()).map_err(|error| error.to_string())
        };
        for first_cell in ["3.1e-10", "1e-12", "1e-30", "1e-300"] {
            let refused = settle(first_cell).unwrap_err();
            let said = format!(
                "wing.toml:4: first_cell = {first_cell}: 3.2e-10 chords or more, at which round-off allows a solve, \
                 was expected"
            );
            assert_eq!(refused, said, "{topology}");
        }
        settle("3.2e-10").unwrap();
    }
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
        if least > 9 {
            assert_eq!(
                shown(with(least - 1)),
                format!(
                    "wing.toml:5: grid.ni = {}: expected {least} to {most} points on a grid of this \
                     topology
hint: the least grid.ni is {least} here",
                    least - 1
                )
            );
        }
    }
    let refined =
        |ni: usize| resolve_with(&format!("[grid]\ntopology = \"O\"\nni = {ni}\nrefine = 2\n"));
    assert_eq!(refined(9).unwrap().grid.ni, 17);
    let half = resolve_with("[grid]\ntopology = \"half\"\nni = 500001\nnj = 5\n");
    assert!(shown(half).contains("expected 9 to 500000 points"));
}

/// H. Blasius, after Schlichting, eq. 7.32: at Re = 100 Cf is .0664, where the formula for turbulent plates
/// gives .060.
#[test]
fn wall_units_at_low_reynolds_numbers_are_those_of_a_laminar_plate() {
    let height = |reynolds: f64| {
        let text = format!("[grid]\ny_plus = 1e-2\nreynolds = {reynolds}\nreference_length = 1\n");
        resolve_with(&text).unwrap().grid.first_cell
    };

    assert!((height(100.0) / (1e-4 / 0.0332_f64.sqrt()) - 1.0).abs() < 1e-12);
    assert!((height(4e5) / (1e-2 / (4e5 * (0.332 / 4e5_f64.sqrt()).sqrt())) - 1.0).abs() < 1e-12);
    // (2 log₁₀ 5e5 − 0.65)^−2.3 = 0.0042457.
    assert!((height(5e5) / (1e-2 / (5e5 * 2.122_86e-3_f64.sqrt())) - 1.0).abs() < 1e-5);
}

#[test]
fn a_section_is_turned_by_up_to_half_a_turn() {
    let turned = |angle: &str| resolve_with(&format!("angle = {angle}\n"));

    for angle in ["180.0", "-180.0", "135.0"] {
        assert_eq!(turned(angle).unwrap().geometry.angle.to_string(), angle.trim_end_matches(".0"));
    }
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
    for key in
        ["points_upper = 81", "clusters = [{ x = 0.5, spacing = 0.01 }]", "wall_growth = 1.1"]
    {
        let refused = shown(resolve(&format!("[geometry.ellipse]\n[grid]\n{key}\n")));

        let said = "expected a section with a leading and a trailing edge";
        assert!(refused.contains(said), "{refused}");
    }
}
