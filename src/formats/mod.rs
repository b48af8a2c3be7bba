//! Formats of meshes and matrices: a file or a folder each, written from finished data, and readers.
//!
//! [`FORMATS`] is the one table of mesh formats. A new one is a file here with its [`Format`], its name
//! there, and what docs/formats.md and the tests say of it.

mod arrays;
mod block;
mod file;
mod foreign;
pub mod matrix_market;
mod mesh;
pub mod npy;
mod ordering;
pub mod plot3d;
pub mod points;
mod read;
mod welded;

// Formats are written through the table; tests compare the bytes that each writes.
pub mod cgns;
pub mod msh;
pub mod nmf;
pub mod openfoam;
pub mod su2;
pub mod vtk;
pub mod vts;

use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};

use self::block::Reader;
pub use self::block::{ReadError, ReadFault};
pub use self::file::MeshFile;
use self::file::{Contents, Folder, Holds, of_zone};
pub use self::mesh::{Sides, Span};
pub use self::openfoam::Reference;
use self::plot3d::Flavour;
pub use self::read::mesh_from_bytes;
pub use self::read::{Mesh, mesh};
pub use self::vts::Compression;
use crate::files::output::Output;
use crate::files::{IoError, WriteFault};
use crate::grid::Grid;
use crate::overset::{Rim, SearchBox, Zone};

/// A format of meshes.
#[derive(Debug)]
pub struct Format {
    /// Its word in `output.formats` and for `gridgen convert --to`.
    pub name: &'static str,
    /// Its name in messages.
    pub title: &'static str,
    /// Ends of file names by which `gridgen convert` chooses it, the usual one first.
    pub extensions: &'static [&'static str],
    /// Whether points of a seam or a cut are joined, so that the grid must have one or be half a grid.
    pub welded: bool,
    /// The files that a run writes.
    pub files: &'static [MeshFile],
    /// The reason why it does not hold several zones, if it does not.
    pub(crate) refuses_zones: Option<&'static str>,
    /// The writer of `gridgen convert`, where that makes more than the one file.
    convert: Option<Convert>,
    /// Its reader, if it has one.
    reader: Option<Reader>,
}

type Convert = fn(&Path, &MeshData<'_>, bool) -> Result<Converted, IoError>;

/// A mesh to be written.
#[derive(Debug, Clone)]
pub struct MeshData<'a> {
    /// Its plane zones, at least one: that of a section, which has no name, or those of an overset mesh, the background first, if
    /// there is one, then in order of priority.
    pub zones: Vec<Zone<'a>>,
    /// The third dimension; none where the zones are plane.
    pub span: Option<Span>,
    /// Whether each grid is an O-grid that closes, a C-grid with its cut, or half a grid.
    pub weldable: bool,
    /// Whether the grids may be used: names of files say so.
    pub good: bool,
    /// Choices within formats.
    pub settings: Settings,
    /// The box in which OpenFOAM cuts holes between several zones, in the unit of the mesh.
    pub search: SearchBox,
}

impl<'a> MeshData<'a> {
    /// The grid of a section, or of the first zone.
    ///
    /// # Panics
    /// If there is no zone.
    pub fn grid(&self) -> &'a Grid {
        self.zones[0].grid
    }

    /// Whether it has several zones, which have names.
    fn is_several(&self) -> bool {
        is_several(self.zones.iter().map(|zone| zone.name))
    }
}

/// Whether zones of these names are several: the zone of a section has an empty name.
fn is_several<'n>(names: impl IntoIterator<Item = &'n str>) -> bool {
    names.into_iter().any(|name| !name.is_empty())
}

/// Choices within formats.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Compression of `.vts`.
    pub compression: Compression,
    /// Layout of `Plot3D`.
    pub plot3d: Flavour,
    /// Order of the cells of formats that have curved ones.
    pub curved_order: usize,
    /// The reference of the force coefficients of an OpenFOAM case; none for the grid's chord.
    pub reference: Option<Reference>,
}

impl Default for Settings {
    fn default() -> Self {
        let (compression, plot3d) = (Compression::default(), Flavour::default());
        Self { compression, plot3d, curved_order: 1, reference: None }
    }
}

impl<'a> From<&'a Grid> for MeshData<'a> {
    /// A plane grid that the program made, with the usual choices.
    fn from(grid: &'a Grid) -> Self {
        let zones = vec![Zone { name: "", grid, rim: Rim::FarField }];
        let (settings, search) = (Settings::default(), SearchBox::default());
        Self { zones, span: None, weldable: true, good: true, settings, search }
    }
}

/// The result of `gridgen convert`.
#[derive(Debug)]
pub struct Converted {
    /// The files, the mesh first.
    pub files: Vec<PathBuf>,
    /// Notes for the user, one sentence each.
    pub notes: Vec<String>,
}

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
        let is_folder = |file: &MeshFile| matches!(file.contents, Contents::Folder(_));
        FORMATS.iter().find(|format| format.files.iter().any(is_folder))
    }

    /// Whether a file has this format by the end of its name.
    fn is_named(&self, path: &Path) -> bool {
        let named = |end: &&str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(end));
        self.extensions.iter().any(named)
    }

    /// The format in messages: `.vts`, or `Plot3D` where the end of a name is not its word.
    pub fn shown(&self) -> String {
        if self.extensions == [self.name] { [".", self.name].concat() } else { self.title.into() }
    }

    /// The files that are written with these settings of a section, or of several zones.
    fn files_with(
        &self,
        settings: Settings,
        several: bool,
    ) -> impl Iterator<Item = &'static MeshFile> + use<> {
        let (wanted, no) = (settings.plot3d.dimensions, self.refuses_zones.filter(|_| several));
        self.files.iter().filter(move |file| {
            no.is_none()
                && file.holds != if several { Holds::Section } else { Holds::Several }
                && file.dimensions.is_none_or(|d| d == wanted)
        })
    }

    /// Names below the output folder of the files that hold zones of these names.
    pub(crate) fn file_names(&self, zones: &[&str], settings: Settings, good: bool) -> Vec<String> {
        let files = self.files_with(settings, is_several(zones.iter().copied()));
        files.flat_map(|file| file.names_of(zones, good)).collect()
    }

    /// Names below the output folder under which nothing may stand that gridgen did not write.
    pub(crate) fn claims(&self, zones: &[&str], settings: Settings) -> Vec<String> {
        let several = is_several(zones.iter().copied());
        let claims = |file: &'static MeshFile| {
            [true, false].into_iter().flat_map(move |good| match &file.contents {
                Contents::File(_) => file.names_of(zones, good),
                Contents::Folder(Folder { parts, .. }) => {
                    let parts = parts[usize::from(several)].iter();
                    parts.map(|part| [file.name(good), "/", part].concat()).collect()
                }
            })
        };
        self.files_with(settings, several).flat_map(claims).collect()
    }

    /// Refuses zones of these names and sizes, plane or extruded, that the format cannot number or the disk of
    /// `folder` has no room for.
    ///
    /// # Errors
    /// [`WriteFault::TooLarge`], [`WriteFault::NoRoom`].
    pub(crate) fn check(
        &self,
        folder: &Path,
        (zones, sizes): (&[&str], &[[usize; 2]]),
        span: Option<Span>,
        settings: Settings,
    ) -> Result<(), IoError> {
        let several = is_several(zones.iter().copied());
        self.files_with(settings, several).try_for_each(|file| {
            let path = folder.join(file.name(true));
            match file.holds {
                Holds::One => sizes.iter().try_for_each(|size| file.check(&path, &[*size], span)),
                _ => file.check(&path, sizes, span),
            }
        })
    }

    /// Writes the files of a mesh into `folder`; returns them.
    ///
    /// # Errors
    /// [`IoError`] of the first file that cannot be written.
    pub(crate) fn write(
        &self,
        folder: &Path,
        mesh: &MeshData<'_>,
    ) -> Result<Vec<PathBuf>, IoError> {
        let (mut made, several) = (Vec::new(), mesh.is_several());
        for file in self.files_with(mesh.settings, several) {
            if file.holds == Holds::One && several {
                for zone in &mesh.zones {
                    let path = folder.join(of_zone(file.name(mesh.good), zone.name));
                    file.write(&path, &MeshData { zones: vec![*zone], ..mesh.clone() })?;
                    made.push(path);
                }
            } else {
                let path = folder.join(file.name(mesh.good));
                file.write(&path, mesh)?;
                made.push(path);
            }
        }
        Ok(made)
    }

    /// Finds what files that stay in `output` as a user wrote them lack, one sentence each.
    pub(crate) fn lacks(&self, output: &Output, mesh: &MeshData<'_>) -> Vec<String> {
        let files = self.files_with(mesh.settings, mesh.is_several());
        let lacks = files.filter_map(|file| match &file.contents {
            Contents::File(_) => None,
            Contents::Folder(folder) => Some((folder.lacks)(output, file.name(mesh.good), mesh)),
        });
        lacks.flatten().collect()
    }

    /// The file that [`Self::convert`] writes beside `path`, if there is one: the map of Plot3D.
    pub fn beside(&self, path: &Path) -> Option<PathBuf> {
        let map = Some(path.with_extension("nmf")).filter(|map| map != path);
        map.filter(|_| *self == plot3d::FORMAT)
    }

    /// Writes a mesh to `path`, whatever its name; with `force` also in place of a mesh or a map that
    /// gridgen did not write.
    ///
    /// # Errors
    /// [`IoError`] of the first file that cannot be written.
    pub fn convert(
        &self,
        path: &Path,
        mesh: &MeshData<'_>,
        force: bool,
    ) -> Result<Converted, IoError> {
        let Grid { ni, nj, .. } = *mesh.grid();
        let files = || self.files_with(mesh.settings, false);
        files().try_for_each(|file| file.check(path, &[[ni, nj]], mesh.span))?;
        if let Some(convert) = self.convert {
            return convert(path, mesh, force);
        }
        files().try_for_each(|file| file.write(path, mesh))?;
        Ok(Converted { files: vec![path.to_path_buf()], notes: Vec::new() })
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

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl PartialEq<str> for Format {
    fn eq(&self, name: &str) -> bool {
        self.name == name
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de> Deserialize<'de> for &'static Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Format::named(&name).ok_or_else(|| D::Error::unknown_variant(&name, &NAMES))
    }
}

/// The table as docs/formats.md has it. For tests.
pub fn documentation() -> String {
    let head = "| word | file | `convert` to | what it is |\n| --- | --- | --- | --- |\n";
    let rows = FORMATS.iter().flat_map(|Format { name, extensions, files, .. }| {
        let ends: Vec<String> = extensions.iter().map(|end| format!("`.{end}`")).collect();
        let ends = ends.join(", ");
        let files = files.iter().filter(|file| file.holds != Holds::Several);
        files.map(move |MeshFile { names: [file, _], description, .. }| {
            format!("| `{name}` | `{file}` | {ends} | {description} |\n")
        })
    });
    std::iter::once(head.to_owned()).chain(rows).collect()
}

/// The files of several zones as docs/overset.md has them. For tests.
pub fn zones_documentation() -> String {
    let head = "| word | file | what it is |\n| --- | --- | --- |\n";
    let row = |name: &str, file: &str, what: &str| format!("| `{name}` | {file} | {what} |\n");
    let rows = FORMATS.iter().flat_map(|Format { name, files, refuses_zones, .. }| {
        let refused = refuses_zones.map(|reason| row(name, "", &format!("refused: {reason}")));
        let held = files.iter().filter(|_| refuses_zones.is_none());
        let held =
            held.filter_map(move |MeshFile { names: [file, _], description, holds, .. }| {
                Some(match holds {
                    Holds::Section => return None,
                    Holds::One => {
                        let file = format!("`{}`", of_zone(file, "flap"));
                        row(name, &file, &format!("one for each zone: {description}"))
                    }
                    Holds::All(what) => row(name, &format!("`{file}`"), what),
                    Holds::Several => row(name, &format!("`{file}`"), description),
                })
            });
        refused.into_iter().chain(held)
    });
    std::iter::once(head.to_owned()).chain(rows).collect()
}
