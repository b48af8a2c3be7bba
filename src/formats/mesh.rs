//! The span of a plane grid in the third dimension, and the largest meshes that formats and the disk
//! can hold: a larger one is refused before a byte of it is written.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::files::{IoError, WriteFault};

/// The kind of the two planes at the ends of the span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sides {
    /// Planes of symmetry.
    Symmetry,
    /// The last repeats the first.
    Periodic,
}

/// A plane grid repeated from z = 0 to z = `length`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Length in the unit of the grid.
    pub length: f64,
    /// Cells over it, at least one.
    pub cells: usize,
    /// The kind of its ends.
    pub sides: Sides,
}

impl Span {
    /// One cell over one unit: what programs without two dimensions take for a plane.
    pub const ONE: Self = Self { length: 1.0, cells: 1, sides: Sides::Symmetry };

    /// Planes of nodes.
    pub fn planes(&self) -> usize {
        self.cells + 1
    }

    /// z of a plane.
    pub fn z(&self, plane: usize) -> f64 {
        // The last one bit for bit.
        if plane == self.cells {
            self.length
        } else {
            self.length * plane as f64 / self.cells as f64
        }
    }
}

/// Number of planes of a grid that is extruded or stays in the plane z = 0.
pub(super) fn count(span: Option<Span>) -> usize {
    span.map_or(1, |span| span.planes())
}

/// Layers of cells of a grid that is extruded; one of a grid that stays in the plane.
pub(super) fn layers(span: Option<Span>) -> usize {
    span.map_or(1, |span| span.cells)
}

/// z of these planes.
pub(super) fn planes(span: Option<Span>) -> impl Iterator<Item = f64> {
    (0..count(span)).map(move |k| span.map_or(0.0, |span| span.z(k)))
}

/// Most nodes in a direction, and most faces of a mesh for OpenFOAM: 32-bit numbers with a sign.
const LABELS: u128 = i32::MAX as u128;
/// Bytes of the coordinates of a node, which formats count in 63 bits for a mesh.
const NODE_BYTES: u128 = 24;

/// The limits of a format.
#[derive(Debug, Clone, Copy)]
pub(super) struct FormatLimits {
    /// Bytes of a file for a node, at least.
    pub(super) least_bytes: u64,
    /// Whether faces are numbered in addition to nodes.
    pub(super) numbers_faces: bool,
}

impl FormatLimits {
    /// The limits of a file without nodes.
    pub(super) const NONE: Self = Self::of(0);

    /// The limits of a format that takes at least this number of bytes per node.
    pub(super) const fn of(least_bytes: u64) -> Self {
        Self { least_bytes, numbers_faces: false }
    }

    /// Refuses to write grids of these `sizes` in nodes, plane or extruded, to `path` where the format
    /// cannot number their parts or the disk has no room for them.
    pub(super) fn check(
        self,
        path: &Path,
        sizes: &[[usize; 2]],
        span: Option<Span>,
    ) -> Result<(), IoError> {
        let planes = span.map_or(1, |span| span.cells as u128 + 1);
        let sizes = || sizes.iter().map(|[ni, nj]| [*ni as u128, *nj as u128, planes]);
        let refused = |what, count, most| Err(WriteFault::TooLarge { what, count, most }.at(path));
        if let Some(count) = sizes().flatten().find(|&count| count > LABELS) {
            return refused("nodes in a direction", count, LABELS);
        }
        // Each is below 2⁹³.
        let nodes: u128 = sizes().map(|size| size.iter().product::<u128>()).sum();
        let most = i64::MAX as u128 / NODE_BYTES;
        if nodes > most {
            return refused("nodes", nodes, most);
        }
        let faces: u128 = sizes().map(faces).sum();
        if self.numbers_faces && faces > LABELS {
            return refused("faces", faces, LABELS);
        }
        check_disk(path, nodes * u128::from(self.least_bytes))
    }
}

/// Faces of a block of cells, of one layer at least; a seam or a cut joins some of them.
fn faces([ni, nj, planes]: [u128; 3]) -> u128 {
    let nodes = [ni, nj, planes.max(2)];
    let across = |axis: usize| -> u128 {
        (0..3).map(|k| if k == axis { nodes[k] } else { nodes[k].saturating_sub(1) }).product()
    };
    (0..3).map(across).sum()
}

/// Refuses to write more bytes than the disk has free; what the system does not tell is free.
fn check_disk(path: &Path, needed: u128) -> Result<(), IoError> {
    let folder = path.ancestors().find(|folder| folder.is_dir());
    let free = fs4::available_space(folder.unwrap_or(Path::new(".")));
    match free {
        Ok(free) if needed > u128::from(free) => {
            let needed = u64::try_from(needed).unwrap_or(u64::MAX);
            Err(WriteFault::NoRoom { needed, free }.at(path))
        }
        _ => Ok(()),
    }
}
