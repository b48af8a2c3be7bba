//! Readers of Tecplot text, of quadrilaterals in any order, of cases of OpenFOAM, and of several zones.
#![allow(clippy::float_cmp, reason = "what is written is read back bit for bit")]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use gridgen::formats::{self, Contents, Format, MeshData, ReadError, Zones};
use gridgen::formats::{contents_from_bytes, contents_of_case, su2};
use gridgen::grid::boundary::{Range, Side};
use gridgen::grid::quality::{WallLine, interfaces, measure, measure_blocks};
use gridgen::grid::{Grid, SideKind, Topology};
use support::grids::joukowski_grid;
use support::random::Random;

use super::{grids, text_of};

fn tecplot(text: &str) -> Result<Contents, ReadError> {
    contents_from_bytes(Path::new("mesh.dat"), text.as_bytes(), None)
}

#[track_caller]
fn several(contents: Contents) -> Zones {
    let Contents::Several(zones) = contents else { panic!("{contents:?}") };
    zones
}

#[track_caller]
fn one(contents: Contents) -> formats::Mesh {
    let Contents::One(mesh) = contents else { panic!("{contents:?}") };
    mesh
}

/// Name, condition and nodes of a patch.
type Found = (&'static str, Option<SideKind>, [usize; 2]);

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
    let zones = several(tecplot(TWO).unwrap());

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

/// A grid as text with all digits.
fn tecplot_of(grid: &Grid) -> String {
    let mut text = format!("variables = x y\nzone i={} j={}\n", grid.ni, grid.nj);
    for (x, y) in grid.x.iter().zip(&grid.y) {
        writeln!(text, "{x:?} {y:?}").unwrap();
    }
    text
}

#[test]
fn one_zone_of_tecplot_is_a_mesh_with_all_digits() {
    let grid = joukowski_grid(41, 9, 0.2);

    let text = tecplot_of(&grid);
    let mesh = formats::mesh_from_bytes(Path::new("mesh.anything"), text.as_bytes()).unwrap();

    assert_eq!((mesh.grid.x, mesh.grid.y), (grid.x, grid.y));
    assert!(matches!(mesh.grid.topology, Topology::O(_)));
}

#[test]
fn what_is_wrong_in_a_tecplot_file_is_said_with_its_line() {
    let with = |from: &str, to: &str| TWO.replacen(from, to, 1);
    for (text, said) in [
        (
            with("1 0 0 1 #", "1 O 0 1 #"),
            "line 7: `O`, number 6 of 24 of the zone `left one` was expected",
        ),
        (
            with("5 6\n", "5\n"),
            "the end of the file, number 20 of 20 of the zone `right` was expected",
        ),
        (with("5 6\n", "5 6 7\n"), "line 16: `7`, TITLE, VARIABLES or ZONE was expected"),
        (with("3*0.0", "30*0.0"), "`30*0.0`, number 7 of 20 of the zone `right` was expected"),
        (
            with("ZONETYPE=Ordered", "ZONETYPE=FEQUADRILATERAL"),
            "line 11: `FEQUADRILATERAL`, ZONETYPE=ORDERED was",
        ),
        (
            with("F=POINT", "F=FEPOINT"),
            "line 5: `FEPOINT`, POINT or BLOCK of an ordered zone was expected",
        ),
        (with("I=3, J", "I=x, J"), "line 5: `x`, a number of nodes was expected"),
        (
            with("I=3, J", "I=300000000, J"),
            "line 5: a zone of 300000000 × 2 × 1 nodes, far more than the file",
        ),
        (with("\"X [m]\"", "\"u\""), ", X and Y were expected before ZONE"),
        (with("\"Y [m]\"", "Why"), ", X and Y were expected before ZONE"),
        (with("DT=(", "VARSHARELIST=([1]=1) DT=("), "a zone with its own variables was expected"),
        (with("([4]=", "([1]="), "X and Y at the nodes of the zone were expected"),
        (
            "ZONE I=2 J=2\n0 0 1 0 0 1 1 1".to_owned(),
            "line 1: the variables ``, X and Y were expected before ZONE",
        ),
        ("TITLE = \"x\"\n".to_owned(), "a Tecplot file without a zone of cells"),
        (with("ZONE T", "GEOMETRY T"), "line 5: `GEOMETRY`, TITLE, VARIABLES or ZONE was expected"),
    ] {
        let error = tecplot(&text).unwrap_err();

        assert!(error.to_string().contains(said), "{said}: {error}");
        assert!(error.hint().is_some(), "{error}");
    }
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
            let mesh =
                formats::mesh_from_bytes(Path::new("a.su2"), shuffled(&text, seed).as_bytes());
            let mesh = mesh.unwrap_or_else(|error| panic!("{number}, {seed}: {error}"));

            assert_eq!((mesh.grid.ni, mesh.grid.nj), (grid.ni, grid.nj), "{number}, {seed}");
            assert_eq!((&mesh.grid.x, &mesh.grid.y), (&grid.x, &grid.y), "{number}, {seed}");
            let wall = WallLine { from: mesh.wall.from, ..mesh.wall };
            let below = patches(&mesh.grid, Side::Below);
            assert_eq!(below, [("my-wing", None, [wall.from, wall.to])], "{number}");
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
    for (text, said) in [
        (
            star.to_owned(),
            "3 cells meet at the point 0 inside, x = 0.25, y = 0.5; 4 were expected of one block",
        ),
        (
            bend.to_owned(),
            "3 cells meet at the point 4 on the rim, x = 1, y = 1; 1 at a corner, 2 on a side or 4",
        ),
        (apart.to_owned(), "a block of 1 of the 2 cells; one block of all was expected"),
        (
            star.replace("9 0 5 6 1", "5 0 5 6"),
            "line 5: `5 0 5 6`, 9 and the four points of a quadrilateral were expected",
        ),
        (
            star.replace("9 0 5 6 1", "9 0 5 6 17"),
            "a cell has the point 17, numbers below 7 were expected",
        ),
        (star.replace("9 0 5 6 1", "9 0 5 5 1"), "the cell 2 has the point 5 twice"),
        (star.replace("NDIME= 2", "NDIME= 3"), "NDIME= 2 was expected"),
        (
            star.replace("NMARK= 0", "NMARK= 1\nMARKER_TAG= a\nMARKER_ELEMS= 1\n3 1"),
            "line 17: `3 1`, 3 and the two points",
        ),
    ] {
        let error = formats::mesh_from_bytes(Path::new("a.su2"), text.as_bytes()).unwrap_err();

        assert!(error.to_string().contains(said), "{said}: {error}");
        assert!(error.hint().unwrap().contains("one block of i and j"), "{:?}", error.hint());
    }
}

/// A channel of three blocks over a bump, made by blockMesh of OpenFOAM 1912.
fn bump() -> [Vec<u8>; 3] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/meshes/blockmesh-bump");
    ["points", "faces", "boundary"]
        .map(|name| fs::read(folder.join("constant/polyMesh").join(name)).unwrap())
}

/// Asserts the channel: 14 × 4 cells, the bump from x = 0 to 1 between two planes of symmetry.
#[track_caller]
fn assert_channel(grid: &Grid, wall: WallLine, by: &str) {
    assert_eq!((grid.ni, grid.nj, grid.topology), (15, 5, Topology::Rectangle), "{by}");
    assert_eq!((wall.from, wall.to, wall.closed), (4, 10, false), "{by}");
    let names: Vec<_> =
        patches(grid, Side::Below).into_iter().map(|(name, _, on)| (name, on)).collect();
    assert_eq!(names, [("floor", [0, 4]), ("bump", [4, 10]), ("floor", [10, 14])], "{by}");
    let rest = [Side::Before, Side::Behind, Side::Above].map(|side| patches(grid, side)[0].0);
    assert_eq!(rest, ["inflow", "outflow", "top"], "{by}");
    assert_eq!((grid.point(0, 0), grid.point(14, 4)), ([-1.0, 0.0], [2.0, 1.0]), "{by}");
    assert!((grid.point(7, 0)[1] - 0.1).abs() < 1e-9, "{by}");
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
    let written = Format::named(format).unwrap().convert(&path, &mesh.data(), false);
    written.unwrap_or_else(|error| panic!("{by} to {name}: {error}"));
    let again = formats::mesh(&path).unwrap_or_else(|error| panic!("{by} to {name}: {error}"));

    assert_eq!((&again.grid.x, &again.grid.y), (&mesh.grid.x, &mesh.grid.y), "{by} to {name}");
    let last = [mesh.grid.nj - 1, mesh.grid.ni - 1];
    for side in Side::ALL {
        let [before, after] = [&mesh.grid, &again.grid].map(|grid| patches(grid, side));
        let names = |found: &[Found]| -> Vec<_> {
            found.iter().map(|(name, _, on)| (*name, *on)).collect()
        };
        let kinds = |found: &[Found]| -> Vec<_> {
            found.iter().map(|(_, kind, on)| (*kind, *on)).collect()
        };
        match keeps {
            Keeps::Names => assert_eq!(names(&after), names(&before), "{by} to {name}"),
            Keeps::Kinds => assert_eq!(kinds(&after), kinds(&before), "{by} to {name}"),
            Keeps::Nothing => {
                let own = if side == Side::Below { "wall" } else { side.name() };
                assert_eq!(names(&after), [(own, [0, last[side.across()]])], "{by} to {name}");
            }
        }
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
    let mesh = one(contents_of_case(Path::new("bump"), [&points, &faces, &boundary]).unwrap());
    assert_channel(&mesh.grid, mesh.wall, "OpenFOAM");
    assert_eq!(patches(&mesh.grid, Side::Before)[0].1, Some(SideKind::Inlet));
    let plain = one(tecplot(&tecplot_of(&mesh.grid)).unwrap());
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

    let zones = several(formats::contents(&folder.join("channel.cgns")).unwrap());
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

#[test]
fn what_is_no_plane_block_of_openfoam_is_refused() {
    let [points, faces, boundary] = bump().map(|bytes| String::from_utf8(bytes).unwrap());
    let read = |points: &str, boundary: &str| {
        let files = [points.as_bytes(), faces.as_bytes(), boundary.as_bytes()];
        contents_of_case(Path::new("bump"), files)
    };
    let refused = |points: &str, boundary: &str, reason: &str| {
        let error = read(points, boundary).unwrap_err();
        assert!(error.hint().unwrap().contains("polyMesh"), "{:?}", error.hint());
        assert!(error.to_string().contains(reason), "{error}");
    };
    let with = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };

    let point = |to: &str| with(&points, "(-1 0 0)", to);
    for (points, reason) in [
        (with(&points, "ascii", "binary"), "points, line 15: `format binary`, format ascii"),
        (point("(-1 0.01 0)"), "no plane of faces whose points all others repeat"),
        (point("(-1 zero 0)"), "points, line 21: `zero`, a number was expected"),
        (points[..points.len() / 2].to_owned(), "was expected"),
    ] {
        refused(&points, &boundary, reason);
    }
    let sized = |size: &str| with(&boundary, "nFaces          4;", size);
    refused(&points, &sized("nFaces 4000;"), "the patch `inflow` ends behind the last of");
    refused(&points, &sized(""), "a patch with nFaces and startFace was expected");
    assert!(read(&point("(-1 1e-13 0)"), &boundary).is_ok());
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
    let noted = contents.notes().iter().any(|note| note.contains("b1: i was reversed"));
    assert!(noted, "{contents:?}");

    let path = folder.path().join("four.su2");
    Format::named("su2").unwrap().convert(&path, &contents.data(), false).unwrap();
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
        let mesh = one(contents_from_bytes(&path, text.as_bytes(), None).unwrap());
        let mut all = Side::ALL.into_iter().flat_map(|side| patches(&mesh.grid, side));
        assert!(all.any(|found| (found.0, found.1) == (name, condition)), "{name}");
    }
}

/// The four blocks as Plot3D with a map that names the outer sides.
fn mapped() -> (Vec<u8>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("four.p3d");
    let contents = tecplot(&four()).unwrap();
    Format::named("plot3d").unwrap().convert(&path, &contents.data(), false).unwrap();
    let map = fs::read_to_string(path.with_extension("nmf")).unwrap();
    let map = map.replacen("FARFIELD        1  3 ", "INFLOW          1  3 ", 1);
    (fs::read(path).unwrap(), map.replacen("FARFIELD        1  5 ", "viscous_solid   1  5 ", 1))
}

#[test]
fn blocks_keep_patches_and_links_through_cgns_and_plot3d() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, map) = mapped();
    let read = contents_from_bytes(Path::new("a.p3d"), &bytes, Some(map.as_bytes())).unwrap();
    let zones = several(read.clone());
    assert_eq!(patches(&zones.grids[0], Side::Below), [("airfoil", None, [0, 2])]);
    assert_eq!(patches(&zones.grids[0], Side::Before), [("inlet", Some(SideKind::Inlet), [0, 3])]);
    let ranges = zones.grids.iter().flat_map(Grid::boundary);
    assert_eq!(ranges.filter(|range| range.link().is_some()).count(), 8);

    for (format, name) in [("cgns", "a.cgns"), ("plot3d", "b.p3d")] {
        let path = folder.path().join(name);
        Format::named(format).unwrap().convert(&path, &read.data(), false).unwrap();
        let again = several(formats::contents(&path).unwrap());

        assert_eq!(again.grids, zones.grids, "{name}");
    }
    let (blocks, case) = (MeshData { span: None, ..read.data() }, folder.path().join("case"));
    Format::named("openfoam").unwrap().convert(&case, &blocks, false).unwrap();
    let list = fs::read_to_string(case.join("constant/polyMesh/boundary")).unwrap();
    assert!(["inlet", "airfoil", "frontAndBack"].iter().all(|name| list.contains(name)), "{list}");
}

#[test]
fn a_map_that_does_not_fit_is_refused_with_its_line() {
    let (bytes, map) = mapped();
    let line = 1 + map.lines().position(|line| line.starts_with("INFLOW")).unwrap();
    let with = |words: &str| map.replacen("INFLOW          1  3   1 4", words, 1);
    for (changed, said) in [
        (
            map.replacen("\n4\n", "\n3\n", 1),
            "line 6: `3`, 4, the number of blocks of the mesh, was",
        ),
        (with("INFLOW          7  3   1 4"), &*format!("line {line}: `INFLOW")),
        (with("INFLOW          1  9   1 4"), "a face of a block of the mesh was expected"),
        (with("INFLOW          1  x   1 4"), "its four indices was expected"),
        (with("INFLOW          1  3   1 5"), "a face of a block"),
    ] {
        assert_ne!(changed, map);
        let error =
            contents_from_bytes(Path::new("a.p3d"), &bytes, Some(changed.as_bytes())).unwrap_err();

        assert!(error.to_string().contains(said), "{said}: {error}");
        assert!(error.hint().unwrap().contains("move it away"), "{:?}", error.hint());
    }
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
    let zones = several(tecplot(&format!("VARIABLES=X Y\n{left}{right}")).unwrap());

    let [found] = &interfaces(&zones.grids)[..] else { panic!("{zones:?}") };

    assert!((found.kink_deg - 30.0).abs() < 1e-9, "{found:?}");
    assert_eq!((found.kink_at, found.nodes), ([1.0, 0.0], 2));
    assert!((found.growth - 4.0).abs() < 1e-9 && (found.gap - 1e-9).abs() < 1e-15, "{found:?}");
    assert_eq!(found.sides, ["imax 0..1", "imin 0..1"]);
    let all = measure_blocks(&zones.grids);
    assert_eq!(all.folded_cells, 0);
    assert!(all.max_skewness > 0.3, "{all:?}");
}
