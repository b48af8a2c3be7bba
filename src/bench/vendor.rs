//! Work of a vendor's library that ours is compared with.

#[cfg(feature = "cuda")]
use super::Vendor;
#[cfg(feature = "cuda")]
use crate::backend::{Backend, DeviceError, Real, cuda::CudaBackend, cuda::driver};
#[cfg(feature = "cuda")]
use crate::sparse::Csr;

/// What a vendor's library is compared in, beside [`super::BenchBackend::vendor_product`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VendorWork {
    /// A product in the sliced ELL format.
    SlicedProduct,
    /// Analysis and values of ILU(0) in double precision from nothing, with level information or
    /// without.
    Ilu0 {
        /// With it.
        levels: bool,
    },
    /// Analysis for solves with both triangles of the matrix as it is, from nothing.
    TriangularAnalysis,
    /// Solves with both triangles, analysed before.
    TriangularSolve,
}

/// cuSPARSE.
#[cfg(feature = "cuda")]
pub(super) fn cusparse<'a, T: Real>(
    backend: &'a CudaBackend,
    work: VendorWork,
    a: &Csr,
) -> Result<Option<Vendor<'a>>, DeviceError> {
    use driver::{IncompleteLu, SparseProduct, Storage, TriangularSolve, Which};
    let device = backend.device();
    let (mut x, mut y) = (backend.zeros::<T>(a.rows())?, backend.zeros::<T>(a.rows())?);
    backend.upload(&vec![T::one(); a.rows()], &mut x)?;
    let triangles = || {
        let lower = TriangularSolve::<T>::new(device, a, Which::UnitLower)?;
        Ok::<_, DeviceError>((lower, TriangularSolve::<T>::new(device, a, Which::Upper)?))
    };
    let once: super::Copy<'a> = match work {
        VendorWork::SlicedProduct => {
            let product = SparseProduct::<T>::new(device, a, Storage::SlicedEll)?;
            Box::new(move || product.multiply(&x, &mut y))
        }
        VendorWork::Ilu0 { levels } => {
            let mut factors = IncompleteLu::new(device, a, levels)?;
            Box::new(move || factors.set_up())
        }
        VendorWork::TriangularAnalysis => {
            let (mut lower, mut upper) = triangles()?;
            Box::new(move || {
                lower.analyse()?;
                upper.analyse()
            })
        }
        VendorWork::TriangularSolve => {
            let (mut lower, mut upper) = triangles()?;
            lower.analyse()?;
            upper.analyse()?;
            let mut z = backend.zeros::<T>(a.rows())?;
            Box::new(move || {
                lower.solve(&x, &mut y)?;
                upper.solve(&y, &mut z)
            })
        }
    };
    Ok(Some(("cuSPARSE", once)))
}
