//! Grids that follow a moving wall: the same equations with the control functions, the outer line and the
//! first cells of a reference grid, for other wall points.
//!
//! Frozen from the reference are P0, Q0, the decay φ, ψ of the wall terms, the outer line with the first cells on it where
//! it is a wall, and the first cell of each wall point along its tangent and normal, whose formula is chosen at the reference. So the grid is
//! one smooth function of the wall points: it does not depend on the path by which the wall came there, and
//! the points of the reference give the reference.
//!
//! A reference comes from a case, which keeps the equations of its grid, or from any structured grid alone: its
//! equations then have the control functions that are computed from its nodes. Points are given as in the
//! grid's file: in its unit, and for a half grid in the half.
//!
//! In a cascade the O-grid around the blade moves. The blocks around it share its outer line, which is frozen, so they
//! keep their nodes, and the pitch stays. Behind a base both interfaces move and turn with it, and the nodes of the
//! block between them keep their shares of the way from one to the other.
//!
//! The backend is the CPU, a GPU, or one of several ranks, which all do the same. A [`Resident`] is a reference on
//! a backend; its grids stay there until they are fetched.
//!
//! ```
//! use std::path::Path;
//!
//! use gridgen::backend::cpu::CpuBackend;
//! use gridgen::case::Case;
//! use gridgen::movement::Resident;
//!
//! let text = "geometry.naca = '2412'\n[grid]\nni = 65\nnj = 33\nfirst_cell = 1e-3\n";
//! let problem = Case::from_toml(text, Path::new("wing.toml"), &[])?.settle()?;
//! let reference = problem.reference(&CpuBackend)?;
//!
//! let thicker: Vec<_> = reference.wall().into_iter().map(|[x, y]| [x, 1.2 * y]).collect();
//! let moved = Resident::new(&reference, &CpuBackend)?.move_to(&CpuBackend, &thicker)?;
//!
//! assert!(moved.verdict.is_good(), "{}", moved.verdict);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod derivative;
mod error;
pub(crate) mod frame;
mod place;
mod resident;
mod stored;
mod tape;

use std::iter;
use std::sync::Arc;

use crate::backend::cpu::CpuBackend;
use crate::backend::{EllipticData, LevelSize, MovementBackend};
use crate::case::{LEAST_FIRST_CELL, SolverOptions};
use crate::formats::Mesh;
use crate::geometry::vector::{Vector, difference, dot};
use crate::geometry::{first_contact, first_crossing, polygon_area};
use crate::grid::boundary::{Range, Segment, Side};
use crate::grid::quality::{Quality, measure};
use crate::grid::{Grid, Outside, Topology, Verdict, block_behind};
use crate::solver::NewtonStop;
use frame::FixedNodeMap;
pub(crate) use place::GridPlacement;

pub use derivative::{Adjoint, Derivatives, Solved};
pub use error::MovementError;
use resident::Solution;
pub use resident::{Moved, Resident};

/// Decay of the wall terms of a grid that comes without, in wall spacings: the default of `control.decay`.
const DECAY: f64 = 3.0;

/// Mean and 99th percentile of the skewness of a moved grid over those of its reference, above which a
/// fresh grid is better.
const WORN_MEAN: f64 = 1.3;
const WORN_P99: f64 = 1.25;

/// A grid from which others are moved.
#[derive(Debug, Clone)]
pub struct Reference {
    options: SolverOptions,
    place: GridPlacement,
    data: EllipticData,
    frame: FixedNodeMap,
    state: Solution<CpuBackend>,
    /// The grid, where its file has it.
    grid: Grid,
    /// The blocks beside the grid: that behind a base, or those of a cascade, whose nodes stay.
    around: Arc<[Grid]>,
    quality: Quality,
}

impl Reference {
    /// The reference that any structured grid around a body is by itself: the control functions of its
    /// equations are those that its nodes ask for. Solves are by `options`, the tolerance no smaller than
    /// round-off allows.
    ///
    /// # Errors
    /// If the grid is folded or no such grid, or the device fails.
    pub fn of_grid<B: MovementBackend>(
        backend: &B,
        grid: &Grid,
        options: &SolverOptions,
    ) -> Result<Self, MovementError> {
        let wall = grid.topology.wall(grid.ni);
        if wall.start() >= wall.end() || grid.nj < 4 {
            return Err(MovementError::NoBody);
        }
        let grid = &welded(grid);
        let place = GridPlacement::of(grid);
        let whole = place.grid_inward(grid);
        let quality = measure(&whole);
        let verdict = options.quality.verdict(NewtonStop::Converged, &quality);
        if !verdict.is_good() {
            return Err(MovementError::Reference { verdict });
        }
        let (height, least) = (quality.first_cell_min, 0.5 * LEAST_FIRST_CELL);
        if height < least {
            let reason = format!(
                "round-off allows no solve at first cells of {height:.1e} chords, below {least:.1e}"
            );
            return Err(MovementError::Reference { verdict: Verdict::NotConverged { reason } });
        }
        let options = options.clone().at_first_cell(height);
        let data = EllipticData::of_grid(&whole, DECAY);
        let reference = Self::of_solve(backend, &data, None, whole.topology, place, &options)?;
        Ok(reference.inside(grid.outside.clone()))
    }

    /// [`Self::of_grid`] of the first of these blocks: the O-grid of a cascade, whose other blocks meet its outer line,
    /// which stays, and keep their nodes; or the C-grid around a section with a base, before the block behind that.
    ///
    /// # Errors
    /// If a block meets the first one elsewhere, a block is folded, or as [`Self::of_grid`].
    pub fn of_blocks<B: MovementBackend>(
        backend: &B,
        blocks: &[&Grid],
        options: &SolverOptions,
    ) -> Result<Self, MovementError> {
        let [ring, others @ ..] = blocks else { return Err(MovementError::NoBody) };
        let stays = |range: &Range| {
            let to = range.link().or(range.partner());
            range.on.side == Side::Above || to.is_none_or(|to| to.block == 0)
        };
        let is_cascade = ring.topology.closed() && ring.boundary().iter().all(stays);
        let has_base = matches!(others, [block] if block.is_behind(ring));
        if !is_cascade && !has_base {
            return Err(MovementError::NoBody);
        }
        let reference = Self::of_grid(backend, ring, options)?;
        let around = others.iter().copied();
        let around = if has_base {
            around.map(|block| place::moved(block, ring, &reference.grid)).collect()
        } else {
            around.cloned().collect()
        };
        reference.beside(around)
    }

    /// The reference of a C-grid around a base with the block behind it, this many cells wide, if that is good.
    pub(crate) fn with_block_behind(self, cells: usize) -> Result<Self, MovementError> {
        let block = block_behind(&self.grid, cells).ok_or(MovementError::NoBody)?;
        self.beside(Arc::new([block]))
    }

    /// [`Self::of_grid`] of a mesh from a file.
    ///
    /// # Errors
    /// If the mesh does not run around a body, or as [`Self::of_grid`].
    pub fn of_mesh<B: MovementBackend>(
        backend: &B,
        mesh: &Mesh,
        options: &SolverOptions,
    ) -> Result<Self, MovementError> {
        if matches!(mesh.grid.topology, Topology::Rectangle | Topology::Blunt { .. }) {
            return Err(MovementError::NoBody);
        }
        Self::of_grid(backend, &mesh.grid, options)
    }

    /// The reference of the equations `data`, whose nodes are where the solve begins unless there is a
    /// solution, in the frame of the equations, of a half grid half of it.
    pub(crate) fn of_equations<B: MovementBackend>(
        backend: &B,
        data: &EllipticData,
        solved: Option<&Grid>,
        place: GridPlacement,
        topology: Topology,
        options: &SolverOptions,
    ) -> Result<Self, MovementError> {
        let Some(solved) = solved else {
            return Self::of_solve(backend, data, None, topology, place, options);
        };
        let whole = GridPlacement { shift: [0.0; 2], chord: 1.0, ..place }.grid_inward(solved);
        let whole = Grid { topology, ..whole };
        let amplitudes = data.amplitudes_for(&EllipticData::of_grid(&whole, DECAY));
        let data = data.with_nodes(&whole);
        Self::of_solve(backend, &data, amplitudes.as_deref(), topology, place, options)
    }

    /// The reference that is the solution of the equations `data` from its nodes and these amplitudes.
    fn of_solve<B: MovementBackend>(
        backend: &B,
        data: &EllipticData,
        amplitudes: Option<&[f64]>,
        topology: Topology,
        place: GridPlacement,
        options: &SolverOptions,
    ) -> Result<Self, MovementError> {
        let (equations, _) = backend.elliptic(data)?;
        let (state, _) = backend.elliptic(data)?;
        let nodes = backend.nodes(state, topology)?;
        let amplitudes = resident::upload_amplitudes(backend, &equations, amplitudes)?;
        let start = (&nodes, amplitudes.as_ref());
        let (state, report) = resident::solve(backend, options, &equations, start, topology)?;
        let columns = data.mi + if data.periodic { 1 } else { 2 };
        let walls = data.walled_sides();
        let state = state.fetch(backend, (topology, [columns, data.mj + 2]), walls)?;
        let data = data.with_nodes(&state.nodes);
        Self::solved(options.clone(), place, data, state).if_good(report.stop)
    }

    fn solved(
        options: SolverOptions,
        place: GridPlacement,
        data: EllipticData,
        state: Solution<CpuBackend>,
    ) -> Self {
        let grid = place.grid_outward(&state.nodes);
        let quality = measure(&grid);
        let lines = grid.nj - usize::from(data.walls[1].is_some());
        Self {
            options,
            place,
            frame: FixedNodeMap::new(state.nodes.clone(), lines),
            data,
            state,
            grid,
            around: Arc::default(),
            quality,
        }
    }

    /// The reference, refused where its solve did not converge or its blocks are not good.
    fn if_good(self, stop: NewtonStop) -> Result<Self, MovementError> {
        let verdict = self.options.quality.verdict(stop, &self.quality);
        if verdict.is_good() { Ok(self) } else { Err(MovementError::Reference { verdict }) }
    }

    /// The reference with these blocks beside its grid, which is alone.
    fn beside(self, around: Arc<[Grid]>) -> Result<Self, MovementError> {
        let quality = self.quality.clone().with_blocks(&self.grid, around.iter());
        Self { around, quality, ..self }.if_good(NewtonStop::Converged)
    }

    /// The blocks beside the grid when it has moved.
    fn blocks_beside(&self, grid: &Grid) -> Arc<[Grid]> {
        if !self.has_base() {
            return self.around.clone();
        }
        self.around.iter().map(|block| place::moved(block, &self.grid, grid)).collect()
    }

    fn has_base(&self) -> bool {
        matches!(self.grid.topology, Topology::Blunt { .. })
    }

    /// The block behind the base, if there is one.
    fn behind(&self) -> Option<&Grid> {
        self.around.first().filter(|_| self.has_base())
    }

    /// Displacements of the nodes of the block behind a base for those of the nodes of the grid, with which they are
    /// linear. None where there is no such block.
    ///
    /// # Panics
    /// If the displacements are not as many as the nodes of the grid.
    pub fn displacement_behind(&self, nodes: &Grid) -> Option<Grid> {
        self.behind().map(|block| place::displacement(block, nodes))
    }

    /// The transpose of [`Self::displacement_behind`]: adds derivatives by the nodes of the block to those by the nodes of the
    /// grid, which [`Derivatives::adjoint`] takes.
    ///
    /// # Panics
    /// If these are not as many as the nodes of block and grid.
    pub fn gather_behind(&self, by_block: &Grid, nodes: &mut Grid) {
        if let Some(block) = self.behind() {
            place::gather(block, by_block, nodes);
        }
    }

    /// The reference with these sides of a box around its grid.
    pub(crate) fn inside(mut self, outside: Option<Outside>) -> Self {
        self.grid.outside = outside;
        self
    }

    /// The unknown points of its equations.
    pub(crate) fn size(&self) -> LevelSize {
        let EllipticData { mi, mj, periodic, .. } = self.data;
        LevelSize { mi, mj, periodic }
    }

    /// The reference grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The grid and the blocks beside it.
    pub fn blocks(&self) -> Vec<&Grid> {
        iter::once(&self.grid).chain(&*self.around).collect()
    }

    /// The quality of all blocks.
    pub fn quality(&self) -> &Quality {
        &self.quality
    }

    /// The grid in the frame of the equations.
    pub(crate) fn nodes(&self) -> &Grid {
        self.frame.reference()
    }

    /// Returns the map with first cells that are higher by these amounts, one for each point of
    /// [`Self::wall`]; none if they are not as many.
    #[must_use]
    pub fn with_heights(&self, changes: &[f64]) -> Option<Self> {
        let changes: Vec<f64> = changes.iter().map(|change| change / self.place.chord).collect();
        let fits = changes.len() == self.grid.topology.wall(self.grid.ni).count();
        let frame = || self.frame.with_heights(&self.place.spread_heights(&changes));
        fits.then(|| Self { frame: frame(), ..self.clone() })
    }

    /// The wall points of the reference: of an O-grid the last repeats the first, of a C-grid the edge is
    /// there twice, and those of a half grid run from one end on its plane of symmetry to the other.
    pub fn wall(&self) -> Vec<[f64; 2]> {
        self.grid.wall()
    }

    /// Says why a fresh grid would be better than one of this quality, if so.
    fn worn(&self, quality: &Quality) -> Option<String> {
        let before = &self.quality;
        let limits = [
            ("mean skewness", quality.mean_skewness, WORN_MEAN * before.mean_skewness),
            ("skewness of 99 % of the cells", quality.p99_skewness, WORN_P99 * before.p99_skewness),
        ];
        let (what, value, limit) = limits.into_iter().find(|(_, value, limit)| value > limit)?;
        // Enough digits to tell them apart.
        let apart = |n: &usize| format!("{value:.n$}") != format!("{limit:.n$}");
        let digits = (4..17).find(apart).unwrap_or(17);
        Some(format!(
            "the {what} is {value:.digits$}, above {limit:.digits$}: re-generate the grid, and take it as the reference"
        ))
    }

    /// The wall points in the frame of the equations.
    fn checked(&self, wall: &[[f64; 2]]) -> Result<Vec<Vector>, MovementError> {
        let topology = self.grid.topology;
        let expected = topology.wall(self.grid.ni).count();
        if wall.len() != expected {
            return Err(MovementError::WallPoints { found: wall.len(), expected });
        }
        let wrong = wall.iter().position(|at| !at.iter().all(|c| c.is_finite()));
        if let Some(index) = wrong {
            return Err(MovementError::NotFinite { index, at: wall[index] });
        }
        let bits = |at: &[f64; 2]| at.map(f64::to_bits);
        let open = topology.half().is_some() || self.has_base();
        if !open && bits(&wall[0]) != bits(&wall[expected - 1]) {
            return Err(MovementError::Open);
        }
        let whole = self.place.wall_inward(wall)?;
        // A base closes the wall.
        let around = |mut points: Vec<Vector>| {
            points.extend_from_within(..usize::from(self.has_base()));
            points
        };
        let (now, before) = (around(whole.clone()), around(self.nodes().wall()));
        if polygon_area(&now) * polygon_area(&before) < 0.0 {
            return Err(MovementError::Reversed);
        }
        if let Some(points) = shift(&self.wall(), wall).filter(|_| !open && !topology.periodic()) {
            return Err(MovementError::Shifted(points));
        }
        // The sides of a plate without thickness lie on each other in the reference, too.
        let contact = match first_contact(&now[1..]) {
            Some(_) if first_contact(&before[1..]).is_some() => first_crossing(&now[1..], true),
            contact => contact,
        };
        if let Some((first, second)) = contact {
            let number = |k: usize| self.place.own_segment((k + 1) % (now.len() - 1), now.len());
            return Err(MovementError::Crosses { first: number(first), second: number(second) });
        }
        Ok(whole)
    }
}

/// The grid whose copies of a seam or a cut are the same bits: a file may have rounded them.
fn welded(grid: &Grid) -> Grid {
    let mut welded = grid.clone();
    let boundary = grid.boundary();
    let own =
        |range: &Range| Some((range.on, range.link().filter(|to| to.block == range.on.block)?));
    for (on, to) in boundary.iter().filter_map(own) {
        for k in 0..on.count() {
            let at = |segment: Segment| {
                let [i, j] = segment.node([grid.ni, grid.nj], k);
                grid.index(i, j)
            };
            let (from, copy) = (at(on).min(at(to)), at(on).max(at(to)));
            (welded.x[copy], welded.y[copy]) = (grid.x[from], grid.y[from]);
        }
    }
    welded
}

/// The point of a reference nearest to the first of a closed wall, where the wall counted from there nearly is the
/// reference: a section that is turned by half a circle is farther from it.
fn shift(reference: &[Vector], wall: &[Vector]) -> Option<usize> {
    let n = reference.len() - 1;
    let square = |a: Vector, b: Vector| {
        let way = difference(a, b);
        dot(way, way)
    };
    let apart = |k: usize| -> f64 { (0..n).map(|i| square(wall[i], reference[(i + k) % n])).sum() };
    let first = |k: &usize| square(wall[0], reference[*k]);
    let nearest = (0..n).min_by(|a, b| first(a).total_cmp(&first(b)))?;
    (nearest > 0 && apart(nearest) < 1e-3 * apart(0)).then_some(nearest)
}
