//! The ELL format and the patterns of the grid equations.

/// Pattern of a matrix in ELL format ("packed matrix" of Liu, Zhong and Chen 2011).
///
/// Each row has `width` slots; its entries are shifted left and the slots left over carry the
/// row's own index, so that they may be read but must hold zero. Slot k of row r stands at
/// `k * rows + r` (column-major), both here and in the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EllPattern {
    structure: Structure,
    rows: usize,
    width: usize,
    columns: Vec<u32>,
    lengths: Vec<u8>,
    /// Smallest column of each block of [`EllPattern::BLOCK`] rows.
    smallest: Vec<u32>,
}

/// Where the columns of a pattern follow from the place of a row on the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Structure {
    /// The grid equations on `mi` × `mj` points; see [`EllPattern::nine_point`].
    NinePoint {
        /// Points in i.
        mi: usize,
        /// Points in j.
        mj: usize,
        /// Whether the first and the last point of a row are neighbours.
        periodic: bool,
    },
    /// The wall columns on `mi` × `mj` points; see [`EllPattern::wall_columns`].
    WallColumns {
        /// Points in i.
        mi: usize,
        /// Points in j.
        mj: usize,
    },
    /// They do not: the columns must be looked up.
    General,
}

/// Entries of one row of the grid equations: (column offset in i, in j, other variable?), by rising
/// neighbour. Nine neighbours of the row's own variable and four of the other.
pub(crate) const STENCIL: [(isize, isize, bool); 13] = [
    (-1, -1, false),
    (0, -1, false),
    (0, -1, true),
    (1, -1, false),
    (-1, 0, false),
    (-1, 0, true),
    (0, 0, false),
    (1, 0, false),
    (1, 0, true),
    (-1, 1, false),
    (0, 1, false),
    (0, 1, true),
    (1, 1, false),
];

impl EllPattern {
    /// Rows in a block that is multiplied in one go: its part of the result stays in the
    /// first-level cache over all slots.
    pub const BLOCK: usize = 1024;

    /// Smallest column that a block of [`Self::BLOCK`] rows reads, padding included.
    #[must_use]
    pub fn smallest_column(&self, block: usize) -> usize {
        self.smallest[block] as usize
    }

    /// Pattern with the given entries: `entries(row)` yields the columns of a row.
    ///
    /// # Panics
    /// If a row has more than `width` entries or a column does not fit 32 bits: both are errors
    /// of the caller.
    #[must_use]
    pub fn new<I: IntoIterator<Item = usize>>(
        rows: usize,
        width: usize,
        mut entries: impl FnMut(usize) -> I,
    ) -> Self {
        assert!(u32::try_from(rows).is_ok(), "{rows} rows do not fit a 32-bit column index");
        let mut columns = vec![0; rows * width];
        let mut lengths = vec![0; rows];
        for row in 0..rows {
            let mut slot = 0;
            for column in entries(row) {
                assert!(slot < width, "row {row} has more than {width} entries");
                columns[slot * rows + row] = column as u32;
                slot += 1;
            }
            lengths[row] = slot as u8;
            for pad in slot..width {
                columns[pad * rows + row] = row as u32;
            }
        }
        let mut smallest = vec![u32::MAX; rows.div_ceil(Self::BLOCK)];
        for slot in columns.chunks(rows.max(1)) {
            for (smallest, block) in smallest.iter_mut().zip(slot.chunks(Self::BLOCK)) {
                *smallest = block.iter().copied().fold(*smallest, u32::min);
            }
        }
        Self { structure: Structure::General, rows, width, columns, lengths, smallest }
    }

    /// Pattern of the grid equations on `mi` × `mj` unknown points with two unknowns each:
    /// 9 entries of the row's own variable and 4 of the other, fewer at the rim.
    #[must_use]
    pub fn nine_point(mi: usize, mj: usize, periodic: bool) -> Self {
        let pattern = Self::new(2 * mi * mj, STENCIL.len(), |row| {
            Self::nine_point_row(mi, mj, periodic, row)
        });
        Self { structure: Structure::NinePoint { mi, mj, periodic }, ..pattern }
    }

    /// Columns of a row of [`Self::nine_point`], rising but for the neighbours across a seam.
    pub fn nine_point_row(
        mi: usize,
        mj: usize,
        periodic: bool,
        row: usize,
    ) -> impl Iterator<Item = usize> {
        let (point, variable) = (row / 2, row % 2);
        let (i, j) = (point % mi, point / mi);
        STENCIL.into_iter().filter_map(move |(di, dj, other)| {
            neighbour(i, j, di, dj, mi, mj, periodic)
                .map(|k| 2 * k + if other { 1 - variable } else { variable })
        })
    }

    /// Pattern of the wall columns on `mi` × `mj` points: every row of line i holds (p_i, q_i).
    #[must_use]
    pub fn wall_columns(mi: usize, mj: usize) -> Self {
        let pattern = Self::new(2 * mi * mj, 2, |row| {
            let i = (row / 2) % mi;
            [2 * i, 2 * i + 1]
        });
        Self { structure: Structure::WallColumns { mi, mj }, ..pattern }
    }

    /// What the columns follow from.
    #[must_use]
    pub fn structure(&self) -> Structure {
        self.structure
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Slots a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Column of each slot, column-major.
    #[must_use]
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Number of entries in a row.
    #[must_use]
    pub fn length(&self, row: usize) -> usize {
        usize::from(self.lengths[row])
    }

    /// (slot position, column) of each entry of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.length(row)).map(move |slot| {
            let at = slot * self.rows + row;
            (at, self.columns[at] as usize)
        })
    }
}

/// Number of the unknown point at an offset from (i, j), if there is one.
fn neighbour(
    i: usize,
    j: usize,
    di: isize,
    dj: isize,
    mi: usize,
    mj: usize,
    periodic: bool,
) -> Option<usize> {
    let j = j.checked_add_signed(dj).filter(|&j| j < mj)?;
    let i = match i.checked_add_signed(di) {
        Some(i) if i < mi => i,
        Some(_) if periodic => 0,
        None if periodic => mi - 1,
        _ => return None,
    };
    Some(j * mi + i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interior_row_has_thirteen_rising_columns() {
        let pattern = EllPattern::nine_point(5, 4, false);
        let row = 2 * (2 * 5 + 2);

        let columns: Vec<usize> = pattern.row(row).map(|(_, column)| column).collect();

        assert_eq!(columns.len(), 13);
        assert!(columns.is_sorted());
        assert_eq!(columns[6], row);
    }

    #[test]
    fn rim_rows_are_shorter_and_padded_with_themselves() {
        let pattern = EllPattern::nine_point(5, 4, false);

        // The corner keeps C, E, N, NE of its own variable and E, N of the other.
        assert_eq!(pattern.length(0), 6);
        assert_eq!(pattern.columns()[12 * pattern.rows()], 0);
    }

    #[test]
    fn the_pattern_is_symmetric() {
        for periodic in [false, true] {
            let pattern = EllPattern::nine_point(6, 4, periodic);
            for row in 0..pattern.rows() {
                for (_, column) in pattern.row(row) {
                    assert!(pattern.row(column).any(|(_, c)| c == row), "({row}, {column})");
                }
            }
        }
    }

    #[test]
    fn a_periodic_rim_reaches_around() {
        let pattern = EllPattern::nine_point(6, 4, true);
        let columns: Vec<usize> = pattern.row(2 * 6).map(|(_, column)| column).collect();

        assert_eq!(columns.len(), 13);
        assert!(columns.contains(&(2 * (6 + 5))));
    }
}
