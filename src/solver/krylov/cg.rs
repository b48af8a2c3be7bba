//! Conjugate gradients.

use super::{KrylovReport, Mode, Recursive, Run, System, Target, solve};
use crate::backend::scalars::{self, Coefficient, Criterion, Epilogue, FIRST, HALTED, Slot, ZERO};
use crate::backend::{Advance, Backend, Real, Result};
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

/// Slots of the scalars: ρ = (r, z), (v, z), (p, v), (r, r) and the squared norm of the target.
const RHO: Slot = FIRST;
const V_Z: Slot = FIRST + 1;
const P_V: Slot = FIRST + 2;
const R_R: Slot = FIRST + 3;
const TARGET_SQUARE: Slot = FIRST + 4;

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
    /// The vectors for systems of `n` unknowns.
    pub fn new(backend: &B, n: usize) -> Result<Self> {
        Ok(Self {
            r: backend.zeros(n)?,
            z: backend.zeros(n)?,
            p: backend.zeros(n)?,
            v: backend.zeros(n)?,
            scalars: scalars::allocate(backend)?,
        })
    }

    /// Improves x until ‖b − A x‖ meets the target.
    ///
    /// An iteration takes one product, one preconditioner application and 14 vector reads and writes beside them.
    /// The residual is recomputed from x before convergence is declared. An A or M that turns out not to be positive
    /// definite ends the solve with [`LinearStop::Indefinite`].
    pub fn solve<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        target: Target,
        x: &mut B::Vector<T>,
    ) -> Result<KrylovReport> {
        solve(self, system, target, x)
    }
}

impl<B: Backend, T: Real> Recursive<B, T> for Cg<B, T> {
    fn residual(&mut self) -> (&mut B::Vector<T>, &mut B::Vector<f64>) {
        (&mut self.r, &mut self.scalars)
    }

    fn begin(&mut self, backend: &B, target: Target, start: f64, _: bool) -> Result<()> {
        // p = v = 0 and (p, v) = 1 make β = 0 and the first direction z.
        backend.lincomb(None, &mut self.p, 0.0, &[])?;
        backend.lincomb(None, &mut self.v, 0.0, &[])?;
        let square = target.norm * target.norm;
        let values = [(P_V, 1.0), (R_R, start * start), (TARGET_SQUARE, square)];
        scalars::set(backend, &mut self.scalars, &values)
    }

    fn iterate<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        x: &mut B::Vector<T>,
        _: Mode,
    ) -> Result<()> {
        let backend = system.backend;
        let Self { r, z, p, v, scalars } = self;
        // z ← M⁻¹ r
        system.preconditioner.apply(backend, system.operator, r, z)?;
        let criteria = positive::<T>(RHO, RHO_NOT_POSITIVE);
        let epilogue = Epilogue { criteria: &criteria, ..Epilogue::default() };
        backend.dots(scalars, RHO, [(r, z), (v, z)], epilogue)?;
        // p ← z + β p
        backend.lincomb(Some(scalars), p, BETA, &[(Coefficient::number(1.0), z)])?;
        // v ← A p
        system.operator.apply(backend, p, v)?;
        let criteria = positive::<T>(P_V, P_V_NOT_POSITIVE);
        let epilogue = Epilogue { criteria: &criteria, ..Epilogue::default() };
        backend.dots(scalars, P_V, [(p, v)], epilogue)?;
        // x ← x + α p, r ← r − α v
        let criteria = [Criterion::reached(R_R, TARGET_SQUARE, MET)];
        let epilogue = Epilogue { log: Some(R_R), criteria: &criteria, ..Epilogue::default() };
        let step = Advance { x, along: Some((ALPHA, p)), r, change: (MINUS_ALPHA, v) };
        backend.advance(scalars, step, R_R, epilogue)
    }

    fn ended(slots: &[f64], _: &mut f64, _: &mut dyn FnMut(f64, f64)) -> Option<Run> {
        let slot = |at: Slot| slots[usize::from(at)];
        let (what, value) = match slot(HALTED) as u8 {
            0 => return None,
            MET => return Some(Run::Met),
            P_V_NOT_POSITIVE => ("matrix", slot(P_V)),
            _ => ("preconditioner", slot(RHO)),
        };
        let indefinite = LinearStop::Indefinite { what };
        Some(Run::Ended(if value.is_finite() { indefinite } else { LinearStop::NotFinite }))
    }
}

/// An inner product is to be positive, and a number.
fn positive<T: Real>(value: Slot, flag: u8) -> [Criterion; 2] {
    [Criterion::reached(value, ZERO, flag), Criterion::lost::<T>(value, [ZERO; 2], flag)]
}
