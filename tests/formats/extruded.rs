//! Extruded grids in the formats of three-dimensional programs.

#![allow(clippy::float_cmp, reason = "what is written is read back bit for bit")]

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use gridgen::formats::plot3d::{self, Axes, Flavour};
use gridgen::formats::{Sides, Span, su2};
use gridgen::grid::Grid;
use gridgen::grid::quality::{cell_area, cell_corners};
use support::grids::{half_grid, joukowski_grid};

use super::files::numbers;
use super::text_of;
use super::writers::su2_table;

fn span(cells: usize, sides: Sides) -> Span {
    Span { length: 0.7, cells, sides }
}

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

#[test]
fn the_planes_of_a_span_end_where_it_ends() {
    let span = span(7, Sides::Symmetry);

    assert_eq!((span.planes(), span.z(0), span.z(7)), (8, 0.0, 0.7));
    assert!((span.z(3) - 0.3).abs() < 1e-15);
}

/// Every face of every cell is shared by two cells or listed by one marker. The markers' faces point out of
/// the flow and enclose it.
#[test]
fn an_extruded_su2_mesh_is_closed() {
    let o_grid = || joukowski_grid(17, 9, 0.1);
    for (grid, columns, sides, names) in [
        (o_grid(), 16, Sides::Symmetry, &["airfoil", "farfield", "symmetry"][..]),
        (o_grid(), 16, Sides::Periodic, &["airfoil", "farfield", "back", "front"]),
        (
            half_grid(17, 9),
            17,
            Sides::Symmetry,
            &["airfoil", "farfield", "symmetry", "back", "front"],
        ),
    ] {
        let span = span(3, sides);
        let text = text_of(|out| su2::write_to(out, &[&grid], Some(span)));
        assert!(text.starts_with("NDIME= 3\n"));
        let [cells, points] = ["NELEM", "NPOIN"].map(|name| su2_table(&text, name));
        assert_eq!((cells.len(), points.len()), (16 * 8 * 3, columns * 9 * 4));
        let mut lines = 4 + cells.len() + points.len();
        let points: Vec<[f64; 3]> = points.iter().map(|line| [line[0], line[1], line[2]]).collect();
        let mut open: HashMap<Vec<usize>, i32> = HashMap::new();
        let mut meet = |mut face: Vec<usize>| {
            face.sort_unstable();
            *open.entry(face).or_default() += 1;
        };
        for cell in cells {
            assert_eq!(cell[0], 12.0);
            for face in
                [[1, 2, 3, 4], [5, 6, 7, 8], [1, 2, 6, 5], [2, 3, 7, 6], [3, 4, 8, 7], [4, 1, 5, 8]]
            {
                meet(face.map(|k| cell[k] as usize).to_vec());
            }
        }
        let found = text.lines().filter_map(|line| line.strip_prefix("MARKER_TAG= "));
        assert_eq!(found.collect::<Vec<_>>(), names);
        assert!(text.contains(&format!("\nNMARK= {}\n", names.len())));
        let mut enclosed = 0.0;
        for name in names {
            let faces = su2_table(&text, &format!("MARKER_TAG= {name}\nMARKER_ELEMS"));
            lines += 2 + faces.len();
            for face in faces {
                assert_eq!(face[0], 9.0);
                let face: Vec<usize> = face[1..5].iter().map(|node| *node as usize).collect();
                enclosed += cone(&face, &points) / 6.0;
                meet(face);
            }
        }
        assert!(open.values().all(|&times| times == 2), "a face is open or listed twice");
        assert!((enclosed / (span.length * area(&grid)) - 1.0).abs() < 1e-9, "{enclosed}");
        assert_eq!(text.lines().count(), lines);
    }
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
    let (grid, span) = (joukowski_grid(17, 9, 0.1), span(2, Sides::Symmetry));
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
}
