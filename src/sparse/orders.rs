//! Orders of the rows of a matrix: its undirected graph, a colouring, the order that reduces the bandwidth, levels of
//! a triangular pattern, and sets of rows.

use super::{Csr, Pattern, Sorted};
use std::ops::Range;

/// Neighbours of the rows of A: the pattern of A + Aᵀ without its diagonal, rows in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph(Sorted<u32>);

impl Graph {
    /// The graph of a square matrix.
    pub fn new(a: Pattern<'_>) -> Self {
        let rows = a.rows();
        let entries =
            |row: usize| a.row(row).iter().map(move |&column| (column as usize, row as u32));
        let transposed = Sorted::new(rows, || (0..rows).flat_map(entries));
        let mut neighbours = Sorted { start: vec![0], entries: Vec::new() };
        let mut both = Vec::new();
        for row in 0..rows {
            both.clear();
            both.extend(a.row(row).iter().chain(transposed.of(row)));
            both.sort_unstable();
            both.dedup();
            neighbours.entries.extend(both.iter().filter(|&&other| other != row as u32));
            neighbours.start.push(neighbours.entries.len());
        }
        Self(neighbours)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.0.start.len() - 1
    }

    /// Rows that share an entry with this one, rising.
    pub fn neighbours(&self, row: usize) -> &[u32] {
        self.0.of(row)
    }

    /// Number of neighbours.
    pub fn degree(&self, row: usize) -> usize {
        self.0.of(row).len()
    }
}

/// The colour of every row: the first that no neighbour with a smaller number has.
///
/// Factors of a matrix renumbered by colour have at most as many levels as there are colours: at worst one
/// more than the largest number of neighbours, and two on a grid whose points are coupled along its lines.
pub fn colours(graph: &Graph) -> Vec<u32> {
    let mut colours = vec![u32::MAX; graph.rows()];
    // For each colour, the last row that found it among its neighbours.
    let mut seen: Vec<usize> = Vec::new();
    for row in 0..graph.rows() {
        for &neighbour in graph.neighbours(row) {
            if let Some(seen) = seen.get_mut(colours[neighbour as usize] as usize) {
                *seen = row;
            }
        }
        let free = seen.iter().position(|&by| by != row).unwrap_or(seen.len());
        if free == seen.len() {
            seen.push(row);
        }
        colours[row] = free as u32;
    }
    colours
}

/// The reverse Cuthill–McKee order of the rows of a square matrix: row `order[k]` becomes row k.
///
/// A breadth-first search numbers the neighbours in A + Aᵀ, those with fewer neighbours first, and the
/// numbers are then reversed (Cuthill and McKee 1969; George and Liu 1981, section 4.3). The search of each
/// component starts from a peripheral row. That is found by repeating the search from the last row reached
/// until the distance no longer grows (their algorithm of section 4.3.3).
pub fn reverse_cuthill_mckee(a: &Csr) -> Vec<u32> {
    let graph = Graph::new(a.pattern());
    let mut starts: Vec<u32> = (0..graph.rows() as u32).collect();
    starts.sort_by_key(|&row| graph.degree(row as usize));
    let mut search = Search { graph: &graph, turn: 0, reached: vec![0; graph.rows()] };
    let (mut order, mut scratch) = (Vec::with_capacity(graph.rows()), Vec::new());
    for start in starts {
        // The searches for a component have reached all of its rows.
        if search.reached[start as usize] == 0 {
            let rim = search.rim(start, &mut scratch);
            search.run(rim, &mut order);
        }
    }
    order.reverse();
    order
}

struct Search<'a> {
    graph: &'a Graph,
    turn: u32,
    /// The last search in which each row was reached, 0 for none.
    reached: Vec<u32>,
}

impl Search<'_> {
    /// Appends the component of `start` to `order`, by distance and then by degree. Returns the position of
    /// the first of the farthest rows, and their distance.
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

    /// A pseudo-peripheral row: one that is about as far as possible from some other row of its component.
    fn rim(&mut self, start: u32, scratch: &mut Vec<u32>) -> u32 {
        let (mut rim, mut farthest) = (start, 0);
        loop {
            scratch.clear();
            let (last, distance) = self.run(rim, scratch);
            if distance <= farthest {
                return rim;
            }
            farthest = distance;
            let few = scratch[last..].iter().min_by_key(|&&row| self.graph.degree(row as usize));
            rim = few.copied().unwrap_or(rim);
        }
    }
}

/// The part of a pattern on one side of the diagonal, by its number in kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triangle {
    /// Left of the diagonal: a row depends on rows above.
    Lower = 0,
    /// Right of the diagonal: a row depends on rows below.
    Upper = 1,
}

impl Triangle {
    /// The columns of a row on this side of the diagonal.
    pub fn of(self, pattern: Pattern<'_>, row: usize) -> &[u32] {
        let columns = pattern.row(row);
        let beyond = columns.partition_point(|&column| (column as usize) < row);
        match self {
            Self::Lower => &columns[..beyond],
            Self::Upper if columns.get(beyond) == Some(&(row as u32)) => &columns[beyond + 1..],
            Self::Upper => &columns[beyond..],
        }
    }

    /// Rows in an order in which each comes after those that it depends on.
    pub fn order(self, rows: usize) -> impl Iterator<Item = usize> {
        (0..rows).map(move |k| if self == Self::Lower { k } else { rows - 1 - k })
    }
}

/// The level of every row, l_i = 1 + max l_j over the entries (i, j); zero for a row without such entries.
///
/// One sweep, in which a row takes the levels of the rows that it depends on: algorithm 7 of Wang and Liu
/// (2022), whose flags are not needed if one thread processes the rows in order.
pub fn levels(pattern: Pattern<'_>, triangle: Triangle) -> Vec<u32> {
    let mut levels = vec![0; pattern.rows()];
    for row in triangle.order(pattern.rows()) {
        let before = triangle.of(pattern, row).iter().map(|&column| levels[column as usize] + 1);
        levels[row] = before.max().unwrap_or(0);
    }
    levels
}

/// Rows of a tile: a block of consecutive rows whose couplings to other blocks are dropped.
pub const ROW_TILE: usize = 1024;

/// The rows of a matrix in sets, for example the levels of a triangle, or colours. The rows of one set are
/// processed together, the sets one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowSets(Sorted<u32>);

impl RowSets {
    /// The sets of rows with the same number, by rising number: sorted rows, and the start of each set (Wang
    /// and Liu 2022, lines 14 to 20 of algorithm 2). A counting sort leaves the rows of a set in rising
    /// order.
    pub fn by_number(numbers: &[u32]) -> Self {
        let sets = numbers.iter().max().map_or(0, |&most| most as usize + 1);
        let numbered = || (0..).zip(numbers).map(|(row, &number)| (number as usize, row));
        Self(Sorted::new(sets, numbered))
    }

    /// All rows, set by set.
    pub fn rows(&self) -> &[u32] {
        &self.0.entries
    }

    /// Ranges of [`Self::rows`] to be processed one after the other: each set of more than `small` rows by
    /// itself, and runs of smaller sets as one range. The rows of a run depend on each other in the given
    /// order and must be processed by one worker.
    pub fn merged(&self, small: usize) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        for ends in self.0.start.windows(2) {
            let together = ends[1] - ends[0] > small;
            match turns.last_mut() {
                Some(last) if !together && !last.together => last.range.end = ends[1],
                _ => turns.push(Turn { range: ends[0]..ends[1], together }),
            }
        }
        turns
    }
}

/// Rows that are processed between two barriers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Their range in [`RowSets::rows`].
    pub range: Range<usize>,
    /// True if they are one set, in which no row depends on another.
    pub together: bool,
}
