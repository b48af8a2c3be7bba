//! Readers of Tecplot text, of quadrilaterals in any order, of cases of OpenFOAM, and of several zones.
#![allow(clippy::float_cmp, reason = "what is written is read back bit for bit")]

use std::fmt::{Debug, Write};
use std::fs;
use std::path::{Path, PathBuf};

use gridgen::formats::{self, Contents, Format, MeshData, ReadError};
use gridgen::formats::{contents_from_bytes, contents_of_case, msh, su2};
use gridgen::grid::boundary::{Range, Side};
use gridgen::grid::quality::{interfaces, measure, measure_blocks};
use gridgen::grid::{Grid, SideKind, Topology};
use support::grids::joukowski_grid;
use support::random::Random;
use tempfile::TempDir;

use super::{grids, text_of};

fn tecplot(text: &str) -> Result<Contents, ReadError> {
    contents_from_bytes(Path::new("mesh.anything"), text.as_bytes(), None)
}

fn su2_mesh(text: &str) -> Result<Contents, ReadError> {
    contents_from_bytes(Path::new("a.su2"), text.as_bytes(), None)
}

#[track_caller]
fn one(read: Result<Contents, ReadError>) -> formats::Mesh {
    read.and_then(|contents| contents.mesh(Path::new("one"))).unwrap()
}

/// Name, condition and nodes of a patch.
type Found = (&'static str, Option<SideKind>, [usize; 2]);

/// A Plot3D file with its neutral map.
fn plot3d(bytes: &[u8], map: &str) -> Result<Contents, ReadError> {
    contents_from_bytes(Path::new("a.p3d"), bytes, Some(map.as_bytes()))
}

/// Writes contents in a format to a place in a folder, and returns it.
fn converted(contents: &Contents, format: &str, folder: &TempDir, name: &str) -> PathBuf {
    let path = folder.path().join(name);
    Format::named(format).unwrap().convert(&path, &contents.data(), false).unwrap();
    path
}

/// Checks that contents are found again in the files of formats that keep patches and links of blocks.
fn assert_kept<T: PartialEq + Debug>(contents: &Contents, found: impl Fn(&Contents) -> T) {
    let folder = tempfile::tempdir().unwrap();
    for (format, name) in [("cgns", "a.cgns"), ("plot3d", "b.p3d")] {
        let again = formats::contents(&converted(contents, format, &folder, name)).unwrap();

        assert_eq!(found(&again), found(contents), "{name}");
    }
}

/// The patches of a side.
fn patches(grid: &Grid, side: Side) -> Vec<Found> {
    let of = |range: Range| {
        let patch = range.patch()?;
        (range.on.side == side).then_some((patch.name(), patch.kind(), range.on.nodes))
    };
    grid.boundary().into_iter().filter_map(of).collect()
}

/// Two blocks side by side, the second in another packing, with everything that a zone may have beside its points.
const TWO: &str = "# two blocks
TITLE = \"with # no comment\"
VARIABLES = \"X [m]\", \"Y [m]\" Z 'p'
DATASETAUXDATA By=\"hand\"
ZONE T=\"left one\", I=3, J=2, F=POINT, SOLUTIONTIME=0
0 0 0 1
1 0 0 1 # behind the point
2 0 0 1
0 1 0 1   1 1 0 1
2 1 0 1
ZONE T=\"right\" I = 3 J = 2 K = 1 ZONETYPE=Ordered DATAPACKING=BLOCK DT=(DOUBLE DOUBLE DOUBLE SINGLE)
 VARLOCATION=([4]=CELLCENTERED) AUXDATA a=\"b\"
2 2.5D0 3, 2 2.5 3
3*0.0 3*1
6*0
5 6
";

#[test]
fn tecplot_text_is_read_in_both_packings() {
    let zones = tecplot(TWO).unwrap();

    assert_eq!(zones.names, ["left_one", "right"]);
    let [left, right] = &zones.grids[..] else { panic!("{zones:?}") };
    assert_eq!(
        (&left.x[..], &left.y[..]),
        (&[0., 1., 2., 0., 1., 2.][..], &[0., 0., 0., 1., 1., 1.][..])
    );
    assert_eq!(
        (&right.x[..], &right.y[..]),
        (&[2., 2.5, 3., 2., 2.5, 3.][..], &[0., 0., 0., 1., 1., 1.][..])
    );
    // They share the points of one side, each in its own order.
    let link = left.boundary().into_iter().find_map(|range| range.link()).unwrap();
    assert_eq!((link.block, link.side, link.nodes), (1, Side::Before, [0, 1]));
    assert_eq!(patches(left, Side::Below)[0].0, "jmin");
    let [found] = &interfaces(&zones.grids)[..] else { panic!() };
    assert_eq!((found.gap, found.kink_deg, found.growth, found.length), (0.0, 0.0, 2.0, 1.0));
}

#[test]
fn coordinates_of_tecplot_are_known_among_quantities_of_the_flow() {
    let zone = "ZONE I=2 J=2 F=BLOCK 7 8 9 9 0 1 0 1 9 8 7 7 0 0 1 1 3 1 4 1";
    for (x, y) in [
        ("X", "Y"),
        ("x [m]", "y(ft)"),
        ("CoordinateX", "y/c"),
        ("X_m", "Y coordinate"),
        ("X position", "Y_grid"),
    ] {
        let variables =
            format!("VARIABLES=\"y+\" \"{x}\" \"Y velocity\" \"{y}\" \"z-vorticity\"\n");

        let mesh = one(tecplot(&[&variables, zone].concat()));

        assert_eq!(
            (mesh.grid.x, mesh.grid.y),
            (vec![0.0, 1.0, 0.0, 1.0], vec![0.0, 0.0, 1.0, 1.0])
        );
    }
}

/// A grid as text with all digits.
pub(super) fn tecplot_of(grid: &Grid) -> String {
    let mut text = format!("variables = x y\nzone i={} j={}\n", grid.ni, grid.nj);
    for (x, y) in grid.x.iter().zip(&grid.y) {
        writeln!(text, "{x:?} {y:?}").unwrap();
    }
    text
}

/// The message with which a file is refused; its hint has these words.
#[track_caller]
fn refusal(read: Result<Contents, ReadError>, hint: &str) -> String {
    let error = read.unwrap_err();
    assert!(error.hint().unwrap().contains(hint), "{error}: {:?}", error.hint());
    error.to_string()
}

#[test]
fn what_is_wrong_in_a_tecplot_file_is_said_with_its_line() {
    let changes = [
        ("1 0 0 1 #", "1 O 0 1 #"),
        ("5 6\n", "5\n"),
        ("5 6\n", "5 6 7\n"),
        ("3*0.0", "30*0.0"),
        ("ZONETYPE=Ordered", "ZONETYPE=FEQUADRILATERAL"),
        ("F=POINT", "F=FEPOINT"),
        ("I=3, J", "I=x, J"),
        ("I=3, J", "I=300000000, J"),
        ("\"X [m]\"", "\"u\""),
        ("\"Y [m]\"", "Why"),
        ("DT=(", "VARSHARELIST=([1]=1) DT=("),
        ("([4]=", "([1]="),
        ("ZONE T", "GEOMETRY T"),
    ];
    let changed = changes.map(|(from, to)| TWO.replacen(from, to, 1));
    let others = ["ZONE I=2 J=2\n0 0 1 0 0 1 1 1", "TITLE = \"x\"\n"].map(str::to_owned);

    let said = changed.iter().chain(&others).map(|text| refusal(tecplot(text), "ordered zones"));

    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @r"
    mesh.anything: line 7: `O`, number 6 of 24 of the zone `left one` was expected
    mesh.anything: line 16: the end of the file, number 20 of 20 of the zone `right` was expected
    mesh.anything: line 16: `7`, TITLE, VARIABLES or ZONE was expected
    mesh.anything: line 14: `30*0.0`, number 7 of 20 of the zone `right` was expected
    mesh.anything: line 11: `FEQUADRILATERAL`, ZONETYPE=ORDERED was expected
    mesh.anything: line 5: `FEPOINT`, POINT or BLOCK of an ordered zone was expected
    mesh.anything: line 5: `x`, a number of nodes was expected
    mesh.anything: line 5: a zone of 300000000 × 2 × 1 nodes, far more than the file has numbers
    mesh.anything: line 5: the variables `u, Y [m], Z, p`, X and Y were expected before ZONE
    mesh.anything: line 5: the variables `X [m], Why, Z, p`, X and Y were expected before ZONE
    mesh.anything: line 11: `([1]=1)`, a zone with its own variables was expected
    mesh.anything: line 11: X and Y at the nodes of the zone were expected
    mesh.anything: line 5: `GEOMETRY`, TITLE, VARIABLES or ZONE was expected
    mesh.anything: line 1: the variables ``, X and Y were expected before ZONE
    mesh.anything: a Tecplot file without a zone of cells
    ");
}

/// The mesh with its points, its cells and the first corners of these in an arbitrary order, and cells of either sense.
fn shuffled(text: &str, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut order = |n: usize| {
        let mut all: Vec<usize> = (0..n).collect();
        for k in (1..n).rev() {
            all.swap(k, random.below(k + 1));
        }
        all
    };
    let lines: Vec<&str> = text.lines().collect();
    let at = |key: &str| lines.iter().position(|line| line.starts_with(key)).unwrap();
    let (cells, points, marks) = (at("NELEM"), at("NPOIN"), at("NMARK"));
    let new = order(marks - points - 1);
    let place = |word: &str| new[word.parse::<usize>().unwrap()];
    let mut made = vec![lines[0].to_owned(), lines[cells].to_owned()];
    for (turn, k) in order(points - cells - 1).into_iter().enumerate() {
        let words: Vec<&str> = lines[cells + 1 + k].split(' ').collect();
        let mut corners: Vec<usize> = words[1..5].iter().map(|word| place(word)).collect();
        corners.rotate_left(turn % 4);
        if turn % 3 == 0 {
            corners.reverse();
        }
        let corners: Vec<String> = corners.iter().map(ToString::to_string).collect();
        made.push(format!("9 {} {turn}", corners.join(" ")));
    }
    made.push(lines[points].to_owned());
    let mut moved = vec![String::new(); new.len()];
    for (k, to) in new.iter().enumerate() {
        let words: Vec<&str> = lines[points + 1 + k].split(' ').collect();
        moved[*to] = format!("{} {} {to}", words[0], words[1]);
    }
    made.extend(moved);
    for line in &lines[marks..] {
        let words: Vec<&str> = line.split(' ').collect();
        made.push(match words[..] {
            ["3", a, b] => format!("3 {} {}", place(a), place(b)),
            _ => (*line).to_owned(),
        });
    }
    made.join("\n")
}

#[test]
fn quadrilaterals_in_any_order_are_walked_to_the_same_grid() {
    for (number, grid) in grids().into_iter().enumerate() {
        let text = text_of(|out| su2::write_to(out, &[&grid], None));
        let text = text.replace("airfoil", "my-wing").replace("farfield", "outer");
        for seed in 1..6 {
            let mesh = one(su2_mesh(&shuffled(&text, seed)));

            assert_eq!((mesh.grid.ni, mesh.grid.nj), (grid.ni, grid.nj), "{number}, {seed}");
            assert_eq!((&mesh.grid.x, &mesh.grid.y), (&grid.x, &grid.y), "{number}, {seed}");
            let below = patches(&mesh.grid, Side::Below);
            assert_eq!(below, [("my-wing", None, [mesh.wall.from, mesh.wall.to])], "{number}");
            let above = patches(&mesh.grid, Side::Above);
            assert_eq!(above, [("outer", Some(SideKind::FarField), [0, grid.ni - 1])], "{number}");
        }
    }
}

#[test]
fn quadrilaterals_of_no_block_are_refused_with_the_place() {
    // Three quadrilaterals around a point, as in a hexagon.
    let star = "NDIME= 2\nNELEM= 3\n9 0 1 2 3\n9 0 3 4 5\n9 0 5 6 1\nNPOIN= 7\n\
                0.25 0.5\n1 0\n1 1\n0 1\n-1 0\n-1 -1\n0 -1\nNMARK= 0\n";
    // An L of three squares.
    let bend = "NDIME= 2\nNELEM= 3\n9 1 4 3 0\n9 4 7 6 3\n9 1 2 5 4\nNPOIN= 8\n\
                0 0\n1 0\n2 0\n0 1\n1 1\n2 1\n0 2\n1 2\nNMARK= 0\n";
    // Two squares apart.
    let apart = "NDIME= 2\nNELEM= 2\n9 0 1 2 3\n9 4 5 6 7\nNPOIN= 8\n\
                 0 0\n1 0\n1 1\n0 1\n5 0\n6 0\n6 1\n5 1\nNMARK= 0\n";
    let with = |from: &str, to: &str| star.replace(from, to);
    let texts = [
        star.to_owned(),
        bend.to_owned(),
        apart.to_owned(),
        with("9 0 5 6 1", "5 0 5 6"),
        with("9 0 5 6 1", "9 0 5 6 17"),
        with("9 0 5 6 1", "9 0 5 5 1"),
        with("NDIME= 2", "NDIME= 3"),
        with("NMARK= 0", "NMARK= 1\nMARKER_TAG= a\nMARKER_ELEMS= 1\n3 1"),
    ];

    let said = texts.map(|text| refusal(su2_mesh(&text), "one block of i and j"));

    insta::assert_snapshot!(said.join("\n"), @r"
    a.su2: 3 cells meet at the point 0 inside, x = 0.25, y = 0.5; 4 were expected of one block
    a.su2: 3 cells meet at the point 4 on the rim, x = 1, y = 1; 1 at a corner, 2 on a side or 4 at the end of a cut were expected of one block
    a.su2: a block of 1 of the 2 cells; one block of all was expected
    a.su2: line 5: `5 0 5 6`, 9 and the four points of a quadrilateral were expected
    a.su2: a cell has the point 17, numbers below 7 were expected
    a.su2: the cell 2 has the point 5 twice: it is no quadrilateral
    a.su2: NDIME= 2 was expected
    a.su2: line 17: `3 1`, 3 and the two points of an edge were expected
    ");
}

/// A channel of three blocks over a bump, made by blockMesh of OpenFOAM 1912.
fn bump() -> [Vec<u8>; 3] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/meshes/blockmesh-bump");
    ["points", "faces", "boundary"]
        .map(|name| fs::read(folder.join("constant/polyMesh").join(name)).unwrap())
}

/// The part of the patches of a mesh that a format keeps.
#[derive(Clone, Copy, PartialEq)]
enum Keeps {
    Names,
    /// The kinds of faces in a neutral map have no names.
    Kinds,
    Nothing,
}

/// All formats that are written, with names of files.
const WRITTEN: [(&str, &str, Keeps); 7] = [
    ("openfoam", "a", Keeps::Names),
    ("cgns", "a.cgns", Keeps::Names),
    ("su2", "a.su2", Keeps::Names),
    ("msh", "a.msh", Keeps::Names),
    ("plot3d", "a.p3d", Keeps::Kinds),
    ("vts", "a.vts", Keeps::Nothing),
    ("vtk", "a.vtk", Keeps::Nothing),
];

/// The mesh, written and read by a format; its nodes have the same bits, and its sides what the format keeps.
fn through(
    (format, name, keeps): (&str, &str, Keeps),
    mesh: &formats::Mesh,
    by: &str,
) -> formats::Mesh {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let written = Format::named(format).unwrap().convert(&path, &MeshData::from(&mesh.grid), false);
    written.unwrap_or_else(|error| panic!("{by} to {name}: {error}"));
    let again = formats::mesh(&path).unwrap_or_else(|error| panic!("{by} to {name}: {error}"));

    assert_eq!((&again.grid.x, &again.grid.y), (&mesh.grid.x, &mesh.grid.y), "{by} to {name}");
    let last = [mesh.grid.nj - 1, mesh.grid.ni - 1];
    for side in Side::ALL {
        let kept = |(name, kind, on): Found| match keeps {
            Keeps::Kinds => ("", kind, on),
            _ => (name, None, on),
        };
        let [mut before, after] = [&mesh.grid, &again.grid]
            .map(|grid| patches(grid, side).into_iter().map(kept).collect::<Vec<_>>());
        if keeps == Keeps::Nothing {
            let own = if side == Side::Below { "wall" } else { side.name() };
            before = vec![(own, None, [0, last[side.across()]])];
        }
        assert_eq!(after, before, "{by} to {name}");
    }
    let expected =
        if keeps == Keeps::Nothing { [0, last[1]] } else { [mesh.wall.from, mesh.wall.to] };
    assert_eq!([again.wall.from, again.wall.to], expected, "{by} to {name}");
    again
}

/// A channel with patches and one without: what each reader finds is written by every writer, and read again.
#[test]
fn channels_keep_nodes_and_patches_from_every_reader_through_every_writer() {
    let [points, faces, boundary] = bump();
    let mesh = one(contents_of_case(Path::new("bump"), [&points, &faces, &boundary]));
    // 14 × 4 cells, with the bump from x = 0 to 1 between two planes of symmetry.
    let formats::Mesh { grid, wall, .. } = &mesh;
    assert_eq!((grid.ni, grid.nj, grid.topology), (15, 5, Topology::Rectangle));
    assert_eq!((wall.from, wall.to, wall.closed), (4, 10, false));
    let below: Vec<_> =
        patches(grid, Side::Below).into_iter().map(|(name, _, on)| (name, on)).collect();
    assert_eq!(below, [("floor", [0, 4]), ("bump", [4, 10]), ("floor", [10, 14])]);
    let rest = [Side::Before, Side::Behind, Side::Above].map(|side| patches(grid, side)[0].0);
    assert_eq!(rest, ["inflow", "outflow", "top"]);
    assert_eq!((grid.point(0, 0), grid.point(14, 4)), ([-1.0, 0.0], [2.0, 1.0]));
    assert!((grid.point(7, 0)[1] - 0.1).abs() < 1e-9);
    assert_eq!(patches(grid, Side::Before)[0].1, Some(SideKind::Inlet));
    let plain = one(tecplot(&tecplot_of(&mesh.grid)));
    assert_eq!(patches(&plain.grid, Side::Below), [("wall", None, [0, 14])]);

    for (mesh, by) in [(&mesh, "OpenFOAM"), (&plain, "Tecplot")] {
        for written in WRITTEN {
            let read = through(written, mesh, by);
            for again in WRITTEN {
                through(again, &read, &format!("{by} to {}", written.1));
            }
        }
    }
}

/// Meshes that Gmsh 4.15.2 made by `make.py` beside them: two surfaces over a kink in structured CGNS, where the names of
/// donors differ from those of zones, and the quadrangles of four surfaces around a cylinder.
#[test]
fn meshes_of_gmsh_are_read_with_patches_and_links() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/meshes/gmsh");

    let zones = formats::contents(&folder.join("channel.cgns")).unwrap();
    let cylinder = formats::mesh(&folder.join("cylinder.msh")).unwrap();

    assert_eq!(zones.names, ["channel_S00001", "channel_S00002"]);
    let [left, right] = &zones.grids[..] else { panic!("{zones:?}") };
    assert_eq!(patches(left, Side::Below), [("wall", None, [0, 6])]);
    assert_eq!(patches(left, Side::Before), [("inflow", Some(SideKind::Inlet), [0, 4])]);
    assert_eq!(patches(right, Side::Behind), [("outflow", Some(SideKind::Outlet), [0, 4])]);
    let link = left.boundary().into_iter().find_map(|range| range.link()).unwrap();
    assert_eq!((link.block, link.side, link.nodes), (1, Side::Before, [0, 4]));
    let [found] = &interfaces(&zones.grids)[..] else { panic!() };
    assert!(found.gap == 0.0 && (found.kink_deg - 7.59).abs() < 0.05, "{found:?}");

    let (grid, wall) = (&cylinder.grid, cylinder.wall);
    assert_eq!((grid.ni, grid.nj), (21, 7));
    assert_eq!((wall.from, wall.to, wall.closed), (0, 20, true));
    assert_eq!(patches(grid, Side::Below), [("cylinder", None, [0, 20])]);
    assert_eq!(patches(grid, Side::Above), [("farfield", Some(SideKind::FarField), [0, 20])]);
    for i in 0..21 {
        let [inner, outer] = [0, 6].map(|j| grid.point(i, j)).map(|[x, y]| x.hypot(y));
        assert!((inner - 0.5).abs() < 1e-9 && (outer - 4.0).abs() < 1e-9, "{i}");
    }
    assert_eq!(measure(grid).folded_cells, 0);
}

/// Gmsh counts tags of groups within a dimension, and its names may have blanks.
#[test]
fn groups_of_gmsh_are_those_of_curves() {
    let text = text_of(|out| msh::write_to(out, &[&joukowski_grid(41, 9, 0.2)], None, 1));
    let changes = [
        ("2 3 \"fluid\"", "2 1 \"fluid\""),
        (" 1 3 2 1 2\n", " 1 1 2 1 2\n"),
        ("\"farfield\"", "\" far  away\""),
    ];
    let text = changes.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{from}: {text:.900}");
        text.replacen(from, to, 1)
    });

    let read = one(contents_from_bytes(Path::new("a.msh"), text.as_bytes(), None));

    assert_eq!(patches(&read.grid, Side::Below), [("airfoil", None, [0, 40])]);
    let far = [("far_away", Some(SideKind::FarField), [0, 40])];
    assert_eq!(patches(&read.grid, Side::Above), far);
}

#[test]
fn what_is_no_plane_block_of_openfoam_is_refused() {
    let [points, faces, boundary] = bump().map(|bytes| String::from_utf8(bytes).unwrap());
    let read = |points: &str, boundary: &str| {
        let files = [points.as_bytes(), faces.as_bytes(), boundary.as_bytes()];
        contents_of_case(Path::new("bump"), files)
    };
    let with = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    let point = |to: &str| with(&points, "(-1 0 0)", to);
    let sized = |size: &str| with(&boundary, "nFaces          4;", size);
    assert!(read(&point("(-1 1e-13 0)"), &boundary).is_ok());

    let said = [
        read(&with(&points, "ascii", "binary"), &boundary),
        read(&point("(-1 0.01 0)"), &boundary),
        read(&point("(-1 zero 0)"), &boundary),
        read(&points[..points.len() / 2], &boundary),
        read(&points, &sized("nFaces 4000;")),
        read(&points, &sized("")),
        // A face without points.
        contents_of_case(
            Path::new("bump"),
            [b"0()", b"1(0())", b"1(back { type empty; nFaces 1; startFace 0; })"],
        ),
    ]
    .map(|read| refusal(read, "polyMesh"));

    insta::assert_snapshot!(said.join("\n"), @r"
    bump: points, line 15: `format binary`, format ascii (foamFormatConvert writes it) was expected
    bump: no plane of faces whose points all others repeat along x, y or z
    bump: points, line 21: `zero`, a number was expected
    bump: points, line 83: the end of the file, a number was expected
    bump: the patch `inflow` ends behind the last of 242 faces
    bump: boundary, line 25: `inflow`, a patch with nFaces and startFace was expected
    bump: no plane of faces whose points all others repeat along x, y or z
    ");
}

/// Four blocks of 2 × 3 cells around one point, in the order and with the directions that make it hardest to weld them:
/// the first two meet at that point alone, and one has its cells clockwise.
fn four() -> String {
    let corner = [[0.0, 0.0], [2.0, 3.0], [2.0, 0.0], [0.0, 3.0]];
    let mut text = String::from("VARIABLES = X Y\n");
    for (k, [x, y]) in corner.into_iter().enumerate() {
        writeln!(text, "ZONE T=\"b{k}\" I=3 J=4 F=POINT").unwrap();
        for j in 0..4 {
            for i in 0..3 {
                let i = if k == 1 { 2 - i } else { i };
                writeln!(text, "{} {}", x + f64::from(i), y + f64::from(j)).unwrap();
            }
        }
    }
    text
}

#[test]
fn blocks_that_meet_at_a_point_are_welded_to_one() {
    let folder = tempfile::tempdir().unwrap();
    let contents = tecplot(&four()).unwrap();
    let noted = contents.notes.iter().any(|note| note.contains("b1: i was reversed"));
    assert!(noted, "{contents:?}");

    let path = converted(&contents, "su2", &folder, "four.su2");
    let mesh = formats::mesh(&path).unwrap();

    // One block of 4 × 6 cells; each of its 5 × 7 points is there once.
    assert!(fs::read_to_string(&path).unwrap().contains("NPOIN= 35\n"));
    let mut sizes = [mesh.grid.ni, mesh.grid.nj];
    sizes.sort_unstable();
    assert_eq!(sizes, [5, 7]);
    assert_eq!(measure(&mesh.grid).folded_cells, 0);

    // A marker is known by its name alone.
    let text = fs::read_to_string(&path).unwrap();
    let (before, after) = text.split_once("MARKER_TAG= ").unwrap();
    let (_, after) = after.split_once('\n').unwrap();
    for (name, condition) in
        [("noSlip", None), ("No_Slip_plate", None), ("plate-slip", Some(SideKind::Slip))]
    {
        let text = format!("{before}MARKER_TAG= {name}\n{after}");
        let mesh = one(su2_mesh(&text));
        let mut all = Side::ALL.into_iter().flat_map(|side| patches(&mesh.grid, side));
        assert!(all.any(|found| (found.0, found.1) == (name, condition)), "{name}");
    }
}

/// The four blocks as Plot3D with a map that names the outer sides.
fn mapped() -> (Vec<u8>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = converted(&tecplot(&four()).unwrap(), "plot3d", &folder, "four.p3d");
    let map = fs::read_to_string(path.with_extension("nmf")).unwrap();
    let map = map.replacen("FARFIELD        1  3 ", "INFLOW          1  3 ", 1);
    (fs::read(path).unwrap(), map.replacen("FARFIELD        1  5 ", "viscous_solid   1  5 ", 1))
}

#[test]
fn blocks_keep_patches_and_links_through_cgns_and_plot3d() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, map) = mapped();
    let zones = plot3d(&bytes, &map).unwrap();
    assert_eq!(patches(&zones.grids[0], Side::Below), [("airfoil", None, [0, 2])]);
    assert_eq!(patches(&zones.grids[0], Side::Before), [("inlet", Some(SideKind::Inlet), [0, 3])]);
    let ranges = zones.grids.iter().flat_map(Grid::boundary);
    assert_eq!(ranges.filter(|range| range.link().is_some()).count(), 8);

    assert_kept(&zones, |zones| zones.grids.clone());
    let files = Format::named("vts").unwrap();
    let files = files.convert(&folder.path().join("v1.2.vts"), &zones.data(), false).unwrap().files;
    let names = (1..=4).map(|k| folder.path().join(format!("v1.2.block-{k}.vts")));
    assert!(names.eq(files));
    let case = converted(&zones, "openfoam", &folder, "case");
    let list = fs::read_to_string(case.join("constant/polyMesh/boundary")).unwrap();
    assert!(["inlet", "airfoil", "frontAndBack"].iter().all(|name| list.contains(name)), "{list}");
}

/// The map of a channel between a wall and a plane of symmetry, its ends in x a period apart.
pub(super) const CHANNEL_MAP: &str = "1\n1 3 3 1\nVISCOUS 1 5 1 1 1 3\nSYMMETRY-Y 1 6 1 1 1 3\n\
    ONE_TO_ONE 1 3 1 3 1 1 1 4 1 3 1 1 FALSE\n";

/// A channel of 2 × 2 cells with this map.
pub(super) fn channel(map: &str) -> Result<Contents, ReadError> {
    plot3d(b"1\n3 3 1\n0 1 2 0 1 2 0 1 2 3*0 3*1 3*2 9*0\n", map)
}

#[test]
fn a_period_along_x_is_kept_by_every_format_that_has_periods() {
    let folder = tempfile::tempdir().unwrap();
    let contents = channel(CHANNEL_MAP).unwrap();
    let partners = |grid: &Grid| {
        let of = |range: Range| Some((range.on.side, range.partner()?.side));
        grid.boundary().into_iter().filter_map(of).collect::<Vec<_>>()
    };
    assert_eq!(partners(&contents.grids[0]).len(), 2, "{contents:?}");
    // The lower end is the one of smaller x, whichever face comes first; a face that runs backwards is no other end.
    let second_first = CHANNEL_MAP.replace("1 3 1 3 1 1 1 4 1 3 1 1", "1 4 1 3 1 1 1 3 1 3 1 1");
    assert_eq!(channel(&second_first).unwrap().grids, contents.grids);
    let said = refusal(channel(&CHANNEL_MAP.replace("1 4 1 3", "1 4 3 1")), "move it away");
    assert!(said.contains("whose nodes are all one vector apart"), "{said}");

    assert_kept(&contents, |contents| partners(&contents.grids[0]));
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let case = converted(&contents, "openfoam", &folder, "case");
    let list = text("case/constant/polyMesh/boundary");
    assert_eq!(list.matches("type cyclic;").count(), 2, "{list}");
    assert!(list.contains("separationVector (2e0 0e0 0)"), "{list}");
    assert_eq!(text("case/0/p").matches("type cyclic;").count(), 2);

    // The reader does not keep which sides are partners: neither patches nor fields are cyclic then.
    converted(&formats::contents(&case).unwrap(), "openfoam", &folder, "alone");
    for name in ["alone/constant/polyMesh/boundary", "alone/0/p", "alone/0/U"] {
        assert!(!text(name).contains("cyclic"), "{name}");
    }
}

/// Names of several walls are a regular expression in the fields.
#[test]
fn a_plus_sign_in_the_name_of_a_wall_is_a_letter_of_openfoam() {
    let folder = tempfile::tempdir().unwrap();
    let text = "NDIME= 2\nNELEM= 1\n9 0 1 2 3\nNPOIN= 4\n0 0\n1 0\n1 1\n0 1\nNMARK= 2\n\
                MARKER_TAG= wall+1\nMARKER_ELEMS= 1\n3 0 1\nMARKER_TAG= wall_2\nMARKER_ELEMS= 1\n3 2 3\n";
    let contents = su2_mesh(text).unwrap();

    let case = converted(&contents, "openfoam", &folder, "case");

    let velocity = fs::read_to_string(case.join("0/U")).unwrap();
    assert!(velocity.contains("\"(wall[+]1|wall_2)\" { type slip; }"), "{velocity}");
}

#[test]
fn the_map_of_a_mesh_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let (path, map) = (folder.path().join("a.p3d"), folder.path().join("a.nmf"));
    let grid = joukowski_grid(41, 9, 0.2);
    let write = |dimensions: u8| {
        let mut mesh = MeshData::from(&grid);
        mesh.settings.plot3d.dimensions = dimensions;
        Format::named("plot3d").unwrap().convert(&path, &mesh, false).unwrap().files
    };

    assert_eq!(write(3), [path.clone(), map.clone()]);
    assert_eq!(write(2), [&*path]);
    assert!(!map.exists());
    fs::write(&map, "mine").unwrap();
    write(2);
    assert_eq!(fs::read_to_string(&map).unwrap(), "mine");
}

#[test]
fn zones_have_names_of_their_own_that_cgns_can_hold() {
    let long = "the-flap-of-a-wing-with-a-very-long-name";
    let names = ["a", "a", "a.2", "a.3", "a", long, long];
    let zone = |(k, name): (usize, &&str)| {
        format!("ZONE T=\"{name}\" I=2 J=2\n{k} 0 {} 0 {k} 1 {} 1\n", k + 1, k + 1)
    };
    let text: String = names.iter().enumerate().map(zone).collect();

    let contents = tecplot(&["VARIABLES=X Y\n", &text].concat()).unwrap();

    let expected = ["a", "a.2", "a.2.3", "a.3", "a.5", &long[..32], &[&long[..27], ".7"].concat()];
    assert_eq!(contents.names, expected);
    let folder = tempfile::tempdir().unwrap();
    let path = converted(&contents, "cgns", &folder, "a.cgns");
    assert_eq!(formats::contents(&path).unwrap().names, contents.names);
}

#[test]
fn a_map_that_does_not_fit_is_refused_with_its_line() {
    let (bytes, map) = mapped();
    let texts = [
        ("\n4\n", "\n3\n"),
        ("INFLOW          1  3   1 4", "INFLOW          7  3   1 4"),
        ("INFLOW          1  3   1 4", "INFLOW          1  9   1 4"),
        ("INFLOW          1  3   1 4", "INFLOW          1  x   1 4"),
        ("INFLOW          1  3   1 4", "INFLOW          1  3   1 5"),
    ];

    let said =
        texts.map(|(from, to)| refusal(plot3d(&bytes, &map.replacen(from, to, 1)), "move it away"));

    insta::assert_snapshot!(said.join("\n"), @r"
    a.p3d: its neutral map, line 6: `3`, 4, the number of blocks of the mesh, was expected
    a.p3d: its neutral map, line 24: `INFLOW          7  3   1 4   1 2`, a face of a block of the mesh was expected
    a.p3d: its neutral map, line 24: `INFLOW          1  9   1 4   1 2`, a face of a block of the mesh was expected
    a.p3d: its neutral map, line 24: `INFLOW          1  x   1 4   1 2`, a name, a block, a face and its four indices was expected
    a.p3d: its neutral map, line 24: `INFLOW          1  3   1 5   1 2`, a face of a block of the mesh was expected
    ");
}

/// Two unit squares whose lines meet at an angle, and a gap between their points.
#[test]
fn interfaces_are_measured() {
    let zone = |name: &str, points: &[[f64; 2]]| {
        let points: Vec<String> = points.iter().map(|[x, y]| format!("{x} {y}\n")).collect();
        let points = points.concat();
        format!("ZONE T={name} I=2 J=2\n{points}")
    };
    let left = zone("a", &[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]);
    // The lower line falls by 30°, and is four times as long.
    let [c, s] = [4.0 * 30_f64.to_radians().cos(), 2.0];
    let right = zone("b", &[[1.0, 0.0], [1.0 + c, -s], [1.0, 1.0 + 1e-9], [5.0, 1.0 + 1e-9]]);
    let zones = tecplot(&format!("VARIABLES=X Y\n{left}{right}")).unwrap();

    let [found] = &interfaces(&zones.grids)[..] else { panic!("{zones:?}") };

    assert!((found.kink_deg - 30.0).abs() < 1e-9, "{found:?}");
    assert_eq!((found.kink_at, found.nodes), ([1.0, 0.0], 2));
    assert!((found.growth - 4.0).abs() < 1e-9 && (found.gap - 1e-9).abs() < 1e-15, "{found:?}");
    assert_eq!(found.sides, ["imax 0..1", "imin 0..1"]);
    let all = measure_blocks(&zones.grids);
    assert_eq!(all.folded_cells, 0);
    assert!(all.max_skewness > 0.3, "{all:?}");
}
