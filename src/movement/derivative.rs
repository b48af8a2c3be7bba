//! Derivatives of a moved grid by its wall points and by the heights of its first cells.

use std::ops::Deref;

use super::frame::FixedNodes;
use super::resident::{Solution, fetched, put_amplitudes, shape_of};
use super::{GridPlacement, Moved, MovementError, Reference, Resident};
use crate::backend::{FixedLines, MovementBackend};
use crate::case::SolverOptions;
use crate::elliptic::{GridJacobian, GridProblem};
use crate::geometry::vector::Vector;
use crate::grid::{Grid, Topology, Verdict};
use crate::solver::linear::LinearSolver;
use crate::solver::{LinearOperator, NonlinearProblem, SolverError, present};

/// Relative residual of the linear solves, unless said otherwise: derivatives are then good to some 1e-9.
const TOLERANCE: f64 = 1e-10;

/// Largest number that is taken: squares of what follows from it are numbers.
const LARGEST: f64 = 1e100;

/// The equations at a moved grid, linearised: K δu = −A δb for unknowns u and fixed nodes b (theory
/// eq. 19 and theory eq. 20).
///
/// With N the places of the unknown nodes and b(x_w) the fixed ones,
///
/// - forward: δb = ∂b/∂x_w δx_w, K δu = −A δb, δX = δb + N δu;
/// - adjoint: Kᵀ λ = Nᵀ X̄, b̄ = X̄ − Aᵀ λ, x̄_w = (∂b/∂x_w)ᵀ b̄ with X̄ = ∂J/∂X and x̄_w = dJ/dx_w.
///
/// Solves are in double precision with a cycle in single precision. One object serves any number of right
/// sides: matrices and preconditioners are made once. Of several ranks all do the same.
pub struct Derivatives<B: MovementBackend> {
    options: SolverOptions,
    place: GridPlacement,
    /// Topology of the user's grid, and its nodes in i and j.
    shape: (Topology, [usize; 2]),
    /// Topology of the grid of the equations.
    whole: Topology,
    tolerance: f64,
    fixed: FixedNodes,
    /// Whether the wall terms are unknowns and the line j = 1 is fixed.
    coupled: bool,
    equations: GridProblem<B, f64>,
    /// That the Jacobian and its preconditioner are made.
    forward: Option<Solver<B>>,
    /// Kᵀ and its solver.
    transposed: Option<(GridJacobian<B, f64>, Solver<B>)>,
}

type Solver<B> = LinearSolver<B, f64, GridJacobian<B, f64>>;

/// Outcome of a linear solve.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Solved {
    /// Iterations of the Krylov method.
    pub iterations: f64,
    /// ‖b − K x‖/‖b‖ of the x returned, computed anew.
    pub residual: f64,
}

/// Derivatives of a function of the nodes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Adjoint {
    /// By the wall points, in the order of [`Reference::wall`]. A point that is there twice, the edge, has
    /// its derivative as the sum of both.
    pub wall: Vec<[f64; 2]>,
    /// By the heights of the first cells of these points.
    pub heights: Vec<f64>,
    /// The linear solve.
    pub solved: Solved,
}

impl<R: Deref<Target = Reference>, B: MovementBackend> Resident<R, B> {
    /// The derivatives at a grid that was moved from this reference on this backend, or at
    /// [`Self::unmoved`].
    ///
    /// # Errors
    /// If the grid is not good, or the device fails.
    pub fn derivatives(
        &self,
        backend: &B,
        moved: &Moved<B>,
    ) -> Result<Derivatives<B>, MovementError> {
        self.linearised(backend, &moved.state, (&moved.wall, &moved.verdict))
    }

    /// [`Self::derivatives`] at a grid that was moved from this reference on any backend and fetched.
    ///
    /// # Errors
    /// The errors of [`Self::derivatives`].
    pub fn derivatives_at_fetched(
        &self,
        backend: &B,
        moved: &Moved,
    ) -> Result<Derivatives<B>, MovementError> {
        let state = moved.state.on(backend, &self.equations)?;
        self.linearised(backend, &state, (&moved.wall, &moved.verdict))
    }

    fn linearised(
        &self,
        backend: &B,
        state: &Solution<B>,
        (wall, verdict): (&[Vector], &Verdict),
    ) -> Result<Derivatives<B>, MovementError> {
        if !verdict.is_good() {
            return Err(MovementError::NotGood { verdict: verdict.clone() });
        }
        let reference = self.reference();
        let (frame, mut u) = backend.with_nodes(&self.equations, &state.nodes)?;
        let kind = reference.options.linear.preconditioner;
        let mut equations = GridProblem::<B, f64>::new(backend, frame, kind)?;
        if let Some(amplitudes) = &state.amplitudes {
            put_amplitudes(backend, &self.equations, amplitudes, &mut u)?;
        }
        let mut f = backend.zeros(equations.unknowns())?;
        equations.residual(backend, &u, &mut f)?;
        Ok(Derivatives {
            options: reference.options.clone(),
            place: reference.place,
            shape: shape_of(&reference.grid),
            whole: reference.nodes().topology,
            tolerance: TOLERANCE,
            fixed: reference.frame.jacobian(wall),
            coupled: !backend.walls(&self.equations).is_empty(),
            equations,
            forward: None,
            transposed: None,
        })
    }
}

impl<B: MovementBackend> Derivatives<B> {
    /// Sets the relative residual of the linear solves, 1e-10 by default.
    #[must_use]
    pub fn with_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// The displacement of the nodes for one of the wall points, and changes of the heights of the first
    /// cells, none if `heights` is empty: a grid whose nodes are their displacements.
    ///
    /// # Errors
    /// If these are not as many as the wall points, the solve does not converge, or the device fails.
    pub fn derivative(
        &mut self,
        backend: &B,
        wall: &[[f64; 2]],
        heights: &[f64],
    ) -> Result<(B::Grid, Solved), MovementError> {
        let (topology, [ni, _]) = self.shape;
        let expected = topology.wall(ni).count();
        let lengths = [Some(wall.len()), Some(heights.len()).filter(|&n| n > 0)];
        if let Some(found) = lengths.into_iter().flatten().find(|&found| found != expected) {
            return Err(MovementError::WallPoints { found, expected });
        }
        check_sizes(wall.as_flattened(), |k| format!("the displacement of wall point {}", k / 2))?;
        check_sizes(heights, |k| format!("the change of height {k}"))?;
        let wall = self.place.spread(wall);
        let heights = if heights.is_empty() {
            vec![0.0; wall.len()]
        } else {
            self.place.spread_heights(heights)
        };
        let mut lines = self.fixed.displacement(&wall, &heights);
        self.clear_unknown(&mut lines);
        let state = self.equations.state();
        let mut displacement = backend.displacement(state, &lines)?;
        let n = self.equations.unknowns();
        let (mut product, mut right) = (backend.zeros(n)?, backend.zeros(n)?);
        backend.frame_product(state, &displacement, &mut product)?;
        backend.lincomb(None, &mut right, 0.0, &[(-1.0, &product)])?;
        let solver = present(&mut self.forward, || -> Result<_, SolverError> {
            prepared(backend, self.equations.linearise(backend)?, &self.options)
        })?;
        let jacobian = self.equations.jacobian();
        let (du, solved) = solve(backend, jacobian, solver, &right, self.tolerance)?;
        backend.load_state(&mut displacement, &du)?;
        let nodes = backend.nodes(displacement, self.whole)?;
        let nodes = match self.place.half {
            Some(symmetry) => backend.half(symmetry, &nodes)?,
            None => nodes,
        };
        Ok((nodes, solved))
    }

    /// A displacement of the nodes on the host, on each rank.
    ///
    /// # Errors
    /// If the device fails.
    pub fn fetch(&self, backend: &B, nodes: &B::Grid) -> Result<Grid, MovementError> {
        Ok(fetched(backend, nodes, self.shape)?)
    }

    /// Derivatives of a function by the nodes, `[nj][ni]`, of which each rank has all, as [`Self::adjoint`] takes
    /// them. A node of the seam that is there twice counts twice.
    ///
    /// # Errors
    /// If these are not as many as the nodes, are not finite or too large, or the device fails.
    pub fn by_nodes(&self, backend: &B, x: &[f64], y: &[f64]) -> Result<B::Grid, MovementError> {
        let (topology, [ni, nj]) = self.shape;
        let expected = ni * nj;
        if let Some(found) = [x.len(), y.len()].into_iter().find(|&found| found != expected) {
            return Err(MovementError::Nodes { found, expected });
        }
        let nodes = Grid { topology, ni, nj, x: x.to_vec(), y: y.to_vec(), outside: None };
        check_nodes(&nodes)?;
        Ok(backend.take(nodes)?)
    }

    /// The derivatives of a function by the wall points and by the heights of the first cells from those by
    /// the nodes: a grid of which each rank has all columns.
    ///
    /// # Errors
    /// If a derivative is not finite or too large, the solve does not converge, or the device fails.
    pub fn adjoint(&mut self, backend: &B, nodes: B::Grid) -> Result<Adjoint, MovementError> {
        let whole = self.whole;
        let mut nodes = match self.place.half {
            Some(symmetry) => backend.padded((symmetry, whole), &nodes)?,
            None => nodes,
        };
        if whole.periodic() {
            backend.fold_seam(&mut nodes)?;
        }
        let mut lines = backend.lines_of(&nodes)?;
        // The right side has the nodes in the places of the unknowns.
        let (_, right) = backend.with_nodes(self.equations.state(), &nodes)?;
        let fits = |value: &f64| value.abs() <= LARGEST;
        if !(fits(&backend.max_abs(&right)?) && lines.values.as_flattened().iter().all(fits)) {
            let host = fetched(backend, &nodes, (whole, [lines.places.ni, lines.places.nj]))?;
            let host =
                self.place.half.map_or_else(|| host.clone(), |symmetry| symmetry.half(&host));
            return Err(check_nodes(&host).err().unwrap_or(MovementError::NoBody));
        }
        let (matrix, solver) = present(&mut self.transposed, || -> Result<_, SolverError> {
            let matrix = self.equations.transposed(backend)?;
            let solver = prepared(backend, &matrix, &self.options)?;
            Ok((matrix, solver))
        })?;
        let (lambda, solved) = solve(backend, matrix, solver, &right, self.tolerance)?;
        lines.subtract(&backend.frame_sums(self.equations.state(), &lambda)?);
        self.clear_unknown(&mut lines);
        let (wall, heights) = self.fixed.gather(&lines);
        let (wall, heights) = (self.place.fold(&wall), self.place.fold_heights(&heights));
        Ok(Adjoint { wall, heights, solved })
    }

    /// Zeros at the nodes of the line j = 1 that are unknowns.
    fn clear_unknown(&self, lines: &mut FixedLines) {
        let (places, ends) = (lines.places, usize::from(!self.whole.periodic()));
        if !self.coupled {
            for i in ends..places.ni - ends {
                lines.values[places.on_line(1, i)] = [0.0; 2];
            }
        }
    }
}

/// Refuses derivatives by the nodes with which nothing can be computed.
fn check_nodes(nodes: &Grid) -> Result<(), MovementError> {
    let place = |c| move |k| format!("dJ/d{c} of node i = {}, j = {}", k % nodes.ni, k / nodes.ni);
    check_sizes(&nodes.x, place('x')).and_then(|()| check_sizes(&nodes.y, place('y')))
}

fn check_sizes(values: &[f64], of: impl Fn(usize) -> String) -> Result<(), MovementError> {
    match values.iter().position(|value| value.is_nan() || value.abs() > LARGEST) {
        Some(k) => Err(MovementError::Size { of: of(k), value: values[k] }),
        None => Ok(()),
    }
}

/// A solver for a matrix, its preconditioner made.
fn prepared<B: MovementBackend>(
    backend: &B,
    a: &GridJacobian<B, f64>,
    SolverOptions { linear, multigrid, .. }: &SolverOptions,
) -> Result<Solver<B>, SolverError> {
    let kind = (linear.preconditioner, linear.schedule);
    let mut solver = a.linear_solver(linear.krylov, kind, *multigrid);
    solver.update(backend, a)?;
    Ok(solver)
}

/// Solves A x = b and looks at the residual.
fn solve<B: MovementBackend>(
    backend: &B,
    a: &GridJacobian<B, f64>,
    solver: &mut Solver<B>,
    right: &B::Vector<f64>,
    tolerance: f64,
) -> Result<(B::Vector<f64>, Solved), MovementError> {
    let (mut x, mut r) = (backend.zeros(a.rows())?, backend.zeros(a.rows())?);
    let report = solver.solve(backend, a, right, tolerance, &mut x, &mut |_, _| ())?;
    a.apply(backend, &x, &mut r)?;
    backend.lincomb(None, &mut r, -1.0, &[(1.0, right)])?;
    let [left, whole] = backend.dot_products([(&r, &r), (right, right)])?;
    let residual = if whole == 0.0 { 0.0 } else { (left / whole).sqrt() };
    // The residual of the recursion is the true one up to rounding.
    if residual.is_nan() || residual > 10.0 * tolerance {
        return Err(MovementError::Linear { stop: report.stop, residual, tolerance });
    }
    Ok((x, Solved { iterations: report.iterations, residual }))
}
