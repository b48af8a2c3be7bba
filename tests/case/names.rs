//! Unknown keys and sections.

use super::{SMALLEST, refusals, resolve, resolve_set, resolve_with};

#[test]
fn unknown_names_are_refused() {
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
    "#);
}
