//! Keys that exclude each other.

use std::path::Path;

use gridgen::case::Case;

use super::{SMALLEST, resolve, resolve_with, shown};

/// The working folder, to which relative paths of the tests refer.
fn here() -> String {
    format!("{}/", std::env::current_dir().unwrap().display())
}

#[test]
fn no_section_is_refused() {
    let message = shown(resolve("[grid]\nni = 65\n"));

    assert_eq!(
        message,
        "wing.toml: geometry.naca or geometry.file is missing\n\
         hint: the smallest case is two lines: [geometry] and naca = \"2412\""
    );
}

#[test]
fn a_designation_and_a_file_is_refused() {
    let message = shown(resolve_with("file = \"wing.dat\"\n"));

    assert_eq!(
        message,
        "wing.toml:3: geometry.file = \"wing.dat\": excluded by geometry.naca, which is given too\n\
         hint: keep either geometry.file or geometry.naca"
    );
}

#[test]
fn two_first_cells_is_refused() {
    let message = shown(resolve_with("[grid]\nfirst_cell = 1e-5\ny_plus = 1\nreynolds = 1e6\n"));

    assert_eq!(
        message,
        "wing.toml:5: grid.y_plus = 1: excluded by grid.first_cell, which is given too\n\
         hint: keep either grid.y_plus or grid.first_cell"
    );
}

#[test]
fn wall_units_without_reynolds_number_is_refused() {
    let message = shown(resolve_with("[grid]\ny_plus = 1\n"));

    assert_eq!(
        message,
        "wing.toml:4: grid.y_plus = 1: needs grid.reynolds, which is not given\n\
         hint: add grid.reynolds, or leave grid.y_plus out"
    );
}

#[test]
fn a_reference_length_without_wall_units_is_refused() {
    let message = shown(resolve_with("[grid]\nreference_length = 1.0\n"));

    assert_eq!(
        message,
        "wing.toml:4: grid.reference_length = 1.0: needs grid.y_plus, which is not given\n\
         hint: add grid.y_plus, or leave grid.reference_length out"
    );
}

#[test]
fn a_reynolds_number_without_wall_units_is_refused() {
    let message = shown(resolve_with("[grid]\nreynolds = 1e6\n"));

    assert_eq!(
        message,
        "wing.toml:4: grid.reynolds = 1e6: needs grid.y_plus, which is not given\n\
         hint: add grid.y_plus, or leave grid.reynolds out"
    );
}

const UNFIT: &str = "expected a name fit for a file on every system: at most 100 bytes, no control \
                     characters, none of / \\ < > : \" | ? *, no blank or point at its end, and no \
                     device such as NUL\n\
                     hint: choose the folder by --output, the name by name = \"…\"";

#[test]
fn a_name_with_a_slash_is_refused() {
    let message = shown(resolve(&["name = \"../wing\"\n", SMALLEST].concat()));

    assert_eq!(message, format!("wing.toml:1: name = \"../wing\": {UNFIT}"));
}

/// The name becomes a folder, which must be below the output folder and possible on every system. On Windows
/// `C:x` is a path on another drive.
#[test]
fn a_name_that_is_no_folder_of_its_own_is_refused() {
    let long = "a".repeat(101);
    for name in [
        "",
        " ",
        ".",
        "..",
        "...",
        "wing.",
        "wing ",
        "a/b",
        "a\\b",
        "C:x",
        "a:b",
        "a?",
        "a*",
        "<a>",
        "a|b",
        "a\"b",
        "a\u{7f}b",
        "a\u{85}b",
        "NUL",
        "nul",
        "con.1",
        "Com1",
        "lpt9.x",
        "COM\u{b9}",
        &long,
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
}

#[test]
fn control_characters_of_a_file_do_not_become_a_name() {
    let path = Path::new("wing\u{1b}[31m.toml");

    let message = shown(Case::from_toml(SMALLEST, path, &[]));

    assert_eq!(message, format!("wing\u{1b}[31m.toml: name = default: {UNFIT}"));
}

#[test]
fn a_missing_airfoil_file_is_refused() {
    let message = shown(resolve("[geometry]\nfile = \"no/such.dat\"\n")).replace(&here(), "");

    assert_eq!(
        message,
        "wing.toml:2: geometry.file = \"no/such.dat\": no such file: no/such.dat\n\
         hint: a relative path starts at the case file's folder"
    );
}

#[test]
fn a_misspelt_airfoil_file_is_refused() {
    let message =
        shown(resolve("[geometry]\nfile = \"cases/airfoils/e378.dat\"\n")).replace(&here(), "");

    assert_eq!(
        message,
        "wing.toml:2: geometry.file = \"cases/airfoils/e378.dat\": no such file: \
         cases/airfoils/e378.dat\n\
         hint: did you mean \"e387.dat\" in the same folder?"
    );
}

#[test]
fn a_folder_in_place_of_an_airfoil_file_is_refused() {
    let message = shown(resolve("[geometry]\nfile = \"cases\"\n")).replace(&here(), "");

    assert_eq!(
        message,
        "wing.toml:2: geometry.file = \"cases\": is a folder: cases\n\
         hint: name the file of coordinates in the folder"
    );
}

#[test]
fn a_base_under_a_c_grid_is_refused() {
    for edge in ["blunt", "rounded"] {
        let text = format!(
            "[geometry]\nnaca = '0012'\ntrailing_edge = '{edge}'\n[grid]\ntopology = 'C'\n"
        );
        let message = shown(resolve(&text));

        assert_eq!(
            message,
            format!(
                "wing.toml:3: geometry.trailing_edge = '{edge}': expected an edge that is one point, \
                 for the cut of grid.topology = \"C\" to begin at\n\
                 hint: close the base by \"wedge\" or \"sharp\", or choose grid.topology = \"O\""
            )
        );
    }
}

#[test]
fn a_wake_on_an_o_grid_is_refused() {
    let message = shown(resolve_with("[grid]\nwake_length = 3\n"));

    assert_eq!(
        message,
        "wing.toml:4: grid.wake_length = 3: expected grid.topology = \"C\" or \"auto\"\n\
         hint: set grid.topology, or leave grid.wake_length out: an O-grid has no wake"
    );
}

#[test]
fn a_wake_that_leaves_no_points_for_the_section_is_refused() {
    let message = shown(resolve_with("[grid]\ntopology = 'C'\nni = 65\nwake = 25\n"));

    assert_eq!(
        message,
        "wing.toml:6: grid.wake = 25: expected grid.wake of at most (grid.ni - 17)/2 = 24, here 25\n\
         hint: leave 17 points for the section, or choose more points"
    );
}

#[test]
fn a_seam_on_a_c_grid_is_refused() {
    let message = shown(resolve_with("[grid]\ntopology = 'C'\nseam = 'held'\n"));

    assert!(message.contains("grid.seam = 'held': expected grid.topology = \"O\""), "{message}");
}

#[test]
fn a_refinement_beyond_all_grids_is_refused() {
    let message = shown(resolve_with("[grid]\nni = 100001\nnj = 1001\nrefine = 1024\n"));

    assert!(message.contains("expected grid.ni × grid.nj of at most 1073741823"), "{message}");
}

/// With 100 001 planes, 257 × 33 points are few enough and 4097 × 513 points are too many.
#[test]
fn planes_of_a_refined_grid_are_counted() {
    let case = |refine: u32| {
        resolve_with(&format!(
            "[grid]\nni = 257\nnj = 33\nrefine = {refine}\n[output]\nspan_cells = 100000\n"
        ))
    };

    assert!(case(1).is_ok());
    let message = shown(case(16));

    assert!(message.contains("output.span_cells = 100000: expected at most 509, for"), "{message}");
}

#[test]
fn counts_of_cells_that_make_no_cells_of_their_order_are_refused() {
    let refused = |order: usize, grid: &str, span: usize| {
        let output = format!("[output]\ncurved_order = {order}\nspan_cells = {span}\n");
        shown(resolve_with(&format!("[grid]\nni = 97\nnj = 49\n{grid}{output}")))
    };

    assert_eq!(
        shown(resolve_with("[grid]\nni = 98\nnj = 49\n[output]\ncurved_order = 3\n")),
        "wing.toml:4: grid.ni = 98: expected a multiple of 3 for grid.ni - 1, to make cells of order 3, here 97\n\
         hint: the nearest grid.ni is 97 or 100; or choose another output.curved_order"
    );
    // The default is 128 cells.
    assert_eq!(
        shown(resolve_with("[grid]\nni = 97\n[output]\ncurved_order = 3\n")),
        "wing.toml:6: output.curved_order = 3: expected a multiple of 3 for grid.nj - 1, to make cells of \
         order 3, here 128\n\
         hint: the nearest grid.nj is 127 or 130; or choose another output.curved_order"
    );
    assert_eq!(
        refused(4, "topology = 'C'\nwake = 18\n", 0),
        "wing.toml:7: grid.wake = 18: expected a multiple of 4 for grid.wake, to make cells of order 4, here 18\n\
         hint: the nearest grid.wake is 16 or 20; or choose another output.curved_order"
    );
    assert_eq!(
        refused(2, "", 1),
        "wing.toml:8: output.span_cells = 1: expected a multiple of 2 for output.span_cells, to make cells of \
         order 2, here 1\n\
         hint: the nearest output.span_cells is 2; or choose another output.curved_order"
    );
    assert!(
        resolve_with("[grid]\nni = 97\nnj = 49\n[output]\ncurved_order = 3\nspan_cells = 6\n")
            .is_ok()
    );
}

/// The counts in the hint make a grid that is accepted, refined or not.
#[test]
fn the_nearest_counts_make_cells_of_their_order() {
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
}

/// On 193 points the cut has 40 cells by default; 39 of them make cells of order 3.
#[test]
fn the_default_of_the_cut_makes_cells_of_the_order() {
    let wake = |order: usize| {
        let output = format!("[output]\ncurved_order = {order}\n");
        let case = resolve_with(&format!("[grid]\ntopology = 'C'\nni = 193\nnj = 49\n{output}"));
        case.unwrap().grid.wake.unwrap().cells
    };

    assert_eq!([1, 2, 3, 4].map(wake), [40, 40, 39, 40]);
}

#[test]
fn a_reach_of_a_grid_that_does_not_close_is_refused() {
    for topology in ["C", "half"] {
        let text = format!("[grid]\nreach = 0.3\ntopology = \"{topology}\"\n");

        let message = shown(resolve_with(&text));

        assert_eq!(
            message,
            "wing.toml:4: grid.reach = 0.3: expected grid.topology = \"O\", whose lines close around \
             the body\n\
             hint: set grid.topology = \"O\", or leave grid.reach out"
        );
    }
}

/// The layers end at the reach, so first cells are compared with it.
#[test]
fn a_first_cell_too_high_for_the_reach_is_refused() {
    let message = shown(resolve_with("[grid]\nreach = 0.128\nfirst_cell = 1e-3\n"));

    assert_eq!(
        message,
        "wing.toml:5: grid.first_cell = 1e-3: expected a first cell below the uniform spacing \
         reach/(nj - 1) = 0.001, here 0.001\n\
         hint: choose a smaller first cell, fewer points in j, or a larger reach"
    );
}

#[test]
fn corners_of_a_smooth_contour_are_refused() {
    let message = shown(resolve("[geometry]\ncorners = 30\n[geometry.ellipse]\n"));

    assert_eq!(
        message,
        "wing.toml:2: geometry.corners = 30: expected a section with a leading and a trailing edge\n\
         hint: leave geometry.corners out: points on a smooth contour follow grid.max_turn"
    );
}

/// Points given by a formula have no scatter.
#[test]
fn smoothing_is_for_coordinates() {
    assert_eq!(
        shown(resolve_with("smooth = 1e-4\n")),
        "wing.toml:3: geometry.smooth = 1e-4: expected a section of geometry.file or points\n\
         hint: leave geometry.smooth out"
    );
}
