//! The block between the two interfaces of a C-grid behind the base of its section.

use super::{Grid, Topology};
use crate::geometry::spacing_between;
use crate::geometry::vector::{between, distance};

/// The block behind the base of a C-grid, with `cells` across it (theory section 10): straight lines between the two
/// interfaces, at right angles to their centre line.
///
/// The index i runs from the base to the outflow, j from the lower interface to the upper one. The block repeats the
/// nodes of the interfaces bit for bit. On each line the first and the last interval are those of the C-grid on the other
/// side of the interface. None for a grid without such a block.
pub fn block_behind(grid: &Grid, cells: usize) -> Option<Grid> {
    let Topology::Blunt { wake } = grid.topology else { return None };
    let (ni, nj) = (wake + 1, cells + 1);
    let mut block = Grid::new(Topology::Behind { around: grid.ni }, ni, nj);
    block.outside.clone_from(&grid.outside);
    for i in 0..ni {
        let ends = interface_columns(grid.ni, wake, i);
        let [lower, upper] = ends.map(|k| grid.point(k, 0));
        let heights = ends.map(|k| distance(grid.point(k, 0), grid.point(k, 1)));
        let thickness = distance(lower, upper);
        let places = spacing_between(nj, heights, thickness).ok()?;
        for (j, place) in places.into_iter().enumerate() {
            let at = match j {
                0 => lower,
                _ if j + 1 == nj => upper,
                _ => between(lower, upper, place / thickness),
            };
            block.set([i, j], at);
        }
    }
    Some(block)
}

/// The columns of a C-grid of `ni` nodes around in which its line j = 0 is the lower and the upper interface, `i` of `wake`
/// cells from the base.
pub fn interface_columns(ni: usize, wake: usize, i: usize) -> [usize; 2] {
    [wake - i, ni - 1 - wake + i]
}
