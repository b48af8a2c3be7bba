//! Validity of curved cells: bounds on the Jacobian determinant of their mapping decide its sign.
//!
//! A cell of order q is the image of the square under polynomials of degree q in each direction through (q +
//! 1)² nodes of the grid. All values of the determinant of this mapping lie between the smallest and the
//! largest of its coefficients in Bernstein's basis, and the coefficients of the corners are values. Source:
//! A. Johnen, J.-F. Remacle, C. Geuzaine, Geometrical validity of curvilinear finite elements, J. Comput.
//! Phys. 233 (2013) 359-372.

use std::fmt;

use rayon::prelude::*;

use super::cell_area;
use crate::geometry::vector::{cross, difference, dot};
use crate::grid::Grid;

/// The highest order of cells.
pub const MOST_ORDER: usize = 4;

/// Largest number of coefficients of the determinant in one direction: its degree is 2 q − 1.
const MOST_COEFFICIENTS: usize = 2 * MOST_ORDER;

/// Largest number of points of the Bézier form of a cell in one direction.
const MOST_POINTS: usize = MOST_ORDER + 1;

/// Gap between the bounds of the smallest determinant at which bisection stops, as a fraction of the
/// determinant of the straight cell.
const GAP: f64 = 0.01;

/// Largest number of parts of a cell whose bounds are compared. A cell that is undecided then is not shown to
/// be valid.
const MOST_PARTS: usize = 256;

/// Round-off of a determinant, as a fraction of the square of the cell's extent: for order 4 the points of
/// the Bézier form carry up to (274/18)² roundings, in each of four factors.
const ROUND_OFF: f64 = 1e3 * f64::EPSILON;

/// Validity of the curved cells of a grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvedQuality {
    /// Order of the cells.
    pub order: usize,
    /// Number of cells.
    pub cells: usize,
    /// Number of cells that are not shown to have a positive determinant everywhere.
    pub folded_cells: usize,
    /// The smallest scaled Jacobian, or slightly less: the determinant divided by the determinant, at its
    /// middle, of the straight cell with the same corners.
    pub min_scaled_jacobian: f64,
    /// Centre of the corners of the cell with the smallest one.
    pub at: [f64; 2],
}

impl fmt::Display for CurvedQuality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { order, cells, min_scaled_jacobian, at: [x, y], .. } = self;
        // The value is a lower bound, so it is rounded down.
        let least = (1e3 * min_scaled_jacobian).floor() / 1e3;
        let what = format_args!("a scaled Jacobian of {least:.3} and more");
        write!(f, "{cells} cells of order {order}, with {what}, the least at ({x:.6}, {y:.6})")
    }
}

impl CurvedQuality {
    /// Measures the cells of order `order` of linked blocks together, each of which consists of `order` × `order` cells of
    /// its grid. Cells left over at the ends in i and j are ignored. The result does not depend on the number of threads.
    ///
    /// # Panics
    /// If `order` is 0 or above [`MOST_ORDER`].
    #[must_use]
    pub fn of_blocks(blocks: &[&Grid], order: usize) -> Self {
        let (min_scaled_jacobian, at) = (f64::INFINITY, [f64::NAN; 2]);
        let none = Self { order, cells: 0, folded_cells: 0, min_scaled_jacobian, at };
        let of_block = |block: &&Grid| {
            let of_row = |j: usize| {
                let columns = 0..(block.ni - 1) / order;
                let cells = columns.map(|i| Cell::new(block, [i, j], order).quality());
                cells.fold(none, Self::joined)
            };
            let rows = (0..(block.nj - 1) / order).into_par_iter().map(of_row);
            rows.collect::<Vec<_>>().into_iter().fold(none, Self::joined)
        };
        blocks.iter().map(of_block).fold(none, Self::joined)
    }

    /// The quality of both sets of cells. Of two equally bad cells the first is kept. NaN is the worst.
    fn joined(self, other: Self) -> Self {
        let keeps = self.min_scaled_jacobian.is_nan()
            || other.min_scaled_jacobian >= self.min_scaled_jacobian;
        let worst = if keeps { &self } else { &other };
        Self {
            cells: self.cells + other.cells,
            folded_cells: self.folded_cells + other.folded_cells,
            ..*worst
        }
    }
}

/// A polynomial in Bernstein's basis on the square, with `count` coefficients in each direction.
#[derive(Debug, Clone, Copy)]
struct Bernstein {
    count: usize,
    coefficients: [[f64; MOST_COEFFICIENTS]; MOST_COEFFICIENTS],
}

/// The points of the Bézier form of a cell relative to its first node, `[j][i]`.
struct Cell {
    order: usize,
    points: [[[f64; 2]; MOST_POINTS]; MOST_POINTS],
    /// Square of the largest distance of a node from the first.
    extent_squared: f64,
    /// Absolute determinant, at its middle and for unit steps of the grid, of the straight cell with the same
    /// corners.
    straight: f64,
    centre: [f64; 2],
}

impl Cell {
    fn new(grid: &Grid, [i, j]: [usize; 2], order: usize) -> Self {
        let node = |a: usize, b: usize| grid.point(order * i + a, order * j + b);
        let mut nodes = [[[0.0; 2]; MOST_POINTS]; MOST_POINTS];
        let mut extent_squared = 0.0_f64;
        for (b, row) in nodes.iter_mut().enumerate().take(order + 1) {
            for (a, place) in row.iter_mut().enumerate().take(order + 1) {
                *place = difference(node(a, b), node(0, 0));
                extent_squared = extent_squared.max(dot(*place, *place));
            }
        }
        let corners = [node(0, 0), node(order, 0), node(order, order), node(0, order)];
        let straight = cell_area(&corners).abs() / (order * order) as f64;
        let centre = [0, 1].map(|c| 0.25 * corners.iter().map(|corner| corner[c]).sum::<f64>());
        let along_i = nodes.map(|row| bezier_points(row, order));
        let mut points = along_i;
        for a in 0..=order {
            let column = bezier_points(along_i.map(|row| row[a]), order);
            points.iter_mut().zip(column).for_each(|(row, point)| row[a] = point);
        }
        Self { order, points, extent_squared, straight, centre }
    }

    fn quality(&self) -> CurvedQuality {
        let bound = self.determinant().lower_bound(GAP * self.straight);
        let lower = bound - ROUND_OFF * self.extent_squared;
        CurvedQuality {
            order: self.order,
            cells: 1,
            folded_cells: usize::from(lower.is_nan() || lower <= 0.0),
            min_scaled_jacobian: lower / self.straight,
            at: self.centre,
        }
    }

    /// x_ξ y_η − x_η y_ξ for unit steps of the grid: with the points c of the Bézier form and n = 2 q − 1
    ///
    /// ```text
    /// J_kl = Σ C(q−1, i) C(q, k−i) C(q, j) C(q−1, l−j) / (C(n, k) C(n, l))
    ///          (c_i+1,j − c_ij) × (c_k−i,l−j+1 − c_k−i,l−j)
    /// ```
    fn determinant(&self) -> Bernstein {
        let (q, points) = (self.order, &self.points);
        let count = 2 * q;
        let mut coefficients = [[0.0; MOST_COEFFICIENTS]; MOST_COEFFICIENTS];
        for j in 0..=q {
            for i in 0..q {
                let along_i = difference(points[j][i + 1], points[j][i]);
                for b in 0..q {
                    for a in 0..=q {
                        let along_j = difference(points[b + 1][a], points[b][a]);
                        let weight = BINOMIALS[q - 1][i]
                            * BINOMIALS[q][a]
                            * BINOMIALS[q][j]
                            * BINOMIALS[q - 1][b];
                        coefficients[j + b][i + a] += weight * cross(along_i, along_j);
                    }
                }
            }
        }
        for (l, row) in coefficients.iter_mut().enumerate().take(count) {
            for (k, coefficient) in row.iter_mut().enumerate().take(count) {
                *coefficient /= BINOMIALS[count - 1][k] * BINOMIALS[count - 1][l];
            }
        }
        Bernstein { count, coefficients }
    }
}

impl Bernstein {
    /// A lower bound of the smallest value, at most `gap` below an upper one unless that takes too many parts.
    /// Coefficients give the lower bound, values at corners the upper one. The part with the smallest coefficient is
    /// repeatedly halved in both directions.
    fn lower_bound(self, gap: f64) -> f64 {
        let mut upper = self.corners();
        let mut parts = vec![(self.least(), self)];
        loop {
            let worst = (0..parts.len()).min_by(|a, b| parts[*a].0.total_cmp(&parts[*b].0));
            let Some(worst) = worst else { return f64::NAN };
            let lower = super::smaller(parts[worst].0, upper);
            let decided = lower > 0.0 || upper <= 0.0;
            // The comparison is false for NaN, which ends the loop.
            let open = upper - lower > gap || (!decided && upper > lower);
            if !open || parts.len() >= MOST_PARTS {
                return lower;
            }
            let (_, part) = parts.swap_remove(worst);
            for quarter in part.quarters() {
                upper = upper.min(quarter.corners());
                parts.push((quarter.least(), quarter));
            }
        }
    }

    /// The smallest coefficient; NaN if any is.
    fn least(&self) -> f64 {
        let rows = self.coefficients[..self.count].iter().map(|row| &row[..self.count]);
        rows.flatten().copied().fold(f64::INFINITY, super::smaller)
    }

    /// The smallest value at a corner; NaN if any is.
    fn corners(&self) -> f64 {
        let ends = [0, self.count - 1];
        let values = ends.into_iter().flat_map(|l| ends.map(|k| self.coefficients[l][k]));
        values.fold(f64::INFINITY, super::smaller)
    }

    /// The polynomial on the four quarters of the square, by de Casteljau's algorithm.
    fn quarters(&self) -> [Self; 4] {
        let [left, right] = self.halves();
        let ([a, b], [c, d]) = (left.transposed().halves(), right.transposed().halves());
        [a, b, c, d]
    }

    /// The polynomial on the two halves of the square in the first direction.
    fn halves(&self) -> [Self; 2] {
        let (mut left, mut right, n) = (*self, *self, self.count);
        for (l, row) in self.coefficients.iter().enumerate().take(n) {
            let mut values = *row;
            for k in 0..n {
                left.coefficients[l][k] = values[0];
                right.coefficients[l][n - 1 - k] = values[n - 1 - k];
                for m in 0..n - 1 - k {
                    values[m] = 0.5 * (values[m] + values[m + 1]);
                }
            }
        }
        [left, right]
    }

    fn transposed(&self) -> Self {
        let coefficients =
            std::array::from_fn(|l| std::array::from_fn(|k| self.coefficients[k][l]));
        Self { count: self.count, coefficients }
    }
}

/// Binomial coefficients C(n, k), `[n][k]`.
const BINOMIALS: [[f64; MOST_COEFFICIENTS]; MOST_COEFFICIENTS] = [
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1.0, 3.0, 3.0, 1.0, 0.0, 0.0, 0.0, 0.0],
    [1.0, 4.0, 6.0, 4.0, 1.0, 0.0, 0.0, 0.0],
    [1.0, 5.0, 10.0, 10.0, 5.0, 1.0, 0.0, 0.0],
    [1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0, 0.0],
    [1.0, 7.0, 21.0, 35.0, 35.0, 21.0, 7.0, 1.0],
];

/// The control points of the Bézier curve of degree `order` through nodes at equal steps, by the inverse of
/// the values of Bernstein's polynomials at these steps.
fn bezier_points(nodes: [[f64; 2]; MOST_POINTS], order: usize) -> [[f64; 2]; MOST_POINTS] {
    let rows: &[(&[f64], f64)] = match order {
        2 => &[(&[-1.0, 4.0, -1.0], 2.0)],
        3 => &[(&[-5.0, 18.0, -9.0, 2.0], 6.0), (&[2.0, -9.0, 18.0, -5.0], 6.0)],
        4 => &[
            (&[-13.0, 48.0, -36.0, 16.0, -3.0], 12.0),
            (&[13.0, -64.0, 120.0, -64.0, 13.0], 18.0),
            (&[-3.0, 16.0, -36.0, 48.0, -13.0], 12.0),
        ],
        _ => &[],
    };
    let mut points = nodes;
    for (point, (weights, divisor)) in points[1..].iter_mut().zip(rows) {
        let sum = |c: usize| weights.iter().zip(nodes).map(|(w, node)| w * node[c]).sum::<f64>();
        *point = [0, 1].map(|c| sum(c) / divisor);
    }
    points
}
