//! References and their movements where a backend computes: no array of all nodes comes to the host.

use std::ops::Deref;
use std::sync::Arc;

use super::{Moved, MovementError, Reference, State};
use crate::backend::{DeviceError, GridBackend, MovementBackend, Real};
use crate::case::SolverOptions;
use crate::elliptic::GridProblem;
use crate::geometry::vector::Vector;
use crate::grid::quality::Quality;
use crate::grid::{Grid, Topology, Verdict};
use crate::solver::SolverError;
use crate::solver::history::History;
use crate::solver::linear::Precision;
use crate::solver::newton::{self, NewtonReport};

/// Most parts into which a movement is cut where Newton's method does not get there at once.
const MOST_PARTS: usize = 16;

/// A reference whose equations and nodes a backend keeps, from one movement to the next. Of several ranks each
/// has its part, and all do the same.
pub struct Resident<R, B: MovementBackend> {
    reference: R,
    /// The equations, whose own nodes are not used.
    equations: B::Elliptic,
    /// Shares of the wall's displacement.
    shares: B::Vector<f64>,
    state: ResidentState<B>,
}

/// A solution in the frame of the equations, where the backend keeps it.
pub(super) struct ResidentState<B: MovementBackend> {
    pub(super) nodes: Arc<B::Grid>,
    /// Amplitudes of the wall terms; none where they begin at zero, or are no unknowns.
    pub(super) amplitudes: Option<B::Vector<f64>>,
}

/// A moved grid where the backend keeps it. Its fields are those of [`Moved`].
#[non_exhaustive]
#[allow(missing_docs, reason = "see Moved")]
pub struct ResidentMoved<B: MovementBackend> {
    pub quality: Quality,
    pub verdict: Verdict,
    pub newton_iterations: usize,
    pub linear_iterations: f64,
    pub parts: usize,
    pub worn: Option<String>,
    pub(super) state: ResidentState<B>,
    /// The wall points in the frame of the equations.
    pub(super) wall: Vec<Vector>,
    outward: Outward<B>,
    /// Topology and size of the grid, and of that of the equations.
    shapes: [Shape; 2],
    /// Unknown columns.
    mi: usize,
}

/// The user's grid, where it is another one than that of the equations.
type Outward<B> = Option<Arc<<B as GridBackend>::Grid>>;

/// Topology of a grid, and its nodes in i and j.
type Shape = (Topology, [usize; 2]);

fn shape_of(grid: &Grid) -> Shape {
    (grid.topology, [grid.ni, grid.nj])
}

fn fetched<B: MovementBackend>(
    backend: &B,
    nodes: &B::Grid,
    (topology, [ni, nj]): Shape,
) -> Result<Grid, DeviceError> {
    let mut grid = Grid::unset(topology, ni, nj);
    backend.fetch_whole(nodes, &mut grid)?;
    Ok(grid)
}

impl<B: MovementBackend> ResidentState<B> {
    /// The same where the backend keeps grids.
    pub(super) fn of(backend: &B, state: &State, row: usize) -> Result<Self, DeviceError> {
        let nodes = Arc::new(backend.take(state.grid.clone())?);
        let mut amplitudes = None;
        if !state.amplitudes.is_empty() {
            let mut own = backend.zeros(row)?;
            backend.upload_unknowns(&state.amplitudes, &mut own)?;
            amplitudes = Some(own);
        }
        Ok(Self { nodes, amplitudes })
    }

    /// The same on the host, of a grid of this shape with `mi` unknown columns.
    pub(super) fn fetch(&self, backend: &B, shape: Shape, mi: usize) -> Result<State, DeviceError> {
        let mut amplitudes = Vec::new();
        if let Some(own) = &self.amplitudes {
            amplitudes.resize(2 * mi, 0.0);
            backend.download_whole(own, &mut amplitudes)?;
        }
        Ok(State { grid: fetched(backend, &self.nodes, shape)?, amplitudes })
    }
}

impl<B: MovementBackend> ResidentMoved<B> {
    /// The grid.
    pub fn nodes(&self) -> &Arc<B::Grid> {
        self.outward.as_ref().unwrap_or(&self.state.nodes)
    }

    /// Topology of it, and its nodes in i and j.
    pub fn shape(&self) -> (Topology, [usize; 2]) {
        self.shapes[0]
    }

    /// The same on the host, on each rank.
    ///
    /// # Errors
    /// If the device fails.
    pub fn fetch(&self, backend: &B) -> Result<Moved, MovementError> {
        let fetch = || -> Result<_, DeviceError> {
            let state = self.state.fetch(backend, self.shapes[1], self.mi)?;
            let grid = match &self.outward {
                Some(nodes) => fetched(backend, nodes, self.shapes[0])?,
                None => state.grid.clone(),
            };
            Ok((grid, state))
        };
        let (grid, state) = fetch().map_err(SolverError::from)?;
        Ok(Moved {
            grid,
            quality: self.quality.clone(),
            verdict: self.verdict.clone(),
            newton_iterations: self.newton_iterations,
            linear_iterations: self.linear_iterations,
            parts: self.parts,
            worn: self.worn.clone(),
            state,
        })
    }
}

impl<R: Deref<Target = Reference>, B: MovementBackend> Resident<R, B> {
    /// Brings a reference to a backend. Of several ranks each must call.
    ///
    /// # Errors
    /// If the memory of the device does not suffice.
    pub fn new(reference: R, backend: &B) -> Result<Self, MovementError> {
        let make = || -> Result<_, DeviceError> {
            let (equations, _) = backend.elliptic(&reference.data)?;
            let row = 2 * backend.size(&equations).mi;
            let state = ResidentState::of(backend, &reference.state(), row)?;
            let shares = backend.shares(&state.nodes)?;
            Ok((equations, shares, state))
        };
        let (equations, shares, state) = make().map_err(SolverError::from)?;
        Ok(Self { reference, equations, shares, state })
    }

    /// The reference.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// [`Reference::move_to`], the grid left where it is.
    ///
    /// # Errors
    /// As there.
    pub fn move_to(
        &self,
        backend: &B,
        wall: &[[f64; 2]],
    ) -> Result<ResidentMoved<B>, MovementError> {
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

    /// [`Reference::unmoved`].
    ///
    /// # Errors
    /// If the device fails.
    pub fn unmoved(&self, backend: &B) -> Result<ResidentMoved<B>, MovementError> {
        let make = || -> Result<_, DeviceError> {
            let row = 2 * backend.size(&self.equations).mi;
            let state = ResidentState::of(backend, &self.reference.state(), row)?;
            Ok((self.outward(backend, &state.nodes)?, state))
        };
        let (outward, state) = make().map_err(SolverError::from)?;
        let quality = self.reference.quality.clone();
        let wall = self.reference.frame.wall_points();
        Ok(self.moved((outward, state, wall), (quality, Verdict::Good), (0, 0.0), 1))
    }

    pub(super) fn move_in_parts(
        &self,
        backend: &B,
        wall: &[[f64; 2]],
        parts: usize,
    ) -> Result<ResidentMoved<B>, MovementError> {
        let reference = &*self.reference;
        let wall = reference.checked(wall)?;
        let (before, parts) = (reference.frame.wall_points(), parts.max(1));
        let coupled = reference.data.wall.is_some();
        let topology = reference.frame.reference().topology;
        let (mut newton_iterations, mut linear_iterations, mut part) = (0, 0.0, 1);
        let mut moved: Option<ResidentState<B>> = None;
        loop {
            let share = part as f64 / parts as f64;
            let between = |(a, b): (&Vector, &Vector)| [0, 1].map(|k| a[k] + share * (b[k] - a[k]));
            let to: Vec<Vector> = if part < parts {
                before.iter().zip(&wall).map(between).collect()
            } else {
                wall.clone()
            };
            let from = moved.as_ref().unwrap_or(&self.state);
            let lines = reference.frame.lines(&to);
            let nodes =
                backend.displaced(&from.nodes, &self.shares, &lines).map_err(SolverError::from)?;
            let amplitudes = from.amplitudes.as_ref();
            let equations = (&self.equations, coupled);
            let (state, report) =
                solve(backend, &reference.options, equations, (&nodes, amplitudes), topology)?;
            newton_iterations += report.history.newton_iterations();
            linear_iterations += report.history.linear_iterations();
            let measured = self.measured(backend, &state.nodes).map_err(SolverError::from)?;
            let (whole, outward, quality) = measured;
            let verdict = reference.options.quality.verdict(report.stop, &whole);
            if part == parts || !verdict.is_good() {
                let counts = (newton_iterations, linear_iterations);
                return Ok(self.moved((outward, state, to), (quality, verdict), counts, parts));
            }
            (moved, part) = (Some(state), part + 1);
        }
    }

    /// The quality of a grid of the equations, and the user's grid where it is another one, with its quality.
    fn measured(
        &self,
        backend: &B,
        nodes: &B::Grid,
    ) -> Result<(Quality, Outward<B>, Quality), DeviceError> {
        let whole = backend.measure(nodes)?;
        let outward = self.outward(backend, nodes)?;
        let quality = match &outward {
            Some(nodes) => backend.measure(nodes)?,
            None => whole.clone(),
        };
        Ok((whole, outward, quality))
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
        (outward, state, wall): (Outward<B>, ResidentState<B>, Vec<Vector>),
        (quality, verdict): (Quality, Verdict),
        (newton_iterations, linear_iterations): (usize, f64),
        parts: usize,
    ) -> ResidentMoved<B> {
        let reference = &*self.reference;
        ResidentMoved {
            worn: reference.worn(&quality),
            quality,
            verdict,
            newton_iterations,
            linear_iterations,
            parts,
            state,
            wall,
            outward,
            shapes: [shape_of(&reference.grid), shape_of(reference.frame.reference())],
            mi: reference.data.mi,
        }
    }

    /// The equations of the reference.
    pub(super) fn equations(&self) -> &B::Elliptic {
        &self.equations
    }
}

/// The solution of equations, coupled with wall terms or not, from nodes and amplitudes, in the precision of
/// the options.
pub(super) fn solve<B: MovementBackend>(
    backend: &B,
    options: &SolverOptions,
    equations: (&B::Elliptic, bool),
    start: (&B::Grid, Option<&B::Vector<f64>>),
    topology: Topology,
) -> Result<(ResidentState<B>, NewtonReport), SolverError> {
    match options.linear.precision {
        Precision::Single => solve_in::<B, f32>(backend, options, equations, start, topology),
        Precision::Double => solve_in::<B, f64>(backend, options, equations, start, topology),
    }
}

fn solve_in<B: MovementBackend, T: Real>(
    backend: &B,
    options: &SolverOptions,
    (equations, coupled): (&B::Elliptic, bool),
    (nodes, amplitudes): (&B::Grid, Option<&B::Vector<f64>>),
    topology: Topology,
) -> Result<(ResidentState<B>, NewtonReport), SolverError> {
    let SolverOptions { newton: settings, linear, multigrid, .. } = options;
    let (state, mut u) = backend.with_nodes(equations, nodes)?;
    let mut problem = GridProblem::<B, T>::new(backend, state, coupled)?;
    let walls = problem.size().mi;
    if let Some(amplitudes) = amplitudes {
        backend.copy_wall(walls, amplitudes, &mut u)?;
    }
    let kind = (linear.preconditioner, linear.schedule);
    let mut solver = problem.linear_solver(linear.krylov, kind, *multigrid, false);
    let report = newton::solve(
        backend,
        &mut problem,
        &mut solver,
        &mut u,
        History::default(),
        settings,
        &mut (),
    )?;
    let mut found = None;
    if coupled {
        let mut own = backend.zeros(2 * walls)?;
        backend.copy_wall(walls, &u, &mut own)?;
        found = Some(own);
    }
    let nodes = Arc::new(problem.nodes(backend, &u, topology)?);
    Ok((ResidentState { nodes, amplitudes: found }, report))
}
