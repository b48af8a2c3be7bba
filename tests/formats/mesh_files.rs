//! Meshes of other programs: every layout of Plot3D is recognised, and grids are reoriented.
#![allow(clippy::float_cmp, reason = "what is written is read back bit for bit")]

use gridgen::formats::plot3d::{self, Flavour, NumberPrecision};
use gridgen::formats::{Mesh, ReadError, ReadFault, mesh};
use gridgen::grid::Grid;
use gridgen::grid::quality::{WallLine, measure, measure_along, worst_cells};
use support::grids::{grid_from, polar_grid};

use super::writers::flavours;
use super::written;

/// Reads bytes as a file.
fn read(bytes: impl AsRef<[u8]>) -> Result<Mesh, ReadError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    mesh(file.path())
}

fn words(values: &[f64]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// A grid in text without a block count.
fn plane(grid: &Grid) -> String {
    format!("{} {}\n{}\n{}\n", grid.ni, grid.nj, words(&grid.x), words(&grid.y))
}

#[test]
fn every_layout_of_plot3d_gives_the_same_grid() {
    let grid = polar_grid(9, 4, 0.01, 1.2);
    let (x, y) = (words(&grid.x), words(&grid.y));
    let zeros = "36*0.0";
    let texts = [
        ("blanking by a repeat count", format!("9 4\n{x}\n{y}\n36*1\n")),
        ("one plane", format!("1\n9 4 1\n{x}, {y}, {zeros}\n")),
        ("two planes", format!("1\n9 4 2\n{x} {x} {y} {y} {zeros} 36*1.0\n")),
        ("plane y = 0", format!("1\n9 1 4\n{x}\n{zeros}\n{y}\n")),
    ];
    let texts = texts.map(|(layout, text)| (layout.to_owned(), text.into_bytes(), false));
    // In the plane, blanking behind a block count could be the third coordinate of a block of 1 × 9 × 4 nodes.
    let once = |f: &Flavour| f.dimensions == 3 || !(f.block_count && f.blanking);
    let flavours = flavours().into_iter().filter(once).map(|flavour| {
        let bytes = written(|out| plot3d::write_to(out, &[&grid], None, flavour));
        (format!("{flavour:?}"), bytes, flavour.precision == NumberPrecision::Single)
    });

    for (layout, bytes, single) in texts.into_iter().chain(flavours) {
        let found = read(&bytes).unwrap_or_else(|error| panic!("{layout}: {error}"));

        // Numbers in single-precision text are compared in single precision.
        let stored = |x: &f64| if single { f64::from(*x as f32) } else { *x };
        let numbers =
            |grid: &Grid| -> Vec<f64> { grid.x.iter().chain(&grid.y).map(stored).collect() };
        assert_eq!(numbers(&found.grid), numbers(&grid), "{layout}");
        assert_eq!(found.wall, WallLine { from: 0, to: 8, closed: true }, "{layout}");
    }
}

/// Fortran leaves out the E before an exponent of three digits.
#[test]
fn reals_are_read_as_fortran_writes_them() {
    for text in [
        "3 3\n0 1 2 0 1 2 0 1 2 0.1-100 0 0 1d0 1 1 2 2 2\n",
        "VARIABLES=X Y\nZONE I=3 J=3 F=BLOCK\n0 1 2 0 1 2 0 1 2 0.1-100 0 0 1D+0 1 1 2 2 2\n",
    ] {
        let grid = read(text).unwrap().grid;

        assert_eq!(grid.y, [1e-101, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    }
}

#[test]
fn files_that_are_no_plane_grid_or_fit_twice_with_different_grids_are_refused() {
    for (text, part) in [
        ("", "no layout fits its 0 numbers"),
        ("2 2\n0 1 0 1\n0 0 1 one\n", "word 10, `one`, is not a number"),
        ("3 3 3\n81*0.5\n", "a volume of 3 × 3 × 3 nodes"),
    ] {
        let error = read(text).unwrap_err().to_string();

        assert!(error.contains(part), "{error}");
    }
    // The file could have 2 × 2 nodes with a block count, x and y, and four zeros of blanking; or 1 × 2 × 2
    // nodes without a count, x, y and z.
    let error = read("1 2 2\n0 0 0 0  0 1 0 1  0 0 1 1\n").unwrap_err();
    assert!(matches!(error.fault, ReadFault::Ambiguous(_)), "{error}");
}

/// The measures of a grid are independent of the order of nodes in its file.
#[test]
fn grids_are_oriented_with_the_wall_first_and_positive_cells() {
    let grid = polar_grid(17, 6, 0.01, 1.2);
    let expected = measure(&grid);
    let turned: [(&str, Grid); 3] = [
        ("i and j were exchanged", grid_from(6, 17, |i, j| grid.point(j, i))),
        ("j was reversed", grid_from(17, 6, |i, j| grid.point(i, 5 - j))),
        ("i was reversed", grid_from(17, 6, |i, j| grid.point(16 - i, j))),
    ];

    for (note, other) in turned {
        let found = read(plane(&other)).unwrap();

        assert!(found.notes.iter().any(|n| n.contains(note)), "{:?}", found.notes);
        let quality = measure_along(&found.grid, found.wall);
        assert_eq!((quality.folded_cells, quality.wall_corners), (0, expected.wall_corners));
        assert!((quality.first_cell_max - 0.01).abs() < 1e-12);
        assert!((quality.max_growth_j - 1.2).abs() < 1e-9);
        // A grid in memory is turned as that of a file.
        let mesh = Mesh::from(other);
        assert_eq!((&mesh.grid.x, &mesh.grid.y), (&grid.x, &grid.y));
        assert!(mesh.wall.closed && mesh.notes.iter().any(|n| n.contains(note)));
    }
}

/// A plate from x = 0 to 1 with two wake cells behind it; the grid is bent around its front.
#[test]
fn the_wall_of_a_c_grid_ends_where_its_wake_begins() {
    let wall = [[2.0, 0.0], [1.5, 0.0], [1.0, 0.0], [0.5, -0.1], [0.0, 0.0], [0.5, 0.1]];
    let grid = grid_from(9, 2, |i, j| {
        let [x, y] = if i < 6 { wall[i] } else { wall[8 - i] };
        let side = [-1.0, -1.0, -1.0, -1.0, 0.0, 1.0, 1.0, 1.0, 1.0][i];
        let out = if i == 4 { -0.2 } else { 0.0 };
        let j = j as f64;
        [x + j * out, y + 0.2 * j * side]
    });

    let found = read(plane(&grid)).unwrap();

    assert_eq!(found.wall, WallLine { from: 2, to: 6, closed: true });
    let quality = measure_along(&found.grid, found.wall);
    assert_eq!(quality.folded_cells, 0, "{:?}", worst_cells(&found.grid, 3));
    assert!((quality.first_cell_max - 0.2).abs() < 1e-12);
}
