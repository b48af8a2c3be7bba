//! The sides of a block as ranges, each of them a patch of the boundary or a link to another range. Formats, measures and
//! pictures ask here where a grid ends and what it meets there.

use std::collections::BTreeSet;

use parking_lot::Mutex;

use super::{Grid, Symmetry, Topology};
use crate::geometry::vector::{difference, distance};

/// A side of a block, by the neighbour across.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
    /// A piece of the outer line, such as the side of a box.
    Side(Name, SideKind),
    /// A patch of a mesh that was read, with its condition; none for a wall.
    Named {
        /// Its name.
        name: Name,
        /// Its condition.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<SideKind>,
    },
}

/// The name of a patch in a mesh that was read, or of a piece of the outer line, in the characters that all formats take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Name(&'static str);

/// Longest names, as in CGNS.
const LONGEST_NAME: usize = 32;

impl Name {
    /// The name for a text: blanks, brackets, quotes and the like become `_`, and letters behind the longest name are left
    /// out. Equal names are kept once, as long as the process runs, so that a patch stays a small value.
    pub fn of(text: &str) -> Self {
        static ALL: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | ':');
        let letters = text.trim().chars().take(LONGEST_NAME);
        let name: String = letters.map(|c| if usual(c) { c } else { '_' }).collect();
        let name = if name.is_empty() { "patch".to_owned() } else { name };
        let mut all = ALL.lock();
        if let Some(known) = all.get(&*name) {
            return Self(known);
        }
        let new: &'static str = Box::leak(name.into_boxed_str());
        all.insert(new);
        Self(new)
    }
}

impl From<Name> for &'static str {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl<'de> serde::Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::of(&text))
    }
}

/// The condition that a flow solver is to apply on a piece of the outer line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SideKind {
    /// The undisturbed flow.
    FarField,
    /// A given velocity.
    Inlet,
    /// A given pressure.
    Outlet,
    /// Flow along it without friction.
    Slip,
    /// A plane of symmetry.
    Symmetry,
    /// A wall with friction, whose first cells have a given height.
    Wall,
    /// An end of a period, which repeats the one that is its partner.
    Periodic,
}

/// The pieces of the outer line of a grid in a box or the like.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Outside {
    /// The first node of each piece on the line j = nj − 1, rising from 0, and its patch.
    pub sides: Vec<(usize, Patch)>,
    /// The piece on which the ends of the lines along an open grid lie.
    pub ends: Patch,
    /// All ranges of the four sides as a file has them, in place of those of a box and of the topology; empty where they
    /// follow from these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Range>,
}

/// Consecutive nodes of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Segment {
    /// The block, by its place among those of the grid.
    pub block: usize,
    /// The side.
    pub side: Side,
    /// First and last node along the side; the first is the larger one where the segment runs backwards.
    pub nodes: [usize; 2],
}

/// The surroundings of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Meets {
    /// A boundary.
    Patch(Patch),
    /// Another segment with the same nodes, bit for bit, in its order.
    Link(Segment),
    /// A boundary at an end of a period: its nodes are the nodes of the other end, in that order, moved by one vector.
    Partner(Patch, Segment),
}

/// A segment, which runs forwards, and what it meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Range {
    /// The segment.
    pub on: Segment,
    /// The patch or the segment on its other side.
    pub meets: Meets,
}

impl Grid {
    /// Whether this is the block behind the base of a section, whose interfaces are those of the C-grid `around` it.
    pub(crate) fn is_behind(&self, around: &Self) -> bool {
        matches!(around.topology, Topology::Blunt { wake } if self.ni == wake + 1)
            && self.topology == Topology::Behind { around: around.ni }
    }

    /// Smallest and largest height of the first cells on sides of a box that are walls, between their ends.
    pub fn box_wall_heights(&self) -> Option<[f64; 2]> {
        let walls = self.outside.as_ref()?.walls(self.ni - 1).into_iter();
        let columns = walls.flat_map(|[first, last]| first + 1..last);
        let height = |i: usize| distance(self.point(i, self.nj - 1), self.point(i, self.nj - 2));
        columns.map(height).fold(None, |range: Option<[f64; 2]>, height| {
            let [low, high] = range.unwrap_or([height; 2]);
            Some([low.min(height), high.max(height)])
        })
    }
}

impl Patch {
    /// The patch of this name ([`Name::of`]) and condition.
    pub fn named(name: &str, kind: Option<SideKind>) -> Self {
        Self::Named { name: Name::of(name), kind }
    }

    /// Its name in meshes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wall => "airfoil",
            Self::Base => "base",
            Self::FarField => "farfield",
            Self::Outflow => "outflow",
            Self::Symmetry(_) => "symmetry",
            Self::Side(name, _) | Self::Named { name, .. } => name.0,
        }
    }

    /// The condition on it; none on a wall.
    pub fn kind(self) -> Option<SideKind> {
        match self {
            Self::Wall | Self::Base => None,
            Self::FarField | Self::Outflow => Some(SideKind::FarField),
            Self::Symmetry(_) => Some(SideKind::Symmetry),
            Self::Side(_, kind) => Some(kind),
            Self::Named { kind, .. } => kind,
        }
    }
}

impl Outside {
    /// First and last node of each side along the line j = nj − 1, of this last node, that is a wall.
    pub fn walls(&self, last: usize) -> Vec<[usize; 2]> {
        let ends = self.sides.iter().skip(1).map(|(first, _)| *first).chain([last]);
        let sides = self.sides.iter().zip(ends);
        let walls = sides.filter(|((_, patch), _)| matches!(patch, Patch::Side(_, SideKind::Wall)));
        walls.map(|((first, _), end)| [*first, end]).collect()
    }

    /// The ranges of a grid as a file has them.
    pub fn of_ranges(given: Vec<Range>) -> Self {
        Self { sides: Vec::new(), ends: Patch::FarField, given }
    }

    /// The patches of the sides, each once.
    pub fn patches(&self) -> Vec<Patch> {
        let own = self.sides.iter().map(|(_, patch)| *patch).chain([self.ends]);
        let own = own.filter(|_| self.given.is_empty());
        let mut patches: Vec<Patch> = Vec::new();
        for patch in own.chain(self.given.iter().filter_map(Range::patch)) {
            if !patches.contains(&patch) {
                patches.push(patch);
            }
        }
        patches
    }

    /// Each side that is no wall, once, by its name, and the condition on it.
    pub fn kinds(&self) -> Vec<(&'static str, SideKind)> {
        let of = |patch: Patch| Some((patch.name(), patch.kind()?));
        self.patches().into_iter().filter_map(of).collect()
    }
}

impl Range {
    /// Whether it is a wall.
    pub fn is_wall(&self) -> bool {
        self.patch().is_some_and(|patch| patch.kind().is_none())
    }

    /// The patch that it is.
    pub fn patch(&self) -> Option<Patch> {
        match self.meets {
            Meets::Patch(patch) | Meets::Partner(patch, _) => Some(patch),
            Meets::Link(_) => None,
        }
    }

    /// The segment that it is linked to.
    pub fn link(&self) -> Option<Segment> {
        if let Meets::Link(to) = self.meets { Some(to) } else { None }
    }

    /// The segment at the other end of the period, whose nodes differ from the nodes of this one by a vector.
    pub fn partner(&self) -> Option<Segment> {
        if let Meets::Partner(_, to) = self.meets { Some(to) } else { None }
    }
}

impl Side {
    /// All sides.
    pub const ALL: [Self; 4] = [Self::Before, Self::Behind, Self::Below, Self::Above];

    /// Its name: the index that does not change on it, and which end of that.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "imin",
            Self::Behind => "imax",
            Self::Below => "jmin",
            Self::Above => "jmax",
        }
    }

    /// The direction across: 0 for i, 1 for j.
    pub fn across(self) -> usize {
        usize::from(matches!(self, Self::Below | Self::Above))
    }

    /// True at the last index of the direction across.
    pub fn is_last(self) -> bool {
        matches!(self, Self::Behind | Self::Above)
    }
}

/// The links among the ranges of some blocks, each from one of its two sides.
pub fn links(boundary: &[Range]) -> impl Iterator<Item = [Segment; 2]> {
    let place = |on: Segment| (on.block, on.side as u8, on.nodes[0].min(on.nodes[1]));
    let links = boundary.iter().filter_map(|range| Some([range.on, range.link()?]));
    links.filter(move |[on, to]| place(*on) < place(*to))
}

/// Names of the patches at both ends of a period.
pub const PERIOD: [&str; 2] = ["periodic_lower", "periodic_upper"];

/// The patches at both ends of a period, the lower one first, and the vector from that to the upper one, which leads
/// upward or, where it is level, towards larger x.
pub fn period(grids: &[&Grid]) -> Option<([Patch; 2], [f64; 2])> {
    let ranges = || grids.iter().flat_map(|grid| grid.boundary());
    ranges().find_map(|range| {
        let Meets::Partner(lower, to) = range.meets else { return None };
        let [from, there] =
            [range.on, to].map(|segment| Some(segment.point(grids.get(segment.block)?, 0, 0)));
        let vector = difference(there?, from?);
        let here = |other: &Range| other.partner().is_some() && other.patch() != Some(lower);
        // Rounding of the nodes shows in the last digits of the vector, which are dropped.
        let vector = vector.map(|c| format!("{c:.12e}").parse().unwrap_or(c));
        // Ends beside each other are ordered by x.
        let is_lower = (vector[1], vector[0]) > (0.0, 0.0);
        is_lower.then_some(([lower, ranges().find(here)?.patch()?], vector))
    })
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

    /// The point `step` lines inside of its node `k`, in its grid.
    pub fn point(self, grid: &Grid, k: usize, step: usize) -> [f64; 2] {
        let (mut node, across) = (self.node([grid.ni, grid.nj], k), self.side.across());
        node[across] = if self.side.is_last() { node[across] - step } else { step };
        grid.point(node[0], node[1])
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
            Self::C { wake } | Self::Blunt { wake } => {
                let below = |nodes| part(Below, nodes);
                let across = match self {
                    Self::C { .. } => [below([i, i - wake]), below([wake, 0])],
                    _ => [other(Below, [wake, 0]), other(Above, [0, wake])],
                };
                let mut ranges = ends(Patch::Outflow).to_vec();
                ranges.push(link(below([0, wake]), across[0]));
                ranges.push(patch(below([wake, i - wake]), Patch::Wall));
                ranges.push(link(below([i - wake, i]), across[1]));
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
    /// Its four sides: [`Topology::boundary`], with the sides of a box in place of far field and outflow, or as a file has
    /// them.
    pub fn boundary(&self) -> Vec<Range> {
        let ranges = || self.topology.boundary([self.ni, self.nj]);
        let Some(Outside { sides, ends, given }) = &self.outside else { return ranges() };
        if !given.is_empty() {
            return given.clone();
        }
        let pieces = |range: Range| {
            let piece = |nodes, patch| Range {
                on: Segment { nodes, ..range.on },
                meets: Meets::Patch(patch),
            };
            match range.meets {
                Meets::Patch(Patch::Outflow) => vec![piece(range.on.nodes, *ends)],
                Meets::Patch(Patch::FarField) => {
                    // Pieces of one patch that meet are one range.
                    let runs: Vec<_> = sides.chunk_by(|(_, a), (_, b)| a == b).collect();
                    let last = runs[1..].iter().map(|run| run[0].0).chain([self.ni - 1]);
                    runs.iter()
                        .zip(last)
                        .map(|(run, last)| piece([run[0].0, last], run[0].1))
                        .collect()
                }
                _ => vec![range],
            }
        };
        ranges().into_iter().flat_map(pieces).collect()
    }
}
