//! Scalars that stay where the vectors are.
//!
//! A Krylov iteration on a device must not wait for the host to learn an inner product. Its scalars
//! live in numbered slots on the device; the coefficients of vector sums are quotients of slots,
//! and conditions on slots end the iteration there, so that the host may look now and then.

use super::{Backend, DeviceError, Pair, Real};

/// Number of a slot.
pub type Slot = u8;

/// Slot that holds 0 while an iteration runs and the flag of the condition that ended it after.
/// Once it is set, sums and inner products of the same slots change nothing any more.
pub const HALTED: Slot = 0;
/// Slot that holds 1.
pub const ONE: Slot = 1;
/// Slot that counts the inner products that were asked to log.
pub const LOGGED: Slot = 2;
/// First slot for the values of a method.
pub const FIRST: Slot = 3;
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
    #[must_use]
    pub const fn number(factor: f64) -> Self {
        Self { factor, over: [ONE; 2], under: [ONE; 2] }
    }

    /// factor · over / under.
    #[must_use]
    pub const fn ratio(factor: f64, over: Slot, under: Slot) -> Self {
        Self { factor, over: [over, ONE], under: [under, ONE] }
    }

    /// The value for these slots.
    #[must_use]
    pub fn value(&self, slots: &[f64]) -> f64 {
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

/// When an iteration ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Condition {
    /// What is compared.
    pub test: Test,
    /// Number that [`HALTED`] gets; not zero.
    pub flag: u8,
}

/// A comparison of slots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Test {
    /// value ≤ bound.
    Reached {
        /// Compared slot.
        value: Slot,
        /// Slot of the bound.
        bound: Slot,
    },
    /// value² ≤ ε² · slot · slot, or the value is not a number: an inner product that is lost in
    /// the rounding of its operands, whose squared norms are in `squares`.
    Vanished {
        /// Compared slot.
        value: Slot,
        /// Slots of the squared norms.
        squares: [Slot; 2],
        /// Relative rounding error ε.
        epsilon: f64,
    },
}

impl Condition {
    /// Whether it holds for these slots.
    #[must_use]
    pub fn holds(&self, slots: &[f64]) -> bool {
        let slot = |at: Slot| slots[usize::from(at)];
        match self.test {
            Test::Reached { value, bound } => slot(value) <= slot(bound),
            Test::Vanished { value, squares: [a, b], epsilon } => {
                let lost = epsilon * epsilon * slot(a) * slot(b);
                let square = slot(value) * slot(value);
                square.is_nan() || square <= lost
            }
        }
    }

    /// Kind, slots and flag as one number, and ε²: how a kernel is told.
    pub(super) fn packed(&self) -> (u64, f64) {
        let (kind, value, a, b, epsilon) = match self.test {
            Test::Reached { value, bound } => (1, value, bound, ONE, 0.0),
            Test::Vanished { value, squares: [a, b], epsilon } => (2, value, a, b, epsilon),
        };
        (u64::from_le_bytes([kind, value, a, b, self.flag, 0, 0, 0]), epsilon * epsilon)
    }
}

/// What an inner product into slots does beside.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Ending<'a> {
    /// Whether the first product is appended to the log.
    pub log: bool,
    /// Conditions that are tried in turn afterwards; at most two.
    pub conditions: &'a [Condition],
}

/// Room for the slots and the log.
///
/// # Errors
/// If the device has no room.
pub fn room<B: Backend>(backend: &B) -> Result<B::Vector<f64>, DeviceError> {
    backend.zeros(SLOTS + LOG)
}

/// Slots ← these values and zeros elsewhere; [`HALTED`] ← 0, [`ONE`] ← 1, an empty log.
///
/// # Errors
/// If the device fails.
pub fn set<B: Backend>(
    backend: &B,
    scalars: &mut B::Vector<f64>,
    values: &[(Slot, f64)],
) -> Result<(), DeviceError> {
    let mut all = [0.0; SLOTS + LOG];
    for &(slot, value) in values.iter().chain(&[(ONE, 1.0)]) {
        all[usize::from(slot)] = value;
    }
    backend.upload(&all, scalars)
}

/// host ← the slots, followed by the log.
///
/// # Errors
/// If the device fails.
pub fn read<B: Backend>(
    backend: &B,
    scalars: &B::Vector<f64>,
    host: &mut [f64; SLOTS + LOG],
) -> Result<(), DeviceError> {
    backend.see(backend.look(scalars)?, host)
}

/// Inner products that the host waits for; what the slots held before is lost.
///
/// # Errors
/// If the device fails.
pub fn read_dots<B: Backend, T: Real, const K: usize>(
    backend: &B,
    scalars: &mut B::Vector<f64>,
    pairs: [Pair<'_, B::Vector<T>>; K],
) -> Result<[f64; K], DeviceError> {
    set(backend, scalars, &[])?;
    backend.dots(scalars, FIRST, pairs, Ending::default())?;
    let mut slots = [0.0; SLOTS + LOG];
    read(backend, scalars, &mut slots)?;
    Ok(std::array::from_fn(|k| slots[usize::from(FIRST) + k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coefficient_is_a_quotient_of_slots() {
        let mut slots = [0.0; SLOTS];
        (slots[1], slots[3], slots[4], slots[5]) = (1.0, 6.0, 4.0, 3.0);

        let both = Coefficient { factor: -0.5, over: [3, 4], under: [5, ONE] };

        let ratio = Coefficient::ratio(1.0, 3, 5);
        let found = [both, ratio, Coefficient::number(7.0)].map(|c| c.value(&slots).to_bits());
        assert_eq!(found, [-4.0_f64, 2.0, 7.0].map(f64::to_bits));
    }

    #[test]
    fn conditions_hold_at_their_bounds_and_for_nan() {
        let mut slots = [0.0; SLOTS];
        (slots[3], slots[4], slots[5]) = (2.0, 2.0, f64::NAN);
        let reached = Condition { test: Test::Reached { value: 3, bound: 4 }, flag: 1 };
        let not_a_number = Condition { test: Test::Reached { value: 5, bound: 4 }, flag: 1 };
        let vanished = |value, epsilon| Condition {
            test: Test::Vanished { value, squares: [4, 4], epsilon },
            flag: 2,
        };

        assert!(reached.holds(&slots) && !not_a_number.holds(&slots));
        assert!(vanished(3, 1.0).holds(&slots) && vanished(5, 1e-16).holds(&slots));
        assert!(!vanished(3, 0.5).holds(&slots));
    }
}
