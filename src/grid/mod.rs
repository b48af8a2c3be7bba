//! Structured grids: coordinates, topology, the block behind a base, metrics, quality and initial grids.
//!
//! Conventions: `i` runs clockwise around the body from the trailing edge (lower surface → leading edge →
//! upper surface). On a C-grid it runs from the outflow along the cut, around the body and back to the
//! outflow; half a grid runs from one part of its plane of symmetry to the other. `j` runs outward. Arrays
//! are `[nj][ni]` with `i` fastest, so the cell determinant `x_xi y_eta − x_eta y_xi` is positive. Lengths
//! are in chords.

pub mod boundary;
mod family;
pub mod initial;
pub mod quality;
mod symmetry;
mod verdict;

pub use boundary::{Outside, Patch, SideKind};
pub use family::{FamilyError, coarsened};
pub(crate) use family::{check_family, cut_corner, ordinal};
pub use verdict::{Limited, Verdict};

use std::ops::RangeInclusive;

use rayon::prelude::*;

pub use crate::geometry::Symmetry;
use crate::geometry::spacing_between;
pub(crate) use crate::geometry::{crossings, vector};

/// Centre of the outer circle, in chords.
pub const FAR_FIELD_CENTRE: [f64; 2] = [0.5, 0.0];

/// The way in which the two ends of a grid line around the body meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seam {
    /// The seam line keeps its initial points (a sharp or blunt trailing edge).
    Held,
    /// The seam is an ordinary line and its points are solved for (a smooth body).
    Periodic,
}

/// Logical shape of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Topology {
    /// Lines `j = const` close around the body; column `ni − 1` repeats column 0 bit for bit.
    O(Seam),
    /// Lines `j = const` run around the body from outflow to outflow. The first and the last `wake` cells of
    /// the line j = 0 are the two sides of a cut that begins at the trailing edge: node (ni − 1 − i, 0)
    /// repeats node (i, 0) bit for bit for i ≤ wake.
    C {
        /// Cells of the cut.
        wake: usize,
    },
    /// A C-grid around a section with a base: its line j = 0 runs from the outflow along the lower interface to the block
    /// behind the base, around the section from corner to corner, and along the upper interface back.
    Blunt {
        /// Cells of each interface.
        wake: usize,
    },
    /// The block behind the base of a C-grid: i runs from the base to the outflow, j from the lower to the upper interface.
    Behind {
        /// Nodes of the C-grid in i.
        around: usize,
    },
    /// Half of an O-grid with this symmetry: columns 0 and ni − 1 lie on the plane of symmetry, ahead of and
    /// behind the body, or above and below it. It is cut from a whole grid ([`Symmetry::half`]).
    Half(Symmetry),
    /// A rectangle of lines without a body. All of its sides are outer boundary. It is the background of an
    /// overset mesh.
    Rectangle,
}

impl Topology {
    /// The shape of a grid whose ends in i coincide, up to this distance, or cells at both ends of its line j = 0.
    pub(crate) fn of_coincident(grid: &Grid, same: f64) -> Option<Self> {
        let last = grid.ni - 1;
        let meet = |i: usize, j: usize| {
            vector::distance(grid.point(i, j), grid.point(last - i, j)) <= same
        };
        if (0..grid.nj).all(|j| meet(0, j)) {
            return Some(Self::O(Seam::Held));
        }
        let nodes = (0..grid.ni / 2).take_while(|&i| meet(i, 0)).count();
        (nodes > 1).then(|| Self::C { wake: nodes - 1 })
    }

    /// Number of distinct columns: all but the repeated one of an O-grid.
    pub fn columns(self, ni: usize) -> usize {
        ni - usize::from(self.closed())
    }

    /// Cells of the line j = 0 behind the body, on each side.
    pub fn wake(self) -> usize {
        if let Self::C { wake } | Self::Blunt { wake } = self { wake } else { 0 }
    }

    /// Cells at each end of the line j = 0 that lie on those of the other end.
    pub fn cut(self) -> usize {
        if let Self::C { wake } = self { wake } else { 0 }
    }

    /// The symmetry of half a grid.
    pub fn half(self) -> Option<Symmetry> {
        if let Self::Half(symmetry) = self { Some(symmetry) } else { None }
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::O(_) => "O",
            Self::C { .. } | Self::Blunt { .. } => "C",
            Self::Half(_) => "half",
            Self::Rectangle | Self::Behind { .. } => "rectangle",
        }
    }

    /// True if the lines around the body are closed.
    pub fn closed(self) -> bool {
        matches!(self, Self::O(_))
    }

    /// True if the line i = 0 is solved for like any other.
    pub fn periodic(self) -> bool {
        self == Self::O(Seam::Periodic)
    }

    /// Nodes of the body on the line j = 0. The last one repeats the first, except on half a grid and beside a base. The range
    /// is empty if there is no body.
    pub fn wall(self, ni: usize) -> RangeInclusive<usize> {
        let wake = self.wake();
        let none = matches!(self, Self::Rectangle | Self::Behind { .. });
        if none { RangeInclusive::new(1, 0) } else { wake..=ni - 1 - wake }
    }
}

/// A structured grid of nodes.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Grid {
    /// Logical shape.
    pub topology: Topology,
    /// Nodes in i, the repeated seam node counted.
    pub ni: usize,
    /// Nodes in j, wall and outer line counted.
    pub nj: usize,
    /// x of each node, `[nj][ni]`, in chords.
    pub x: Vec<f64>,
    /// y of each node, `[nj][ni]`, in chords.
    pub y: Vec<f64>,
    /// The sides of a box around it, where its outer line is not the far field, or its sides as a file has them.
    pub outside: Option<Outside>,
}

impl Grid {
    /// A grid with all nodes at the origin.
    pub fn new(topology: Topology, ni: usize, nj: usize) -> Self {
        Self { topology, ni, nj, x: vec![0.0; ni * nj], y: vec![0.0; ni * nj], outside: None }
    }

    /// A grid whose nodes are NaN until they are written. All of its memory is touched here: the first touch
    /// of a page takes longer than a copy into it.
    pub fn unset(topology: Topology, ni: usize, nj: usize) -> Self {
        let nodes = || vec![f64::NAN; ni * nj];
        Self { topology, ni, nj, x: nodes(), y: nodes(), outside: None }
    }

    /// A grid of `ni` × `nj` nodes with node (i, j) at `place(i, j)`.
    pub fn of_nodes(
        topology: Topology,
        [ni, nj]: [usize; 2],
        place: impl Fn(usize, usize) -> [f64; 2],
    ) -> Self {
        let mut grid = Self::new(topology, ni, nj);
        for (j, i) in (0..nj).flat_map(|j| (0..ni).map(move |i| (j, i))) {
            grid.set([i, j], place(i, j));
        }
        grid
    }

    /// Position in `x` and `y` of node (i, j).
    #[inline]
    pub fn index(&self, i: usize, j: usize) -> usize {
        j * self.ni + i
    }

    /// Coordinates of node (i, j).
    #[inline]
    pub fn point(&self, i: usize, j: usize) -> [f64; 2] {
        let k = self.index(i, j);
        [self.x[k], self.y[k]]
    }

    /// The points of all nodes, in the order of `x` and `y`.
    pub(crate) fn points(&self) -> impl Iterator<Item = [f64; 2]> {
        self.x.iter().zip(&self.y).map(|(x, y)| [*x, *y])
    }

    pub(crate) fn set(&mut self, [i, j]: [usize; 2], at: [f64; 2]) {
        let k = self.index(i, j);
        [self.x[k], self.y[k]] = at;
    }

    /// The nodes of line j.
    pub(crate) fn row(&self, j: usize) -> Vec<[f64; 2]> {
        (0..self.ni).map(|i| self.point(i, j)).collect()
    }

    /// The nodes of column i.
    pub(crate) fn column(&self, i: usize) -> Vec<[f64; 2]> {
        (0..self.nj).map(|j| self.point(i, j)).collect()
    }

    /// The nodes of the body, in the order of i: [`Topology::wall`].
    pub fn wall(&self) -> Vec<[f64; 2]> {
        self.topology.wall(self.ni).map(|i| self.point(i, 0)).collect()
    }

    /// x and y of the nodes of line j.
    pub(crate) fn line(&self, j: usize) -> [&[f64]; 2] {
        let nodes = j * self.ni..(j + 1) * self.ni;
        [&self.x[nodes.clone()], &self.y[nodes]]
    }

    /// Moves all nodes by `shift`, then scales them about the origin.
    pub fn place(&mut self, shift: [f64; 2], scale: f64) {
        for (nodes, shift) in [(&mut self.x, shift[0]), (&mut self.y, shift[1])] {
            nodes.par_iter_mut().for_each(|node| *node = scale * (*node + shift));
        }
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        (self.ni - 1) * (self.nj - 1)
    }
}

/// The block behind the base of a C-grid, with `cells` across it (theory section 10): straight lines between the two
/// interfaces, at right angles to their centre line.
///
/// The index i runs from the base to the outflow, j from the lower interface to the upper one. The block repeats the
/// nodes of the interfaces bit for bit. Each line has the first interval of the C-grid beyond the interface at either
/// end. None for a grid without such a block.
pub fn block_behind(grid: &Grid, cells: usize) -> Option<Grid> {
    let Topology::Blunt { wake } = grid.topology else { return None };
    let (ni, nj) = (wake + 1, cells + 1);
    let mut block = Grid::new(Topology::Behind { around: grid.ni }, ni, nj);
    block.outside.clone_from(&grid.outside);
    for i in 0..ni {
        let ends = interface_columns(grid.ni, wake, i);
        let [lower, upper] = ends.map(|k| grid.point(k, 0));
        let heights = ends.map(|k| vector::distance(grid.point(k, 0), grid.point(k, 1)));
        let thickness = vector::distance(lower, upper);
        let places = spacing_between(nj, heights, thickness).ok()?;
        for (j, place) in places.into_iter().enumerate() {
            let at = match j {
                0 => lower,
                _ if j + 1 == nj => upper,
                _ => vector::between(lower, upper, place / thickness),
            };
            block.set([i, j], at);
        }
    }
    Some(block)
}

/// The columns of a C-grid of `ni` nodes around in which its line j = 0 is the lower and the upper interface, `i` of `wake`
/// cells from the base.
pub fn interface_columns(ni: usize, wake: usize, i: usize) -> [usize; 2] {
    [wake - i, ni - 1 - wake + i]
}

/// The neighbours of point i of `n` along a line: around a closed one, and an end itself beyond the ends of an open one.
pub(crate) fn beside(i: usize, n: usize, closed: bool) -> [usize; 2] {
    let [before, after] = if closed { [n - 1, 0] } else { [0, n - 1] };
    [if i == 0 { before } else { i - 1 }, if i + 1 == n { after } else { i + 1 }]
}

/// Passes with weights ¼ ½ ¼ over a list between ends that stay, or around a closed line whose last value repeats the first.
pub(crate) fn smooth(values: &mut [f64], closed: bool, passes: usize) {
    let last = values.len() - 1;
    for _ in 0..passes {
        let old = values.to_vec();
        let mean = |[a, b, c]: [usize; 3]| 0.5 * old[b] + 0.25 * (old[a] + old[c]);
        for (k, value) in values.iter_mut().enumerate().take(last).skip(1) {
            *value = mean([k - 1, k, k + 1]);
        }
        if closed {
            values[0] = mean([last - 1, 0, 1]);
            values[last] = values[0];
        }
    }
}

/// −2 (d⁺ − d⁻)/(d⁺ + d⁻) of the intervals before and after the middle one of three points: the control that preserves
/// their ratio in one dimension, always between −2 and 2.
pub(crate) fn interval_control([before, at, after]: [[f64; 2]; 3]) -> f64 {
    let [before, after] = [(before, at), (at, after)].map(|(a, b)| vector::distance(a, b));
    -2.0 * (after - before) / (after + before)
}

/// Distance from the wall along each line of constant i, `[nj][ni]`.
pub fn arc_length(grid: &Grid) -> Vec<f64> {
    let ni = grid.ni;
    let mut s = vec![0.0; grid.x.len()];
    s.par_chunks_mut(ni).enumerate().skip(1).for_each(|(j, row)| {
        for (i, length) in row.iter_mut().enumerate() {
            *length = vector::distance(grid.point(i, j - 1), grid.point(i, j));
        }
    });
    for k in ni..s.len() {
        s[k] += s[k - ni];
    }
    s
}
