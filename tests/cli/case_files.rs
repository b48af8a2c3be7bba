//! Case files that cannot be run as written.

use super::{COARSE, SMALLEST, Scratch};

#[test]
fn a_missing_file_is_refused() {
    Scratch::with(&[])
        .run(&["wing.toml"])
        .is_refused("error: wing.toml: no such case file\nhint: check the path of the case file\n");
}

#[test]
fn a_folder_is_refused() {
    Scratch::with(&[]).run(&["."]).is_refused(
        "error: .: expected a case file, found a folder\n\
         hint: name the case file in the folder\n",
    );
}

#[test]
fn an_empty_file_is_refused() {
    Scratch::with_case("").run(&["wing.toml"]).is_refused(
        "error: wing.toml: geometry.naca or geometry.file is missing\n\
         hint: the smallest case is two lines: [geometry] and naca = \"2412\"\n",
    );
}

#[test]
fn a_binary_file_is_refused() {
    Scratch::with_case([0x89, b'P', b'N', b'G', 0, 1]).run(&["wing.toml"]).is_refused(
        "error: wing.toml: expected a case file in text, found binary data at byte 4\n\
         hint: a case file is a short text in TOML; coordinates go into a file of their own, \
         named by geometry.file\n",
    );
}

#[test]
fn an_airfoil_file_in_place_of_a_case_is_refused() {
    let scratch = Scratch::with(&[("section.dat", b"NACA 0012\n1.0 0.0\n")]);

    scratch.run(&["section.dat"]).is_refused(
        "error: section.dat:1:6: not TOML: key with no value, expected `=`\n\
         hint: if this is a file of coordinates, name it by geometry.file in a case file\n",
    );
}

#[test]
fn an_unknown_key_is_refused_with_a_suggestion() {
    Scratch::with_case([SMALLEST, "[grid]\nfarfield = 20\n"].concat())
        .run(&["wing.toml"])
        .is_refused(
            "error: wing.toml:4: unknown key grid.farfield\n\
             hint: did you mean grid.far_field?\n",
        );
}

#[test]
fn a_wrong_type_is_refused() {
    Scratch::with_case([SMALLEST, "[grid]\nni = \"257\"\n"].concat())
        .run(&["wing.toml"])
        .is_refused(
            "error: wing.toml:4: grid.ni = \"257\": expected an integer from 9 to 1000000\n\
             hint: write a whole number, without quotes\n",
        );
}

/// The bounds are those in the table of keys, `docs/case-format.md`.
#[test]
fn too_few_points_and_negative_values_are_refused() {
    for (set, expected, default) in [
        ("grid.ni=3", "an integer from 9 to 1000000", "257"),
        ("grid.ni=-65", "an integer from 9 to 1000000", "257"),
        ("grid.nj=2", "an integer from 5 to 1000000", "129"),
        ("grid.far_field=-15", "a number at least 1 and at most 1e6", "15"),
        ("grid.first_cell=-1e-5", "a number greater than 0 and less than 1e6", FIRST_CELL),
        ("grid.first_cell=0", "a number greater than 0 and less than 1e6", FIRST_CELL),
        ("newton.tolerance=-1", "a number greater than 0 and less than 1", "1e-10"),
        ("newton.max_iterations=0", "an integer from 1 to 10000", "30"),
    ] {
        let key = set.split('=').next().unwrap();

        Scratch::with_case(SMALLEST).run(&["wing.toml", "--set", set]).is_refused(&format!(
            "error: --set {set}: expected {expected}\n\
             hint: leave {key} out for the default: {default}\n"
        ));
    }
}

/// Default of the first cell, in words.
const FIRST_CELL: &str = "1e-5, or from y_plus";

#[test]
fn a_first_cell_beyond_the_far_field_is_refused() {
    Scratch::with_case([SMALLEST, "[grid]\nfirst_cell = 15.0\n"].concat())
        .run(&["wing.toml"])
        .is_refused(
            "error: wing.toml:4: grid.first_cell = 15.0: expected a first cell below the uniform \
             spacing far_field/(nj - 1) = 0.117, here 15\n\
             hint: choose a smaller first cell, fewer points in j, or a farther far field\n",
        );
}

/// Values that only the geometry can judge are refused with their line as well. The upper limit is (ni -
/// 1)/2.
#[test]
fn an_odd_number_of_base_cells_is_refused_with_its_line() {
    let case = "[geometry]\nnaca = \"0012\"\ntrailing_edge = \"blunt\"\n[grid]\nbase_cells = 7\n";

    Scratch::with_case(case).run_coarse(&[]).is_refused(
        "error: wing.toml:5: base_cells = 7: an even number from 4 to 32 was expected\n\
         hint: leave base_cells out to have it chosen, or raise ni for a finer base\n",
    );
}

#[test]
fn quiet_still_prints_errors() {
    Scratch::with_case("").run(&["wing.toml", "-q"]).is_refused(
        "error: wing.toml: geometry.naca or geometry.file is missing\n\
         hint: the smallest case is two lines: [geometry] and naca = \"2412\"\n",
    );
}

#[test]
fn a_refused_case_creates_no_folder() {
    let scratch = Scratch::with_case("[geometry]\nnaca = \"12\"\n");

    let finished = scratch.run(&[&["wing.toml"], &COARSE[..]].concat());

    assert_eq!(finished.code, 2, "{finished:?}");
    assert_eq!(scratch.names("."), ["wing.toml"]);
}
