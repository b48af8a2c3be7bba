//! Derivatives of a moved grid by its wall points and by the heights of its first cells.

use super::frame::FixedNodes;
use super::{Moved, MovementError, Place, Reference};
use crate::backend::{
    DeviceError, EllipticBackend, EllipticData, MultigridBackend, Scaling, scalars,
};
use crate::case::SolverOptions;
use crate::elliptic::{GridJacobian, GridProblem, TransposedJacobian, TransposedPreconditioner};
use crate::geometry::vector::Vector;
use crate::grid::Topology;
use crate::pde::{Blocks, Stencil, row_weight};
use crate::solver::linear::LinearSolver;
use crate::solver::{LinearOperator, NonlinearProblem, SolverError, present};

/// Relative residual of the linear solves, unless said otherwise: derivatives are then good to some 1e-9.
const TOLERANCE: f64 = 1e-10;

/// The equations at a moved grid, linearised: K δu = −A δb for unknowns u and fixed nodes b (theory
/// eq. 19 and theory eq. 20).
///
/// With N the places of the unknown nodes and b(x_w) the fixed ones,
///
/// - forward: δb = ∂b/∂x_w δx_w, K δu = −A δb, δX = δb + N δu;
/// - adjoint: Kᵀ λ = Nᵀ X̄, b̄ = X̄ − Aᵀ λ, x̄_w = (∂b/∂x_w)ᵀ b̄ with X̄ = ∂J/∂X and x̄_w = dJ/dx_w.
///
/// Solves are in double precision with a cycle in single precision. One object serves any number of right
/// sides: matrices and preconditioners are made once.
pub struct Derivatives<B: EllipticBackend> {
    options: SolverOptions,
    place: Place,
    topology: Topology,
    tolerance: f64,
    /// The equations' data at the grid, with P = P0 + p φ and Q = Q0 + q ψ for P0 and Q0.
    data: EllipticData,
    fixed: FixedNodes,
    equations: GridProblem<B, f64>,
    /// That the Jacobian and its preconditioner are made.
    forward: Option<LinearSolver<B, f64, GridJacobian<B, f64>>>,
    transposed: Option<Transposed<B>>,
}

/// Kᵀ and its solver.
struct Transposed<B: EllipticBackend> {
    matrix: TransposedJacobian<B, f64>,
    solver: LinearSolver<B, f64, TransposedJacobian<B, f64>>,
}

/// How a linear solve went.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Solved {
    /// Iterations of the Krylov method.
    pub iterations: f64,
    /// ‖b − K x‖/‖b‖ of the x returned, computed anew.
    pub residual: f64,
}

/// The displacement of all nodes with a displacement of the wall.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Forward {
    /// δx of the nodes, `[nj][ni]`.
    pub x: Vec<f64>,
    /// δy of the nodes.
    pub y: Vec<f64>,
    /// The linear solve.
    pub solved: Solved,
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

impl Reference {
    /// The derivatives at a grid that was moved from this reference on any backend, or at
    /// [`Self::unmoved`].
    ///
    /// # Errors
    /// If the grid is not good, or the device fails.
    pub fn derivatives<B>(
        &self,
        backend: &B,
        moved: &Moved,
    ) -> Result<Derivatives<B>, MovementError>
    where
        B: EllipticBackend + MultigridBackend,
    {
        if !moved.verdict.is_good() {
            return Err(MovementError::NotGood { verdict: moved.verdict.clone() });
        }
        let mut data = self.data.with_nodes(&moved.state.grid);
        let (mut equations, mut u) =
            GridProblem::<B, f64>::from_data(backend, &data).map_err(SolverError::from)?;
        let mut work = || -> Result<(), DeviceError> {
            super::put_amplitudes(backend, &equations, &mut u, &moved.state.amplitudes)?;
            let mut f = backend.zeros(equations.unknowns())?;
            equations.residual(backend, &u, Scaling::Renewed, &mut f)?;
            Ok(())
        };
        work().map_err(SolverError::from)?;
        if let Some(terms) = &data.wall {
            let mi = data.mi;
            for (k, (phi, psi)) in terms.phi.iter().zip(&terms.psi).enumerate() {
                data.control_p[k] += moved.state.amplitudes[2 * (k % mi)] * phi;
                data.control_q[k] += moved.state.amplitudes[2 * (k % mi) + 1] * psi;
            }
        }
        let wall: Vec<Vector> = self.frame.wall().map(|i| moved.state.grid.point(i, 0)).collect();
        let fixed = self.frame.jacobian(&wall);
        Ok(Derivatives {
            options: self.options.clone(),
            place: self.place,
            topology: moved.state.grid.topology,
            tolerance: TOLERANCE,
            data,
            fixed,
            equations,
            forward: None,
            transposed: None,
        })
    }
}

impl<B: EllipticBackend + MultigridBackend> Derivatives<B> {
    /// The same with linear solves to this relative residual instead of 1e-10.
    #[must_use]
    pub fn with_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// The displacement of the nodes for one of the wall points, and changes of the heights of the first
    /// cells, none if `heights` is empty.
    ///
    /// # Errors
    /// If these are not as many as the wall points, the solve does not converge, or the device fails.
    pub fn derivative(
        &mut self,
        backend: &B,
        wall: &[[f64; 2]],
        heights: &[f64],
    ) -> Result<Forward, MovementError> {
        let expected = self.wall_points();
        let lengths = [Some(wall.len()), Some(heights.len()).filter(|&n| n > 0)];
        if let Some(found) = lengths.into_iter().flatten().find(|&found| found != expected) {
            return Err(MovementError::WallPoints { found, expected });
        }
        let wall = self.place.spread(wall);
        let heights = if heights.is_empty() || !self.coupled() {
            vec![0.0; wall.len()]
        } else {
            self.place.spread_heights(heights)
        };
        let [ni, nj] = self.size();
        let mut nodes = vec![[0.0; 2]; ni * nj];
        self.fixed.displace(&wall, &heights, &mut nodes);
        if !self.coupled() {
            nodes[ni..2 * ni].fill([0.0; 2]);
        }
        let mut right = vec![0.0; self.equations.unknowns()];
        self.beside_fixed_nodes(|unknown, blocks, near| {
            for (m, node) in blocks.iter().zip(near) {
                let [x, y] = nodes[node];
                right[unknown] -= m[0] * x + m[1] * y;
                right[unknown + 1] -= m[2] * x + m[3] * y;
            }
        });
        let (du, solved) = self.solve_forward(backend, &right)?;
        self.each_unknown(|unknown, own| {
            for node in own {
                nodes[node] = [du[unknown], du[unknown + 1]];
            }
        });
        if self.topology.periodic() {
            // The last column repeats the first.
            nodes.chunks_exact_mut(ni).for_each(|row| row[ni - 1] = row[0]);
        }
        let kept = |k: usize| {
            let rows = nodes.chunks_exact(ni).flat_map(|row| self.place.kept(row));
            rows.map(|node| node[k]).collect()
        };
        Ok(Forward { x: kept(0), y: kept(1), solved })
    }

    /// The derivatives of a function by the wall points and by the heights of the first cells from those by
    /// the nodes, `[nj][ni]`. A node of the seam that is there twice counts twice.
    ///
    /// # Errors
    /// If these are not as many as the nodes, the solve does not converge, or the device fails.
    pub fn adjoint(&mut self, backend: &B, x: &[f64], y: &[f64]) -> Result<Adjoint, MovementError> {
        let [ni, nj] = self.size();
        let columns = self.kept_columns();
        let expected = columns * nj;
        if let Some(found) = [x.len(), y.len()].into_iter().find(|&found| found != expected) {
            return Err(MovementError::Nodes { found, expected });
        }
        let own: Vec<Vector> = x.iter().zip(y).map(|(&x, &y)| [x, y]).collect();
        let mut nodes: Vec<Vector> =
            own.chunks_exact(columns).flat_map(|row| self.place.padded(row)).collect();
        if self.topology.periodic() {
            for row in nodes.chunks_exact_mut(ni) {
                row[0] = [row[0][0] + row[ni - 1][0], row[0][1] + row[ni - 1][1]];
            }
        }
        let mut right = vec![0.0; self.equations.unknowns()];
        self.each_unknown(|unknown, own| {
            [right[unknown], right[unknown + 1]] = nodes[own.start];
        });
        let (lambda, solved) = self.solve_transposed(backend, &right)?;
        self.beside_fixed_nodes(|unknown, blocks, near| {
            let (p, q) = (lambda[unknown], lambda[unknown + 1]);
            for (m, node) in blocks.iter().zip(near) {
                nodes[node][0] -= m[0] * p + m[2] * q;
                nodes[node][1] -= m[1] * p + m[3] * q;
            }
        });
        if !self.coupled() {
            nodes[ni..2 * ni].fill([0.0; 2]);
        }
        let (wall, heights) = self.fixed.gather(&nodes);
        let (wall, heights) = (self.place.fold(&wall), self.place.fold_heights(&heights));
        Ok(Adjoint { wall, heights, solved })
    }

    /// Nodes of the whole grid, in i and j.
    fn size(&self) -> [usize; 2] {
        let EllipticData { mi, mj, periodic, .. } = self.data;
        [mi + if periodic { 1 } else { 2 }, mj + 2]
    }

    /// Nodes of the user's grid in i.
    fn kept_columns(&self) -> usize {
        let [ni, _] = self.size();
        self.place.kept(&vec![(); ni]).len()
    }

    /// Points of the user's wall.
    fn wall_points(&self) -> usize {
        let [ni, _] = self.size();
        let whole = self.topology.wall(ni).count();
        self.place.kept(&vec![(); whole]).len()
    }

    /// Whether the wall terms are unknowns and the line j = 1 is fixed.
    fn coupled(&self) -> bool {
        self.data.wall.is_some()
    }

    /// Calls with the number of each unknown node's x among the unknowns, and its number in the grid.
    fn each_unknown(&self, mut work: impl FnMut(usize, std::ops::Range<usize>)) {
        let EllipticData { mi, mj, periodic, .. } = self.data;
        let ([ni, _], first) = (self.size(), usize::from(!periodic));
        for j in usize::from(self.coupled())..mj {
            for i in 0..mi {
                let node = (j + 1) * ni + i + first;
                work(2 * (j * mi + i), node..node + 1);
            }
        }
    }

    /// Calls with each unknown point that has fixed nodes beside it: the number of its row, the blocks
    /// w ∂R/∂r of the nine nodes around, row-major, and their numbers in the grid.
    fn beside_fixed_nodes(&self, mut work: impl FnMut(usize, [[f64; 4]; 9], [usize; 9])) {
        let EllipticData { mi, mj, periodic, .. } = self.data;
        let ([ni, _], stride, first) = (self.size(), mi + 2, usize::from(!periodic));
        let data = &self.data;
        for j in 0..mj {
            for i in (0..mi).filter(|&i| j < 2 || (!periodic && (i == 0 || i + 1 == mi))) {
                let around: [usize; 9] = std::array::from_fn(|k| (j + k / 3) * stride + i + k % 3);
                let row = |dj: usize| {
                    [0, 1, 2].map(|di| [data.x[around[3 * dj + di]], data.y[around[3 * dj + di]]])
                };
                let stencil = Stencil { south: row(0), middle: row(1), north: row(2) };
                let (metrics, k) = (stencil.metrics(), j * mi + i);
                let b = Blocks::new(&metrics, data.control_p[k], data.control_q[k]);
                let w = row_weight(&metrics);
                let full = |m: [Vector; 2]| [m[0][0], m[0][1], m[1][0], m[1][1]].map(|c| w * c);
                let scalar = |c: f64| full([[c, 0.0], [0.0, c]]);
                let (same, other) = (scalar(b.diagonal), scalar(-b.diagonal));
                let blocks = [
                    same,
                    full(b.south),
                    other,
                    full(b.west),
                    scalar(b.centre),
                    full(b.east),
                    other,
                    full(b.north),
                    same,
                ];
                let node = |k: usize| {
                    // Node i + first of the grid is column i + 1 of the frame.
                    let column = i + first + k % 3;
                    let column = if periodic { (column + mi - 1) % mi } else { column - 1 };
                    (j + k / 3) * ni + column
                };
                work(2 * (j * mi + i), blocks, std::array::from_fn(node));
            }
        }
    }

    fn solve_forward(
        &mut self,
        backend: &B,
        right: &[f64],
    ) -> Result<(Vec<f64>, Solved), MovementError> {
        let Self { options, equations, forward, tolerance, .. } = self;
        let solver = present(forward, || -> Result<_, SolverError> {
            let SolverOptions { linear, multigrid, .. } = options;
            let kind = (linear.preconditioner, linear.schedule);
            let mut solver = equations.linear_solver(linear.krylov, kind, *multigrid);
            solver.update(backend, equations.linearise(backend)?)?;
            Ok(solver)
        })?;
        solve(backend, equations.jacobian(), solver, right, *tolerance)
    }

    fn solve_transposed(
        &mut self,
        backend: &B,
        right: &[f64],
    ) -> Result<(Vec<f64>, Solved), MovementError> {
        let Self { options, equations, transposed, tolerance, .. } = self;
        let Transposed { matrix, solver } = present(transposed, || -> Result<_, SolverError> {
            let matrix = equations.transposed(backend)?;
            let SolverOptions { linear, multigrid, .. } = options;
            let kind = (linear.preconditioner, linear.schedule);
            let preconditioner =
                TransposedPreconditioner::of_transpose(kind, *multigrid, equations.size());
            let n = equations.unknowns();
            let mut solver = LinearSolver::new(linear.krylov, n, preconditioner);
            solver.update(backend, &matrix)?;
            Ok(Transposed { matrix, solver })
        })?;
        solve(backend, matrix, solver, right, *tolerance)
    }
}

/// Solves A x = b and looks at the residual.
fn solve<B: EllipticBackend, A: LinearOperator<B, f64>>(
    backend: &B,
    a: &A,
    solver: &mut LinearSolver<B, f64, A>,
    right: &[f64],
    tolerance: f64,
) -> Result<(Vec<f64>, Solved), MovementError> {
    let device = |error: DeviceError| MovementError::from(SolverError::from(error));
    let n = right.len();
    let vectors = || -> Result<_, DeviceError> {
        let mut b = backend.zeros::<f64>(n)?;
        backend.upload_unknowns(right, &mut b)?;
        Ok((b, backend.zeros::<f64>(n)?, backend.zeros::<f64>(n)?, scalars::allocate(backend)?))
    };
    let (b, mut x, mut r, mut values) = vectors().map_err(device)?;
    let report = solver.solve(backend, a, &b, tolerance, &mut x, &mut |_, _| ())?;
    let mut look = || -> Result<_, DeviceError> {
        a.apply(backend, &x, &mut r)?;
        backend.lincomb(None, &mut r, -1.0, &[(1.0, &b)])?;
        let [left, whole] = scalars::read_dots(backend, &mut values, [(&r, &r), (&b, &b)])?;
        let mut host = vec![0.0; n];
        backend.download_unknowns(&x, &mut host)?;
        Ok((host, if whole > 0.0 { (left / whole).sqrt() } else { 0.0 }))
    };
    let (x, residual) = look().map_err(device)?;
    // The residual of the recursion is the true one up to rounding.
    if residual.is_nan() || residual > 10.0 * tolerance {
        return Err(MovementError::Linear { stop: report.stop, residual, tolerance });
    }
    Ok((x, Solved { iterations: report.iterations, residual }))
}
