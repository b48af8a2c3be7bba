//! Keys of the normal direction: growth of the layers, measured on the grid.

use gridgen::generate::GridResult;
use gridgen::grid::Grid;

use super::{case, make};

/// Ratios of neighbouring edges of the line i from the wall.
fn growth(grid: &Grid, i: usize) -> Vec<f64> {
    let edge = |j: usize| {
        let ([x, y], [u, v]) = (grid.point(i, j), grid.point(i, j + 1));
        (u - x).hypot(v - y)
    };
    (1..grid.nj - 1).map(|j| edge(j) / edge(j - 1)).collect()
}

/// The grid of these keys, which takes few steps.
fn made(keys: &str) -> GridResult {
    let made = make(&case(&format!("[output]\npictures = false\n{keys}"))).unwrap();
    assert!(made.is_good(), "{keys}: {}", made.verdict);
    assert!(made.newton_iterations() <= 6, "{keys}: {} steps", made.newton_iterations());
    assert!(made.linear_iterations() <= 12.0, "{keys}: {} iterations", made.linear_iterations());
    made
}

/// The sections of these tests.
const SECTIONS: [&str; 5] = [
    "[geometry]\nellipse = {}\n[grid]\n",
    "[geometry]\nnaca = \"0012\"\n[grid]\n",
    "[geometry]\nnaca = \"0012\"\n[grid]\ntopology = \"C\"\n",
    "[geometry]\nnaca = \"0012\"\ntrailing_edge = \"blunt\"\n[grid]\n",
    "[geometry]\nnaca = \"0012\"\n[grid]\ntopology = \"half\"\n",
];

/// From the first cell, 1e-5, to the far field, 15, intervals that grow by g are n = ln(1 + 15e5 (g − 1))/ln g. The
/// law governs away from the edge until the lines follow the far field.
#[test]
fn cells_grow_as_asked_in_place_of_nj() {
    for (asked, nj) in [(1.1, 127), (1.15, 90), (1.3, 51)] {
        for section in SECTIONS {
            let made = made(&format!("{section}ni = 129\ngrowth = {asked}\n"));

            assert_eq!(made.grid.nj, nj, "{section}");
            let i = made.grid.ni / 3;
            let within = growth(&made.grid, i).into_iter().take(nj / 2);
            for found in within {
                assert!((found / asked - 1.0).abs() < 0.01, "{section}: {found}, asked {asked}");
            }
        }
    }
}

#[test]
fn layers_near_the_wall_have_their_growth_and_pass_to_the_others_without_a_jump() {
    for section in SECTIONS {
        let keys = format!("{section}ni = 129\nlayers = {{ count = 30, growth = 1.15 }}\n");

        let made = made(&keys);

        let growth = growth(&made.grid, made.grid.ni / 3);
        assert!(growth[..29].iter().all(|found| (found / 1.15 - 1.0).abs() < 0.01), "{growth:?}");
        // 98 cells are left for what 30 cover: they grow less.
        assert!(growth[45..90].iter().all(|found| (1.05..1.1).contains(found)), "{growth:?}");
        let jumps = growth[25..80].windows(2).map(|pair| (pair[1] - pair[0]).abs());
        assert!(jumps.fold(0.0, f64::max) < 0.02, "{section}: {growth:?}");
    }
}

#[test]
fn growth_beside_layers_is_that_of_the_cells_beyond() {
    let keys =
        "[geometry]\nellipse = {}\n[grid]\nlayers = { count = 20, growth = 1.1 }\ngrowth = 1.25\n";

    let made = made(keys);

    let growth = growth(&made.grid, 40);
    assert!(growth[..19].iter().all(|found| (found / 1.1 - 1.0).abs() < 0.01), "{growth:?}");
    let beyond = &growth[32..made.grid.nj - 12];
    assert!(beyond.iter().all(|found| (found / 1.25 - 1.0).abs() < 0.03), "{beyond:?}");
}

/// Coarse grids whose first cell or far field does not suit them, and the key and value that a finding names.
#[test]
fn a_grid_that_grows_too_fast_says_which_key_helps_and_its_value_does() {
    let coarse = "naca = \"0012\"\n[grid]\nni = 33\nnj = 17\nfirst_cell = 1e-6\n";
    let far = "naca = \"0012\"\n[grid]\nnj = 20\nfirst_cell = 1e-6\nfar_field = 100\n";
    for (keys, nj) in [(coarse, 17), (far, 20)] {
        let text = format!("[geometry]\n{keys}");
        let options = gridgen::generate::RunOptions {
            backend: gridgen::generate::BackendChoice::Cpu,
            ..Default::default()
        };
        let found = gridgen::generate::make_grid(&case(&text), &options, &mut ()).unwrap();
        let note = found.notices.iter().find(|note| note.contains("along j, more than 1.5"));
        let note = note.unwrap_or_else(|| panic!("{:?}", found.notices));
        let (_, value) = note.split_once("grid.nj: ").unwrap();
        let value = value.split(' ').next().unwrap();

        let better = case(&text.replace(&format!("nj = {nj}\n"), &format!("nj = {value}\n")));
        let better = make(&better).unwrap();

        assert!(found.is_good() && better.is_good());
        assert!(found.quality.max_growth_j > 4.0);
        let growth = better.quality.max_growth_j;
        assert!(growth < 1.3, "{value}: {growth}");
        assert!(!better.notices.iter().any(|note| note.contains("along j")));
    }
}
