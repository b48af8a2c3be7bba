//! Bounds on the Jacobian determinant of curved cells.

use gridgen::grid::quality::{CurvedQuality, cell_area, cell_corners, smallest_determinant};
use gridgen::grid::{Grid, Seam, Topology};
use support::grids::{grid_from, polar_grid};
use support::random::Random;

/// One cell of order `order`, with nodes at these positions in x, and straight in y.
fn bar(places: &[f64]) -> CurvedQuality {
    let n = places.len();
    let grid = grid_from(n, n, |i, j| [places[i], j as f64 / (n - 1) as f64]);
    CurvedQuality::of_blocks(&[&grid], n - 1)
}

/// The cubic with x' = a (1 − u)² + 2 b u (1 − u) + c u² at equal steps of u.
fn cubic([a, b, c]: [f64; 3]) -> Vec<f64> {
    let x = |u: f64| {
        a * (1.0 - (1.0 - u).powi(3)) / 3.0
            + b * (u * u - 2.0 / 3.0 * u.powi(3))
            + c * u.powi(3) / 3.0
    };
    (0..4).map(|k| x(f64::from(k) / 3.0)).collect()
}

fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

#[test]
fn straight_parallelograms_have_a_scaled_jacobian_of_one() {
    let grid = grid_from(13, 13, |i, j| [3.0 * i as f64 + j as f64, 2.0 * j as f64]);

    for order in 1..=4_usize {
        let quality = CurvedQuality::of_blocks(&[&grid], order);

        assert_eq!((quality.cells, quality.folded_cells), ((12 / order).pow(2), 0));
        assert_near(quality.min_scaled_jacobian, 1.0, 1e-9);
    }
}

/// With the middle node at m, the derivative of the quadratic is 4 m − 1 at one end of the unit length.
#[test]
fn a_node_a_quarter_off_its_middle_folds_a_cell_of_order_two() {
    for (m, folded) in [(0.5, 0), (0.3, 0), (0.2501, 0), (0.25, 1), (0.2, 1), (0.8, 1)] {
        let quality = bar(&[0.0, m, 1.0]);

        assert_eq!(quality.folded_cells, folded, "{m}");
        assert_near(quality.min_scaled_jacobian, 1.0 - 4.0 * (m - 0.5_f64).abs(), 0.01);
    }
}

/// x' = 1/4 in the middle, although a coefficient in Bernstein's basis is −1/2; the length is 1/2.
#[test]
fn a_negative_coefficient_is_no_fold() {
    let quality = bar(&cubic([1.0, -0.5, 1.0]));

    assert_eq!(quality.folded_cells, 0);
    assert_near(quality.min_scaled_jacobian, 0.25 / 0.5, 0.01);
    assert!(quality.min_scaled_jacobian <= 0.5);
}

/// x' = −1/10 in the middle, although it is positive at both ends and at the nodes; the length is 4/15.
#[test]
fn a_fold_between_nodes_is_found() {
    let places = cubic([1.0, -1.2, 1.0]);
    let derivative = |u: f64| (1.0 - u).powi(2) - 2.4 * u * (1.0 - u) + u * u;

    let quality = bar(&places);

    assert!((0..4).all(|k| derivative(f64::from(k) / 3.0) > 0.0));
    assert_eq!(quality.folded_cells, 1);
    assert_near(quality.min_scaled_jacobian, -0.1 / (4.0 / 15.0), 0.02);
}

/// The determinant at (u, v) of the Lagrange polynomials through the nodes of a grid that is one cell.
fn determinant(grid: &Grid, [u, v]: [f64; 2]) -> f64 {
    let n = grid.ni;
    let node = |k: usize| k as f64 / (n - 1) as f64;
    let value = |k: usize, u: f64| -> f64 {
        let others = (0..n).filter(|other| *other != k);
        others.map(|other| (u - node(other)) / (node(k) - node(other))).product()
    };
    // The derivative of a product, term by term.
    let slope = |k: usize, u: f64| -> f64 {
        let others = || (0..n).filter(|other| *other != k);
        let term = |left: usize| -> f64 {
            let rest = others().filter(|other| *other != left);
            rest.map(|other| (u - node(other)) / (node(k) - node(other))).product::<f64>()
                / (node(k) - node(left))
        };
        others().map(term).sum()
    };
    let mut derivatives = [[0.0; 2]; 2];
    for j in 0..n {
        for i in 0..n {
            let weights = [slope(i, u) * value(j, v), value(i, u) * slope(j, v)];
            for (along, weight) in derivatives.iter_mut().zip(weights) {
                along.iter_mut().zip(grid.point(i, j)).for_each(|(sum, x)| *sum += weight * x);
            }
        }
    }
    let [[xu, yu], [xv, yv]] = derivatives;
    xu * yv - yu * xv
}

/// Compares with the smallest of many values of the determinant, by other formulas.
#[test]
fn the_bound_is_below_all_values_and_near_the_smallest() {
    let mut random = Random::new(7);
    let mut folded = 0;
    for order in 1..=4_usize {
        for trial in 0..60 {
            let off = 0.004 * f64::from(trial) / order as f64;
            let mut place = |k: usize| k as f64 / order as f64 + off * random.symmetric();
            let mut nodes = Vec::new();
            for k in 0..(order + 1).pow(2) {
                let [i, j] = [k % (order + 1), k / (order + 1)];
                nodes.push([5.0 + 3.0 * place(i), 0.01 * place(j) - 2.0]);
            }
            let grid = grid_from(order + 1, order + 1, |i, j| nodes[j * (order + 1) + i]);
            let quality = CurvedQuality::of_blocks(&[&grid], order);

            let corner = |i: usize, j: usize| grid.point(order * i, order * j);
            let straight = cell_area(&[corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)]);
            let steps = 20;
            let at = |k: i32| {
                [k % (steps + 1), k / (steps + 1)].map(|k| f64::from(k) / f64::from(steps))
            };
            let values = (0..(steps + 1).pow(2)).map(|k| determinant(&grid, at(k)) / straight);
            let least = values.fold(f64::INFINITY, f64::min);
            assert!(quality.min_scaled_jacobian <= least + 1e-10);
            if quality.min_scaled_jacobian > 0.0 {
                assert_near(quality.min_scaled_jacobian, least, 0.02);
            }
            // A cell with a negative value is folded; a folded cell has a value that is negative or near
            // zero.
            assert!(quality.folded_cells == 1 || least > 0.0);
            assert!(quality.folded_cells == 0 || least < 0.01, "{least} of order {order}");
            folded += quality.folded_cells;
        }
    }
    assert!((20..200).contains(&folded), "{folded}");
}

#[test]
fn a_coordinate_that_is_not_a_number_folds_its_cell() {
    let mut grid = polar_grid(25, 13, 0.05, 1.2);
    grid.y[25 * 3 + 7] = f64::NAN;

    let quality = CurvedQuality::of_blocks(&[&grid], 4);

    assert_eq!((quality.cells, quality.folded_cells), (18, 1));
    assert!(quality.min_scaled_jacobian.is_nan());
}

#[test]
fn cells_that_are_thin_by_ten_to_the_eighth_are_judged() {
    let thin = |by: f64| {
        let mut grid =
            grid_from(9, 9, |i, j| [i as f64, 1.0 + by * (1.0 + 0.1 * i as f64) * j as f64]);
        grid.topology = Topology::O(Seam::Held);
        grid
    };

    for order in 2..=4 {
        let quality = CurvedQuality::of_blocks(&[&thin(1e-8)], order);

        assert_eq!(quality.folded_cells, 0);
        // The height at the first corner, divided by that in the middle of the first cell.
        assert_near(quality.min_scaled_jacobian, 1.0 / (1.0 + 0.05 * order as f64), 0.02);
    }
}

/// The least scaled Jacobian of a bilinear cell is at a corner.
#[test]
fn cells_of_order_one_have_the_corner_determinants_of_the_grid() {
    let grid = polar_grid(49, 25, 0.05, 1.2);
    let scaled = |k: usize| {
        let corners = cell_corners(&grid, k % 48, k / 48);
        smallest_determinant(&corners) / cell_area(&corners)
    };
    let least = (0..grid.cells()).map(scaled).fold(f64::INFINITY, f64::min);

    let quality = CurvedQuality::of_blocks(&[&grid], 1);

    assert_eq!((quality.cells, quality.folded_cells), (grid.cells(), 0));
    assert_near(quality.min_scaled_jacobian, least, 1e-9);
}
