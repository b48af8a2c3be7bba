//! Gmsh meshes of straight and of curved cells, read back by a small independent reader.

#![allow(clippy::float_cmp, reason = "what is written is read back bit for bit")]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gridgen::files::WriteFault;
use gridgen::formats::{Format, MeshData, Settings, Sides, Span, msh};
use gridgen::grid::{Grid, Symmetry, Topology};
use support::grids::{grid_from, joukowski_grid, parabolic_grid, polar_grid};

use super::extruded::cone;
use super::{boundary, grids, text_of};

/// A block of elements of one entity.
struct Block {
    dimension: usize,
    group: String,
    kind: usize,
    elements: Vec<Vec<usize>>,
}

#[derive(Default)]
struct Msh {
    /// Coordinates by tag.
    nodes: BTreeMap<usize, [f64; 3]>,
    /// The nodes of the entities, by dimension and tag.
    on: BTreeMap<(usize, usize), Vec<usize>>,
    blocks: Vec<Block>,
    /// Bounds of the entities, by dimension and tag.
    bounds: BTreeMap<(usize, usize), Vec<i64>>,
    groups: Vec<(usize, String)>,
}

/// The lines of a section, split into words.
fn section<'a>(text: &'a str, name: &str) -> impl Iterator<Item = Vec<&'a str>> {
    let (_, rest) = text.split_once(&format!("${name}\n")).unwrap();
    let (inside, _) = rest.split_once(&format!("$End{name}\n")).unwrap();
    inside.lines().map(|line| line.split(' ').collect())
}

fn number<T: std::str::FromStr>(word: &str) -> T {
    word.parse().ok().unwrap_or_else(|| panic!("`{word}` is no number"))
}

/// The mesh in a file, with its counts checked.
fn read(grid: &Grid, span: Option<Span>, order: usize) -> Msh {
    let text = text_of(|out| msh::write_to(out, &[grid], span, order));
    let mut mesh = Msh::default();
    assert_eq!(section(&text, "MeshFormat").next().unwrap(), ["4.1", "0", "8"]);
    let mut lines = section(&text, "PhysicalNames");
    let names: usize = number(lines.next().unwrap()[0]);
    for (k, line) in lines.enumerate() {
        assert_eq!(number::<usize>(line[1]), k + 1);
        mesh.groups.push((number(line[0]), line[2].trim_matches('"').to_owned()));
    }
    assert_eq!(mesh.groups.len(), names);
    let mut group_of = BTreeMap::new();
    let mut lines = section(&text, "Entities");
    for (dimension, count) in lines.next().unwrap().into_iter().enumerate() {
        for line in lines.by_ref().take(number(count)) {
            let at = if dimension == 0 { 4 } else { 7 };
            let key = (dimension, number(line[0]));
            if line[at] == "1" {
                group_of.insert(key, mesh.groups[number::<usize>(line[at + 1]) - 1].1.clone());
            }
            let rest = &line[at + 1 + number::<usize>(line[at])..];
            let bounds: Vec<i64> = rest.iter().skip(1).map(|word| number(word)).collect();
            assert_eq!(bounds.len(), rest.first().map_or(0, |count| number(count)));
            mesh.bounds.insert(key, bounds);
        }
    }
    assert!(lines.next().is_none());
    let mut lines = section(&text, "Nodes");
    let head: Vec<usize> = lines.next().unwrap().iter().map(|word| number(word)).collect();
    for _ in 0..head[0] {
        let line = lines.next().unwrap();
        let count = number(line[3]);
        let tags: Vec<usize> = lines.by_ref().take(count).map(|line| number(line[0])).collect();
        for tag in &tags {
            let place = lines.next().unwrap();
            let place = [0, 1, 2].map(|c| number(place[c]));
            assert!(mesh.nodes.insert(*tag, place).is_none(), "node {tag} is there twice");
        }
        mesh.on.insert((number(line[0]), number(line[1])), tags);
    }
    assert!(lines.next().is_none());
    assert_eq!(head[1..], [mesh.nodes.len(), 1, *mesh.nodes.keys().last().unwrap()]);
    assert_eq!(head[1], head[3], "tags without a gap");
    let mut lines = section(&text, "Elements");
    let head: Vec<usize> = lines.next().unwrap().iter().map(|word| number(word)).collect();
    let mut last = 0;
    for _ in 0..head[0] {
        let line = lines.next().unwrap();
        let elements = lines.by_ref().take(number(line[3])).map(|line| {
            last += 1;
            assert_eq!(number::<usize>(line[0]), last);
            line[1..].iter().map(|word| number(word)).collect()
        });
        let elements = elements.collect();
        let (dimension, tag) = (number(line[0]), number(line[1]));
        let group = group_of[&(dimension, tag)].clone();
        mesh.blocks.push(Block { dimension, group, kind: number(line[2]), elements });
    }
    assert_eq!(head[1..], [last, 1, last]);
    mesh
}

impl Msh {
    fn place(&self, tag: usize) -> [f64; 2] {
        let [x, y, _] = self.nodes[&tag];
        [x, y]
    }

    fn block(&self, group: &str) -> &Block {
        self.blocks.iter().find(|block| block.group == group).unwrap()
    }

    /// Elements of each group.
    fn counts(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for block in &self.blocks {
            *counts.entry(&block.group[..]).or_default() += block.elements.len();
        }
        counts
    }
}

/// An unwelded grid with node (i, j) at (i, j).
fn lattice(cells: usize) -> Grid {
    let grid = grid_from(cells + 1, cells + 1, |i, j| [i as f64, j as f64]);
    Grid { topology: Topology::Half(Symmetry::UpDown), ..grid }
}

/// Positions of the nodes of the first element of a block, in grid steps from its first node.
fn places(mesh: &Msh, block: &Block) -> String {
    let first = mesh.nodes[&block.elements[0][0]];
    let place = |tag: &usize| {
        let at = mesh.nodes[tag];
        let steps = (0..block.dimension).map(|c| format!("{}", (at[c] - first[c]).round()));
        steps.collect::<String>()
    };
    block.elements[0].iter().map(place).collect::<Vec<_>>().join(" ")
}

/// From the drawings in the section "Node ordering" of Gmsh's reference manual, and for order 3 and 4 from
/// its recursive rule. These are the positions that `gmsh.model.mesh.getElementProperties` of gmsh 4.15.2
/// prints for types 1, 8, 26, 27 (lines), 3, 10, 36, 37 (quadrangles) and 5, 12, 92, 93 (hexahedra).
const QUADRANGLES: [(usize, &str); 4] = [
    (3, "00 10 11 01"),
    (10, "00 20 22 02 10 21 12 01 11"),
    (36, "00 30 33 03 10 20 31 32 23 13 02 01 11 21 22 12"),
    (37, "00 40 44 04 10 20 30 41 42 43 34 24 14 03 02 01 11 31 33 13 21 32 23 12 22"),
];
const LINES: [(usize, &str); 4] = [(1, "0 1"), (8, "0 2 1"), (26, "0 3 1 2"), (27, "0 4 1 2 3")];
const HEXAHEDRA: [(usize, &str); 4] = [
    (5, "000 100 110 010 001 101 111 011"),
    (
        12,
        "000 200 220 020 002 202 222 022 100 010 001 210 201 120 221 021 102 012 212 122 \
         110 101 011 211 121 112 111",
    ),
    (
        92,
        "000 300 330 030 003 303 333 033 100 200 010 020 001 002 310 320 301 302 230 130 331 332 \
         031 032 103 203 013 023 313 323 233 133 110 120 220 210 101 201 202 102 011 012 022 021 \
         311 321 322 312 231 131 132 232 113 213 223 123 111 211 221 121 112 212 222 122",
    ),
    (
        93,
        "000 400 440 040 004 404 444 044 100 200 300 010 020 030 001 002 003 410 420 430 401 402 \
         403 340 240 140 441 442 443 041 042 043 104 204 304 014 024 034 414 424 434 344 244 144 \
         110 130 330 310 120 230 320 210 220 101 301 303 103 201 302 203 102 202 011 013 033 031 \
         012 023 032 021 022 411 431 433 413 421 432 423 412 422 341 141 143 343 241 142 243 342 \
         242 114 314 334 134 214 324 234 124 224 111 311 331 131 113 313 333 133 211 121 112 321 \
         312 231 332 132 213 123 323 233 221 212 122 322 232 223 222",
    ),
];

#[test]
fn nodes_are_numbered_as_gmsh_numbers_them() {
    for order in 1..=4 {
        let grid = lattice(2 * order);
        let span = Span { length: 2.0 * order as f64, cells: 2 * order, sides: Sides::Symmetry };
        let (plane, extruded) = (read(&grid, None, order), read(&grid, Some(span), order));
        for (mesh, group, expected) in [
            (&plane, "airfoil", LINES),
            (&plane, "fluid", QUADRANGLES),
            (&extruded, "fluid", HEXAHEDRA),
        ] {
            let block = mesh.block(group);

            let found = (block.kind, &*places(mesh, block));

            assert_eq!(found, expected[order - 1], "order {order}");
        }
    }
}

/// The lattice positions of an element in gmsh's order.
fn lattice_places<const N: usize>(text: &str) -> Vec<[usize; N]> {
    let digits = |word: &str| std::array::from_fn(|c| usize::from(word.as_bytes()[c] - b'0'));
    text.split(' ').map(digits).collect()
}

/// Corners of a cell or a side of this order, and the nodes along each of its sides.
fn sides(nodes: &[usize], order: usize) -> Vec<Vec<usize>> {
    let inner = |side: usize| nodes[4 + side * (order - 1)..4 + (side + 1) * (order - 1)].to_vec();
    let side = |k: usize| [vec![nodes[k]], inner(k), vec![nodes[(k + 1) % 4]]].concat();
    (0..4).map(side).collect()
}

#[test]
fn curved_cells_have_the_nodes_of_the_grid_once_and_sides_inside_or_in_one_group() {
    for grid in grids() {
        for order in 1..=4 {
            let mesh = read(&grid, None, order);

            let columns = (grid.ni - 1) / order;
            let cells = &mesh.block("fluid").elements;
            for (k, nodes) in cells.iter().enumerate() {
                let [i, j] = [k % columns, k / columns].map(|at| at * order);
                let places = lattice_places(QUADRANGLES[order - 1].1);
                for ([a, b], node) in places.into_iter().zip(nodes) {
                    assert_eq!(mesh.place(*node), grid.point(i + a, j + b), "cell {k} of {order}");
                }
            }
            let points: BTreeSet<_> =
                mesh.nodes.values().map(|place| place.map(f64::to_bits)).collect();
            assert_eq!(points.len(), mesh.nodes.len(), "a point is there twice");
            let used: BTreeSet<_> = cells.iter().flatten().collect();
            assert_eq!(used.len(), mesh.nodes.len(), "a node belongs to no cell");
            let mut open: BTreeSet<Vec<usize>> =
                cells.iter().flat_map(|nodes| sides(nodes, order)).collect();
            let all = open.clone();
            // Sides that another cell has in the opposite direction are interior.
            open.retain(|side| !all.contains(&side.iter().rev().copied().collect::<Vec<_>>()));
            for block in mesh.blocks.iter().filter(|block| block.dimension == 1) {
                for line in &block.elements {
                    let side = [&line[..1], &line[2..], &line[1..2]].concat();
                    assert!(open.remove(&side), "{} {side:?} of order {order}", block.group);
                }
            }
            assert!(open.is_empty(), "without a group: {open:?}");
            let cells = ("fluid", cells.len());
            let expected = boundary(&grid, order, None).into_iter().chain([cells]);
            assert_eq!(mesh.counts(), expected.collect());
            let names: BTreeSet<_> = mesh.groups.iter().map(|(_, name)| &name[..]).collect();
            assert_eq!(names.len(), mesh.groups.len(), "a name is there twice");
        }
    }
}

/// Gmsh moves and lists nodes by the entity on which they lie.
#[test]
fn nodes_are_on_the_curves_and_points_that_bound_the_surface() {
    for grid in grids() {
        let mesh = read(&grid, None, 2);
        let (ni, nj) = (grid.ni, grid.nj);

        let on = |j: usize, of: std::ops::Range<usize>| -> BTreeSet<[u64; 2]> {
            of.map(|i| grid.point(i, j).map(f64::to_bits)).collect()
        };
        let found = |curve| -> BTreeSet<[u64; 2]> {
            mesh.on[&(1, curve)].iter().map(|node| mesh.place(*node).map(f64::to_bits)).collect()
        };
        let wall = grid.topology.wall(ni);
        // The ends of the curves of half a grid, and of the outer line of a C-grid, are points.
        let (inner, points): (_, i64) = match grid.topology {
            Topology::O(_) => (0..ni, 0),
            Topology::C { .. } => (1..ni - 1, 2),
            _ => (1..ni - 1, 4),
        };
        let body = if points == 4 { inner.clone() } else { *wall.start()..*wall.end() };
        assert_eq!(found(1), on(0, body));
        assert_eq!(found(2), on(nj - 1, inner));
        let count = |dimension| mesh.on.keys().filter(|(d, _)| *d == dimension).count();
        let curves = [2, 3, 4][points as usize / 2];
        assert_eq!([count(0), count(1), count(2)], [points as usize, curves, 1]);
        // Each curve begins at one point and ends at another, and each point is one beginning and one end.
        let ends: Vec<i64> =
            mesh.bounds.iter().filter(|((d, _), _)| *d == 1).flat_map(|(_, b)| b.clone()).collect();
        let mut sorted = ends.clone();
        sorted.sort_unstable();
        let mut expected: Vec<i64> = (1..=points).flat_map(|tag| [-tag, tag]).collect();
        expected.sort_unstable();
        assert_eq!(sorted, expected);
        assert_eq!(mesh.bounds[&(2, 1)].len(), count(1));
    }
}

/// The sets of nodes on the six sides of a hexahedron.
fn faces(nodes: &[usize], order: usize) -> Vec<BTreeSet<usize>> {
    let places: Vec<[usize; 3]> = lattice_places(HEXAHEDRA[order - 1].1);
    let side = |c: usize, at: usize| -> BTreeSet<usize> {
        nodes.iter().zip(&places).filter(|(_, place)| place[c] == at).map(|(n, _)| *n).collect()
    };
    (0..3).flat_map(|c| [side(c, 0), side(c, order)]).collect()
}

#[test]
fn extruded_curved_cells_are_closed_and_their_rim_points_outward() {
    for grid in grids() {
        for (order, sides) in [(1, Sides::Periodic), (2, Sides::Symmetry), (3, Sides::Symmetry)] {
            let span = Span { length: 0.7, cells: 2 * order, sides };
            let mesh = read(&grid, Some(span), order);

            let mut meet: HashMap<Vec<usize>, usize> = HashMap::new();
            let mut see = |face: BTreeSet<usize>| {
                *meet.entry(face.into_iter().collect()).or_default() += 1;
            };
            mesh.block("fluid").elements.iter().flat_map(|n| faces(n, order)).for_each(&mut see);
            // Tags count from 1; cones end at a point in front of the back.
            let places = std::iter::once(&[0.0; 3]).chain(mesh.nodes.values());
            let places: Vec<[f64; 3]> = places.map(|[x, y, z]| [*x, *y, z + 1.0]).collect();
            let mut enclosed = 0.0;
            for block in mesh.blocks.iter().filter(|block| block.dimension == 2) {
                for face in &block.elements {
                    see(face.iter().copied().collect());
                    enclosed += cone(face, &places);
                }
            }
            assert!(meet.values().all(|&times| times == 2), "a face is open or in two groups");
            // The corners alone enclose prisms over the polygon of the coarse grid.
            let corner = |i: usize, j: usize| grid.point(order * i, order * j);
            let (columns, rows) = ((grid.ni - 1) / order, (grid.nj - 1) / order);
            let area = |k: usize| {
                let (i, j) = (k % columns, k / columns);
                let p = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
                gridgen::grid::quality::cell_area(&p)
            };
            let volume = 0.7 * (0..columns * rows).map(area).sum::<f64>();
            assert!((enclosed / volume - 1.0).abs() < 1e-9, "{enclosed} and {volume}");
            let cells = ("fluid", 2 * columns * rows);
            let expected = boundary(&grid, order, Some(span)).into_iter().chain([cells]);
            assert_eq!(mesh.counts(), expected.collect());
            let nodes = mesh.on.values().map(Vec::len).sum::<usize>();
            assert_eq!(nodes, mesh.nodes.len());
            assert!(mesh.nodes.values().all(|[.., z]| (0..=2 * order).any(|k| *z == span.z(k))));
        }
    }
}

fn converted(grid: &Grid, curved_order: usize, span: Option<Span>) -> Result<(), WriteFault> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mesh.msh");
    let settings = Settings { curved_order, ..Settings::default() };
    let mesh = MeshData { span, settings, ..MeshData::from(grid) };
    let converted = Format::named("msh").unwrap().convert(&path, &mesh, false);
    assert_eq!(path.exists(), converted.is_ok());
    converted.map(drop).map_err(|error| error.fault)
}

#[test]
fn counts_that_the_order_does_not_divide_are_refused() {
    let span = Some(Span { length: 1.0, cells: 3, sides: Sides::Symmetry });
    for (grid, order, span, cells) in [
        (joukowski_grid(48, 25, 0.2), 2, None, "47 cells around"),
        (joukowski_grid(49, 26, 0.2), 3, None, "25 cells outward"),
        (parabolic_grid(61, 13, 10), 4, None, "10 cells along the cut"),
        (joukowski_grid(49, 25, 0.2), 2, span, "3 cells over the span"),
    ] {
        let refused = converted(&grid, order, span).unwrap_err().to_string();
        let said = format!("{cells} are no multiple of {order}, the order of the curved cells");
        assert_eq!(refused, said);
    }
}

/// The holes are square, with corners of the wall at its points 3, 9, 15 and 21.
#[test]
fn a_corner_inside_of_a_side_is_refused() {
    let mut grid = polar_grid(25, 13, 0.05, 1.2);
    for k in 0..grid.x.len() {
        let (x, y) = (grid.x[k] - 0.5, grid.y[k]);
        let scale = f64::hypot(x, y) / x.abs().max(y.abs());
        (grid.x[k], grid.y[k]) = (x * scale, y * scale);
    }

    let refused = converted(&grid, 2, None).unwrap_err();

    assert!(matches!(refused, WriteFault::CornerInSide { point: 3, order: 2 }), "{refused}");
    assert!(converted(&grid, 3, None).is_ok());
}

#[test]
fn folded_curved_cells_of_a_valid_grid_are_refused_with_their_place() {
    let mut grid = polar_grid(25, 13, 0.05, 1.2);
    // The middle line of the second layer of cells of order 2 is moved from one half to 0.2 of the distance.
    for i in [7, 8, 9] {
        let place = |c: usize, from: [f64; 2], to: [f64; 2]| from[c] + 0.2 * (to[c] - from[c]);
        let [from, to] = [grid.point(i, 2), grid.point(i, 4)];
        let k = grid.index(i, 3);
        [grid.x[k], grid.y[k]] = [place(0, from, to), place(1, from, to)];
    }

    let refused = converted(&grid, 2, None).unwrap_err();

    let WriteFault::FoldedCells { folded_cells, order, at } = refused else { panic!("{refused}") };
    assert_eq!((folded_cells, order), (2, 2));
    // The corners of the cell are at the angles of i = 6 and 8, or 8 and 10.
    let angle = f64::atan2(at[1], at[0] - 0.5).to_degrees();
    assert!((angle + 105.0).abs() < 1.0 || (angle + 135.0).abs() < 1.0, "{angle}");
    assert_eq!(gridgen::grid::quality::measure(&grid).folded_cells, 0);
    assert!(converted(&grid, 1, None).is_ok() && converted(&grid, 3, None).is_ok());
}
