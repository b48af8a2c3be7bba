//! Values of the wrong type.

use super::{SMALLEST, refusals, resolve, resolve_set, resolve_with};

#[test]
fn values_of_the_wrong_type_are_refused() {
    let refused = vec![
        resolve("[geometry]\nnaca = 2412\n"),
        resolve("[geometry]\nnaca = \" \"\n"),
        resolve_with("[grid]\nni = \"257\"\n"),
        resolve_with("[grid]\nni = 257.0\n"),
        // A long value is cut.
        resolve_with(&format!("[grid]\nni = \"{}\"\n", "9".repeat(200))),
        resolve_with("[grid]\nfar_field = \"far\"\n"),
        resolve_with("[output]\npictures = \"yes\"\n"),
        resolve_with("trailing_edge = \"round\"\n"),
        resolve_with("trailing_edge = \"open\"\n"),
        resolve_with("[grid]\ntopology = \"H\"\n"),
        resolve_with("[output]\nformats = \"vts\"\n"),
        resolve_with("[output]\nformats = [\"vts\", \"plot2d\"]\n"),
        resolve_with("[output]\nformats = [\"vts\", \"vts\"]\n"),
        resolve_with("[output]\nformats = []\n"),
    ];

    insta::assert_snapshot!(refusals(refused), @r#"
    wing.toml:2: geometry.naca = 2412: expected text in quotes
    hint: put the text in quotes: naca = "2412"
    wing.toml:2: geometry.naca = " ": expected text on one line that is not blank
    hint: (meaning)
    wing.toml:4: grid.ni = "257": expected an integer from 9 to 1000000
    hint: write a whole number, without quotes
    wing.toml:4: grid.ni = 257.0: expected an integer from 9 to 1000000
    hint: write a whole number, without point or exponent
    wing.toml:4: grid.ni = "99999999999999999999999999999999999999999999999999999999999…: expected an integer from 9 to 1000000
    hint: write a whole number, without quotes
    wing.toml:4: grid.far_field = "far": expected a number at least 1 and at most 1e6
    hint: write a number, without quotes
    wing.toml:4: output.pictures = "yes": expected true or false
    hint: write true or false, without quotes
    wing.toml:3: geometry.trailing_edge = "round": expected one of "sharp", "blunt", "rounded", "wedge", "extended", "as-given"
    hint: did you mean "rounded"?
    wing.toml:3: geometry.trailing_edge = "open": expected one of "sharp", "blunt", "rounded", "wedge", "extended", "as-given"
    hint: leave geometry.trailing_edge out for the default: "sharp" for naca, "as-given" for file and points
    wing.toml:4: grid.topology = "H": expected one of "O", "C", "auto", "half"
    hint: leave grid.topology out for the default: "auto"
    wing.toml:4: output.formats = "vts": expected a list of "vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"
    hint: put the words in brackets: formats = ["vts", "plot3d"]
    wing.toml:4: output.formats = ["vts", "plot2d"]: expected a list of "vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"
    hint: did you mean "plot3d"?
    wing.toml:4: output.formats = ["vts", "vts"]: expected a list of "vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"
    hint: name "vts" once
    wing.toml:4: output.formats = []: expected a list of "vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"
    hint: name at least one of them
    "#);
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_case_parser_panic(
        lines in proptest::collection::vec(
            "(\\[?(geometry|grid|newton|linear|x)\\]?|(naca|ni|first_cell|y_plus|tolerance|a\\.b) ?= ?(-?[0-9]{0,12}(\\.[0-9]{1,3}|e[0-9]{1,4})?|\"[0-9]{0,6}\"|nan|\\[1, \\{|true))?",
            0..12,
        ),
        key in "(grid\\.ni|geometry|\\.|a\\.b\\.c|newton\\.x|\\PC{0,12})",
        value in "[-0-9ea\"\\[{.]{0,8}",
    ) {
        let text = lines.join("\n");

        let _ = resolve(&text);
        let _ = resolve_set(&text, &[(&key, &value)]);
        let _ = resolve_set(SMALLEST, &[(&key, &value)]);
    }
}
