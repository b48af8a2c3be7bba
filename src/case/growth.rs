//! Findings on cells that grow by more than flow solvers take, and the keys that lessen the growth.

use super::{Problem, WallPoints};
use crate::geometry::vector::distance;
use crate::grid::quality::growth;
use crate::grid::{Grid, Limited};
use crate::overset::Finding;

/// The growth that remedies of a larger one aim at.
const GOOD: f64 = 1.2;

/// The remedy beside corners of a box, where lines draw together whatever the layers are.
const BOX: (&str, &str) = ("grid.nj", "more layers lessen it, which is largest beside corners");

/// A key and its remedy.
type Remedy = (&'static str, String);

impl Problem {
    /// Findings on the largest growth along i and along j that flow solvers do not take, where the case limits none; with
    /// their places in these blocks, which are in the frame of the problem.
    pub(crate) fn growth_findings(&self, growth: [f64; 2], blocks: &[&Grid]) -> Vec<Finding> {
        if self.case.quality.max_growth.is_some() {
            return Vec::new();
        }
        let most = [(Limited::GrowthAlongI, "i", 2.0), (Limited::GrowthAlongJ, "j", 1.5)];
        let beyond = most.into_iter().zip(growth).filter(|((.., most), growth)| growth > most);
        let finding = |((measure, along, most), growth)| {
            let place = self.place_of(measure, growth, blocks).unwrap_or_default();
            let what =
                format!("cells grow by up to {growth:.2} along {along}, more than {most}{place}");
            let (key, remedy) = self.growth_remedy(measure, growth, GOOD);
            Finding { what, key: key.into(), remedy }
        };
        beyond.map(finding).collect()
    }

    /// The place of the largest growth, in the unit of the files; none of a growth from block to block.
    fn place_of(&self, measure: Limited, value: f64, blocks: &[&Grid]) -> Option<String> {
        let with_nodes = blocks.iter().filter(|grid| !grid.x.is_empty());
        let mut largest = with_nodes.filter_map(|grid| growth(grid)).map(|[along_i, along_j]| {
            if measure == Limited::GrowthAlongI { along_i } else { along_j }
        });
        let found = largest.find(|found| found.largest >= value * (1.0 - 1e-9))?;
        let [x, y] = self.in_files(found.at);
        Some(format!(", at ({x:.4}, {y:.4})"))
    }

    /// The key that lessens a growth, and the value that gives the `wanted` one where it is known.
    pub(crate) fn growth_remedy(&self, measure: Limited, growth: f64, wanted: f64) -> Remedy {
        let remedy = if self.case.cascade.is_some() {
            let corner = "lines part there at a corner of four blocks";
            Some(("cascade", format!("{corner}, whatever their numbers of cells")))
        } else if measure == Limited::GrowthAlongI {
            self.remedy_along_i(growth)
        } else {
            self.remedy_along_j(growth, wanted)
        };
        remedy.unwrap_or_else(|| {
            let none = "no key is known that lessens it; a higher limit lets it pass";
            ("quality.max_growth", none.into())
        })
    }

    fn remedy_along_i(&self, growth: f64) -> Option<Remedy> {
        let (first_cell, lengths) = (self.case.grid.first_cell, self.lengths());
        let shortest = lengths.iter().copied().fold(f64::INFINITY, f64::min);
        if let Some(edge) = self.remedy_at_edge(&lengths) {
            Some(edge)
        } else if self.heights.is_some() {
            let remedy = "heights that vary less from point to point can help";
            Some(("grid.first_cell", remedy.into()))
        } else if first_cell > shortest {
            let remedy = format!("at most {shortest:.1e}, the shortest cell of the wall");
            Some(("grid.first_cell", remedy))
        } else if self.has_outer_wall() {
            Some((BOX.0, BOX.1.into()))
        } else {
            // More points lessen the growth of the line j = 0 itself, not that of the lines off it.
            let of_line = growth - 1.0 < 1.5 * (largest_ratio(&lengths) - 1.0);
            (of_line && self.is_spaced()).then(|| ("grid.ni", "more points lessen it".into()))
        }
    }

    fn remedy_along_j(&self, growth: f64, wanted: f64) -> Option<Remedy> {
        let grid = &self.case.grid;
        // The grid grows faster than the law where lines draw together.
        let law = self.case.layer_law();
        let share = law.growth(grid.nj).map(|found| found.ln() / growth.ln());
        if share.is_some_and(|share| share < 0.5)
            && let Some(edge) = self.remedy_at_edge(&self.lengths())
        {
            return Some(edge);
        }
        if self.enclosed.is_some() {
            return Some((BOX.0, BOX.1.into()));
        }
        let of_law = |share: f64| wanted.powf(share.clamp(0.1, 1.0));
        let points = share.and_then(|share| law.points(of_law(share)));
        match (points, grid.layers) {
            (_, Some(near)) if near.growth > wanted => {
                Some(("grid.layers.growth", format!("at most {wanted}")))
            }
            (Some(nj), _) if nj > grid.nj => {
                let nj = (nj - 1).next_multiple_of(8) + 1;
                Some(("grid.nj", format!("{nj} gives about {wanted}")))
            }
            _ => None,
        }
    }

    /// The remedy for a spacing at the edge that does not go with the cells beside it: those of a base, or, in an O-grid
    /// around a sharp edge, the first cells, which lines from both surfaces reach.
    fn remedy_at_edge(&self, lengths: &[f64]) -> Option<Remedy> {
        let (grid, key) = (&self.case.grid, "grid.trailing_edge_spacing");
        if grid.base_cells.is_some() {
            let apart = self.case.places.has(key) && largest_ratio(lengths) > 2.0;
            return apart
                .then(|| (key, "leave it out, since its default goes with the base".into()));
        }
        let sharp = self.topology.closed() && !self.case.geometry.contour.is_smooth();
        let (first_cell, at_edge) = (grid.first_cell, lengths.first()?.min(*lengths.last()?));
        let high = self.heights.is_none() && first_cell > 0.9 * at_edge;
        (sharp && high && self.is_spaced()).then(|| {
            let remedy = format!("{:.1e}, twice the height of the first cell", 2.0 * first_cell);
            (key, remedy)
        })
    }

    /// Whether the case spaces the points of the wall, which are not those of a file.
    fn is_spaced(&self) -> bool {
        self.case.grid.wall_points == WallPoints::Spaced
    }

    /// Lengths of the cells of the line j = 0.
    fn lengths(&self) -> Vec<f64> {
        self.points.line.windows(2).map(|ends| distance(ends[0], ends[1])).collect()
    }
}

/// The largest ratio of neighbouring lengths, the longer over the shorter.
fn largest_ratio(lengths: &[f64]) -> f64 {
    let ratio = |pair: &[f64]| (pair[0] / pair[1]).max(pair[1] / pair[0]);
    lengths.windows(2).map(ratio).fold(1.0, f64::max)
}
