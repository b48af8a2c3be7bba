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

use super::span::Span;
use super::{FileKind, IoError, atomic, folder, limits};
use crate::grid::{Grid, Topology};

/// The mesh within the case.
const MESH: &str = "constant/polyMesh";

/// The script within the case.
const SCRIPT: &str = "Allrun";

/// Writes the case into the folder `path`.
///
/// The mesh appears whole or not at all, and last. It replaces the mesh of an earlier run; a file
/// of the set-up that is there already stays, because users edit them.
///
/// # Errors
///
/// [`IoError`] of the first file that cannot be written.
pub fn write(path: &Path, grid: &Grid, span: Option<Span>) -> Result<(), IoError> {
    limits::check(path, FileKind::Openfoam, [grid.ni, grid.nj], span)?;
    for (name, class, contents) in setup::FILES {
        let file = path.join(name);
        if !file.exists() {
            if let Some(folder) = file.parent() {
                atomic::create_folder(folder)?;
            }
            let object = name.rsplit('/').next().unwrap_or(name);
            let half = matches!(grid.topology, Topology::Half(_));
            let choices = setup::Choices::new(span, half);
            atomic::write(&file, |out| setup::write_to(out, class, object, contents, &choices))?;
        }
    }
    write_script(&path.join(SCRIPT))?;
    atomic::write_folder(&path.join(MESH), |folder| {
        for part in mesh::Part::ALL {
            atomic::write(&folder.join(part.file_name()), |out| {
                mesh::write_to(out, grid, span, part)
            })?;
        }
        // The earlier one stays until this one is complete.
        remove_folder(&path.join(MESH))
    })
}

/// Writes the script that solves the case unless it is there.
fn write_script(path: &Path) -> Result<(), IoError> {
    if path.exists() {
        return Ok(());
    }
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

/// Removes the mesh from the case in the folder `path`, and parts that an interrupted run left;
/// leaves set-up and results in it.
///
/// # Errors
///
/// [`IoError`] when something of it cannot be removed.
pub(super) fn remove_mesh(path: &Path) -> Result<(), IoError> {
    remove_folder(&path.join(MESH))?;
    let folders = ["0", "constant", "system"].map(|name| path.join(name));
    folders
        .iter()
        .filter(|folder| folder.is_dir())
        .try_for_each(|found| folder::remove_parts(found))
}

/// Removes a folder if it is there.
fn remove_folder(path: &Path) -> Result<(), IoError> {
    match fs::remove_dir_all(path) {
        Err(source) if path.exists() => Err(IoError::new(path, source)),
        _ => Ok(()),
    }
}
