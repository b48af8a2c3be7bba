//! BiCGStab.

use super::{KrylovReport, System, Target};
use crate::backend::{Backend, DeviceError, Real};
use crate::solver::{LinearOperator, LinearStop, Preconditioner};

/// Vectors of the right-preconditioned BiCGStab method (van der Vorst 1992,
/// doi:10.1137/0913035), kept from one solve to the next.
pub struct Bicgstab<B: Backend, T: Real> {
    r: B::Vector<T>,
    shadow: B::Vector<T>,
    p: B::Vector<T>,
    v: B::Vector<T>,
    t: B::Vector<T>,
    hat: B::Vector<T>,
}

/// How a run from one shadow residual ended.
enum Run {
    Ended(LinearStop),
    /// The recursive residual met the tolerance.
    Met,
}

/// A run from a restart must lower the true residual at least by this factor.
const STAGNATION: f64 = 0.5;

/// How far the true residual may stand above a target that the recursive one met.
const DRIFT: f64 = 1.01;

impl<B: Backend, T: Real> Bicgstab<B, T> {
    /// Room for systems of `n` unknowns.
    pub fn new(backend: &B, n: usize) -> Result<Self, DeviceError> {
        Ok(Self {
            r: backend.zeros(n)?,
            shadow: backend.zeros(n)?,
            p: backend.zeros(n)?,
            v: backend.zeros(n)?,
            t: backend.zeros(n)?,
            hat: backend.zeros(n)?,
        })
    }

    /// Improves x until ‖b − A x‖ meets the target.
    ///
    /// An iteration takes 2 products and 2 preconditioner applications, 5 inner products and 6
    /// vector sums: 31 vector reads and writes beside the operators. The residual is recomputed
    /// from x before convergence is declared; where the recursion has drifted, the method
    /// restarts from x, until rounding lets it fall no further. A breakdown is reported, never
    /// stepped over.
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
        let mut iterations = 0.0;
        let mut before = f64::INFINITY;
        loop {
            let residual = system.residual(x, &mut self.r)?;
            let report = |stop| KrylovReport { stop, iterations, residual };
            if !residual.is_finite() {
                return Ok(report(LinearStop::NotFinite));
            }
            if residual <= DRIFT * target.norm {
                return Ok(report(LinearStop::Converged));
            }
            if iterations >= target.max_iterations as f64 {
                return Ok(report(LinearStop::IterationLimit));
            }
            // The recursion claimed the target and x did not follow.
            if residual > STAGNATION * before {
                return Ok(report(LinearStop::Stagnation));
            }
            before = residual;
            if let Run::Ended(stop) = self.run(system, target, x, &mut iterations, residual)? {
                let residual = system.residual(x, &mut self.r)?;
                return Ok(KrylovReport { stop, iterations, residual });
            }
        }
    }

    /// Iterates with r̃ = r = b − A x until the recursive residual meets the target.
    fn run<A, M>(
        &mut self,
        system: &mut System<'_, B, T, A, M>,
        target: Target,
        x: &mut B::Vector<T>,
        iterations: &mut f64,
        start: f64,
    ) -> Result<Run, DeviceError>
    where
        A: LinearOperator<B, T>,
        M: Preconditioner<B, T, A>,
    {
        let backend = system.backend;
        let Self { r, shadow, p, v, t, hat } = self;
        backend.lincomb(shadow, 0.0, [(1.0, r)])?;
        let shadow_norm = start;
        let (mut rho, mut omega, mut beta) = (start * start, 0.0, 0.0);

        while *iterations < target.max_iterations as f64 {
            // p ← r + β (p − ω v); p and v of an earlier run may hold anything
            if beta == 0.0 {
                backend.lincomb(p, 0.0, [(1.0, r)])?;
            } else {
                backend.lincomb(p, beta, [(1.0, r), (-beta * omega, v)])?;
            }
            // v ← A M⁻¹ p
            system.precondition(p, hat)?;
            system.operator.apply(backend, hat, v)?;
            // α ← ρ / (r̃, v)
            let [shadow_v, v_v] = backend.dots([(shadow, v), (v, v)])?;
            if vanishes::<T>(shadow_v, shadow_norm * v_v.sqrt()) {
                return Ok(Run::Ended(broken("(r̃, v)", shadow_v)));
            }
            let alpha = rho / shadow_v;
            // s ← r − α v, kept in r; x ← x + α M⁻¹ p
            backend.lincomb(r, 1.0, [(-alpha, v)])?;
            backend.lincomb(x, 1.0, [(alpha, hat)])?;
            let [s_s] = backend.dots([(r, r)])?;
            if s_s.sqrt() <= target.norm {
                *iterations += 0.5;
                (system.observe)(*iterations, s_s.sqrt());
                return Ok(Run::Met);
            }
            // t ← A M⁻¹ s
            system.precondition(r, hat)?;
            system.operator.apply(backend, hat, t)?;
            // ω ← (t, s) / (t, t)
            let [t_s, t_t] = backend.dots([(t, r), (t, t)])?;
            if vanishes::<T>(t_s, (t_t * s_s).sqrt()) {
                *iterations += 0.5;
                return Ok(Run::Ended(broken("ω", t_s / t_t)));
            }
            omega = t_s / t_t;
            // x ← x + ω M⁻¹ s, r ← s − ω t
            backend.lincomb(x, 1.0, [(omega, hat)])?;
            backend.lincomb(r, 1.0, [(-omega, t)])?;
            let [r_r, next_rho] = backend.dots([(r, r), (shadow, r)])?;
            let norm = r_r.sqrt();
            *iterations += 1.0;
            (system.observe)(*iterations, norm);
            if norm <= target.norm {
                return Ok(Run::Met);
            }
            if vanishes::<T>(next_rho, shadow_norm * norm) {
                return Ok(Run::Ended(broken("ρ", next_rho)));
            }
            // β ← (ρ′/ρ) (α/ω)
            beta = next_rho / rho * (alpha / omega);
            rho = next_rho;
        }
        Ok(Run::Ended(LinearStop::IterationLimit))
    }
}

/// Whether an inner product is lost in the rounding of its operands, or not a number.
fn vanishes<T: Real>(product: f64, norms: f64) -> bool {
    product.is_nan() || product.abs() <= T::epsilon().widen() * norms
}

fn broken(scalar: &'static str, value: f64) -> LinearStop {
    if value.is_finite() { LinearStop::Breakdown { scalar } } else { LinearStop::NotFinite }
}
