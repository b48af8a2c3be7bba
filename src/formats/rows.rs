//! Points and cell measures as raw 64-bit numbers, encoded row by row.

use std::io::{self, Write};

use rayon::prelude::*;

use crate::files::pieces;
use crate::grid::Grid;
use crate::grid::quality::CellMeasure;

/// Bytes of a batch, about: they stay in a cache between encoding and writing.
const BATCH_BYTES: usize = 1 << 20;

const F64_BYTES: usize = size_of::<f64>();

/// Writes x, y and `z` of all points.
pub(super) fn write_points(
    out: &mut (impl Write + Send),
    grid: &Grid,
    z: f64,
    to_bytes: impl Fn(f64) -> [u8; F64_BYTES] + Sync,
) -> io::Result<()> {
    write(out, (grid.nj, grid.ni * 3), to_bytes, |j, row| {
        let line = j * grid.ni..(j + 1) * grid.ni;
        let points = row.as_chunks_mut::<3>().0.iter_mut();
        for (point, (x, y)) in points.zip(grid.x[line.clone()].iter().zip(&grid.y[line])) {
            *point = [*x, *y, z];
        }
    })
}

/// Writes a measure of all cells.
pub(super) fn write_cells(
    out: &mut (impl Write + Send),
    grid: &Grid,
    measure: CellMeasure,
    to_bytes: impl Fn(f64) -> [u8; F64_BYTES] + Sync,
) -> io::Result<()> {
    write(out, (grid.nj - 1, grid.ni - 1), to_bytes, |j, row| measure.fill_row(grid, j, row))
}

/// Writes `rows` rows of `length` numbers; `fill(j, row)` makes row j.
fn write(
    out: &mut (impl Write + Send),
    (rows, length): (usize, usize),
    to_bytes: impl Fn(f64) -> [u8; F64_BYTES] + Sync,
    fill: impl Fn(usize, &mut [f64]) + Sync,
) -> io::Result<()> {
    let row_bytes = length * F64_BYTES;
    let together = (BATCH_BYTES / row_bytes).max(1);
    pieces::write_batches(out, rows.div_ceil(together), |batch, bytes| {
        let first = batch * together;
        bytes.resize(together.min(rows - first) * row_bytes, 0);
        bytes.par_chunks_mut(row_bytes).enumerate().for_each_init(
            || vec![0.0; length],
            |row, (k, bytes)| {
                fill(first + k, row);
                for (bytes, number) in bytes.as_chunks_mut().0.iter_mut().zip(row) {
                    *bytes = to_bytes(*number);
                }
            },
        );
    })
}
