//! Files: meshes for other programs and of them, results, matrices.

mod cgns;
mod check_mesh;
mod extruded;
mod files;
mod matrix_market;
mod mesh_files;
mod writers;
