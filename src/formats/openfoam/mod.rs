//! Cases for OpenFOAM: the mesh as a `polyMesh` and what a first inviscid run needs in addition.
//!
//! A plane grid is one layer of cells over a span of one chord, with the patches `airfoil` (a wall),
//! `farfield` (with the outflow of a C-grid) and `frontAndBack` (empty, which makes it
//! two-dimensional); an extruded one has the patches `back` and `front`, planes of symmetry or
//! cyclic; half a grid has the patch `symmetry`, a plane of symmetry. Source: "OpenFOAM User
//! Guide", chapter 4.1, mesh description.

mod check;
mod mesh;
mod read;
mod setup;

use std::fs;
use std::path::Path;

pub use check::{Measure, Objection, objections};
pub(super) use read::{READ, READ_HINT, mesh_in, zones};

use self::setup::{OVERSET_SETUP, SETUP, VISCOUS_SETUP, choices, write_text};
use super::data::{MeshData, Parts};
use super::format::{Converted, FileContents, Format, Holds, MeshFile};
use crate::files::output::{FolderRules, Output};
use crate::files::{IoError, atomic};

/// The word for such cases.
pub const NAME: &str = "openfoam";

pub(super) const FORMAT: Format = Format {
    name: NAME,
    title: "OpenFOAM",
    extensions: &[],
    welded: true,
    files: &[MeshFile {
        names: ["openfoam", "openfoam.failed"],
        holds: Holds::All,
        dimensions: None,
        // Coordinates are text.
        least_bytes: 24,
        contents: FileContents::Folder { write: make, parts: names, lacks },
    }],
    refuses_zones: None,
    convert: Some(|path, m, force| {
        let mut notes = write(path, m, force)?;
        notes.extend(objections(&m.blocks(), m.span).iter().map(ToString::to_string));
        Ok(Converted { files: vec![path.to_path_buf()], notes })
    }),
    reader: None,
};

const MESH: &str = "constant/polyMesh";

/// The fields of a case at its start.
const START: &str = "0";

/// Writes the case into the folder `path`, or replaces the one that gridgen wrote there: the new one is
/// complete before a file of the old one goes. A file of the set-up that a user changed or wrote
/// stays, because users edit them, unless `force` says otherwise; a mesh that gridgen did not write is
/// refused. Returns what such files lack, one sentence each.
pub fn write(path: &Path, mesh: &MeshData<'_>, force: bool) -> Result<Vec<String>, IoError> {
    let output = Output::open(path, RULES, force)?;
    output.check(names(Parts::Whole))?;
    output.fill(|files| make(files, mesh).map(|()| Vec::new()))?;
    let lacks = lacks(&output, "", mesh);
    let notice = output.notice();
    output.commit()?;
    Ok(notice.into_iter().chain(lacks).collect())
}

/// Writes the case into the folder `path`, or replaces it there.
fn make(path: &Path, mesh: &MeshData<'_>) -> Result<(), IoError> {
    let place = |name: &str| {
        let file = path.join(name);
        file.parent().map_or(Ok(()), atomic::create_folder).map(|()| file)
    };
    let several = mesh.parts() == Parts::Overset;
    let own = match mesh.settings.reynolds {
        _ if several => &OVERSET_SETUP[..],
        Some(_) => &VISCOUS_SETUP,
        None => &[],
    };
    let shared = SETUP.iter().filter(|file| own.iter().all(|other| other.0 != file.0));
    let (mut setup, choices) = (own.iter().chain(shared), choices(mesh));
    setup.try_for_each(|file| write_text(&place(file.0)?, *file, &choices))?;
    let parts = mesh::Mesh::new(mesh);
    for part in mesh_files(several) {
        atomic::write(&place(part.0)?, |out| parts.write(out, part))?;
    }
    for (name, write) in setup::FIELDS.into_iter().filter(|_| several) {
        atomic::write(&place(name)?, |out| {
            mesh::write_head(out, name, "volScalarField", "")?;
            write(out, mesh, &parts)
        })?;
    }
    Ok(())
}

fn mesh_files(several: bool) -> impl Iterator<Item = mesh::Part> {
    mesh::PARTS.into_iter().chain(several.then_some(mesh::CELL_ZONES))
}

/// Names within the case under which no file of another origin may stand.
fn names(parts: Parts) -> Vec<&'static str> {
    let several = parts == Parts::Overset;
    let fields = setup::FIELDS.iter().filter(|_| several).map(|(name, _)| *name);
    mesh_files(several).map(|(name, ..)| name).chain(fields).collect()
}

/// The rules by which the files of a case are exchanged for new ones.
pub(super) const RULES: FolderRules = FolderRules {
    editable: is_setup,
    sole: mesh_of,
    // OpenFOAM reads no mesh without its list of patches.
    completing: |name| mesh_of(name).is_some() && ends_with(name, "boundary"),
    ..FolderRules::NONE
};

/// Whether a name below an output folder belongs to a file of the set-up, which users edit.
pub(super) fn is_setup(name: &str) -> bool {
    let mut files = SETUP.iter().chain(&VISCOUS_SETUP).chain(&OVERSET_SETUP);
    files.any(|(file, _)| ends_with(name, file))
}

/// The folder of the mesh that a file below an output folder belongs to.
fn mesh_of(name: &str) -> Option<&str> {
    let (folder, _) = name.rsplit_once('/')?;
    ends_with(folder, MESH).then_some(folder)
}

/// Whether `name` ends with the parts of `end`.
fn ends_with(name: &str, end: &str) -> bool {
    Path::new(name).ends_with(end)
}

/// Bytes of a field that is looked into: no set-up is as long.
const LARGEST_FIELD: u64 = 1 << 20;

/// Finds what the fields at the start lack that stay as a user wrote them: the patches of the new mesh in
/// the folder `case` of `output` that they do not name, one sentence a field.
fn lacks(output: &Output, case: &str, mesh: &MeshData<'_>) -> Vec<String> {
    let mesh = mesh::Mesh::new(mesh);
    let patches: Vec<&str> = mesh.patches().collect();
    let start = if case.is_empty() { START.to_owned() } else { [case, "/", START].concat() };
    let Ok(entries) = fs::read_dir(output.root().join(&start)) else { return Vec::new() };
    let mut fields: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    fields.sort();
    let lack = |field: &std::ffi::OsString| {
        let name = format!("{start}/{}", field.to_string_lossy());
        let path = output.root().join(&name);
        let small = path.metadata().is_ok_and(|it| it.is_file() && it.len() <= LARGEST_FIELD);
        if !small || !output.stays(&name) {
            return None;
        }
        let missing = unnamed(&fs::read_to_string(&path).ok()?, &patches);
        let patches = match missing.as_slice() {
            [] => return None,
            [one] => format!("patch {one}"),
            several => format!("patches {}", several.join(", ")),
        };
        let path = path.display();
        Some(format!("{path} stays as you have it and does not name the {patches} of the new mesh"))
    };
    fields.iter().filter_map(lack).collect()
}

/// The patches that the text of a field does not name. Patterns and included files may name them all.
fn unnamed<'p>(text: &str, patches: &[&'p str]) -> Vec<&'p str> {
    let Some(at) = text.find("boundaryField") else { return Vec::new() };
    let boundary = &text[at..];
    if boundary.contains(['"', '#']) {
        return Vec::new();
    }
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let named = |patch: &&str| boundary.split(|c| !word(c)).any(|word| word == *patch);
    patches.iter().copied().filter(|patch| !named(patch)).collect()
}
