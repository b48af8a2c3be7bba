//! Files of a mesh format: their names, the zones that they hold, their limits and their writers.

use std::io;
use std::path::Path;

use super::MeshData;
use super::mesh::{Limits, Span};
use super::plot3d::Dimensions;
use crate::files::IoError;
use crate::files::atomic::{self, Writer};
use crate::files::output::Output;

/// The zones that a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// The one of a section; it is not written of several.
    Section,
    /// One: of several zones each has a file, with its name in that of the file.
    One,
    /// All, whether a section or several; what the file is of several, for docs/overset.md.
    All(&'static str),
    /// Several; it is not written of a section.
    Several,
}

/// A file, or a folder, that holds a mesh or belongs to one.
#[derive(Debug)]
pub struct MeshFile {
    /// Its name below the output folder, for a good grid and for one that is not.
    pub names: [&'static str; 2],
    /// The description in docs/formats.md.
    pub description: &'static str,
    pub(super) holds: Holds,
    /// The dimensions of `Plot3D` with which it is written; none for all.
    pub(super) dimensions: Option<Dimensions>,
    /// The limits of the format and the disk.
    pub(super) limits: Limits,
    pub(super) contents: Contents,
}

#[derive(Debug)]
pub(super) enum Contents {
    /// Writes the contents of a file.
    File(fn(&mut Writer<'_>, &MeshData<'_>) -> io::Result<()>),
    Folder(Folder),
}

#[derive(Debug)]
pub(super) struct Folder {
    /// Writes the folder, or replaces it.
    pub(super) write: fn(&Path, &MeshData<'_>) -> Result<(), IoError>,
    /// Names within it under which no file of another origin may stand, of a section and of several zones.
    pub(super) parts: [&'static [&'static str]; 2],
    /// Finds what older files that stay in the folder of this name of an output lack.
    pub(super) lacks: fn(&Output, &str, &MeshData<'_>) -> Vec<String>,
}

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
    /// `path` has no room for.
    ///
    /// # Errors
    /// [`crate::files::WriteFault::TooLarge`], [`crate::files::WriteFault::NoRoom`].
    pub fn check(
        &self,
        path: &Path,
        sizes: &[[usize; 2]],
        span: Option<Span>,
    ) -> Result<(), IoError> {
        let extruded = span.filter(|_| self.dimensions != Some(Dimensions::Two));
        self.limits.check(path, sizes, extruded)
    }

    /// Writes it to `path`, or replaces it there.
    ///
    /// # Errors
    /// [`IoError`] of the first file that cannot be written.
    pub fn write(&self, path: &Path, mesh: &MeshData<'_>) -> Result<(), IoError> {
        match &self.contents {
            Contents::File(write) => atomic::write(path, |out| write(out, mesh)),
            Contents::Folder(folder) => (folder.write)(path, mesh),
        }
    }
}

/// The name of a file for one zone: `mesh.flap.vts` for `mesh.vts`, which that of a section has.
pub(super) fn of_zone(name: &str, zone: &str) -> String {
    match name.split_once('.') {
        _ if zone.is_empty() => name.to_owned(),
        Some((stem, end)) => [stem, ".", zone, ".", end].concat(),
        None => [name, ".", zone].concat(),
    }
}
