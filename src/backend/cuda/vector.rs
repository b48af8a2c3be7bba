//! Vectors of the CUDA backend.

use super::device::Download;
use super::kernel::{Argument, Shape, Source, arguments};
use super::ranks::Reach;
use super::{Buffer, CudaBackend, CudaRecording};
use crate::backend::scalars::{Coefficient, Condition, Ending, LOG, SLOTS, Slot};
use crate::backend::{Advance, Backend, DeviceError, Pair, Projection, Real};

/// A vector in a GPU's memory.
pub type CudaVector<T> = Buffer<T>;

/// Terms of one launch of `lincomb`.
const TERMS: usize = 4;

/// Pairs of one launch of `dots`.
const PAIRS: usize = 3;

/// Conditions of a reduction into slots, and terms of `lincomb` with their coefficients.
const KEPT: usize = 2;

impl Backend for CudaBackend {
    type Vector<T: Real> = CudaVector<T>;
    type Look = Download;
    type Recording = CudaRecording;

    fn replay(
        &self,
        recording: &mut CudaRecording,
        work: impl FnMut() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        recording.run(self, work)
    }

    fn zeros<T: Real>(&self, n: usize) -> Result<CudaVector<T>, DeviceError> {
        Buffer::zeros(&self.device, n)
    }

    fn upload<T: Real>(&self, host: &[T], v: &mut CudaVector<T>) -> Result<(), DeviceError> {
        Buffer::upload(v, host)
    }

    fn download<T: Real>(&self, v: &CudaVector<T>, host: &mut [T]) -> Result<(), DeviceError> {
        Buffer::download(v, host)
    }

    fn convert<S: Real, T: Real>(
        &self,
        scale: f64,
        x: &CudaVector<S>,
        y: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        let name = if size_of::<S>() == 4 { "convert_from_single" } else { "convert_from_double" };
        let arguments = arguments![y.len() as u64, scale, x, &*y];
        self.launch::<T>(Source::Vector, name, Shape::elementwise(y.len()), &arguments)
    }

    fn max_abs<T: Real>(&self, x: &CudaVector<T>) -> Result<f64, DeviceError> {
        let arguments = arguments![x.len() as u64, x];
        let [most] =
            self.reduce::<T, 1>(Source::Vector, "max_abs", x.len(), &arguments, largest)?;
        Ok(most)
    }

    fn project<T: Real>(
        &self,
        basis: &[CudaVector<T>],
        w: &mut CudaVector<T>,
    ) -> Result<Projection, DeviceError> {
        self.project_on_device(basis, w)
    }

    fn look(&self, scalars: &Buffer<f64>) -> Result<Download, DeviceError> {
        self.device.begin_download(scalars.address(), (SLOTS + LOG) * size_of::<f64>())
    }

    fn see(&self, look: Download, host: &mut [f64; SLOTS + LOG]) -> Result<(), DeviceError> {
        self.device.end_download(look, bytemuck::cast_slice_mut(host))
    }

    fn dots<T: Real, const K: usize>(
        &self,
        scalars: &mut Buffer<f64>,
        first: Slot,
        pairs: [Pair<'_, CudaVector<T>>; K],
        ending: Ending<'_>,
    ) -> Result<(), DeviceError> {
        const { assert!(K >= 1 && K <= PAIRS) };
        let n = pairs[0].0.len();
        let mut arguments = arguments![n as u64, K as u32];
        for (a, b) in pairs.iter().chain(std::iter::repeat(&pairs[0])).take(PAIRS) {
            arguments.extend(arguments![*a, *b]);
        }
        let slots = Slots { scalars, first, count: K, ending };
        self.reduce_into::<T>("dots_into", n, arguments, &slots)
    }

    fn advance<T: Real>(
        &self,
        scalars: &mut Buffer<f64>,
        step: Advance<'_, CudaVector<T>>,
        first: Slot,
        ending: Ending<'_>,
    ) -> Result<(), DeviceError> {
        let n = step.x.len();
        let ((a, h), (b, v)) = (step.along, step.change);
        let mut arguments = arguments![n as u64, &*step.x, a.factor, a.packed(), h];
        arguments.extend(arguments![&*step.r, b.factor, b.packed(), v]);
        arguments.push(step.with.map_or(Argument::from(0_u64), Argument::from));
        let count = if step.with.is_some() { 2 } else { 1 };
        let slots = Slots { scalars, first, count, ending };
        self.reduce_into::<T>("advance", n, arguments, &slots)
    }

    fn lincomb<T: Real, C: Into<Coefficient> + Copy>(
        &self,
        scalars: Option<&Buffer<f64>>,
        y: &mut CudaVector<T>,
        beta: C,
        terms: &[(C, &CudaVector<T>)],
    ) -> Result<(), DeviceError> {
        let group = if scalars.is_some() { KEPT } else { TERMS };
        let (mut beta, mut rest) = (beta.into(), terms);
        loop {
            let (now, later) = rest.split_at(rest.len().min(group));
            let now: Vec<(Coefficient, &CudaVector<T>)> =
                now.iter().map(|&(alpha, x)| (alpha.into(), x)).collect();
            match scalars {
                Some(scalars) => self.sum_by(scalars, y, beta, &now)?,
                None => self.sum(y, beta.factor, &now)?,
            }
            (beta, rest) = (Coefficient::number(1.0), later);
            if rest.is_empty() {
                return Ok(());
            }
        }
    }
}

/// Sum of the parts of two ranks.
pub(super) fn sum(_: usize, a: f64, b: f64) -> f64 {
    a + b
}

/// The larger of two; a NaN wins.
fn largest(_: usize, a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// Slots that a reduction fills, and what follows.
struct Slots<'a> {
    scalars: &'a Buffer<f64>,
    first: Slot,
    count: usize,
    ending: Ending<'a>,
}

impl Slots<'_> {
    /// Whether and when the log grows and the slots halt, as kernels take it.
    fn ending(&self, ending: Ending<'_>) -> Vec<Argument> {
        let mut arguments = arguments![self.scalars, u32::from(self.first), u32::from(ending.log)];
        let conditions = ending.conditions.iter().map(Condition::packed);
        for (packed, factor) in conditions.chain(std::iter::repeat((0, 0.0))).take(KEPT) {
            arguments.extend(arguments![packed, factor]);
        }
        arguments
    }
}

impl CudaBackend {
    /// y ← β y + Σ αₖ xₖ of [`TERMS`] terms at most, whose coefficients are numbers.
    fn sum<T: Real>(
        &self,
        y: &CudaVector<T>,
        beta: f64,
        terms: &[(Coefficient, &CudaVector<T>)],
    ) -> Result<(), DeviceError> {
        let mut arguments =
            arguments![y.len() as u64, y, Argument::real(T::narrow(beta)), terms.len() as u32,];
        let none = (Coefficient::number(0.0), y);
        for (alpha, x) in terms.iter().copied().chain(std::iter::repeat(none)).take(TERMS) {
            arguments.extend(arguments![Argument::real(T::narrow(alpha.factor)), x]);
        }
        self.launch::<T>(Source::Vector, "lincomb", Shape::elementwise(y.len()), &arguments)
    }

    /// The same of [`KEPT`] terms at most, whose coefficients are quotients of slots.
    fn sum_by<T: Real>(
        &self,
        scalars: &Buffer<f64>,
        y: &CudaVector<T>,
        beta: Coefficient,
        terms: &[(Coefficient, &CudaVector<T>)],
    ) -> Result<(), DeviceError> {
        let mut arguments =
            arguments![y.len() as u64, scalars, y, beta.factor, beta.packed(), terms.len() as u32];
        let none = (Coefficient::number(0.0), y);
        for (alpha, x) in terms.iter().copied().chain(std::iter::repeat(none)).take(KEPT) {
            arguments.extend(arguments![alpha.factor, alpha.packed(), x]);
        }
        self.launch::<T>(Source::Scalars, "lincomb_by", Shape::elementwise(y.len()), &arguments)
    }

    /// Launches a kernel over `n` entries that reduces into slots and ends as they say, with the parts of
    /// all ranks if there are several.
    fn reduce_into<T: Real>(
        &self,
        name: &'static str,
        n: usize,
        mut arguments: Vec<Argument>,
        slots: &Slots<'_>,
    ) -> Result<(), DeviceError> {
        let reach = self.place.as_ref().map(|place| place.communicator().reach());
        // Ranks whose kernels do not reach each other add their parts up in a launch of its own.
        let apart = reach.is_some_and(|reach| reach.is_none());
        arguments.extend(slots.ending(if apart { Ending::default() } else { slots.ending }));
        let room = self.reduction();
        arguments.extend(arguments![&room.partials, &room.ticket]);
        arguments.extend(Reach::arguments(reach.flatten()));
        self.launch::<T>(Source::Scalars, name, Shape::reduction(n), &arguments)?;
        let (Some(place), true) = (&self.place, apart) else { return Ok(()) };
        let parts = place.gather(slots.scalars, usize::from(slots.first))?;
        let mut arguments = arguments![place.ranks() as u32, slots.count as u32, parts];
        arguments.extend(slots.ending(slots.ending));
        let one = Shape { grid: [1; 3], block: [1; 3], shared: 0 };
        self.launch::<T>(Source::Scalars, "sum_slots", one, &arguments)
    }
}
