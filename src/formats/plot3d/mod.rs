//! `Plot3D` grid files in the flavours that programs read.
//!
//! `Plot3D` files do not state their layout; readers guess it or ask for it. The layout that most
//! programs read is text with three dimensions, a block count and no blanking, the default; older
//! two-dimensional programs want two dimensions and no block count, Fortran programs unformatted
//! records. Source: "PLOT3D User's Manual", NASA TM-101067, chapter 8.

pub(super) mod layout;
mod read;
mod write;

use std::io;
use std::path::Path;

pub use self::layout::{Axes, ByteOrder, Encoding, Flavour, NumberPrecision};
pub(super) use self::read::{ANY_NUMBERS, NUMBERS_A_BYTE};
pub use self::write::{FortranRecord, write_to};

use super::data::{MeshData, Parts};
use super::format::{Converted, FileContents, Format, Holds, MeshFile};
use super::nmf;
use super::rim::Reader;
use crate::files::atomic::{self, Made, Writer, check_own};
use crate::files::{ByteSink, IoError};

/// Single precision and two dimensions; as text a number is longer.
const LEAST_BYTES: u64 = 8;

pub(super) const FORMAT: Format = Format {
    name: "plot3d",
    title: "Plot3D",
    extensions: &["p3d", "xyz", "x", "fmt"],
    welded: false,
    files: &[
        MeshFile {
            names: ["mesh.p3d", "mesh.failed.p3d"],
            holds: Holds::All,
            dimensions: Some(3),
            least_bytes: LEAST_BYTES,
            contents: FileContents::File(|out, m| write(out, m, 3)),
        },
        MeshFile {
            names: ["mesh.nmf", "mesh.failed.nmf"],
            holds: Holds::Section,
            dimensions: Some(3),
            least_bytes: 0,
            contents: FileContents::File(|out, m| write_map(out, m)),
        },
        MeshFile {
            names: ["mesh.2d.p3d", "mesh.2d.failed.p3d"],
            holds: Holds::All,
            dimensions: Some(2),
            least_bytes: LEAST_BYTES,
            contents: FileContents::File(|out, m| write(out, m, 2)),
        },
    ],
    refuses_zones: None,
    convert: Some(convert),
    reader: Some(READER),
};

/// The reader of such files: only their length gives them away.
pub(super) const READER: Reader = Reader {
    begins: None,
    hint: "the reader knows text, Fortran records and plain binary, in two or three dimensions",
    zones: read::zones,
};

/// Writes a block for each zone; the number of several stands before their sizes in any case.
fn write(out: &mut Writer<'_>, m: &MeshData<'_>, dimensions: u8) -> io::Result<()> {
    let block_count = m.settings.plot3d.block_count || m.parts() != Parts::Whole;
    write_to(out, &m.blocks(), m.span, Flavour { dimensions, block_count, ..m.settings.plot3d })
}

fn write_map(out: &mut ByteSink<'_>, m: &MeshData<'_>) -> io::Result<()> {
    nmf::write_to(out, &m.blocks(), m.span, m.settings.plot3d.axes)
}

/// Writes a block and, with three dimensions, its map beside it. Both are complete before one of them
/// is put in place.
fn convert(path: &Path, mesh: &MeshData<'_>, force: bool) -> Result<Converted, IoError> {
    let dimensions = mesh.settings.plot3d.dimensions;
    let map = path.with_extension("nmf");
    // Only a wall and its seam or cut can be mapped.
    let mapped = mesh.weldable && dimensions == 3 && map != path;
    if mapped && !force {
        check_own(&map, nmf::TITLE)?;
    }
    let made_map = mapped.then(|| atomic::make(&map, |out| write_map(out, mesh))).transpose()?;
    let made = atomic::make(path, |out| write(out, mesh, dimensions))?;
    // A mesh is never beside the map of another one.
    made_map.as_ref().map_or(Ok(()), Made::clear)?;
    made.place()?;
    let mut files = vec![path.to_path_buf()];
    if let Some(made_map) = made_map {
        made_map.place()?;
        files.push(map);
    }
    Ok(Converted { files, notes: Vec::new() })
}
