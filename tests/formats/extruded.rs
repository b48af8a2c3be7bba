//! Extruded grids in the formats of three-dimensional programs.

#![allow(clippy::float_cmp, reason = "what is written is read back bit for bit")]

use std::fs;
use std::path::Path;

use gridgen::formats::plot3d::{self, Axes, Flavour};
use gridgen::formats::{Sides, Span};
use gridgen::grid::Grid;
use gridgen::grid::quality::{cell_area, cell_corners};
use support::grids::joukowski_grid;

use super::files::numbers;
use super::text_of;

/// Six times the volume between a face and the origin.
pub(super) fn cone(face: &[usize], points: &[[f64; 3]]) -> f64 {
    let p = |k: usize| points[face[k]];
    let triangle = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| {
        a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    };
    triangle(p(0), p(1), p(2)) + triangle(p(0), p(2), p(3))
}

/// The area of all cells.
pub(super) fn area(grid: &Grid) -> f64 {
    let cell = |k: usize| cell_area(&cell_corners(grid, k % (grid.ni - 1), k / (grid.ni - 1)));
    (0..grid.cells()).map(cell).sum()
}

/// The numbers of a list in an OpenFOAM file.
pub(super) fn foam_list(folder: &Path, name: &str) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(folder.join("constant/polyMesh").join(name)).unwrap();
    let (head, list) = text.split_once("\n(\n").unwrap();
    let list = list.rsplit_once(')').unwrap().0;
    let list: Vec<Vec<f64>> = list
        .lines()
        .map(|line| {
            let words = line.split(['(', ')', ' ']).filter(|word| !word.is_empty());
            words.map(|word| word.parse().unwrap()).collect()
        })
        .collect();
    assert_eq!(list.len().to_string(), head.lines().last().unwrap(), "{name}");
    list
}

/// The integers of a list in an OpenFOAM file.
pub(super) fn foam_numbers(folder: &Path, name: &str) -> Vec<Vec<usize>> {
    let list = foam_list(folder, name);
    list.into_iter().map(|words| words.into_iter().map(|word| word as usize).collect()).collect()
}

/// The block is right-handed in indices and coordinates, its span +y, its third index outward.
#[test]
fn the_axes_of_fun3d_are_right_handed() {
    let (grid, span) =
        (joukowski_grid(17, 9, 0.1), Span { length: 0.7, cells: 2, sides: Sides::Symmetry });
    let flavour = Flavour { axes: Axes::Fun3d, ..Flavour::default() };

    let words = numbers(&text_of(|out| plot3d::write_to(out, &[&grid], Some(span), flavour)));

    assert_eq!(words[..4], [1.0, 17.0, 3.0, 9.0]);
    let all = 17 * 3 * 9;
    let point = |i: usize, k: usize, j: usize| -> [f64; 3] {
        std::array::from_fn(|c| words[4 + c * all + i + 17 * (k + 3 * j)])
    };
    for (i, k, j) in [(0, 0, 0), (5, 1, 3), (15, 1, 7)] {
        let [x, y] = grid.point(i, j);
        let corner = point(i, k, j);
        assert_eq!(corner, [x, span.z(k), y]);
        let edge = |other: [f64; 3]| -> [f64; 3] { std::array::from_fn(|c| other[c] - corner[c]) };
        let [a, b, c] = [point(i + 1, k, j), point(i, k + 1, j), point(i, k, j + 1)].map(edge);
        let volume = a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0]);
        assert!(volume > 0.0, "{volume:e}");
    }
    // The planes of a span end where it ends.
    let span = Span { cells: 7, ..span };
    assert_eq!((span.planes(), span.z(0), span.z(7)), (8, 0.0, 0.7));
    assert!((span.z(3) - 0.3).abs() < 1e-15);
}
