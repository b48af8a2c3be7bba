//! Nodes of all blocks at once, moved until cells are near their shape: right angles, and ratios of sides that change
//! slowly from cell to cell.
//!
//! Blocks that are solved for one by one meet in kinks, and five lines cannot leave a point at right angles. Here no line
//! between blocks is given: of all nodes, those near the wall alone are held.

use std::collections::HashMap;

use rayon::prelude::*;

use super::{BladePassage, INLET, PASSAGE};
use crate::geometry::vector::{along, cross, difference, distance, dot};
use crate::grid::Grid;
use crate::grid::boundary::{PERIOD, Patch, SideKind};
use crate::grid::quality::signed_area;

/// Layers of the O-grid within this share of its width are held.
const HELD: f64 = 0.1;
/// Passes over the ratios of the sides, for each cell: they diffuse over a share of the grid.
const PASSES: f64 = 1.0 / 160.0;
/// Times that the ratios are taken, and the sweeps over the nodes each time, for each cell along a side of a square grid.
const ROUNDS: usize = 2;
const SWEEPS: f64 = 0.25;
/// Over-relaxation of the nodes, and the longest step in distances to the nearest neighbour.
const OVER: f64 = 1.7;
const LONGEST: f64 = 0.5;
/// Halvings of a step that does not lower the measure.
const HALVINGS: usize = 8;

/// A corner of a cell: the node, and how far above its place the corner is.
type Corner = (usize, f64);

/// The freedom of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Motion {
    /// Nothing.
    Held,
    /// Move along the plane at the end of a strip.
    Along,
    /// Move anywhere.
    Free,
}

/// A cell, and the shape that it is to have.
struct ShapedCell {
    /// Its corners, anticlockwise.
    corners: [Corner; 4],
    /// Length of its sides 0 and 2 in that of its sides 1 and 3; side k begins at corner k.
    ratio: f64,
    /// Cosine and sine of the angle at its corners 0 and 2.
    angle: [f64; 2],
}

/// A corner beside a node: its sides a, onwards, and b, backwards; how they change with the place of the node; and its shape.
struct CornerBeside {
    sides: [[f64; 2]; 2],
    change: [f64; 2],
    ratio: f64,
    angle: [f64; 2],
}

/// Sum of the measure over corners, with its derivatives by x and y: xx, xy, yy.
#[derive(Default)]
struct ShapeSum {
    value: f64,
    gradient: [f64; 2],
    hessian: [f64; 3],
}

/// All blocks as one mesh.
struct JoinedBlocks {
    places: Vec<[f64; 2]>,
    motions: Vec<Motion>,
    cells: Vec<ShapedCell>,
    /// The cells around each node, and its corner there.
    around: Vec<Vec<(usize, usize)>>,
}

impl CornerBeside {
    /// e = |J W⁻¹|² / (2 det(J W⁻¹)), J = (a, b), W the shape (theory eq. 32); none in a fold.
    fn measure(&self) -> Option<f64> {
        let ([a, b], [cosine, sine]) = (self.sides, self.angle);
        let area = cross(a, b);
        let length = dot(a, a) / self.ratio - 2.0 * cosine * dot(a, b) + self.ratio * dot(b, b);
        (area > 0.0).then(|| length / (2.0 * sine * area))
    }

    /// Adds e⁴ and its derivatives.
    fn add(&self, sum: &mut ShapeSum) -> Option<()> {
        let e = self.measure()?;
        let ([a, b], [cosine, sine], [u, v]) = (self.sides, self.angle, self.change);
        let area = cross(a, b);
        let of_length = [0, 1].map(|c| {
            2.0 * (u / self.ratio * a[c] - cosine * (u * b[c] + v * a[c]) + v * self.ratio * b[c])
        });
        let curvature = 2.0 * (u * u / self.ratio - 2.0 * cosine * u * v + v * v * self.ratio);
        let of_area = [u * b[1] - v * a[1], v * a[0] - u * b[0]];
        let scale = 1.0 / (2.0 * sine * area);
        let first = [0, 1].map(|c| scale * of_length[c] - e / area * of_area[c]);
        let second = |c: usize, d: usize| {
            let mixed = of_length[c] * of_area[d] + of_length[d] * of_area[c];
            let own = if c == d { curvature } else { 0.0 };
            scale * (own - mixed / area) + 2.0 * e / (area * area) * of_area[c] * of_area[d]
        };
        let [to, square] = [4.0 * e * e * e, 12.0 * e * e];
        sum.value += e * e * e * e;
        let of_square = |c: usize, d: usize| square * first[c] * first[d] + to * second(c, d);
        for c in 0..2 {
            sum.gradient[c] += to * first[c];
            sum.hessian[2 * c] += of_square(c, c);
        }
        sum.hessian[1] += of_square(0, 1);
        Some(())
    }
}

/// Moves the nodes of the O-grid and of the blocks around it, whose boundary is known, off the wall.
pub(super) fn shape(grids: &mut [Grid], passage: &BladePassage) {
    let corners = nodes(grids, passage.pitch);
    let mut mesh = JoinedBlocks::of(grids, &corners, passage);
    let moves =
        |node: &usize| mesh.motions[*node] != Motion::Held && !mesh.around[*node].is_empty();
    let mut order: Vec<usize> = (0..mesh.places.len()).filter(moves).collect();
    let beside = mesh.beside();
    for _ in 0..ROUNDS {
        mesh.smooth_ratios(&beside);
        for _ in 0..(SWEEPS * (mesh.cells.len() as f64).sqrt()) as usize {
            for node in &order {
                mesh.places[*node] = mesh.moved(*node);
            }
            order.reverse();
        }
    }
    for (grid, corners) in grids.iter_mut().zip(&corners) {
        for (k, (node, lift)) in corners.iter().enumerate() {
            let [x, y] = mesh.places[*node];
            (grid.x[k], grid.y[k]) = (x, y + lift);
        }
    }
}

/// The nodes of each block: of those that are one, or a pitch apart, the lowest is the place, and the others are lifted.
fn nodes(grids: &[Grid], pitch: f64) -> Vec<Vec<Corner>> {
    let mut count = 0;
    let mut own: Vec<Vec<Corner>> = Vec::new();
    for grid in grids {
        own.push((count..count + grid.x.len()).map(|node| (node, 0.0)).collect());
        count += grid.x.len();
    }
    let lower = Patch::named(PERIOD[0], Some(SideKind::Periodic));
    let ranges: Vec<_> = grids.iter().flat_map(Grid::boundary).collect();
    let mut pairs = Vec::new();
    for range in &ranges {
        let partner = range.partner().filter(|_| range.patch() == Some(lower));
        let lift = if partner.is_some() { pitch } else { 0.0 };
        let Some(to) = partner.or(range.link()) else { continue };
        for k in 0..range.on.count() {
            let place = [range.on, to].map(|segment| {
                let grid = &grids[segment.block];
                let [i, j] = segment.node([grid.ni, grid.nj], k);
                (segment.block, j * grid.ni + i)
            });
            pairs.push((place, lift));
        }
    }
    // The first node of a chain reaches its last one after as many rounds as that has links.
    let mut changed = true;
    while changed {
        changed = false;
        for ([(a, i), (b, k)], lift) in &pairs {
            let [(low, below), (high, above)] = [own[*a][*i], own[*b][*k]];
            if low < high {
                (own[*b][*k], changed) = ((low, below + lift), true);
            } else if high < low {
                (own[*a][*i], changed) = ((high, above - lift), true);
            }
        }
    }
    let mut least = vec![f64::INFINITY; count];
    for (node, lift) in own.iter().flatten() {
        least[*node] = least[*node].min(*lift);
    }
    own.iter_mut().flatten().for_each(|(node, lift)| *lift -= least[*node]);
    own
}

impl JoinedBlocks {
    fn of(grids: &[Grid], corners: &[Vec<Corner>], passage: &BladePassage) -> Self {
        let count = corners.iter().map(Vec::len).sum();
        let mut places = vec![[f64::NAN; 2]; count];
        let mut motions = vec![Motion::Free; count];
        let mut cells = Vec::new();
        for (block, (grid, nodes)) in grids.iter().zip(corners).enumerate() {
            for (k, (node, lift)) in nodes.iter().enumerate() {
                if *lift == 0.0 {
                    places[*node] = [grid.x[k], grid.y[k]];
                }
            }
            let (ni, last) = (grid.ni, grid.nj - 1);
            let angle = match block {
                0 => {
                    let layers = held(grid) * ni;
                    nodes[..layers].iter().for_each(|(node, _)| motions[*node] = Motion::Held);
                    0.0
                }
                PASSAGE => 0.0,
                _ => {
                    nodes[last * ni..].iter().for_each(|(node, _)| motions[*node] = Motion::Along);
                    let end = if block == INLET { passage.inlet } else { passage.outlet };
                    end.angle.to_radians()
                }
            };
            let order = if signed_area(grid) < 0.0 { [0, 3, 2, 1] } else { [0, 1, 2, 3] };
            for (j, i) in (0..last).flat_map(|j| (0..ni - 1).map(move |i| (j, i))) {
                let around = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
                let at = order.map(|k| around[k]);
                // Rows of a strip turn to their angle on the way to its end.
                let sine = (angle * (j as f64 + 0.5) / last as f64).sin();
                cells.push(ShapedCell {
                    corners: at.map(|(i, j)| nodes[j * ni + i]),
                    ratio: 1.0,
                    angle: [-sine, (1.0 - sine * sine).sqrt()],
                });
            }
        }
        let mut around = vec![Vec::new(); count];
        for (place, cell) in cells.iter().enumerate() {
            for (k, (node, _)) in cell.corners.iter().enumerate() {
                around[*node].push((place, k));
            }
        }
        Self { places, motions, cells, around }
    }

    /// The cells across the sides of each cell, and the sign with which the ratio goes on there: sides 0 and 2 may go on as
    /// sides 1 and 3.
    fn beside(&self) -> Vec<Vec<(usize, f64)>> {
        let mut beside = vec![Vec::new(); self.cells.len()];
        let mut open = HashMap::new();
        for (cell, k) in (0..self.cells.len()).flat_map(|cell| (0..4).map(move |k| (cell, k))) {
            let mut ends = [k, (k + 1) % 4].map(|k| self.cells[cell].corners[k].0);
            ends.sort_unstable();
            match open.remove(&ends) {
                None => {
                    open.insert(ends, (cell, k));
                }
                Some((other, side)) => {
                    let sign = if (k + side).is_multiple_of(2) { 1.0 } else { -1.0 };
                    beside[cell].push((other, sign));
                    beside[other].push((cell, sign));
                }
            }
        }
        beside
    }

    /// Ratios ← means of those around, pass by pass; cells that are held keep theirs.
    fn smooth_ratios(&mut self, beside: &[Vec<(usize, f64)>]) {
        let held = |cell: &ShapedCell| {
            cell.corners.iter().all(|(node, _)| self.motions[*node] == Motion::Held)
        };
        let fixed: Vec<bool> = self.cells.iter().map(held).collect();
        let of_cell = |cell: usize| {
            let corners = self.seen((cell, 0), self.places[self.cells[cell].corners[0].0]);
            let side = |k: usize| distance(corners[k], corners[(k + 1) % 4]);
            ((side(0) + side(2)) / (side(1) + side(3))).ln()
        };
        let mut ratios: Vec<f64> = (0..self.cells.len()).map(of_cell).collect();
        for _ in 0..(PASSES * self.cells.len() as f64) as usize {
            let next = |cell: usize| {
                let own = ratios[cell];
                let change: f64 =
                    beside[cell].iter().map(|(other, sign)| sign * ratios[*other] - own).sum();
                if fixed[cell] { own } else { own + change / 8.0 }
            };
            ratios = (0..ratios.len()).into_par_iter().with_min_len(2048).map(next).collect();
        }
        self.cells.iter_mut().zip(ratios).for_each(|(cell, ratio)| cell.ratio = ratio.exp());
    }

    /// The corners of a cell from the corner `k` on, in the frame of that, whose node is `at`.
    fn seen(&self, (cell, k): (usize, usize), at: [f64; 2]) -> [[f64; 2]; 4] {
        let corners = &self.cells[cell].corners;
        let lift = corners[k].1;
        let other = |m: usize| {
            let (node, above) = corners[(k + m) % 4];
            let [x, y] = self.places[node];
            [x, y + (above - lift)]
        };
        [at, other(1), other(2), other(3)]
    }

    /// The corners that change with the place of a node, which is `at`.
    fn corners(&self, node: usize, at: [f64; 2]) -> impl Iterator<Item = CornerBeside> {
        self.around[node].iter().flat_map(move |(cell, k)| {
            let [own, next, opposite, before] = self.seen((*cell, *k), at);
            let ShapedCell { ratio, angle: [cosine, sine], .. } = self.cells[*cell];
            let corner = |m: usize, here, [onwards, back]: [[f64; 2]; 2], change| {
                let even = (k + m).is_multiple_of(2);
                CornerBeside {
                    sides: [difference(onwards, here), difference(back, here)],
                    change,
                    ratio: if even { ratio } else { 1.0 / ratio },
                    angle: [if even { cosine } else { -cosine }, sine],
                }
            };
            [
                corner(0, own, [next, before], [-1.0, -1.0]),
                corner(1, next, [opposite, own], [0.0, 1.0]),
                corner(3, before, [own, opposite], [1.0, 0.0]),
            ]
        })
    }

    /// A step of Newton's method for one node, over-relaxed, and halved until it lowers the sum over the corners. e is convex
    /// in the place of a node, as a square over a linear function.
    fn moved(&self, node: usize) -> [f64; 2] {
        let at = self.places[node];
        let mut here = ShapeSum::default();
        if self.corners(node, at).any(|corner| corner.add(&mut here).is_none()) {
            return self.unfolded(node);
        }
        let ([gx, gy], [xx, xy, yy]) = (here.gradient, here.hessian);
        let step = if self.motions[node] == Motion::Along {
            [0.0, -gy / yy]
        } else {
            let determinant = xx * yy - xy * xy;
            [(xy * gy - yy * gx) / determinant, (xy * gx - xx * gy) / determinant]
        };
        let most = LONGEST
            * self.neighbours(node).map(|to| distance(at, to)).fold(f64::INFINITY, f64::min);
        let mut share = OVER.min(most / step[0].hypot(step[1]));
        for _ in 0..HALVINGS {
            let next = along(at, step, share);
            let measures = self.corners(node, next).map(|corner| corner.measure());
            let value: Option<f64> = measures.map(|e| Some(e?.powi(4))).sum();
            if value.is_some_and(|value| value < here.value) {
                return next;
            }
            share *= 0.5;
        }
        at
    }

    /// The nodes along sides from a node.
    fn neighbours(&self, node: usize) -> impl Iterator<Item = [f64; 2]> {
        self.around[node].iter().flat_map(move |place| {
            let [_, next, _, before] = self.seen(*place, self.places[node]);
            [next, before]
        })
    }

    /// The mean of the neighbours, where the worst corner of the cells is better there.
    fn unfolded(&self, node: usize) -> [f64; 2] {
        let at = self.places[node];
        let sum = self.neighbours(node).fold([0.0; 2], |sum, to| along(sum, to, 1.0));
        let count = 2.0 * self.around[node].len() as f64;
        let x = if self.motions[node] == Motion::Along { at[0] } else { sum[0] / count };
        let mean = [x, sum[1] / count];
        let least = |at| {
            let areas =
                self.corners(node, at).map(|corner| cross(corner.sides[0], corner.sides[1]));
            areas.fold(f64::INFINITY, f64::min)
        };
        if least(mean) > least(at) { mean } else { at }
    }
}

/// Number of the layers of an O-grid that are held.
fn held(grid: &Grid) -> usize {
    let width = |j: usize| distance(grid.point(grid.ni / 2, 0), grid.point(grid.ni / 2, j));
    (0..grid.nj).take_while(|j| width(*j) <= HELD * width(grid.nj - 1)).count()
}
