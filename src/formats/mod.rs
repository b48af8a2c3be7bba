//! Formats of meshes and matrices: a file or a folder each, written from finished data, and readers.
//!
//! [`FORMATS`] is the one table of mesh formats. A new one is a file here with its [`Format`], its name
//! there, and what docs/formats.md and the tests say of it.

mod arrays;
mod block;
pub mod cgns;
mod data;
mod foreign;
mod format;
pub mod matrix_market;
mod mesh;
pub mod msh;
pub mod nmf;
pub mod npy;
pub mod openfoam;
mod ordering;
pub mod plot3d;
pub mod points;
mod read;
pub mod su2;
mod table;
pub mod vtk;
pub mod vts;
mod welded;

pub use self::block::{ReadError, ReadFault};
pub use self::data::{Compression, MeshData, Reference, Settings};
use self::format::{Contents, Folder, of_zone};
pub use self::format::{Converted, Format, Holds, MeshFile};
pub use self::mesh::{Sides, Span};
pub use self::read::{Mesh, mesh, mesh_from_bytes};
pub use self::table::{FORMATS, NAMES, write};
