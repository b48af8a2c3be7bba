//! An order of rows that gathers the entries of a matrix around its diagonal.

use super::{Csr, Graph};

/// The reverse Cuthill–McKee order of the rows of a square matrix: row `order[k]` becomes row k.
///
/// Neighbours in A + Aᵀ are numbered in a breadth-first search, those with fewer neighbours first,
/// and the numbers reversed (Cuthill and McKee 1969; George and Liu 1981, section 4.3). The search
/// of each component starts from a row at its rim, found by searches that start over from the last
/// row reached until that is no farther (their algorithm of section 4.3.3).
#[must_use]
pub fn reverse_cuthill_mckee(a: &Csr) -> Vec<u32> {
    let graph = Graph::new(a.pattern());
    let mut starts: Vec<u32> = (0..graph.rows() as u32).collect();
    starts.sort_by_key(|&row| graph.degree(row as usize));
    let mut search = Search { graph: &graph, turn: 0, reached: vec![0; graph.rows()] };
    let mut numbered = vec![false; graph.rows()];
    let (mut order, mut scratch) = (Vec::with_capacity(graph.rows()), Vec::new());
    for start in starts {
        if !numbered[start as usize] {
            let rim = search.rim(start, &mut scratch);
            let first = order.len();
            search.run(rim, &mut order);
            for &row in &order[first..] {
                numbered[row as usize] = true;
            }
        }
    }
    order.reverse();
    order
}

/// Breadth-first searches of one graph.
struct Search<'a> {
    graph: &'a Graph,
    turn: u32,
    /// The last turn in which each row was reached.
    reached: Vec<u32>,
}

impl Search<'_> {
    /// Adds the component of `start` to `order`, nearest first and then by degree; returns where
    /// the farthest rows begin and their distance.
    fn run(&mut self, start: u32, order: &mut Vec<u32>) -> (usize, usize) {
        self.turn += 1;
        self.reached[start as usize] = self.turn;
        let mut at = order.len();
        order.push(start);
        let mut distance = 0;
        loop {
            let (level, end) = (at, order.len());
            while at < end {
                let found = order.len();
                for &row in self.graph.neighbours(order[at] as usize) {
                    if self.reached[row as usize] != self.turn {
                        self.reached[row as usize] = self.turn;
                        order.push(row);
                    }
                }
                order[found..].sort_by_key(|&row| self.graph.degree(row as usize));
                at += 1;
            }
            if order.len() == end {
                return (level, distance);
            }
            distance += 1;
        }
    }

    /// A row that lies about as far as can be from some other of its component.
    fn rim(&mut self, start: u32, scratch: &mut Vec<u32>) -> u32 {
        let (mut rim, mut farthest) = (start, 0);
        loop {
            scratch.clear();
            let (last, distance) = self.run(rim, scratch);
            if distance <= farthest && farthest > 0 || distance == 0 {
                return rim;
            }
            farthest = distance;
            let few = scratch[last..].iter().min_by_key(|&&row| self.graph.degree(row as usize));
            rim = few.copied().unwrap_or(rim);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest |i − j| of an entry.
    fn bandwidth(a: &Csr) -> usize {
        let row = |row: usize| a.row(row).map(move |(column, _)| row.abs_diff(column));
        (0..a.rows()).flat_map(row).max().unwrap_or(0)
    }

    /// Five points on an m × n grid whose rows are numbered in strides of 7.
    fn shuffled(m: usize, n: usize) -> Csr {
        let number = |i: usize, j: usize| (j * m + i) * 7 % (m * n);
        let mut rows = vec![Vec::new(); m * n];
        for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
            let row = &mut rows[number(i, j)];
            row.push((number(i, j), 4.0));
            if i > 0 {
                row.push((number(i - 1, j), -1.0));
            }
            if j + 1 < n {
                row.push((number(i, j + 1), -2.0));
            }
        }
        Csr::from_rows(rows.into_iter())
    }

    #[test]
    fn a_shuffled_grid_gets_the_bandwidth_of_its_short_side() {
        let a = shuffled(11, 40);

        let ordered = a.permuted(&reverse_cuthill_mckee(&a));

        // Levels of the search are diagonals of at most 11 points.
        assert!(bandwidth(&a) > 300);
        assert!(bandwidth(&ordered) <= 12, "{}", bandwidth(&ordered));
    }

    #[test]
    fn every_row_has_one_place_in_a_graph_of_several_parts() {
        let rows =
            [vec![(3, 1.0)], vec![], vec![(2, 1.0), (5, 1.0)], vec![], vec![(4, 1.0)], vec![]];
        let a = Csr::from_rows(rows.into_iter());

        let order = reverse_cuthill_mckee(&a);

        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
        assert_eq!(bandwidth(&a.permuted(&order)), 1);
    }

    #[test]
    fn a_matrix_of_no_rows_has_an_order() {
        assert!(reverse_cuthill_mckee(&Csr::from_rows(std::iter::empty::<[_; 0]>())).is_empty());
    }
}
