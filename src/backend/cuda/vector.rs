//! Vectors of the CUDA backend.

use super::kernel::{Argument, Shape, Source, arguments};
use super::{Buffer, CudaBackend, CudaRecording, REDUCTIONS};
use crate::backend::{Backend, DeviceError, Real};

/// A vector in a GPU's memory.
pub type CudaVector<T> = Buffer<T>;

/// Terms of one launch of `lincomb`.
const TERMS: usize = 3;

impl Backend for CudaBackend {
    type Vector<T: Real> = CudaVector<T>;
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

    fn dots<T: Real, const K: usize>(
        &self,
        pairs: [(&CudaVector<T>, &CudaVector<T>); K],
    ) -> Result<[f64; K], DeviceError> {
        let mut all = [0.0; K];
        for (results, pairs) in all.chunks_mut(REDUCTIONS).zip(pairs.chunks(REDUCTIONS)) {
            let n = pairs[0].0.len();
            let mut arguments = arguments![n as u64, pairs.len() as u32];
            // The kernel takes four pairs and reads as many as there are.
            for (a, b) in pairs.iter().chain(std::iter::repeat(&pairs[0])).take(REDUCTIONS) {
                arguments.extend(arguments![*a, *b]);
            }
            let sums = self.reduce::<T, REDUCTIONS>(Source::Vector, "dots", n, &arguments)?;
            results.copy_from_slice(&sums[..pairs.len()]);
        }
        Ok(all)
    }

    fn max_abs<T: Real>(&self, x: &CudaVector<T>) -> Result<f64, DeviceError> {
        let arguments = arguments![x.len() as u64, x];
        let [most] = self.reduce::<T, 1>(Source::Vector, "max_abs", x.len(), &arguments)?;
        Ok(most)
    }

    fn lincomb<T: Real, const K: usize>(
        &self,
        y: &mut CudaVector<T>,
        beta: f64,
        terms: [(f64, &CudaVector<T>); K],
    ) -> Result<(), DeviceError> {
        let mut beta = beta;
        let mut rest = terms.as_slice();
        loop {
            let (now, later) = rest.split_at(rest.len().min(TERMS));
            let mut arguments =
                arguments![y.len() as u64, &*y, Argument::real(T::narrow(beta)), now.len() as u32,];
            for (alpha, x) in now.iter().copied().chain(std::iter::repeat((0.0, &*y))).take(TERMS) {
                arguments.extend(arguments![Argument::real(T::narrow(alpha)), x]);
            }
            self.launch::<T>(Source::Vector, "lincomb", Shape::elementwise(y.len()), &arguments)?;
            (beta, rest) = (1.0, later);
            if rest.is_empty() {
                return Ok(());
            }
        }
    }
}
