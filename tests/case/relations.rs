//! Keys that exclude each other.

use std::path::Path;

use gridgen::case::{Case, CaseError, first_cell_from_y_plus};

use super::{SMALLEST, refusals, resolve, resolve_set, resolve_with, shown};

/// A section in a box whose floor is a wall.
fn walled(grid: &str, domain: &str) -> Result<Case, CaseError> {
    resolve_with(&format!("{grid}[domain]\nbox = [-1, 3, -1, 1]\nfloor = \"wall\"\n{domain}"))
}

#[test]
fn first_cells_on_walls_of_a_box_follow_from_their_wall_units() {
    let of = "[grid]\ny_plus = 1\nreynolds = 2e6\nreference_length = 0.8\n";
    let case = walled(of, "wall_y_plus = 40\n").unwrap();
    let check = |case: &Case, length| {
        let height = case.domain.as_ref().unwrap().wall_first_cell.unwrap();
        let expected = first_cell_from_y_plus(40.0, 2e6, length);
        assert!((height / expected - 1.0).abs() < 4e-16, "{height} for {expected}");
    };
    check(&case, 0.8);
    // Without wall units of the section's own, with the default length and with another one.
    check(&walled("[grid]\nreynolds = 2e6\n", "wall_y_plus = 40\n").unwrap(), 0.5);
    let of = "[grid]\nreynolds = 2e6\nreference_length = 0.8\n";
    let case = walled(of, "wall_y_plus = 40\n").unwrap();
    check(&case, 0.8);
    assert_eq!(case.grid.first_cell.to_bits(), 1e-5_f64.to_bits());
    // The case as it is written back has the height, and the length that its wall units belong to.
    let written = resolve(&case.to_toml_string().unwrap()).unwrap();
    check(&written, 0.8);
    assert_eq!(written.y_plus(), case.y_plus());
    // A height that is given over a file takes the place of its wall units.
    let text = "[grid]\nreynolds = 2e6\n[domain]\nbox = [-1, 3, -1, 1]\nfloor = \"wall\"\nwall_y_plus = 40\n";
    let set = [("domain.wall_first_cell", "3e-4")];
    let case = resolve_set(&[SMALLEST, text].concat(), &set).unwrap();
    let height = case.domain.unwrap().wall_first_cell.unwrap();
    assert!((height / 3e-4 - 1.0).abs() < 4e-16, "{height}");
}

#[test]
fn curves_that_are_no_sides_of_the_box_are_refused() {
    for (curve, expected) in [
        ("[[-1, -1], [1, -0.9], [3, -1]]", "four points or more, here 3"),
        ("[[-1, -1]]", "four points or more, here 1"),
        ("[]", "four points or more, here 0"),
        ("[[-1, -1], [1, -0.9], [0, -0.9], [3, -1]]", "points whose x rises, here from 1"),
        ("[[3, -1], [1, -0.9], [0, -0.9], [-1, -1]]", "points whose x rises, here from 3"),
        ("[[-1, -1], [0, -0.9], [1, -0.9], [2.5, -1]]", "here 2.5 in place of 3"),
        ("[[-1, -1], [0, -0.9], [1, 1.5], [3, -1]]", "a floor below the roof, not at x = 1"),
    ] {
        let refused = walled("", &format!("floor_curve = {curve}\n")).unwrap_err().to_string();

        assert!(refused.contains("domain.floor_curve") && refused.contains(expected), "{refused}");
    }
    let alone = resolve_with("[domain]\nroof_curve = [[-1, 1], [0, 1], [1, 1], [3, 1]]\n");
    assert!(alone.unwrap_err().to_string().contains("domain.roof_curve"));
}

#[test]
fn keys_that_do_not_go_together_are_refused() {
    let refused = vec![
        resolve("[grid]\nni = 65\n"),
        resolve_with("file = \"wing.dat\"\n"),
        resolve_with("[grid]\nfirst_cell = 1e-5\ny_plus = 1\nreynolds = 1e6\n"),
        resolve_with("[grid]\ny_plus = 1\n"),
        resolve_with("[grid]\nreference_length = 1.0\n"),
        walled("[grid]\nreynolds = 1e6\n", "wall_first_cell = 1e-5\nwall_y_plus = 2\n"),
        walled("", "wall_y_plus = 2\n"),
        resolve_with("[grid]\nreynolds = 1e6\n[domain]\nbox = [-1, 3, -1, 1]\nwall_y_plus = 2\n"),
        resolve("[geometry]\nfile = \"no/such.dat\"\n"),
        resolve("[geometry]\nfile = \"cases/airfoils/e378.dat\"\n"),
        resolve("[geometry]\nfile = \"cases\"\n"),
        resolve_with("[grid]\nwake_length = 3\ntopology = 'O'\n"),
        resolve_with("[grid]\ntopology = 'C'\nni = 65\nwake = 25\n"),
        // Layers go as far as the reach, and first cells are measured against it.
        resolve_with("[grid]\nreach = 0.128\nfirst_cell = 1e-3\n"),
        resolve_with("[grid]\nreach = 0.3\ntopology = \"C\"\n"),
        resolve_with("[grid]\nreach = 0.3\ntopology = \"half\"\n"),
        resolve_with("[grid]\ntopology = 'C'\nseam = 'held'\n"),
        resolve_with("trailing_edge = 'rounded'\n[grid]\ntopology = 'C'\n"),
        resolve_with("[grid]\nni = 100001\nnj = 1001\nrefine = 1024\n"),
        resolve("[geometry]\ncorners = 30\n[geometry.ellipse]\n"),
        // A formula has no points that scatter.
        resolve_with("smooth = 1e-4\n"),
        resolve_with("[grid]\nnj = 100\ngrowth = 1.15\n"),
        resolve_with("[grid]\ngrowth = 1.0000001\n"),
        resolve_with("[grid]\nnj = 33\nlayers = { count = 31 }\n"),
        // 100 001 planes of 4097 × 513 points are too many.
        resolve_with("[grid]\nni = 257\nnj = 33\nrefine = 16\n[output]\nspan_cells = 100000\n"),
        resolve_with("[grid]\nni = 98\nnj = 49\n[output]\ncurved_order = 3\n"),
        // 128 cells by default.
        resolve_with("[grid]\nni = 97\n[output]\ncurved_order = 3\n"),
        resolve_with(
            "[grid]\nni = 97\nnj = 49\ntopology = 'C'\nwake = 18\n[output]\ncurved_order = 4\n",
        ),
        resolve_with("[grid]\nni = 97\nnj = 49\n[output]\ncurved_order = 2\nspan_cells = 1\n"),
    ];

    insta::assert_snapshot!(refusals(refused), @r#"
    wing.toml: geometry.naca or geometry.file is missing
    hint: the smallest case is two lines: [geometry] and naca = "2412"
    wing.toml:3: geometry.file = "wing.dat": excluded by geometry.naca, which is given too
    hint: keep either geometry.file or geometry.naca
    wing.toml:5: grid.y_plus = 1: excluded by grid.first_cell, which is given too
    hint: keep either grid.y_plus or grid.first_cell
    wing.toml:4: grid.y_plus = 1: needs grid.reynolds, which is not given
    hint: add grid.reynolds, or leave grid.y_plus out
    wing.toml:4: grid.reference_length = 1.0: needs grid.reynolds, which is not given
    hint: add grid.reynolds, or leave grid.reference_length out
    wing.toml:9: domain.wall_y_plus = 2: excluded by domain.wall_first_cell, which is given too
    hint: keep either domain.wall_y_plus or domain.wall_first_cell
    wing.toml:6: domain.wall_y_plus = 2: needs grid.reynolds, which is not given
    hint: add grid.reynolds, or leave domain.wall_y_plus out
    wing.toml:7: domain.wall_y_plus = 2: expected a side that is a wall beside it
    hint: set domain.floor or another side to "wall", or leave domain.wall_y_plus out
    wing.toml:2: geometry.file = "no/such.dat": no such file: no/such.dat
    hint: a relative path starts at the case file's folder
    wing.toml:2: geometry.file = "cases/airfoils/e378.dat": no such file: cases/airfoils/e378.dat
    hint: did you mean "e387.dat" in the same folder?
    wing.toml:2: geometry.file = "cases": is a folder: cases
    hint: name the file of coordinates in the folder
    wing.toml:4: grid.wake_length = 3: expected grid.topology = "C" or "auto"
    hint: set grid.topology, or leave grid.wake_length out: an O-grid has no wake
    wing.toml:6: grid.wake = 25: expected grid.wake of at most (grid.ni - 17)/2 = 24, here 25
    hint: leave 17 points for the section, or choose more points
    wing.toml:5: grid.first_cell = 1e-3: expected a first cell below the uniform spacing reach/(nj - 1) = 0.001, here 0.001
    hint: choose a smaller first cell, fewer points in j, or a larger reach
    wing.toml:4: grid.reach = 0.3: expected grid.topology = "O", whose lines close around the body
    hint: set grid.topology = "O", or leave grid.reach out
    wing.toml:4: grid.reach = 0.3: expected grid.topology = "O", whose lines close around the body
    hint: set grid.topology = "O", or leave grid.reach out
    wing.toml:5: grid.seam = 'held': expected grid.topology = "O"
    hint: leave grid.seam out: a C-grid has a cut, which is held, and no seam
    wing.toml:3: geometry.trailing_edge = 'rounded': expected an edge that is one point, for the cut of grid.topology = "C" to begin at
    hint: close the base by "wedge" or "sharp", or choose grid.topology = "O"
    wing.toml:4: grid.ni = 100001: expected grid.ni × grid.nj of at most 1073741823, here 102400001 × 1024001
    hint: choose fewer points
    wing.toml:2: geometry.corners = 30: expected a section with a leading and a trailing edge
    hint: leave geometry.corners out: points on a smooth contour follow grid.max_turn
    wing.toml:3: geometry.smooth = 1e-4: expected a section of geometry.file or points
    hint: leave geometry.smooth out
    wing.toml:5: grid.growth = 1.15: expected grid.nj or grid.growth alone
    hint: grid.nj = 100 gives 1.131, 1.15 takes grid.nj = 90; leave one of them out
    wing.toml:4: grid.growth = 1.0000001: expected a growth that at most 1000000 points have
    hint: choose a larger growth
    wing.toml:5: grid.layers.count = 31: expected at most grid.nj - 3 = 30 layers, here 31
    hint: choose fewer layers, a larger grid.nj, or grid.growth in place of grid.nj
    wing.toml:8: output.span_cells = 100000: expected at most 509, for 1073741823 points in all
    hint: choose fewer cells over the span, or fewer points in the plane
    wing.toml:4: grid.ni = 98: expected a multiple of 3 for grid.ni - 1, to make cells of order 3, here 97
    hint: the nearest grid.ni is 97 or 100; or choose another output.curved_order
    wing.toml:6: output.curved_order = 3: expected a multiple of 3 for grid.nj - 1, to make cells of order 3, here 128
    hint: the nearest grid.nj is 127 or 130; or choose another output.curved_order
    wing.toml:7: grid.wake = 18: expected a multiple of 4 for grid.wake, to make cells of order 4, here 18
    hint: the nearest grid.wake is 16 or 20; or choose another output.curved_order
    wing.toml:8: output.span_cells = 1: expected a multiple of 2 for output.span_cells, to make cells of order 2, here 1
    hint: the nearest output.span_cells is 2; or choose another output.curved_order
    "#);
    // The planes of 257 × 33 points are few enough, and six cells make two of order 3.
    for fitting in [
        "[grid]\nni = 257\nnj = 33\n[output]\nspan_cells = 100000\n",
        "[grid]\nni = 97\nnj = 49\n[output]\ncurved_order = 3\nspan_cells = 6\n",
    ] {
        resolve_with(fitting).unwrap();
    }
}

const UNFIT: &str = "expected a name fit for a file on every system: at most 100 bytes, no control \
                     characters, none of / \\ < > : \" | ? *, no blank or point at its end, and no \
                     device such as NUL\n\
                     hint: choose the folder by --output, the name by name = \"…\"";

/// The name becomes a folder, which must be below the output folder and possible on every system. On Windows
/// `C:x` is a path on another drive.
#[test]
fn a_name_that_is_no_folder_of_its_own_is_refused() {
    let long = "a".repeat(101);
    for name in [
        "", " ", ".", "..", "...", "wing.", "wing ", "a/b", "a\\b", "C:x", "a:b", "a?", "a*",
        "<a>", "a|b", "a\"b", "a\u{7f}b", "a\u{85}b", "NUL", "nul", "con.1", "Com1", "lpt9.x",
        "COM¹", &long,
    ] {
        let text = format!("name = {}\n{SMALLEST}", toml::Value::from(name));
        let refused = resolve(&text);
        assert!(refused.is_err(), "{name:?} is taken");

        // A case without a name is named after its file.
        let file = Path::new("cases").join(format!("{name}.toml"));
        let from_file = Case::from_toml(SMALLEST, &file, &[]);
        let same = file.file_stem().is_some_and(|stem| stem == name);
        assert!(!same || from_file.is_err(), "{name:?} is taken from a file");
    }
    for name in ["wing", ".wing", "section 7", "naca-0012_b", "ευρώ", "NULL", "com", "COM12", "a.b"]
    {
        let text = format!("name = {}\n{SMALLEST}", toml::Value::from(name));

        assert_eq!(resolve(&text).unwrap().name, name);
    }
    let of_file = shown(Case::from_toml(SMALLEST, Path::new("wing\u{1b}[31m.toml"), &[]));
    assert_eq!(of_file, format!("wing\u{1b}[31m.toml: name = default: {UNFIT}"));
    let message = shown(resolve(&["name = \"../wing\"\n", SMALLEST].concat()));
    assert_eq!(message, format!("wing.toml:1: name = \"../wing\": {UNFIT}"));
}

#[test]
fn the_nearest_counts_and_the_default_of_the_cut_make_cells_of_their_order() {
    for (order, refine) in [(2, 1), (3, 1), (4, 1), (2, 2), (3, 2), (4, 2), (4, 3), (3, 6)] {
        let case = |ni: usize| {
            let keys = format!("[grid]\nni = {ni}\nnj = 49\nrefine = {refine}\n");
            resolve_with(&format!("{keys}[output]\ncurved_order = {order}\n"))
        };
        for ni in 60..80 {
            let Err(refused) = case(ni) else {
                assert_eq!((ni - 1) * refine % order, 0);
                continue;
            };
            assert_ne!((ni - 1) * refine % order, 0);
            let hint = refused.hint().unwrap();
            let words = hint.split(|c: char| !c.is_ascii_digit());
            let nearest: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
            assert!(nearest.len() == 2 && nearest[0] < ni && ni < nearest[1], "{hint}");
            assert!(nearest.iter().all(|&ni| case(ni).is_ok()), "{hint}");
            assert!((nearest[0] + 1..nearest[1]).all(|ni| case(ni).is_err()), "{hint}");
        }
    }
    // On 193 points the cut has 40 cells by default; 39 of them make cells of order 3.
    let wake = |order: usize| {
        let output = format!("[output]\ncurved_order = {order}\n");
        let case = resolve_with(&format!("[grid]\ntopology = 'C'\nni = 193\nnj = 49\n{output}"));
        case.unwrap().grid.wake.unwrap().cells
    };
    assert_eq!([1, 2, 3, 4].map(wake), [40, 40, 39, 40]);
}

/// An edge whose thickness is given has a base by default.
#[test]
fn an_edge_too_thin_for_a_base_is_refused_at_the_key_of_its_thickness() {
    let refused =
        shown(resolve_with("edge_thickness = 1e-6\n[grid]\nni = 129\n").unwrap().settle());

    let said = "wing.toml:3: NACA 2412: the trailing edge is closed (gap 1.0e-6 chord)";
    assert!(refused.starts_with(said), "{refused}");
}

/// The outer line of the O-grid lies between a plane and the blade.
#[test]
fn a_plane_too_near_a_blade_is_refused_at_its_key_or_that_of_the_outer_line() {
    let settle = |keys: &str| {
        let text = format!("[geometry]\nnaca = \"0012\"\n[grid]\nni = 129\nnj = 33\n{keys}\n");
        resolve(&text).unwrap().settle()
    };
    let refused = [
        "[cascade]\npitch = 0.9\ninlet_x = -0.06",
        "[cascade]\npitch = 0.9\noutlet_x = 1.06",
        "reach = 0.3\n[cascade]\npitch = 0.9",
        "[cascade]\npitch = 9.0",
    ];

    insta::assert_snapshot!(refusals(refused.map(settle)), @r#"
    wing.toml:8: cascade.inlet_x = -0.0600: less than -0.0900 was expected, two grid.reach ahead of the blade
    hint: choose a smaller cascade.inlet_x, or a smaller grid.reach
    wing.toml:8: cascade.outlet_x = 1.0600: more than 1.0900 was expected, two grid.reach behind the blade
    hint: choose a larger cascade.outlet_x, or a smaller grid.reach
    wing.toml:6: cascade.inlet_x = -0.4000: less than -0.6000 was expected, two grid.reach ahead of the blade
    hint: choose a smaller cascade.inlet_x, or a smaller grid.reach
    wing.toml:7: cascade.inlet_x = -0.4000: less than -0.9000 was expected, two grid.reach ahead of the blade
    hint: choose a smaller cascade.inlet_x, or a smaller grid.reach
    "#);
    // The remedies.
    for keys in [
        "[cascade]\npitch = 0.9\ninlet_x = -0.1",
        "reach = 0.02\n[cascade]\npitch = 0.9\noutlet_x = 1.06",
        "reach = 0.3\n[cascade]\npitch = 0.9\ninlet_x = -0.7\noutlet_x = 1.7",
        "reach = 0.1\n[cascade]\npitch = 9.0",
    ] {
        assert!(settle(keys).is_ok(), "{keys}");
    }
}
