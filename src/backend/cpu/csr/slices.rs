//! The sliced ELL format.

use crate::backend::Real;
use crate::sparse::Pattern;
use rayon::prelude::*;

/// Rows of a slice.
const SLICE: usize = 32;
/// Slices of a task.
const TASK: usize = 32;

/// Slices of [`SLICE`] rows, each as wide as its longest row and stored by slots: ELL where all rows
/// are of one length, and little more than the entries where neighbours are of about one length
/// (Monakov, Lokhmotov and Avetisyan 2010, doi:10.1007/978-3-642-11515-8_10). Slots left over hold
/// zero in a column of their row.
#[derive(Debug, Clone)]
pub(super) struct Slices<T> {
    /// Where each slice starts.
    start: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> Slices<T> {
    /// Slots for each entry at most.
    pub(super) const PADDED: usize = 2;

    /// The slices of a matrix; none if they would hold more than [`Self::PADDED`] slots an entry.
    pub(super) fn new(pattern: Pattern<'_>, values: &[T]) -> Option<Self> {
        let rows = pattern.rows();
        let width = |slice: usize| {
            let own = slice * SLICE..((slice + 1) * SLICE).min(rows);
            own.map(|row| pattern.row(row).len()).max().unwrap_or(0)
        };
        let mut start = vec![0];
        let mut slots = 0;
        for slice in 0..rows.div_ceil(SLICE) {
            slots += SLICE * width(slice);
            start.push(slots);
        }
        // The last slice is full whatever the number of rows.
        if slots > Self::PADDED * values.len() + SLICE * width(rows.div_ceil(SLICE).max(1) - 1) {
            return None;
        }
        let (mut columns, mut padded) = (vec![0; slots], vec![T::zero(); slots]);
        for row in 0..rows {
            let (slice, lane) = (row / SLICE, row % SLICE);
            let at = |slot: usize| start[slice] + slot * SLICE + lane;
            let own = pattern.row(row);
            for (slot, &column) in own.iter().enumerate() {
                columns[at(slot)] = column;
                padded[at(slot)] = values[pattern.row_start[row] + slot];
            }
            let spare = own.last().copied().unwrap_or(row as u32);
            for slot in own.len()..(start[slice + 1] - start[slice]) / SLICE {
                columns[at(slot)] = spare;
            }
        }
        Some(Self { start, columns, values: padded })
    }

    /// y ← A x, the rows of a slice side by side.
    pub(super) fn multiply(&self, x: &[T], y: &mut [T]) {
        y.par_chunks_mut(TASK * SLICE).enumerate().for_each(|(task, y)| {
            for (slice, y) in (task * TASK..).zip(y.chunks_mut(SLICE)) {
                let slots = self.start[slice]..self.start[slice + 1];
                let values = self.values[slots.clone()].as_chunks::<SLICE>().0;
                let columns = self.columns[slots].as_chunks::<SLICE>().0;
                let mut sums = [T::zero(); SLICE];
                for (values, columns) in values.iter().zip(columns) {
                    for lane in 0..SLICE {
                        sums[lane] += values[lane] * x[columns[lane] as usize];
                    }
                }
                y.copy_from_slice(&sums[..y.len()]);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::Csr;

    #[test]
    fn one_long_row_among_short_ones_is_left_to_the_rows() {
        let row = |row: usize| if row == 5 { 0..900 } else { row..row + 1 };
        let uneven = Csr::from_rows((0..900).map(|k| row(k).map(|column| (column, 1.0))));
        let even = Csr::from_rows((0..900).map(|k| [(k, 1.0)]));

        assert!(Slices::new(uneven.pattern(), &uneven.values).is_none());
        assert!(Slices::new(even.pattern(), &even.values).is_some());
    }
}
