//! C-grids and families, as a user makes them.
#![allow(clippy::float_cmp, reason = "welded points are the same to the last bit")]

use std::path::Path;

use gridgen::case::Case;
use gridgen::error::ErrorClass;
use gridgen::generate::{BackendChoice, GridResult, RunOptions, run};
use gridgen::geometry::{TrailingEdge, airfoil_from_naca};
use gridgen::grid::quality::nonorthogonality;
use gridgen::grid::{Topology, Verdict};

use support::walls::nasas_naca_0012;

use super::behind::growth_along_i;
use super::{
    Family, WING_BODY, assert_heights, assert_mirrored, case, family, make, read, report, shipped,
};

fn c_grid(geometry: &str, grid: &str) -> Case {
    case(&format!("[geometry]\n{geometry}\n[grid]\ntopology = \"C\"\n{grid}\n"))
}

/// The grid of a case, with the properties of every grid.
#[track_caller]
fn good(case: &Case) -> GridResult {
    let made = make(case).unwrap();
    assert_good(case, &made);
    made
}

/// Asserts the properties of every grid.
#[track_caller]
fn assert_good(case: &Case, made: &GridResult) {
    let quality = &made.quality;
    assert!(made.converged(), "{}", made.stop);
    assert_eq!(made.folded_cells, 0);
    assert_heights(quality, case.grid.first_cell, 2e-4, &case.name);
    assert!(quality.wall_angle_error_max_deg <= 0.01, "{}", quality.wall_angle_error_max_deg);
}

#[test]
fn the_c_grid_of_nasas_size_is_as_good_as_promised() {
    let made = good(&shipped("naca0012-c.toml", &[]));

    let quality = &made.quality;
    // Measured: 0.0757, 0.0441, 0.01404, 1.381; 5 Newton steps.
    assert!(quality.max_skewness <= 0.083, "{}", quality.max_skewness);
    assert!(quality.p99_skewness <= 0.05, "{}", quality.p99_skewness);
    assert!(quality.mean_skewness <= 0.0155, "{}", quality.mean_skewness);
    assert!(quality.max_growth_j <= 1.4, "{}", quality.max_growth_j);
    assert!(made.newton_iterations() <= 9, "{}", made.newton_iterations());
    assert!((quality.far_field_min - 500.0).abs() < 1e-9, "{}", quality.far_field_min);

    let grid = &made.grid;
    assert_eq!((grid.topology, grid.ni, grid.nj), (Topology::C { wake: 48 }, 225, 65));
    for i in 0..=48 {
        assert_eq!(grid.point(i, 0), grid.point(224 - i, 0), "{i}");
    }
    assert_mirrored(grid, 1e-12, |[x, y]| [x, -y]);
    for j in 0..grid.nj {
        assert_eq!([grid.point(0, j)[0], grid.point(224, j)[0]], [501.0; 2], "outflow, {j}");
    }
}

/// Cells of the wake are a hundred thousand times longer than high. Flow solvers need their centres to lie
/// above each other nevertheless.
#[test]
fn the_centres_of_the_cells_of_a_viscous_wake_stand_above_each_other() {
    let made = good(&c_grid("naca = \"0012\"", "ni = 225\nnj = 65\nfirst_cell = 1e-5"));

    let angles = nonorthogonality(&made.grid);
    // Measured: 8.1°.
    let largest = angles.into_iter().fold(0.0, f64::max);
    assert!(largest < 10.0, "{largest}");
}

#[test]
fn the_default_makes_no_fewer_files_valid_than_an_o_grid() {
    let folders = ["cases/airfoils", "tests/data/airfoils"];
    let folders = folders.map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
    let files = folders.iter().flat_map(|folder| folder.read_dir().unwrap());
    let mut shapes = [0, 0];
    for path in files.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        let made = |topology: &str| {
            let text = format!(
                "[geometry]\nfile = {path:?}\n[grid]\n{topology}ni = 97\nnj = 25\nfirst_cell = 1e-4\n"
            );
            make(&Case::from_toml(&text, Path::new("wing.toml"), &[]).unwrap())
        };

        match made("") {
            Ok(default) if default.is_good() => {
                shapes[usize::from(matches!(default.grid.topology, Topology::C { .. }))] += 1;
            }
            default => {
                let o = made("topology = \"O\"\n").is_ok_and(|made| made.is_good());
                assert!(!o, "{}: {:?}", path.display(), default.map(|made| made.verdict));
            }
        }
    }
    assert!(shapes[0] >= 3 && shapes[1] >= 5, "{shapes:?}");
}

#[test]
fn an_edge_of_a_given_thickness_is_blunt_or_closed_by_a_wedge_for_a_c_grid() {
    let [blunt, wedge] = ["", "trailing_edge = \"wedge\"\n"].map(|more| {
        let edge = format!("naca = \"0012\"\nedge_thickness = 0.01\n{more}");
        good(&c_grid(&edge, "ni = 129\nnj = 49\nfirst_cell = 1e-4"))
    });

    assert_eq!(blunt.case.geometry.trailing_edge, TrailingEdge::Blunt);
    assert!(blunt.behind.is_some() && wedge.behind.is_none());
    let said = "the base is closed by a wedge behind it, which makes the section 3.7 % longer";
    assert!(wedge.notices.iter().any(|n| n == said), "{:?}", wedge.notices);
    // The tip is four thicknesses behind the base, or where the tangents meet.
    let [x, y] = wedge.grid.point(24, 0);
    assert!(x > 1.02 && x <= 1.0401 && y.abs() < 1e-12, "{x} {y}");
}

#[test]
fn the_cut_leaves_the_edge_on_its_bisector_and_goes_where_it_is_told() {
    let keys =
        "ni = 161\nnj = 49\nfirst_cell = 1e-5\nwake = 32\nwake_length = 8\nwake_direction = 4";

    let grid = good(&c_grid("naca = \"4412\"", keys)).grid;

    let direction = |a: [f64; 2], b: [f64; 2]| (b[1] - a[1]).atan2(b[0] - a[0]).to_degrees();
    let at = |i: usize| grid.point(i, 0);
    // Both surfaces have the same angle with the cut.
    let (cut, lower, upper) =
        (direction(at(32), at(31)), direction(at(33), at(32)), direction(at(127), at(128)));
    assert!((cut - 0.5 * (lower + upper)).abs() < 0.2, "{cut} {lower} {upper}");
    assert!((direction(at(1), at(0)) - 4.0).abs() < 1e-3, "{}", direction(at(1), at(0)));
    assert_eq!(at(0)[0], at(32)[0] + 8.0);
}

/// A NACA section cut off at this chord, as a list of points.
fn cut_off(code: &str, at: f64) -> String {
    let airfoil = airfoil_from_naca(code, TrailingEdge::Sharp).unwrap();
    let kept = airfoil.points.iter().step_by(20).filter(|[x, _]| *x <= at);
    format!("points = {:?}", kept.collect::<Vec<_>>())
}

#[test]
fn a_long_wedge_is_in_the_report_and_a_finding() {
    for (geometry, long) in
        [(cut_off("0012", 0.95), true), ("naca = \"0012\"\nedge_thickness = 0.001".into(), false)]
    {
        let geometry = geometry + "\ntrailing_edge = \"wedge\"";
        let mut case = c_grid(&geometry, "ni = 129\nnj = 49\nfirst_cell = 1e-4");
        case.output.pictures = false;
        let folder = tempfile::tempdir().unwrap();
        let options = |strict| {
            let mut options = RunOptions::new(folder.path().to_path_buf());
            options.backend = BackendChoice::Cpu;
            options.strict = strict;
            options
        };

        let [made, strict] = [false, true].map(|strict| {
            run(&case.clone().into(), &options(strict), &mut ()).unwrap().into_section()
        });

        let tip = made.grid.point(24, 0)[0];
        let length = report(folder.path())["wedge"].as_f64().unwrap();
        assert!((length - (tip - 1.0)).abs() < 1e-9, "{length}, {tip}");
        assert!(made.is_good() && strict.is_good() != long, "{:?}", strict.verdict);
        let found =
            "; geometry.trailing_edge: \"sharp\" keeps the chord, grid.topology = \"O\" the base";
        let told = made.notices.iter().any(|note| note.ends_with(found));
        assert_eq!(told, long, "{:?}", made.notices);
    }
}

/// The fan of lines over the edge meets the columns of the wake there. With a march that moved cells by their
/// volumes, lines waved by 7.2°, 0 and 1.7°, cells grew by 1.23, 1.28 and 1.28, and the skewness was .0129
/// (.061), .0132 (.061) and .0144 (.073) in the mean (and at 99 %).
#[test]
fn lines_over_the_wake_of_a_c_grid_do_not_wave() {
    for (code, growth, mean, p99) in
        [("0012", 1.2, 0.0129, 0.061), ("4412", 1.21, 0.0132, 0.061), ("0024", 1.27, 0.0144, 0.073)]
    {
        let made = good(&c_grid(&format!("naca = \"{code}\""), "ni = 257\nnj = 129"));

        let (quality, [_, found]) = (&made.quality, growth_along_i(&made.grid, 2, 2));
        let waves = quality.waves_deg;
        assert!(waves <= 1.0 && found <= growth, "{code}: waves {waves}, growth {found}");
        let skewness = [quality.mean_skewness, quality.p99_skewness];
        assert!(skewness[0] <= mean && skewness[1] <= p99, "{code}: {skewness:?}");
    }
}

/// Lines normal to such a cut would cross the outflow: the march folded, and the grid along normals that
/// replaced it had a skewness of .93 (.83 at 99 %).
#[test]
fn an_inclined_cut_has_a_good_grid_whatever_the_section() {
    for (geometry, direction, more) in [
        (cut_off("0012", 0.95), 10, ""),
        (cut_off("0012", 0.95), -20, ""),
        ("naca = \"4412\"".to_owned(), 20, ""),
        ("naca = \"2412\"\nedge_thickness = 0.02".to_owned(), -10, "wake_length = 4"),
    ] {
        let wedge = if geometry.contains("4412") { "" } else { "\ntrailing_edge = \"wedge\"" };
        let grid =
            format!("ni = 257\nnj = 97\nfirst_cell = 1e-5\nwake_direction = {direction}\n{more}");

        let made = good(&c_grid(&(geometry + wedge), &grid));

        let (quality, notices) = (&made.quality, &made.notices);
        let [max, p99] = [quality.max_skewness, quality.p99_skewness];
        assert!(max < 0.5 && p99 < 0.2, "{direction}: {quality:?}");
        assert!(!notices.iter().any(|note| note.contains("folded")), "{direction}: {notices:?}");
    }
}

#[test]
fn a_cut_that_ends_near_the_far_field_is_refused() {
    let case = c_grid("naca = \"0012\"", "ni = 129\nnj = 49\nwake_direction = -30");

    let error = make(&case).err().unwrap();

    let said = "the cut of the C-grid ends at y = -8.4870: at most 6.7500 from y = 0 was expected";
    assert!(error.to_string().ends_with(said), "{error}");
    assert!(error.hint().unwrap().contains("smaller grid.wake_direction"));
    assert_eq!(error.class(), ErrorClass::Input);
}

#[test]
fn a_flap_an_angle_and_a_wedge_have_a_c_grid_too() {
    let section = "naca = \"0012\"\nedge_thickness = 0.004\ntrailing_edge = \"wedge\"\nangle = 4.0\n\
                   flap = { angle = 10.0 }";

    let grid = good(&c_grid(section, "ni = 193\nnj = 65\nfirst_cell = 1e-5\nwake = 32")).grid;

    assert_eq!(grid.topology, Topology::C { wake: 32 });
    // The edge is below the pivot by both angles, and the cut returns to the direction of the x axis.
    let [edge, out, near] = [32, 0, 1].map(|i| grid.point(i, 0));
    assert!(edge[1] < -0.75 * 4_f64.to_radians().sin() - 0.2 * 10_f64.to_radians().sin());
    assert!(((out[1] - near[1]) / (out[0] - near[0])).abs() < 1e-6, "{out:?} {near:?}");
}

#[test]
fn a_family_in_a_unit_of_its_own_is_judged_in_chords() {
    let text = |chord: f64| format!("{WING_BODY}geometry.chord = {chord}\n");
    let [chords, metres] = [1.0, 2.0].map(|chord| family(&case(&text(chord)), 2).unwrap());

    for size in ["257x49", "129x25"] {
        let name = format!("{size}/mesh.vts");
        let (a, b) = (read(&chords.folder, &name), read(&metres.folder, &name));
        assert!(a.x.iter().zip(&b.x).all(|(a, b)| 2.0 * a == *b), "{size}");
        let quality = |made: &Family| report(&made.folder.path().join(size))["quality"].clone();
        assert_eq!(quality(&chords), quality(&metres), "{size}");
    }
}

#[test]
fn a_limit_of_the_case_is_that_of_every_grid_of_its_family() {
    let text = format!("{WING_BODY}[quality]\nretry = false\nmax_skewness = 0.25\n");

    let Family { made, folder } = family(&case(&text), 2).unwrap();

    assert!(made.quality.max_skewness <= 0.25, "{made:?}");
    assert!(matches!(made.verdict, Verdict::BeyondLimit { .. }), "{made:?}");
    let said = format!("the 129 × 25 grid of the family: {}", made.verdict);
    assert!(made.notices.contains(&said), "{made:?}");
    assert!(folder.path().join("257x49/mesh.vts").exists());
    assert!(folder.path().join("129x25/mesh.failed.vts").exists());
}

#[test]
fn a_family_that_cannot_be_halved_is_refused_before_anything_is_written() {
    let c = "naca0012-c.toml";
    let base = [("grid.base_cells", "4"), ("grid.ni", "225"), ("grid.nj", "65")];
    for (name, set, grids, said) in [
        (
            c,
            &[("grid.wake", "44")][..],
            4,
            "a family of 4 grids leaves out all but every 8th point: grid.wake must be a multiple of 8, here 44",
        ),
        (c, &[], 6, "the coarsest of 6 grids would have 8 × 3 points, at least 9 × 5 are needed"),
        // There are 88 cells of the section and 2 × 48 of the cut on 24 layers of cells, halved twice.
        (
            c,
            &[("output.curved_order", "4"), ("grid.ni", "185"), ("grid.nj", "25")],
            3,
            "the coarsest of 3 grids is to have cells of order 4: grid.ni - 1 must be a multiple of 4 × 4, here 184",
        ),
        ("naca0012-blunt.toml", &base, 3, "the corner of the base at point 2"),
    ] {
        let error = family(&shipped(name, set), grids).err().unwrap();
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(error.class(), ErrorClass::Input, "{error}");
    }
}

#[test]
fn a_refined_grid_holds_the_wall_and_the_cut_of_the_unrefined_one() {
    let set =
        [("grid.far_field", "50"), ("grid.ni", "113"), ("grid.wake", "24"), ("grid.nj", "33")];
    let fine = [&set[..], &[("grid.refine", "2")]].concat();
    let [coarse, fine] = [&set[..], &fine].map(|set| good(&shipped("naca0012-c.toml", set)).grid);

    assert_eq!((fine.ni, fine.nj), (225, 65));
    for i in 0..coarse.ni {
        let ([x, y], [fx, fy]) = (coarse.point(i, 0), fine.point(2 * i, 0));
        let bisector = if (24..=88).contains(&i) { 1e-12 } else { 2e-6 };
        // The cut turns from the bisector of the first segments, which are shorter.
        assert!((x - fx).abs() < 1e-10 && (y - fy).abs() < bisector, "{i}: {x} {fx}, {y} {fy}");
    }
}

#[test]
fn nasas_family_is_defined_as_nasa_does() {
    let case = shipped("tmr-naca0012.toml", &[]);
    let finest = shipped("tmr-naca0012.toml", &[("grid.refine", "8")]);

    assert_eq!((case.grid.ni, case.grid.nj), (897, 257));
    let grid = &finest.grid;
    assert_eq!((grid.ni, grid.nj, grid.wake.unwrap().cells), (7169, 2049, 1536));
    assert_eq!(grid.far_field, 500.0);
    let spacings = [grid.leading_edge_spacing, grid.trailing_edge_spacing];
    assert_eq!(spacings, [1.25e-5, 1.25e-4].map(Some));
    assert!((grid.first_cell / 1e-7 - 1.0).abs() < 1e-3, "{}", grid.first_cell);
}

#[test]
fn nasas_grid_is_made_in_seven_sizes_nested_bit_for_bit() {
    let case = shipped("tmr-naca0012.toml", &[("output.formats", "vts")]);

    let Family { made, folder } = family(&case, 7).unwrap();

    assert_good(&case, &made);
    let quality = &made.quality;
    assert!(quality.max_skewness < 0.1 && quality.p99_skewness < 0.05, "{quality:?}");
    // The published formula of the closed section.
    let finest = read(&folder, "897x257/mesh.vts");
    for i in 192..=704 {
        let [x, y] = finest.point(i, 0);
        let x = x.max(0.0);
        let half = nasas_naca_0012(x);
        // The distance is measured across the curve, which is steep at the nose.
        let slope = 0.0886 / x.sqrt().max(1e-9);
        let error = (y.abs() - half.abs()).abs() / slope.hypot(1.0);
        assert!(error < 2e-9, "{i}: {x} {y} {half}");
    }
    for level in 1..7 {
        let stride = 1 << level;
        let size = format!("{}x{}", 896 / stride + 1, 256 / stride + 1);
        let grid = read(&folder, &format!("{size}/mesh.vts"));
        assert_eq!(grid.topology, Topology::C { wake: 192 / stride });
        for (j, i) in (0..grid.nj).flat_map(|j| (0..grid.ni).map(move |i| (j, i))) {
            assert_eq!(grid.point(i, j), finest.point(stride * i, stride * j), "{size} ({i}, {j})");
        }
        let text = |name| std::fs::read_to_string(folder.path().join(&size).join(name)).unwrap();
        assert!(text("report.json").contains("\"folded_cells\": 0"), "{size}");
        // The coarsest are no cases by themselves.
        if level < 4 {
            let again = Case::from_toml(&text("case.toml"), Path::new("case.toml"), &[]).unwrap();
            let wake = again.grid.wake.unwrap().cells;
            assert_eq!((again.grid.ni, again.grid.nj, wake), (grid.ni, grid.nj, 192 / stride));
        }
    }
    assert!(!folder.path().join("mesh.vts").exists());
}
