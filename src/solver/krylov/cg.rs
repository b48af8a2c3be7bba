//! Conjugate gradients.

use super::recursion::{Lookout, Recursive, Run, SINGLE, UNIT, lost, reached, solve, take_log};
use super::{KrylovReport, System, Target};
use crate::backend::scalars::{
    self, Coefficient, Condition, Ending, FIRST, HALTED, LOG, SLOTS, Slot,
};
use crate::backend::{Advance, Backend, DeviceError, Real};
use crate::solver::{LinearOperator, LinearStop};

/// Vectors of preconditioned conjugate gradients (Hestenes and Stiefel 1952,
/// doi:10.6028/jres.049.044) for symmetric positive definite A and M, kept from one solve to the
/// next.
///
/// β is taken from the conjugacy of the directions, β = −(z, A p) / (p, A p), and not from
/// ρ′/ρ, its equal in exact arithmetic: a preconditioner may then vary a little from one iteration to
/// the next (Golub and Ye 1999, doi:10.1137/S1064827597323415).
pub struct Cg<B: Backend, T: Real> {
    r: B::Vector<T>,
    z: B::Vector<T>,
    p: B::Vector<T>,
    v: B::Vector<T>,
    scalars: B::Vector<f64>,
}

/// Slots of the scalars: ρ = (r, z), (v, z), (p, v), (r, r), the squared norm of the target, and 0.
const RHO: Slot = FIRST;
const V_Z: Slot = FIRST + 1;
const P_V: Slot = FIRST + 2;
const R_R: Slot = FIRST + 3;
const TARGET_SQUARE: Slot = FIRST + 4;
const ZERO: Slot = FIRST + 5;

/// Flags of what ends a run.
const MET: u8 = 1;
const RHO_NOT_POSITIVE: u8 = 2;
const P_V_NOT_POSITIVE: u8 = 3;

/// α = ρ / (p, v).
const ALPHA: Coefficient = Coefficient::ratio(1.0, RHO, P_V);
const MINUS_ALPHA: Coefficient = Coefficient::ratio(-1.0, RHO, P_V);
/// β = −(z, v) / (p, v).
const BETA: Coefficient = Coefficient::ratio(-1.0, V_Z, P_V);

impl<B: Backend, T: Real> Cg<B, T> {
    /// Room for systems of `n` unknowns.
    pub fn new(backend: &B, n: usize) -> Result<Self, DeviceError> {
        Ok(Self {
            r: backend.zeros(n)?,
            z: backend.zeros(n)?,
            p: backend.zeros(n)?,
            v: backend.zeros(n)?,
            scalars: scalars::room(backend)?,
        })
    }

    /// Improves x until ‖b − A x‖ meets the target.
    ///
    /// An iteration takes one product, one preconditioner application and 14 vector reads and writes
    /// beside them: 3 in the pair of inner products with z, 3 in the sum for p, 2 in (p, A p), 6 in
    /// the step. The residual is recomputed from x before convergence is declared. An A or M that
    /// turns out not to be positive definite ends the solve with [`LinearStop::Indefinite`].
    pub fn solve<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        target: Target,
        x: &mut B::Vector<T>,
    ) -> Result<KrylovReport, DeviceError> {
        solve(self, system, target, x)
    }

    /// One iteration.
    fn step<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        x: &mut B::Vector<T>,
    ) -> Result<(), DeviceError> {
        let backend = system.backend;
        let Self { r, z, p, v, scalars } = self;
        // z ← M⁻¹ r
        system.preconditioner.apply(backend, system.operator, r, z)?;
        let conditions = positive::<T>(RHO, RHO_NOT_POSITIVE);
        let ending = Ending { log: false, conditions: &conditions };
        backend.dots(scalars, RHO, [(r, z), (v, z)], ending)?;
        // p ← z + β p
        backend.lincomb(Some(scalars), p, BETA, &[(UNIT, z)])?;
        // v ← A p
        system.operator.apply(backend, p, v)?;
        let conditions = positive::<T>(P_V, P_V_NOT_POSITIVE);
        let ending = Ending { log: false, conditions: &conditions };
        backend.dots(scalars, P_V, [(p, v)], ending)?;
        // x ← x + α p, r ← r − α v
        let conditions = [reached(R_R, TARGET_SQUARE, MET)];
        let ending = Ending { log: true, conditions: &conditions };
        let step = Advance { x, along: (ALPHA, p), r, change: (MINUS_ALPHA, v), with: None };
        backend.advance(scalars, step, R_R, ending)
    }
}

impl<B: Backend, T: Real> Recursive<B, T> for Cg<B, T> {
    fn residual(&mut self) -> (&mut B::Vector<T>, &mut B::Vector<f64>) {
        (&mut self.r, &mut self.scalars)
    }

    fn run<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        target: Target,
        x: &mut B::Vector<T>,
        iterations: &mut f64,
        start: f64,
    ) -> Result<Run, DeviceError> {
        let backend = system.backend;
        // p = v = 0 and (p, v) = 1 make β = 0 and the first direction z.
        backend.lincomb(None, &mut self.p, 0.0, &[])?;
        backend.lincomb(None, &mut self.v, 0.0, &[])?;
        let square = target.norm * target.norm;
        let values = [(P_V, 1.0), (R_R, start * start), (TARGET_SQUARE, square)];
        scalars::set(backend, &mut self.scalars, &values)?;
        let mut slots = [0.0; SLOTS + LOG];
        let (mut recording, mut lookout) = (B::Recording::default(), Lookout::new());
        let mut done = 0;
        while *iterations < target.max_iterations as f64 {
            let left = target.max_iterations - *iterations as usize;
            if done < SINGLE {
                self.step(system, x)?;
                scalars::read(backend, &self.scalars, &mut slots)?;
            } else {
                while lookout.is_short(done, left) {
                    backend.replay(&mut recording, || self.step(system, x))?;
                    lookout.ask(backend, &self.scalars)?;
                }
                lookout.see(backend, &mut slots)?;
            }
            take_log(system, &slots, &mut done, iterations);
            let slot = |at: Slot| slots[usize::from(at)];
            let (what, value) = match slot(HALTED) as u8 {
                0 => continue,
                MET => return Ok(Run::Met),
                P_V_NOT_POSITIVE => ("matrix", slot(P_V)),
                _ => ("preconditioner", slot(RHO)),
            };
            let indefinite = LinearStop::Indefinite { what };
            let stop = if value.is_finite() { indefinite } else { LinearStop::NotFinite };
            return Ok(Run::Ended(stop));
        }
        Ok(Run::Ended(LinearStop::IterationLimit))
    }
}

/// An inner product is to be positive, and a number.
fn positive<T: Real>(value: Slot, flag: u8) -> [Condition; 2] {
    [reached(value, ZERO, flag), lost::<T>(value, [ZERO; 2], flag)]
}
