//! The undirected graph of a matrix.

use super::{Pattern, Sorted};

/// Neighbours of the rows of A: the pattern of A + Aᵀ without its diagonal, rows in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    start: Vec<usize>,
    neighbours: Vec<u32>,
}

impl Graph {
    /// The graph of a square matrix.
    #[must_use]
    pub fn new(a: Pattern<'_>) -> Self {
        let rows = a.rows();
        let entries =
            |row: usize| a.row(row).iter().map(move |&column| (column as usize, row as u32));
        let transposed = Sorted::new(rows, || (0..rows).flat_map(entries));
        let (mut start, mut neighbours) = (Vec::with_capacity(rows + 1), Vec::new());
        start.push(0);
        for row in 0..rows {
            merge(a.row(row), transposed.of(row), row as u32, &mut neighbours);
            start.push(neighbours.len());
        }
        Self { start, neighbours }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.start.len() - 1
    }

    /// Rows that share an entry with this one, rising.
    #[must_use]
    pub fn neighbours(&self, row: usize) -> &[u32] {
        &self.neighbours[self.start[row]..self.start[row + 1]]
    }

    /// Number of neighbours.
    #[must_use]
    pub fn degree(&self, row: usize) -> usize {
        self.start[row + 1] - self.start[row]
    }
}

/// Adds the union of two rising lists without `row`.
fn merge(a: &[u32], b: &[u32], row: u32, into: &mut Vec<u32>) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let [from_a, from_b] = [a.get(i), b.get(j)].map(|next| next.copied().unwrap_or(u32::MAX));
        let least = from_a.min(from_b);
        i += usize::from(from_a == least);
        j += usize::from(from_b == least);
        if least != row {
            into.push(least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::Csr;

    #[test]
    fn entries_of_either_side_make_neighbours() {
        let rows = [vec![(0, 1.0), (2, 1.0)], vec![(1, 1.0)], vec![(1, 1.0)], vec![]];

        let graph = Graph::new(Csr::from_rows(rows.into_iter()).pattern());

        assert_eq!(graph.neighbours(0), [2]);
        assert_eq!(graph.neighbours(1), [2]);
        assert_eq!(graph.neighbours(2), [0, 1]);
        assert_eq!((graph.degree(3), graph.rows()), (0, 4));
    }
}
