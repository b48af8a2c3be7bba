//! Cases for OpenFOAM: the mesh as a `polyMesh` and what a first inviscid run needs beside it.
//!
//! A plane grid is one layer of cells over a span of one chord, with the patches `airfoil` (a wall),
//! `farfield` (with the outflow of a C-grid) and `frontAndBack` (empty, which makes it
//! two-dimensional); an extruded one has the patches `back` and `front`, planes of symmetry or
//! cyclic; half a grid has the patch `symmetry`, a plane of symmetry. Source: "OpenFOAM User
//! Guide", chapter 4.1, mesh description.

mod check;
mod mesh;
mod setup;

use std::fs;
use std::io::{self, Write};
use std::path::Path;

pub use check::{Measure, Objection, objections};

use super::mesh::{Limits, Span};
use crate::files::output::{FolderRules, Output};
use crate::files::{IoError, atomic};
use crate::grid::{Grid, Symmetry, Topology};

/// Length and place that force coefficients refer to, in the unit of the mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// The chord.
    pub length: f64,
    /// Point that moments are taken about.
    pub centre: [f64; 2],
}

impl Reference {
    /// Those of a grid whose case is not known: the chord from the trailing edge to the point of the
    /// wall that is farthest from it, and its quarter.
    #[must_use]
    pub fn of(grid: &Grid) -> Self {
        let wall = grid.topology.wall(grid.ni);
        let edge = match grid.topology {
            Topology::Half(Symmetry::UpDown) => grid.point(*wall.end(), 0),
            _ => grid.point(*wall.start(), 0),
        };
        let from_edge = |[x, y]: [f64; 2]| (x - edge[0]).hypot(y - edge[1]);
        let points = wall.map(|i| grid.point(i, 0));
        let nose = points.fold(
            edge,
            |nose, point| {
                if from_edge(point) > from_edge(nose) { point } else { nose }
            },
        );
        let centre = [0, 1].map(|c| nose[c] + 0.25 * (edge[c] - nose[c]));
        Self { length: from_edge(nose), centre }
    }
}

/// Faces are numbered in 31 bits; coordinates are text.
pub(in crate::formats) const LIMITS: Limits = Limits { least_bytes: 24, numbers_faces: true };

/// The word for such cases.
pub const NAME: &str = "openfoam";

/// The files of the mesh within the case.
pub(super) const MESH_FILES: [&str; 5] = [
    "constant/polyMesh/points",
    "constant/polyMesh/faces",
    "constant/polyMesh/owner",
    "constant/polyMesh/neighbour",
    "constant/polyMesh/boundary",
];

/// The mesh within the case.
const MESH: &str = "constant/polyMesh";

/// The fields of a case at its start.
const START: &str = "0";

/// The script within the case.
const SCRIPT: &str = "Allrun";

/// Writes the case into the folder `path`, or replaces the one that gridgen wrote there: the new one is
/// complete before a file of the old one goes. A file of the set-up that somebody changed or wrote
/// stays, because users edit them, unless `force` says otherwise. Returns what such files lack, one
/// sentence each.
///
/// # Errors
///
/// [`crate::files::WriteFault::Foreign`] where a mesh stands there that gridgen did not write, [`crate::files::WriteFault::Busy`] where
/// somebody else writes there; else [`IoError`] of the first file that cannot be written.
pub fn write(
    path: &Path,
    grid: &Grid,
    span: Option<Span>,
    force: bool,
) -> Result<Vec<String>, IoError> {
    let reference = Reference::of(grid);
    let output = Output::open(path, RULES, force)?;
    output.check(MESH_FILES)?;
    output.fill(|files| make(files, grid, span, reference).map(|()| Vec::new()))?;
    let lacks = lacks(&output, "", grid, span);
    let notice = output.notice();
    output.commit()?;
    Ok(notice.into_iter().chain(lacks).collect())
}

/// Writes the case into the folder `path`, in place of what stands there.
///
/// # Errors
///
/// [`IoError`] of the first file that cannot be written.
pub(super) fn make(
    path: &Path,
    grid: &Grid,
    span: Option<Span>,
    reference: Reference,
) -> Result<(), IoError> {
    let half = matches!(grid.topology, Topology::Half(_));
    let choices = setup::Choices::new(span, half, reference);
    for (name, class, contents) in setup::FILES {
        let file = path.join(name);
        if let Some(folder) = file.parent() {
            atomic::create_folder(folder)?;
        }
        let object = name.rsplit('/').next().unwrap_or(name);
        atomic::write(&file, |out| setup::write_to(out, class, object, contents, &choices))?;
    }
    write_script(&path.join(SCRIPT))?;
    atomic::create_folder(&path.join(MESH))?;
    mesh::Part::ALL.into_iter().zip(MESH_FILES).try_for_each(|(part, name)| {
        atomic::write(&path.join(name), |out| mesh::write_to(out, grid, span, part))
    })
}

/// How the files of a case are exchanged for those of a new one.
pub(crate) const RULES: FolderRules =
    FolderRules { editable: is_setup, sole: mesh_of, completing: is_list_of_patches };

/// Whether a name below an output folder is that of a file of the set-up, which users edit.
fn is_setup(name: &str) -> bool {
    setup::FILES.iter().map(|(name, ..)| *name).chain([SCRIPT]).any(|file| ends_with(name, file))
}

/// The folder of the mesh that a file below an output folder belongs to.
fn mesh_of(name: &str) -> Option<&str> {
    let (folder, _) = name.rsplit_once('/')?;
    ends_with(folder, MESH).then_some(folder)
}

/// Whether a name is that of the list of patches, without which OpenFOAM reads no mesh.
fn is_list_of_patches(name: &str) -> bool {
    mesh_of(name).is_some() && ends_with(name, mesh::Part::Boundary.file_name())
}

/// Whether `name` ends with the parts of `end`.
fn ends_with(name: &str, end: &str) -> bool {
    Path::new(name).ends_with(end)
}

/// Bytes of a field that is looked into: no set-up has so many.
const LARGEST_FIELD: u64 = 1 << 20;

/// What the fields at the start lack that stay as somebody wrote them: the patches of the new mesh in
/// the folder `case` of `output` that they do not name, one sentence a field.
pub(super) fn lacks(output: &Output, case: &str, grid: &Grid, span: Option<Span>) -> Vec<String> {
    let patches = mesh::patches(grid, span);
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

/// Writes the script that solves the case.
fn write_script(path: &Path) -> Result<(), IoError> {
    atomic::write(path, |out| {
        out.write_all(setup::SCRIPT.as_bytes())?;
        make_executable(out.get_ref().file())
    })
}

#[cfg(unix)]
fn make_executable(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = file.metadata()?.permissions();
    // Whoever may read the script may run it.
    permissions.set_mode(permissions.mode() | (permissions.mode() & 0o444) >> 2);
    file.set_permissions(permissions)
}

#[cfg(not(unix))]
fn make_executable(_: &fs::File) -> io::Result<()> {
    Ok(())
}
