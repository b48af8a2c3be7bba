//! Files that are recognised by their first bytes and are not read.

use super::block::ReadFault;
use crate::files::restart;

const UNPACK: &str = "unpack it first, and give what was in it";
const EXPORT: &str =
    "save the structured grid as Plot3D, CGNS, .vts or .su2 by the program that made it";

/// First bytes of files, in any case of the letters, their kind, and advice.
const FOREIGN: [(&[u8], &str, &str); 20] = [
    (b"#!TDV", "a binary Tecplot file", EXPORT),
    (b"TITLE", "a Tecplot file", EXPORT),
    (b"VARIABLES", "a Tecplot file", EXPORT),
    (b"ZONE ", "a Tecplot file", EXPORT),
    (b"@(#)ADF", "CGNS in ADF, its older container", "convert it to HDF5: adf2hdf FILE"),
    (b"\x1f\x8b", "packed by gzip", UNPACK),
    (b"BZh", "packed by bzip2", UNPACK),
    (b"\xfd7zXZ", "packed by xz", UNPACK),
    (b"\x28\xb5\x2f\xfd", "packed by Zstandard", UNPACK),
    (b"PK\x03\x04", "a zip archive", UNPACK),
    (b"CDF\x01", "a NetCDF file", EXPORT),
    (b"\x93NUMPY", "an array of numpy", "in Python give the arrays x and y to gridgen.Mesh"),
    (b"solid", "a surface of triangles (STL)", EXPORT),
    (b"(0 \"", "a Fluent mesh", EXPORT),
    (b"(1 \"", "a Fluent mesh", EXPORT),
    (b"/*---", "a file of OpenFOAM", EXPORT),
    (b"<", "XML or HTML, no VTK file", EXPORT),
    (b"{", "JSON", EXPORT),
    (restart::MAGIC, "a restart file of gridgen", "give the mesh beside it, such as mesh.vts"),
    (b"GGREFRNC", "a reference of gridgen", "give it to gridgen move"),
];

/// Refuses a file that begins as one of these.
pub(super) fn check(bytes: &[u8]) -> Result<(), ReadFault> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let begins =
        |start: &[u8]| text.get(..start.len()).is_some_and(|s| s.eq_ignore_ascii_case(start));
    // Triangles follow a head of 80 bytes and their number.
    let triangles =
        bytes.get(80..84).and_then(|field| field.try_into().ok()).map(u32::from_le_bytes);
    let stl = triangles.is_some_and(|n| bytes.len() as u64 == 84 + 50 * u64::from(n));
    let is = |start: &[u8]| if stl { start == b"solid" } else { begins(start) };
    let found = FOREIGN.iter().find(|(start, ..)| is(start));
    found.map_or(Ok(()), |(_, kind, hint)| {
        Err(ReadFault::Layout { reason: format!("{kind}, which is not read").into(), hint })
    })
}
