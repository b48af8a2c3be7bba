//! Meshes of several zones, read back from the files of a run.
#![allow(clippy::float_cmp, reason = "what is written is read back bit for bit")]

use std::f64::consts::PI;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use gridgen::formats::{self, FORMATS, Format, Holds, MeshFile};
use gridgen::generate::{BackendChoice, RunOptions, RunResult, run};
use gridgen::grid::Grid;
use hdf5_pure::{File, Group};
use support::documents;
use support::elements::assembly;

use super::cgns::{characters, ends, faces_told_of, integers, text};
use super::extruded::{FoamMesh, area};
use super::files::numbers;

const CASE: &str = r#"
name = "two"
[[element]]
name = "main"
geometry = { naca = "4412" }
grid = { ni = 49, nj = 17, first_cell = 5e-3 }
reach = 0.3
[[element]]
name = "flap"
geometry = { naca = "2412", trailing_edge = "blunt" }
grid = { ni = 37, nj = 13, first_cell = 1e-2, base_cells = 4 }
chord = 0.3
rigging = { to = "main", gap = 0.03, overlap = 0.0, deflection = 25 }
reach = 0.15
[background]
spacing = 0.08
growth = 1.5
far_field = 5
[overset]
chord = 2.0
[output]
formats = ["vts", "vtk", "plot3d", "cgns", "openfoam"]
pictures = false
"#;

fn made_in(folder: &Path, more: &str) -> RunResult {
    let case = assembly(&[CASE, more].concat());
    let mut options = RunOptions::new(folder.to_path_buf());
    options.backend = BackendChoice::Cpu;
    options.force = true;
    let made = run(&case, &options, &mut ()).unwrap();
    assert!(made.is_good(), "{}", made.verdict);
    made
}

/// Plane zones (background, main, flap), and the folder with their files.
fn plane() -> (&'static Path, &'static RunResult) {
    static MADE: OnceLock<RunResult> = OnceLock::new();
    let folder = Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/zones"));
    (folder, MADE.get_or_init(|| made_in(folder, "")))
}

const NAMES: [&str; 3] = ["background", "main", "flap"];

#[test]
fn a_multi_block_data_set_names_the_file_of_each_zone_and_plot3d_has_a_block_of_each() {
    let (folder, made) = plane();
    let index = fs::read_to_string(folder.join("mesh.vtm")).unwrap();

    let of = |key: &str| -> Vec<String> {
        let key = format!(" {key}=\"");
        let values = index.split(&key).skip(1);
        values.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    let blocks = formats::contents(&folder.join("mesh.p3d")).unwrap();

    assert_eq!(of("name"), NAMES);
    let notes = &blocks.notes;
    assert!(notes[0].contains("in the first of 3 blocks, a block count"), "{notes:?}");
    let size_and_nodes = |grid: &Grid| (grid.ni, grid.nj, grid.x.clone(), grid.y.clone());
    for (k, zone) in made.zones().iter().enumerate() {
        assert_eq!(zone.name, NAMES[k]);
        let file = formats::mesh(&folder.join(&of("file")[k])).unwrap().grid;
        for read in [&file, &blocks.grids[k]] {
            assert_eq!(size_and_nodes(read), size_and_nodes(zone.grid), "{}", zone.name);
        }
    }
    // Lengths are in reference chords: the wall extends from the nose at 0 to the edge at its length.
    let main = &made.elements[0].grid;
    let edge = (0..main.ni).map(|i| main.point(i, 0)[0]).fold(f64::NEG_INFINITY, f64::max);
    assert!((edge - 2.0).abs() < 1e-12, "{edge}");
}

/// ADflow's `readCGNSGrid.F90` reads them in this form.
#[test]
fn zones_of_a_cgns_file_have_names_and_marks_that_adflow_reads() {
    let (folder, made) = plane();
    let file = File::from_bytes(fs::read(folder.join("mesh.cgns")).unwrap()).unwrap();
    let base = file.group("Base").unwrap();

    for zone in made.zones() {
        let group = base.group(&format!("{}.00001", zone.name)).unwrap();
        let read = |name: &str| {
            group.dataset(&format!("GridCoordinates/{name}/ data")).unwrap().read_f64().unwrap()
        };
        // A plane zone is one cell thick.
        assert_eq!(read("CoordinateX"), zone.grid.x.repeat(2), "{}", zone.name);
        assert_eq!(read("CoordinateY"), zone.grid.y.repeat(2), "{}", zone.name);

        let conditions = group.group("ZoneBC").unwrap();
        let mut marked = Vec::new();
        for name in conditions.groups().unwrap() {
            let one = conditions.group(&name).unwrap();
            let family = characters(&one.group("FamilyName").unwrap());
            let marks = children(&one, "UserDefinedData_t");
            if !marks.is_empty() {
                assert_eq!(
                    (marks, &*characters(&one)),
                    (vec!["BCOverset".to_owned()], "UserDefined")
                );
                marked.push(ends(&one, "PointRange"));
            }
            if family == zone.name {
                assert_eq!(characters(&one), "BCWallViscous");
            }
        }
        let [ni, nj] = [zone.grid.ni, zone.grid.nj].map(|count| i32::try_from(count).unwrap());
        let rim = [vec![1, nj, 1], vec![ni, nj, 2]];
        let expected = if zone.has_wall() { vec![rim] } else { Vec::new() };
        assert_eq!(marked, expected, "{}", zone.name);
        assert_eq!(faces_told_of(&group).len(), faces_of(zone.grid), "{}", zone.name);
        if zone.has_wall() {
            assert!(base.group(zone.name).is_ok(), "a family");
        }
    }
}

/// Names of the children of a node with a label.
fn children(group: &Group, label: &str) -> Vec<String> {
    let is = |name: &String| text(&group.group(name).unwrap().attrs().unwrap()["label"]) == label;
    group.groups().unwrap().into_iter().filter(is).collect()
}

/// Faces on the six sides of a block of one layer.
fn faces_of(grid: &Grid) -> usize {
    2 * (grid.cells() + grid.ni - 1 + grid.nj - 1)
}

/// The numbers of a list in a field or in a list of zones, after the nth opening line.
fn list(text: &str, number: usize) -> Vec<f64> {
    let from = text.split("\n(\n").nth(number + 1).unwrap();
    from.split("\n)").next().unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

/// Checks the zone of each cell, and returns the zones by cell.
fn assert_zones(folder: &Path, made: &RunResult, layers: usize) -> Vec<usize> {
    let field = fs::read_to_string(folder.join("0/zoneID")).unwrap();
    let zone_of: Vec<usize> = list(&field, 0).into_iter().map(|zone| zone as usize).collect();
    let sets = fs::read_to_string(folder.join("constant/polyMesh/cellZones")).unwrap();
    for (number, zone) in made.zones().iter().enumerate() {
        let own: Vec<f64> =
            (0..zone_of.len()).filter(|k| zone_of[*k] == number).map(|k| k as f64).collect();
        assert_eq!(own.len(), zone.grid.cells() * layers, "{}", zone.name);
        // The first bracket opens the list of zones.
        assert_eq!(list(&sets, number + 1), own, "{}", zone.name);
    }
    zone_of
}

/// The mesh: every cell is closed, no face joins cells of two zones, and the cells of each zone fill its area.
fn assert_mesh(folder: &Path, made: &RunResult, (layers, length): (usize, f64)) -> FoamMesh {
    let zone_of = assert_zones(folder, made, layers);
    let mesh = FoamMesh::of(folder);
    let pairs = mesh.owner.iter().zip(&mesh.neighbour);
    let crossing: Vec<_> = pairs.filter(|(a, b)| zone_of[**a] != zone_of[**b]).collect();
    assert!(crossing.is_empty(), "{crossing:?}");

    let mut volumes = [0.0; 3];
    for ((volume, _), zone) in mesh.cells().into_iter().zip(zone_of) {
        volumes[zone] += volume;
    }

    for (volume, zone) in volumes.iter().zip(made.zones()) {
        let expected = length * area(zone.grid);
        assert!((volume / expected - 1.0).abs() < 1e-9, "{}: {volume}, {expected}", zone.name);
    }
    mesh
}

/// OpenFOAM must read the overset patch before others; walls have the names of elements.
#[test]
fn an_overset_case_of_openfoam_has_all_zones_in_one_mesh_and_its_overset_patch_first() {
    let (folder, made) = plane();

    let mesh = assert_mesh(&folder.join("openfoam"), made, (1, 1.0));

    let [background, main, flap] = made.zones()[..] else { panic!() };
    let [main, flap] = [main, flap].map(|zone| zone.grid.ni - 1);
    let mut start = mesh.neighbour.len();
    let expected = [
        ("overset overset", main + flap),
        ("main wall", main),
        ("flap wall", flap),
        ("farfield patch", 2 * (background.grid.ni - 1 + background.grid.nj - 1)),
        (
            "frontAndBack empty",
            2 * made.zones().iter().map(|zone| zone.grid.cells()).sum::<usize>(),
        ),
    ]
    .map(|(patch, faces)| {
        start += faces;
        format!("{patch} {faces} {}", start - faces)
    });
    assert_eq!(mesh.patches, expected);
}

/// The wall of the main element turns once like any closed line, minus the turn at its sharp edge, which has
/// no curvature.
#[test]
fn the_curvature_of_a_wall_adds_up_to_its_turn() {
    let (folder, made) = plane();
    let field = fs::read_to_string(folder.join("openfoam/0/wallCurvature")).unwrap();
    let curvature = list(&field, 0);
    let main = &made.elements[0].grid;

    let turn: f64 = curvature
        .iter()
        .enumerate()
        .map(|(i, curvature)| {
            let ([ax, ay], [bx, by]) = (main.point(i, 0), main.point(i + 1, 0));
            curvature * (bx - ax).hypot(by - ay)
        })
        .sum();

    let (edge, after, before) = (main.point(0, 0), main.point(1, 0), main.point(main.ni - 2, 0));
    let direction = |to: [f64; 2]| (to[1] - edge[1]).atan2(to[0] - edge[0]);
    let wedge = (direction(after) - direction(before)).abs();
    let wedge = wedge.min(2.0 * PI - wedge);
    // The edge takes half of a full turn, minus its wedge angle.
    assert!((turn + PI + wedge).abs() < 1e-9, "{turn}, {wedge}");
}

/// A voxel is small compared with the gap, and the box contains all walls.
#[test]
fn holes_are_cut_in_a_box_of_small_voxels() {
    let (folder, made) = plane();
    let schemes = fs::read_to_string(folder.join("openfoam/system/fvSchemes")).unwrap();
    let numbers = |key: &str| -> Vec<f64> {
        let rest = schemes.split(&format!("{key} ")).nth(1).unwrap().split(';').next().unwrap();
        let words = rest.split(['(', ')', ' ']).filter(|word| !word.is_empty());
        words.map(|word| word.parse().unwrap()).collect()
    };

    let (bounds, divisions) = (numbers("searchBox"), numbers("searchBoxDivisions"));

    for c in 0..2 {
        let voxel = (bounds[c + 3] - bounds[c]) / divisions[c];
        // The gap is 0.03 of a chord of 2.
        assert!(voxel <= 0.06 / 6.0, "{voxel}");
        for made in &made.elements {
            let line = if c == 0 { &made.grid.x } else { &made.grid.y };
            assert!(line[..made.grid.ni].iter().all(|at| bounds[c] < *at && *at < bounds[c + 3]));
        }
    }
    assert_eq!(divisions[2], 1.0);
}

#[test]
fn extruded_zones_have_all_layers() {
    let more = "span = 0.5\nspan_cells = 3\nsides = \"periodic\"\n";
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();

    let made = made_in(folder, more);

    // The span is in chords, like all lengths of the case; the reference chord is 2 long.
    assert_mesh(&folder.join("openfoam"), &made, (3, 1.0));
    let file = File::from_bytes(fs::read(folder.join("mesh.cgns")).unwrap()).unwrap();
    let size = integers(&file.group("Base/flap.00001").unwrap(), ".");
    assert_eq!(size, [37, 13, 4, 36, 12, 3, 0, 0, 0]);
    let p3d = numbers(&fs::read_to_string(folder.join("mesh.p3d")).unwrap());
    assert_eq!(p3d[7..10], [37.0, 13.0, 4.0]);
}

#[test]
fn the_documents_have_all_files_of_zones() {
    let rows = FORMATS.iter().flat_map(|Format { name, files, refuses_zones, .. }| {
        let refused = refuses_zones.map(|reason| format!("| `{name}` |  | refused: {reason} |"));
        let held = files.iter().filter(|file| file.holds != Holds::Section);
        let held = held.map(move |MeshFile { names: [file, _], holds, .. }| match holds {
            Holds::One => {
                let file = file.replacen('.', ".flap.", 1);
                format!("| `{name}` | `{file}` | one for each zone: ")
            }
            _ => format!("| `{name}` | `{file}` | "),
        });
        refused.into_iter().chain(held)
    });
    documents::assert_rows("docs/overset.md", "| word | file |", &rows.collect::<Vec<_>>());
}
