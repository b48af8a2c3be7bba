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
