//! The law of the distances of the layers from the wall, and the number of points that a growth takes.

use super::{GridOptions, LayersOptions};
use crate::geometry::{GeometryError, spacing_geometric, spacing_layered};

/// Fewest and most points from wall to far field.
const LEAST: usize = 5;
const MOST: usize = 1_000_000;

/// The distances of the layers follow from the height of the first cell, the distance that they cover, and the
/// number of points.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayerLaw {
    /// Height of the first cell.
    pub(super) first: f64,
    /// Distance of the outer line.
    pub(super) extent: f64,
    /// Layers of a given growth beside the wall.
    pub(super) near: Option<LayersOptions>,
}

impl LayerLaw {
    /// Distances of `nj` points from the wall, rising from 0.
    pub(crate) fn distances(&self, nj: usize) -> Result<Vec<f64>, GeometryError> {
        match self.near {
            None => spacing_geometric(nj, self.first, self.extent),
            Some(LayersOptions { count, growth }) => {
                spacing_layered(nj, self.first, (count, growth), self.extent)
            }
        }
    }

    /// Ratio of neighbouring intervals of `nj` points, beyond the layers of a given growth.
    pub(crate) fn growth(&self, nj: usize) -> Option<f64> {
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

impl GridOptions {
    /// The law of the layers.
    pub(crate) fn law(&self) -> LayerLaw {
        LayerLaw { first: self.first_cell, extent: self.extent(), near: self.layers }
    }
}
