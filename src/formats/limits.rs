//! What the formats of meshes can number, and the room on the disk: a mesh beyond either is refused
//! before a byte of it is written.

use std::path::Path;

use super::FileKind;
use super::span::Span;
use crate::files::IoError;

/// Most nodes in a direction, and most faces of a mesh for OpenFOAM: 32-bit numbers with a sign.
const LABELS: u128 = i32::MAX as u128;
/// Bytes of the coordinates of a node, which formats count in 63 bits for a mesh.
const NODE_BYTES: u128 = 24;

/// Refuses to write a grid of `ni` × `nj` nodes, plane or extruded, to `path` where the format cannot
/// number its parts or the disk has no room for it. Files that hold no mesh have no limits.
///
/// # Errors
///
/// [`IoError::TooLarge`], [`IoError::NoRoom`].
pub fn check(
    path: &Path,
    kind: FileKind,
    [ni, nj]: [usize; 2],
    span: Option<Span>,
) -> Result<(), IoError> {
    let Some(least) = least_bytes(kind) else { return Ok(()) };
    let extruded = span.filter(|_| kind != FileKind::Plot3dPlanar);
    let planes = extruded.map_or(1, |span| span.cells as u128 + 1);
    let size = [ni as u128, nj as u128, planes];
    let refused =
        |what, count, most| Err(IoError::TooLarge { path: path.to_path_buf(), what, count, most });
    if let Some(&count) = size.iter().find(|&&count| count > LABELS) {
        return refused("nodes in a direction", count, LABELS);
    }
    // Below 2⁹³.
    let nodes: u128 = size.iter().product();
    let most = i64::MAX as u128 / NODE_BYTES;
    if nodes > most {
        return refused("nodes", nodes, most);
    }
    let faces = faces(size);
    if kind == FileKind::Openfoam && faces > LABELS {
        return refused("faces", faces, LABELS);
    }
    check_disk(path, nodes * u128::from(least))
}

/// Faces of a block of cells, of one layer at least; a seam or a cut joins some of them.
fn faces([ni, nj, planes]: [u128; 3]) -> u128 {
    let nodes = [ni, nj, planes.max(2)];
    let across = |axis: usize| -> u128 {
        (0..3).map(|k| if k == axis { nodes[k] } else { nodes[k].saturating_sub(1) }).product()
    };
    (0..3).map(across).sum()
}

/// Bytes of a file for a node, at least; none for files that hold no mesh.
fn least_bytes(kind: FileKind) -> Option<u64> {
    match kind {
        FileKind::Nmf => Some(0),
        // Compressed arrays are shorter.
        FileKind::Vts => Some(1),
        // Plot3D in single precision and two dimensions; as text a number is longer.
        FileKind::Plot3d | FileKind::Plot3dPlanar => Some(8),
        // `0 0 N` and a cell of numbers parted by blanks in SU2.
        FileKind::Su2 | FileKind::Cgns => Some(16),
        FileKind::Vtk | FileKind::Openfoam => Some(24),
        _ => None,
    }
}

/// Refuses to write so many bytes where the disk has fewer free; what the system does not tell is free.
fn check_disk(path: &Path, needed: u128) -> Result<(), IoError> {
    let folder = path.ancestors().find(|folder| folder.is_dir());
    let free = fs4::available_space(folder.unwrap_or(Path::new(".")));
    match free {
        Ok(free) if needed > u128::from(free) => {
            let needed = u64::try_from(needed).unwrap_or(u64::MAX);
            Err(IoError::NoRoom { path: path.to_path_buf(), needed, free })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::span::Sides;

    fn refusal(kind: FileKind, size: [usize; 2], cells: usize) -> Option<String> {
        let span = (cells > 0).then_some(Span { length: 1.0, cells, sides: Sides::Symmetry });
        check(Path::new("m"), kind, size, span).err().map(|error| error.to_string())
    }

    #[test]
    fn faces_are_those_of_a_block() {
        // Of 2 × 1 × 1 cells: three across i, four across j and four across k.
        assert_eq!(faces([3, 2, 2]), 11);
    }

    #[test]
    fn labels_of_openfoam_have_thirty_one_bits() {
        // A layer of (n − 1)² cells has 2 (n − 1)(2 n − 1) faces: 2 147 441 940 for n = 23 171.
        let beyond = refusal(FileKind::Openfoam, [23172, 23172], 0);

        assert_eq!(
            beyond.as_deref(),
            Some("cannot write m: 2147627306 faces, the format numbers at most 2147483647")
        );
        assert_eq!(faces([23171, 23171, 1]), 2_147_441_940);
    }

    #[test]
    fn spans_that_no_format_can_hold_are_refused_without_a_panic() {
        for kind in FileKind::ALL {
            let refused = [2_000_000_000_000_000_000, usize::MAX - 1, 1 << 31]
                .map(|cells| refusal(kind, [257, 129], cells));

            let mesh = least_bytes(kind).is_some() && kind != FileKind::Plot3dPlanar;
            assert!(refused.iter().all(|refused| refused.is_some() == mesh), "{refused:?}");
        }
    }

    #[test]
    fn what_the_disk_cannot_take_is_refused_before_it_is_begun() {
        let refused = refusal(FileKind::Vtk, [1 << 20, 1 << 10], (1 << 20) - 1);

        assert!(refused.is_some_and(|said| said.starts_with("cannot write m: 24.0 PiB")));
    }
}
