//! Quality measures on grids that can be computed by hand, and compared with numbers of an independent
//! implementation.
#![allow(clippy::float_cmp, reason = "expected numbers are exact in floating point")]

use gridgen::formats::mesh;
use gridgen::grid::quality::{
    CellMeasure, Corners, WallLine, boundary_layer_cells, cell_area, cell_aspect_ratio,
    cell_corners, cell_skewness, growth, measure, nonorthogonality, percentile,
    smallest_determinant,
};
use gridgen::grid::{Grid, Seam, Symmetry, Topology};
use support::grids::{grid_from, joukowski_grid, polar_grid};
use support::vectors::closed_turns;
use support::with_threads;

use super::{case, family, line, make, report, shipped};

fn assert_close(actual: f64, expected: f64, relative: f64) {
    let error = (actual - expected).abs();
    assert!(error <= relative * expected.abs(), "{actual} is not {expected}");
}

#[test]
fn squares_have_the_skewness_of_their_shear() {
    // Sheared by 45° they have angles of 45° and 135°: (135 − 90)/90 = 1/2. The edges are 1 and √2.
    // Centres above each other are off by the shear, and centres beside each other, where the face leans and the line does not.
    for (shear, skewness) in [(0.0, 0.0), (1.0_f64, 0.5)] {
        let mut grid = grid_from(5, 4, |i, j| [i as f64 + shear * j as f64, j as f64]);

        let quality = measure(&grid);

        assert_eq!((quality.folded_cells, quality.min_jacobian), (0, 1.0));
        for found in [quality.max_skewness, quality.p99_skewness, quality.mean_skewness] {
            assert_close(found, skewness, 1e-15);
        }
        assert_close(quality.max_aspect_ratio, f64::hypot(1.0, shear), 1e-15);
        assert_close(quality.max_growth, 1.0, 1e-15);
        grid.topology = Topology::C { wake: 0 };
        let (angles, expected) = (nonorthogonality(&grid), shear.atan().to_degrees());
        assert!(angles.iter().all(|angle| (angle - expected).abs() < 1e-12), "{angles:?}");
    }
}

#[test]
fn growth_is_told_with_its_place_and_its_percentile() {
    // Along j cells grow by 1.2 but for one by 1.5, the 250 of line 31; along i they shrink by 1.1 from column 4 on.
    let heights = |j: usize| {
        (0..j).map(|k| 1.2_f64.powf(k as f64) * if k > 30 { 1.25 } else { 1.0 }).sum::<f64>()
    };
    let widths = |i: usize| (0..i).map(|k| if k >= 4 { 1.0 / 1.1 } else { 1.0 }).sum::<f64>();
    let grid = grid_from(250, 202, |i, j| [widths(i), heights(j)]);

    let [along_i, along_j] = growth(&grid).unwrap();

    assert_close(along_i.largest, 1.1, 1e-12);
    assert_eq!(along_i.node[0], 4);
    // Of 248 pairs on each line one grows: fewer than 1 %.
    assert_close(along_i.p99, 1.0, 1e-3);
    assert_close(along_j.largest, 1.5, 1e-12);
    assert_eq!(along_j.node[1], 31);
    assert_eq!(along_j.at, grid.point(along_j.node[0], 31));
    assert_close(along_j.p99, 1.2, 5e-4);
    let measured = measure(&grid);
    assert_close(along_i.largest, measured.max_growth_i, 1e-12);
    assert_close(along_j.largest, measured.max_growth_j, 1e-12);
    assert!(growth(&Grid::new(Topology::O(Seam::Held), 0, 0)).is_none());
    // Every tenth interval is twice as wide, so that a fifth of the ratios is 2.
    let uneven = growth(&grid_from(250, 4, |i, j| [(i + i / 10) as f64, j as f64])).unwrap();
    assert_eq!((uneven[0].p99, uneven[1].p99), (2.0, 1.0));
}

#[test]
fn a_reflex_corner_counts_as_folded_and_exceeds_skewness_one() {
    // The corner (1, 1) is moved to (0.25, 0.25), inside the triangle of the other three. The edges from it
    // to (0, 1) and (1, 0) span `inner` on the far side of the cell.
    let dart = [[0.0, 0.0], [1.0, 0.0], [0.25, 0.25], [0.0, 1.0]];
    let inner = f64::atan2(0.75, -0.25) - f64::atan2(-0.25, 0.75);
    let reflex = 360.0 - inner.to_degrees();
    let grid = grid_from(2, 2, |i, j| dart[if j == 0 { i } else { 3 - i }]);

    let quality = measure(&grid);

    assert_eq!(quality.folded_cells, 1);
    assert!(quality.min_jacobian < 0.0);
    assert_close(quality.max_skewness, (reflex - 90.0) / 90.0, 1e-14);
    // The dart consists of two triangles of 1/2 · 1 · 1/4.
    assert_close(cell_area(&dart), 0.25, 1e-15);
}

#[test]
fn a_crossed_cell_counts_once_and_is_located() {
    let grid = grid_from(5, 4, |i, j| {
        // Node (2, 1) is moved beyond its neighbour (3, 1).
        if (i, j) == (2, 1) { [3.5, 1.0] } else { [i as f64, j as f64] }
    });

    let quality = measure(&grid);

    // Cells (2, 0) and (2, 1) lie between the crossed nodes.
    assert_eq!(quality.folded_cells, 2);
    assert!(quality.max_skewness > 1.0);
    let [i, j] = quality.max_skewness_at;
    assert!((1..=2).contains(&i) && j <= 1, "found at ({i}, {j})");
}

/// Turning to the left and to the right of a closed line, in degrees.
fn turning(line: &[[f64; 2]]) -> [f64; 2] {
    let turns = closed_turns(line).into_iter().map(f64::to_degrees);
    turns.fold([0.0; 2], |[left, right], turn| [left + turn.max(0.0), right - turn.min(0.0)])
}

#[test]
fn a_dent_is_a_wave_wherever_the_seam_is() {
    let round = polar_grid(33, 9, 0.05, 1.2);
    assert!(measure(&round).waves_deg < 1e-9 && measure(&round).wavy_lines == 0);
    let mut found = Vec::new();
    for at in [0, 1, 7, 31] {
        let mut grid = round.clone();
        for i in [at, at + 32].into_iter().filter(|i| *i <= 32) {
            let k = grid.index(i, 5);
            (grid.x[k], grid.y[k]) = (0.5 + 0.9 * (grid.x[k] - 0.5), 0.9 * grid.y[k]);
        }

        let quality = measure(&grid);

        let [left, right] = turning(&line(&grid, 5));
        assert!((right - left - 360.0).abs() < 1e-9 && left > 20.0, "{left}, {right}");
        assert_close(quality.waves_deg, left, 1e-10);
        assert_eq!(quality.wavy_lines, 1);
        found.push(quality.waves_deg);
    }
    assert!(found.iter().all(|waves| (waves - found[0]).abs() < 1e-9), "{found:?}");
}

#[test]
fn waves_are_those_that_the_wall_does_not_have() {
    // The line goes up, down, up, down with this slope: two bends to the right and one to the left, of 2
    // atan(slope) each.
    let grid = |slopes: [f64; 4]| {
        let grid = grid_from(5, 4, |i, j| [i as f64, j as f64 + slopes[j] * (i % 2) as f64]);
        Grid { topology: Topology::Half(Symmetry::UpDown), ..grid }
    };
    let bend = |slope: f64| 2.0 * slope.atan().to_degrees();

    let quality = measure(&grid([0.1, 0.3, 0.1, 0.0]));

    assert_close(quality.waves_deg, bend(0.3) - bend(0.1), 1e-12);
    assert_eq!(quality.wavy_lines, 1);
    assert!(measure(&grid([0.3, 0.3, 0.1, 0.0])).waves_deg < 1e-12);
}

#[test]
fn measures_agree_with_an_independent_implementation() {
    // The expected values are from a separate numpy implementation of the same definitions, which read the
    // grid from a Plot3D file with 17 digits. One cell at the cusp is folded.
    let quality = measure(&joukowski_grid(65, 33, 0.6));

    assert_eq!((quality.folded_cells, quality.wall_corners), (1, 4));
    assert_eq!(quality.max_skewness_at, [0, 0]);
    for (actual, expected) in [
        (quality.min_jacobian, -2.272_856_806_014_202_5e-8),
        (quality.max_skewness, 1.022_649_340_083_598_3),
        (quality.p99_skewness, 0.196_217_585_823_837_97),
        (quality.mean_skewness, 0.127_602_341_174_164_33),
        (quality.wall_angle_error_max_deg, 9.389_144_163_332_237),
        (quality.wall_angle_error_mean_deg, 1.612_087_386_315_589_3),
        (quality.first_cell_min, 0.000_225_596_620_269_017_44),
        (quality.first_cell_max, 0.014_790_618_564_433_226),
        (quality.max_aspect_ratio, 14.362_594_096_648_357),
        (quality.max_growth_i, 3.008_816_151_387_198),
        (quality.max_growth_j, 3.705_377_902_886_175),
        (quality.max_growth, 3.705_377_902_886_175),
    ] {
        // The map is evaluated with another library's sine, and the corner at the cusp has cancellation.
        assert_close(actual, expected, 1e-9);
    }
}

#[test]
fn the_measure_does_not_depend_on_the_number_of_threads() {
    let grid = joukowski_grid(129, 65, 0.2);
    let on = |threads| with_threads(threads, || measure(&grid));

    assert_eq!(on(1), on(3));
}

#[test]
fn a_coordinate_that_is_nan_is_never_lost() {
    let quality = |lines: &[usize], i: usize| {
        let mut grid = polar_grid(17, 9, 0.01, 1.2);
        for j in lines {
            let k = grid.index(i, *j);
            grid.y[k] = f64::NAN;
        }
        measure(&grid)
    };

    let found = quality(&[4], 5);
    assert_eq!(found.folded_cells, 4);
    assert!(found.max_skewness.is_nan() && found.min_jacobian.is_nan());
    assert!(found.mean_skewness.is_nan() && found.max_growth.is_nan());
    // The nodes before and after all others of a line.
    for found in [0, 15].map(|i| quality(&[1, 8], i)) {
        assert!(found.first_cell_min.is_nan() && found.first_cell_max.is_nan(), "{found:?}");
        assert!(found.far_field_min.is_nan() && found.far_field_max.is_nan(), "{found:?}");
    }
}

#[test]
fn an_edge_of_length_zero_makes_the_growth_infinite() {
    let grid = grid_from(4, 3, |i, j| [i as f64, if j == 2 { 1.0 } else { j as f64 }]);

    let quality = measure(&grid);

    assert_eq!(quality.max_growth_j, f64::INFINITY);
    assert_eq!(quality.folded_cells, 3);
    assert_eq!(cell_aspect_ratio(&[[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), f64::INFINITY);
}

#[test]
fn the_measures_of_a_cell_do_not_depend_on_its_place() {
    let cell = [[0.0, 0.0], [2.0, 0.1], [2.2, 1.0], [-0.1, 0.9]];
    let (sin, cos) = 0.7_f64.sin_cos();
    let moved =
        cell.map(|[x, y]| [3.0 * (cos * x - sin * y) + 7.0, 3.0 * (sin * x + cos * y) - 2.0]);

    assert_close(cell_skewness(&moved), cell_skewness(&cell), 1e-12);
    assert_close(cell_aspect_ratio(&moved), cell_aspect_ratio(&cell), 1e-12);
    assert_close(cell_area(&moved), 9.0 * cell_area(&cell), 1e-12);
}

#[test]
fn a_percentile_is_that_of_the_sorted_values() {
    assert_eq!(percentile(&[7.0], 99.0), 7.0);
    assert_eq!(percentile(&[1.0, f64::INFINITY], 100.0), f64::INFINITY);
    // The values are near each other and far apart, negative, repeated, and one NaN.
    let mut values: Vec<f64> = (0..4001).map(|k| (f64::from(k * 1237 % 4001)).sin()).collect();
    values.extend([0.25; 300]);
    values.extend([-0.0, 0.0, 1e300, f64::NAN]);
    // The first list is short; the second is so long that leading bits are counted before values are sorted. In the third
    // most values begin with the same bits, and most of these are equal.
    let mut crowded: Vec<f64> = (0..90_000).map(|k| 1.0 + 1e-12 * f64::from(k % 4001)).collect();
    crowded.extend(std::iter::repeat_n(1.0 + 1e-9, 70_000));
    for values in [values.clone(), values.repeat(16), crowded] {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        // The last of the equal ones, too.
        let last = sorted.partition_point(|&value| value <= 1.0 + 1e-9) - 1;
        for below in (0..values.len() - 1).step_by(values.len() / 19).chain([last]) {
            for fraction in [0.0, 0.5] {
                let q = 100.0 * (below as f64 + fraction) / (values.len() - 1) as f64;
                let found = percentile(&values, q);

                let rank = q / 100.0 * (values.len() - 1) as f64;
                let [low, high] = [0, 1].map(|k| sorted[rank.floor() as usize + k]);
                let expected = low + (high - low) * (rank - rank.floor());
                assert_eq!(found.to_bits(), expected.to_bits(), "{q}: {found}, {expected}");
            }
        }
    }
}

/// Layers of a blade's O-grid off the wall move when the passage around it is solved for.
#[test]
fn the_cells_within_a_boundary_layer_are_those_of_the_finished_grid_and_of_each_of_a_family() {
    let keys = [("grid.nj", "25"), ("grid.first_cell", "1e-4"), ("grid.reynolds", "1e4")];
    let blade = make(&shipped("compressor.toml", &keys)).unwrap();
    let wall = WallLine { from: 0, to: blade.grid.ni - 1, closed: true };
    let expected = boundary_layer_cells(&blade.grid, wall, 1e4);
    assert_eq!(blade.quality.boundary_layer_cells, Some(expected));

    let text = "geometry.naca = \"2412\"\noutput.formats = [\"vts\"]\n[grid]\nni = 129\nnj = 65\n\
                topology = \"O\"\nfirst_cell = 1e-4\nreynolds = 1e6\n";
    let made = family(&case(text), 2).unwrap();
    let cells = ["129x65", "65x33"].map(|size| {
        let folder = made.folder.path().join(size);
        let found = mesh(&folder.join("mesh.vts")).unwrap();
        let expected = boundary_layer_cells(&found.grid, found.wall, 1e6);
        assert_eq!(report(&folder)["quality"]["boundary_layer_cells"], expected, "{size}");
        expected
    });
    assert!(cells[0] > cells[1] && cells[1] > 0, "{cells:?}");
}

/// Quadrilaterals of all kinds: folded, with edges of length zero, with NaN.
fn quadrilaterals() -> Grid {
    let mut grid = grid_from(67, 5, |i, j| {
        let noise = (((67 * j + i) * (67 * j + i)) as f64 * 0.37).sin();
        [i as f64 + 1.3 * noise, j as f64 + 0.9 * (noise * 57.0).sin()]
    });
    (grid.x[80], grid.y[80]) = (grid.x[81], grid.y[81]);
    grid.x[150] = f64::NAN;
    grid.y[170] = f64::INFINITY;
    grid
}

#[test]
fn a_row_has_the_bits_of_its_cells() {
    let grid = quadrilaterals();
    for (measure, of_cell) in [
        (CellMeasure::Area, cell_area as fn(&Corners) -> f64),
        (CellMeasure::Skewness, cell_skewness),
        (CellMeasure::AspectRatio, cell_aspect_ratio),
        (CellMeasure::SmallestDeterminant, smallest_determinant),
    ] {
        for j in 0..4 {
            let mut row = vec![0.0; 66];

            measure.fill_row(&grid, j, &mut row);

            for (i, value) in row.iter().enumerate() {
                let expected = of_cell(&cell_corners(&grid, i, j));
                let same =
                    value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan();
                assert!(same, "{measure:?} of ({i}, {j}): {value}, not {expected}");
            }
        }
    }
}
