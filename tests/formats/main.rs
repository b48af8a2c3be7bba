//! Files: meshes for and from other programs, results, matrices.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a failing step fails the test")]

mod blocks;
mod cgns;
mod check_mesh;
mod exchange;
mod extruded;
mod files;
mod folders;
mod limits;
mod matrix_market;
mod mesh_files;
mod msh;
mod plot;
mod readers;
mod su2_setup;
mod writers;
mod zones;

use std::io::{self, Cursor};

use gridgen::grid::Grid;
use support::grids::{half_grid, joukowski_grid, parabolic_grid};

/// An O-grid, a C-grid, and half an O-grid, with numbers of cells that curved cells of every order divide, and an odd number
/// of points that fills no buffer.
fn grids() -> [Grid; 3] {
    [joukowski_grid(49, 25, 0.2), parabolic_grid(61, 13, 12), half_grid(25, 25)]
}

/// The bytes that are written.
fn written(write: impl FnOnce(&mut Cursor<Vec<u8>>) -> io::Result<()>) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    write(&mut out).unwrap();
    out.into_inner()
}

/// The text that is written.
fn text_of(write: impl FnOnce(&mut Cursor<Vec<u8>>) -> io::Result<()>) -> String {
    String::from_utf8(written(write)).unwrap()
}
