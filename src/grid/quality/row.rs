//! Measures of all cells of a row, on the vector unit.

use super::cell::{Corners, cell_area, cell_aspect_ratio, cell_skewness, smallest_determinant};
use crate::grid::Grid;
use crate::simd::{self, Kernel};

/// A measure of a cell that depends on its corners alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellMeasure {
    /// [`cell_area`].
    Area,
    /// [`cell_skewness`].
    Skewness,
    /// [`cell_aspect_ratio`].
    AspectRatio,
    /// The smallest corner determinant; NaN if one is. A cell is folded where it is not positive.
    SmallestDeterminant,
}

impl CellMeasure {
    /// Measures the cells of row j, to the bits of the function that measures one.
    ///
    /// `values` has room for the `ni − 1` cells.
    pub(crate) fn fill_row(self, grid: &Grid, j: usize, values: &mut [f64]) {
        let lines = Lines::new(grid, j);
        match self {
            Self::Area => simd::run(Row { lines, measure: Area, values }),
            Self::Skewness => simd::run(Row { lines, measure: Skewness, values }),
            Self::AspectRatio => simd::run(Row { lines, measure: AspectRatio, values }),
            Self::SmallestDeterminant => {
                simd::run(Row { lines, measure: SmallestDeterminant, values });
            }
        }
    }
}

/// The lines j and j + 1 that bound a row of cells.
#[derive(Clone, Copy)]
struct Lines<'a> {
    x: [&'a [f64]; 2],
    y: [&'a [f64]; 2],
}

impl<'a> Lines<'a> {
    fn new(grid: &'a Grid, j: usize) -> Self {
        let line = |nodes: &'a [f64], j: usize| &nodes[j * grid.ni..(j + 1) * grid.ni];
        Self {
            x: [line(&grid.x, j), line(&grid.x, j + 1)],
            y: [line(&grid.y, j), line(&grid.y, j + 1)],
        }
    }
}

/// A measure by its type: called through a pointer or a closure it need not be inlined, and would
/// then be compiled for the oldest processors.
trait Measure {
    fn of(&self, corners: &Corners) -> f64;
}

macro_rules! measure {
    ($name:ident, $function:path) => {
        struct $name;

        impl Measure for $name {
            #[inline(always)]
            fn of(&self, corners: &Corners) -> f64 {
                $function(corners)
            }
        }
    };
}

measure!(Area, cell_area);
measure!(Skewness, cell_skewness);
measure!(AspectRatio, cell_aspect_ratio);
measure!(SmallestDeterminant, smallest_determinant);

/// values ← measure of each cell between two lines.
struct Row<'a, M> {
    lines: Lines<'a>,
    measure: M,
    values: &'a mut [f64],
}

impl<M: Measure> Kernel for Row<'_, M> {
    #[inline(always)]
    fn run(self) {
        let Self { lines: Lines { x, y }, measure, values } = self;
        let n = values.len();
        // As many nodes as the loop reads, for it to have no branch.
        let [x0, x1] = x.map(|x| &x[..=n]);
        let [y0, y1] = y.map(|y| &y[..=n]);
        for i in 0..n {
            values[i] = measure.of(&[
                [x0[i], y0[i]],
                [x0[i + 1], y0[i + 1]],
                [x1[i + 1], y1[i + 1]],
                [x1[i], y1[i]],
            ]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::quality::cell_corners;
    use crate::grid::{Seam, Topology};

    /// Quadrilaterals of all kinds: folded, with edges without length, with what is no number.
    fn grid() -> Grid {
        let mut grid = Grid::new(Topology::O(Seam::Held), 67, 5);
        for k in 0..grid.x.len() {
            let noise = ((k * k) as f64 * 0.37).sin();
            grid.x[k] = (k % 67) as f64 + 1.3 * noise;
            grid.y[k] = (k / 67) as f64 + 0.9 * (noise * 57.0).sin();
        }
        (grid.x[80], grid.y[80]) = (grid.x[81], grid.y[81]);
        grid.x[150] = f64::NAN;
        grid.y[170] = f64::INFINITY;
        grid
    }

    #[test]
    fn a_row_has_the_bits_of_its_cells() {
        let grid = grid();
        for (measure, of_cell) in [
            (CellMeasure::Area, cell_area as fn(&Corners) -> f64),
            (CellMeasure::Skewness, cell_skewness),
            (CellMeasure::AspectRatio, cell_aspect_ratio),
            (CellMeasure::SmallestDeterminant, smallest_determinant),
        ] {
            for j in 0..4 {
                let mut row = vec![0.0; 66];

                measure.fill_row(&grid, j, &mut row);

                for (i, value) in row.iter().enumerate() {
                    let expected = of_cell(&cell_corners(&grid, i, j));
                    let same = value.to_bits() == expected.to_bits()
                        || value.is_nan() && expected.is_nan();
                    assert!(same, "{measure:?} of ({i}, {j}): {value}, not {expected}");
                }
            }
        }
    }
}
