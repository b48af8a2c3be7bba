//! CGNS files, read back by another implementation of HDF5.

#![allow(clippy::float_cmp, reason = "what is written is read back bit for bit")]

use std::collections::{HashMap, HashSet};

use gridgen::formats::{MeshData, Sides, Span, cgns};
use gridgen::grid::boundary::{Meets, Outside, Patch, Range, Segment, Side, SideKind};
use gridgen::grid::{Grid, Topology};
use hdf5_pure::{AttrValue, File, Group};
use support::grids::{half_grid, joukowski_grid, parabolic_grid};

const SYMMETRY: Span = Span { length: 0.7, cells: 3, sides: Sides::Symmetry };

/// The written file, opened by the other implementation.
fn written(grid: &Grid, span: Option<Span>) -> File {
    let zones = MeshData::from(grid).zones;
    File::from_bytes(super::written(|out| cgns::write_to(out, &zones, span))).unwrap()
}

fn zone(file: &File) -> Group {
    file.group("Base/grid").unwrap()
}

/// O- and C-grids and half an O-grid, plane and extruded.
fn all() -> impl Iterator<Item = (Grid, Option<Span>)> {
    [None, Some(SYMMETRY)].into_iter().flat_map(|span| super::grids().map(|grid| (grid, span)))
}

pub(super) fn text(value: &AttrValue) -> &str {
    match value {
        AttrValue::String(text) | AttrValue::AsciiString(text) => text,
        AttrValue::AsciiStringSized { value, .. } | AttrValue::StringSized { value, .. } => value,
        other => panic!("{other:?}"),
    }
}

/// The text in a node.
pub(super) fn characters(group: &Group) -> String {
    let bytes = group.dataset(" data").unwrap().read_i8().unwrap();
    bytes.into_iter().map(|byte| char::from(byte as u8)).collect()
}

pub(super) fn integers(group: &Group, node: &str) -> Vec<i32> {
    group.dataset(&format!("{node}/ data")).unwrap().read_i32().unwrap()
}

/// First and last point of a node, in each direction.
pub(super) fn ends(group: &Group, node: &str) -> [Vec<i32>; 2] {
    let ends = integers(group, node);
    let (first, last) = ends.split_at(ends.len() / 2);
    [first.to_vec(), last.to_vec()]
}

/// The points of a zone in three dimensions, by indices from 1.
fn points(grid: &Grid, span: Option<Span>) -> impl Fn(&[i32]) -> [f64; 3] {
    move |at| {
        let [x, y] = grid.point(at[0] as usize - 1, at[1] as usize - 1);
        let z = at.get(2).zip(span).map_or(0.0, |(k, span)| span.z(*k as usize - 1));
        [x, y, z]
    }
}

#[test]
fn every_node_has_a_name_a_label_and_a_type() {
    fn walk(group: &Group, nodes: &mut Vec<[String; 3]>) {
        for name in group.groups().unwrap() {
            let child = group.group(&name).unwrap();
            let attributes = child.attrs().unwrap();
            let of = |key: &str| text(&attributes[key]).to_owned();
            assert_eq!(of("name"), name);
            nodes.push([name, of("label"), of("type")]);
            walk(&child, nodes);
        }
    }
    let file = written(&parabolic_grid(43, 15, 9), Some(SYMMETRY));
    let mut nodes = Vec::new();

    walk(&file.group("/").unwrap(), &mut nodes);

    let labels: HashMap<&str, [&str; 2]> =
        nodes.iter().map(|[name, label, kind]| (&**name, [&**label, &**kind])).collect();
    assert_eq!(labels["CGNSLibraryVersion"], ["CGNSLibraryVersion_t", "R4"]);
    assert_eq!(labels["Base"], ["CGNSBase_t", "I4"]);
    assert_eq!(labels["grid"], ["Zone_t", "I4"]);
    assert_eq!(labels["ZoneType"], ["ZoneType_t", "C1"]);
    assert_eq!(labels["CoordinateX"], ["DataArray_t", "R8"]);
    assert_eq!(labels["cut_first"], ["GridConnectivity1to1_t", "C1"]);
    assert_eq!(labels["Transform"], ["\"int[IndexDimension]\"", "I4"]);
    assert_eq!(labels["ZoneBC"], ["ZoneBC_t", "MT"]);
}

/// The faces of cells in all boundary conditions and connections of a zone, by the direction across and their first point;
/// each is there once.
pub(super) fn faces_told_of(zone: &Group) -> HashSet<(usize, Vec<i32>)> {
    let mut faces = HashSet::new();
    for list in ["ZoneBC", "ZoneGridConnectivity"] {
        let list = zone.group(list).unwrap();
        for name in list.groups().unwrap() {
            let [first, last] = ends(&list.group(&name).unwrap(), "PointRange");
            let across = (0..first.len()).find(|&d| first[d] == last[d]).unwrap();
            // The cells of the range, which has one layer in the direction across.
            let mut cells = vec![Vec::new()];
            for d in 0..first.len() {
                let along: Vec<i32> =
                    if d == across { vec![first[d]] } else { (first[d]..last[d]).collect() };
                cells = cells
                    .iter()
                    .flat_map(|cell| along.iter().map(|k| [&cell[..], &[*k]].concat()))
                    .collect();
            }
            for cell in cells {
                assert!(faces.insert((across, cell.clone())), "{name} {cell:?}");
            }
        }
    }
    faces
}

#[test]
fn coordinates_are_exact_the_rim_is_covered_once_and_points_that_meet_are_the_same() {
    for (grid, span) in all() {
        let file = written(&grid, span);
        let (zone, planes) = (zone(&file), span.map_or(1, |span| span.planes()));
        let read = |name: &str| {
            let array = zone.dataset(&format!("GridCoordinates/{name}/ data")).unwrap();
            (array.shape().unwrap(), array.read_f64().unwrap())
        };
        let shape = [planes, grid.nj, grid.ni].map(|n| n as u64);
        let shape = if span.is_some() { &shape[..] } else { &shape[1..] };
        assert_eq!(read("CoordinateX"), (shape.to_vec(), grid.x.repeat(planes)));
        assert_eq!(read("CoordinateY"), (shape.to_vec(), grid.y.repeat(planes)));
        if let Some(span) = span {
            let z = (0..planes).flat_map(|k| vec![span.z(k); grid.ni * grid.nj]).collect();
            assert_eq!(read("CoordinateZ"), (shape.to_vec(), z));
            assert_eq!(integers(&file.group("Base").unwrap(), "."), [3, 3]);
        }

        let size = &integers(&zone, ".")[..shape.len()];
        let cells = |d: usize| size[d] as usize - 1;
        let rim: usize = (0..size.len())
            .map(|d| 2 * (0..size.len()).filter(|e| *e != d).map(cells).product::<usize>())
            .sum();
        assert_eq!(faces_told_of(&zone).len(), rim);

        let list = zone.group("ZoneGridConnectivity").unwrap();
        let half = matches!(grid.topology, Topology::Half(_));
        assert_eq!(list.groups().unwrap().is_empty(), half);
        let point = points(&grid, span);
        for name in list.groups().unwrap() {
            let node = list.group(&name).unwrap();
            let ([first, last], [donor, donor_last]) =
                (ends(&node, "PointRange"), ends(&node, "PointRangeDonor"));
            let transform = integers(&node, "Transform");
            let met = |at: &[i32]| -> Vec<i32> {
                let mut met = donor.clone();
                for (d, t) in transform.iter().enumerate() {
                    met[t.unsigned_abs() as usize - 1] += t.signum() * (at[d] - first[d]);
                }
                met
            };

            assert_eq!(met(&last), donor_last, "{name}");
            assert_eq!(transform.iter().product::<i32>().signum(), 1, "{name} turns the hand");
            for i in first[0]..=last[0] {
                for j in first[1]..=last[1] {
                    let at = [&[i, j], &first[2..]].concat();
                    assert_eq!(point(&at), point(&met(&at)), "{name} {at:?}");
                }
            }
            assert_eq!(characters(&node), "grid");
        }
    }
}

/// Half a grid has a plane of symmetry beside its sides.
#[test]
fn boundaries_belong_to_families_with_their_condition() {
    let plane = "BCSymmetryPlane";
    for (grid, boundary, range, families, conditions) in [
        (
            parabolic_grid(43, 15, 9),
            "airfoil",
            [[10, 1, 1], [34, 1, 4]],
            &[("outflow_last", "farfield"), ("symmetry_first", "symmetry")][..],
            [("airfoil", "BCWallViscous"), ("farfield", "BCFarfield"), ("symmetry", plane)],
        ),
        (
            half_grid(21, 23),
            "symmetry_last",
            [[21, 1, 1], [21, 23, 4]],
            &[
                ("symmetry_first", "symmetry"),
                ("symmetry_last", "symmetry"),
                ("back", "back"),
                ("front", "front"),
            ],
            [("symmetry", plane), ("back", plane), ("front", plane)],
        ),
    ] {
        let file = written(&grid, Some(SYMMETRY));
        let zone = zone(&file);
        let text = |path: String| characters(&file.group(&path).unwrap());

        assert_eq!(ends(&zone, &format!("ZoneBC/{boundary}/PointRange")), range);
        for (name, expected) in families {
            assert_eq!(text(format!("Base/grid/ZoneBC/{name}/FamilyName")), *expected);
        }
        for (name, expected) in conditions {
            assert_eq!(text(format!("Base/{name}/FamilyBC")), expected);
        }
    }
}

/// An O-grid of 41 × 23 nodes with these patches.
fn with_patches<const N: usize>(patches: [(Side, [usize; 2], Patch); N]) -> Grid {
    let ranges = patches.map(|(side, nodes, patch)| Range {
        on: Segment { block: 0, side, nodes },
        meets: Meets::Patch(patch),
    });
    Grid { outside: Some(Outside::of_ranges(ranges.to_vec())), ..joukowski_grid(41, 23, 0.2) }
}

/// CGNS takes 32 letters, of which pieces of one name need some for their numbers.
#[test]
fn pieces_of_long_names_have_names_of_their_own() {
    let name = |k: usize| format!("upper_wall_of_the_test_section_{}", k % 2);
    let piece = |k: usize| (Side::Above, [10 * k, 10 * k + 10], Patch::named(&name(k), None));

    let file = written(&with_patches([0, 1, 2, 3].map(piece)), None);

    let boundaries = zone(&file).group("ZoneBC").unwrap();
    let names = boundaries.groups().unwrap();
    assert_eq!(HashSet::<&String>::from_iter(&names).len(), 4, "{names:?}");
    for (k, at) in [[1, 11], [11, 21], [21, 31], [31, 41]].into_iter().enumerate() {
        let here = |piece: &&String| {
            ends(&boundaries, &format!("{piece}/PointRange")) == at.map(|i| [i, 23])
        };
        let piece = names.iter().find(here).unwrap();
        let family = boundaries.group(&format!("{piece}/FamilyName")).unwrap();
        assert_eq!(characters(&family), name(k));
    }
}

/// Names of families and of the zone are given once, whatever the patches of a file are called.
#[test]
fn ends_of_the_span_have_names_that_no_patch_has() {
    let grid = with_patches([
        (Side::Below, [0, 40], Patch::named("wing", None)),
        (Side::Above, [0, 40], Patch::named("symmetry", Some(SideKind::Slip))),
    ]);

    let file = written(&grid, Some(SYMMETRY));

    let base = file.root().group("Base").unwrap();
    let mut families = base.groups().unwrap();
    families.retain(|name| base.group(&format!("{name}/FamilyBC")).is_ok());
    families.sort();
    assert_eq!(families, ["back", "front", "symmetry", "wing"]);
    let condition = |name: &str| characters(&base.group(&format!("{name}/FamilyBC")).unwrap());
    assert_eq!(["symmetry", "front"].map(condition), ["BCWallInviscid", "BCSymmetryPlane"]);
    let mut boundaries = zone(&file).group("ZoneBC").unwrap().groups().unwrap();
    boundaries.sort();
    assert_eq!(boundaries, families);
}

#[test]
fn periodic_sides_meet_at_their_distance() {
    let span = Span { sides: Sides::Periodic, ..SYMMETRY };
    let file = written(&joukowski_grid(41, 23, 0.2), Some(span));
    let side = zone(&file).group("ZoneGridConnectivity/side_first").unwrap();

    let shift = side.dataset("GridConnectivityProperty/Periodic/Translation/ data").unwrap();

    assert_eq!(ends(&side, "PointRange"), [[1, 1, 1], [41, 23, 1]]);
    assert_eq!(ends(&side, "PointRangeDonor"), [[1, 1, 4], [41, 23, 4]]);
    assert_eq!(shift.read_f32().unwrap(), [0.0, 0.0, 0.7]);
}
