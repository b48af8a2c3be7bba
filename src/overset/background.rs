//! The background: a stretched Cartesian grid around all element grids.

use crate::grid::{Grid, Topology};

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
        let mut grid = Grid::new(Topology::Rectangle, x.len(), y.len());
        for (j, y) in y.iter().enumerate() {
            let row = j * x.len()..(j + 1) * x.len();
            grid.x[row.clone()].copy_from_slice(&x);
            grid.y[row].fill(*y);
        }
        grid
    }
}
