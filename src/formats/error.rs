//! What can go wrong while a mesh is read.

use std::io;
use std::path::PathBuf;

use crate::files::contents;
use crate::memory::NotEnoughMemory;

/// A mesh could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system would not let the file be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// As given.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The mesh does not fit the memory.
    #[error("{}: {source}", path.display())]
    Memory {
        /// As given.
        path: PathBuf,
        /// What is needed and what there is.
        source: NotEnoughMemory,
    },
    /// Repeat counts of a text file that stand for more numbers than a grid of its length has.
    #[error("{}: word {place}, `{word}`, makes more than {most} numbers of {bytes} bytes", path.display())]
    Repeats {
        /// As given.
        path: PathBuf,
        /// Counted from 1.
        place: usize,
        /// As it stands.
        word: String,
        /// Numbers that a file of this length may have.
        most: usize,
        /// Length of the file.
        bytes: usize,
    },
    /// No layout of Plot3D fits the file.
    #[error("{}: not a Plot3D file of one block: no layout fits its {length} {unit}", path.display())]
    NoLayout {
        /// As given.
        path: PathBuf,
        /// Length of the file.
        length: usize,
        /// Numbers or bytes.
        unit: &'static str,
    },
    /// Several layouts of Plot3D fit, and they give different grids.
    #[error("{}: the Plot3D layout is ambiguous: {first}, or {second}", path.display())]
    Ambiguous {
        /// As given.
        path: PathBuf,
        /// One layout.
        first: String,
        /// Another.
        second: String,
    },
    /// A word of a text file is no number.
    #[error("{}: word {place}, `{word}`, is not a number", path.display())]
    NotANumber {
        /// As given.
        path: PathBuf,
        /// Counted from 1.
        place: usize,
        /// As it stands.
        word: String,
    },
    /// A file of a known format that is not laid out as expected.
    #[error("{}: {reason}", path.display())]
    Layout {
        /// As given.
        path: PathBuf,
        /// What is wrong.
        reason: &'static str,
        /// What would be read.
        hint: &'static str,
    },
    /// The block has three dimensions of more than two nodes, and no extruded plane.
    #[error("{}: a volume of {} nodes, a plane grid was expected", path.display(), dimensions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" × "))]
    Volume {
        /// As given.
        path: PathBuf,
        /// Nodes in each direction.
        dimensions: Vec<usize>,
    },
    /// The plane is not one of constant x, y or z.
    #[error("{}: none of x, y and z is constant on the surface, a plane grid was expected", path.display())]
    NotPlane {
        /// As given.
        path: PathBuf,
    },
    /// Fewer than two nodes in a direction.
    #[error("{}: {ni} × {nj} nodes make no cell", path.display())]
    NoCells {
        /// As given.
        path: PathBuf,
        /// Nodes in i.
        ni: usize,
        /// Nodes in j.
        nj: usize,
    },
}

impl ReadError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { source, .. } => contents::hint(source),
            Self::Memory { source, .. } => source.hint(),
            Self::Repeats { .. } => {
                "write the numbers out: points of a grid differ from each other"
            }
            Self::NoLayout { .. } | Self::NotANumber { .. } => {
                "read are text, Fortran records and plain binary; two or three dimensions; one block"
            }
            Self::Ambiguous { .. } => {
                "write the mesh as text with three dimensions and a block count"
            }
            Self::Layout { hint, .. } => hint,
            Self::Volume { .. } | Self::NotPlane { .. } | Self::NoCells { .. } => {
                "give a plane grid, or one that was extruded along its third index"
            }
        }
    }
}
