//! Triangular solves by cuSPARSE.

use super::{Arrays, Session, Vectors, data_type, pointer};
use cudarc::cusparse::sys;
use gridgen::backend::cuda::{Buffer, CudaVector, Device};
use gridgen::backend::{DeviceError, Real};
use gridgen::sparse::Csr;
use std::sync::Arc;

/// The triangle of a solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Entries left of the diagonal, with ones on it.
    UnitLower,
    /// The diagonal and the entries right of it.
    Upper,
}

/// Solves with one triangle of a matrix.
pub(crate) struct TriangularSolve<T: Real> {
    matrix: sys::cusparseSpMatDescr_t,
    description: sys::cusparseSpSVDescr_t,
    vectors: Vectors,
    work: Buffer<u8>,
    _arrays: Arrays<T>,
    session: Session,
}

/// A call of one of the functions of a solve, with a further argument; scalars are on the host, which is the default.
macro_rules! solve {
    ($solve:ident, $function:ident $(, $further:expr)?) => {
        $solve.session.check(sys::$function(
            $solve.session.handle,
            sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE,
            std::ptr::from_ref(&T::one()).cast(),
            $solve.matrix,
            $solve.vectors.x,
            $solve.vectors.y,
            data_type::<T>(),
            sys::cusparseSpSVAlg_t::CUSPARSE_SPSV_ALG_DEFAULT,
            $solve.description,
            $($further,)?
        ))
    };
}

impl<T: Real> TriangularSolve<T> {
    /// A triangle of `a`, without analysis.
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
        // SAFETY: the attributes are enumerations of the stated size.
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
    pub(crate) fn analyse(&mut self) -> Result<(), DeviceError> {
        self.forget();
        let mut bytes = 0;
        // SAFETY: makes a description, which is destroyed in `forget`.
        let status = unsafe { sys::cusparseSpSV_createDescr(&raw mut self.description) };
        self.session.check(status)?;
        // SAFETY: the descriptors are valid.
        unsafe { solve!(self, cusparseSpSV_bufferSize, &raw mut bytes) }?;
        if self.work.len() < bytes {
            self.work = Buffer::zeros(&self.session.device, bytes)?;
        }
        // SAFETY: see above; the work space has the requested size.
        unsafe { solve!(self, cusparseSpSV_analysis, pointer(&self.work)) }
    }

    /// y ← T⁻¹ x. Requires an analysis.
    pub(crate) fn solve(
        &self,
        x: &CudaVector<T>,
        y: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        self.vectors.set(&self.session, x, y)?;
        // SAFETY: the descriptors are valid, and the vectors have as many values as rows.
        unsafe { solve!(self, cusparseSpSV_solve) }
    }

    /// Frees the results of an analysis.
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
