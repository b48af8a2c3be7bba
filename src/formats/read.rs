//! Meshes read back: files of this and other programs.
//!
//! A file becomes one plane grid, oriented as the program's own: i around the body, j from the wall
//! outward, cells counter-clockwise ([`Mesh`]). What was turned on the way is said in notes.

use std::path::Path;

use super::{FORMATS, ReadError, orient, plot3d};
use crate::files::contents;
use crate::grid::Grid;
use crate::grid::quality::WallLine;

/// Memory for a byte of a file, at most: `.su2` cells of ten bytes become four corners and the
/// nodes that they share.
const MEMORY_A_BYTE: u64 = 12;

/// A mesh from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    /// Its nodes.
    pub grid: Grid,
    /// Where on the line j = 0 the wall is.
    pub wall: WallLine,
    /// How the file was laid out and what was turned, one sentence each.
    pub notes: Vec<String>,
}

impl Mesh {
    /// Whether the grid is an O-grid that closes, a C-grid with its cut, or half a grid.
    #[must_use]
    pub fn weldable(&self) -> bool {
        !self.grid.topology.closed() || (self.wall.closed && self.wall.from == 0)
    }
}

/// Reads a mesh: `.vts`, `.vtk` and `.su2` by the name or the first bytes, Plot3D otherwise. Of a grid
/// that was extruded its plane is read.
///
/// # Errors
///
/// [`ReadError`] with the path: unreadable, of no known layout or of several that fit, more than one
/// block, not plane.
pub fn mesh(path: &Path) -> Result<Mesh, ReadError> {
    let bytes = contents::read(path, MEMORY_A_BYTE)
        .map_err(|source| ReadError::Unreadable { path: path.to_path_buf(), source })?;
    mesh_from_bytes(path, &bytes)
}

/// [`mesh`] with the bytes of the file at hand; `path` is for messages and tells the format.
///
/// # Errors
///
/// As [`mesh`].
pub fn mesh_from_bytes(path: &Path, bytes: &[u8]) -> Result<Mesh, ReadError> {
    let head = &bytes[..bytes.len().min(512)];
    let mut notes = Vec::new();
    // Nothing tells Plot3D from other files but that it fits.
    let reader = FORMATS.iter().find_map(|format| {
        let reader = format.reader.as_ref()?;
        let begins = reader.begins?;
        (begins(head) || format.is_named(path)).then_some(reader)
    });
    let grid = (reader.unwrap_or(&plot3d::READER).grid)(path, bytes, &mut notes)?;
    let (grid, wall) = orient::orient(grid, &mut notes);
    Ok(Mesh { grid, wall, notes })
}
