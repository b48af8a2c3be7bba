//! Colours of rows, no two neighbours having the same.

use super::Graph;

/// The colour of every row: the first that none of its neighbours with a smaller number has.
///
/// Factors of a matrix renumbered by colour have as many levels as colours at most: one more than the
/// most neighbours of a row in the worst case, two on a grid whose points couple along its lines.
#[must_use]
pub fn colours(graph: &Graph) -> Vec<u32> {
    let mut colours = vec![u32::MAX; graph.rows()];
    // The row that last saw each colour among its neighbours.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::Csr;

    fn graph(rows: impl Iterator<Item = Vec<usize>>) -> Graph {
        let entries = |row: Vec<usize>| row.into_iter().map(|column| (column, 1.0));
        Graph::new(Csr::from_rows(rows.map(entries)).pattern())
    }

    #[test]
    fn neighbours_differ_in_colour() {
        let graph = graph((0..90_usize).map(|row| {
            let mut row: Vec<_> = (0..row % 6).map(|k| (row * row + 31 * k) % 90).collect();
            row.sort_unstable();
            row.dedup();
            row
        }));

        let colours = colours(&graph);

        for row in 0..90 {
            for &neighbour in graph.neighbours(row) {
                assert_ne!(colours[row], colours[neighbour as usize], "{row}, {neighbour}");
            }
        }
        let most = (0..90).map(|row| graph.degree(row)).max();
        assert!(colours.iter().max().map(|&c| c as usize) <= most);
    }

    #[test]
    fn five_points_need_two_colours_and_no_neighbours_one() {
        let m = 7;
        let five = graph((0..m * m).map(|k| {
            let right = (k % m + 1 < m).then_some(k + 1);
            right.into_iter().chain((k + m < m * m).then_some(k + m)).collect()
        }));
        let alone = graph((0..4).map(|_| Vec::new()));

        assert_eq!(colours(&five).iter().max(), Some(&1));
        assert_eq!(colours(&alone), [0; 4]);
    }
}
