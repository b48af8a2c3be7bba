//! Extruded grids in the formats of three-dimensional programs.

#![allow(clippy::float_cmp, reason = "what is written is read back bit for bit")]

use std::fmt::Debug;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use gridgen::formats::plot3d::{self, Axes, Flavour};
use gridgen::formats::{Sides, Span};
use gridgen::grid::Grid;
use gridgen::grid::quality::{cell_area, cell_corners};
use support::grids::joukowski_grid;

use super::files::numbers;
use super::text_of;

/// The volume of the parallelepiped of three vectors.
fn triple([a, b, c]: [[f64; 3]; 3]) -> f64 {
    a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
}

/// The volume between a face and the origin.
pub(super) fn cone(face: &[usize], points: &[[f64; 3]]) -> f64 {
    let triangle = |corners: [usize; 3]| triple(corners.map(|k| points[face[k]]));
    (triangle([0, 1, 2]) + triangle([0, 2, 3])) / 6.0
}

/// The area of all cells.
pub(super) fn area(grid: &Grid) -> f64 {
    let cell = |k: usize| cell_area(&cell_corners(grid, k % (grid.ni - 1), k / (grid.ni - 1)));
    (0..grid.cells()).map(cell).sum()
}

/// The entries of a list in a mesh for OpenFOAM, each with its words without brackets.
fn foam_list<T: FromStr<Err: Debug>>(folder: &Path, name: &str, end: &str) -> Vec<Vec<T>> {
    let text = fs::read_to_string(folder.join("constant/polyMesh").join(name)).unwrap();
    let (head, list) = text.split_once("\n(\n").unwrap();
    let entries = list.trim_end().strip_suffix(')').unwrap().split_terminator(end);
    let words = |entry: &str| {
        let entry = entry.replace(['(', ')'], " ");
        entry.split_whitespace().map(|word| word.parse().unwrap()).collect()
    };
    let list: Vec<Vec<T>> = entries.map(words).collect();
    assert_eq!(list.len().to_string(), head.lines().last().unwrap(), "{name}");
    list
}

/// A mesh in the folder of a case of OpenFOAM.
pub(super) struct FoamMesh {
    pub points: Vec<[f64; 3]>,
    pub faces: Vec<Vec<usize>>,
    pub owner: Vec<usize>,
    pub neighbour: Vec<usize>,
    /// Name, kind, number of faces and first face of each patch.
    pub patches: Vec<String>,
}

impl FoamMesh {
    /// The mesh, its counts checked.
    pub(super) fn of(folder: &Path) -> Self {
        let face = |numbers: Vec<usize>| {
            assert_eq!(numbers.len(), 1 + numbers[0]);
            numbers[1..].to_vec()
        };
        let point = |numbers: Vec<f64>| numbers.try_into().unwrap();
        let patch = |words: Vec<String>| {
            let text = words.join(" ").replace("; nFaces ", " ").replace("; startFace ", " ");
            text.replacen(" { type ", " ", 1).trim_end_matches(';').to_owned()
        };
        Self {
            points: foam_list(folder, "points", "\n").into_iter().map(point).collect(),
            faces: foam_list(folder, "faces", "\n").into_iter().map(face).collect(),
            owner: foam_list(folder, "owner", "\n").concat(),
            neighbour: foam_list(folder, "neighbour", "\n").concat(),
            patches: foam_list(folder, "boundary", "}\n").into_iter().map(patch).collect(),
        }
    }

    /// The volume within the faces of each cell, and their number.
    pub(super) fn cells(&self) -> Vec<(f64, usize)> {
        let mut cells = vec![(0.0, 0); 1 + self.owner.iter().max().unwrap()];
        for (k, face) in self.faces.iter().enumerate() {
            let cone = cone(face, &self.points);
            let sides = [(self.owner.get(k), cone), (self.neighbour.get(k), -cone)];
            for (cell, cone) in sides.into_iter().filter_map(|(cell, cone)| Some((*cell?, cone))) {
                cells[cell].0 += cone;
                cells[cell].1 += 1;
            }
        }
        cells
    }
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
        let edges = [point(i + 1, k, j), point(i, k + 1, j), point(i, k, j + 1)].map(edge);
        assert!(triple(edges) > 0.0, "{edges:?}");
    }
    // The planes of a span end where it ends.
    let span = Span { cells: 7, ..span };
    assert_eq!((span.planes(), span.z(0), span.z(7)), (8, 0.0, 0.7));
    assert!((span.z(3) - 0.3).abs() < 1e-15);
}
