//! A format and its files: their names, the zones that they hold, their limits and their writers.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::data::Span;
use super::data::{MeshData, Parts, Settings};
use super::rim::Reader;
use crate::files::atomic::{self, Writer};
use crate::files::output::Output;
use crate::files::{IoError, WriteFault};

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
    pub refuses_zones: Option<&'static str>,
    /// The writer of `gridgen convert`, where that makes more than the one file.
    pub(super) convert: Option<Convert>,
    /// Its reader, if it has one.
    pub(super) reader: Option<Reader>,
}

type Convert = fn(&Path, &MeshData<'_>, bool) -> Result<Converted, IoError>;

/// The result of `gridgen convert`.
#[derive(Debug)]
pub struct Converted {
    /// The files, the mesh first.
    pub files: Vec<PathBuf>,
    /// Notes for the user, one sentence each.
    pub notes: Vec<String>,
}

/// The zones that a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// The one of a section; it is not written of several.
    Section,
    /// One: of several zones each has a file, with its name in that of the file.
    One,
    /// All, whether a section or several.
    All,
    /// Several, or the blocks of a section; it is not written of a section in one.
    Several,
}

/// A file, or a folder, that holds a mesh or belongs to one.
#[derive(Debug)]
pub struct MeshFile {
    /// Its name below the output folder, for a good grid and for one that is not.
    pub names: [&'static str; 2],
    /// The zones that it holds.
    pub holds: Holds,
    /// The dimensions of `Plot3D` with which it is written; none for all.
    pub(super) dimensions: Option<u8>,
    /// Bytes for a node, at least.
    pub(super) least_bytes: u64,
    pub(super) contents: FileContents,
}

#[derive(Debug)]
pub(super) enum FileContents {
    /// Writes the contents of a file.
    File(fn(&mut Writer<'_>, &MeshData<'_>) -> io::Result<()>),
    Folder {
        /// Writes the folder, or replaces it.
        write: fn(&Path, &MeshData<'_>) -> Result<(), IoError>,
        /// Names within it under which no file of another origin may stand.
        parts: fn(Parts) -> Vec<&'static str>,
        /// Finds what older files that stay in the folder of this name of an output lack.
        lacks: fn(&Output, &str, &MeshData<'_>) -> Vec<String>,
    },
}

/// Most nodes in a direction, and the largest number of a face: 32-bit numbers with a sign.
const LABELS: u128 = i32::MAX as u128;
/// Bytes of the coordinates of a node, which formats count in 63 bits for a mesh.
const NODE_BYTES: u128 = 24;

impl MeshFile {
    /// Its name below the output folder. The name for a grid that is not good says so: no program
    /// takes it for a mesh.
    pub fn name(&self, good: bool) -> &'static str {
        self.names[usize::from(!good)]
    }

    /// Its names where it holds zones of these names.
    pub(super) fn names_of(&self, zones: &[&str], good: bool) -> Vec<String> {
        let name = self.name(good);
        match self.holds {
            Holds::One => zones.iter().map(|zone| of_zone(name, zone)).collect(),
            _ => vec![name.to_owned()],
        }
    }

    /// Refuses zones of these `sizes` in nodes, plane or extruded, that the format cannot number or the disk of
    /// `path` has no room for: a mesh that is too large is refused before a byte of it is written.
    ///
    /// # Errors
    /// [`WriteFault::TooLarge`], [`WriteFault::NoRoom`].
    pub fn check(
        &self,
        path: &Path,
        sizes: &[[usize; 2]],
        span: Option<Span>,
    ) -> Result<(), IoError> {
        let extruded = span.filter(|_| self.dimensions != Some(2));
        let planes = extruded.map_or(1, |span| span.cells as u128 + 1);
        let sizes = || sizes.iter().map(|[ni, nj]| [*ni as u128, *nj as u128, planes]);
        let refused = |what, count, most| Err(WriteFault::TooLarge { what, count, most }.at(path));
        if let Some(count) = sizes().flatten().find(|&count| count > LABELS) {
            return refused("nodes in a direction", count, LABELS);
        }
        // Each is below 2⁹³.
        let nodes: u128 = sizes().map(|size| size.iter().product::<u128>()).sum();
        let most = i64::MAX as u128 / NODE_BYTES;
        if nodes > most {
            return refused("nodes", nodes, most);
        }
        let faces: u128 = sizes().map(faces).sum();
        // The files of a folder number faces, too.
        if matches!(self.contents, FileContents::Folder { .. }) && faces > LABELS {
            return refused("faces", faces, LABELS);
        }
        check_disk(path, nodes * u128::from(self.least_bytes))
    }

    /// Writes it to `path`, or replaces it there.
    ///
    /// # Errors
    /// [`IoError`] of the first file that cannot be written.
    pub fn write(&self, path: &Path, mesh: &MeshData<'_>) -> Result<(), IoError> {
        match &self.contents {
            FileContents::File(write) => atomic::write(path, |out| write(out, mesh)),
            FileContents::Folder { write, .. } => write(path, mesh),
        }
    }

    /// Writes it to `path`, or where it holds one zone each of them to a file of its name beside that; returns the files.
    fn write_zones(&self, path: &Path, mesh: &MeshData<'_>) -> Result<Vec<PathBuf>, IoError> {
        let one = self.holds == Holds::One;
        let parts = if one { mesh.each() } else { vec![("", mesh.clone())] };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let written = parts.into_iter().map(|(zone, mesh)| {
            let path = path.with_file_name(of_zone(&name, zone));
            self.write(&path, &mesh).map(|()| path)
        });
        written.collect()
    }
}

/// Faces of a block of cells, of one layer at least; a seam or a cut joins some of them.
fn faces([ni, nj, planes]: [u128; 3]) -> u128 {
    let nk = planes.max(2);
    let [i, j, k] = [ni, nj, nk].map(|nodes| nodes.saturating_sub(1));
    ni * j * k + i * nj * k + i * j * nk
}

/// Refuses to write more bytes than the disk has free; what the system does not tell is free.
fn check_disk(path: &Path, needed: u128) -> Result<(), IoError> {
    let folder = path.ancestors().find(|folder| folder.is_dir());
    let free = fs4::available_space(folder.unwrap_or(Path::new(".")));
    match free {
        Ok(free) if needed > u128::from(free) => {
            let needed = u64::try_from(needed).unwrap_or(u64::MAX);
            Err(WriteFault::NoRoom { needed, free }.at(path))
        }
        _ => Ok(()),
    }
}

/// The name of a file for one zone: `mesh.flap.vts` for `mesh.vts`, which that of a section has, and
/// `mesh.flap.failed.vts` for `mesh.failed.vts`.
pub(super) fn of_zone(name: &str, zone: &str) -> String {
    let end = name.find(".failed.").or_else(|| name.rfind('.')).unwrap_or(name.len());
    let (stem, end) = name.split_at(end);
    if zone.is_empty() { name.to_owned() } else { [stem, ".", zone, end].concat() }
}

impl Format {
    /// The files that are written with these settings of a section, its blocks, or several zones.
    fn files_with(
        &self,
        settings: Settings,
        parts: Parts,
    ) -> impl Iterator<Item = &'static MeshFile> + use<> {
        let wanted = settings.plot3d.dimensions;
        self.files.iter().filter(move |file| {
            (file.holds != Holds::Section || parts != Parts::Overset)
                && (file.holds != Holds::Several || parts != Parts::Whole)
                && file.dimensions.is_none_or(|d| d == wanted)
        })
    }

    /// Names below the output folder of the files that hold zones of these names.
    pub(crate) fn file_names(&self, zones: &[&str], settings: Settings, good: bool) -> Vec<String> {
        let files = self.files_with(settings, Parts::of(zones.iter().copied()));
        files.flat_map(|file| file.names_of(zones, good)).collect()
    }

    /// Names below the output folder under which nothing may stand that gridgen did not write.
    pub(crate) fn claims(&self, zones: &[&str], settings: Settings) -> Vec<String> {
        let several = Parts::of(zones.iter().copied());
        let claims = |file: &'static MeshFile| {
            [true, false].into_iter().flat_map(move |good| match &file.contents {
                FileContents::File(_) => file.names_of(zones, good),
                FileContents::Folder { parts, .. } => {
                    let path = |part| [file.name(good), "/", part].concat();
                    parts(several).into_iter().map(path).collect()
                }
            })
        };
        self.files_with(settings, several).flat_map(claims).collect()
    }

    /// Refuses zones of these names and sizes by [`MeshFile::check`], before a file is written into `folder`.
    pub(crate) fn check(
        &self,
        folder: &Path,
        (zones, sizes): (&[&str], &[[usize; 2]]),
        span: Option<Span>,
        settings: Settings,
    ) -> Result<(), IoError> {
        let several = Parts::of(zones.iter().copied());
        self.files_with(settings, several).try_for_each(|file| {
            let path = folder.join(file.name(true));
            match file.holds {
                Holds::One => sizes.iter().try_for_each(|size| file.check(&path, &[*size], span)),
                _ => file.check(&path, sizes, span),
            }
        })
    }

    /// Writes the files of a mesh into `folder`; returns them.
    pub(crate) fn write(
        &self,
        folder: &Path,
        mesh: &MeshData<'_>,
    ) -> Result<Vec<PathBuf>, IoError> {
        let files = self.files_with(mesh.settings, mesh.parts());
        let made = files.map(|file| file.write_zones(&folder.join(file.name(mesh.good)), mesh));
        Ok(made.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Finds what files that stay in `output` as a user wrote them lack, one sentence each.
    pub(crate) fn lacks(&self, output: &Output, mesh: &MeshData<'_>) -> Vec<String> {
        let files = self.files_with(mesh.settings, mesh.parts());
        let lacks = files.flat_map(|file| match &file.contents {
            FileContents::File(_) => Vec::new(),
            FileContents::Folder { lacks, .. } => lacks(output, file.name(mesh.good), mesh),
        });
        lacks.collect()
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
        if self.welded && !mesh.weldable {
            return Err(WriteFault::NotWelded.at(path));
        }
        let sizes: Vec<_> = mesh.zones.iter().map(|zone| [zone.grid.ni, zone.grid.nj]).collect();
        let files = || self.files_with(mesh.settings, Parts::Whole);
        files().try_for_each(|file| file.check(path, &sizes, mesh.span))?;
        if let Some(convert) = self.convert {
            return convert(path, mesh, force);
        }
        // A set-up beside the mesh is for the folder of a run.
        let file = files().next();
        let files = file.map_or(Ok(Vec::new()), |file| file.write_zones(path, mesh))?;
        Ok(Converted { files, notes: Vec::new() })
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}
