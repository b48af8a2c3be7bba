//! Krylov methods, preconditioned from the right or symmetrically, written on [`Backend::dots`] and
//! [`Backend::lincomb`], and the loop of those with a recursive residual.

mod bicgstab;
mod cg;
mod gmres;

pub use {bicgstab::Bicgstab, cg::Cg, gmres::Gmres};

use super::{LinearOperator, LinearStop, Preconditioner};
use crate::backend::scalars::{self, LOG, LOGGED, SLOTS};
use crate::backend::{Backend, Real, Result};
use std::collections::VecDeque;

/// Choice of Krylov method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Conjugate gradients, for symmetric positive definite matrices: no Jacobian of the grid
    /// equations is one, and a case cannot ask for it.
    Cg,
    /// BiCGStab, right preconditioned.
    Bicgstab,
    /// Restarted flexible GMRES, right preconditioned.
    Gmres,
}

/// When a linear solve ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Residual norm to reach: ‖b − A x‖ ≤ `norm`.
    pub norm: f64,
    /// Limit of iterations.
    pub max_iterations: usize,
}

impl Target {
    /// Returns the reason to end a solve whose true residual has this norm; none if it goes on. The norm may exceed the
    /// target by the factor `drift`; `stagnates` says that it would fall no further.
    fn ended(
        self,
        residual: f64,
        drift: f64,
        iterations: f64,
        stagnates: bool,
    ) -> Option<LinearStop> {
        let reasons = [
            (!residual.is_finite(), LinearStop::NotFinite),
            (residual <= drift * self.norm, LinearStop::Converged),
            (iterations >= self.max_iterations as f64, LinearStop::IterationLimit),
            (stagnates, LinearStop::Stagnation),
        ];
        reasons.into_iter().find_map(|(holds, stop)| holds.then_some(stop))
    }
}

/// Outcome of a linear solve.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct KrylovReport {
    /// Reason for the stop.
    pub stop: LinearStop,
    /// Iterations; BiCGStab counts a half when its first half-step suffices.
    pub iterations: f64,
    /// Norm of the true residual b − A x at the end.
    pub residual: f64,
}

/// A linear system A x = b, with all that a Krylov method needs.
pub struct System<'a, B: Backend, T: Real, A> {
    pub(super) backend: &'a B,
    pub(super) operator: &'a A,
    pub(super) preconditioner: &'a mut dyn Preconditioner<B, T, A>,
    pub(super) b: &'a B::Vector<T>,
    pub(super) observe: &'a mut dyn FnMut(f64, f64),
    /// ‖b‖ where the first x is zero, whose residual is b; none where it may be anything.
    pub(super) from_zero: Option<f64>,
}

impl<'a, B: Backend, T: Real, A: LinearOperator<B, T>> System<'a, B, T, A> {
    /// A system to be solved from any x, with a preconditioner that is prepared for its operator. `observe` gets
    /// the iteration and the residual norm after each of them.
    pub fn new(
        backend: &'a B,
        (operator, b): (&'a A, &'a B::Vector<T>),
        preconditioner: &'a mut dyn Preconditioner<B, T, A>,
        observe: &'a mut dyn FnMut(f64, f64),
    ) -> Self {
        Self { backend, operator, preconditioner, b, observe, from_zero: None }
    }

    /// r ← b − A x; returns ‖r‖, for which the host waits unless it is the residual of the first x and that is zero.
    fn residual(&mut self, x: &B::Vector<T>, r: &mut B::Vector<T>) -> Result<f64> {
        if let Some(norm) = self.from_zero.take() {
            self.backend.lincomb(None, r, 0.0, &[(1.0, self.b)])?;
            return Ok(norm);
        }
        self.operator.apply(self.backend, x, r)?;
        self.backend.lincomb(None, r, -1.0, &[(1.0, self.b)])?;
        let [square] = self.backend.dot_products([(&*r, &*r)])?;
        Ok(square.sqrt())
    }
}

/// A run from a restart must lower the true residual at least by this factor.
const STAGNATION: f64 = 0.5;

/// Factor by which the true residual may exceed a target that the recursive one met.
const DRIFT: f64 = 1.01;

/// Iterations of a run whose scalars are read one by one, before iterations are recorded and repeated; not
/// used where superfluous iterations cost almost nothing.
const SINGLE: usize = 4;

/// Most iterations that are enqueued beyond the last one read: the device need not wait until the host has
/// read one while it does the next two, which are superfluous at the end of a run.
const MOST: usize = 3;

/// Iterations of one recording where superfluous ones cost almost nothing. Two recordings may be under way: the
/// device waits some microseconds between them, for small systems a third of an iteration.
const SEVERAL: usize = 4;

/// Outcome of a run from one true residual.
enum Run {
    Ended(LinearStop),
    /// The recursive residual met the tolerance.
    Met,
}

/// The way in which the host follows an iteration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The first iteration of a run, otherwise as [`Self::Checked`].
    First,
    /// The host waits for the scalars in the middle of the iteration and at its end.
    Checked,
    /// The iteration is enqueued, and its scalars are read some time later.
    Enqueued,
}

/// A method whose residual is updated beside x.
trait Recursive<B: Backend, T: Real> {
    fn residual(&mut self) -> (&mut B::Vector<T>, &mut B::Vector<f64>);

    /// Prepares for iterations from the residual b − A x of norm `start`, all of which are enqueued ahead, the
    /// first too, or not.
    fn begin(&mut self, backend: &B, target: Target, start: f64, ahead: bool) -> Result<()>;

    fn iterate<A: LinearOperator<B, T>>(
        &mut self,
        system: &mut System<'_, B, T, A>,
        x: &mut B::Vector<T>,
        mode: Mode,
    ) -> Result<()>;

    /// Whether iterations after the end of a run cost almost nothing.
    fn is_idle_when_halted<A: LinearOperator<B, T>>(_: &System<'_, B, T, A>) -> bool {
        false
    }

    /// Adds the update that x still lacks when the run has ended.
    fn complete(&mut self, _: &B, _slots: &[f64], _x: &mut B::Vector<T>) -> Result<()> {
        Ok(())
    }

    /// Outcome of the run, if the slots say that it has; half an iteration may be added.
    fn ended(slots: &[f64], iterations: &mut f64, observe: &mut dyn FnMut(f64, f64))
    -> Option<Run>;
}

/// Runs `method` until the true residual meets the target, or falls no further.
fn solve<B: Backend, T: Real, A: LinearOperator<B, T>>(
    method: &mut impl Recursive<B, T>,
    system: &mut System<'_, B, T, A>,
    target: Target,
    x: &mut B::Vector<T>,
) -> Result<KrylovReport> {
    let mut iterations = 0.0;
    let mut before = f64::INFINITY;
    let mut recordings = <[B::Recording; 2]>::default();
    loop {
        let residual = system.residual(x, method.residual().0)?;
        // The recursion claimed the target and x did not follow.
        let stagnates = residual > STAGNATION * before;
        if let Some(stop) = target.ended(residual, DRIFT, iterations, stagnates) {
            return Ok(KrylovReport { stop, iterations, residual });
        }
        before = residual;
        let kept = (&mut iterations, &mut recordings);
        if let Run::Ended(stop) = run(method, system, target, x, kept, residual)? {
            let residual = system.residual(x, method.residual().0)?;
            return Ok(KrylovReport { stop, iterations, residual });
        }
    }
}

/// Iterates from the residual b − A x of norm `start` until the recursive one meets the target.
///
/// All scalars stay with the vectors; the host waits for those of each of the first iterations, and
/// asks for more of the later ones than it has seen. The recordings are of one iteration and of several.
fn run<B: Backend, T: Real, A: LinearOperator<B, T>, M: Recursive<B, T>>(
    method: &mut M,
    system: &mut System<'_, B, T, A>,
    target: Target,
    x: &mut B::Vector<T>,
    (iterations, [one, several]): (&mut f64, &mut [B::Recording; 2]),
    start: f64,
) -> Result<Run> {
    let backend = system.backend;
    let idle = M::is_idle_when_halted(system);
    method.begin(backend, target, start, idle)?;
    let mut slots = [0.0; SLOTS + LOG];
    let (mut read_backs, mut under_way) = (VecDeque::new(), 0);
    let [single, most] = if idle { [0, 2 * SEVERAL] } else { [SINGLE, MOST] };
    let mut done = 0;
    while *iterations < target.max_iterations as f64 {
        let left = target.max_iterations - *iterations as usize;
        if done < single {
            method.iterate(system, x, if done == 0 { Mode::First } else { Mode::Checked })?;
            scalars::read(backend, method.residual().1, &mut slots)?;
        } else {
            // The lookahead grows with the run, so that a short run wastes few iterations.
            let ahead = if idle { most } else { (done / SINGLE).clamp(1, most) }.min(left);
            while under_way < ahead {
                let many = if idle && under_way + SEVERAL <= ahead { SEVERAL } else { 1 };
                backend.replay(if many == 1 { one } else { several }, || {
                    (0..many).try_for_each(|_| method.iterate(system, x, Mode::Enqueued))
                })?;
                read_backs.push_back((backend.read_back(method.residual().1)?, many));
                under_way += many;
            }
            if let Some((read_back, many)) = read_backs.pop_front() {
                backend.wait_for(read_back, &mut slots)?;
                under_way -= many;
            }
        }
        // The iterations logged since the last look.
        let logged = slots[usize::from(LOGGED)] as usize;
        for k in done..logged {
            *iterations += 1.0;
            (system.observe)(*iterations, slots[SLOTS + k % LOG].sqrt());
        }
        done = logged;
        if let Some(run) = M::ended(&slots, iterations, system.observe) {
            method.complete(backend, &slots, x)?;
            return Ok(run);
        }
    }
    method.complete(backend, &slots, x)?;
    Ok(Run::Ended(LinearStop::IterationLimit))
}
