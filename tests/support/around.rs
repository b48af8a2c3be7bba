//! Additional operations around a product.

use gridgen::backend::scalars::{self, Coefficient, Epilogue, FIRST, HALTED, LOG, SLOTS, Slot};
use gridgen::backend::{
    Algebraic, Backend, Fused, Real, SparseBackend, SparseMatrix, Step, Update,
};

use super::linear::{to_device, to_host};

/// Slots of the coefficients, which have the values ½ and −¾, and of the inner products.
const COEFFICIENTS: [Slot; 2] = [FIRST, FIRST + 1];
const SUMS: Slot = FIRST + 2;

/// A combination of additional operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Only the product.
    Product,
    /// A step before, (w, y) and (y, y) after the product.
    Step,
    /// p ← p − ¾ x before, all inner products after the product.
    Sum,
    /// (w, y) and (y, y) after the product.
    Products,
    /// Like `Step`, with halted scalars.
    Halted,
}

/// Number of vectors in addition to p, z and y: x, r, u and h of a step, and w.
const OTHERS: usize = 5;
/// Number of all vectors, p, z and y first.
pub const VECTORS: usize = 3 + OTHERS;

impl Asked {
    pub const ALL: [Self; 5] = [Self::Product, Self::Step, Self::Sum, Self::Products, Self::Halted];

    /// Repeats z ← diag(A)⁻¹ p and y ← A z with these operations, beginning with the vectors `start`. Returns all vectors,
    /// and the inner products of the last repetition.
    pub fn repeated<B: SparseBackend, T: Real>(
        self,
        backend: &B,
        a: &B::Matrix<T>,
        start: &[Vec<T>; VECTORS],
        turns: usize,
    ) -> ([Vec<T>; VECTORS], [f64; 5]) {
        let [mut p, mut z, mut y, x, r, u, h, w] =
            start.each_ref().map(|host| to_device(backend, host));
        let mut others = [x, r, u, h, w];
        let mut jacobi = a.preconditioner(backend, Algebraic::Jacobi).unwrap();
        jacobi.update(backend, a).unwrap();
        let mut scalars = scalars::allocate(backend).unwrap();
        for _ in 0..turns {
            let around = self.around(backend, &mut scalars, &mut others);
            jacobi.apply_and_multiply(backend, a, &mut p, &mut z, &mut y, around).unwrap();
        }
        let [x, r, u, h, w] = others;
        let vectors = [p, z, y, x, r, u, h, w].map(|v| to_host(backend, &v, start[0].len()));
        let mut slots = [0.0; SLOTS + LOG];
        scalars::read(backend, &scalars, &mut slots).unwrap();
        (vectors, std::array::from_fn(|k| slots[usize::from(SUMS) + k]))
    }

    /// The operations, with scalars set up for them.
    fn around<'a, B: Backend, T: Real>(
        self,
        backend: &B,
        scalars: &'a mut B::Vector<f64>,
        [x, r, u, h, w]: &'a mut [B::Vector<T>; OTHERS],
    ) -> Option<Fused<'a, B, T>> {
        let [half, other] = COEFFICIENTS;
        let halted = f64::from(u8::from(self == Self::Halted));
        scalars::set(backend, scalars, &[(half, 0.5), (other, -0.75), (HALTED, halted)]).unwrap();
        let [half, other] = COEFFICIENTS.map(|slot| Coefficient::ratio(1.0, slot, scalars::ONE));
        let update = match self {
            Self::Product => return None,
            Self::Products => None,
            Self::Step | Self::Halted => Some(Update::Step(Step {
                x,
                a: half,
                along: (other, h),
                r,
                change: (half, u),
                beta: other,
                gamma: Coefficient::number(1.0),
            })),
            Self::Sum => Some(Update::Add(other, x)),
        };
        let all = self == Self::Sum;
        Some(Fused { scalars, update, first: SUMS, with: w, all, epilogue: Epilogue::default() })
    }

    /// The requested inner products, zero for the others.
    pub fn sums<T: Real>(self, p: &[T], y: &[T], w: &[T]) -> [f64; 5] {
        let dot = |a: &[T], b: &[T]| a.iter().zip(b).map(|(a, b)| a.widen() * b.widen()).sum();
        match self {
            Self::Product | Self::Halted => [0.0; 5],
            Self::Sum => [dot(w, y), dot(y, y), dot(p, y), dot(p, p), dot(w, p)],
            Self::Step | Self::Products => [dot(w, y), dot(y, y), 0.0, 0.0, 0.0],
        }
    }
}
