//! Derivatives of the fixed nodes with respect to wall points, and of the equations with respect to those, compared with
//! complex steps: the imaginary part of f(x + i h) is h f'(x) without cancellation, however small h is.

use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::Arc;

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{EllipticBackend, EllipticData, FixedLines, FixedPlaces, MovementBackend};
use gridgen::geometry::Scalar;
use gridgen::grid::{Seam, Topology};
use gridgen::internals::movement::FixedNodeMap;
use gridgen::pde::{Stencil, residual};
use num_complex::Complex;
use support::linear;
use support::random::Random;
use support::vectors::twisted;

use crate::movement::{BLUNT, C, O, SMALL, bumped, reference, thickened};

type Wall = Vec<[f64; 2]>;

const STEP: f64 = 1e-200;

/// A complex number as a coordinate.
#[derive(Clone, Copy)]
struct Stepped(Complex<f64>);

impl From<f64> for Stepped {
    fn from(value: f64) -> Self {
        Self(value.into())
    }
}

macro_rules! operations {
    ($($name:ident $method:ident)*) => { $(
        impl $name for Stepped {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                Self($name::$method(self.0, other.0))
            }
        }
    )* };
}

operations! { Add add Sub sub Mul mul Div div }

impl Neg for Stepped {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Scalar for Stepped {
    fn hypot(self, other: Self) -> Self {
        (self * self + other * other).sqrt()
    }

    fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }
}

/// x + i h δ.
fn stepped(x: [f64; 2], by: [f64; 2]) -> [Stepped; 2] {
    [0, 1].map(|k| Stepped(Complex::new(x[k], STEP * by[k])))
}

/// The change of f in the direction δ.
fn change(f: [Stepped; 2]) -> [f64; 2] {
    f.map(|value| value.0.im / STEP)
}

/// The stencil of nodes that are numbered along i, then along j.
fn stencil<S>(node: impl Fn(usize) -> [S; 2]) -> Stencil<S> {
    let line = |first: usize| [0, 1, 2].map(|k| node(first + k));
    Stencil { south: line(0), middle: line(3), north: line(6) }
}

fn random(seed: u64, n: usize) -> Wall {
    let values = Random::new(seed).vector(2 * n);
    values.as_chunks::<2>().0.to_vec()
}

fn apart(a: &[[f64; 2]], b: &[[f64; 2]]) -> f64 {
    linear::apart(a.as_flattened(), b.as_flattened())
}

fn size(a: &[[f64; 2]]) -> f64 {
    linear::largest(a.as_flattened())
}

/// The maps of O-grids, sharp, blunt and symmetric, with a held and a periodic seam, and of C-grids, and a moved wall
/// of each.
fn maps() -> Vec<(FixedNodeMap, Wall)> {
    let periodic = BLUNT.replace("first_cell", "seam = 'periodic'\nfirst_cell");
    let symmetric = SMALL.replace("2412", "0012");
    [O, SMALL, BLUNT, &periodic, C, &symmetric]
        .into_iter()
        .map(|text| {
            let grid = reference(text).grid().clone();
            let lines = grid.nj;
            let map = FixedNodeMap::new(Arc::new(grid), lines);
            let wall = map.reference().wall();
            let moved = if text == symmetric {
                thickened(&wall, 1.2)
            } else {
                twisted(&bumped(&wall, 0.01), 3.0)
            };
            (map, moved)
        })
        .collect()
}

/// Smooth and rough directions; both ends of a closed grid move equally.
fn directions(wall: &[[f64; 2]]) -> [Wall; 2] {
    let smooth = wall.iter().map(|&[x, y]| [0.3 * (2.0 * y).sin(), (3.0 * x).cos()]).collect();
    let mut rough = random(5, wall.len());
    rough[wall.len() - 1] = rough[0];
    [smooth, rough]
}

#[test]
fn the_derivative_of_the_fixed_nodes_is_that_of_complex_steps() {
    for (map, wall) in maps() {
        let what = format!("{:?}, {} points", map.reference().topology, wall.len());
        for by in directions(&wall) {
            let at: Vec<_> = wall.iter().zip(&by).map(|(at, by)| stepped(*at, *by)).collect();
            let heights: Vec<Stepped> = map.heights().map(Stepped::from).collect();
            let mut expected: Wall = map.values(&at, &heights).into_iter().map(change).collect();

            let found = map.jacobian(&wall).displacement(&by, &vec![0.0; wall.len()]);

            // At a node where a line crosses a column, the value of the line is used.
            for (at, [_, j]) in found.places.nodes(found.has_columns()) {
                if j < 2 && at >= 2 * found.places.ni {
                    expected[at] = found.values[at];
                }
            }
            let off = apart(&found.values, &expected);
            assert!(off <= 1e-13 * size(&expected), "{what}: {off:e} of {:e}", size(&expected));
        }
    }
}

/// A δb of all equations equals their complex steps with displaced fixed nodes.
#[test]
fn the_contribution_of_fixed_nodes_agrees_with_complex_steps() {
    for (map, _) in maps() {
        let grid = map.reference();
        let (Topology::O(_) | Topology::C { .. }) = grid.topology else { continue };
        let data = EllipticData::of_grid(grid, 3.0);
        let EllipticData { mi, mj, periodic, .. } = data;
        let places = FixedPlaces { ni: grid.ni, nj: grid.nj };
        let mut lines = FixedLines::zeros(places, grid.topology == Topology::O(Seam::Held));
        lines.values = random(9, lines.values.len());
        (0..2).for_each(|j| {
            lines.values[places.on_line(j, grid.ni - 1)] = lines.values[places.on_line(j, 0)];
        });
        let mut frame = vec![[0.0; 2]; (mi + 2) * (mj + 2)];
        for (at, [i, j]) in places.nodes(lines.has_columns()) {
            let column = if periodic { i + 1 } else { i };
            frame[j * (mi + 2) + column] = lines.values[at];
            if periodic && i + 2 == grid.ni {
                frame[j * (mi + 2)] = lines.values[at];
            }
        }
        let (mut state, _) = CpuBackend.elliptic(&data).unwrap();
        let mut found = vec![0.0; 2 * mi * mj];
        let _ = CpuBackend.residual(&mut state, &mut found).unwrap();
        let displacement = CpuBackend.displacement(&state, &lines).unwrap();

        CpuBackend.frame_product(&state, &displacement, &mut found).unwrap();

        let mut expected = Wall::new();
        for k in 0..mi * mj {
            let (i, j) = (k % mi, k / mi);
            let around = |n: usize| (j + n / 3) * (mi + 2) + i + n % 3;
            let node = |n: usize| [data.x[around(n)], data.y[around(n)]];
            let moved = |n: usize| stepped(node(n), frame[around(n)]);
            let metrics = stencil(node).metrics();
            let stencil = stencil(moved);
            let (p, q) = (data.control_p[k].into(), data.control_q[k].into());
            let weight = 0.5 / (metrics.g11 + metrics.g22);
            expected.push(change(residual(&stencil.metrics(), p, q)).map(|c| weight * c));
        }
        let off = apart(found.as_chunks().0, &expected);
        assert!(
            off <= 1e-13 * size(&expected),
            "{:?}: {off:e} of {:e}",
            grid.topology,
            size(&expected)
        );
    }
}
