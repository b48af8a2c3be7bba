//! Meshes for other programs, read back by small independent readers.

#![allow(clippy::float_cmp, reason = "what is written is read back bit for bit")]

use std::collections::HashSet;
use std::fs;
use std::io::Write;

use gridgen::formats::plot3d::{self, Axes, ByteOrder, Encoding, Flavour, NumberPrecision};
use gridgen::formats::{MeshData, Sides, Span, nmf, openfoam, su2};
use gridgen::grid::quality::{cell_area, cell_corners};
use gridgen::grid::{Grid, Symmetry, Topology};
use support::grids::{half_grid, joukowski_grid, parabolic_grid};

use super::extruded::FoamMesh;
use super::{boundary, grids, text_of, written};

/// All flavours of `Plot3D`.
pub(super) fn flavours() -> Vec<Flavour> {
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

/// A number in text: Rust's own formatting is exact and gives the expected characters, 17 or 9 digits, and no
/// exponent of Fortran's.
fn word(x: f64, precision: NumberPrecision) -> String {
    match precision {
        NumberPrecision::Single => format!("{:.8E}", x as f32),
        NumberPrecision::Double => format!("{x:.16E}"),
    }
}

/// The bytes of a number in this order.
fn ordered<const N: usize>(order: ByteOrder, mut bytes: [u8; N]) -> Vec<u8> {
    if order == ByteOrder::Big {
        bytes.reverse();
    }
    bytes.to_vec()
}

#[test]
fn every_flavour_of_plot3d_has_the_grid_bit_for_bit() {
    let [grid, ..] = grids();
    let points = grid.ni * grid.nj;

    for flavour in flavours() {
        let Flavour { precision, byte_order: order, .. } = flavour;
        let bytes = written(|out| plot3d::write_to(out, &[&grid], None, flavour));

        // A grid that is not extruded has planes at z = 0 and 1.
        let planes = usize::from(flavour.dimensions) - 1;
        let mut reals = [grid.x.repeat(planes), grid.y.repeat(planes)].concat();
        let mut size = vec![grid.ni, grid.nj];
        if planes == 2 {
            reals.extend([vec![0.0; points], vec![1.0; points]].concat());
            size.push(2);
        }
        let heads = if flavour.block_count { vec![vec![1], size] } else { vec![size] };
        let blanks = vec![1; if flavour.blanking { points * planes } else { 0 }];
        if flavour.encoding == Encoding::Text {
            let integers = |all: Vec<usize>| all.into_iter().map(|n| n.to_string());
            let reals = reals.iter().map(|x| word(*x, precision));
            let words = integers(heads.concat()).chain(reals).chain(integers(blanks));
            let text = String::from_utf8(bytes).unwrap();
            assert!(text.split_whitespace().eq(words), "{flavour:?}");
            continue;
        }
        let integer = |n: usize| ordered(order, (n as u32).to_le_bytes());
        let real = |x: f64| match precision {
            NumberPrecision::Single => ordered(order, (x as f32).to_le_bytes()),
            NumberPrecision::Double => ordered(order, x.to_le_bytes()),
        };
        // A length stands before and after a record of Fortran.
        let marked = flavour.encoding == Encoding::Fortran;
        let record = |contents: Vec<u8>| {
            let mark = if marked { integer(contents.len()) } else { Vec::new() };
            [&mark[..], &contents, &mark].concat()
        };
        let integers = |all: Vec<usize>| all.into_iter().flat_map(integer).collect::<Vec<u8>>();
        let mut records: Vec<_> = heads.into_iter().map(integers).map(record).collect();
        let reals: Vec<u8> = reals.into_iter().flat_map(real).collect();
        records.push(record([reals, integers(blanks)].concat()));
        assert!(bytes == records.concat(), "{flavour:?}");
    }
}

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
        for (found, x) in words.zip(&grid.x) {
            assert_eq!(found, word(*x, precision));
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

/// The lines after `name= count` of an SU2 mesh, as numbers.
fn su2_table(text: &str, name: &str) -> Vec<Vec<f64>> {
    let (_, rest) = text.split_once(&format!("{name}= ")).unwrap();
    let mut lines = rest.lines();
    let count: usize = lines.next().unwrap().parse().unwrap();
    let numbers = |line: &str| line.split(' ').map(|word| word.parse().unwrap()).collect();
    lines.take(count).map(numbers).collect()
}

/// The nodes of a face in its sense, from the smallest on; those of an edge as they are.
fn ring(mut face: Vec<usize>) -> Vec<usize> {
    let first = (0..face.len()).min_by_key(|k| face[*k]).filter(|_| face.len() > 2);
    face.rotate_left(first.unwrap_or(0));
    face
}

#[test]
fn an_su2_mesh_is_welded_and_closed_by_its_markers() {
    let span = |sides| Some(Span { length: 0.7, cells: 3, sides });
    for grid in grids() {
        for span in [None, span(Sides::Symmetry), span(Sides::Periodic)] {
            assert_su2(&grid, span);
        }
    }
}

fn assert_su2(grid: &Grid, span: Option<Span>) {
    let text = text_of(|out| su2::write_to(out, &[grid], span));

    let (plane, layers) = (welded_points(grid), span.map_or(1, |span| span.cells));
    let points = su2_table(&text, "NPOIN");
    let z = span.map_or(vec![None], |span| (0..=layers).map(|k| Some(span.z(k))).collect());
    let expected =
        z.iter().flat_map(|z| plane.iter().map(move |at| [&at[..], z.as_slice()].concat()));
    assert!(points.iter().map(|line| line[..line.len() - 1].to_vec()).eq(expected));
    let cells = su2_table(&text, "NELEM");
    assert_eq!(cells.len(), grid.cells() * layers);
    // The sides of cells with their normals outward, and the numbers of SU2 for both.
    let (sides, kinds): (&[&[usize]], _) = match span {
        None => (&[&[1, 2], &[2, 3], &[3, 4], &[4, 1]], [3.0, 9.0]),
        Some(_) => (
            &[
                &[4, 3, 2, 1],
                &[5, 6, 7, 8],
                &[1, 2, 6, 5],
                &[2, 3, 7, 6],
                &[3, 4, 8, 7],
                &[4, 1, 5, 8],
            ],
            [9.0, 12.0],
        ),
    };
    let mut open = HashSet::new();
    for (k, cell) in cells.iter().enumerate() {
        let corners = [1, 2, 3, 4].map(|corner| plane[cell[corner] as usize % plane.len()]);
        let [i, j] = [k % grid.cells() % (grid.ni - 1), k % grid.cells() / (grid.ni - 1)];
        let area = cell_area(&cell_corners(grid, i, j));
        assert!(cell[0] == kinds[1] && (cell_area(&corners) - area).abs() < 1e-12, "({i}, {j})");
        for side in sides {
            assert!(open.insert(ring(side.iter().map(|k| cell[*k] as usize).collect())));
        }
    }
    // Sides that no other cell has in the opposite sense form the boundary.
    let all = open.clone();
    open.retain(|side| !all.contains(&ring(side.iter().rev().copied().collect())));
    let mut markers = boundary(grid, 1, span);
    // The outflow is far field, too.
    let outflow = markers.remove("outflow").unwrap_or_default();
    *markers.get_mut("farfield").unwrap() += outflow;
    let mut lines = 4 + cells.len() + points.len();
    assert!(text.contains(&format!("\nNMARK= {}\n", markers.len())));
    for (marker, count) in markers {
        let table = su2_table(&text, &format!("MARKER_TAG= {marker}\nMARKER_ELEMS"));
        assert_eq!(table.len(), count, "{marker}");
        lines += 2 + count;
        for line in table {
            let side = line[1..=sides[0].len()].iter().map(|node| *node as usize).collect();
            assert!(line[0] == kinds[0] && open.remove(&ring(side)), "{marker} {line:?}");
        }
    }
    assert!(open.is_empty(), "without a marker: {open:?}");
    assert_eq!(text.lines().count(), lines);
}

/// Faces are in upper triangular order, point from owner to neighbour, and enclose every cell. By Gauss's
/// theorem a closed cell has the volume of its cones.
#[test]
fn an_openfoam_mesh_is_in_order_closed_and_has_the_areas_of_the_grid() {
    let span = |cells, sides| Some(Span { length: 0.7, cells, sides });
    for grid in grids() {
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

    let mesh = FoamMesh::of(folder.path());
    let plane = welded_points(grid);
    let z = |k: usize| span.map_or(k as f64, |span| span.z(k));
    let expected: Vec<[f64; 3]> =
        (0..=layers).flat_map(|k| plane.iter().map(move |[x, y]| [*x, *y, z(k)])).collect();
    assert_eq!(mesh.points, expected);
    assert_eq!(mesh.faces.len(), mesh.owner.len());
    let pairs: Vec<_> = mesh.owner.iter().zip(&mesh.neighbour).collect();
    assert!(pairs.iter().all(|(owner, neighbour)| owner < neighbour));
    assert!(pairs.is_sorted_by(|a, b| a < b), "{pairs:?}");
    let cells = mesh.cells();
    assert_eq!(cells.len(), grid.cells() * layers);
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

        let mesh = FoamMesh::of(folder.path());
        assert_eq!((mesh.neighbour.len(), mesh.owner.len()), counts);
        assert_eq!(mesh.patches, patches);
        let FoamMesh { points, faces, owner, neighbour, .. } = mesh;
        match grid.topology {
            Topology::O(_) => {
                let is_on = |face: &[usize], j: usize| face.iter().all(|at| (at % 144) / 16 == j);
                assert!(faces[240..256].iter().all(|face| is_on(face, 0)));
                assert!(faces[256..272].iter().all(|face| is_on(face, 8)));
            }
            Topology::C { .. } => {
                let across =
                    |i: usize| owner.iter().zip(&neighbour).any(|pair| pair == (&i, &(15 - i)));
                assert!((0..3).all(across));
            }
            _ => {
                let on_plane = |face: &[usize]| face.iter().all(|&at| points[at][1] == 0.0);
                assert!(faces[68..76].iter().all(|face| on_plane(face)));
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

/// The rows of neutral maps without comments and extra blanks, parted by `;`.
///
/// Faces 1 and 2 are k = 1 and k = nk over (i, j), faces 3 and 4 are i over (j, k), faces 5 and 6 are j over (k, i).
/// With FUN3D's axes j and k change places, and z points upward. Points 1 to 4 of the first line of the C-grid are the
/// cut up to the edge; 14 to 17 are the same points in reverse order. On half a grid nothing is one-to-one.
#[test]
fn the_neutral_map_names_all_six_faces_and_ties_seam_and_cut() {
    let up_down = half_grid(17, 9);
    let left_right = Grid { topology: Topology::Half(Symmetry::LeftRight), ..up_down.clone() };
    let rows = |grid: &Grid, span, axes| {
        let text = text_of(|out| nmf::write_to(out, &[grid], span, axes));
        let rows = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let rows = rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "));
        rows.collect::<Vec<_>>().join("; ")
    };
    for (grid, sides) in [
        (
            &joukowski_grid(17, 9, 0.1),
            "VISCOUS 1 5 1 2 1 17; FARFIELD 1 6 1 2 1 17; \
             ONE_TO_ONE 1 3 1 9 1 2 1 4 1 9 1 2 FALSE",
        ),
        (
            &parabolic_grid(17, 9, 3),
            "FARFIELD 1 3 1 9 1 2; FARFIELD 1 4 1 9 1 2; VISCOUS 1 5 1 2 4 14; \
             FARFIELD 1 6 1 2 1 17; ONE_TO_ONE 1 5 1 2 1 4 1 5 1 2 17 14 FALSE",
        ),
        (
            &up_down,
            "SYMMETRY-Y 1 3 1 9 1 2; SYMMETRY-Y 1 4 1 9 1 2; VISCOUS 1 5 1 2 1 17; \
             FARFIELD 1 6 1 2 1 17",
        ),
        (
            &left_right,
            "SYMMETRY-X 1 3 1 9 1 2; SYMMETRY-X 1 4 1 9 1 2; VISCOUS 1 5 1 2 1 17; \
             FARFIELD 1 6 1 2 1 17",
        ),
    ] {
        let planes = "SYMMETRY-Z 1 1 1 17 1 9; SYMMETRY-Z 1 2 1 17 1 9";
        assert_eq!(rows(grid, None, Axes::Ijk), format!("1; 1 17 9 2; {planes}; {sides}"));
    }
    assert_eq!(
        rows(&up_down, None, Axes::Fun3d),
        "1; 1 17 2 9; symmetry_y 1 5 1 9 1 17; symmetry_y 1 6 1 9 1 17; symmetry_z 1 3 1 2 1 9; \
         symmetry_z 1 4 1 2 1 9; viscous_solid 1 1 1 17 1 2; farfield_riem 1 2 1 17 1 2"
    );
    let two = Span { length: 0.7, cells: 2, sides: Sides::Symmetry };
    assert_eq!(
        rows(&joukowski_grid(17, 9, 0.1), Some(two), Axes::Fun3d),
        "1; 1 17 3 9; symmetry_y 1 5 1 9 1 17; symmetry_y 1 6 1 9 1 17; \
         viscous_solid 1 1 1 17 1 3; farfield_riem 1 2 1 17 1 3; \
         ONE_TO_ONE 1 3 1 3 1 9 1 4 1 3 1 9 FALSE"
    );
}
