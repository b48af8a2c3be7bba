//! Compressed sparse rows, the format of exported matrices.

/// A matrix by rows: row r has the entries `row_start[r]..row_start[r + 1]`, by rising column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Csr {
    /// First entry of each row, and the number of entries at the end.
    pub row_start: Vec<usize>,
    /// Column of each entry.
    pub columns: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<f64>,
}

/// The pattern of a matrix by rows: the positions of its entries, without their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern<'a> {
    /// First entry of each row, and the number of entries at the end.
    pub row_start: &'a [usize],
    /// Column of each entry, rising within a row.
    pub columns: &'a [u32],
}

impl<'a> Pattern<'a> {
    /// Number of rows.
    pub fn rows(self) -> usize {
        self.row_start.len() - 1
    }

    /// Columns of a row.
    pub fn row(self, row: usize) -> &'a [u32] {
        &self.columns[self.row_start[row]..self.row_start[row + 1]]
    }
}

impl Csr {
    /// The pattern of this matrix.
    pub fn pattern(&self) -> Pattern<'_> {
        Pattern { row_start: &self.row_start, columns: &self.columns }
    }

    /// A matrix of these rows. The entries of a row may come in any order, each column once.
    ///
    /// # Panics
    /// If a column does not fit in 32 bits, which is an error of the caller.
    pub fn from_rows<I: IntoIterator<Item = (usize, f64)>>(rows: impl Iterator<Item = I>) -> Self {
        let mut csr = Self { row_start: vec![0], ..Self::default() };
        let mut row = Vec::new();
        for entries in rows {
            row.clear();
            row.extend(entries);
            row.sort_unstable_by_key(|&(column, _)| column);
            let fits = row.last().is_none_or(|&(column, _)| u32::try_from(column).is_ok());
            assert!(fits, "a column does not fit a 32-bit index");
            csr.columns.extend(row.iter().map(|&(column, _)| column as u32));
            csr.values.extend(row.iter().map(|&(_, value)| value));
            csr.row_start.push(csr.columns.len());
        }
        csr
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.row_start.len() - 1
    }

    /// Columns and values of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        (self.row_start[row]..self.row_start[row + 1])
            .map(|k| (self.columns[k] as usize, self.values[k]))
    }

    /// P A Pᵀ for a square matrix: its row and column k are row and column `order[k]` of A.
    #[must_use]
    pub fn permuted(&self, order: &[u32]) -> Self {
        let mut place = vec![0; order.len()];
        for (k, &row) in order.iter().enumerate() {
            place[row as usize] = k;
        }
        let row = |&row: &u32| self.row(row as usize).map(|(column, value)| (place[column], value));
        Self::from_rows(order.iter().map(row))
    }
}

/// Items sorted by number, in a stable order, by a counting sort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sorted<T> {
    /// First item of each number, and the number of items at the end.
    pub(crate) start: Vec<usize>,
    pub(crate) entries: Vec<T>,
}

impl<T: Copy + Default> Sorted<T> {
    /// Sorts the items of `all` by their numbers, which are below `numbers`. `all` is called twice and must
    /// yield the same both times.
    pub(crate) fn new<I: Iterator<Item = (usize, T)>>(numbers: usize, all: impl Fn() -> I) -> Self {
        let mut start = vec![0; numbers + 1];
        for (number, _) in all() {
            start[number + 1] += 1;
        }
        for k in 0..numbers {
            start[k + 1] += start[k];
        }
        let (mut next, mut entries) = (start.clone(), vec![T::default(); start[numbers]]);
        for (number, entry) in all() {
            entries[next[number]] = entry;
            next[number] += 1;
        }
        Self { start, entries }
    }

    pub(crate) fn of(&self, number: usize) -> &[T] {
        &self.entries[self.start[number]..self.start[number + 1]]
    }
}
