//! Meshes for other programs, read back by small independent readers.

#![allow(clippy::float_cmp, reason = "what is written is read back bit for bit")]

use std::fs;
use std::io::Write;
use std::path::Path;

use gridgen::formats::plot3d::{
    self, Axes, ByteOrder, Encoding, Flavour, NumberPrecision,
};
use gridgen::formats::{MeshData, Sides, Span, nmf, openfoam, su2, vtk};
use gridgen::grid::quality::{cell_area, cell_aspect_ratio, cell_corners, cell_skewness};
use gridgen::grid::{Grid, Symmetry, Topology};
use support::grids::{half_grid, joukowski_grid, parabolic_grid};

use super::extruded::{cone, foam_list, foam_numbers};
use super::{text_of, written};

/// A grid with more points than one task encodes.
fn grid() -> Grid {
    joukowski_grid(83, 61, 0.2)
}

/// All flavours of `Plot3D`.
fn flavours() -> Vec<Flavour> {
    let flavour = |k: usize| Flavour {
        dimensions: [2, 3][k % 2],
        precision: [NumberPrecision::Single, NumberPrecision::Double][k / 2 % 2],
        byte_order: [ByteOrder::Little, ByteOrder::Big][k / 4 % 2],
        block_count: k / 8 % 2 == 1,
        blanking: k / 16 % 2 == 1,
        encoding: [Encoding::Text, Encoding::Fortran, Encoding::Stream][k / 32],
        axes: Axes::Ijk,
    };
    (0..3 * 32).map(flavour).collect()
}

/// Planes of points of a grid that is not extruded.
fn planes(flavour: Flavour) -> usize {
    usize::from(flavour.dimensions) - 1
}

/// Reads numbers from the front of a binary file.
struct Binary<'a> {
    bytes: &'a [u8],
    flavour: Flavour,
}

impl Binary<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (number, rest) = self.bytes.split_at(N);
        self.bytes = rest;
        let mut number: [u8; N] = number.try_into().unwrap();
        if self.flavour.byte_order == ByteOrder::Big {
            number.reverse();
        }
        number
    }

    fn integer(&mut self) -> usize {
        i32::from_le_bytes(self.take()) as usize
    }

    fn real(&mut self) -> f64 {
        match self.flavour.precision {
            NumberPrecision::Single => f64::from(f32::from_le_bytes(self.take())),
            NumberPrecision::Double => f64::from_le_bytes(self.take()),
        }
    }

    /// Reads a length before or after a record.
    fn mark(&mut self) -> usize {
        if self.flavour.encoding == Encoding::Fortran { self.integer() } else { 0 }
    }
}

/// The integers of the header, the coordinates, and the IBLANK numbers of a file.
fn read_plot3d(bytes: &[u8], flavour: Flavour) -> (Vec<usize>, Vec<f64>, Vec<usize>) {
    let heads = usize::from(flavour.block_count) + planes(flavour) + 1;
    if flavour.encoding == Encoding::Text {
        let words: Vec<&str> = std::str::from_utf8(bytes).unwrap().split_whitespace().collect();
        let (head, rest) = words.split_at(heads);
        let reals = rest.iter().position(|w| !w.contains('E')).unwrap_or(rest.len());
        return (
            head.iter().map(|word| word.parse().unwrap()).collect(),
            rest[..reals].iter().map(|word| word.parse().unwrap()).collect(),
            rest[reals..].iter().map(|word| word.parse().unwrap()).collect(),
        );
    }
    let mut file = Binary { bytes, flavour };
    let mut head = Vec::new();
    let mut records = vec![planes(flavour) + 1];
    if flavour.block_count {
        records.insert(0, 1);
    }
    for length in records {
        let (before, start) = (file.mark(), file.bytes.len());
        head.extend((0..length).map(|_| file.integer()));
        let read = start - file.bytes.len();
        let after = file.mark();
        assert!(flavour.encoding == Encoding::Stream || [before, after] == [read; 2]);
    }
    let size = &head[usize::from(flavour.block_count)..];
    let points: usize = size.iter().product();
    let (before, start) = (file.mark(), file.bytes.len());
    let coordinates = (0..points * size.len()).map(|_| file.real()).collect();
    let blanks = if flavour.blanking { points } else { 0 };
    let blanking = (0..blanks).map(|_| file.integer()).collect();
    let read = start - file.bytes.len();
    let after = file.mark();
    assert!(flavour.encoding == Encoding::Stream || [before, after] == [read; 2]);
    assert!(file.bytes.is_empty(), "{flavour:?}: {} bytes more", file.bytes.len());
    (head, coordinates, blanking)
}

#[test]
fn every_flavour_of_plot3d_returns_the_grid_bit_for_bit() {
    let grid = grid();
    let points = grid.ni * grid.nj;

    for flavour in flavours() {
        let bytes = written(|out| plot3d::write_to(out, &[&grid], None, flavour));
        let (head, coordinates, blanking) = read_plot3d(&bytes, flavour);

        let stored = |numbers: &[f64]| -> Vec<f64> {
            match flavour.precision {
                NumberPrecision::Single => numbers.iter().map(|&n| f64::from(n as f32)).collect(),
                NumberPrecision::Double => numbers.to_vec(),
            }
        };
        let planes = planes(flavour);
        let mut expected =
            [stored(&grid.x).repeat(planes), stored(&grid.y).repeat(planes)].concat();
        let mut size = vec![grid.ni, grid.nj];
        if flavour.dimensions == Dimensions::Three {
            expected.extend([vec![0.0; points], vec![1.0; points]].concat());
            size.push(2);
        }
        if flavour.block_count {
            size.insert(0, 1);
        }
        // Numbers in single-precision text are compared in single precision.
        assert!(head == size && stored(&coordinates) == expected, "{flavour:?}");
        let blanks = if flavour.blanking { points * planes } else { 0 };
        assert_eq!(blanking, vec![1; blanks], "{flavour:?}");
    }
}

/// Rust's own formatting is exact and gives the expected characters: 17 or 9 digits, and no exponent of Fortran's.
#[test]
fn numbers_as_text_are_rounded_to_nearest_even() {
    let ties = (0..60).flat_map(|k| [1.0, 3.0, 12345.0].map(|m| m * 0.5_f64.powi(k)));
    let powers = (-20..20).map(|k| 10_f64.powi(k));
    let beside = powers.flat_map(|x| [x, x.next_up(), x.next_down()]);
    let special = [0.0, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::INFINITY];
    let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
    let any = (0..20_000).map(|k| {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Half of them are of the size of coordinates.
        if k % 2 == 0 {
            f64::from_bits(bits)
        } else {
            (bits >> 11) as f64 * 0.5_f64.powi(50 + k % 60)
        }
    });
    let numbers: Vec<f64> = ties.chain(beside).chain(special).chain(any).collect();
    let mut grid = Grid::new(Topology::C { wake: 0 }, 2, numbers.len());
    grid.x = numbers.iter().flat_map(|x| [*x, -x]).collect();
    grid.y.clone_from(&grid.x);

    for precision in [NumberPrecision::Single, NumberPrecision::Double] {
        let flavour = Flavour { precision, ..flavours()[0] };
        let text = text_of(|out| plot3d::write_to(out, &[&grid], None, flavour));

        assert!(text.lines().all(|line| line.len() <= 80));
        let words = text.split_whitespace().skip(2);
        let expected = grid.x.iter().map(|x| match precision {
            NumberPrecision::Single => format!("{:.8E}", *x as f32),
            NumberPrecision::Double => format!("{x:.16E}"),
        });
        for (word, expected) in words.zip(expected) {
            assert_eq!(word, expected);
        }
    }
}

/// A record of a Fortran file, split as if the limit of 2 GiB were `limit` bytes.
fn record(contents: &[u8], limit: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let length = contents.len() as u64;
    let mut record = plot3d::FortranRecord::new(&mut out, Some(ByteOrder::Big), length, limit);
    record.write_all(contents).unwrap();
    out
}

/// The signs are defined on the page cited at `Record`.
#[test]
fn a_long_record_is_split_and_marked_by_the_signs_of_its_lengths() {
    let minus = |n: i32| (-n).to_be_bytes();

    let split = record(&[1, 2, 3, 4, 5], 2);

    let expected = [
        &minus(2)[..],
        &[1, 2, 0, 0, 0, 2],
        &minus(2),
        &[3, 4],
        &minus(2),
        &[0, 0, 0, 1, 5],
        &minus(1),
    ];
    assert_eq!(split, expected.concat());
    assert_eq!(record(&[7, 8, 9], 3), [0, 0, 0, 3, 7, 8, 9, 0, 0, 0, 3]);
}

#[test]
fn a_legacy_vtk_file_returns_points_and_cell_measures_bit_for_bit() {
    let grid = grid();

    let bytes = written(|out| vtk::write_to(out, &grid, None));

    let reals = |after: &str, count: usize| -> Vec<f64> {
        let mark = after.as_bytes();
        let at = bytes.windows(mark.len()).position(|w| w == mark).unwrap() + mark.len();
        bytes[at..at + 8 * count]
            .chunks_exact(8)
            .map(|b| f64::from_be_bytes(b.try_into().unwrap()))
            .collect()
    };
    let (points, cells) = (83 * 61, 82 * 60);
    let expected: Vec<f64> = (0..points).flat_map(|k| [grid.x[k], grid.y[k], 0.0]).collect();
    assert_eq!(reals("DIMENSIONS 83 61 1\nPOINTS 5063 double\n", 3 * points), expected);
    for (name, measure) in [
        ("area", cell_area as fn(&_) -> f64),
        ("skewness", cell_skewness),
        ("aspect_ratio", cell_aspect_ratio),
    ] {
        let head = format!("SCALARS {name} double 1\nLOOKUP_TABLE default\n");
        // Cell (3, 55), with i fastest.
        assert_eq!(reals(&head, cells)[55 * 82 + 3], measure(&cell_corners(&grid, 3, 55)));
    }
}

/// An O-grid, a C-grid, and half an O-grid.
fn all() -> [Grid; 3] {
    [grid(), parabolic_grid(83, 61, 20), half_grid(42, 61)]
}

/// Nodes of the grid without repeated ones: without the last column of an O-grid, and without the upper side
/// of the cut of a C-grid, its edge included.
fn welded_points(grid: &Grid) -> Vec<[f64; 2]> {
    let nodes = |j: usize| match grid.topology {
        Topology::C { wake } if j == 0 => grid.ni - 1 - wake,
        Topology::C { .. } | Topology::Half(_) => grid.ni,
        _ => grid.ni - 1,
    };
    (0..grid.nj).flat_map(|j| (0..nodes(j)).map(move |i| grid.point(i, j))).collect()
}

/// Markers and their edges: the body, the far field with the outflow, the plane of symmetry.
fn boundary_edges(grid: &Grid) -> Vec<(&'static str, usize)> {
    let (around, ends) = (grid.ni - 1, 2 * (grid.nj - 1));
    match grid.topology {
        Topology::C { wake } => vec![("airfoil", around - 2 * wake), ("farfield", around + ends)],
        Topology::Half(_) => {
            vec![("airfoil", around), ("farfield", around), ("symmetry", ends)]
        }
        _ => vec![("airfoil", around), ("farfield", around)],
    }
}

/// Twice the signed area of a polygon.
fn turn(polygon: &[[f64; 2]]) -> f64 {
    (0..polygon.len())
        .map(|k| {
            let ([ax, ay], [bx, by]) = (polygon[k], polygon[(k + 1) % polygon.len()]);
            ax * by - bx * ay
        })
        .sum()
}

/// The lines after `name= count` of an SU2 mesh, as numbers.
pub(super) fn su2_table(text: &str, name: &str) -> Vec<Vec<f64>> {
    let (_, rest) = text.split_once(&format!("{name}= ")).unwrap();
    let mut lines = rest.lines();
    let count: usize = lines.next().unwrap().parse().unwrap();
    let numbers = |line: &str| line.split(' ').map(|word| word.parse().unwrap()).collect();
    lines.take(count).map(numbers).collect()
}

#[test]
fn an_su2_mesh_has_welded_counter_clockwise_cells_and_its_boundary_in_markers() {
    for grid in &all() {
        let text = text_of(|out| su2::write_to(out, &[grid], None));

        let points: Vec<[f64; 2]> =
            su2_table(&text, "NPOIN").iter().map(|line| [line[0], line[1]]).collect();
        assert_eq!(points, welded_points(grid));
        let cells = su2_table(&text, "NELEM");
        assert_eq!(cells.len(), grid.cells());
        let mut edges = std::collections::BTreeSet::new();
        for cell in &cells {
            let nodes: Vec<usize> = cell[1..5].iter().map(|&node| node as usize).collect();
            let corners: Vec<_> = nodes.iter().map(|&node| points[node]).collect();
            assert!(cell[0] == 9.0 && turn(&corners) > 0.0);
            for k in 0..4 {
                edges.insert((nodes[k], nodes[(k + 1) % 4]));
            }
        }
        // Edges that no other cell has in the opposite direction form the boundary.
        let cells = edges.clone();
        edges.retain(|(a, b)| !cells.contains(&(*b, *a)));
        let markers = boundary_edges(grid);
        assert!(text.contains(&format!("\nNMARK= {}\n", markers.len())));
        for (marker, count) in markers {
            let table = su2_table(&text, &format!("MARKER_TAG= {marker}\nMARKER_ELEMS"));
            assert_eq!(table.len(), count);
            for line in table {
                let edge = (line[1] as usize, line[2] as usize);
                assert!(line[0] == 3.0 && edges.remove(&edge), "{marker} {edge:?}");
            }
        }
        assert!(edges.is_empty(), "without a marker: {edges:?}");
    }
}

/// The `count` patches of a mesh, with single blanks between words.
fn foam_patches(folder: &Path, count: usize) -> String {
    let text = fs::read_to_string(folder.join("constant/polyMesh/boundary")).unwrap();
    let (_, patches) = text.split_once(&format!("\n{count}\n")).unwrap();
    patches.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Faces are in upper triangular order, point from owner to neighbour, and enclose every cell. By Gauss's
/// theorem a closed cell has the volume of its cones.
#[test]
fn an_openfoam_mesh_is_in_order_closed_and_has_the_areas_of_the_grid() {
    let span = |cells, sides| Some(Span { length: 0.7, cells, sides });
    for grid in all() {
        for span in
            [None, span(1, Sides::Symmetry), span(2, Sides::Periodic), span(3, Sides::Symmetry)]
        {
            assert_foam(&grid, span);
        }
    }
}

fn assert_foam(grid: &Grid, span: Option<Span>) {
    let folder = tempfile::tempdir().unwrap();
    let (length, layers) = span.map_or((1.0, 1), |span| (span.length, span.cells));

    openfoam::write(folder.path(), &MeshData { span, ..MeshData::from(grid) }, false).unwrap();

    let points: Vec<[f64; 3]> =
        foam_list(folder.path(), "points").into_iter().map(|p| p.try_into().unwrap()).collect();
    let plane = welded_points(grid);
    let z = |k: usize| span.map_or(k as f64, |span| span.z(k));
    let expected: Vec<[f64; 3]> =
        (0..=layers).flat_map(|k| plane.iter().map(move |[x, y]| [*x, *y, z(k)])).collect();
    assert_eq!(points, expected);
    let list = |name| foam_numbers(folder.path(), name);
    let (owner, neighbour, faces) =
        (list("owner").concat(), list("neighbour").concat(), list("faces"));
    assert_eq!(faces.len(), owner.len());
    let pairs: Vec<_> = owner.iter().zip(&neighbour).collect();
    assert!(pairs.iter().all(|(owner, neighbour)| owner < neighbour));
    assert!(pairs.is_sorted_by(|a, b| a < b), "{pairs:?}");
    let mut cells = vec![(0.0, 0); grid.cells() * layers];
    for (number, face) in faces.iter().enumerate() {
        assert_eq!(face.len(), 1 + face[0]);
        let cone = cone(&face[1..], &points) / 6.0;
        let sides = [(Some(&owner[number]), cone), (neighbour.get(number), -cone)];
        for (&cell, cone) in sides.into_iter().filter_map(|(cell, cone)| Some((cell?, cone))) {
            cells[cell].0 += cone;
            cells[cell].1 += 1;
        }
    }
    for (cell, (volume, faces)) in cells.into_iter().enumerate() {
        let plane = cell % grid.cells();
        let [i, j] = [plane % (grid.ni - 1), plane / (grid.ni - 1)];
        let expected = cell_area(&cell_corners(grid, i, j)) * length / layers as f64;
        assert_eq!(faces, 6, "cell ({i}, {j})");
        assert!((volume - expected).abs() < 1e-12, "({i}, {j}): {volume} and {expected}");
    }
    let read = |file| fs::read_to_string(folder.path().join(file)).unwrap();
    let (boundary, velocity) = (read("constant/polyMesh/boundary"), read("0/U"));
    let half = usize::from(matches!(grid.topology, Topology::Half(_)));
    let (kind, ends) = match span.map(|span| span.sides) {
        None => ("empty", 1),
        Some(Sides::Periodic) => ("cyclic", 2),
        Some(Sides::Symmetry) => ("symmetryPlane", 2 + half),
    };
    assert_eq!(boundary.matches(&format!("type {kind};")).count(), ends, "{boundary}");
    let front = if span.is_some() { "front" } else { "frontAndBack" };
    assert!(velocity.contains(&format!("{front} {{ type {kind}; }}")), "{velocity}");
    assert_eq!(velocity.contains("empty"), span.is_none());
}

/// The number of faces inside and in all, and the patches.
///
/// On the O-grid 16 × 8 cells have 16 × 8 faces around and 16 × 7 between the layers, and 2 × 16 and 2 × 128
/// outside. On the C-grid 16 × 4 cells with 3 cells of the cut on each side have 15 × 4 faces along, 16 × 3
/// between the layers, and 3 on the cut. On half a grid 8 × 4 cells have 7 × 4 faces along and 8 × 3 between
/// the layers, and 2 × 8, 2 × 4 and 2 × 32 outside.
#[test]
fn the_patches_of_an_openfoam_mesh_follow_the_faces_inside() {
    for (grid, counts, patches) in [
        (
            joukowski_grid(17, 9, 0.1),
            (240, 528),
            &["airfoil wall 16 240", "farfield patch 16 256", "frontAndBack empty 256 272"][..],
        ),
        (
            parabolic_grid(17, 5, 3),
            (111, 273),
            &["airfoil wall 10 111", "farfield patch 24 121", "frontAndBack empty 128 145"],
        ),
        (
            half_grid(9, 5),
            (52, 140),
            &[
                "airfoil wall 8 52",
                "farfield patch 8 60",
                "symmetry symmetryPlane 8 68",
                "frontAndBack empty 64 76",
            ],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();

        openfoam::write(folder.path(), &MeshData::from(&grid), false).unwrap();

        let list = |name| foam_numbers(folder.path(), name);
        let (owner, neighbour, faces) = (list("owner"), list("neighbour"), list("faces"));
        assert_eq!((neighbour.len(), owner.len()), counts);
        let patch = |patch: &&str| {
            let [name, kind, faces, start] = patch.split(' ').collect::<Vec<_>>()[..] else {
                panic!()
            };
            format!("{name} {{ type {kind}; nFaces {faces}; startFace {start}; }}")
        };
        let expected = patches.iter().map(patch).collect::<Vec<_>>().join(" ");
        assert_eq!(foam_patches(folder.path(), patches.len()), format!("( {expected} )"));
        let points = foam_list(folder.path(), "points");
        match grid.topology {
            Topology::O(_) => {
                let is_on = |face: &[usize], j: usize| face.iter().all(|at| (at % 144) / 16 == j);
                assert!(faces[240..256].iter().all(|face| is_on(&face[1..], 0)));
                assert!(faces[256..272].iter().all(|face| is_on(&face[1..], 8)));
            }
            Topology::C { .. } => {
                let across =
                    |i: usize| owner.iter().zip(&neighbour).any(|p| p == (&vec![i], &vec![15 - i]));
                assert!((0..3).all(across));
            }
            _ => {
                let on_plane = |face: &[usize]| face.iter().all(|&at| points[at][1] == 0.0);
                assert!(faces[68..76].iter().all(|face| on_plane(&face[1..])));
                for field in ["U", "p"] {
                    let text = fs::read_to_string(folder.path().join("0").join(field)).unwrap();
                    assert!(text.contains("symmetry { type symmetryPlane; }"), "{text}");
                }
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn the_script_of_an_openfoam_case_can_be_run_and_is_kept() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("Allrun");
    let grid = joukowski_grid(17, 9, 0.1);

    openfoam::write(folder.path(), &MeshData::from(&grid), false).unwrap();
    let mode = fs::metadata(&script).unwrap().permissions().mode();
    fs::write(&script, "mine").unwrap();
    fs::remove_dir_all(folder.path().join("constant")).unwrap();
    openfoam::write(folder.path(), &MeshData::from(&grid), false).unwrap();

    assert_eq!(mode & 0o100, 0o100, "{mode:o}");
    assert_eq!(fs::read_to_string(&script).unwrap(), "mine");
}

#[test]
fn the_neutral_map_names_all_six_faces() {
    let rows = nmf_rows(&joukowski_grid(17, 9, 0.1), None, Axes::Ijk);

    // Faces 1 and 2 are k = 1 and k = nk over (i, j), faces 3 and 4 are i over (j, k), faces 5 and 6 are j
    // over (k, i).
    assert_eq!(
        rows,
        [
            "1",
            "1 17 9 2",
            "SYMMETRY-Z 1 1 1 17 1 9",
            "SYMMETRY-Z 1 2 1 17 1 9",
            "VISCOUS 1 5 1 2 1 17",
            "FARFIELD 1 6 1 2 1 17",
            "ONE_TO_ONE 1 3 1 9 1 2 1 4 1 9 1 2 FALSE",
        ]
    );
}

#[test]
fn the_neutral_map_of_a_c_grid_ties_the_two_sides_of_the_cut() {
    let rows = nmf_rows(&parabolic_grid(17, 9, 3), None, Axes::Ijk);

    // Points 1 to 4 of the line are the cut up to the edge; 14 to 17 are the same points in reverse order.
    assert_eq!(
        rows[2..],
        [
            "SYMMETRY-Z 1 1 1 17 1 9",
            "SYMMETRY-Z 1 2 1 17 1 9",
            "FARFIELD 1 3 1 9 1 2",
            "FARFIELD 1 4 1 9 1 2",
            "VISCOUS 1 5 1 2 4 14",
            "FARFIELD 1 6 1 2 1 17",
            "ONE_TO_ONE 1 5 1 2 1 4 1 5 1 2 17 14 FALSE",
        ]
    );
}

#[test]
fn the_neutral_map_of_half_a_grid_has_its_plane_of_symmetry() {
    let up_down = half_grid(17, 9);
    let left_right = Grid { topology: Topology::Half(Symmetry::LeftRight), ..up_down.clone() };

    let ends = |grid: &Grid, axes| -> Vec<String> {
        let rows = nmf_rows(grid, None, axes).into_iter().skip(2);
        rows.filter(|row| row.contains(" 1 9 1 2") || row.contains(" 1 2 1 9")).collect()
    };

    assert_eq!(ends(&up_down, Axes::Ijk), ["SYMMETRY-Y 1 3 1 9 1 2", "SYMMETRY-Y 1 4 1 9 1 2"]);
    assert_eq!(ends(&left_right, Axes::Ijk), ["SYMMETRY-X 1 3 1 9 1 2", "SYMMETRY-X 1 4 1 9 1 2"]);
    // With FUN3D's axes z points upward.
    assert_eq!(ends(&up_down, Axes::Fun3d), ["symmetry_z 1 3 1 2 1 9", "symmetry_z 1 4 1 2 1 9"]);
    assert_eq!(nmf_rows(&up_down, None, Axes::Ijk).len(), 8, "nothing is one-to-one");
}

#[test]
fn the_neutral_map_of_fun3d_has_its_names_and_faces() {
    let span = Span { length: 0.7, cells: 2, sides: Sides::Symmetry };

    assert_eq!(
        nmf_rows(&joukowski_grid(17, 9, 0.1), Some(span), Axes::Fun3d),
        [
            "1",
            "1 17 3 9",
            "symmetry_y 1 5 1 9 1 17",
            "symmetry_y 1 6 1 9 1 17",
            "viscous_solid 1 1 1 17 1 3",
            "farfield_riem 1 2 1 17 1 3",
            "ONE_TO_ONE 1 3 1 3 1 9 1 4 1 3 1 9 FALSE",
        ]
    );
}

/// The rows of a map file, without comments and extra blanks.
fn nmf_rows(grid: &Grid, span: Option<Span>, axes: Axes) -> Vec<String> {
    text_of(|out| nmf::write_to(out, &[grid], span, axes))
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}
