//! Triangular solves by cuSPARSE.

use super::{Arrays, Session, Vectors, data_type, pointer};
use cudarc::cusparse::sys;
use gridgen::backend::cuda::{Buffer, CudaVector, Device};
use gridgen::backend::{DeviceError, Real};
use gridgen::sparse::Csr;
use std::sync::Arc;

/// The triangle that is solved with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Entries left of the diagonal, which is one.
    UnitLower,
    /// Entries right of the diagonal, and the diagonal.
    Upper,
}

/// Solves with a triangle of a matrix.
pub(crate) struct TriangularSolve<T: Real> {
    matrix: sys::cusparseSpMatDescr_t,
    description: sys::cusparseSpSVDescr_t,
    vectors: Vectors,
    work: Buffer<u8>,
    _arrays: Arrays<T>,
    session: Session,
}

impl<T: Real> TriangularSolve<T> {
    /// A triangle of `a`, not analysed yet.
    ///
    /// # Errors
    /// [`DeviceError::NoLibrary`] where cuSPARSE, or a function of it, is not found.
    pub(crate) fn new(
        device: &Arc<dyn Device>,
        a: &Csr,
        which: Which,
    ) -> Result<Self, DeviceError> {
        let needed = [c"cusparseSpSV_analysis", c"cusparseSpSV_solve", c"cusparseSpSV_bufferSize"];
        let session = Session::open(device, &needed)?;
        let arrays = Arrays::new(device, a)?;
        let (x, y) = (Buffer::<T>::zeros(device, a.rows())?, Buffer::zeros(device, a.rows())?);
        let vectors = Vectors::new(&session, &x, &y)?;
        let matrix = arrays.describe(&session)?;
        let work = Buffer::zeros(device, 0)?;
        let description = std::ptr::null_mut();
        let mut solve = Self { matrix, description, vectors, work, _arrays: arrays, session };
        solve.describe(which)?;
        Ok(solve)
    }

    fn describe(&mut self, which: Which) -> Result<(), DeviceError> {
        let (mut fill, mut unit) = match which {
            Which::UnitLower => (
                sys::cusparseFillMode_t::CUSPARSE_FILL_MODE_LOWER,
                sys::cusparseDiagType_t::CUSPARSE_DIAG_TYPE_UNIT,
            ),
            Which::Upper => (
                sys::cusparseFillMode_t::CUSPARSE_FILL_MODE_UPPER,
                sys::cusparseDiagType_t::CUSPARSE_DIAG_TYPE_NON_UNIT,
            ),
        };
        // SAFETY: the attributes are enumerations of the size that is named.
        let statuses = unsafe {
            [
                sys::cusparseSpMatSetAttribute(
                    self.matrix,
                    sys::cusparseSpMatAttribute_t::CUSPARSE_SPMAT_FILL_MODE,
                    (&raw mut fill).cast(),
                    size_of_val(&fill),
                ),
                sys::cusparseSpMatSetAttribute(
                    self.matrix,
                    sys::cusparseSpMatAttribute_t::CUSPARSE_SPMAT_DIAG_TYPE,
                    (&raw mut unit).cast(),
                    size_of_val(&unit),
                ),
            ]
        };
        statuses.into_iter().try_for_each(|status| self.session.check(status))
    }

    /// cuSPARSE's analysis of the matrix, from scratch.
    ///
    /// # Errors
    /// If cuSPARSE reports one.
    pub(crate) fn analyse(&mut self) -> Result<(), DeviceError> {
        self.forget();
        let one = T::one();
        let mut bytes = 0;
        // SAFETY: the descriptors are valid; scalars are on the host, the default.
        let statuses = unsafe {
            [
                sys::cusparseSpSV_createDescr(&raw mut self.description),
                sys::cusparseSpSV_bufferSize(
                    self.session.handle,
                    sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE,
                    (&raw const one).cast(),
                    self.matrix,
                    self.vectors.x,
                    self.vectors.y,
                    data_type::<T>(),
                    sys::cusparseSpSVAlg_t::CUSPARSE_SPSV_ALG_DEFAULT,
                    self.description,
                    &raw mut bytes,
                ),
            ]
        };
        statuses.into_iter().try_for_each(|status| self.session.check(status))?;
        if self.work.len() < bytes {
            self.work = Buffer::zeros(&self.session.device, bytes)?;
        }
        // SAFETY: as above; the room has the size asked for.
        let status = unsafe {
            sys::cusparseSpSV_analysis(
                self.session.handle,
                sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE,
                (&raw const one).cast(),
                self.matrix,
                self.vectors.x,
                self.vectors.y,
                data_type::<T>(),
                sys::cusparseSpSVAlg_t::CUSPARSE_SPSV_ALG_DEFAULT,
                self.description,
                pointer(&self.work),
            )
        };
        self.session.check(status)
    }

    /// y ← T⁻¹ x. The analysis must have been made.
    ///
    /// # Errors
    /// If cuSPARSE reports one.
    pub(crate) fn solve(
        &self,
        x: &CudaVector<T>,
        y: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        let one = T::one();
        self.vectors.set(&self.session, x, y)?;
        // SAFETY: the descriptors are valid, and the vectors have as many values as rows.
        let status = unsafe {
            sys::cusparseSpSV_solve(
                self.session.handle,
                sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE,
                (&raw const one).cast(),
                self.matrix,
                self.vectors.x,
                self.vectors.y,
                data_type::<T>(),
                sys::cusparseSpSVAlg_t::CUSPARSE_SPSV_ALG_DEFAULT,
                self.description,
            )
        };
        self.session.check(status)
    }

    /// Gives back what an analysis found.
    fn forget(&mut self) {
        if self.description.is_null() {
            return;
        }
        let _ = self.session.device.synchronise();
        // SAFETY: nothing else holds the description, and the queue is empty.
        let _ = unsafe { sys::cusparseSpSV_destroyDescr(self.description) };
        self.description = std::ptr::null_mut();
    }
}

impl<T: Real> Drop for TriangularSolve<T> {
    fn drop(&mut self) {
        self.forget();
        let _ = self.session.device.synchronise();
        // SAFETY: nothing else holds the descriptor, and the queue is empty.
        let _ = unsafe { sys::cusparseDestroySpMat(self.matrix) };
    }
}
