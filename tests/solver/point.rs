//! Residual and Jacobian of the grid equations at one point.
#![allow(clippy::float_cmp, reason = "a uniform grid has exactly no residual")]

use gridgen::pde::{Stencil, StencilBlocks, Vec2, residual};

fn sample() -> [Vec2; 9] {
    let mut points = [[0.0; 2]; 9];
    for (k, point) in points.iter_mut().enumerate() {
        let (i, j) = ((k % 3) as f64, (k / 3) as f64);
        *point = [i + 0.2 * j + 0.1 * i * j, 0.7 * j - 0.3 * i + 0.05 * i * i + 0.1 * j * j];
    }
    points
}

fn stencil(points: &[Vec2; 9]) -> Stencil {
    Stencil {
        south: [points[0], points[1], points[2]],
        middle: [points[3], points[4], points[5]],
        north: [points[6], points[7], points[8]],
    }
}

#[test]
fn blocks_are_the_derivative_of_the_residual() {
    let (points, p, q) = (sample(), 0.3, -0.2);
    let blocks = StencilBlocks::new(&stencil(&points).metrics(), p, q);
    let identity = |s: f64| [[s, 0.0], [0.0, s]];
    let d = blocks.diagonal;
    let exact = [
        identity(d),
        blocks.south,
        identity(-d),
        blocks.west,
        identity(blocks.centre),
        blocks.east,
        identity(-d),
        blocks.north,
        identity(d),
    ];

    let h = 1e-6;
    for (k, block) in exact.iter().enumerate() {
        for column in 0..2 {
            let at = |step: f64| {
                let mut moved = points;
                moved[k][column] += step;
                residual(&stencil(&moved).metrics(), p, q)
            };
            let (plus, minus) = (at(h), at(-h));
            for row in 0..2 {
                let difference = (plus[row] - minus[row]) / (2.0 * h);
                assert!((difference - block[row][column]).abs() < 1e-8, "{k} {row} {column}");
            }
        }
    }
}

#[test]
fn a_uniform_grid_without_control_has_no_residual() {
    let mut points = [[0.0; 2]; 9];
    for (k, point) in points.iter_mut().enumerate() {
        *point = [(k % 3) as f64, (k / 3) as f64];
    }

    let r = residual(&stencil(&points).metrics(), 0.0, 0.0);
    assert!(r[0] == 0.0 && r[1] == 0.0, "{r:?}");
}
