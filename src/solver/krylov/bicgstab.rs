//! BiCGStab.

use super::recursion::{Pace, Recursive, Run, UNIT, lost, reached, solve};
use super::{KrylovReport, System, Target};
use crate::backend::scalars::{
    self, Coefficient, Condition, Ending, FIRST, HALTED, LOG, SLOTS, Slot,
};
use crate::backend::{Advance, Around, Backend, Real, Result, Update};
use crate::solver::{LinearOperator, LinearStop};

/// Vectors of the right-preconditioned BiCGStab method (van der Vorst 1992,
/// doi:10.1137/0913035), kept from one solve to the next.
pub struct Bicgstab<B: Backend, T: Real> {
    r: B::Vector<T>,
    shadow: B::Vector<T>,
    p: B::Vector<T>,
    v: B::Vector<T>,
    t: B::Vector<T>,
    p_hat: B::Vector<T>,
    s_hat: B::Vector<T>,
    scalars: B::Vector<f64>,
}

/// Slots of the scalars: ρ = (r̃, r), (r̃, v), (v, v), (t, s), (t, t), (s, s), (r, r), the squared
/// norm of r̃ and that of the target.
const RHO: Slot = FIRST + 6;
const SHADOW_V: Slot = FIRST;
const V_V: Slot = FIRST + 1;
const T_S: Slot = FIRST + 2;
const T_T: Slot = FIRST + 3;
const S_S: Slot = FIRST + 4;
const R_R: Slot = FIRST + 5;
const SHADOW_SQUARE: Slot = FIRST + 7;
const TARGET_SQUARE: Slot = FIRST + 8;

/// Flags of what ends a run.
const MET_HALFWAY: u8 = 1;
const MET: u8 = 2;
const LOST_SHADOW_V: u8 = 3;
const LOST_OMEGA: u8 = 4;
const LOST_RHO: u8 = 5;

/// α = ρ / (r̃, v), ω = (t, s) / (t, t), β = (ρ′/ρ) (α/ω) = ρ′ (t, t) / ((r̃, v) (t, s)).
const ALPHA: Coefficient = Coefficient::ratio(1.0, RHO, SHADOW_V);
const MINUS_ALPHA: Coefficient = Coefficient::ratio(-1.0, RHO, SHADOW_V);
const OMEGA: Coefficient = Coefficient::ratio(1.0, T_S, T_T);
const MINUS_OMEGA: Coefficient = Coefficient::ratio(-1.0, T_S, T_T);
const BETA: Coefficient = Coefficient { factor: 1.0, over: [RHO, T_T], under: [SHADOW_V, T_S] };
/// −β ω, with the ρ′ and (r̃, v) at hand before the next product: the same quotient as −α there.
const MINUS_BETA_OMEGA: Coefficient = MINUS_ALPHA;

impl<B: Backend, T: Real> Bicgstab<B, T> {
    /// The vectors for systems of `n` unknowns.
    pub fn new(backend: &B, n: usize) -> Result<Self> {
        Ok(Self {
            r: backend.zeros(n)?,
            shadow: backend.zeros(n)?,
            p: backend.zeros(n)?,
            v: backend.zeros(n)?,
            t: backend.zeros(n)?,
            p_hat: backend.zeros(n)?,
            s_hat: backend.zeros(n)?,
            scalars: scalars::allocate(backend)?,
        })
    }

    /// Improves x until ‖b − A x‖ meets the target.
    ///
    /// An iteration takes 2 products, 2 preconditioner applications and 19 vector reads and writes
    /// beside them: 4 in the sum for p, 2 in each pair of inner products after a product, 3 and 8
    /// in the two steps; 3 fewer where the preconditioner takes the inner products as it multiplies. The
    /// residual is recomputed from x before convergence is declared; where the recursion has drifted, the
    /// method restarts from x, until rounding lets it fall no further. A breakdown is reported, never stepped
    /// over.
    pub fn solve<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        target: Target,
        x: &mut B::Vector<T>,
    ) -> Result<KrylovReport> {
        solve(self, system, target, x)
    }

    /// The step of r along A M⁻¹ p; x follows in the second half. Where the host looks before that, the norm of
    /// s is compared with the target at once, and else with the inner products of t, one reduction less; then s
    /// is made there, too.
    fn first_half<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        x: &mut B::Vector<T>,
        pace: Pace,
    ) -> Result<()> {
        let backend = system.backend;
        let Self { r, shadow, p, v, p_hat, scalars, .. } = self;
        // p ← r + β (p − ω v), v ← A M⁻¹ p, (r̃, v), (v, v)
        let conditions = [lost::<T>(SHADOW_V, [SHADOW_SQUARE, V_V], LOST_SHADOW_V)];
        let former = Some(MINUS_BETA_OMEGA);
        let around = Around {
            scalars,
            update: Some(Update { beta: BETA, term: (UNIT, r), former }),
            first: SHADOW_V,
            with: Some(shadow),
            square: false,
            ending: Ending { log: false, conditions: &conditions },
        };
        system.precondition(p, p_hat, v, Some(around))?;
        if pace == Pace::Ahead {
            return Ok(());
        }
        // s ← r − α v, kept in r
        let step = Advance { x, along: &[], r, change: (MINUS_ALPHA, v), with: None };
        let ending = Ending { log: false, conditions: &[met(S_S, MET_HALFWAY)] };
        backend.advance(scalars, step, S_S, ending)
    }

    /// The step of r along A M⁻¹ s, and that of x.
    fn second_half<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        x: &mut B::Vector<T>,
        pace: Pace,
    ) -> Result<()> {
        let backend = system.backend;
        let Self { r, shadow, v, t, p_hat, s_hat, scalars, .. } = self;
        // s ← r − α v, kept in r; t ← A M⁻¹ s, (t, s), (t, t), (s, s)
        let ahead = pace == Pace::Ahead;
        let conditions = [met(S_S, MET_HALFWAY), lost::<T>(T_S, [T_T, S_S], LOST_OMEGA)];
        let term = (MINUS_ALPHA, &*v);
        let around = Around {
            scalars,
            update: ahead.then_some(Update { beta: UNIT, term, former: None }),
            first: T_S,
            with: None,
            square: ahead,
            ending: Ending { log: false, conditions: &conditions[usize::from(!ahead)..] },
        };
        system.precondition(r, s_hat, t, Some(around))?;
        // x ← x + α M⁻¹ p + ω M⁻¹ s, r ← s − ω t
        let conditions = [met(R_R, MET), lost::<T>(RHO, [SHADOW_SQUARE, R_R], LOST_RHO)];
        let ending = Ending { log: true, conditions: &conditions };
        let along = [(ALPHA, &*p_hat), (OMEGA, &*s_hat)];
        let step = Advance { x, along: &along, r, change: (MINUS_OMEGA, t), with: Some(shadow) };
        backend.advance(scalars, step, R_R, ending)
    }
}

impl<B: Backend, T: Real> Recursive<B, T> for Bicgstab<B, T> {
    fn residual(&mut self) -> (&mut B::Vector<T>, &mut B::Vector<f64>) {
        (&mut self.r, &mut self.scalars)
    }

    fn is_idle_when_halted<A: LinearOperator<B, T>>(system: &System<'_, B, T, A>) -> bool {
        system.preconditioner.is_idle_when_halted(system.backend, system.operator)
    }

    /// With r̃ = r.
    fn begin(&mut self, backend: &B, target: Target, start: f64) -> Result<()> {
        backend.lincomb(None, &mut self.shadow, 0.0, &[(1.0, &self.r)])?;
        // p = v = 0 and β = 0 make the first direction r.
        backend.lincomb(None, &mut self.p, 0.0, &[])?;
        backend.lincomb(None, &mut self.v, 0.0, &[])?;
        let values = [
            (RHO, start * start),
            (SHADOW_V, 1.0),
            (T_S, 1.0),
            (SHADOW_SQUARE, start * start),
            (TARGET_SQUARE, target.norm * target.norm),
        ];
        scalars::set(backend, &mut self.scalars, &values)
    }

    fn iterate<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        x: &mut B::Vector<T>,
        pace: Pace,
    ) -> Result<()> {
        self.first_half(system, x, pace)?;
        if pace == Pace::Watched {
            let mut slots = [0.0; SLOTS + LOG];
            scalars::read(system.backend, &self.scalars, &mut slots)?;
            if slots[usize::from(HALTED)] != 0.0 {
                return Ok(());
            }
        }
        self.second_half(system, x, pace)
    }

    /// After half an iteration x makes up for the step along M⁻¹ p.
    fn complete(&mut self, backend: &B, slots: &[f64], x: &mut B::Vector<T>) -> Result<()> {
        if halfway(slots) {
            backend.lincomb(None, x, 1.0, &[(ALPHA.value(slots), &self.p_hat)])?;
        }
        Ok(())
    }

    fn ended(
        slots: &[f64],
        iterations: &mut f64,
        observe: &mut dyn FnMut(f64, f64),
    ) -> Option<Run> {
        let slot = |at: Slot| slots[usize::from(at)];
        let flag = slot(HALTED) as u8;
        if halfway(slots) {
            *iterations += 0.5;
        }
        Some(match flag {
            0 => return None,
            MET_HALFWAY => {
                observe(*iterations, slot(S_S).sqrt());
                Run::Met
            }
            MET => Run::Met,
            LOST_SHADOW_V => Run::Ended(broken("(r̃, v)", slot(SHADOW_V))),
            LOST_OMEGA => Run::Ended(broken("ω", slot(T_S) / slot(T_T))),
            _ => Run::Ended(broken("ρ", slot(RHO))),
        })
    }
}

/// Whether the run has ended between the two halves of an iteration.
fn halfway(slots: &[f64]) -> bool {
    matches!(slots[usize::from(HALTED)] as u8, MET_HALFWAY | LOST_OMEGA)
}

fn met(value: Slot, flag: u8) -> Condition {
    reached(value, TARGET_SQUARE, flag)
}

fn broken(scalar: &'static str, value: f64) -> LinearStop {
    if value.is_finite() { LinearStop::Breakdown { scalar } } else { LinearStop::NotFinite }
}
