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
