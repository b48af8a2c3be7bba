//! Zones of an overset mesh, and the cells in which points lie.

use rayon::prelude::*;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use crate::geometry::vector::{cross, difference};
use crate::grid::quality::{Corners, cell_area, cell_corners, centroid};
use crate::grid::{Grid, Topology};

/// What the outer line of a zone is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rim {
    /// Its cells take their values from other zones.
    Overset,
    /// The far field.
    FarField,
}

/// A zone of an overset mesh.
#[derive(Debug, Clone, Copy)]
pub struct Zone<'a> {
    /// Its name, which its wall has too.
    pub name: &'a str,
    /// Its grid, where it stands.
    pub grid: &'a Grid,
    /// What its outer line is.
    pub rim: Rim,
}

impl Zone<'_> {
    /// Whether it has a wall.
    pub fn has_wall(&self) -> bool {
        self.grid.topology != Topology::Rectangle
    }

    /// Cells of its outermost layer that are its rim.
    pub fn rim_cells(&self) -> std::ops::Range<usize> {
        let columns = self.grid.ni - 1;
        if self.rim == Rim::Overset { self.grid.cells() - columns..self.grid.cells() } else { 0..0 }
    }
}

/// The cells of a zone, numbered j (ni − 1) + i: their centres, areas, and what finds the cell of a point.
#[derive(Debug)]
pub struct Cells {
    columns: usize,
    /// Corners, counter-clockwise.
    corners: Vec<Corners>,
    /// Centres of area.
    pub centres: Vec<[f64; 2]>,
    /// Areas.
    pub areas: Vec<f64>,
    tree: RTree<GeomWithData<Rectangle<[f64; 2]>, usize>>,
}

/// A point this far outside of an edge, in lengths of that, lies on it.
const ON_EDGE: f64 = 1e-12;

impl Cells {
    /// Those of a grid.
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

    /// How many there are.
    pub fn len(&self) -> usize {
        self.centres.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.centres.is_empty()
    }

    /// Layer of a cell, from the wall.
    pub fn layer(&self, cell: usize) -> usize {
        cell / self.columns
    }

    /// Smallest and largest x and y of a cell.
    pub fn bounds(&self, cell: usize) -> [[f64; 2]; 2] {
        let bounds = AABB::from_points(&self.corners[cell]);
        [bounds.lower(), bounds.upper()]
    }

    /// The cell that holds a point, of several on whose edge it lies the first.
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

    /// The cells that a line from one point to another passes, each once, in order, as far as `samples` points
    /// of it tell.
    pub fn along(&self, [from, to]: [[f64; 2]; 2], samples: usize) -> Vec<Option<usize>> {
        let at = |k: usize| {
            let t = (k as f64 + 0.5) / samples as f64;
            self.at([0, 1].map(|c| from[c] + t * (to[c] - from[c])))
        };
        (0..samples).map(at).collect()
    }
}
