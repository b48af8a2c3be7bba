//! The checks of OpenFOAM's `checkMesh`. Each test quotes the output of version 1912 for the same mesh.

use gridgen::formats::openfoam::{Measure, Objection, objections};
use gridgen::formats::{Sides, Span};
use gridgen::grid::{Grid, Symmetry, Topology};
use support::cases::{case, make};
use support::grids::{grid_from, half_grid, joukowski_grid};

/// The grid of the NACA 0012 with the keys of `[grid]`.
fn naca0012(grid: &str) -> Grid {
    let text = format!("geometry.naca = '0012'\n[grid]\n{grid}");
    let made = make(&case(&text)).unwrap();
    assert!(made.is_good(), "{}", made.verdict);
    made.grid
}

/// Asserts that exactly these objections are found, with exact counts and values within `tolerance`.
fn assert_found(found: &[Objection], printed: &[(Measure, usize, f64)], tolerance: f64) {
    assert_eq!(found.len(), printed.len(), "{found:?}");
    for (objection, &(measure, count, worst)) in found.iter().zip(printed) {
        assert_eq!((objection.measure, objection.count), (measure, count), "{found:?}");
        assert!((objection.worst / worst - 1.0).abs() < tolerance, "{found:?}");
    }
}

/// checkMesh printed " ***Max skewness = 16.9181458862, 17 highly skew faces detected"; of the extruded grid
/// " ***High aspect ratio cells found, Max aspect ratio: 21650.779773, number of cells 8312", " ***Max skewness =
/// 16.9181458862, 68 highly skew faces detected".
///
/// It checked the grid of an earlier march and smoothing, with 8312 such cells. The number here is this
/// program's own.
#[test]
fn faces_behind_a_sharp_edge_are_skew_and_extruded_cells_as_long_as_a_cell_over_the_span() {
    let grid = naca0012("ni = 161\nnj = 65\nfirst_cell = 1e-5");

    let found = objections(&[&grid], None);

    assert_found(&found, &[(Measure::Skewness, 17, 16.918_145_886_2)], 1e-6);
    let [x, y] = found[0].at;
    assert!((x - 1.000_005).abs() < 1e-9 && y.abs() < 1e-9, "{found:?}");
    let span = Span { length: 0.5, cells: 4, sides: Sides::Symmetry };
    let printed =
        [(Measure::Skewness, 68, 16.918_145_886_2), (Measure::AspectRatio, 8336, 21_650.779_773)];
    assert_found(&objections(&[&grid], Some(span)), &printed, 1e-6);
    // checkMesh printed "Max skewness = 3.2 OK", "Mesh OK.", where the spacing at the edge is the first cell.
    let even = naca0012("ni = 161\nnj = 65\nfirst_cell = 1e-5\ntrailing_edge_spacing = 1e-5");
    assert_eq!(objections(&[&even], None), []);
}

/// checkMesh printed " ***High aspect ratio cells found, Max aspect ratio: 1068088.02343, number of cells
/// 3082", "Mesh non-orthogonality Max: 77.8666021941", "Number of severely non-orthogonal (> 70 degrees)
/// faces: 4."
///
/// It checked the grid of an earlier smoothing, whose largest angle that is. The angle here is this
/// program's own.
#[test]
fn cells_of_a_wake_are_flat_and_faces_at_the_edge_off_the_lines_between_centres() {
    let grid = naca0012("topology = 'C'\nni = 225\nnj = 97\nwake = 48\nfirst_cell = 1e-7");

    let found = objections(&[&grid], None);

    let printed = [
        (Measure::AspectRatio, 3082, 1_068_088.023_43),
        (Measure::NonOrthogonality, 4, 74.176_542_885_8),
    ];
    assert_found(&found, &printed, 1e-3);
}

/// checkMesh printed for the first " ***Max skewness = 12.8946301787, 4 highly skew faces detected", " ***High aspect
/// ratio cells found, Max aspect ratio: 2713.54216417, number of cells 1292"; for half a grid " ***High aspect ratio
/// cells found, Max aspect ratio: 29528.1581153, number of cells 864".
///
/// The last are by hand, and in agreement with checkMesh if the planes of symmetry are patches: rectangles of 0.3 × 1,
/// each line of them shifted by 5. The 16 faces of the first and the last line have their middles 2.5 beside the
/// centres, which are 0.5 away; 2.5/max(0.15, 0.4 · 0.5) = 12.5. The 24 faces between lines and the 28 between columns
/// lean by atan 5 against the lines between centres.
#[test]
fn grids_by_a_formula_have_the_figures_to_all_digits() {
    use Measure::{AspectRatio, NonOrthogonality, Skewness};
    let span = |length, cells| Some(Span { length, cells, sides: Sides::Symmetry });
    let shifted = grid_from(9, 5, |i, j| [0.3 * i as f64 + 5.0 * j as f64, j as f64]);
    let shifted = Grid { topology: Topology::Half(Symmetry::UpDown), ..shifted };
    let slope = 5_f64.atan().to_degrees();
    for (grid, span, printed, tolerance) in [
        (
            joukowski_grid(83, 61, 0.2),
            span(0.001, 2),
            &[(Skewness, 4, 12.894_630_178_7), (AspectRatio, 1292, 2_713.542_164_17)][..],
            1e-11,
        ),
        (half_grid(9, 41), span(1e-4, 3), &[(AspectRatio, 864, 29_528.158_115_3)], 1e-11),
        (shifted, None, &[(Skewness, 16, 12.5), (NonOrthogonality, 52, slope)], 1e-12),
    ] {
        assert_found(&objections(&[&grid], span), printed, tolerance);
    }
}
