//! Zones of an overset mesh, and the search for the cell that contains a point.

use rayon::prelude::*;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use crate::geometry::vector::{cross, difference};
use crate::grid::Grid;
use crate::grid::quality::{Corners, cell_area, cell_corners, centroid};

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
    columns: usize,
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
            let bounds = AABB::from_points(corners);
            GeomWithData::new(Rectangle::from_corners(bounds.lower(), bounds.upper()), cell)
        });
        let tree = RTree::bulk_load(boxes.collect());
        Self { columns, corners, centres, areas, tree }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.centres.len()
    }

    /// True if there are no cells.
    pub fn is_empty(&self) -> bool {
        self.centres.is_empty()
    }

    /// Layer of a cell, counted from the wall.
    pub fn layer(&self, cell: usize) -> usize {
        cell / self.columns
    }

    /// Smallest and largest x and y of a cell.
    pub fn bounds(&self, cell: usize) -> [[f64; 2]; 2] {
        let bounds = AABB::from_points(&self.corners[cell]);
        [bounds.lower(), bounds.upper()]
    }

    /// The cell that contains a point; the first of several with the point on their edges.
    pub fn at(&self, point: [f64; 2]) -> Option<usize> {
        let near = self.tree.locate_in_envelope_intersecting(AABB::from_point(point));
        let holds = |cell: &usize| {
            let corners = &self.corners[*cell];
            (0..4).all(|k| {
                let (a, b) = (corners[k], corners[(k + 1) % 4]);
                let (edge, to) = (difference(b, a), difference(point, a));
                cross(edge, to) >= -ON_EDGE * (edge[0] * edge[0] + edge[1] * edge[1])
            })
        };
        near.map(|found| found.data).filter(holds).min()
    }

    /// The cell at each of `samples` points of a line from one point to another.
    pub fn along(&self, [from, to]: [[f64; 2]; 2], samples: usize) -> Vec<Option<usize>> {
        let at = |k: usize| {
            let t = (k as f64 + 0.5) / samples as f64;
            self.at([0, 1].map(|c| from[c] + t * (to[c] - from[c])))
        };
        (0..samples).map(at).collect()
    }
}
