//! Keys of the normal direction: growth of the layers, measured on the grid.

use gridgen::case::Case;
use gridgen::error::Error;
use gridgen::generate::GridResult;
use gridgen::grid::Grid;

use support::vectors::distance;

use super::{assert_steps, case, good, make};

/// Ratios of neighbouring edges of the line i from the wall.
fn growth(grid: &Grid, i: usize) -> Vec<f64> {
    let edge = |j: usize| distance(grid.point(i, j), grid.point(i, j + 1));
    (1..grid.nj - 1).map(|j| edge(j) / edge(j - 1)).collect()
}

/// The grid of these keys, which takes few steps.
fn made(keys: &str) -> GridResult {
    let made = good(&format!("[output]\npictures = false\n{keys}"));
    assert_steps(&made, [6.0, 12.0], keys);
    made
}

/// Topologies, a section at an angle, a thick one, and one without an edge.
const SECTIONS: [&str; 6] = [
    "[geometry]\nnaca = \"0012\"\n[grid]\n",
    "[geometry]\nnaca = \"0012\"\n[grid]\ntopology = \"C\"\n",
    "[geometry]\nnaca = \"0012\"\ntrailing_edge = \"blunt\"\nangle = 4\n[grid]\n",
    "[geometry]\nnaca = \"0012\"\n[grid]\ntopology = \"half\"\n",
    "[geometry]\nnaca = \"4430\"\n[grid]\n",
    "[geometry]\nellipse = {}\n[grid]\n",
];

/// From the first cell, 1e-5, to the far field, 15, intervals that grow by g are n = ln(1 + 15e5 (g − 1))/ln g. The
/// law governs away from the edge until the lines follow the far field.
#[test]
fn cells_grow_as_asked_in_place_of_nj() {
    for (asked, nj) in [(1.1, 127), (1.3, 51)] {
        for section in SECTIONS {
            let made = made(&format!("{section}ni = 97\ngrowth = {asked}\n"));

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
        let keys = format!("{section}ni = 97\nlayers = {{ count = 30, growth = 1.15 }}\n");

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
        let found = good(&text);
        let note = found.notices.iter().find(|note| note.contains("along j, more than 1.5"));
        let note = note.unwrap_or_else(|| panic!("{:?}", found.notices));
        let (_, value) = note.split_once("grid.nj: ").unwrap();
        let value = value.split(' ').next().unwrap();

        let better = good(&text.replace(&format!("nj = {nj}\n"), &format!("nj = {value}\n")));

        assert!(found.quality.max_growth_j > 4.0);
        let growth = better.quality.max_growth_j;
        assert!(growth < 1.3, "{value}: {growth}");
        assert!(!better.notices.iter().any(|note| note.contains("along j")));
    }
}

/// Keys, those of a change by the remedy, and findings: the direction, the key that is named, and the share of the growth
/// that the change leaves at most.
type Remedy = (&'static str, &'static str, &'static [(&'static str, &'static str, f64)]);

const REMEDIES: [Remedy; 6] = [
    (
        "naca = \"0012\"\nedge_thickness = 0.02\n[grid]\ntopology = \"C\"\nni = 193\nnj = 65\n\
         trailing_edge_spacing = 1e-3\n",
        "trailing_edge_spacing = 1e-3\n->",
        &[("i", "grid.trailing_edge_spacing: leave it out", 0.02)],
    ),
    (
        "naca = \"0012\"\nedge_thickness = 0.02\n[grid]\nni = 129\nnj = 49\ntrailing_edge_spacing = 1e-5\n",
        "trailing_edge_spacing = 1e-5\n->",
        &[("i", "grid.trailing_edge_spacing: leave it out", 0.05)],
    ),
    (
        EDGE,
        "trailing_edge_spacing = 2.5e-3->trailing_edge_spacing = 5e-3",
        &[("i", TWICE, 0.85), ("j", TWICE, 0.95)],
    ),
    (
        "naca = \"2412\"\n[grid]\ntopology = \"C\"\nnj = 65\nni = 33\n",
        "ni = 33->ni = 65",
        &[("i", "grid.ni: more points lessen it", 0.6)],
    ),
    (
        "ellipse = { thickness = 1.0 }\n[grid]\nni = 97\nnj = 65\nfirst_cell = 1e-3\n\
         [domain]\nbox = [-2.0, 4.0, -2.0, 2.1]\n",
        "nj = 65->nj = 129",
        &[("j", MORE_LAYERS, 0.9)],
    ),
    (
        "naca = \"4412\"\n[grid]\ntopology = \"C\"\nni = 193\nwake = 32\nnj = 65\ny_plus = 1\nreynolds = 1e6\n\
         [domain]\nbox = [-1.7, 4.0, -0.75, 1.0]\nfloor = \"wall\"\nroof = \"wall\"\nwall_y_plus = 1\n",
        "nj = 65->nj = 129",
        &[("i", MORE_LAYERS, 0.95)],
    ),
];

const EDGE: &str = "naca = \"2412\"\n[grid]\ntopology = \"O\"\nni = 129\nnj = 65\nfar_field = 30\n\
                    first_cell = 2.5e-3\ntrailing_edge_spacing = 2.5e-3\n";
const TWICE: &str = "grid.trailing_edge_spacing: 5.0e-3, twice the height of the first cell";
const MORE_LAYERS: &str = "grid.nj: more layers lessen it, which is largest beside corners";

#[test]
fn the_key_that_a_finding_on_growth_names_lessens_it() {
    for (keys, change, findings) in REMEDIES {
        let text = format!("[geometry]\n{keys}");
        let (old, new) = change.split_once("->").unwrap();
        let [found, better] = [good(&text), good(&text.replace(old, new))];

        for (along, remedy, share) in findings {
            let start = |note: &&String| note.contains(&format!(" along {along}, more than "));
            let note = found.notices.iter().find(start);
            let told = note.is_some_and(|note| note.contains(remedy));
            assert!(told, "{keys}: {:?}", found.notices);
            let growth = |made: &GridResult| match *along {
                "i" => made.quality.max_growth_i,
                _ => made.quality.max_growth_j,
            };
            let [before, after] = [&found, &better].map(growth);
            assert!(after < share * before, "{keys}: {before} {after}");
        }
    }
}

fn heights(grid: &Grid) -> Vec<f64> {
    grid.topology.wall(grid.ni).map(|i| height(grid, i)).collect()
}

fn height(grid: &Grid, i: usize) -> f64 {
    distance(grid.point(i, 0), grid.point(i, 1))
}

/// By hand: at x/c = 0.25 of the pairs (0, 1e-5), (0.5, 1e-4) the height is the root of their product.
#[test]
fn first_cells_vary_tenfold_along_the_wall_as_asked() {
    for section in SECTIONS {
        let keys = "first_cell = [[0.0, 1e-5], [0.5, 1e-4], [1, 1e-5]]\n";
        let made = made(&format!("{section}ni = 129\nnj = 65\n{keys}"));

        let (grid, chord) = (&made.grid, |share: f64| 1e-5 * 10_f64.powf(share));
        let x: Vec<f64> = grid.topology.wall(grid.ni).map(|i| grid.x[i]).collect();
        let turned = made.case.geometry.angle.abs() > 0.0;
        let ends = [f64::min, f64::max].map(|end| x.iter().copied().fold(x[0], end));
        let found = heights(grid);
        for (x, height) in x.iter().zip(&found).filter(|_| !turned) {
            let share = (x - ends[0]) / (ends[1] - ends[0]);
            let asked = chord(1.0 - (2.0 * share - 1.0).abs());
            let off = (height / asked - 1.0).abs();
            assert!(off < 1e-4, "{section}: {height} at {share}, asked {asked}");
        }
        let range = [f64::min, f64::max].map(|end| found.iter().copied().fold(found[0], end));
        assert!((range[0] / 1e-5 - 1.0).abs() < 1e-4, "{range:?}");
        assert!(range[1] > 0.9e-4 && range[1] < 1.0001e-4, "{range:?}");
        assert!(made.quality.max_growth_j < 1.5, "{section}: {}", made.quality.max_growth_j);
    }
}

/// By hand: 1e-5 · 3^x on the upper surface, 2e-5 on the lower one, the root of their product where both meet.
#[test]
fn each_surface_and_each_point_has_the_height_that_it_is_given() {
    let blunt = "[geometry]\nnaca = \"0012\"\ntrailing_edge = \"blunt\"\n[grid]\n";
    for section in [SECTIONS[0], SECTIONS[1], blunt] {
        let size = format!("{section}ni = 129\nnj = 65\n");
        let surfaces = "{ upper = [[0, 1e-5], [1, 3e-5]], lower = [[0.0, 2e-5]] }";

        let by_surface = made(&format!("{size}first_cell = {surfaces}\n"));

        let (grid, found) = (&by_surface.grid, heights(&by_surface.grid));
        let off = |height: f64, asked: f64| (height / asked - 1.0).abs();
        let (nose, end) = (found.len() / 2, found.len() - 1);
        for (k, i) in grid.topology.wall(grid.ni).enumerate() {
            let x = grid.x[i];
            // Within 0.05 of both ends the heights of the surfaces pass into each other.
            if (0.051..0.949).contains(&x) {
                let asked = if k < nose { 2e-5 } else { 1e-5 * 3_f64.powf(x) };
                assert!(off(found[k], asked) < 1e-4, "{section}{x}: {}", found[k]);
            }
        }
        assert!(off(found[nose], 2e-10_f64.sqrt()) < 1e-4, "{section}{}", found[nose]);
        assert!(off(found[0], 6e-10_f64.sqrt()) < 1e-4, "{section}{}", found[0]);
        let half = by_surface.case.grid.base_cells.unwrap_or(0) / 2;
        let corners = [(found[half], 2e-5), (found[end - half], 3e-5)];
        assert!(half == 0 || corners.iter().all(|(height, asked)| off(*height, *asked) < 1e-3));

        // The heights given for each point are met, and the resolved case makes the same grid.
        let by_point = made(&format!("{size}first_cell = {found:?}\n")).grid;
        let worst = heights(&by_point).into_iter().zip(&found).map(|(a, b)| off(a, *b));
        assert!(worst.fold(0.0, f64::max) < 1e-6, "{section}");
        let again = make(&case(&by_surface.case.to_toml_string().unwrap())).unwrap();
        assert!(again.grid == *grid, "{section}: the resolved case makes another grid");
    }
}

/// From 1e-5 at the edge to 1e-3 at the outflow, with the distance from the edge but for a smooth beginning of one chord.
#[test]
fn first_cells_grow_along_the_cut_to_the_height_at_the_outflow() {
    let text = "[geometry]\nnaca = \"0012\"\n[grid]\ntopology = \"C\"\nni = 225\nnj = 97\nwake = 48\n\
                wake_first_cell = 1e-3\n";

    let made = made(text);

    for k in 1..48 {
        for i in [48 - k, 224 - 48 + k] {
            let rise = |i: usize| (made.grid.point(i, 0)[0] - 1.0).hypot(1.0) - 1.0;
            let asked = 1e-5 + (1e-3 - 1e-5) * rise(i) / rise(1);
            let found = height(&made.grid, i);
            assert!((found / asked - 1.0).abs() < 1e-4, "{k}: {found}, asked {asked}");
        }
    }
    assert!(heights(&made.grid).iter().all(|h| (h / 1e-5 - 1.0).abs() < 1e-4));
    assert!(made.quality.max_growth < 1.6, "{:?}", made.quality);
}

#[test]
fn lines_rise_along_the_wake_without_waves() {
    for (section, limit) in [
        ("naca = \"0012\"", 3.0),
        ("file = \"cases/airfoils/e387.dat\"", 3.0),
        ("naca = \"0030\"", 7.0),
    ] {
        for (first, outflow, far_field) in [(1e-4, 1e-2, 15), (1e-6, 1e-2, 15), (1e-5, 1e-3, 500)] {
            let made = made(&format!(
                "[geometry]\n{section}\n[grid]\ntopology = \"C\"\nni = 161\nnj = 49\nwake = 36\nfirst_cell = {first}\n\
                 wake_first_cell = {outflow}\nfar_field = {far_field}\n"
            ));

            let waves = made.quality.waves_deg;
            assert!(waves < limit, "{section} {first} {outflow} {far_field}: {waves}");
        }
    }
}

#[test]
fn heights_that_do_not_fit_the_wall_are_refused() {
    let text = "geometry.naca = '0012'\n[grid]\nni = 65\nfirst_cell = [1e-5, 2e-5, 1e-5]";

    let refused = make(&case(text)).unwrap_err();

    let words = "wing.toml:4: grid.first_cell has 3 heights, but the wall has 65 points";
    assert!(refused.to_string().starts_with(words), "{refused}");
}

#[test]
fn combinations_of_these_keys_make_good_grids_or_name_a_key() {
    let (count, mut random) = (40, support::random::Random::new(5));
    let mut good = 0;
    for _ in 0..count {
        let section = random.pick(&SECTIONS);
        // One of the keys that bars separate.
        let mut pick = |keys: &str| random.pick(&keys.split('|').collect::<Vec<_>>()).to_string();
        let first = pick("1e-6|1e-5|2e-4|1e-2");
        let text = [
            (*section).to_owned(),
            pick("ni = 65|ni = 97|ni = 129"),
            pick("||growth = 1.15|growth = 1.3|nj = 33|nj = 65"),
            pick("|layers = { count = 20 }|layers = { count = 12, growth = 1.05 }"),
            "first_cell = ".to_owned()
                + &pick(&format!(
                    "[[0.1, {first}], [0.6, 2e-5]]|{{ upper = [[0, 1e-5]], lower = [[0, {first}], [1, 3e-6]] }}|\
                     {first}|{first}"
                )),
            pick("|wake_first_cell = 1e-4"),
            pick(
                "|||clusters = [{ x = 0.6, spacing = 8e-3, surface = \"upper\" }]|max_spacing = 0.05|wall_growth = 1.3|\
                 points_upper = 45|wake_spacing = 0.5",
            ),
            pick("|far_field = 100"),
            "[quality]\nretry = false".to_owned(),
            pick("|max_growth = 1.4|max_growth = 1.2"),
            "[output]\npictures = false\n".to_owned(),
        ];
        let text = text.join("\n");

        let resolved = Case::from_toml(&text, std::path::Path::new("wing.toml"), &[]);
        let made = resolved.map_err(Error::from).and_then(|case| make(&case));

        match made {
            Ok(made) if made.is_good() => {
                let limit = made.case.quality.max_growth.unwrap_or(f64::INFINITY);
                assert!(made.quality.max_growth <= limit, "{text}{:?}", made.quality);
                assert!(made.newton_iterations() <= 20, "{text}{}", made.newton_iterations());
                good += 1;
            }
            Ok(made) => {
                let hint = made.hint().unwrap();
                let named = ["grid.", "initial.", "quality."].iter().any(|key| hint.contains(key));
                assert!(named, "{text}{}: {hint}", made.verdict);
            }
            Err(error) => {
                let said = format!("{error} {}", error.hint().unwrap_or_default());
                let named = ["grid.", "points_upper"].iter().any(|key| said.contains(key));
                assert!(named, "{text}{said}");
            }
        }
    }
    assert!(8 * good >= count, "{good} of {count}");
}
