//! Formats of meshes and matrices: a file or a folder each, written from finished data, and readers.
//!
//! [`FORMATS`] is the one table of mesh formats. A new one is a file here with its [`Format`], its name
//! there, and what docs/formats.md and the tests say of it.

mod arrays;
mod block;
pub mod cgns;
mod data;
mod foreign;
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

pub use self::block::{ReadError, ReadFault};
pub use self::data::{Compression, ForceReference, MeshData, Settings};
pub use self::format::{Converted, Format, Holds, MeshFile};
use self::format::{FileContents, Folder, of_zone};
pub use self::mesh::{Sides, Span};
pub use self::read::{Mesh, mesh, mesh_from_bytes};
use crate::files::{IoError, WriteFault};

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
