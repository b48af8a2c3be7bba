//! Values of the wrong type.

use super::{SMALLEST, resolve, resolve_set, resolve_with, shown};

#[test]
fn a_number_in_place_of_text_is_refused() {
    let message = shown(resolve("[geometry]\nnaca = 2412\n"));

    assert_eq!(
        message,
        "wing.toml:2: geometry.naca = 2412: expected text in quotes\n\
         hint: put the text in quotes: naca = \"2412\""
    );
}

#[test]
fn blank_text_is_refused() {
    let message = shown(resolve("[geometry]\nnaca = \" \"\n"));

    assert_eq!(
        message,
        "wing.toml:2: geometry.naca = \" \": expected text on one line that is not blank\n\
         hint: NACA designation, in quotes: \"2412\"."
    );
}

#[test]
fn text_in_place_of_an_integer_is_refused() {
    let message = shown(resolve_with("[grid]\nni = \"257\"\n"));

    assert_eq!(
        message,
        "wing.toml:4: grid.ni = \"257\": expected an integer from 9 to 1000000\n\
         hint: write a whole number, without quotes"
    );
}

#[test]
fn a_fraction_in_place_of_an_integer_is_refused() {
    let message = shown(resolve_with("[grid]\nni = 257.0\n"));

    assert_eq!(
        message,
        "wing.toml:4: grid.ni = 257.0: expected an integer from 9 to 1000000\n\
         hint: write a whole number, without point or exponent"
    );
}

#[test]
fn text_in_place_of_a_number_is_refused() {
    let message = shown(resolve_with("[grid]\nfar_field = \"far\"\n"));

    assert_eq!(
        message,
        "wing.toml:4: grid.far_field = \"far\": expected a number at least 1 and at most 1e6\n\
         hint: write a number, without quotes"
    );
}

#[test]
fn text_in_place_of_a_flag_is_refused() {
    let message = shown(resolve_with("[output]\npictures = \"yes\"\n"));

    assert_eq!(
        message,
        "wing.toml:4: output.pictures = \"yes\": expected true or false\n\
         hint: write true or false, without quotes"
    );
}

#[test]
fn an_unknown_word_is_refused() {
    let message = shown(resolve_with("trailing_edge = \"round\"\n"));

    assert_eq!(
        message,
        "wing.toml:3: geometry.trailing_edge = \"round\": expected one of \"sharp\", \"blunt\", \
         \"rounded\", \"wedge\", \"extended\", \"as-given\"\n\
         hint: did you mean \"rounded\"?"
    );
}

#[test]
fn a_word_like_no_other_is_refused() {
    let message = shown(resolve_with("trailing_edge = \"open\"\n"));

    assert_eq!(
        message,
        "wing.toml:3: geometry.trailing_edge = \"open\": expected one of \"sharp\", \"blunt\", \
         \"rounded\", \"wedge\", \"extended\", \"as-given\"\n\
         hint: leave geometry.trailing_edge out for the default: \"sharp\" for naca, \"as-given\" \
         for file and points"
    );
}

#[test]
fn an_unknown_topology_is_refused() {
    let message = shown(resolve_with("[grid]\ntopology = \"H\"\n"));

    assert_eq!(
        message,
        "wing.toml:4: grid.topology = \"H\": expected one of \"O\", \"C\", \"auto\", \"half\"\n\
         hint: leave grid.topology out for the default: \"O\""
    );
}

#[test]
fn a_word_in_place_of_a_list_is_refused() {
    let message = shown(resolve_with("[output]\nformats = \"vts\"\n"));

    assert_eq!(
        message,
        "wing.toml:4: output.formats = \"vts\": expected a list of \"vts\", \
         \"vtk\", \"plot3d\", \"su2\", \"openfoam\", \"cgns\", \"msh\"\n\
         hint: put the words in brackets: formats = [\"vts\", \"plot3d\"]"
    );
}

#[test]
fn an_unknown_word_in_a_list_is_refused() {
    let message = shown(resolve_with("[output]\nformats = [\"vts\", \"plot2d\"]\n"));

    assert_eq!(
        message,
        "wing.toml:4: output.formats = [\"vts\", \"plot2d\"]: expected a list of \"vts\", \
         \"vtk\", \"plot3d\", \"su2\", \"openfoam\", \"cgns\", \"msh\"\n\
         hint: did you mean \"plot3d\"?"
    );
}

#[test]
fn a_list_with_a_word_twice_is_refused() {
    let message = shown(resolve_with("[output]\nformats = [\"vts\", \"vts\"]\n"));

    assert_eq!(
        message,
        "wing.toml:4: output.formats = [\"vts\", \"vts\"]: expected a list of \"vts\", \
         \"vtk\", \"plot3d\", \"su2\", \"openfoam\", \"cgns\", \"msh\"\n\
         hint: name \"vts\" once"
    );
}

#[test]
fn an_empty_list_is_refused() {
    let message = shown(resolve_with("[output]\nformats = []\n"));

    assert_eq!(
        message,
        "wing.toml:4: output.formats = []: expected a list of \"vts\", \
         \"vtk\", \"plot3d\", \"su2\", \"openfoam\", \"cgns\", \"msh\"\n\
         hint: name at least one of them"
    );
}

#[test]
fn a_long_value_is_cut_in_the_message() {
    let message = shown(resolve_with(&format!("[grid]\nni = \"{}\"\n", "9".repeat(200))));

    assert_eq!(
        message,
        "wing.toml:4: grid.ni = \"99999999999999999999999999999999999999999999999999999999999…: \
         expected an integer from 9 to 1000000\n\
         hint: write a whole number, without quotes"
    );
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_case_parser_panic(
        lines in proptest::collection::vec(
            "(\\[?(geometry|grid|newton|linear|x)\\]?|(naca|ni|first_cell|y_plus|tolerance|a\\.b) ?= ?(-?[0-9]{0,12}(\\.[0-9]{1,3}|e[0-9]{1,4})?|\"[0-9]{0,6}\"|nan|\\[1, \\{|true))?",
            0..12,
        ),
        key in "(grid\\.ni|geometry|\\.|a\\.b\\.c|newton\\.x)",
        value in "[-0-9ea\"\\[{.]{0,8}",
    ) {
        let text = lines.join("\n");

        let _ = resolve(&text);
        let _ = resolve_set(&text, &[(&key, &value)]);
        let _ = resolve_set(SMALLEST, &[(&key, &value)]);
    }
}
