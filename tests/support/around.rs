//! What is asked for around a product.

use gridgen::backend::scalars::{self, Coefficient, Ending, FIRST, HALTED, LOG, SLOTS, Slot};
use gridgen::backend::{Around, Backend, Real, Update};

/// Slots of the coefficients, which have the values ½ and −¾, and of the inner products.
const COEFFICIENTS: [Slot; 2] = [FIRST, FIRST + 1];
const SUMS: Slot = FIRST + 2;

/// One of the ways to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// For the product alone.
    Product,
    /// r ← −¾ r + ½ x + y before, (w, y) and (y, y) after it.
    Direction,
    /// r ← r − ¾ x before, (r, y), (y, y) and (r, r) after it.
    Residual,
    /// (r, y) and (y, y) after it.
    Sums,
    /// As `Residual`, of halted scalars.
    Halted,
}

impl Asked {
    pub const ALL: [Self; 5] =
        [Self::Product, Self::Direction, Self::Residual, Self::Sums, Self::Halted];

    /// The question, of scalars that are set for it.
    pub fn around<'a, B: Backend, T: Real>(
        self,
        backend: &B,
        scalars: &'a mut B::Vector<f64>,
        [x, w]: [&'a B::Vector<T>; 2],
    ) -> Option<Around<'a, B, T>> {
        let [half, other] = COEFFICIENTS;
        let halted = f64::from(u8::from(self == Self::Halted));
        scalars::set(backend, scalars, &[(half, 0.5), (other, -0.75), (HALTED, halted)]).unwrap();
        let [half, other] = COEFFICIENTS.map(|slot| Coefficient::ratio(1.0, slot, scalars::ONE));
        let unit = Coefficient::number(1.0);
        let update = match self {
            Self::Product => return None,
            Self::Sums => None,
            Self::Direction => Some(Update { beta: other, term: (half, x), former: Some(unit) }),
            Self::Residual | Self::Halted => {
                Some(Update { beta: unit, term: (other, x), former: None })
            }
        };
        Some(Around {
            scalars,
            update,
            first: SUMS,
            with: (self == Self::Direction).then_some(w),
            square: matches!(self, Self::Residual | Self::Halted),
            ending: Ending::default(),
        })
    }

    /// The inner products that are asked for, zero where they are not.
    pub fn sums<T: Real>(self, r: &[T], y: &[T], w: &[T]) -> [f64; 3] {
        let dot = |a: &[T], b: &[T]| a.iter().zip(b).map(|(a, b)| a.widen() * b.widen()).sum();
        match self {
            Self::Product | Self::Halted => [0.0; 3],
            Self::Direction => [dot(w, y), dot(y, y), 0.0],
            Self::Residual => [dot(r, y), dot(y, y), dot(r, r)],
            Self::Sums => [dot(r, y), dot(y, y), 0.0],
        }
    }

    /// The inner products that stand in the scalars.
    pub fn found<B: Backend>(backend: &B, scalars: &B::Vector<f64>) -> [f64; 3] {
        let mut slots = [0.0; SLOTS + LOG];
        scalars::read(backend, scalars, &mut slots).unwrap();
        std::array::from_fn(|k| slots[usize::from(SUMS) + k])
    }
}
