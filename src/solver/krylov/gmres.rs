//! Restarted flexible GMRES.

use super::{KrylovReport, System, Target};
use crate::backend::{Backend, Projection, Real, Result};
use crate::solver::LinearOperator;

/// Vectors and the small least-squares problem of flexible GMRES(m) (Saad 1993,
/// doi:10.1137/0914028), kept from one solve to the next. Basis vectors are allocated when first
/// needed.
pub struct Gmres<B: Backend, T: Real> {
    n: usize,
    restart: usize,
    /// Orthonormal basis V of the Krylov space.
    basis: Vec<B::Vector<T>>,
    /// Preconditioned basis Z = M⁻¹ V, so that the preconditioner may vary.
    preconditioned: Vec<B::Vector<T>>,
    w: B::Vector<T>,
    /// x at the start of a cycle.
    start: B::Vector<T>,
}

/// Part of ‖w‖² that a second orthogonalisation leaves to a w outside the space, at least (Daniel,
/// Gragg, Kaufman and Stewart 1976, doi:10.1090/S0025-5718-1976-0431641-8).
const OUTSIDE: f64 = 0.5;

/// A residual above this part of the one before has hardly fallen.
const KEPT: f64 = 0.5;

/// The least-squares problem min ‖β e₁ − H y‖ by Givens rotations.
struct Hessenberg {
    /// Columns of the upper triangular factor.
    columns: Vec<Vec<f64>>,
    rotations: Vec<(f64, f64)>,
    right: Vec<f64>,
}

impl<B: Backend, T: Real> Gmres<B, T> {
    /// The vectors for systems of `n` unknowns with a restart after `restart` iterations.
    pub fn new(backend: &B, n: usize, restart: usize) -> Result<Self> {
        let (basis, preconditioned) = (Vec::new(), Vec::new());
        let (w, start) = (backend.zeros(n)?, backend.zeros(n)?);
        Ok(Self { n, restart: restart.max(1), basis, preconditioned, w, start })
    }

    /// The orthonormal basis of the Krylov space; the vectors of the last cycle come first.
    pub fn basis(&self) -> &[B::Vector<T>] {
        &self.basis
    }

    /// Improves x until ‖b − A x‖ meets the target.
    ///
    /// Iteration k, from 0, takes one product, one preconditioner application, and 2 k + 3 inner
    /// products, four at a time, for which a device is waited for once: classical Gram–Schmidt, done
    /// twice, keeps the basis orthogonal to rounding (Giraud, Langou and Rozložník 2005,
    /// doi:10.1007/s00211-005-0615-4). The residual is recomputed from x at every restart and before
    /// convergence is declared.
    pub fn solve<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        target: Target,
        x: &mut B::Vector<T>,
    ) -> Result<KrylovReport> {
        let mut iterations = 0;
        let (mut before, mut promised) = (f64::INFINITY, f64::INFINITY);
        let mut residual = system.residual(x, &mut self.w)?;
        loop {
            // A cycle that gains nothing, or almost nothing of the reduction that its small problem
            // promised, would be repeated for ever: rounding holds the residual where it is.
            let stagnates =
                residual >= before || (residual > KEPT * before && promised < KEPT * residual);
            if let Some(stop) = target.ended(residual, 1.0, iterations.into(), stagnates) {
                return Ok(KrylovReport { stop, iterations: iterations.into(), residual });
            }
            before = residual;
            let small = self.cycle(system, target, &mut iterations, residual)?;
            promised = small.norm();
            residual = self.step(system, &small, x, residual)?;
        }
    }

    /// Up to `restart` iterations from the residual in w, of norm `start`.
    fn cycle<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        target: Target,
        iterations: &mut u32,
        start: f64,
    ) -> Result<Hessenberg> {
        let backend = system.backend;
        self.reserve(backend, 1)?;
        backend.lincomb(None, &mut self.basis[0], 0.0, &[(1.0 / start, &self.w)])?;
        let (columns, rotations) = (Vec::new(), Vec::new());
        let mut small = Hessenberg { columns, rotations, right: vec![start] };
        for k in 0..self.restart {
            self.reserve(backend, k + 2)?;
            // w ← A z_k, z_k = M⁻¹ v_k
            let (v, z) = (&mut self.basis[k], &mut self.preconditioned[k]);
            let System { operator, preconditioner, .. } = system;
            preconditioner.apply_and_multiply(backend, *operator, v, z, &mut self.w, None)?;
            let column = self.orthogonalise(backend, k)?;
            let next = column[k + 1];
            *iterations += 1;
            let norm = small.push(column);
            (system.observe)(f64::from(*iterations), norm);
            // next = 0: the space is invariant and holds the solution.
            let ended = norm <= target.norm || next == 0.0 || !norm.is_finite();
            if ended || *iterations as usize >= target.max_iterations {
                break;
            }
        }
        Ok(small)
    }

    /// Takes the step of a cycle from x, whose residual has the norm `before`; returns the new norm.
    ///
    /// In the space of a singular A rounding decides on the coefficient of the last vector, or on all
    /// of them: without it, or them, no residual is larger than before.
    fn step<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        small: &Hessenberg,
        x: &mut B::Vector<T>,
        before: f64,
    ) -> Result<f64> {
        let backend = system.backend;
        backend.lincomb(None, &mut self.start, 0.0, &[(1.0, &*x)])?;
        let order = small.columns.len();
        let mut residual = before;
        for order in [order, order.saturating_sub(1), 0] {
            let y = small.solve(order);
            let terms = y.into_iter().zip(&self.preconditioned);
            let terms: Vec<_> = std::iter::once((1.0, &self.start)).chain(terms).collect();
            backend.lincomb(None, x, 0.0, &terms)?;
            residual = system.residual(x, &mut self.w)?;
            let rose = residual > before;
            if !rose {
                break;
            }
        }
        Ok(residual)
    }

    /// h ← Vᵀ w and w ← w − V h, twice, then v_{k+1} ← w / ‖w‖. Returns the sums of the h and the
    /// norm, which is 0 for a w in the space; there is no v_{k+1} then.
    fn orthogonalise(&mut self, backend: &B, k: usize) -> Result<Vec<f64>> {
        let Self { basis, w, .. } = self;
        let (basis, next) = basis.split_at_mut(k + 1);
        let Projection { first: mut column, again, square } = backend.project(basis, w)?;
        // Pythagoras: the part that the second pass takes away is small.
        let left = square - again.iter().map(|h| h * h).sum::<f64>();
        let mut norm = if left <= OUTSIDE * square { 0.0 } else { left.sqrt() };
        for (h, more) in column.iter_mut().zip(&again) {
            *h += more;
        }
        let whole = column.iter().fold(norm, |whole, h| whole.hypot(*h));
        if norm <= T::epsilon().widen() * whole {
            norm = 0.0;
        }
        column.push(norm);
        if norm != 0.0 {
            let rest = again.iter().map(|h| -h / norm).zip(basis.iter());
            let terms: Vec<_> = std::iter::once((norm.recip(), &*w)).chain(rest).collect();
            backend.lincomb(None, &mut next[0], 0.0, &terms)?;
        }
        Ok(column)
    }

    /// Makes sure that there are `count` basis vectors and as many preconditioned ones.
    fn reserve(&mut self, backend: &B, count: usize) -> Result<()> {
        while self.basis.len() < count {
            self.basis.push(backend.zeros(self.n)?);
            self.preconditioned.push(backend.zeros(self.n)?);
        }
        Ok(())
    }
}

impl Hessenberg {
    fn norm(&self) -> f64 {
        self.right.last().copied().unwrap_or_default().abs()
    }

    /// Takes column k (k + 2 entries) and returns the residual norm of the larger problem.
    fn push(&mut self, mut column: Vec<f64>) -> f64 {
        for (i, &(c, s)) in self.rotations.iter().enumerate() {
            let (a, b) = (column[i], column[i + 1]);
            column[i] = c * a + s * b;
            column[i + 1] = c * b - s * a;
        }
        let k = self.rotations.len();
        let (a, b) = (column[k], column[k + 1]);
        let length = a.hypot(b);
        let (c, s) = if length == 0.0 { (1.0, 0.0) } else { (a / length, b / length) };
        column[k] = length;
        column.truncate(k + 1);
        self.columns.push(column);
        self.rotations.push((c, s));
        let last = self.right[k];
        self.right[k] = c * last;
        self.right.push(-s * last);
        self.norm()
    }

    /// Solves the triangular system of the first `order` columns; a zero on its diagonal contributes
    /// nothing.
    fn solve(&self, order: usize) -> Vec<f64> {
        let mut y = self.right[..order].to_vec();
        for k in (0..order).rev() {
            let diagonal = self.columns[k][k];
            y[k] = if diagonal == 0.0 { 0.0 } else { y[k] / diagonal };
            for i in 0..k {
                y[i] -= self.columns[k][i] * y[k];
            }
        }
        y
    }
}
