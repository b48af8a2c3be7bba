//! BiCGStab, right preconditioned (van der Vorst 1992, doi:10.1137/0913035).
//!
//! With the slots of the scalars in capitals, and from r = b − A x, r̃ = p = r, RHO = R_R = (r, r):
//!
//! ```text
//! repeat
//!     p̂ ← M⁻¹ p,  v ← A p̂                  SHADOW_V ← (r̃, v),  V_V ← (v, v)
//!     stop if (r̃, v) is lost in rounding   LOST_SHADOW_V
//!     α ← ρ / (r̃, v)                       ALPHA
//!     s ← r − α v                          kept in r
//!     ŝ ← M⁻¹ s,  t ← A ŝ                  SHADOW_T, T_T, T_S, S_S, SHADOW_S ← (r̃, t), (t, t), (t, s), (s, s), (r̃, s)
//!     stop if ‖s‖ meets the target         MET_HALFWAY
//!     stop if (t, s) is lost in rounding   LOST_OMEGA
//!     ω ← (t, s) / (t, t)
//!     ρ′ ← (r̃, s) − ω (r̃, t)               RHO, which is (r̃, r)
//!     (r, r) ← (s, s) − ω (t, s)           R_R
//!     stop if ‖r‖ meets the target         MET
//!     stop if ρ′ is lost in rounding       LOST_RHO
//!     x ← x + α p̂ + ω ŝ,  r ← s − ω t      one pass with the sum for p
//!     β ← (ρ′/ρ) (α/ω),  p ← r + β (p − ω v)
//! ```
//!
//! An iteration begins with the pass of the last two lines, which completes the one before: a preconditioner may
//! join it to its own application. A run that ends adds what x lacks, α p̂ and ω ŝ, by itself.

use super::{KrylovReport, Mode, Recursive, Run, System, Target, solve};
use crate::backend::scalars::{
    self, Coefficient, Criterion, Epilogue, FIRST, HALTED, LOG, ONE, Recurrence, SLOTS, Slot, ZERO,
};
use crate::backend::{Advance, Backend, Fused, Real, Result, Step, Update};
use crate::solver::{LinearOperator, LinearStop};

/// Vectors of the method, kept from one solve to the next.
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

/// Slots of the scalars: ρ = (r̃, r), α, (r, r), the squared norm of r̃ and that of the target; then the inner
/// products of the two halves, each in a row.
const RHO: Slot = FIRST;
const ALPHA: Slot = FIRST + 1;
const R_R: Slot = FIRST + 2;
const SHADOW_SQUARE: Slot = FIRST + 3;
const TARGET_SQUARE: Slot = FIRST + 4;
const SHADOW_V: Slot = FIRST + 5;
const V_V: Slot = FIRST + 6;
const SHADOW_T: Slot = FIRST + 7;
const T_T: Slot = FIRST + 8;
const T_S: Slot = FIRST + 9;
const S_S: Slot = FIRST + 10;
const SHADOW_S: Slot = FIRST + 11;

/// Flags of what ends a run.
const MET_HALFWAY: u8 = 1;
const MET: u8 = 2;
const LOST_SHADOW_V: u8 = 3;
const LOST_OMEGA: u8 = 4;
const LOST_RHO: u8 = 5;

const ALONG_P: Coefficient = Coefficient::ratio(1.0, ALPHA, ONE);
const MINUS_ALPHA: Coefficient = Coefficient::ratio(-1.0, ALPHA, ONE);
/// ω = (t, s) / (t, t).
const OMEGA: Coefficient = Coefficient::ratio(1.0, T_S, T_T);
const MINUS_OMEGA: Coefficient = Coefficient::ratio(-1.0, T_S, T_T);
/// β = (ρ′/ρ) (α/ω) = ρ′ (t, t) / ((r̃, v) (t, s)).
const BETA: Coefficient = Coefficient { factor: 1.0, over: [RHO, T_T], under: [SHADOW_V, T_S] };
/// −β ω = −ρ′ / (r̃, v).
const MINUS_BETA_OMEGA: Coefficient = Coefficient::ratio(-1.0, RHO, SHADOW_V);

/// α = ρ / (r̃, v).
const FIRST_HALF: [Recurrence; 1] =
    [Recurrence { slot: ALPHA, base: ZERO, plus: Coefficient::ratio(1.0, RHO, SHADOW_V) }];
/// From r = s − ω t follow (r̃, r) = (r̃, s) − ω (r̃, t) and, since ω makes r shortest, (r, r) = (s, s) − ω (t, s).
const SECOND_HALF: [Recurrence; 2] =
    [less_omega(RHO, SHADOW_S, SHADOW_T), less_omega(R_R, S_S, T_S)];

/// slot ← base − ω product.
const fn less_omega(slot: Slot, base: Slot, product: Slot) -> Recurrence {
    let plus = Coefficient { factor: -1.0, over: [T_S, product], under: [T_T, ONE] };
    Recurrence { slot, base, plus }
}

impl<B: Backend, T: Real> Bicgstab<B, T> {
    /// The vectors for systems of `n` unknowns.
    pub fn new(backend: &B, n: usize) -> Result<Self> {
        Ok(Self {
            r: backend.unset(n)?,
            shadow: backend.unset(n)?,
            p: backend.unset(n)?,
            v: backend.unset(n)?,
            t: backend.unset(n)?,
            p_hat: backend.unset(n)?,
            s_hat: backend.unset(n)?,
            scalars: scalars::allocate(backend)?,
        })
    }

    /// Improves x until ‖b − A x‖ meets the target.
    ///
    /// An iteration takes 2 products, 2 preconditioner applications, 2 reductions (as in the variants with fewer
    /// ones that Cools and Vanroose 2017 compare, doi:10.1016/j.parco.2017.04.005) and 18 vector reads and writes
    /// beside them; 3 fewer where the preconditioner takes the inner products as it multiplies. The residual is
    /// recomputed from x before convergence is declared; where the recursion has drifted, the method restarts from x,
    /// until rounding lets it fall no further. A breakdown is reported, never stepped over.
    pub fn solve<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        target: Target,
        x: &mut B::Vector<T>,
    ) -> Result<KrylovReport> {
        solve(self, system, target, x)
    }
}

impl<B: Backend, T: Real> Recursive<B, T> for Bicgstab<B, T> {
    fn residual(&mut self) -> (&mut B::Vector<T>, &mut B::Vector<f64>) {
        (&mut self.r, &mut self.scalars)
    }

    fn is_idle_when_halted<A: LinearOperator<B, T>>(system: &System<'_, B, T, A>) -> bool {
        system.preconditioner.is_idle_when_halted(system.backend, system.operator)
    }

    /// Begins with r̃ = r.
    fn begin(&mut self, backend: &B, target: Target, start: f64, ahead: bool) -> Result<()> {
        backend.lincomb(None, &mut self.shadow, 0.0, &[(1.0, &self.r)])?;
        // The first direction is r. There is no step before it, but a recording has one in each iteration: with
        // zeros it makes that direction and leaves x.
        if ahead {
            for v in [&mut self.p, &mut self.v, &mut self.t, &mut self.p_hat, &mut self.s_hat] {
                backend.lincomb(None, v, 0.0, &[])?;
            }
        } else {
            backend.lincomb(None, &mut self.p, 0.0, &[(1.0, &self.r)])?;
        }
        let values = [
            (RHO, start * start),
            (SHADOW_V, 1.0),
            (T_S, 1.0),
            (T_T, 1.0),
            (SHADOW_SQUARE, start * start),
            (TARGET_SQUARE, target.norm * target.norm),
        ];
        scalars::set(backend, &mut self.scalars, &values)
    }

    fn iterate<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        x: &mut B::Vector<T>,
        mode: Mode,
    ) -> Result<()> {
        self.first_half(system, x, mode)?;
        if mode != Mode::Enqueued {
            let mut slots = [0.0; SLOTS + LOG];
            scalars::read(system.backend, &self.scalars, &mut slots)?;
            if flag(&slots) != 0 {
                return Ok(());
            }
        }
        self.second_half(system, mode)
    }

    /// x lacks the step of the last iteration, along M⁻¹ p and, unless that ended halfway, along M⁻¹ s.
    fn complete(&mut self, backend: &B, slots: &[f64], x: &mut B::Vector<T>) -> Result<()> {
        if flag(slots) == LOST_SHADOW_V {
            return Ok(());
        }
        let terms = [(ALONG_P.value(slots), &self.p_hat), (OMEGA.value(slots), &self.s_hat)];
        let count = if halfway(slots) { 1 } else { 2 };
        backend.lincomb(None, x, 1.0, &terms[..count])
    }

    fn ended(
        slots: &[f64],
        iterations: &mut f64,
        observe: &mut dyn FnMut(f64, f64),
    ) -> Option<Run> {
        let slot = |at: Slot| slots[usize::from(at)];
        if halfway(slots) {
            *iterations += 0.5;
        }
        Some(match flag(slots) {
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

/// The two halves of an iteration.
impl<B: Backend, T: Real> Bicgstab<B, T> {
    /// The steps of x and r that end the iteration before, p and the product with it. Where the host looks before
    /// the second half, s is made here and its norm compared with the target at once, and else with the inner
    /// products of t, one reduction less; then s is made there, too.
    fn first_half<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        x: &mut B::Vector<T>,
        mode: Mode,
    ) -> Result<()> {
        let backend = system.backend;
        let Self { r, shadow, p, v, t, p_hat, s_hat, scalars } = self;
        // x ← x + α M⁻¹ p + ω M⁻¹ s, r ← s − ω t, p ← r + β (p − ω v); v ← A M⁻¹ p, (r̃, v), (v, v)
        let step = Step {
            x: &mut *x,
            a: ALONG_P,
            along: (OMEGA, s_hat),
            r: &mut *r,
            change: (MINUS_OMEGA, t),
            beta: BETA,
            gamma: MINUS_BETA_OMEGA,
        };
        let lost = [Criterion::lost::<T>(SHADOW_V, [SHADOW_SQUARE, V_V], LOST_SHADOW_V)];
        let fused = Fused {
            scalars,
            update: (mode != Mode::First).then_some(Update::Step(step)),
            first: SHADOW_V,
            with: shadow,
            all: false,
            epilogue: Epilogue { before: &lost, recurrences: &FIRST_HALF, ..Epilogue::default() },
        };
        let System { operator, preconditioner, .. } = system;
        preconditioner.apply_and_multiply(backend, *operator, p, p_hat, v, Some(fused))?;
        if mode == Mode::Enqueued {
            return Ok(());
        }
        // s ← r − α v, kept in r
        let step = Advance { x, along: None, r, change: (MINUS_ALPHA, v) };
        let epilogue = Epilogue { criteria: &[met(S_S, MET_HALFWAY)], ..Epilogue::default() };
        backend.advance(scalars, step, S_S, epilogue)
    }

    /// s and the product with it, and the scalars of the next iteration.
    fn second_half<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        mode: Mode,
    ) -> Result<()> {
        let Self { r, shadow, v, t, s_hat, scalars, .. } = self;
        // s ← r − α v, kept in r; t ← A M⁻¹ s, its inner products and those of s
        let before = [met(S_S, MET_HALFWAY), Criterion::lost::<T>(T_S, [T_T, S_S], LOST_OMEGA)];
        let criteria = [met(R_R, MET), Criterion::lost::<T>(RHO, [SHADOW_SQUARE, R_R], LOST_RHO)];
        let epilogue = Epilogue {
            before: &before,
            recurrences: &SECOND_HALF,
            log: Some(R_R),
            criteria: &criteria,
        };
        let fused = Fused {
            scalars,
            update: (mode == Mode::Enqueued).then_some(Update::Add(MINUS_ALPHA, v)),
            first: SHADOW_T,
            with: shadow,
            all: true,
            epilogue,
        };
        let System { backend, operator, preconditioner, .. } = system;
        preconditioner.apply_and_multiply(*backend, *operator, r, s_hat, t, Some(fused))
    }
}

/// The run has ended between the two halves of an iteration.
fn halfway(slots: &[f64]) -> bool {
    matches!(flag(slots), MET_HALFWAY | LOST_OMEGA)
}

/// The flag that ended the run; 0 while it goes on.
fn flag(slots: &[f64]) -> u8 {
    slots[usize::from(HALTED)] as u8
}

fn met(value: Slot, flag: u8) -> Criterion {
    Criterion::reached(value, TARGET_SQUARE, flag)
}

fn broken(scalar: &'static str, value: f64) -> LinearStop {
    if value.is_finite() { LinearStop::Breakdown { scalar } } else { LinearStop::NotFinite }
}
