//! Scalars that stay where the vectors are.
//!
//! A Krylov iteration on a device must not wait for the host to learn an inner product. Its scalars
//! live in numbered slots on the device; the coefficients of vector sums are quotients of slots,
//! and stopping criteria on slots end the iteration there, so that the host reads them now and then.

use super::{Backend, Real, Result};

/// Number of a slot.
pub type Slot = u8;

/// Slot that holds 0 while an iteration runs and the flag of the criterion that ended it after.
/// Once it is set, sums and inner products of the same slots change nothing any more.
pub const HALTED: Slot = 0;
/// Slot that holds 1.
pub const ONE: Slot = 1;
/// Slot that counts the values that were logged.
pub const LOGGED: Slot = 2;
/// Slot that holds 0.
pub const ZERO: Slot = 3;
/// First slot for the values of a method.
pub const FIRST: Slot = 4;
/// Slots there are, the log not among them.
pub const SLOTS: usize = 16;
/// Length of the log, a ring.
pub const LOG: usize = 48;

/// A coefficient: factor · slot · slot / (slot · slot).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficient {
    /// A number.
    pub factor: f64,
    /// Slots whose product is the numerator.
    pub over: [Slot; 2],
    /// Slots whose product is the denominator.
    pub under: [Slot; 2],
}

impl Coefficient {
    /// A number.
    pub const fn number(factor: f64) -> Self {
        Self { factor, over: [ONE; 2], under: [ONE; 2] }
    }

    /// factor · over / under.
    pub const fn ratio(factor: f64, over: Slot, under: Slot) -> Self {
        Self { factor, over: [over, ONE], under: [under, ONE] }
    }

    /// The value for these slots.
    pub(crate) fn value(&self, slots: &[f64]) -> f64 {
        let product = |[a, b]: [Slot; 2]| slots[usize::from(a)] * slots[usize::from(b)];
        self.factor * product(self.over) / product(self.under)
    }

    /// The four slots as one number, the first lowest.
    pub(super) fn packed(&self) -> u32 {
        u32::from_le_bytes([self.over[0], self.over[1], self.under[0], self.under[1]])
    }
}

impl From<f64> for Coefficient {
    fn from(factor: f64) -> Self {
        Self::number(factor)
    }
}

/// A stopping criterion of an iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criterion {
    value: Slot,
    bounds: [Slot; 2],
    /// ε of an inner product that may be lost.
    epsilon: Option<f64>,
    /// Number that [`HALTED`] gets; not zero.
    flag: u8,
}

impl Criterion {
    /// value ≤ bound.
    pub fn reached(value: Slot, bound: Slot, flag: u8) -> Self {
        Self { value, bounds: [bound, ONE], epsilon: None, flag }
    }

    /// value² ≤ ε² · slot · slot with the rounding error ε of `T`, or the value is not a number: an inner product that
    /// is lost in the rounding of its operands, whose squared norms are in `squares`.
    pub fn lost<T: Real>(value: Slot, squares: [Slot; 2], flag: u8) -> Self {
        Self { value, bounds: squares, epsilon: Some(T::epsilon().widen()), flag }
    }

    /// Whether it holds for these slots.
    pub fn holds(&self, slots: &[f64]) -> bool {
        let slot = |at: Slot| slots[usize::from(at)];
        let (value, [a, b]) = (slot(self.value), self.bounds.map(slot));
        let Some(epsilon) = self.epsilon else { return value <= a };
        let (square, lost) = (value * value, epsilon * epsilon * a * b);
        square.is_nan() || square <= lost
    }

    /// Kind, slots and flag as one number, and ε², as arguments of a kernel.
    pub(super) fn packed(&self) -> (u64, f64) {
        let Self { value, bounds: [a, b], epsilon, flag } = *self;
        let (kind, epsilon) = epsilon.map_or((1, 0.0), |epsilon| (2, epsilon));
        (u64::from_le_bytes([kind, value, a, b, flag, 0, 0, 0]), epsilon * epsilon)
    }
}

/// The value of a slot that follows from others without a reduction: slot ← base + plus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recurrence {
    /// The slot.
    pub slot: Slot,
    /// Slot of the first term.
    pub base: Slot,
    /// The second term.
    pub plus: Coefficient,
}

/// Operations after inner products into slots, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Epilogue<'a> {
    /// Criteria that are tried in turn; at most two. Nothing follows one that holds.
    pub before: &'a [Criterion],
    /// Recurrences that are evaluated one after the other; at most two.
    pub recurrences: &'a [Recurrence],
    /// Slot that is appended to the log.
    pub log: Option<Slot>,
    /// Criteria that are tried in turn; at most two.
    pub criteria: &'a [Criterion],
}

impl Epilogue<'_> {
    /// Applies them to slots that hold the inner products, with the log behind them.
    pub(super) fn apply(&self, slots: &mut [f64]) {
        let halt = |slots: &mut [f64], criteria: &[Criterion]| {
            let met = criteria.iter().find(|criterion| criterion.holds(slots));
            slots[usize::from(HALTED)] = met.map_or(0.0, |met| f64::from(met.flag));
            met.is_some()
        };
        if halt(slots, self.before) {
            return;
        }
        for Recurrence { slot, base, plus } in self.recurrences {
            slots[usize::from(*slot)] = slots[usize::from(*base)] + plus.value(slots);
        }
        if let Some(slot) = self.log {
            let logged = slots[usize::from(LOGGED)] as usize;
            slots[SLOTS + logged % LOG] = slots[usize::from(slot)];
            slots[usize::from(LOGGED)] += 1.0;
        }
        halt(slots, self.criteria);
    }
}

/// The slots and the log, all zero.
pub fn allocate<B: Backend>(backend: &B) -> Result<B::Vector<f64>> {
    backend.zeros(SLOTS + LOG)
}

/// Slots ← these values and zeros elsewhere; [`HALTED`] ← 0, [`ONE`] ← 1, an empty log.
pub fn set<B: Backend>(
    backend: &B,
    scalars: &mut B::Vector<f64>,
    values: &[(Slot, f64)],
) -> Result<()> {
    let mut all = [0.0; SLOTS + LOG];
    for &(slot, value) in values.iter().chain(&[(ONE, 1.0)]) {
        all[usize::from(slot)] = value;
    }
    backend.upload(&all, scalars)
}

/// host ← the slots, followed by the log.
pub fn read<B: Backend>(
    backend: &B,
    scalars: &B::Vector<f64>,
    host: &mut [f64; SLOTS + LOG],
) -> Result<()> {
    backend.wait_for(backend.read_back(scalars)?, host)
}
