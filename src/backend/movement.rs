//! Grids that follow moving wall points, where a backend keeps them.

use super::{EllipticBackend, MultigridBackend, Result};
use crate::grid::{Symmetry, Topology};

/// Positions in a list of the nodes that the wall points fix: those of the line j = 0, of the line j = 1, of
/// the column i = 0 and of the column i = ni − 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedPlaces {
    /// Nodes in i.
    pub ni: usize,
    /// Nodes in j.
    pub nj: usize,
}

impl FixedPlaces {
    /// The position of node i of line j, 0 or 1.
    pub fn on_line(self, j: usize, i: usize) -> usize {
        j * self.ni + i
    }

    /// The position of node j of the first column (0) or of the last (1).
    pub fn on_column(self, end: usize, j: usize) -> usize {
        2 * self.ni + end * self.nj + j
    }

    /// All positions with their nodes (i, j). A node where a line crosses a column comes again with the line.
    pub fn nodes(self, columns: bool) -> impl Iterator<Item = (usize, [usize; 2])> {
        let Self { ni, nj } = self;
        let ends = if columns { 0..2 } else { 0..0 };
        let columns = ends.flat_map(move |end| (0..nj).map(move |j| (end, j)));
        let columns = columns.map(move |(end, j)| (self.on_column(end, j), [end * (ni - 1), j]));
        let lines = (0..2).flat_map(move |j| (0..ni).map(move |i| (j, i)));
        columns.chain(lines.map(move |(j, i)| (self.on_line(j, i), [i, j])))
    }
}

/// Values at these nodes: places of them, or displacements, or derivatives by them.
#[derive(Debug, Clone, PartialEq)]
pub struct FixedLines {
    /// The positions of the values.
    pub places: FixedPlaces,
    /// One for each place, or none for those of the columns.
    pub values: Vec<[f64; 2]>,
}

impl FixedLines {
    /// Zeros on both lines, and on the outer columns or without them.
    pub fn zeros(places: FixedPlaces, columns: bool) -> Self {
        let FixedPlaces { ni, nj } = places;
        let values = vec![[0.0; 2]; 2 * ni + if columns { 2 * nj } else { 0 }];
        Self { places, values }
    }

    /// Whether there are values on the outer columns.
    pub fn has_columns(&self) -> bool {
        self.values.len() > 2 * self.places.ni
    }

    /// v ← v − w where both have a value.
    pub fn subtract(&mut self, other: &Self) {
        for (value, other) in self.values.iter_mut().zip(&other.values) {
            *value = [0, 1].map(|k| value[k] - other[k]);
        }
    }
}

/// Operations that movements of a grid and their derivatives need of a backend, so that nodes, displacements
/// and derivatives by nodes stay where it computes (theory section 7).
///
/// A derivative by the nodes is stored as the nodes of a grid. Each of several ranks has the columns of its
/// band; all ranks have the whole of a grid that was taken over.
pub trait MovementBackend: EllipticBackend + MultigridBackend {
    /// The equations of others at these nodes, which are the frame and the first guess; wall terms are zero.
    fn with_nodes(
        &self,
        state: &Self::Elliptic,
        nodes: &Self::Grid,
    ) -> Result<(Self::Elliptic, Self::Vector<f64>)>;

    /// Share f of the wall's displacement that each node takes, f = 1 − ln(1 + s²)/ln(1 + S²) with its distance
    /// s from the wall along a line, and that of the last of the `lines` of constant j, S; zero beyond these.
    fn shares(&self, nodes: &Self::Grid, lines: usize) -> Result<Self::Vector<f64>>;

    /// The nodes of the lines where there are any; elsewhere those of `from`, moved by their share of what the
    /// line j = 0 moves; on the outer line where they are.
    fn displaced(
        &self,
        from: &Self::Grid,
        shares: &Self::Vector<f64>,
        lines: &FixedLines,
    ) -> Result<Self::Grid>;

    /// A displacement of the nodes: the same equations with these values in their frame, and zeros elsewhere.
    fn displacement(&self, state: &Self::Elliptic, lines: &FixedLines) -> Result<Self::Elliptic>;

    /// The values on both lines and on the outer columns of a grid that was taken over.
    fn lines_of(&self, grid: &Self::Grid) -> Result<FixedLines>;

    /// f ← w ∂R/∂r δr with all nine nodes around a point, fixed ones too, for a [`Self::displacement`] δr; w
    /// and ∂R/∂r are as in the matrix that [`jacobian`](EllipticBackend::jacobian) makes of `state`.
    fn frame_product(
        &self,
        state: &Self::Elliptic,
        displacement: &Self::Elliptic,
        f: &mut Self::Vector<f64>,
    ) -> Result<()>;

    /// (w ∂R/∂r)ᵀ u at the nodes of both lines and of the outer columns of a frame that holds them: on all ranks
    /// the sums over all of them, which must all call.
    fn frame_sums(&self, state: &Self::Elliptic, u: &Self::Vector<f64>) -> Result<FixedLines>;

    /// The whole grid, of this topology, that has a half with this symmetry, and zeros elsewhere: the transpose
    /// of [`half`](super::GridBackend::half). For a grid that was taken over.
    fn padded(
        &self,
        symmetry_and_whole: (Symmetry, Topology),
        half: &Self::Grid,
    ) -> Result<Self::Grid>;

    /// The first column ← the sum of the first and the last, which repeats it. For a grid that was taken over.
    fn fold_seam(&self, grid: &mut Self::Grid) -> Result<()>;
}
