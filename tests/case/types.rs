//! Unknown keys and sections, and values of the wrong type or out of range.

use super::{SMALLEST, refusals, resolve, resolve_set, resolve_with};

#[test]
fn unknown_names_and_values_of_the_wrong_type_or_out_of_range_are_refused() {
    let refused = vec![
        resolve_with("[grid]\nfar_feild = 15\n"),
        resolve_with("[grid]\ntolerance = 1e-8\n"),
        resolve("naca = \"2412\"\n"),
        resolve_with("[output]\nqqq = 1\n"),
        resolve_with("[gird]\nni = 65\n"),
        resolve_with("[wake]\nlength = 1\n"),
        resolve_with("[control]\n[newton]\n").and(resolve("grid = 3\n")),
        resolve("[[geometry]]\nnaca = \"2412\"\n"),
        resolve_with("[grid.ni]\ncount = 3\n"),
        resolve_set(SMALLEST, &[("grid.nii", "3")]),
        resolve_set(SMALLEST, &[("grid", "3")]),
        resolve("[geometry]\nnaca = 2412\n"),
        resolve("[geometry]\nnaca = \" \"\n"),
        resolve_with("[grid]\nni = \"257\"\n"),
        resolve_with("[grid]\nni = 257.0\n"),
        // A long value is cut.
        resolve_with(&format!("[grid]\nni = \"{}\"\n", "9".repeat(200))),
        resolve_with("[grid]\nfar_field = \"far\"\n"),
        resolve_with("[output]\npictures = \"yes\"\n"),
        resolve_with("trailing_edge = \"round\"\n"),
        resolve_with("[output]\nformats = \"vts\"\n"),
        resolve_with("[output]\nformats = [\"vts\", \"plot2d\"]\n"),
        resolve_with("[output]\nformats = [\"vts\", \"vts\"]\n"),
        resolve_with("[output]\nformats = []\n"),
        resolve_with("[grid]\nni = 100000\nnj = 100000\n"),
        resolve_with("[grid]\nfirst_cell = 0\n"),
        resolve_with("[grid]\nfirst_cell = [[-inf, 1e-5], [1.0, 1e-4]]\n"),
        resolve_with("[grid]\nfirst_cell = 20.0\n"),
        resolve_with("[grid]\nnj = 5\nfar_field = 1.0\nfirst_cell = 0.25\n"),
        resolve_with("[grid]\ny_plus = 1000.0\nreynolds = 1e3\n"),
        resolve_with("[grid]\nnj = 1000000\nni = 17\nfar_field = 1.0\ntopology = 'O'\n"),
        resolve_with("[grid]\nfar_field = inf\n"),
        resolve_with("[grid]\nni = 21\nbase_cells = 11\n"),
        resolve_with("[newton]\nforcing_max = 0.05\n"),
    ];

    insta::assert_snapshot!(refusals(refused), @r#"
    wing.toml:4: unknown key grid.far_feild
    hint: did you mean grid.far_field?
    wing.toml:4: unknown key grid.tolerance
    hint: did you mean newton.tolerance?
    wing.toml:1: unknown key naca
    hint: did you mean geometry.naca?
    wing.toml:4: unknown key output.qqq
    hint: the keys here are output.formats, output.compression, output.span_cells, output.span, output.sides, output.curved_order, output.plot3d_dimensions, output.plot3d_encoding, output.plot3d_precision, output.plot3d_byte_order, output.plot3d_block_count, output.plot3d_blanking, output.plot3d_axes, output.pictures, output.quality_maps, output.report, output.reference
    wing.toml:3: unknown section [gird]
    hint: did you mean [grid]?
    wing.toml:3: unknown section [wake]
    hint: the sections are geometry, grid, domain, cascade, initial, control, quality, newton, linear, multigrid, output, element, background, overset
    wing.toml:1: grid = 3: expected a section
    hint: write [grid] in single brackets, once, and its keys below it
    wing.toml:1: geometry = a list of tables: expected a section
    hint: write [geometry] in single brackets, once, and its keys below it
    wing.toml:3: grid.ni = a table: expected an integer from 9 to 1000000
    hint: write a whole number, without quotes
    --set grid.nii=3: unknown key grid.nii
    hint: did you mean grid.ni?
    --set grid=3: unknown key grid
    hint: the keys here are grid.topology, grid.ni, grid.nj, grid.growth, grid.far_field, grid.reach, grid.wake, grid.wake_spacing, grid.wake_length, grid.wake_direction, grid.refine, grid.first_cell, grid.wake_first_cell, grid.y_plus, grid.reynolds, grid.reference_length, grid.leading_edge_spacing, grid.trailing_edge_spacing, grid.max_turn, grid.base_cells, grid.points_upper, grid.points_lower, grid.clusters, grid.max_spacing, grid.wall_growth, grid.wall_points, grid.seam
    wing.toml:2: geometry.naca = 2412: expected text in quotes
    hint: put the text in quotes: naca = "2412"
    wing.toml:2: geometry.naca = " ": expected text on one line that is not blank
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
    wing.toml:4: output.formats = "vts": expected a list of "vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"
    hint: put the words in brackets: formats = ["vts", "plot3d"]
    wing.toml:4: output.formats = ["vts", "plot2d"]: expected a list of "vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"
    hint: did you mean "plot3d"?
    wing.toml:4: output.formats = ["vts", "vts"]: expected a list of "vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"
    hint: name "vts" once
    wing.toml:4: output.formats = []: expected a list of "vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"
    hint: name at least one of them
    wing.toml:4: grid.ni = 100000: expected grid.ni × grid.nj of at most 1073741823, here 100000 × 100000
    hint: choose fewer points
    wing.toml:4: grid.first_cell = 0: expected a height greater than 0 and less than 1e6, or a list of heights along the wall
    wing.toml:4: grid.first_cell = [[-inf, 1e-5], [1.0, 1e-4]]: expected a height greater than 0 and less than 1e6, or a list of heights along the wall
    hint: write [[0.0, 1e-5], [1.0, 4e-5]], x/c rising, { upper = [[0.0, 1e-5]], lower = [[0.0, 2e-5]] }, or [1e-5, 1.1e-5, …] with a height for each point of the wall
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
