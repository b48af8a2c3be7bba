//! References and their movements where a backend computes: no array of all nodes comes to the host unasked.

use std::iter;
use std::ops::Deref;
use std::sync::Arc;

use super::{MovementError, Reference};
use crate::backend::cpu::CpuBackend;
use crate::backend::{DeviceError, GridBackend, LevelSize, MovementBackend, Receivers};
use crate::case::SolverOptions;
use crate::elliptic::WalledSides;
use crate::geometry::vector::{Vector, between};
use crate::grid::quality::Quality;
use crate::grid::{Grid, Outside, Topology, Verdict};
use crate::smooth::solution;
use crate::solver::linear::Precision;
use crate::solver::newton::NewtonReport;
use crate::solver::{NewtonStop, SolverError};

/// Most parts into which a movement is cut where Newton's method does not get there at once.
const MOST_PARTS: usize = 16;

/// A reference whose equations and nodes a backend keeps, from one movement to the next. Of several ranks each
/// has its part, and all do the same.
pub struct Resident<R, B: MovementBackend> {
    reference: R,
    /// The equations, whose own nodes are not used.
    pub(super) equations: B::Elliptic,
    /// Shares of the wall's displacement.
    shares: B::Vector<f64>,
    state: Solution<B>,
}

/// A solution in the frame of the equations.
#[derive(Debug, Clone)]
pub(super) struct Solution<B: MovementBackend> {
    pub(super) nodes: Arc<B::Grid>,
    /// Amplitudes (p_i, q_i) of the wall terms, interleaved, wall after wall; none where they begin at zero, or are no
    /// unknowns.
    pub(super) amplitudes: Option<B::Vector<f64>>,
}

/// A moved grid where a backend keeps it, by default the host.
#[non_exhaustive]
pub struct Moved<B: MovementBackend = CpuBackend> {
    /// The quality of the grid, lengths in its unit.
    pub quality: Quality,
    /// Whether the grid may be used; where the verdict is not good it must not be.
    pub verdict: Verdict,
    /// Newton steps of all parts.
    pub newton_iterations: usize,
    /// Linear iterations of all parts.
    pub linear_iterations: f64,
    /// Into how many parts the movement was cut: one where Newton's method got there at once.
    pub parts: usize,
    /// The reason to generate a fresh grid, if the movement has cost the grid much of its quality.
    pub worn: Option<String>,
    nodes: Arc<B::Grid>,
    pub(super) state: Solution<B>,
    /// The wall points in the frame of the equations.
    pub(super) wall: Vec<Vector>,
    /// Topology and size of the grid, and of that of the equations.
    shapes: [Shape; 2],
    /// The sides of the equations with wall terms.
    walls: WalledSides,
    /// The sides of the box around the grid, if there is one.
    outside: Option<Outside>,
    around: Arc<[Grid]>,
}

/// The user's grid, where it is another one than that of the equations.
type Outward<B> = Option<Arc<<B as GridBackend>::Grid>>;

/// Topology of a grid, and its nodes in i and j.
type Shape = (Topology, [usize; 2]);

pub(super) fn shape_of(grid: &Grid) -> Shape {
    (grid.topology, [grid.ni, grid.nj])
}

/// The whole of a grid on the host, on each rank.
pub(super) fn fetched<B: MovementBackend>(
    backend: &B,
    nodes: &B::Grid,
    (topology, [ni, nj]): Shape,
) -> Result<Grid, DeviceError> {
    let mut grid = Grid::unset(topology, ni, nj);
    backend.gather(nodes, Receivers::All, Some(&mut grid))?;
    Ok(grid)
}

impl Solution<CpuBackend> {
    /// Copies the state to the backend of its equations.
    pub(super) fn on<B: MovementBackend>(
        &self,
        backend: &B,
        equations: &B::Elliptic,
    ) -> Result<Solution<B>, DeviceError> {
        let nodes = Arc::new(backend.take(Grid::clone(&self.nodes))?);
        let amplitudes = upload_amplitudes(backend, equations, self.amplitudes.as_deref())?;
        Ok(Solution { nodes, amplitudes })
    }
}

/// Copies the amplitudes of a whole grid, if there are any, to the backend of its equations.
pub(super) fn upload_amplitudes<B: MovementBackend>(
    backend: &B,
    equations: &B::Elliptic,
    whole: Option<&[f64]>,
) -> Result<Option<B::Vector<f64>>, DeviceError> {
    let Some(whole) = whole else { return Ok(None) };
    let walls = backend.walls(equations).sides().count();
    let mut own = backend.zeros(2 * backend.size(equations).mi * walls)?;
    backend.upload_unknowns(whole, &mut own)?;
    Ok(Some(own))
}

/// Amplitudes of the wall terms and the unknowns at the points of these walls: each wall's first points in both.
fn places(
    walls: WalledSides,
    LevelSize { mi, mj, .. }: LevelSize,
) -> impl Iterator<Item = [usize; 2]> {
    walls.sides().enumerate().map(move |(k, side)| [k * mi, WalledSides::point(side, 0, mi, mj)])
}

/// The unknowns at the points of the walls, of constant j, ← amplitudes.
pub(super) fn put_amplitudes<B: MovementBackend>(
    backend: &B,
    equations: &B::Elliptic,
    amplitudes: &B::Vector<f64>,
    u: &mut B::Vector<f64>,
) -> Result<(), DeviceError> {
    let size = backend.size(equations);
    let mut places = places(backend.walls(equations), size);
    places.try_for_each(|[at, point]| backend.copy_points(size.mi, (amplitudes, at), (u, point)))
}

impl<B: MovementBackend> Solution<B> {
    /// Copies the state, of a grid of this shape between these walls, to the host.
    pub(super) fn fetch(
        &self,
        backend: &B,
        shape: Shape,
        walls: WalledSides,
    ) -> Result<Solution<CpuBackend>, DeviceError> {
        let (topology, [ni, _]) = shape;
        let mut amplitudes = None;
        if let Some(own) = &self.amplitudes {
            let columns = ni - if topology.periodic() { 1 } else { 2 };
            let whole = amplitudes.insert(vec![0.0; 2 * columns * walls.sides().count()]);
            backend.gather_unknowns(own, Receivers::All, Some(whole))?;
        }
        Ok(Solution { nodes: Arc::new(fetched(backend, &self.nodes, shape)?), amplitudes })
    }
}

impl<B: MovementBackend> Moved<B> {
    /// The grid.
    pub fn nodes(&self) -> &Arc<B::Grid> {
        &self.nodes
    }

    /// The blocks beside the grid: that behind a base, or those of a cascade.
    pub fn beside(&self) -> &Arc<[Grid]> {
        &self.around
    }

    /// Topology of it, and its nodes in i and j.
    pub fn shape(&self) -> (Topology, [usize; 2]) {
        self.shapes[0]
    }

    /// Brings the moved grid to the host, on each rank.
    ///
    /// # Errors
    /// If the device fails.
    pub fn fetch(self, backend: &B) -> Result<Moved, MovementError> {
        let state = self.state.fetch(backend, self.shapes[1], self.walls)?;
        let nodes = if Arc::ptr_eq(&self.nodes, &self.state.nodes) {
            state.nodes.clone()
        } else {
            Arc::new(fetched(backend, &self.nodes, self.shapes[0])?)
        };
        let nodes = match &self.outside {
            None => nodes,
            outside => Arc::new(Grid { outside: outside.clone(), ..Grid::clone(&nodes) }),
        };
        Ok(Moved {
            quality: self.quality,
            verdict: self.verdict,
            newton_iterations: self.newton_iterations,
            linear_iterations: self.linear_iterations,
            parts: self.parts,
            worn: self.worn,
            nodes,
            state,
            wall: self.wall,
            shapes: self.shapes,
            walls: self.walls,
            outside: self.outside,
            around: self.around,
        })
    }
}

impl Moved {
    /// The grid on the host.
    pub fn grid(&self) -> &Grid {
        &self.nodes
    }

    /// Returns the grid with its boundaries, and after it the block behind a base, or the blocks of a cascade, which are
    /// those of the reference.
    pub fn blocks(&self) -> Vec<Grid> {
        let grid = Grid { outside: self.outside.clone(), ..self.grid().clone() };
        iter::once(grid).chain(self.around.iter().cloned()).collect()
    }
}

impl<R: Deref<Target = Reference>, B: MovementBackend> Resident<R, B> {
    /// Brings a reference to a backend. Of several ranks each must call.
    ///
    /// # Errors
    /// If the memory of the device does not suffice.
    pub fn new(reference: R, backend: &B) -> Result<Self, MovementError> {
        let (equations, _) = backend.elliptic(&reference.data)?;
        let state = reference.state.on(backend, &equations)?;
        let shares = backend.shares(&state.nodes, reference.frame.lines)?;
        Ok(Self { reference, equations, shares, state })
    }

    /// The reference.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// The grid for other wall points, as many and in the order of [`Reference::wall`].
    ///
    /// Every node begins where its share of the wall's displacement brings it. Where Newton's method does
    /// not get there from the reference, or the grid folds, the movement is halved, into 16 parts at most.
    /// The result has the same bits for any number of threads.
    ///
    /// # Errors
    /// If the points are not such points, or the device fails. A grid that is not converged or is folded is
    /// a result whose verdict says so.
    pub fn move_to(&self, backend: &B, wall: &[[f64; 2]]) -> Result<Moved<B>, MovementError> {
        let (mut newton_iterations, mut linear_iterations, mut parts) = (0, 0.0, 1);
        loop {
            let mut moved = self.move_in_parts(backend, wall, parts)?;
            newton_iterations += moved.newton_iterations;
            linear_iterations += moved.linear_iterations;
            let limited = matches!(moved.verdict, Verdict::BeyondLimit { .. });
            if moved.verdict.is_good() || limited || parts == MOST_PARTS {
                (moved.newton_iterations, moved.linear_iterations) =
                    (newton_iterations, linear_iterations);
                return Ok(moved);
            }
            parts *= 2;
        }
    }

    /// The reference as a movement by nothing.
    ///
    /// # Errors
    /// If the device fails.
    pub fn unmoved(&self, backend: &B) -> Result<Moved<B>, MovementError> {
        let state = self.reference.state.on(backend, &self.equations)?;
        let outward = self.outward(backend, &state.nodes)?;
        let Reference { quality, around, .. } = &*self.reference;
        let measured = (outward, quality.clone(), around.clone());
        Ok(self.moved(state, self.reference.nodes().wall(), measured, Verdict::Good))
    }

    /// Moves like [`Self::move_to`] in this number of parts, at least one, the wall points in between on straight
    /// lines; ends where a part does not get there.
    pub fn move_in_parts(
        &self,
        backend: &B,
        wall: &[[f64; 2]],
        parts: usize,
    ) -> Result<Moved<B>, MovementError> {
        let reference = &*self.reference;
        let wall = reference.checked(wall)?;
        let (before, parts) = (reference.nodes().wall(), parts.max(1));
        let topology = reference.nodes().topology;
        let (mut newton_iterations, mut linear_iterations, mut part) = (0, 0.0, 1);
        let mut moved: Option<Solution<B>> = None;
        loop {
            let share = part as f64 / parts as f64;
            let to = if part < parts {
                before.iter().zip(&wall).map(|(a, b)| between(*a, *b, share)).collect()
            } else {
                wall.clone()
            };
            let from = moved.as_ref().unwrap_or(&self.state);
            let lines = reference.frame.fixed(&to);
            let nodes = backend.displaced(&from.nodes, &self.shares, &lines)?;
            let start = (&nodes, from.amplitudes.as_ref());
            let (state, report) =
                solve(backend, &reference.options, &self.equations, start, topology)?;
            newton_iterations += report.history.newton_iterations();
            linear_iterations += report.history.linear_iterations();
            let mut found = self.measured(backend, state, to, report.stop)?;
            if part == parts || !found.verdict.is_good() {
                (found.newton_iterations, found.linear_iterations) =
                    (newton_iterations, linear_iterations);
                return Ok(Moved { parts, ..found });
            }
            (moved, part) = (Some(found.state), part + 1);
        }
    }

    /// A movement to a state at which a solve stopped, its quality that of all blocks.
    fn measured(
        &self,
        backend: &B,
        state: Solution<B>,
        wall: Vec<Vector>,
        stop: NewtonStop,
    ) -> Result<Moved<B>, DeviceError> {
        let reference = &*self.reference;
        let outward = self.outward(backend, &state.nodes)?;
        let nodes = outward.as_deref().unwrap_or(&state.nodes);
        let mut quality = backend.measure(nodes)?;
        let mut around = reference.around.clone();
        if !around.is_empty() {
            let moved = fetched(backend, nodes, shape_of(&reference.grid))?;
            around = reference.blocks_beside(&moved);
            quality = quality.with_blocks(&moved, around.iter());
        }
        let verdict = reference.options.quality.verdict(stop, &quality);
        Ok(self.moved(state, wall, (outward, quality, around), verdict))
    }

    fn outward(&self, backend: &B, nodes: &B::Grid) -> Result<Outward<B>, DeviceError> {
        let place = self.reference.place;
        let half = place.half.map(|symmetry| backend.half(symmetry, nodes)).transpose()?;
        let outward = if place.is_elsewhere() {
            let half = half.as_ref().unwrap_or(nodes);
            Some(backend.placed(half, place.shift, place.chord)?)
        } else {
            half
        };
        Ok(outward.map(Arc::new))
    }

    fn moved(
        &self,
        state: Solution<B>,
        wall: Vec<Vector>,
        (outward, quality, around): (Outward<B>, Quality, Arc<[Grid]>),
        verdict: Verdict,
    ) -> Moved<B> {
        let reference = &*self.reference;
        Moved {
            worn: reference.worn(&quality),
            quality,
            verdict,
            newton_iterations: 0,
            linear_iterations: 0.0,
            parts: 1,
            nodes: outward.unwrap_or_else(|| state.nodes.clone()),
            state,
            wall,
            shapes: [shape_of(&reference.grid), shape_of(reference.nodes())],
            walls: reference.data.walled_sides(),
            outside: reference.grid.outside.clone(),
            around,
        }
    }
}

/// The solution of equations from nodes and amplitudes, in the precision of the options.
pub(super) fn solve<B: MovementBackend>(
    backend: &B,
    options: &SolverOptions,
    equations: &B::Elliptic,
    (nodes, amplitudes): (&B::Grid, Option<&B::Vector<f64>>),
    topology: Topology,
) -> Result<(Solution<B>, NewtonReport), SolverError> {
    let (walls, size) = (backend.walls(equations), backend.size(equations));
    let (state, mut u) = backend.with_nodes(equations, nodes)?;
    if let Some(amplitudes) = amplitudes {
        put_amplitudes(backend, equations, amplitudes, &mut u)?;
    }
    let solution = match options.linear.precision {
        Precision::Single => solution::<B, f32>,
        Precision::Double => solution::<B, f64>,
    };
    let (nodes, u, report) = solution(backend, (state, topology), options, u)?;
    let mut found = None;
    if !walls.is_empty() {
        let own = found.insert(backend.zeros(2 * size.mi * walls.sides().count())?);
        for [at, point] in places(walls, size) {
            backend.copy_points(size.mi, (&u, point), (own, at))?;
        }
    }
    Ok((Solution { nodes: Arc::new(nodes), amplitudes: found }, report))
}
