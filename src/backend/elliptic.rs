//! Grids on a backend, the grid equations there, and their data from an initial grid.

use super::{LevelSize, Real, Result, SparseBackend};
use crate::grid::initial::{self, InitialGrid, InitialSettings, Outline, first_heights};
use crate::grid::quality::Quality;
use crate::grid::{Grid, Symmetry, Topology};
use crate::pde::EllipticSettings;
use crate::pde::control::{Base, ControlSettings, Wall, arc_length, control_functions, decay};
use rayon::prelude::*;

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

    /// Nodes of `host`, which rank 0 alone gives, ← all of `grid`. All ranks must call.
    fn gather(&self, grid: &Self::Grid, host: Option<&mut Grid>) -> Result<()> {
        host.map_or(Ok(()), |host| self.fetch(grid, host))
    }

    /// Nodes of `host` ← all of `grid`, on all ranks, which must all call.
    fn fetch_whole(&self, grid: &Self::Grid, host: &mut Grid) -> Result<()> {
        self.fetch(grid, host)
    }

    /// The grid moved by `shift`, then scaled about the origin: [`Grid::place`].
    fn placed(&self, grid: &Self::Grid, shift: [f64; 2], scale: f64) -> Result<Self::Grid>;
}

/// [`initial::build`] with the marches of a backend, which keeps the grid.
pub fn initial_grid<B: GridBackend>(
    backend: &B,
    outline: &Outline,
    settings: &InitialSettings,
) -> Result<InitialGrid<B::Grid>> {
    let march = |dissipation| backend.march(outline, settings, dissipation);
    initial::build_with(outline, settings, march, |grid| backend.take(grid))
}

/// Whether the row weights are evaluated anew or kept from the last renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaling {
    /// Evaluate the weights at this state and keep them.
    Renewed,
    /// Use the weights of the last renewal.
    Kept,
}

/// Measures of the cells for the line search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellGuard {
    /// Cells whose area is not positive.
    pub folded: usize,
    /// Smallest cell area, in square chords.
    pub min_area: f64,
}

/// Everything that stays fixed while the grid equations are solved.
///
/// The unknown points form a rectangle of `mi` × `mj` points, `[mj][mi]`, i fastest; unknown
/// (I, J) is node (I + 1, J + 1) of a frame of `mi + 2` × `mj + 2` nodes. A held seam keeps the
/// two outer columns of the frame; a periodic one copies them from the opposite side.
#[derive(Debug, Clone)]
pub struct EllipticData {
    /// Unknown points in i.
    pub mi: usize,
    /// Unknown points in j.
    pub mj: usize,
    /// Whether the outer columns of the frame repeat the opposite unknown columns.
    pub periodic: bool,
    /// x of the frame's nodes, `[mj + 2][mi + 2]`; unknown nodes hold the first guess.
    pub x: Vec<f64>,
    /// y of the frame's nodes.
    pub y: Vec<f64>,
    /// P0 at the unknown points, `[mj][mi]`.
    pub control_p: Vec<f64>,
    /// Q0 at the unknown points, `[mj][mi]`.
    pub control_q: Vec<f64>,
    /// The decaying wall terms, if height and angle of the first cell are controlled.
    pub wall: Option<WallTerms>,
}

/// Decay of the wall terms: P = P0 + p_i φ, Q = Q0 + q_i ψ.
#[derive(Debug, Clone)]
pub struct WallTerms {
    /// φ at the unknown points, `[mj][mi]`.
    pub phi: Vec<f64>,
    /// ψ at the unknown points, `[mj][mi]`.
    pub psi: Vec<f64>,
}

impl EllipticData {
    /// Frame, control functions and wall terms of an initial grid. `normals` are the wall normals of
    /// all `ni` points of the line j = 0; a coupled wall puts the first row of points at
    /// r_{i,0} + h_i n_i with the heights of [`first_heights`].
    pub fn new(initial: &Grid, normals: &[[f64; 2]], settings: &EllipticSettings) -> Self {
        let ni = initial.ni;
        let heights = first_heights(
            initial.topology,
            &initial.x[..ni],
            &initial.y[..ni],
            settings.first_cell,
        );
        let mut data = Self::with_heights(initial, &heights, &settings.control);
        if data.wall.is_some() {
            let (mi, stride, first) = (data.mi, data.mi + 2, usize::from(!data.periodic));
            for i in 0..mi {
                let ([nx, ny], height) = (normals[i + first], heights[i + first]);
                data.x[stride + i + 1] = data.x[i + 1] + height * nx;
                data.y[stride + i + 1] = data.y[i + 1] + height * ny;
            }
        }
        data
    }

    /// The equations that a given grid solves: P0 and Q0 are computed from its nodes at each point, neither
    /// clipped nor smoothed, and wall terms decay over `decay` wall spacings, with amplitude zero.
    pub fn of_grid(grid: &Grid, decay: f64) -> Self {
        let exact = ControlSettings {
            base: Base::Marched,
            wall: Wall::Coupled,
            smoothing: 0.0,
            smoothing_distance: 1.0,
            smoothing_columns: None,
            clip: f64::INFINITY,
            decay,
        };
        let heights = &arc_length(grid)[grid.ni..2 * grid.ni];
        Self::with_heights(grid, heights, &exact)
    }

    /// The equations with these P0 and Q0 at the unknown points, and the nodes of a grid as they stand.
    pub fn of_terms(
        grid: &Grid,
        [control_p, control_q]: [Vec<f64>; 2],
        wall: Option<WallTerms>,
    ) -> Self {
        let LevelSize { mi, mj, periodic } = LevelSize::of_grid(grid.topology, grid.ni, grid.nj);
        let frame = |nodes: &[f64]| framed(nodes, grid.ni, periodic);
        let (x, y) = (frame(&grid.x), frame(&grid.y));
        Self { mi, mj, periodic, x, y, control_p, control_q, wall }
    }

    /// The equations with the nodes of a grid as they are, whose first cells have these heights.
    fn with_heights(grid: &Grid, heights: &[f64], settings: &ControlSettings) -> Self {
        let (ni, nj) = (grid.ni, grid.nj);
        let LevelSize { mi, mj, periodic } = LevelSize::of_grid(grid.topology, ni, nj);
        // Unknown columns start at node 0 of a periodic grid and at node 1 of one with held ends.
        let first = usize::from(!periodic);
        let columns = grid.topology.columns(ni);
        let inner = |f: &[f64]| -> Vec<f64> {
            let mut kept = vec![0.0; mi * mj];
            let rows = kept.par_chunks_mut(mi).zip(f.par_chunks(columns).skip(1));
            rows.for_each(|(kept, row)| kept.copy_from_slice(&row[first..first + mi]));
            kept
        };
        let control = control_functions(grid, settings);
        let wall = (settings.wall == Wall::Coupled).then(|| {
            let (phi, psi) = decay(grid, &arc_length(grid), heights, settings.decay);
            WallTerms { phi: inner(&phi), psi: inner(&psi) }
        });
        Self::of_terms(grid, [inner(&control.p), inner(&control.q)], wall)
    }
}

impl EllipticData {
    /// These equations with the nodes of a grid as they are, as frame and first guess.
    #[must_use]
    pub fn with_nodes(&self, grid: &Grid) -> Self {
        let frame = |nodes: &[f64]| framed(nodes, grid.ni, self.periodic);
        Self { x: frame(&grid.x), y: frame(&grid.y), ..self.clone() }
    }
}

/// Nodes of a grid as a frame: a periodic one gets one more column at its start.
fn framed(nodes: &[f64], ni: usize, periodic: bool) -> Vec<f64> {
    let more = usize::from(periodic);
    let mut frame = vec![0.0; nodes.len() / ni * (ni + more)];
    frame.par_chunks_mut(ni + more).zip(nodes.par_chunks(ni)).for_each(|(frame, row)| {
        frame[..more].copy_from_slice(&row[ni - 2..ni - 2 + more]);
        frame[more..].copy_from_slice(row);
    });
    frame
}

/// The unknowns of the frame's nodes; wall terms start at zero.
pub(super) fn first_guess(data: &EllipticData) -> Vec<f64> {
    let (mi, stride) = (data.mi, data.mi + 2);
    let fixed = usize::from(data.wall.is_some());
    let mut u = vec![0.0; 2 * mi * data.mj];
    u.par_chunks_mut(2 * mi).enumerate().skip(fixed).for_each(|(j, row)| {
        for (i, point) in row.chunks_exact_mut(2).enumerate() {
            let k = (j + 1) * stride + i + 1;
            point[0] = data.x[k];
            point[1] = data.y[k];
        }
    });
    u
}

/// Copies the outer columns of a row of a periodic frame from the opposite unknown columns.
pub(super) fn wrap(row: &mut [f64]) {
    let mi = row.len() - 2;
    row[0] = row[mi];
    row[mi + 1] = row[1];
}

/// Writes one coordinate of a periodic frame's nodes, which has one node more at the start of a row, into
/// the nodes of a grid, `ni` in a row. The seam is one line: its copy is bit for bit the same.
pub(super) fn store_frame(frame: &[f64], nodes: &mut [f64], ni: usize) {
    for (from, to) in frame.chunks(ni + 1).zip(nodes.chunks_mut(ni)) {
        to.copy_from_slice(&from[1..]);
        to[ni - 1] = to[0];
    }
}

/// Entries a point of the factors that [`EllipticBackend::factor_wall_blocks`] makes.
pub(crate) const WALL_ENTRIES: usize = 12;

/// The grid equations on a backend. See `docs/theory.md` for the equations.
///
/// The vector of unknowns holds (x, y) of unknown point (I, J) at `2 (J mi + I)`. With wall
/// terms the slots of J = 0 hold (p_i, q_i) instead, and that row of points stays fixed.
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

    /// The unknown points of the equations: those of its own band if the backend is one of several ranks.
    fn size(&self, state: &Self::Elliptic) -> LevelSize;

    /// Takes over the unknowns `u` as the present state.
    fn load_state(&self, state: &mut Self::Elliptic, u: &Self::Vector<f64>) -> Result<()>;

    /// u ← its unknowns among those of the whole grid.
    fn upload_unknowns(&self, whole: &[f64], u: &mut Self::Vector<f64>) -> Result<()>;

    /// Its unknowns among those of the whole grid ← u.
    fn download_unknowns(&self, u: &Self::Vector<f64>, whole: &mut [f64]) -> Result<()>;

    /// `whole`, which rank 0 alone gives, ← the unknowns of the whole grid. All ranks must call.
    fn gather_unknowns(&self, u: &Self::Vector<f64>, whole: Option<&mut [f64]>) -> Result<()> {
        whole.map_or(Ok(()), |whole| self.download_unknowns(u, whole))
    }

    /// The unknowns of the whole grid, or of its leading rows of points, ← those of all ranks, which must all
    /// call.
    fn download_whole(&self, u: &Self::Vector<f64>, whole: &mut [f64]) -> Result<()> {
        self.download_unknowns(u, whole)
    }

    /// f ← w R of the present state with w = 1/(2 (g11 + g22)); returns the merit
    /// rms(w R / √min(g11, g22)) (theory eq. 7).
    fn residual(
        &self,
        state: &mut Self::Elliptic,
        scaling: Scaling,
        f: &mut Self::Vector<f64>,
    ) -> Result<f64>;

    /// a ← w ∂R/∂r of the present state, rows scaled as in [`Self::residual`] (theory eq. 4); the columns
    /// of J = 0 are always the derivatives by the points r_{i,1}. If there is a `b`, b ← w ∂R/∂(p, q),
    /// two entries a row (theory eq. 6).
    fn jacobian<T: Real>(
        &self,
        state: &Self::Elliptic,
        a: &mut Self::Matrix<T>,
        b: Option<&mut Self::Matrix<T>>,
    ) -> Result<()>;

    /// Folded cells and the smallest area of the present state.
    fn cell_guard(&self, state: &Self::Elliptic) -> Result<CellGuard>;

    /// The nodes of the present state, whose other memory is given back.
    fn nodes(&self, state: Self::Elliptic, topology: Topology) -> Result<Self::Grid>;

    /// The leading points of g ← Bᵀ x, (Bᵀ x)_i = Σ_j B_ijᵀ x_ij, with the wall columns B.
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

    /// The `walls` leading points of z ← those of d.
    fn copy_wall<T: Real>(
        &self,
        walls: usize,
        d: &Self::Vector<T>,
        z: &mut Self::Vector<T>,
    ) -> Result<()>;
}
