//! Meshes read back: Plot3D, `.vts`, `.vtk` and `.su2` files of this and other programs.
//!
//! A file becomes one plane grid, oriented as the program's own: i around the body, j from the wall
//! outward, cells counter-clockwise ([`Mesh`]). What was turned on the way is said in notes.

mod error;
mod orient;
mod plane;
mod plot3d;
mod su2;
mod vtk;
mod vts;

use std::path::Path;

pub use error::ReadError;

use crate::files::contents;
use crate::grid::Grid;
use crate::grid::quality::WallLine;
use crate::memory;

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

/// One block as a file has it: two or three dimensions, coordinate by coordinate, i fastest.
#[derive(Debug, Clone, PartialEq)]
struct Block {
    dimensions: Vec<usize>,
    coordinates: Vec<Vec<f64>>,
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
    let xml = head.windows(8).any(|w| w == b"<VTKFile");
    let mut notes = Vec::new();
    let named = |name: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(name));
    let grid = if xml || named("vts") {
        plane::of(path, vts::block(path, bytes)?)?
    } else if head.starts_with(vtk::MAGIC) || named("vtk") {
        plane::of(path, vtk::block(path, bytes)?)?
    } else if su2::is_su2(head) || named("su2") {
        plane::of(path, su2::block(path, bytes)?)?
    } else {
        plot3d::grid(path, bytes, &mut notes)?
    };
    let (grid, wall) = orient::orient(grid, &mut notes);
    Ok(Mesh { grid, wall, notes })
}

/// Memory for a number of a mesh: of the file, of its block, of its plane, and of the turned grid.
const NUMBER_BYTES: u64 = 32;

/// Refuses a mesh of so many numbers that does not fit the memory.
fn check_memory(path: &Path, numbers: usize) -> Result<(), ReadError> {
    memory::check((numbers as u64).saturating_mul(NUMBER_BYTES))
        .map_err(|source| ReadError::Memory { path: path.to_path_buf(), source })
}
