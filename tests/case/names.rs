//! Unknown keys and sections.

use super::{SMALLEST, resolve, resolve_set, resolve_with, shown};

#[test]
fn a_misspelt_key_is_refused() {
    let message = shown(resolve_with("[grid]\nfar_feild = 15\n"));

    assert_eq!(
        message,
        "wing.toml:4: unknown key grid.far_feild\n\
         hint: did you mean grid.far_field?"
    );
}

#[test]
fn a_key_of_another_section_is_refused() {
    let message = shown(resolve_with("[grid]\ntolerance = 1e-8\n"));

    assert_eq!(
        message,
        "wing.toml:4: unknown key grid.tolerance\n\
         hint: did you mean newton.tolerance?"
    );
}

#[test]
fn a_key_outside_its_section_is_refused() {
    let message = shown(resolve("naca = \"2412\"\n"));

    assert_eq!(
        message,
        "wing.toml:1: unknown key naca\n\
         hint: did you mean geometry.naca?"
    );
}

#[test]
fn a_key_like_no_other_is_refused() {
    let message = shown(resolve_with("[output]\nqqq = 1\n"));

    assert_eq!(
        message,
        "wing.toml:4: unknown key output.qqq\n\
         hint: the keys here are output.formats, output.compression, output.span_cells, output.span, output.sides, output.curved_order, output.plot3d_dimensions, \
         output.plot3d_encoding, output.plot3d_precision, output.plot3d_byte_order, \
         output.plot3d_block_count, output.plot3d_blanking, output.plot3d_axes, output.pictures, \
         output.quality_maps, output.report, output.reference"
    );
}

#[test]
fn a_misspelt_section_is_refused() {
    let message = shown(resolve_with("[gird]\nni = 65\n"));

    assert_eq!(
        message,
        "wing.toml:3: unknown section [gird]\n\
         hint: did you mean [grid]?"
    );
}

#[test]
fn a_section_like_no_other_is_refused() {
    let message = shown(resolve_with("[wake]\nlength = 1\n"));

    assert_eq!(
        message,
        "wing.toml:3: unknown section [wake]\n\
         hint: the sections are geometry, grid, initial, control, quality, newton, linear, multigrid, output, \
         element, background, overset"
    );
}

#[test]
fn a_value_in_place_of_a_section_is_refused() {
    let message = shown(resolve_with("[control]\n[newton]\n").and(resolve("grid = 3\n")));

    assert_eq!(
        message,
        "wing.toml:1: grid = 3: expected a section\n\
         hint: write [grid] in single brackets, once, and its keys below it"
    );
}

#[test]
fn a_section_given_as_a_list_is_refused() {
    let message = shown(resolve("[[geometry]]\nnaca = \"2412\"\n"));

    assert_eq!(
        message,
        "wing.toml:1: geometry = a list of tables: expected a section\n\
         hint: write [geometry] in single brackets, once, and its keys below it"
    );
}

#[test]
fn a_section_in_place_of_a_value_is_refused() {
    let message = shown(resolve_with("[grid.ni]\ncount = 3\n"));

    assert_eq!(
        message,
        "wing.toml:3: grid.ni = a table: expected an integer from 9 to 1000000\n\
         hint: write a whole number, without quotes"
    );
}

#[test]
fn an_unknown_key_in_an_override_is_refused() {
    let message = shown(resolve_set(SMALLEST, &[("grid.nii", "3")]));

    assert_eq!(
        message,
        "--set grid.nii=3: unknown key grid.nii\n\
         hint: did you mean grid.ni?"
    );
}

#[test]
fn a_section_in_an_override_is_refused() {
    let message = shown(resolve_set(SMALLEST, &[("grid", "3")]));

    assert_eq!(
        message,
        "--set grid=3: unknown key grid\n\
         hint: the keys here are grid.topology, grid.ni, grid.nj, grid.far_field, \
         grid.reach, grid.wake, grid.wake_length, grid.wake_direction, grid.refine, grid.first_cell, grid.y_plus, grid.reynolds, grid.reference_length, \
         grid.leading_edge_spacing, grid.trailing_edge_spacing, grid.max_turn, grid.base_cells, grid.seam"
    );
}
