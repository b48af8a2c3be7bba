//! Keys that do not go together.

use super::{SMALLEST, resolve, resolve_with, shown};

/// The working folder, from which relative paths of the tests start.
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

#[test]
fn a_name_with_a_slash_is_refused() {
    let message = shown(resolve(&["name = \"../wing\"\n", SMALLEST].concat()));

    assert_eq!(
        message,
        "wing.toml:1: name = \"../wing\": expected a name fit for a file, of at most 100 bytes \
         and without slashes\n\
         hint: choose the folder by --output, the name by name = \"…\""
    );
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
