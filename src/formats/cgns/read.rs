//! Structured zones of a CGNS file with their boundary conditions and one-to-one connectivity.

use std::collections::HashMap;

use hdf5_pure::{Dataset, Error, File, Group};

use crate::files::contents::unpacked_limit;
use crate::formats::block::{Block, ReadFault, check_memory};
use crate::formats::rim::{Condition, ReadZone, Tie, condition_of, tie};
use crate::grid::boundary::{Meets, Patch, Segment, Side, SideKind};

/// Name of the dataset with the contents of a node.
const DATA: &str = " data";
/// Most bytes of the text or the range of a node that is read.
const SHORT: u64 = 4096;

impl From<Error> for ReadFault {
    fn from(error: Error) -> Self {
        format!("the HDF5 of the file cannot be read: {error}").into()
    }
}

pub(super) fn parse(bytes: &[u8], notes: &mut Vec<String>) -> Result<Vec<ReadZone>, ReadFault> {
    let file = File::from_bytes(bytes.to_vec())?;
    let (mut found, mut families) = (Vec::new(), HashMap::new());
    for (_, base) in labelled(&file.root(), "CGNSBase_t")? {
        found.extend(labelled(&base, "Zone_t")?);
        for (name, family) in labelled(&base, "Family_t")? {
            for (_, condition) in labelled(&family, "FamilyBC_t")? {
                families.insert(name.clone(), text(&condition)?);
            }
        }
    }
    if found.is_empty() {
        return Err("0 CGNS zones, one or more structured zones were expected".into());
    }
    let mut zones = Vec::new();
    for (name, zone) in &found {
        zones.push(ReadZone::of_block(name, block(name, zone, bytes.len())?)?);
    }
    for (place, (_, zone)) in found.iter().enumerate() {
        for (_, conditions) in labelled(zone, "ZoneBC_t")? {
            for (name, boundary) in labelled(&conditions, "BC_t")? {
                let Some(on) = segment(&boundary, "PointRange", &zones, place)? else { continue };
                let mut family = name.clone();
                for (_, node) in labelled(&boundary, "FamilyName_t")? {
                    family = text(&node)?;
                }
                let mut condition = text(&boundary)?;
                if let Some(of_family) = families.get(&family) {
                    condition.clone_from(of_family);
                }
                let kind = kind(&condition, &family);
                zones[place].mark(on, Meets::Patch(Patch::named(&family, kind)));
            }
        }
        for (_, connectivity) in labelled(zone, "ZoneGridConnectivity_t")? {
            for (name, link) in labelled(&connectivity, "GridConnectivity1to1_t")? {
                let donor = text(&link)?;
                // Gmsh has spaces in names of donors where the zones have underscores.
                let place_of = |name: &str| found.iter().position(|(other, _)| other == name);
                let place_of_donor =
                    place_of(&donor).or_else(|| place_of(&donor.replace(' ', "_")));
                let donor = place_of_donor.ok_or_else(|| {
                    format!("the connection `{name}` leads to a zone `{donor}`, which is not there")
                })?;
                let on = segment(&link, "PointRange", &zones, place)?;
                let to = segment(&link, "PointRangeDonor", &zones, donor)?;
                let (Some(on), Some(to)) = (on, to) else { continue };
                if on.count() != to.count() {
                    let [on, to] = [on.count(), to.count()];
                    return Err(format!("the connection `{name}` joins {on} nodes to {to}").into());
                }
                if labelled(&link, "GridConnectivityProperty_t")?.is_empty() {
                    zones[place].mark(on, Meets::Link(to));
                } else if let Some(by @ Tie::Period(_)) = Tie::of([on, to], &zones) {
                    tie(&mut zones, [on, to], by);
                } else {
                    // Its points are not those of the other side, so that it cannot be welded.
                    let patch = Patch::named(&name, Some(SideKind::FarField));
                    zones[place].mark(on, Meets::Patch(patch));
                    notes.push(format!("The periodic connection `{name}` was read as a patch."));
                }
            }
            for (name, _) in labelled(&connectivity, "GridConnectivity_t")? {
                notes.push(format!("The connection `{name}` is not one-to-one and was left out."));
            }
        }
    }
    Ok(zones)
}

fn block(name: &str, zone: &Group, file: usize) -> Result<Block, ReadFault> {
    if text(&zone.group("ZoneType")?)? != "Structured" {
        return Err(format!("the zone `{name}` is not structured").into());
    }
    let size = numbers(&zone.dataset(DATA)?)?;
    let (grid, mut coordinates) = (zone.group("GridCoordinates")?, Vec::new());
    let mut dimensions = Vec::new();
    for coordinate in ["CoordinateX", "CoordinateY", "CoordinateZ"] {
        let Ok(array) = grid.group(coordinate).and_then(|node| node.dataset(DATA)) else {
            continue;
        };
        let shape = checked(&array, unpacked_limit(file))?;
        check_memory(3 * shape.iter().product::<u64>() as usize)?;
        // The last index of an array is the first of a zone, whose points are its first numbers.
        let sizes = shape.iter().rev().map(|&n| i64::try_from(n).unwrap_or(-1));
        if !(2..=3).contains(&shape.len()) || !sizes.eq(size.iter().copied().take(shape.len())) {
            return Err(format!("the coordinates are not as many as the zone `{name}` says").into());
        }
        dimensions = shape.iter().rev().map(|&n| n as usize).collect();
        coordinates.push(array.read_f64()?);
    }
    if coordinates.len() < 2 {
        return Err(format!("the zone `{name}` has no coordinates x and y").into());
    }
    Ok(Block { dimensions, coordinates })
}

/// The shape of an array of at most this number of bytes.
fn checked(array: &Dataset, most: u64) -> Result<Vec<u64>, ReadFault> {
    let shape = array.shape()?;
    // A chunk is unpacked whole, however few of its numbers belong to the array.
    for sizes in array.chunk_shape()?.iter().chain([&shape]) {
        let asked =
            sizes.iter().try_fold(array.element_size()?, |product, n| product.checked_mul(*n));
        if asked.is_none_or(|asked| asked > most) {
            return Err("an array asks for far more than the file holds".into());
        }
    }
    Ok(shape)
}

/// The text of a node; empty where it has none.
fn text(node: &Group) -> Result<String, ReadFault> {
    let Ok(array) = node.dataset(DATA) else { return Ok(String::new()) };
    checked(&array, SHORT)?;
    let letters = array.read_u8().unwrap_or_default();
    Ok(String::from_utf8_lossy(&letters).trim_matches(['\0', ' ']).to_owned())
}

fn numbers(array: &Dataset) -> Result<Vec<i64>, ReadFault> {
    checked(array, SHORT)?;
    Ok(array.read_i64()?)
}

/// The segment of a range of points of a zone; none at an end of the span, or where the node has no range.
fn segment(
    node: &Group,
    range: &str,
    zones: &[ReadZone],
    block: usize,
) -> Result<Option<Segment>, ReadFault> {
    let Ok(points) = node.group(range).and_then(|node| node.dataset(DATA)) else {
        return Ok(None);
    };
    let (points, zone) = (numbers(&points)?, &zones[block]);
    let plane = [[1, 2], [0, 2], [0, 1]][zone.across];
    let corners = [0, 1].map(|end| {
        let of = |axis: usize| points.get(end * (points.len() / 2) + axis)?.checked_sub(1);
        plane.map(|axis| of(axis).and_then(|n| usize::try_from(n).ok()))
    });
    let fault = || format!("a range of points in the zone `{}` is not on a side of it", zone.name);
    let [[Some(i0), Some(j0)], [Some(i1), Some(j1)]] = corners else { return Err(fault().into()) };
    let (side, nodes) = match (i0 == i1, j0 == j1) {
        (true, false) => (Side::ALL[usize::from(i0 > 0)], [j0, j1]),
        (false, true) => (Side::ALL[2 + usize::from(j0 > 0)], [i0, i1]),
        // A face of the span, or a point.
        _ => return Ok(None),
    };
    let across = side.across();
    let segment = Segment { block, side, nodes };
    let at = [i0, j0][across];
    let on_side = (at == 0 || at + 1 == zone.size()[across]) && zone.has(segment);
    if on_side { Ok(Some(segment)) } else { Err(fault().into()) }
}

fn kind(condition: &str, name: &str) -> Condition {
    match condition {
        "BCWallInviscid" => Some(SideKind::Slip),
        "BCFarfield" => Some(SideKind::FarField),
        "BCSymmetryPlane" | "BCSymmetryPolar" => Some(SideKind::Symmetry),
        "BCTunnelInflow" => Some(SideKind::Inlet),
        "BCTunnelOutflow" => Some(SideKind::Outlet),
        _ if condition.starts_with("BCWall") => None,
        _ if condition.starts_with("BCInflow") => Some(SideKind::Inlet),
        _ if condition.starts_with("BCOutflow") => Some(SideKind::Outlet),
        _ => condition_of(name),
    }
}

/// The nodes of this label below another.
fn labelled(node: &Group, label: &str) -> Result<Vec<(String, Group)>, Error> {
    let mut found = Vec::new();
    for (name, group) in node.iter_groups()? {
        if group.attrs()?.get("label").and_then(|value| value.as_str()) == Some(label) {
            found.push((name, group));
        }
    }
    Ok(found)
}
