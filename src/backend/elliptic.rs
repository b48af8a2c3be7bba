//! Grids on a backend, the grid equations there, and grids that follow moving wall points.

use super::{LevelSize, MultigridBackend, Real, Result, SparseBackend};
use crate::grid::initial::{self, InitialGrid, InitialSettings, Outline};
use crate::grid::quality::Quality;
use crate::grid::{Grid, Symmetry, Topology};
use crate::pde::{EllipticData, EllipticSettings};
use crate::sparse::WalledSides;

/// Ranks whose hosts get a whole array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receivers {
    /// Rank 0 alone.
    First,
    /// Every rank.
    All,
}

/// Grids where a backend keeps them, from the march to the host.
pub trait GridBackend {
    /// A grid.
    type Grid;

    /// Marches as [`initial::hyperbolic::march`] does; the grid and its folded cells, or `None` if a
    /// line solve is singular or a point is not finite.
    fn march(
        &self,
        outline: &Outline,
        settings: &InitialSettings,
        dissipation: f64,
    ) -> Result<Option<(Self::Grid, usize)>>;

    /// Takes over a grid made on the host.
    fn take(&self, grid: Grid) -> Result<Self::Grid>;

    /// Each node and its mirror image ← their mean: [`Symmetry::restore`].
    fn restore(&self, symmetry: Symmetry, grid: &mut Self::Grid) -> Result<()>;

    /// Half of a grid with this symmetry: [`Symmetry::half`].
    fn half(&self, symmetry: Symmetry, grid: &Self::Grid) -> Result<Self::Grid>;

    /// The quality of a grid: that of [`measure`](crate::grid::quality::measure), in which sums may run
    /// in another order.
    fn measure(&self, grid: &Self::Grid) -> Result<Quality>;

    /// Nodes of `host`, which is of the same size, ← those of `grid`: those of its own columns if the
    /// backend is one of several ranks.
    fn fetch(&self, grid: &Self::Grid, host: &mut Grid) -> Result<()>;

    /// Nodes of `host`, which the receivers alone give, ← all of `grid`. All ranks must call.
    fn gather(&self, grid: &Self::Grid, _: Receivers, host: Option<&mut Grid>) -> Result<()> {
        host.map_or(Ok(()), |host| self.fetch(grid, host))
    }

    /// The grid moved by `shift`, then scaled about the origin: [`Grid::place`].
    fn placed(&self, grid: &Self::Grid, shift: [f64; 2], scale: f64) -> Result<Self::Grid>;
}

/// The initial grid by the marches of a backend, which keeps it. A hyperbolic march that folds is repeated with more
/// dissipation, and then the normal march is used; if all fold, the last grid is returned with its number of folded cells.
pub fn initial_grid<B: GridBackend>(
    backend: &B,
    outline: &Outline,
    settings: &InitialSettings,
) -> Result<InitialGrid<B::Grid>> {
    let march = |dissipation| backend.march(outline, settings, dissipation);
    initial::build(outline, settings, march, |grid| backend.take(grid))
}

/// A state of the grid equations as Newton's method judges it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// Its merit, rms(w R / √min(g11, g22)) (theory eq. 7), with its own weights.
    pub merit: f64,
    /// Its merit with the weights that were kept last; zero before any were kept.
    pub kept_merit: f64,
    /// Largest magnitude of an entry of w R; NaN if any is.
    pub largest: f64,
    /// Cells whose area is not positive.
    pub folded: usize,
    /// Smallest cell area, in square chords.
    pub min_area: f64,
}

/// Entries a point of the factors that [`EllipticBackend::factor_wall_blocks`] makes.
pub(crate) const WALL_ENTRIES: usize = 12;

/// The grid equations on a backend. See `docs/theory.md` for the equations.
///
/// The vector of unknowns holds (x, y) of unknown point (I, J) at `2 (J mi + I)`. With wall
/// terms on a side the slots of its points hold (p, q) instead, and these points stay fixed. All backends have
/// wall terms on the side j = 0; those of other sides are the CPU's alone.
///
/// The march puts the initial grid where its equations are made, and the finished one stays there until
/// it is measured: a grid leaves the device once.
pub trait EllipticBackend: SparseBackend + GridBackend {
    /// Coordinates, control functions and weights on the device.
    type Elliptic: Send;

    /// The equations of an initial grid, what [`EllipticData::new`] gives, on the device; and the first
    /// guess of the unknowns: the nodes, wall terms zero.
    fn equations(
        &self,
        grid: &Self::Grid,
        normals: &[[f64; 2]],
        settings: &EllipticSettings,
    ) -> Result<(Self::Elliptic, Self::Vector<f64>)>;

    /// The equations of `data`, given for a whole grid, on the device; and the first guess.
    fn elliptic(&self, data: &EllipticData) -> Result<(Self::Elliptic, Self::Vector<f64>)>;

    /// Applies `work` to each of `items`, which do not depend on each other, and returns the results: in turn, or side by
    /// side where the backend's memory is the host's.
    fn each<I: Send, R: Send>(&self, items: Vec<I>, work: impl Fn(&Self, I) -> R + Sync) -> Vec<R> {
        items.into_iter().map(|item| work(self, item)).collect()
    }

    /// The unknown points of the equations: those of its own band if the backend is one of several ranks.
    fn size(&self, state: &Self::Elliptic) -> LevelSize;

    /// The sides with wall terms.
    fn walls(&self, state: &Self::Elliptic) -> WalledSides;

    /// Takes over the unknowns `u` as the present state.
    fn load_state(&self, state: &mut Self::Elliptic, u: &Self::Vector<f64>) -> Result<()>;

    /// u ← its unknowns among those of the whole grid.
    fn upload_unknowns(&self, whole: &[f64], u: &mut Self::Vector<f64>) -> Result<()> {
        self.upload(whole, u)
    }

    /// `whole`, which the receivers alone give, ← the unknowns of the whole grid, or of its leading rows of points. All
    /// ranks must call.
    fn gather_unknowns(
        &self,
        u: &Self::Vector<f64>,
        _: Receivers,
        whole: Option<&mut [f64]>,
    ) -> Result<()> {
        whole.map_or(Ok(()), |whole| self.download(u, whole))
    }

    /// f ← w R of the present state with w = 1/(2 (g11 + g22)) there; returns how it is judged.
    fn residual(&self, state: &mut Self::Elliptic, f: &mut Self::Vector<f64>)
    -> Result<Evaluation>;

    /// The weights of the merit of the last [`Self::residual`] are kept for those that follow.
    fn keep_weights(&self, state: &mut Self::Elliptic);

    /// a ← w ∂R/∂r of the present state, rows scaled as in [`Self::residual`] (theory eq. 4); the columns
    /// of J = 0 are always the derivatives by the points r_{i,1}. If there is a `b`, b ← w ∂R/∂(p, q),
    /// two entries a row for each wall (theory eq. 6). The rows of points on two walls are zero.
    fn jacobian<T: Real>(
        &self,
        state: &Self::Elliptic,
        a: &mut Self::Matrix<T>,
        b: Option<&mut Self::Matrix<T>>,
    ) -> Result<()>;

    /// The nodes of the present state, whose other memory is given back.
    fn nodes(&self, state: Self::Elliptic, topology: Topology) -> Result<Self::Grid>;

    /// The unknowns of the points on these walls ← 0.
    fn clear_walls<T: Real>(
        &self,
        walls: WalledSides,
        size: LevelSize,
        x: &mut Self::Vector<T>,
    ) -> Result<()>;

    /// The points of the walled sides of g ← Bᵀ x with the wall columns B of each: (Bᵀ x)_i = Σ_j B_ijᵀ x_ij on a side of
    /// constant j, (Bᵀ x)_j = Σ_i B_ijᵀ x_ij on one of constant i.
    fn wall_sums<T: Real>(
        &self,
        b: &Self::Matrix<T>,
        x: &Self::Vector<T>,
        g: &mut Self::Vector<T>,
    ) -> Result<()>;

    /// s ← factors of the block-tridiagonal matrix S over the `walls` leading points that
    /// answers to its probes with the leading points of `responses`: 1 everywhere in p, then in q,
    /// ±1 by turns in p, then in q; twelve entries a point.
    /// Returns the first point whose pivot is singular.
    ///
    /// With A the answer to all ones and B that to ±1 divided by its own sign, the diagonal
    /// block is (A + B)/2 and each of the two blocks beside it (A − B)/4, (A − B)/2 at an end.
    fn factor_wall_blocks<T: Real>(
        &self,
        walls: usize,
        responses: [&Self::Vector<T>; 4],
        s: &mut Self::Vector<T>,
    ) -> Result<Option<usize>>;

    /// d ← S⁻¹ z over the `walls` leading points; the rest of `d` becomes zero.
    fn solve_wall_blocks<T: Real>(
        &self,
        walls: usize,
        s: &Self::Vector<T>,
        z: &Self::Vector<T>,
        d: &mut Self::Vector<T>,
    ) -> Result<()>;

    /// `points` points of z from point `to` on ← those of d from `from` on.
    fn copy_points<T: Real>(
        &self,
        points: usize,
        d_and_from: (&Self::Vector<T>, usize),
        z_and_to: (&mut Self::Vector<T>, usize),
    ) -> Result<()>;
}

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
