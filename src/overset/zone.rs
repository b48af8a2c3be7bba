//! Zones of an overset mesh: the placement of an element, the background around all, and the search for the cell that
//! contains a point.

use rayon::prelude::*;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use crate::geometry::Placement;
use crate::geometry::vector::{between, bounds, cross, difference, dot};
use crate::grid::quality::{Corners, cell_area, cell_corners, centroid};
use crate::grid::{Grid, Topology};

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
