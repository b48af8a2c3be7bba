//! Grids on a backend, and the grid equations there.

use super::{LevelSize, Real, Result, SparseBackend};
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
