//! The ELL format and the patterns of the grid equations.

/// Pattern of a matrix in ELL format ("packed matrix" of Liu, Zhong and Chen 2011).
///
/// Each row has `width` slots; its entries are shifted left and the slots left over must hold
/// zero. Slot k of row r stands at `k * rows + r` (column-major). The columns of the grid's own
/// patterns follow from the place of a row and are not stored; those of other patterns are, where
/// slots left over carry the row's own index, so that they may be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EllPattern {
    structure: Structure,
    rows: usize,
    width: usize,
    columns: Vec<u32>,
    lengths: Vec<u8>,
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
        Self { structure: Structure::General, rows, width, columns, lengths }
    }

    /// Pattern whose columns follow from `structure`.
    fn structured(structure: Structure, rows: usize, width: usize) -> Self {
        Self { structure, rows, width, columns: Vec::new(), lengths: Vec::new() }
    }

    /// Pattern of the grid equations on `mi` × `mj` unknown points with two unknowns each:
    /// 9 entries of the row's own variable and 4 of the other, fewer at the rim.
    #[must_use]
    pub fn nine_point(mi: usize, mj: usize, periodic: bool) -> Self {
        let structure = Structure::NinePoint { mi, mj, periodic };
        Self::structured(structure, 2 * mi * mj, STENCIL.len())
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
        Self::structured(Structure::WallColumns { mi, mj }, 2 * mi * mj, 2)
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

    /// Column of each slot, column-major, of a [`Structure::General`] pattern; empty for others.
    #[must_use]
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// (slot position, column) of each entry of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let (mut listed, mut nine, mut wall) = (None, None, None);
        match self.structure {
            Structure::NinePoint { mi, mj, periodic } => {
                nine = Some(Self::nine_point_row(mi, mj, periodic, row));
            }
            Structure::WallColumns { mi, .. } => {
                let first = 2 * ((row / 2) % mi);
                wall = Some(first..first + 2);
            }
            Structure::General => {
                let slots = 0..usize::from(self.lengths[row]);
                listed = Some(slots.map(move |slot| self.columns[slot * self.rows + row] as usize));
            }
        }
        let (listed, nine) = (listed.into_iter().flatten(), nine.into_iter().flatten());
        let columns = listed.chain(nine).chain(wall.into_iter().flatten());
        columns.enumerate().map(move |(slot, column)| (slot * self.rows + row, column))
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
    fn rim_rows_are_shorter() {
        let pattern = EllPattern::nine_point(5, 4, false);

        // The corner keeps C, E, N, NE of its own variable and E, N of the other.
        assert_eq!(pattern.row(0).count(), 6);
    }

    #[test]
    fn slots_left_over_carry_the_row_itself() {
        let pattern = EllPattern::new(3, 2, |row| (row > 0).then_some(0));

        assert_eq!(pattern.columns(), [0, 0, 0, 0, 1, 2]);
    }

    #[test]
    fn wall_columns_hold_both_terms_of_the_line() {
        let pattern = EllPattern::wall_columns(5, 4);
        let row = 2 * (3 * 5 + 2) + 1;

        assert!(pattern.row(row).eq([(row, 4), (pattern.rows() + row, 5)]));
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
