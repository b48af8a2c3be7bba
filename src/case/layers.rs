//! The law of the distances of the layers from the wall, and the number of points that a growth takes.

use super::{Case, GridOptions, LayersOptions};
use crate::geometry::{GeometryError, spacing_geometric, spacing_layered, spacing_to_walls};

/// Fewest and most points from wall to far field.
const LEAST: usize = 5;
const MOST: usize = 1_000_000;

/// The law by which the distances of the layers follow from their number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayerLaw {
    /// Height of the first cell.
    pub(super) first: f64,
    /// Distance of the outer line.
    pub(super) extent: f64,
    /// Layers of a given growth beside the wall.
    pub(super) near: Option<LayersOptions>,
    /// Height of the last cell, where the outer line is a wall.
    pub(super) last: Option<f64>,
}

impl LayerLaw {
    /// Distances of `nj` points from the wall, rising from 0.
    pub(crate) fn distances(&self, nj: usize) -> Result<Vec<f64>, GeometryError> {
        match (self.near, self.last) {
            (None, None) => spacing_geometric(nj, self.first, self.extent),
            (None, Some(last)) => spacing_to_walls(nj, [self.first, last], self.extent),
            (Some(LayersOptions { count, growth }), _) => {
                spacing_layered(nj, self.first, (count, growth), self.extent)
            }
        }
    }

    /// Ratio of neighbouring intervals of `nj` points beyond layers of a given growth; the largest between two walls.
    pub(crate) fn growth(&self, nj: usize) -> Option<f64> {
        if self.last.is_some() {
            let distances = self.distances(nj).ok()?;
            let ratio = |s: &[f64]| ((s[2] - s[1]) / (s[1] - s[0])).ln().abs();
            return Some(distances.windows(3).map(ratio).fold(0.0, f64::max).exp());
        }
        match (&self.distances(nj).ok()?[..], self.near) {
            ([_, a, b, ..], None) => Some((b - a) / a),
            ([.., a, b, c], Some(_)) => Some((c - b) / (b - a)),
            _ => None,
        }
    }

    /// The fewest points whose intervals grow by at most this ratio, up to a million.
    pub(crate) fn points(&self, growth: f64) -> Option<usize> {
        // The growth falls with the number of points, until there are too many for the law.
        let fits = |nj: &usize| self.growth(*nj).is_none_or(|found| found <= growth);
        let mut low = self.near.map_or(0, |near| near.count + 3).max(LEAST);
        let mut high = (0..20).map(|doublings| low << doublings).find(fits)?;
        while low < high {
            let middle = low.midpoint(high);
            if fits(&middle) { high = middle } else { low = middle + 1 }
        }
        Some(high).filter(|nj| *nj <= MOST)
    }
}

impl Case {
    /// The law of the layers, which end at a wall where a side of the box is one.
    pub(crate) fn layer_law(&self) -> LayerLaw {
        let GridOptions { first_cell: first, layers: near, .. } = self.grid;
        let last = self.domain.as_ref().and_then(|domain| domain.wall(first));
        LayerLaw { first, extent: self.grid.extent(), near, last }
    }
}
