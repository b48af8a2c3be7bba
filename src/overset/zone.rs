//! Parts of an overset mesh: the placed walls of elements with distances, containment and intersections, the zones,
//! the background around all, and the search for the cell that contains a point.

use rayon::prelude::*;
use rstar::primitives::{GeomWithData, Line, Rectangle};
use rstar::{AABB, RTree, RTreeObject};

use crate::geometry::Placement;
use crate::geometry::vector::{between, bounds, cross, difference, distance, dot, foot};
use crate::grid::quality::{Corners, cell_area, cell_corners, centroid};
use crate::grid::{Grid, Topology};

/// A closed wall with its trailing edge.
#[derive(Debug, Clone)]
pub struct ElementWall {
    points: Vec<[f64; 2]>,
    /// The points of the trailing edge: one, or all points of a base; empty without an edge.
    edge: Vec<[f64; 2]>,
    /// Segments from each point to the next.
    pieces: RTree<Line<[f64; 2]>>,
}

impl ElementWall {
    /// The wall through these points, clockwise, the last repeating the first. Its trailing edge is the first
    /// point, or a base of `base` cells with that point in its middle. A wall without an edge has `edge`
    /// false.
    pub fn new(points: Vec<[f64; 2]>, edge: bool, base: usize) -> Self {
        let last = points.len().saturating_sub(1);
        let on_base = |i: &usize| *i <= base / 2 || *i + base / 2 >= last;
        let edge =
            if edge { (0..last).filter(on_base).map(|i| points[i]).collect() } else { Vec::new() };
        let pieces = points.array_windows().map(|&[from, to]| Line::new(from, to)).collect();
        Self { points, edge, pieces: RTree::bulk_load(pieces) }
    }

    /// Its points, the last repeating the first.
    pub fn points(&self) -> &[[f64; 2]] {
        &self.points
    }

    /// The points of the trailing edge; empty without one.
    pub fn edge(&self) -> &[[f64; 2]] {
        &self.edge
    }

    /// The nose: the point farthest from the trailing edge, where the chord line begins.
    pub fn nose(&self) -> [f64; 2] {
        let edge = self.middle_of_edge();
        let farther =
            |a: &&[f64; 2], b: &&[f64; 2]| distance(edge, **a).total_cmp(&distance(edge, **b));
        self.points.iter().max_by(farther).copied().unwrap_or(edge)
    }

    /// The first point of the wall: the trailing edge or the middle of its base.
    pub fn middle_of_edge(&self) -> [f64; 2] {
        self.points.first().copied().unwrap_or_default()
    }

    /// Smallest and largest x and y.
    pub fn bounds(&self) -> [[f64; 2]; 2] {
        let bounds = self.pieces.root().envelope();
        [bounds.lower(), bounds.upper()]
    }

    /// The point of the wall nearest to a point.
    pub fn nearest(&self, point: [f64; 2]) -> [f64; 2] {
        let Some(piece) = self.pieces.nearest_neighbor(point) else { return point };
        foot(point, [piece.from, piece.to])
    }

    /// The distance of this wall from another that does not cross it, and the nearest point of each.
    pub fn nearest_of(&self, other: &Self) -> (f64, [[f64; 2]; 2]) {
        let there = self.points.iter().map(|&point| [point, other.nearest(point)]);
        let back = other.points.iter().map(|&point| [self.nearest(point), point]);
        let apart = there.chain(back).map(|ends| (distance(ends[0], ends[1]), ends));
        let nearest = apart.min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.unwrap_or((f64::INFINITY, [[f64::NAN; 2]; 2]))
    }

    /// True if a point lies inside: a ray from it to the right crosses the wall an odd number of times.
    pub fn contains(&self, point: [f64; 2]) -> bool {
        let [low, high] = self.bounds();
        if !(0..2).all(|c| low[c] <= point[c] && point[c] <= high[c]) {
            return false;
        }
        let ray = AABB::from_corners(point, [high[0], point[1]]);
        let crossed = self.pieces.locate_in_envelope_intersecting(ray).filter(|piece| {
            let (a, b) = (piece.from, piece.to);
            let up = b[1] > a[1];
            // A segment includes its lower end and excludes its upper one.
            let spans = (a[1] > point[1]) != (b[1] > point[1]);
            spans && (cross(difference(b, a), difference(point, a)) > 0.0) == up
        });
        crossed.count() % 2 == 1
    }

    /// A point where the wall crosses or touches another, or a point of either wall that lies inside the
    /// other.
    pub fn conflict(&self, other: &Self) -> Option<[f64; 2]> {
        let bounds = other.pieces.root().envelope();
        let crossing = self.pieces.locate_in_envelope_intersecting(bounds).find_map(|piece| {
            let mut near = other.pieces.locate_in_envelope_intersecting(piece.envelope());
            near.find_map(|other| crossing([piece.from, piece.to], [other.from, other.to]))
        });
        let inside = || {
            let first = self.points.first().filter(|point| other.contains(**point));
            first.or_else(|| other.points.first().filter(|point| self.contains(**point))).copied()
        };
        crossing.or_else(inside)
    }
}

fn is_on(point: [f64; 2], [a, b]: [[f64; 2]; 2]) -> bool {
    let (from_a, from_b) = (difference(point, a), difference(point, b));
    cross(from_a, difference(b, a)) == 0.0 && dot(from_a, from_b) <= 0.0
}

/// The intersection of two segments, if there is one; a common point if they lie on one line.
fn crossing([a, b]: [[f64; 2]; 2], [c, d]: [[f64; 2]; 2]) -> Option<[f64; 2]> {
    let (u, v, w) = (difference(b, a), difference(d, c), difference(c, a));
    let area = cross(u, v);
    if area == 0.0 {
        let ends = [c, d].into_iter().find(|&end| is_on(end, [a, b]));
        return ends.or_else(|| [a, b].into_iter().find(|&end| is_on(end, [c, d])));
    }
    let (s, t) = (cross(w, v) / area, cross(w, u) / area);
    let within = (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t);
    within.then(|| between(a, b, s))
}

/// The kind of the outer line of a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rim {
    /// An overset boundary: its cells are interpolated from other zones.
    Overset,
    /// The far field.
    FarField,
}

/// A zone of an overset mesh.
#[derive(Debug, Clone, Copy)]
pub struct Zone<'a> {
    /// Its name, which is also that of its wall.
    pub name: &'a str,
    /// Its placed grid.
    pub grid: &'a Grid,
    /// Kind of its outer line.
    pub rim: Rim,
}

impl Zone<'_> {
    /// True if it has a wall.
    pub fn has_wall(&self) -> bool {
        !self.grid.topology.wall(self.grid.ni).is_empty()
    }

    /// The cells of its outermost layer that form its rim.
    pub fn rim_cells(&self) -> std::ops::Range<usize> {
        let columns = self.grid.ni - 1;
        if self.rim == Rim::Overset { self.grid.cells() - columns..self.grid.cells() } else { 0..0 }
    }
}

/// The cells of a zone, numbered j (ni − 1) + i: centres, areas, and an index to find the cell that contains
/// a point.
#[derive(Debug)]
pub struct ZoneCells {
    /// Corners, counter-clockwise.
    corners: Vec<Corners>,
    /// Centres of area.
    pub centres: Vec<[f64; 2]>,
    /// Areas.
    pub areas: Vec<f64>,
    tree: RTree<GeomWithData<Rectangle<[f64; 2]>, usize>>,
}

/// A point counts as on an edge if it is outside by no more than this fraction of the edge's length.
const ON_EDGE: f64 = 1e-12;

impl ZoneCells {
    /// The cells of a grid.
    pub fn of(grid: &Grid) -> Self {
        let columns = grid.ni - 1;
        let corners: Vec<Corners> = (0..grid.cells())
            .into_par_iter()
            .map(|cell| cell_corners(grid, cell % columns, cell / columns))
            .collect();
        let centres = corners.par_iter().map(centroid).collect();
        let areas = corners.par_iter().map(cell_area).collect();
        let boxes = corners.iter().enumerate().map(|(cell, corners)| {
            let [low, high] = bounds(*corners);
            GeomWithData::new(Rectangle::from_corners(low, high), cell)
        });
        let tree = RTree::bulk_load(boxes.collect());
        Self { corners, centres, areas, tree }
    }

    /// Smallest and largest x and y of a cell.
    pub fn bounds(&self, cell: usize) -> [[f64; 2]; 2] {
        bounds(self.corners[cell])
    }

    /// The cell that contains a point; the first of several with the point on their edges.
    pub fn at(&self, point: [f64; 2]) -> Option<usize> {
        let near = self.tree.locate_in_envelope_intersecting(AABB::from_point(point));
        let holds = |cell: &usize| {
            let corners = &self.corners[*cell];
            (0..4).all(|k| {
                let (a, b) = (corners[k], corners[(k + 1) % 4]);
                let (edge, to) = (difference(b, a), difference(point, a));
                cross(edge, to) >= -ON_EDGE * dot(edge, edge)
            })
        };
        near.map(|found| found.data).filter(holds).min()
    }

    /// The cell at each of `samples` points of a line from one point to another.
    pub fn along(&self, [from, to]: [[f64; 2]; 2], samples: usize) -> Vec<Option<usize>> {
        let shares = (0..samples).map(|k| (k as f64 + 0.5) / samples as f64);
        shares.map(|share| self.at(between(from, to, share))).collect()
    }
}

impl Placement {
    /// Maps the nodes of a grid in place.
    pub fn place(&self, grid: &mut Grid) {
        for (x, y) in grid.x.iter_mut().zip(&mut grid.y) {
            [*x, *y] = self.point([*x, *y]);
        }
    }
}

/// A Cartesian grid, uniform in a core and stretched beyond it. Lengths are in reference chords.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Background {
    /// Interval of the core.
    pub spacing: f64,
    /// Distance by which the core extends beyond the elements on each side.
    pub margin: f64,
    /// Ratio of neighbouring intervals beyond the core.
    pub growth: f64,
    /// Distance of the outer boundary from the core.
    pub far_field: f64,
}

impl Background {
    /// Coordinates of the grid lines along an axis around the interval from `low` to `high`. The core has a
    /// whole number of intervals. Beyond it intervals grow by the ratio up to the outer boundary, scaled down
    /// slightly to end exactly there.
    pub fn lines(&self, low: f64, high: f64) -> Vec<f64> {
        let (from, to) = (low - self.margin, high + self.margin);
        let cells = ((to - from) / self.spacing).ceil().max(1.0);
        // The number of intervals is rounded up; half of the excess goes to either side.
        let excess = 0.5 * (cells * self.spacing - (to - from));
        let (from, cells) = (from - excess, cells as usize);
        let core = (0..=cells).map(|k| from + self.spacing * k as f64);
        let beyond = self.beyond();
        let end = from + self.spacing * cells as f64;
        let before = beyond.iter().rev().map(|s| from - s);
        before.chain(core).chain(beyond.iter().map(|s| end + s)).collect()
    }

    /// Distances of the lines beyond the core from it.
    fn beyond(&self) -> Vec<f64> {
        let mut places = Vec::new();
        let (mut step, mut place) = (self.spacing, 0.0);
        while place < self.far_field {
            step *= self.growth;
            place += step;
            places.push(place);
        }
        let scale = self.far_field / place;
        for place in &mut places {
            *place *= scale;
        }
        if let Some(last) = places.last_mut() {
            *last = self.far_field;
        }
        places
    }

    /// Points along both axes, for a box from `low` to `high`; the number of nodes is their product.
    pub fn size(&self, low: [f64; 2], high: [f64; 2]) -> [usize; 2] {
        let beyond = (1.0 + self.far_field / self.spacing * (self.growth - 1.0) / self.growth).ln()
            / self.growth.ln();
        [0, 1].map(|c| {
            let core = (high[c] - low[c] + 2.0 * self.margin) / self.spacing;
            // The cast saturates, so a number that is far too large remains far too large.
            (core.ceil().max(1.0) + 2.0 * beyond.ceil() + 1.0) as usize
        })
    }

    /// The grid around the box from `low` to `high`, i along x and j along y.
    pub fn grid(&self, low: [f64; 2], high: [f64; 2]) -> Grid {
        let [x, y] = [0, 1].map(|c| self.lines(low[c], high[c]));
        Grid::of_nodes(Topology::Rectangle, [x.len(), y.len()], |i, j| [x[i], y[j]])
    }
}
