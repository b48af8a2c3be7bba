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
mod mesh;
pub mod msh;
pub mod nmf;
pub mod npy;
pub mod openfoam;
mod ordering;
pub mod plot3d;
pub mod points;
mod read;
pub mod su2;
pub mod vtk;
pub mod vts;
mod welded;

use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, Error};

use self::block::Reader;
pub use self::block::{ReadError, ReadFault};
pub use self::data::{AROUND_AND_BEHIND, Compression, ForceReference, MeshData, Settings};
use self::format::FileContents;
pub use self::format::{Converted, Format, Holds, MeshFile};
pub use self::mesh::{Sides, Span};
pub use self::read::Mesh;
use self::read::{check_foreign, orient};
use crate::files::output::FolderRules;
use crate::files::{IoError, WriteFault, contents};

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
        FORMATS.iter().find(|format| format.is_named(path))
    }

    /// The format of a file by the end of its name; without an end the format that is a folder, a case of OpenFOAM.
    pub fn of_file_or_folder(path: &Path) -> Option<&'static Self> {
        if path.extension().is_some() {
            return Self::of_path(path);
        }
        let is_folder = |file: &MeshFile| matches!(file.contents, FileContents::Folder(_));
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
    let format = Format::of_path(path);
    let format = format.ok_or_else(|| WriteFault::NoFormat.at(path))?;
    format.convert(path, mesh, false).map(drop)
}

impl<'de> Deserialize<'de> for &'static Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Format::named(&name).ok_or_else(|| D::Error::unknown_variant(&name, &NAMES))
    }
}

/// Reads a mesh: by its first bytes, or else by its name, `.vts`, `.vtk`, `.su2`, `.cgns` or `.msh`, and Plot3D
/// otherwise. Of a grid that was extruded its plane is read.
///
/// # Errors
/// [`ReadError`] with the path: unreadable, of no known layout or of several that fit, more than one
/// block, not plane.
pub fn mesh(path: &Path) -> Result<Mesh, ReadError> {
    let bytes = contents::read(path, MEMORY_A_BYTE).map_err(|source| ReadError {
        path: path.to_path_buf(),
        fault: ReadFault::Unreadable(source),
    })?;
    mesh_from_bytes(path, &bytes)
}

/// [`mesh`] from bytes in memory; `path` is for messages and gives the format. For tests.
pub fn mesh_from_bytes(path: &Path, bytes: &[u8]) -> Result<Mesh, ReadError> {
    let head = &bytes[..bytes.len().min(4096)];
    let mut notes = Vec::new();
    // Nothing tells Plot3D from other files but that it fits.
    let readers = || FORMATS.iter().filter_map(|format| Some((format, format.reader.as_ref()?)));
    let begins = |reader: &Reader| reader.begins.is_some_and(|begins| begins(head));
    let mut read = || {
        let begun = readers().find(|(_, reader)| begins(reader));
        begun.map_or_else(|| check_foreign(bytes), |_| Ok(()))?;
        let named =
            || readers().find(|(format, reader)| reader.begins.is_some() && format.is_named(path));
        let reader = begun.or_else(named).map_or(&plot3d::READER, |(_, reader)| reader);
        (reader.grid)(bytes, &mut notes).map_err(|fault| fault.with_hint(reader.hint))
    };
    let grid = read().map_err(|fault| ReadError { path: path.to_path_buf(), fault })?;
    let (grid, wall) = orient(grid, &mut notes);
    Ok(Mesh { grid, wall, notes })
}
