//! Vectors of either precision, and the operations that carry every Krylov method.

use super::Result;
use super::scalars::{Coefficient, Epilogue, LOG, SLOTS, Slot};
use std::fmt::Debug;

/// `f32` or `f64`.
pub trait Real:
    num_traits::Float
    + num_traits::NumAssign
    + bytemuck::Pod
    + Default
    + Debug
    + Send
    + Sync
    + sealed::Sealed
{
    /// The nearest value of this type.
    fn narrow(value: f64) -> Self;
    /// This value in double precision.
    fn widen(self) -> f64;
}

impl Real for f64 {
    #[inline(always)]
    fn narrow(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }
}

impl Real for f32 {
    #[inline(always)]
    fn narrow(value: f64) -> Self {
        value as Self
    }
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// Two vectors of which the inner product is wanted.
pub type Pair<'a, V> = (&'a V, &'a V);

/// Vectors and coefficients of [`Backend::advance`].
#[derive(Debug)]
pub struct Advance<'a, V> {
    /// Solution, improved by a h.
    pub x: &'a mut V,
    /// a and h; x is not touched if there are none.
    pub along: Option<(Coefficient, &'a V)>,
    /// Residual, changed by b v.
    pub r: &'a mut V,
    /// b and v.
    pub change: (Coefficient, &'a V),
}

/// Vectors and coefficients of [`Backend::step`]: x ← x + a z + b h, r ← r + c u and then
/// p ← r + β p + γ y.
#[derive(Debug)]
pub struct Step<'a, V> {
    /// Solution.
    pub x: &'a mut V,
    /// a.
    pub a: Coefficient,
    /// b and h.
    pub along: (Coefficient, &'a V),
    /// Residual.
    pub r: &'a mut V,
    /// c and u.
    pub change: (Coefficient, &'a V),
    /// β.
    pub beta: Coefficient,
    /// γ.
    pub gamma: Coefficient,
}

impl<V> Step<'_, V> {
    /// a, b, c, β and γ.
    pub(super) const fn coefficients(&self) -> [Coefficient; 5] {
        [self.a, self.along.0, self.change.0, self.beta, self.gamma]
    }
}

/// A vector update before a product y ← A z with z ← M⁻¹ p, and inner products after it, in one call so that a
/// device may fuse them into few passes. While the scalars are halted none is done, and p, z and y need not be
/// results of the product.
pub struct Fused<'a, B: Backend, T: Real> {
    /// The slots of coefficients and inner products.
    pub scalars: &'a mut B::Vector<f64>,
    /// Update that makes p, before the product.
    pub update: Option<Update<'a, B::Vector<T>>>,
    /// Slot of the first inner product after it: of (w, y), (y, y) and, with `all`, (p, y), (p, p) and (w, p).
    pub first: Slot,
    /// w.
    pub with: &'a B::Vector<T>,
    /// Whether all five inner products are formed.
    pub all: bool,
    /// Operations after the inner products.
    pub epilogue: Epilogue<'a>,
}

/// Update that makes the vector p of a product.
#[derive(Debug)]
pub enum Update<'a, V> {
    /// p ← p + α x.
    Add(Coefficient, &'a V),
    /// A step, with the z and y from before the product.
    Step(Step<'a, V>),
}

impl<B: Backend, T: Real> Fused<'_, B, T> {
    /// Does the update, the product with p, z and y, and the inner products, one after the other.
    pub fn in_sequence(
        fused: Option<Self>,
        backend: &B,
        p: &mut B::Vector<T>,
        [z, y]: [&mut B::Vector<T>; 2],
        product: impl FnOnce(&B::Vector<T>, &mut B::Vector<T>, &mut B::Vector<T>) -> Result<()>,
    ) -> Result<()> {
        let Some(Self { scalars, update, first, with: w, all, epilogue }) = fused else {
            return product(p, z, y);
        };
        match update {
            None => {}
            Some(Update::Add(alpha, x)) => {
                let one = Coefficient::number(1.0);
                backend.lincomb(Some(&*scalars), p, one, &[(alpha, x)])?;
            }
            Some(Update::Step(step)) => backend.step(scalars, step, p, [z, y])?,
        }
        product(p, z, y)?;
        let (p, y) = (&*p, &*y);
        if all {
            let pairs = [(w, y), (y, y), (p, y), (p, p), (w, p)];
            return backend.dots(scalars, first, pairs, epilogue);
        }
        backend.dots(scalars, first, [(w, y), (y, y)], epilogue)
    }
}

/// Coefficients of a Gram–Schmidt step that takes from a vector w its part in the space of a basis V.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Projection {
    /// h = Vᵀ w before the step.
    pub first: Vec<f64>,
    /// Vᵀ w of w − V h, after it.
    pub again: Vec<f64>,
    /// (w, w) after it.
    pub square: f64,
}

/// Vectors, and scalars that stay where the vectors are: a vector of slots, see [`super::scalars`].
///
/// Vectors of a backend hold `f64` or `f32`; scalars are `f64`, and inner products are
/// accumulated in `f64` in an order that does not depend on the number of threads.
pub trait Backend: Sync + Sized + 'static {
    /// A vector of `T`.
    type Vector<T: Real>: Send;
    /// A copy of scalars to the host that is under way.
    type ReadBack;
    /// Work that is done again and again in the same places; empty at first.
    type Recording: Default + Send;

    /// Does `work`. A device on which it costs time to ask for work notes at the first call what
    /// `work` asks for and does the same at later calls: it must ask for nothing but work of this
    /// backend, read nothing back, and find its vectors and levels in the same places and, where
    /// it begins, in the same condition every time.
    fn replay(
        &self,
        recording: &mut Self::Recording,
        work: impl FnMut() -> Result<()>,
    ) -> Result<()>;

    /// The largest of the ranks' own numbers, on every rank; all must call. It is `own` if the backend is alone.
    fn largest(&self, own: u64) -> Result<u64> {
        Ok(own)
    }

    /// A vector of `n` zeros.
    fn zeros<T: Real>(&self, n: usize) -> Result<Self::Vector<T>>;

    /// A vector of `n` values that are to be set before they are read.
    fn unset<T: Real>(&self, n: usize) -> Result<Self::Vector<T>> {
        self.zeros(n)
    }

    /// v ← host. Both have the same length.
    fn upload<T: Real>(&self, host: &[T], v: &mut Self::Vector<T>) -> Result<()>;

    /// host ← v. Both have the same length.
    fn download<T: Real>(&self, v: &Self::Vector<T>, host: &mut [T]) -> Result<()>;

    /// y ← scale · x, from one precision to another.
    fn convert<S: Real, T: Real>(
        &self,
        scale: f64,
        x: &Self::Vector<S>,
        y: &mut Self::Vector<T>,
    ) -> Result<()>;

    /// max |x_i|; NaN if any entry is NaN.
    fn max_abs<T: Real>(&self, x: &Self::Vector<T>) -> Result<f64>;

    /// h ← Vᵀ w and w ← w − V h for a `basis` V; then Vᵀ w and (w, w) again: classical Gram–Schmidt.
    /// A device is waited for once.
    fn project<T: Real>(
        &self,
        basis: &[Self::Vector<T>],
        w: &mut Self::Vector<T>,
    ) -> Result<Projection>;

    /// Begins to copy the scalars to the host as the work enqueued so far leaves them, and does not wait.
    /// At most eight copies may be under way.
    fn read_back(&self, scalars: &Self::Vector<f64>) -> Result<Self::ReadBack>;

    /// Waits for a copy; host ← the slots, followed by the log.
    fn wait_for(&self, read_back: Self::ReadBack, host: &mut [f64; SLOTS + LOG]) -> Result<()>;

    /// Several inner products in one reduction, five at most, for which the host waits.
    fn dot_products<T: Real, const K: usize>(
        &self,
        pairs: [Pair<'_, Self::Vector<T>>; K],
    ) -> Result<[f64; K]>;

    /// Slots from `first` on ← several inner products in one reduction, five at most, then what
    /// `epilogue` says. Nothing if the slots are halted.
    fn dots<T: Real, const K: usize>(
        &self,
        scalars: &mut Self::Vector<f64>,
        first: Slot,
        pairs: [Pair<'_, Self::Vector<T>>; K],
        epilogue: Epilogue<'_>,
    ) -> Result<()>;

    /// x ← x + a h and r ← r + b v in one pass, with (r, r) after it into the slot `first`; then what `epilogue` says.
    /// Nothing if the slots are halted.
    fn advance<T: Real>(
        &self,
        scalars: &mut Self::Vector<f64>,
        step: Advance<'_, Self::Vector<T>>,
        first: Slot,
        epilogue: Epilogue<'_>,
    ) -> Result<()>;

    /// x ← x + a z + b h, r ← r + c u and then p ← r + β p + γ y in one pass, with coefficients of `scalars`.
    /// Nothing if the slots are halted.
    fn step<T: Real>(
        &self,
        scalars: &Self::Vector<f64>,
        step: Step<'_, Self::Vector<T>>,
        p: &mut Self::Vector<T>,
        former: [&Self::Vector<T>; 2],
    ) -> Result<()>;

    /// y ← β y + Σ αₖ xₖ, four terms a pass; β = 0 overwrites y, even where it is NaN. Coefficients
    /// are quotients of `scalars`, and nothing is done if those are halted; without them,
    /// coefficients are numbers.
    fn lincomb<T: Real, C: Into<Coefficient> + Copy>(
        &self,
        scalars: Option<&Self::Vector<f64>>,
        y: &mut Self::Vector<T>,
        beta: C,
        terms: &[(C, &Self::Vector<T>)],
    ) -> Result<()>;
}
