//! Shipped cases, run unchanged: properties on which a user may rely. tests/documents/gallery.rs has the others.
//!
//! First cell, wall angle, far field and residual have the bounds of the requirements. The skewness that a
//! corner of the wall forces is computed here from theory. The other bounds on skewness and Newton steps are
//! the first results of this program with a margin of a tenth or more: they detect regressions and do not
//! define good grids, which [`EXCELLENT`] does. Linear iterations are not bounded, since they depend on the
//! preconditioner.
#![allow(clippy::float_cmp, reason = "seams and lines of symmetry are exact")]

use std::f64::consts::PI;

use gridgen::generate::GridResult;
use gridgen::grid::{Symmetry, Topology};
use support::vectors::{less, turn};

use super::{assert_heights, assert_mirrored, assert_steps, case, make, shipped};

/// Equiangle skewness up to which a cell is called excellent. Source: ANSYS Fluent User's Guide, "Mesh
/// Quality", table of cell quality against skewness.
pub(super) const EXCELLENT: f64 = 0.25;

/// The grid of a shipped case with some keys replaced.
fn made_with(name: &str, set: &[(&str, &str)]) -> GridResult {
    make(&shipped(name, set)).unwrap()
}

/// Asserts the properties of the O-grid of every shipped case, and the bounds of this one on the 99th percentile of
/// the skewness and on its largest value.
#[track_caller]
fn assert_good(name: &str, [p99, most]: [f64; 2]) -> GridResult {
    let outcome = made_with(name, &[("grid.topology", "O")]);
    let (case, quality) = (&outcome.case, &outcome.quality);

    assert!(outcome.converged(), "{}", outcome.stop);
    assert!(outcome.newton_iterations() <= 7, "{outcome:?}");
    assert!(outcome.residual() < 1e-10, "{:e}", outcome.residual());

    assert_eq!((outcome.folded_cells, quality.folded_cells), (0, 0));
    assert!(quality.min_jacobian > 0.0, "{:e}", quality.min_jacobian);

    assert_heights(quality, case.grid.first_cell, 1e-3, name);
    let spread = quality.first_cell_max / quality.first_cell_min;
    assert!(spread <= 1.0005, "{spread}");
    assert!(quality.wall_angle_error_max_deg <= 0.01, "{}", quality.wall_angle_error_max_deg);

    for radius in [quality.far_field_min, quality.far_field_max] {
        assert!((radius - case.grid.far_field).abs() <= 1e-9, "{radius}");
    }

    assert!(quality.p99_skewness <= p99.min(EXCELLENT), "{}", quality.p99_skewness);
    assert!(quality.max_skewness <= most, "{}", quality.max_skewness);
    // The worst cell is at the trailing edge or beside a corner of the base.
    let [i, j] = quality.max_skewness_at;
    assert!(j == 0 && i.min(case.grid.ni - 2 - i) < 4, "worst cell ({i}, {j})");
    outcome
}

/// Asserts that the largest skewness is the one that a corner of the wall with this interior angle (radians) forces on the
/// two cells beside it: a grid line leaves the corner along its bisector, so each cell has an angle of 180° minus half the
/// interior angle there.
#[track_caller]
fn assert_forced(outcome: &GridResult, interior: f64, within: f64) {
    let forced = (180.0 - 0.5 * interior.to_degrees() - 90.0) / 90.0;
    let worst = outcome.quality.max_skewness;
    assert!((worst - forced).abs() < within, "{worst} where the corner forces {forced}");
}

/// Angle between the surface and the camber line at x = 1 of a NACA section of 12 % thickness: the slope of
/// 0.6 (0.2969 √x − 0.1260 x − 0.3516 x² + 0.2843 x³ + a₄ x⁴), with a₄ = −0.1036 for a sharp edge and −0.1015
/// for a blunt one.
fn edge_slope(a4: f64) -> f64 {
    let slope = 0.2969 / 2.0 - 0.1260 - 2.0 * 0.3516 + 3.0 * 0.2843 + 4.0 * a4;
    (-0.6 * slope).atan()
}

#[test]
fn naca0012_is_good_within_seven_newton_steps() {
    let outcome = assert_good("naca0012.toml", [0.15, 0.91]);

    let grid = &outcome.case.grid;
    assert_eq!((grid.ni, grid.nj, grid.first_cell), (257, 129, 1e-5));
    assert_forced(&outcome, 2.0 * edge_slope(-0.1036), 1e-3);
    // No node is farther away than 25 chords.
    assert_mirrored(&outcome.grid, 1e-12 / 25.0, |[x, y]| [x, -y]);
}

#[test]
fn naca0012_blunt_is_good_at_the_size_of_the_peers() {
    let outcome = assert_good("naca0012-blunt.toml", [0.135, 0.46]);

    let grid = &outcome.case.grid;
    assert_eq!((grid.ni, grid.nj, grid.first_cell), (250, 100, 1.04e-5));
    assert_forced(&outcome, PI / 2.0 + edge_slope(-0.1015), 1e-3);
}

/// The first cell follows from y⁺ = 1 at Re = 3e6 by the flat plate of `docs/case-format.md`.
#[test]
fn naca4412_has_the_first_cell_of_its_y_plus() {
    let outcome = assert_good("naca4412.toml", [0.12, 0.91]);

    let friction = (2.0 * 3e6_f64.log10() - 0.65).powf(-2.3);
    let height = 0.5 / (3e6 * (friction / 2.0).sqrt());
    let first_cell = outcome.case.grid.first_cell;
    assert!((first_cell / height - 1.0).abs() < 1e-12, "{first_cell:e}");
    // Camber rotates the edge and does not open it.
    assert_forced(&outcome, 2.0 * edge_slope(-0.1036), 2e-3);
}

/// The section is thin and cusped, so its edge forces more skewness than the sections above.
#[test]
fn e387_is_good_from_its_file_of_points() {
    let outcome = assert_good("e387.toml", [0.18, 0.985]);

    // The wall's own angle at its edge, between its first and its last cell.
    let [edge, after, before] = [0, 1, outcome.grid.ni - 2].map(|i| outcome.grid.point(i, 0));
    assert_forced(&outcome, turn(less(after, edge), less(before, edge)).abs(), 2e-3);
}

/// For any number of points, the lines around a section are no wavier than its wall. Cells beside the line
/// from the edge grow by at most 1.45, beside those from a base or a round edge by 1.35.
#[test]
fn lines_around_a_section_do_not_wave_at_any_size() {
    let sections =
        [("", 1.45), ("trailing_edge = 'blunt'", 1.35), ("trailing_edge = 'rounded'", 1.35)];
    for ((edge, growth), (ni, nj)) in
        sections.into_iter().flat_map(|section| [(129, 65), (257, 129)].map(|n| (section, n)))
    {
        let case =
            case(&format!("[geometry]\nnaca = '4412'\n{edge}\n[grid]\nni = {ni}\nnj = {nj}\n"));

        let outcome = make(&case).unwrap();

        let what = format!("{edge} {ni} x {nj}");
        assert!(outcome.converged() && outcome.newton_iterations() <= 5, "{what}: {outcome:?}");
        assert!(outcome.quality.waves_deg <= 1.0, "{what}: {}", outcome.quality.waves_deg);
        assert!(outcome.quality.max_growth_i <= growth, "{what}: {}", outcome.quality.max_growth_i);
    }
}

/// Fillets are concave and tips turn by 180° within 0.005 m. The values come from the first run with a
/// margin of a tenth.
#[test]
fn f6_section_is_good_and_symmetric_and_f6_half_is_its_half() {
    let outcome = made_with("f6-section.toml", &[]);
    let (grid, quality) = (&outcome.grid, &outcome.quality);

    assert!(outcome.converged() && outcome.folded_cells == 0, "{}", outcome.stop);
    assert!(outcome.newton_iterations() <= 8, "{}", outcome.newton_iterations());
    assert!(outcome.notices.is_empty(), "{:?}", outcome.notices);
    assert!(quality.max_skewness <= 0.242, "{}", quality.max_skewness);
    assert!(quality.p99_skewness <= 0.153, "{}", quality.p99_skewness);
    assert!(quality.max_skewness <= EXCELLENT, "{}", quality.max_skewness);
    assert!(quality.mean_skewness <= 0.039, "{}", quality.mean_skewness);
    assert_eq!(quality.wall_corners, 0);
    assert!(quality.wall_angle_error_max_deg <= 1e-6, "{}", quality.wall_angle_error_max_deg);
    assert_heights(quality, outcome.case.grid.first_cell, 1e-6, "f6");
    assert_mirrored(grid, 1e-12 / 25.0, |[x, y]| [-x, y]);
    let middle = (grid.ni - 1) / 2;
    for j in 0..grid.nj {
        assert_eq!((grid.point(0, j)[0], grid.point(middle, j)[0]), (0.0, 0.0), "line {j}");
        assert_eq!(grid.point(0, j), grid.point(grid.ni - 1, j), "line {j}");
    }
    let half = made_with("f6-half.toml", &[]);
    let kept = &half.grid;
    assert!(half.converged() && half.notices.is_empty(), "{:?}", half.notices);
    assert_eq!((kept.topology, kept.ni), (Topology::Half(Symmetry::LeftRight), 193));
    for (i, j) in (0..kept.nj).flat_map(|j| (0..kept.ni).map(move |i| (i, j))) {
        assert_eq!(kept.point(i, j), grid.point(i, j), "({i}, {j})");
    }
    assert_eq!(half.quality.max_skewness, quality.max_skewness);
    assert!((half.quality.mean_skewness - quality.mean_skewness).abs() < 1e-12);
    assert_eq!(half.quality.first_cell_max, quality.first_cell_max);
    assert_eq!(half.linear_iterations(), outcome.linear_iterations());
    // The top of the fuselage, and the tip.
    assert_eq!(grid.point(0, 0), [0.0, 0.0742 / 0.1412]);
    let span = (0..grid.ni).map(|i| grid.point(i, 0)[0]).fold(0.0, f64::max);
    assert!((span - 0.34 / 0.1412).abs() < 1e-3, "{span}");
}

#[test]
fn a_grid_of_2049_rows_takes_few_linear_iterations() {
    let size = [("grid.ni", "129"), ("grid.nj", "2049"), ("grid.first_cell", "1e-4")];
    let set = [&size[..], &[("grid.topology", "O")]].concat();
    let outcome = made_with("naca0012.toml", &set);

    assert!(outcome.is_good(), "{}", outcome.verdict);
    // 13 with a cycle that visits each level once, 7 where it visits the third twice.
    assert_steps(&outcome, [3.0, 6.5], "2049 rows");
}
