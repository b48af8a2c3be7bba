//! Interfaces of blocks: the points on both sides, and the lines that cross.

use super::{larger, ratio};
use crate::geometry::vector::{cross, difference, distance, dot};
use crate::grid::Grid;
use crate::grid::boundary::{Range, Segment, links};

/// Measures of an interface between two blocks, or of a block with itself at a seam or a cut.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Interface {
    /// The two blocks, by their places.
    pub blocks: [usize; 2],
    /// A name of each of the two sides, such as `jmin 0..24`.
    pub sides: [String; 2],
    /// Nodes on it.
    pub nodes: usize,
    /// Its length, in the unit of the grid.
    pub length: f64,
    /// Largest distance of two nodes that should be one.
    pub gap: f64,
    /// Largest angle by which a line that crosses turns, in degrees.
    pub kink_deg: f64,
    /// The place of that node.
    pub kink_at: [f64; 2],
    /// Largest ratio of the two edges of a line on both sides, the longer over the shorter.
    pub growth: f64,
    /// The place of that node.
    pub growth_at: [f64; 2],
}

/// The interfaces of blocks, each once.
pub fn interfaces(grids: &[Grid]) -> Vec<Interface> {
    let boundary: Vec<Range> = grids.iter().flat_map(Grid::boundary).collect();
    let within = links(&boundary).filter(|[_, to]| to.block < grids.len());
    within.map(|[on, to]| measured(grids, on, to)).collect()
}

fn measured(grids: &[Grid], on: Segment, to: Segment) -> Interface {
    let name = |segment: Segment| {
        format!("{} {}..{}", segment.side.name(), segment.nodes[0], segment.nodes[1])
    };
    let nodes = on.count().min(to.count());
    let (blocks, sides) = ([on.block, to.block], [name(on), name(to)]);
    let mut found = Interface { blocks, sides, nodes, ..Interface::default() };
    let point = |segment: Segment, k, step| segment.point(&grids[segment.block], k, step);
    for k in 0..nodes {
        let [here, there] = [on, to].map(|side| point(side, k, 0));
        found.gap = larger(found.gap, distance(here, there));
        if k > 0 {
            found.length += distance(point(on, k - 1, 0), here);
        }
        let [a, b] = [difference(here, point(on, k, 1)), difference(point(to, k, 1), there)];
        let kink = cross(a, b).atan2(dot(a, b)).abs().to_degrees();
        if k == 0 || kink > found.kink_deg {
            (found.kink_deg, found.kink_at) = (kink, here);
        }
        let growth = ratio(dot(a, a), dot(b, b)).sqrt();
        if k == 0 || growth > found.growth {
            (found.growth, found.growth_at) = (growth, here);
        }
    }
    found
}
