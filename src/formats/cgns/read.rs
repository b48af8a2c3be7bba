//! The one structured zone of a CGNS file.

use hdf5_pure::{Error, File, Group};

use crate::files::contents::unpacked_limit;
use crate::formats::block::{Block, ReadFault, check_memory};

/// Name of the dataset with the contents of a node.
const DATA: &str = " data";

impl From<Error> for ReadFault {
    fn from(error: Error) -> Self {
        format!("the HDF5 of the file cannot be read: {error}").into()
    }
}

/// Reads the coordinates of the zone.
pub(super) fn parse(bytes: &[u8]) -> Result<Block, ReadFault> {
    let mut zones = Vec::new();
    for (_, base) in labelled(&File::from_bytes(bytes.to_vec())?.root(), "CGNSBase_t")? {
        zones.extend(labelled(&base, "Zone_t")?);
    }
    let [(name, zone)] = &zones[..] else {
        let names: Vec<&str> = zones.iter().take(4).map(|(name, _)| &**name).collect();
        return Err(
            format!("{} CGNS zones ({}), one was expected", zones.len(), names.join(", ")).into()
        );
    };
    let kind = zone.group("ZoneType")?.dataset(DATA)?.read_u8()?;
    if kind != b"Structured" {
        return Err(format!("the zone `{name}` is not structured").into());
    }
    let size = zone.dataset(DATA)?.read_u64()?;
    let (grid, mut coordinates) = (zone.group("GridCoordinates")?, Vec::new());
    let mut dimensions = Vec::new();
    for coordinate in ["CoordinateX", "CoordinateY", "CoordinateZ"] {
        let Ok(array) = grid.group(coordinate).and_then(|node| node.dataset(DATA)) else {
            continue;
        };
        let shape = array.shape()?;
        // A chunk is unpacked whole, however few of its numbers belong to the array.
        for sizes in array.chunk_shape()?.iter().chain([&shape]) {
            let asked =
                sizes.iter().try_fold(array.element_size()?, |product, n| product.checked_mul(*n));
            if asked.is_none_or(|asked| asked > unpacked_limit(bytes.len())) {
                return Err("the coordinates ask for far more than the file holds".into());
            }
        }
        check_memory(3 * shape.iter().product::<u64>() as usize)?;
        // The last index of an array is the first of a zone, whose points are its first numbers.
        if !(2..=3).contains(&shape.len()) || !shape.iter().rev().eq(size.iter().take(shape.len()))
        {
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
