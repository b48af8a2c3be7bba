//! Several zones: an overset mesh, and how formats hold it.

use std::io;
use std::path::{Path, PathBuf};

use super::mesh::{Limits, Span};
use super::plot3d::Dimensions;
use super::{Format, MeshData, Reference, Settings};
use crate::files::IoError;
use crate::files::atomic::{self, Writer};
use crate::overset::{SearchBox, Zone};

/// An overset mesh to be written.
#[derive(Debug, Clone, Copy)]
pub struct OversetMesh<'a> {
    /// Its zones, the background first, if there is one, then in order of priority.
    pub zones: &'a [Zone<'a>],
    /// How they go on in the third dimension; none where they are plane.
    pub span: Option<Span>,
    /// Choices within formats.
    pub settings: Settings,
    /// The box in which OpenFOAM cuts holes, in the unit of the mesh.
    pub search: SearchBox,
    /// What force coefficients refer to.
    pub reference: Reference,
}

impl<'a> OversetMesh<'a> {
    /// A zone as a mesh of its own.
    pub(crate) fn zone(&self, zone: &Zone<'a>) -> MeshData<'a> {
        MeshData { grid: zone.grid, span: self.span, weldable: true, settings: self.settings }
    }
}

/// How a format holds several zones.
#[derive(Debug)]
pub(super) enum Zones {
    /// In these files, and in one for each zone where `each` says so.
    Files { together: &'static [ZonesFile], each: bool },
    /// Not at all, for this reason.
    Refused(&'static str),
}

/// A file, or a folder, that holds all zones.
#[derive(Debug)]
pub struct ZonesFile {
    /// Its name below the output folder, for good grids and for ones that are not.
    pub(super) names: [&'static str; 2],
    /// What it is, for docs/formats.md.
    pub(super) description: &'static str,
    /// The dimensions of `Plot3D` with which it is written; none for all.
    pub(super) dimensions: Option<Dimensions>,
    /// What the format and the disk can hold.
    pub(super) limits: Limits,
    pub(super) contents: ZonesContents,
}

#[derive(Debug)]
pub(super) enum ZonesContents {
    /// Those of a file.
    File(fn(&mut Writer<'_>, &OversetMesh<'_>, bool) -> io::Result<()>),
    /// Those of a folder, and names within it under which no file of another origin may stand.
    Folder(fn(&Path, &OversetMesh<'_>) -> Result<(), IoError>, &'static [&'static str]),
}

impl Format {
    /// Why it does not hold several zones, where that is so.
    pub(crate) fn refuses_zones(&self) -> Option<&'static str> {
        match self.zones {
            Zones::Refused(reason) => Some(reason),
            Zones::Files { .. } => None,
        }
    }

    fn together(&self, settings: Settings) -> impl Iterator<Item = &'static ZonesFile> + use<> {
        let files: &[ZonesFile] = match self.zones {
            Zones::Files { together, .. } => together,
            Zones::Refused(_) => &[],
        };
        let wanted = settings.plot3d.dimensions;
        files.iter().filter(move |file| file.dimensions.is_none_or(|d| d == wanted))
    }

    fn is_each(&self) -> bool {
        matches!(self.zones, Zones::Files { each: true, .. })
    }

    /// Names below the output folder of the files that hold zones of these names.
    pub(crate) fn zone_files(&self, zones: &[&str], settings: Settings, good: bool) -> Vec<String> {
        let together =
            self.together(settings).map(|file| file.names[usize::from(!good)].to_owned());
        let each = self
            .files
            .iter()
            .filter(|_| self.is_each())
            .flat_map(|file| zones.iter().map(move |zone| of_zone(file.name(good), zone)));
        together.chain(each).collect()
    }

    /// Names below the output folder under which nothing may stand that gridgen did not write.
    pub(crate) fn zone_claims(
        &self,
        zones: &[&str],
        settings: Settings,
        good: bool,
    ) -> Vec<String> {
        let folders: Vec<String> = self
            .together(settings)
            .filter_map(|file| match file.contents {
                ZonesContents::Folder(_, parts) => Some((file.names[usize::from(!good)], parts)),
                ZonesContents::File(_) => None,
            })
            .flat_map(|(name, parts)| parts.iter().map(move |part| [name, "/", part].concat()))
            .collect();
        let folder =
            |name: &String| folders.iter().any(|part| part.starts_with(&[name, "/"].concat()));
        let files = self.zone_files(zones, settings, good).into_iter().filter(|name| !folder(name));
        files.chain(folders.clone()).collect()
    }

    /// Refuses zones of these sizes, plane or extruded, that the format cannot number or the disk of `folder` has
    /// no room for.
    ///
    /// # Errors
    /// [`IoError`] of the first such file.
    pub(crate) fn check_zones(
        &self,
        folder: &Path,
        sizes: &[[usize; 2]],
        span: Option<Span>,
        settings: Settings,
    ) -> Result<(), IoError> {
        for file in self.together(settings) {
            let extruded = span.filter(|_| file.dimensions != Some(Dimensions::Two));
            file.limits.check_all(&folder.join(file.names[0]), sizes, extruded)?;
        }
        for file in self.files.iter().filter(|_| self.is_each()) {
            sizes
                .iter()
                .try_for_each(|size| file.check(&folder.join(file.name(true)), *size, span))?;
        }
        Ok(())
    }

    /// Writes the zones into `folder`; returns the files.
    ///
    /// # Errors
    /// [`IoError`] of the first file that cannot be written.
    pub(crate) fn write_zones(
        &self,
        folder: &Path,
        mesh: &OversetMesh<'_>,
        good: bool,
    ) -> Result<Vec<PathBuf>, IoError> {
        let mut made = Vec::new();
        for file in self.together(mesh.settings) {
            let path = folder.join(file.names[usize::from(!good)]);
            match file.contents {
                ZonesContents::File(write) => {
                    atomic::write(&path, |out| write(out, mesh, good))?;
                }
                ZonesContents::Folder(write, _) => write(&path, mesh)?,
            }
            made.push(path);
        }
        for file in self.files.iter().filter(|_| self.is_each()) {
            for zone in mesh.zones {
                let path = folder.join(of_zone(file.name(good), zone.name));
                file.write(&path, &mesh.zone(zone))?;
                made.push(path);
            }
        }
        Ok(made)
    }
}

/// The name of a file for one zone: `mesh.flap.vts` for `mesh.vts`.
pub(super) fn of_zone(name: &str, zone: &str) -> String {
    match name.split_once('.') {
        Some((stem, end)) => [stem, ".", zone, ".", end].concat(),
        None => [name, ".", zone].concat(),
    }
}

/// The files of several zones as docs/overset.md has them. For tests.
#[doc(hidden)]
pub fn zones_documentation() -> String {
    let head = "| word | file | what it is |\n| --- | --- | --- |\n";
    let rows = super::FORMATS.iter().flat_map(|format| {
        let name = format.name;
        let row = |file: &str, what: &str| format!("| `{name}` | {file} | {what} |\n");
        match &format.zones {
            Zones::Refused(reason) => vec![row("", &format!("refused: {reason}"))],
            Zones::Files { together, each } => {
                let all = together
                    .iter()
                    .map(|file| row(&format!("`{}`", file.names[0]), file.description));
                let own = format.files.iter().filter(|_| *each);
                let own = own.map(|file| {
                    let name = format!("`{}`", of_zone(file.names[0], "flap"));
                    row(&name, &format!("one for each zone: {}", file.description))
                });
                all.chain(own).collect()
            }
        }
    });
    std::iter::once(head.to_owned()).chain(rows).collect()
}
