//! The operations that a backend must offer to be measured.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::cuda::{Buffer, CudaBackend};
use gridgen::backend::{DeviceError, EllipticBackend, MultigridBackend, Real};
use gridgen::sparse::Csr;

/// One call of the measured work.
pub type Work<'a> = Box<dyn FnMut() -> Result<(), DeviceError> + 'a>;

/// Name of a vendor's library, and a call of its work.
pub type VendorLibrary<'a> = (&'static str, Work<'a>);

/// The operations that are compared with a vendor's library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VendorWork {
    /// A product with the matrix by rows.
    Product,
    /// A product in the sliced ELL format.
    SlicedProduct,
    /// Analysis and factorisation of ILU(0) in double precision, from scratch, with or without level
    /// information.
    Ilu0 {
        /// Use level information.
        levels: bool,
    },
    /// Analysis of both triangles of the unfactorised matrix, from scratch.
    TriangularAnalysis,
    /// Solves with both triangles after their analysis.
    TriangularSolve,
}

/// A backend that can be measured.
pub trait BenchBackend: EllipticBackend + MultigridBackend {
    /// Name for titles.
    fn name(&self) -> String;

    /// True if the order in which incomplete factors are eliminated can be chosen.
    const HAS_SCHEDULES: bool;

    /// The operation by the vendor's library on this device; `None` if the vendor has none.
    fn vendor<T: Real>(
        &self,
        _: VendorWork,
        _: &Csr,
    ) -> Result<Option<VendorLibrary<'_>>, DeviceError> {
        Ok(None)
    }

    /// Waits until all submitted work is complete.
    fn finish(&self) -> Result<(), DeviceError>;

    /// A copy that reads `bytes` / 2 and writes as many.
    fn copy(&self, bytes: usize) -> Result<Work<'_>, DeviceError>;
}

impl BenchBackend for CpuBackend {
    fn name(&self) -> String {
        format!("CPU, {} threads", rayon::current_num_threads())
    }

    const HAS_SCHEDULES: bool = false;

    fn finish(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn copy(&self, bytes: usize) -> Result<Work<'_>, DeviceError> {
        use rayon::prelude::*;
        let n = (bytes / 16).max(1);
        let (from, mut to) = (vec![1.0_f64; n], vec![0.0_f64; n]);
        // Each thread copies its part with one call.
        let part = n.div_ceil(rayon::current_num_threads());
        Ok(Box::new(move || {
            let parts = to.par_chunks_mut(part).zip(from.par_chunks(part));
            parts.for_each(|(to, from)| to.copy_from_slice(from));
            std::hint::black_box(&mut to);
            Ok(())
        }))
    }
}

impl BenchBackend for CudaBackend {
    fn name(&self) -> String {
        self.device().name().to_owned()
    }

    const HAS_SCHEDULES: bool = true;

    #[cfg(feature = "cuda")]
    fn vendor<T: Real>(
        &self,
        work: VendorWork,
        a: &Csr,
    ) -> Result<Option<VendorLibrary<'_>>, DeviceError> {
        Ok(Some(("cuSPARSE", super::cusparse::work::<T>(self, work, a)?)))
    }

    fn finish(&self) -> Result<(), DeviceError> {
        self.device().synchronise()
    }

    fn copy(&self, bytes: usize) -> Result<Work<'_>, DeviceError> {
        let half = (bytes / 2).max(1);
        let from = Buffer::<u8>::zeros(self.device(), half)?;
        let to = Buffer::<u8>::zeros(self.device(), half)?;
        Ok(Box::new(move || to.copy_from(&from)))
    }
}
