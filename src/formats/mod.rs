//! Formats of meshes and matrices: a file or a folder each, written from finished data, and readers.
//!
//! [`FORMATS`] is the one table of mesh formats. A new one is a file here with its [`Format`], its name
//! there, and what docs/formats.md and the tests say of it.

mod arrays;
mod block;
pub mod cgns;
mod data;
mod format;
pub mod matrix_market;
pub mod msh;
pub mod nmf;
pub mod npy;
pub mod openfoam;
pub mod plot3d;
pub mod points;
mod quads;
mod read;
mod rim;
pub mod su2;
mod tecplot;
pub mod vtk;
pub mod vts;
mod welded;

use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, Error};

pub use self::block::{ReadError, ReadFault};
pub use self::data::{Compression, ForceReference, MeshData, Settings, Sides, Span, block_names};
use self::format::FileContents;
pub use self::format::{Converted, Format, Holds, MeshFile};
pub use self::read::{Contents, Mesh};
use self::read::{check_foreign, finished};
use self::rim::Reader;
use crate::files::output::FolderRules;
use crate::files::{IoError, WriteFault, contents as file_bytes};

/// Memory for a byte of a file, at most: `.su2` cells of ten bytes become four corners and the
/// nodes that they share.
const MEMORY_A_BYTE: u64 = 12;

/// All formats, in the order of the documents.
pub static FORMATS: [Format; 7] = [
    vts::FORMAT,
    vtk::FORMAT,
    plot3d::FORMAT,
    su2::FORMAT,
    openfoam::FORMAT,
    cgns::FORMAT,
    msh::FORMAT,
];

/// The names of all formats.
pub const NAMES: [&str; FORMATS.len()] = {
    let mut names = [""; FORMATS.len()];
    let mut k = 0;
    while k < names.len() {
        names[k] = FORMATS[k].name;
        k += 1;
    }
    names
};

/// The names of the formats that come with the set-up of a flow solver.
pub const WITH_SETUP: [&str; 2] = [openfoam::NAME, su2::FORMAT.name];

/// The rules by which the files of a run are exchanged for new ones.
pub(crate) const RULES: FolderRules = FolderRules {
    editable: |name| openfoam::is_setup(name) || name == su2::SETUP.names[0],
    lasting: is_mesh,
    ..openfoam::RULES
};

/// Whether a name below an output folder belongs to a mesh that may be used, or to a zone of one.
fn is_mesh(name: &str) -> bool {
    let part = name.split_once('/').map_or(name, |(folder, _)| folder);
    let is_of = |file: &MeshFile| match file.names[0].split_once('.') {
        Some((stem, end)) => part.starts_with(stem) && part.ends_with(end),
        None => part == file.names[0],
    };
    !part.contains(".failed") && FORMATS.iter().flat_map(|format| format.files).any(is_of)
}

impl Format {
    /// The format of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// The format of a file by the end of its name.
    pub fn of_path(path: &Path) -> Option<&'static Self> {
        let has = |end: &&str| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(end));
        FORMATS.iter().find(|format| format.extensions.iter().any(has))
    }

    /// The format of a file by the end of its name; without an end the format that is a folder, a case of OpenFOAM.
    pub fn of_file_or_folder(path: &Path) -> Option<&'static Self> {
        if path.extension().is_some() {
            return Self::of_path(path);
        }
        let is_folder = |file: &MeshFile| matches!(file.contents, FileContents::Folder { .. });
        FORMATS.iter().find(|format| format.files.iter().any(is_folder))
    }

    /// The file that [`Self::convert`] writes beside `path`, if there is one: the map of Plot3D.
    pub fn beside(&self, path: &Path) -> Option<PathBuf> {
        let map = Some(path.with_extension("nmf")).filter(|map| map != path);
        map.filter(|_| *self == plot3d::FORMAT)
    }
}

/// Writes a mesh to a file whose name gives the format, or replaces the file.
///
/// # Errors
/// [`IoError`] of the first file that cannot be written, [`WriteFault::NoFormat`] for another name.
pub fn write(path: &Path, mesh: &MeshData<'_>) -> Result<(), IoError> {
    let format = Format::of_path(path).ok_or_else(|| WriteFault::NoFormat.at(path))?;
    format.convert(path, mesh, false).map(drop)
}

impl<'de> Deserialize<'de> for &'static Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Format::named(&name).ok_or_else(|| D::Error::unknown_variant(&name, &NAMES))
    }
}

/// Reads a mesh of one zone ([`contents`]).
///
/// # Errors
/// Those of [`contents`], and [`ReadFault::Zones`].
pub fn mesh(path: &Path) -> Result<Mesh, ReadError> {
    contents(path)?.mesh(path)
}

/// Reads the mesh of a file, or of the folder of an OpenFOAM case: by its first bytes, or else by the end of its name, and
/// as Plot3D otherwise, with the neutral map beside it, if there is one. Of a grid that was extruded its plane is read.
///
/// # Errors
/// [`ReadError`] with the path: unreadable, of no known layout or of several that fit, not plane, no structured blocks.
pub fn contents(path: &Path) -> Result<Contents, ReadError> {
    let read = |path: &Path| ReadError::bytes(path, MEMORY_A_BYTE);
    if path.is_dir() {
        let folder = openfoam::mesh_in(path).map_err(|fault| ReadError::at(path, fault))?;
        let [points, faces, boundary] = openfoam::READ.map(|name| read(&folder.join(name)));
        return contents_of_case(path, [&points?, &faces?, &boundary?]);
    }
    let bytes = read(path)?;
    let map = map_with(path, &bytes).map(|map| read(&map)).transpose()?;
    contents_from_bytes(path, &bytes, map.as_deref())
}

/// The neutral map that [`contents`] reads with the file at a path, if there is one.
pub fn map_of(path: &Path) -> Option<PathBuf> {
    let head = path.is_file().then(|| file_bytes::read_short(path, HEAD_BYTES as u64).ok());
    map_with(path, &head??)
}

/// The neutral map beside a mesh of Plot3D that has these bytes.
fn map_with(path: &Path, bytes: &[u8]) -> Option<PathBuf> {
    let map = path.with_extension("nmf");
    (begun(bytes).is_none() && map != path && map.is_file()).then_some(map)
}

/// Bytes by which a format is recognised.
const HEAD_BYTES: usize = 4096;

/// The reader of files that begin like these bytes: of a format other than Plot3D.
fn begun(bytes: &[u8]) -> Option<&'static Reader> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let own = FORMATS.iter().filter_map(|format| format.reader.as_ref());
    let mut readers = own.chain([&tecplot::READER]);
    readers.find(|reader| reader.begins.is_some_and(|begins| begins(head)))
}

/// [`contents`] from bytes in memory, those of a file and of the neutral map beside it; `path` is for messages and gives
/// the format. For tests.
pub fn contents_from_bytes(
    path: &Path,
    bytes: &[u8],
    map: Option<&[u8]>,
) -> Result<Contents, ReadError> {
    let (mut notes, begun) = (Vec::new(), begun(bytes));
    let mut read = || {
        begun.map_or_else(|| check_foreign(bytes), |_| Ok(()))?;
        let named = || Format::of_path(path).and_then(|format| format.reader.as_ref());
        // Nothing tells Plot3D from other files but that it fits.
        let reader = begun.or_else(named).unwrap_or(&plot3d::READER);
        let mut zones =
            (reader.zones)(bytes, &mut notes).map_err(|fault| fault.with_hint(reader.hint))?;
        if let Some(map) = map.filter(|_| reader.begins.is_none()) {
            nmf::read(map, &mut zones)?;
        }
        Ok(zones)
    };
    let zones = read().map_err(|fault| ReadError::at(path, fault))?;
    Ok(finished(zones, notes))
}

/// [`contents`] of the files `points`, `faces` and `boundary` of a mesh for OpenFOAM in memory; `path` is for messages. For
/// tests.
pub fn contents_of_case(path: &Path, files: [&[u8]; 3]) -> Result<Contents, ReadError> {
    let mut notes = Vec::new();
    let error = |fault: ReadFault| ReadError::at(path, fault.with_hint(openfoam::READ_HINT));
    let zones = openfoam::zones(files, &mut notes).map_err(error)?;
    Ok(finished(zones, notes))
}
