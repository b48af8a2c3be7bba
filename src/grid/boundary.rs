//! The sides of a block as ranges, each of them a patch of the boundary or a link to another range. Formats, measures and
//! pictures ask here where a grid ends and what it meets there.

use super::{Grid, Symmetry, Topology};

/// A side of a block, by the neighbour across.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The line i = 0.
    Before,
    /// The line i = ni − 1.
    Behind,
    /// The line j = 0.
    Below,
    /// The line j = nj − 1.
    Above,
}

/// A kind of boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patch {
    /// The body.
    Wall,
    /// The base of a body behind which there is a block.
    Base,
    /// The outer boundary.
    FarField,
    /// The plane in which the wake ends.
    Outflow,
    /// A plane of symmetry.
    Symmetry(Symmetry),
}

/// Consecutive nodes of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The block, by its place among those of the grid.
    pub block: usize,
    /// The side.
    pub side: Side,
    /// First and last node along the side; the first is the larger one where the segment runs backwards.
    pub nodes: [usize; 2],
}

/// The surroundings of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meets {
    /// A boundary.
    Patch(Patch),
    /// Another segment with the same nodes, bit for bit, in its order.
    Link(Segment),
}

/// A segment, which runs forwards, and what it meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The segment.
    pub on: Segment,
    /// The patch or the segment on its other side.
    pub meets: Meets,
}

impl Patch {
    /// Its name in meshes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wall => "airfoil",
            Self::Base => "base",
            Self::FarField => "farfield",
            Self::Outflow => "outflow",
            Self::Symmetry(_) => "symmetry",
        }
    }
}

impl Range {
    /// The segment that it is linked to.
    pub fn link(&self) -> Option<Segment> {
        match self.meets {
            Meets::Link(to) => Some(to),
            Meets::Patch(_) => None,
        }
    }
}

impl Side {
    /// The direction across: 0 for i, 1 for j.
    pub fn across(self) -> usize {
        usize::from(matches!(self, Self::Below | Self::Above))
    }

    /// True at the last index of the direction across.
    pub fn is_last(self) -> bool {
        matches!(self, Self::Behind | Self::Above)
    }
}

impl Segment {
    /// Number of its nodes.
    pub fn count(self) -> usize {
        self.nodes[0].abs_diff(self.nodes[1]) + 1
    }

    /// The node (i, j) `k` steps from the first, in a block of this size.
    pub fn node(self, size: [usize; 2], k: usize) -> [usize; 2] {
        let [from, to] = self.nodes;
        let mut node = [if from <= to { from + k } else { from - k }; 2];
        let across = self.side.across();
        node[across] = if self.side.is_last() { size[across] - 1 } else { 0 };
        node
    }
}

impl Topology {
    /// The four sides of a block of `size` nodes in i and j, in the order of [`Side`].
    pub fn boundary(self, size: [usize; 2]) -> Vec<Range> {
        use Side::{Above, Before, Behind, Below};
        let [i, j] = size.map(|nodes| nodes - 1);
        let own = usize::from(matches!(self, Self::Behind { .. }));
        let part = |side, nodes| Segment { block: own, side, nodes };
        let other = |side, nodes| Segment { block: 1 - own, side, nodes };
        let whole = |side: Side| part(side, [0, [j, i][side.across()]]);
        let patch = |on, patch| Range { on, meets: Meets::Patch(patch) };
        let link = |on, to| Range { on, meets: Meets::Link(to) };
        let ends = |kind| [Before, Behind].map(|side| patch(whole(side), kind));
        let mut ranges = match self {
            Self::O(_) => {
                let [first, last] = [Before, Behind].map(whole);
                vec![link(first, last), link(last, first), patch(whole(Below), Patch::Wall)]
            }
            Self::C { wake } => {
                let below = |nodes| part(Below, nodes);
                let mut ranges = ends(Patch::Outflow).to_vec();
                ranges.push(link(below([0, wake]), below([i, i - wake])));
                ranges.push(patch(below([wake, i - wake]), Patch::Wall));
                ranges.push(link(below([i - wake, i]), below([wake, 0])));
                ranges
            }
            Self::Blunt { wake } => {
                let mut ranges = ends(Patch::Outflow).to_vec();
                ranges.push(link(part(Below, [0, wake]), other(Below, [wake, 0])));
                ranges.push(patch(part(Below, [wake, i - wake]), Patch::Wall));
                ranges.push(link(part(Below, [i - wake, i]), other(Above, [0, wake])));
                ranges
            }
            Self::Behind { around } => {
                return vec![
                    patch(whole(Before), Patch::Base),
                    patch(whole(Behind), Patch::Outflow),
                    link(whole(Below), other(Below, [i, 0])),
                    link(whole(Above), other(Below, [around - 1 - i, around - 1])),
                ];
            }
            Self::Half(symmetry) => {
                let mut ranges = ends(Patch::Symmetry(symmetry)).to_vec();
                ranges.push(patch(whole(Below), Patch::Wall));
                ranges
            }
            Self::Rectangle => {
                [Before, Behind, Below].map(|s| patch(whole(s), Patch::FarField)).into()
            }
        };
        ranges.push(patch(whole(Above), Patch::FarField));
        ranges
    }
}

impl Grid {
    /// Its four sides: [`Topology::boundary`].
    pub fn boundary(&self) -> Vec<Range> {
        self.topology.boundary([self.ni, self.nj])
    }
}
