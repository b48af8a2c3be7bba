//! Products by rows.

use crate::backend::Real;
use crate::backend::cpu::PIECE;
use crate::backend::cpu::reduce::reduce;
use crate::sparse::Pattern;
use std::ops::Range;

/// Entries of a piece of work, and of a part of a row too long for one.
const ENTRIES: usize = 8192;

/// Running sums of a row: additions of one sum wait for each other.
const SUMS: usize = 4;

/// Where the rows of a matrix are cut into pieces of about as many entries, whatever the lengths of
/// the rows. The cuts depend on the pattern alone.
#[derive(Debug)]
pub(super) struct Pieces(Vec<usize>);

impl Pieces {
    pub(super) fn new(row_start: &[usize]) -> Self {
        let rows = row_start.len() - 1;
        let mut cuts = vec![0];
        let mut first = 0;
        for row in 0..rows {
            let full = row_start[row + 1] - row_start[first] >= ENTRIES || row - first >= PIECE;
            if full || row + 1 == rows {
                cuts.push(row + 1);
                first = row + 1;
            }
        }
        Self(cuts)
    }
}

/// y ← A x.
///
/// A thread takes pieces of equal numbers of entries, and the parts of a row longer than a piece
/// are shared among threads. Sums run in an order that does not depend on the threads.
pub(super) fn by_rows<T: Real>(
    pattern: Pattern<'_>,
    pieces: &Pieces,
    values: &[T],
    x: &[T],
    y: &mut [T],
) {
    by_pieces(&pieces.0, y, &|rows, y| {
        for (row, y) in rows.zip(y) {
            let entries = pattern.row_start[row]..pattern.row_start[row + 1];
            let part =
                |part: Range<usize>| row_sum(&values[part.clone()], &pattern.columns[part], x);
            *y = if entries.len() <= 2 * ENTRIES {
                part(entries)
            } else {
                reduce(entries, ENTRIES, &part, &|a, b| a + b)
            };
        }
    });
}

/// Does `work` on the rows and results between every two cuts.
fn by_pieces<T: Send>(
    cuts: &[usize],
    y: &mut [T],
    work: &(impl Fn(Range<usize>, &mut [T]) + Sync),
) {
    match cuts {
        [] | [_] => {}
        &[first, end] => work(first..end, y),
        _ => {
            let middle = cuts.len() / 2;
            let (low, high) = y.split_at_mut(cuts[middle] - cuts[0]);
            rayon::join(
                || by_pieces(&cuts[..=middle], low, work),
                || by_pieces(&cuts[middle..], high, work),
            );
        }
    }
}

/// Σ v_k x at column k.
#[inline(always)]
fn row_sum<T: Real>(values: &[T], columns: &[u32], x: &[T]) -> T {
    let (body, tail) = values.as_chunks::<SUMS>();
    let (body_columns, tail_columns) = columns.as_chunks::<SUMS>();
    let mut sums = [T::zero(); SUMS];
    for (values, columns) in body.iter().zip(body_columns) {
        for k in 0..SUMS {
            sums[k] += values[k] * x[columns[k] as usize];
        }
    }
    let rest = tail.iter().zip(tail_columns);
    let rest = rest.fold(T::zero(), |sum, (&value, &column)| sum + value * x[column as usize]);
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_about_as_many_entries_and_hold_every_row_once() {
        let lengths = (0..50_000_usize).map(|row| if row == 777 { 100_000 } else { row % 5 });
        let mut row_start = vec![0];
        for length in lengths {
            row_start.push(row_start.last().copied().unwrap_or(0) + length);
        }

        let Pieces(cuts) = Pieces::new(&row_start);

        assert_eq!((cuts.first(), cuts.last()), (Some(&0), Some(&50_000)));
        for ends in cuts.windows(2) {
            let entries = row_start[ends[1]] - row_start[ends[0]];
            assert!(ends[0] < ends[1]);
            assert!(entries < ENTRIES + 5 || ends.contains(&778), "{ends:?}: {entries}");
        }
    }
}
