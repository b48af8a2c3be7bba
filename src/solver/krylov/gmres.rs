//! Restarted flexible GMRES.

use super::{KrylovReport, System, Target};
use crate::backend::{Backend, DeviceError, Real};
use crate::solver::{LinearOperator, LinearStop, Preconditioner};

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
}

/// The least-squares problem min ‖β e₁ − H y‖ by Givens rotations.
struct Hessenberg {
    /// Columns of the upper triangular factor.
    columns: Vec<Vec<f64>>,
    rotations: Vec<(f64, f64)>,
    right: Vec<f64>,
}

impl<B: Backend, T: Real> Gmres<B, T> {
    /// Room for systems of `n` unknowns with a restart after `restart` iterations.
    pub fn new(backend: &B, n: usize, restart: usize) -> Result<Self, DeviceError> {
        let (basis, preconditioned) = (Vec::new(), Vec::new());
        Ok(Self { n, restart: restart.max(1), basis, preconditioned, w: backend.zeros(n)? })
    }

    /// Improves x until ‖b − A x‖ meets the target.
    ///
    /// Iteration k takes one product, one preconditioner application and k + 1 inner products;
    /// modified Gram–Schmidt. The residual is recomputed from x at every restart and before
    /// convergence is declared.
    pub fn solve<A, M>(
        &mut self,
        system: &mut System<'_, B, T, A, M>,
        target: Target,
        x: &mut B::Vector<T>,
    ) -> Result<KrylovReport, DeviceError>
    where
        A: LinearOperator<B, T>,
        M: Preconditioner<B, T, A>,
    {
        let mut iterations = 0;
        let mut before = f64::INFINITY;
        loop {
            self.reserve(system.backend, 1)?;
            let residual = system.residual(x, &mut self.basis[0])?;
            let report = |stop| KrylovReport { stop, iterations: f64::from(iterations), residual };
            if !residual.is_finite() {
                return Ok(report(LinearStop::NotFinite));
            }
            if residual <= target.norm {
                return Ok(report(LinearStop::Converged));
            }
            if iterations as usize >= target.max_iterations {
                return Ok(report(LinearStop::IterationLimit));
            }
            // A cycle that gains nothing would be repeated for ever.
            if residual >= before {
                return Ok(report(LinearStop::Stagnation));
            }
            before = residual;
            self.cycle(system, target, x, &mut iterations, residual)?;
        }
    }

    /// Up to `restart` iterations from the residual in the first basis vector.
    fn cycle<A, M>(
        &mut self,
        system: &mut System<'_, B, T, A, M>,
        target: Target,
        x: &mut B::Vector<T>,
        iterations: &mut u32,
        start: f64,
    ) -> Result<(), DeviceError>
    where
        A: LinearOperator<B, T>,
        M: Preconditioner<B, T, A>,
    {
        let backend = system.backend;
        backend.lincomb::<T, 0>(&mut self.basis[0], 1.0 / start, [])?;
        let mut small = Hessenberg::new(start);
        for k in 0..self.restart {
            self.reserve(backend, k + 2)?;
            // w ← A z_k, z_k = M⁻¹ v_k
            system.precondition(&self.basis[k], &mut self.preconditioned[k], &mut self.w)?;
            // h_ik ← (w, v_i), w ← w − h_ik v_i
            let mut column = Vec::with_capacity(k + 2);
            for v in &self.basis[..=k] {
                let [h] = backend.dots([(&self.w, v)])?;
                backend.lincomb(&mut self.w, 1.0, [(-h, v)])?;
                column.push(h);
            }
            let next = system.norm(&self.w)?;
            column.push(next);
            *iterations += 1;
            let norm = small.push(column);
            (system.observe)(f64::from(*iterations), norm);
            // next = 0: the space is invariant and holds the solution.
            let ended = norm <= target.norm || next <= f64::EPSILON * start || !norm.is_finite();
            if ended || *iterations as usize >= target.max_iterations {
                break;
            }
            backend.lincomb(&mut self.basis[k + 1], 0.0, [(1.0 / next, &self.w)])?;
        }
        for (y, z) in small.solve().into_iter().zip(&self.preconditioned) {
            backend.lincomb(x, 1.0, [(y, z)])?;
        }
        Ok(())
    }

    /// Makes sure that there are `count` basis vectors and as many preconditioned ones.
    fn reserve(&mut self, backend: &B, count: usize) -> Result<(), DeviceError> {
        while self.basis.len() < count {
            self.basis.push(backend.zeros(self.n)?);
            self.preconditioned.push(backend.zeros(self.n)?);
        }
        Ok(())
    }
}

impl Hessenberg {
    fn new(beta: f64) -> Self {
        Self { columns: Vec::new(), rotations: Vec::new(), right: vec![beta] }
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
        self.right[k + 1].abs()
    }

    /// Solves the triangular system; a zero on its diagonal contributes nothing.
    fn solve(&self) -> Vec<f64> {
        let mut y = self.right[..self.columns.len()].to_vec();
        for k in (0..y.len()).rev() {
            let diagonal = self.columns[k][k];
            y[k] = if diagonal == 0.0 { 0.0 } else { y[k] / diagonal };
            for i in 0..k {
                y[i] -= self.columns[k][i] * y[k];
            }
        }
        y
    }
}
