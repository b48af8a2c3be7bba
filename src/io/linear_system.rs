//! Linear systems for other programs: 2×2 blocks in binary.

use std::io::Write;
use std::path::Path;

use super::{IoError, atomic};
use crate::sparse::Csr;

/// First bytes of a file of blocks.
pub const BLOCKS_MAGIC: &[u8; 8] = b"GGBLK2x2";

/// Writes a matrix of 2×2 blocks and a right side in binary, all little-endian:
/// [`BLOCKS_MAGIC`]; block rows n and blocks m as u64; n + 1 starts of block rows as u64; m block
/// columns as u32; m blocks of four f64, row-major; 2 n values of the right side as f64.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write_blocks(path: &Path, a: &Csr, b: &[f64]) -> Result<(), IoError> {
    let points = a.rows() / 2;
    let mut starts = vec![0_u64];
    let (mut columns, mut blocks) = (Vec::<u32>::new(), Vec::<[f64; 4]>::new());
    for point in 0..points {
        let begin = columns.len();
        for row in 0..2 {
            for (column, value) in a.row(2 * point + row) {
                let block = (column / 2) as u32;
                let known = columns[begin..].iter().position(|&c| c == block);
                let at = known.map_or(columns.len(), |k| begin + k);
                if known.is_none() {
                    columns.push(block);
                    blocks.push([0.0; 4]);
                }
                blocks[at][2 * row + column % 2] = value;
            }
        }
        starts.push(columns.len() as u64);
    }
    atomic::write(path, |out| {
        out.write_all(BLOCKS_MAGIC)?;
        out.write_all(&(points as u64).to_le_bytes())?;
        out.write_all(&(columns.len() as u64).to_le_bytes())?;
        starts.iter().try_for_each(|start| out.write_all(&start.to_le_bytes()))?;
        columns.iter().try_for_each(|column| out.write_all(&column.to_le_bytes()))?;
        blocks.iter().flatten().chain(b).try_for_each(|value| out.write_all(&value.to_le_bytes()))
    })
}
