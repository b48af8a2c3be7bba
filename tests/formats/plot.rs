//! Parts of pictures: ticks, clipped lines, painted cells, bands of colour.
#![allow(clippy::float_cmp, reason = "ends of clipped lines are exact")]

use gridgen::grid::quality::cell_corners;
use gridgen::report::plot::axes::{PlotPanel, Ticks, Window, simplify};
use gridgen::report::plot::quality::{
    BANDS, Map, Raster, Rectangle, SQUARE, decades, label, painted,
};
use gridgen::report::plot::{airfoil, compared};
use support::grids::joukowski_grid;

#[test]
fn ticks_are_round_and_inside_and_whole_ones_never_split_a_unit() {
    let ticks = Ticks::new(-0.31, 0.52, 5.0);
    let labels: Vec<_> = ticks.values().map(|v| ticks.label(v)).collect();
    assert_eq!(labels, ["−0.2", "0.0", "0.2", "0.4"]);
    let ticks = Ticks::whole(0.0, 3.0, 9.0);
    assert_eq!(ticks.values().collect::<Vec<_>>(), [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn equal_scales_keep_circles_round() {
    let frame = Window { low: [10.0, 10.0], high: [410.0, 210.0] };
    let panel = PlotPanel::equal_scales(frame, Window { low: [0.0, 0.0], high: [1.0, 1.0] });
    let [a, b, c] = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(|p| panel.pixel(p));
    assert!((b[0] - a[0] - 200.0).abs() < 1e-9 && (a[1] - c[1] - 200.0).abs() < 1e-9);
}

const UNIT: Window = Window { low: [0.0, 0.0], high: [1.0, 1.0] };

/// A line that leaves and returns gives two pieces.
#[test]
fn segments_lines_and_polygons_are_cut_at_all_sides_and_lines_simplified() {
    for (a, b, cut) in [
        ([-1.0, 0.5], [3.0, 0.5], Some([[0.0, 0.5], [1.0, 0.5]])),
        ([-1.0, 0.5], [0.5, 3.0], None),
        ([2.0, 0.0], [2.0, 1.0], None),
        ([f64::NAN, 0.0], [2.0, 1.0], None),
    ] {
        assert_eq!(UNIT.clip_segment(a, b), cut);
    }
    let pieces = UNIT.clip_line([[0.5, 0.2], [2.0, 0.2], [2.0, 0.8], [0.5, 0.8], [0.2, 0.8]]);
    assert_eq!(pieces, [vec![[0.5, 0.2], [1.0, 0.2]], vec![[1.0, 0.8], [0.5, 0.8], [0.2, 0.8]]]);
    // A polygon around the window becomes the window, and points on a straight line are omitted.
    let kept = UNIT.clip_polygon(&[[-1.0, -1.0], [2.0, -1.0], [2.0, 2.0], [-1.0, 2.0]]);
    assert_eq!((Window::around(kept.iter().copied()), kept.len()), (UNIT, 4));
    let line = [[0.0, 0.0], [1.0, 0.01], [2.0, 0.0], [3.0, 0.0], [3.0, 5.0]];
    assert_eq!(simplify(&line, 0.1), [[0.0, 0.0], [3.0, 0.0], [3.0, 5.0]]);
}

/// Colours are ordered from good to bad, and labels are short.
#[test]
fn bands_are_ordered_from_good_to_bad() {
    let map = |ends: [f64; BANDS + 1]| Map { title: "", ends };
    let skewness = map(std::array::from_fn(|k| 0.1 * k as f64));
    let area = map(decades(1.0, 1e-10));

    assert_eq!(
        [0.0, 0.05, 0.11, 0.95, 7.0, f64::NAN].map(|v| skewness.band(v)),
        [1, 1, 2, 10, 10, 10]
    );
    assert_eq!([2.0, 0.5, 0.05, 2e-10, 0.0, -1.0].map(|v| area.band(v)), [1, 1, 2, 10, 10, 10]);
    assert_eq!(
        [0.002, 0.02, 0.1, 90.0, 1.0, 2.5e-7].map(label),
        ["0.002", "0.02", "0.1", "90", "1", "2.5e−7"]
    );
}

/// The areas of bands that polygons with their bands cover in four by three squares from (10, 20).
///
/// A cell covers the squares whose centres it contains, a folded one what its sides enclose. The worst cell of a
/// square is visible at any thickness. Cells outside or broken paint nothing.
#[test]
fn cells_cover_squares_by_their_centres_and_the_worst_is_visible() {
    let frame = Window { low: [10.0, 20.0], high: [14.0, 23.0] };
    let square = |x: f64, y: f64| [[x, y], [x + 1.0, y + 1.0]];
    let quadrangle = |[[a, b], [c, d]]: Rectangle| [[a, b], [c, b], [c, d], [a, d]];
    let whole = quadrangle([[10.0, 20.0], [14.0, 23.0]]);
    let folded = [[10.0, 20.0], [14.0, 23.0], [14.0, 20.0], [10.0, 23.0]];
    let of_folded = [
        square(10.0, 20.0),
        square(13.0, 20.0),
        [[10.0, 21.0], [14.0, 22.0]],
        square(10.0, 22.0),
        square(13.0, 22.0),
    ];
    let corner = [[10.0, 20.0], [12.0, 22.0]];
    let flat = quadrangle([[12.1, 22.1], [12.9, 22.11]]);
    let outside = quadrangle([[30.0, 20.0], [31.0, 21.0]]);
    let beside = [[[10.0, 20.0], [14.0, 22.0]], [[10.0, 22.0], [12.0, 23.0]], square(13.0, 22.0)];
    for (cells, expected) in [
        (vec![(quadrangle(corner), 2)], [vec![], vec![corner], vec![]]),
        (vec![(folded, 1)], [of_folded.to_vec(), vec![], vec![]]),
        (vec![(flat, 3), (whole, 1)], [beside.to_vec(), vec![], vec![square(12.0, 22.0)]]),
        (vec![(outside, 1), ([[f64::NAN; 2]; 4], 1)], [vec![], vec![], vec![]]),
    ] {
        let mut raster = Raster::<1>::over(&PlotPanel { frame, window: frame }, 1.0);

        for (cell, band) in &cells {
            raster.paint(cell, [*band]);
        }

        assert_eq!(raster.areas(0, 3, frame.low), expected);
    }
    // Measures are painted side by side.
    let mut raster = Raster::over(&PlotPanel { frame, window: frame }, 1.0);
    raster.paint(&quadrangle([[10.0, 20.0], [14.0, 21.0]]), [2, 1]);
    raster.paint(&quadrangle([[10.0, 20.0], [12.0, 21.0]]), [1, 2]);
    let whole = [[0.0, 0.0], [4.0, 1.0]];
    let halves = [[[0.0, 0.0], [2.0, 1.0]], [[2.0, 0.0], [4.0, 1.0]]];
    assert_eq!(raster.areas(0, 2, [0.0; 2]), [vec![], vec![whole]]);
    assert_eq!(raster.areas(1, 2, [0.0; 2]), [vec![halves[1]], vec![halves[0]]]);
}

/// Parts of a grid are painted at the same time, a node once for all of its cells.
#[test]
fn a_grid_is_painted_as_its_cells_one_by_one() {
    let grid = joukowski_grid(97, 81, 0.3);
    let frame = Window { low: [10.0, 20.0], high: [110.0, 90.0] };
    let window = Window { low: [-1.0, -0.8], high: [2.0, 0.8] };
    let panel = PlotPanel::equal_scales(frame, window);
    let band = |k: usize, n: usize| (1 + k % n) as u8;
    let bands = (0..grid.cells()).map(|k| [band(k, 7), band(k / 96, 10), band(k, 3), 1]);
    let bands: Vec<[u8; 4]> = bands.collect();

    let painted = painted(&panel, &grid, &bands);

    let mut cells = Raster::over(&panel, SQUARE);
    for (k, &bands) in bands.iter().enumerate() {
        let corners = cell_corners(&grid, k % 96, k / 96);
        cells.paint(&corners.map(|corner| panel.pixel(corner)), bands);
    }
    for measure in 0..4 {
        let [whole, parts] = [&cells, &painted].map(|raster| raster.areas(measure, 10, frame.low));
        assert!(whole == parts && !whole[0].is_empty(), "measure {measure}");
    }
}

/// Each thread draws rows of its own.
#[test]
fn bitmaps_are_the_same_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let grid = joukowski_grid(97, 49, 0.3);
    let wall: Vec<[f64; 2]> = (0..grid.ni).map(|i| grid.point(i, 0)).collect();
    let pictures =
        [compared("A grid", "twice", [&grid; 2]), airfoil("A wall", "", &wall, &wall, true)];
    for (number, picture) in pictures.iter().enumerate() {
        let [one, seven] = [1, 7].map(|threads| {
            let path = folder.path().join(format!("{number}-{threads}.png"));
            support::with_threads(threads, || picture.write(&path)).unwrap();
            std::fs::read(path).unwrap()
        });
        assert!(one == seven, "picture {number}");
    }
}
