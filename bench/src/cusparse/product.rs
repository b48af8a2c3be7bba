//! Products by cuSPARSE.

use super::{Arrays, Session, Vectors, count, data_type, pointer};
use cudarc::cusparse::sys;
use gridgen::backend::cuda::{Buffer, CudaVector, Device};
use gridgen::backend::{DeviceError, Real};
use gridgen::sparse::Csr;
use std::sync::Arc;

/// Rows of a slice.
const SLICE: usize = 32;

/// The storage format of the matrix in cuSPARSE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    /// By rows.
    Csr,
    /// In slices of 32 rows, each as wide as its longest row.
    SlicedEll,
}

/// y ← A x by cuSPARSE.
pub(crate) struct SparseProduct<T: Real> {
    // The fields are in the order in which they are dropped.
    matrix: sys::cusparseSpMatDescr_t,
    vectors: Vectors,
    algorithm: sys::cusparseSpMVAlg_t,
    work: Buffer<u8>,
    _arrays: Arrays<T>,
    session: Session,
}

/// A call of one of the functions of a product, with its last argument; scalars are on the host, which is the default.
macro_rules! product {
    ($product:ident, $function:ident, $last:expr) => {
        $product.session.check(sys::$function(
            $product.session.handle,
            sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE,
            std::ptr::from_ref(&T::one()).cast(),
            $product.matrix,
            $product.vectors.x,
            std::ptr::from_ref(&T::zero()).cast(),
            $product.vectors.y,
            data_type::<T>(),
            $product.algorithm,
            $last,
        ))
    };
}

impl<T: Real> SparseProduct<T> {
    /// A square matrix on `device`, for products of vectors of its size.
    pub(crate) fn new(
        device: &Arc<dyn Device>,
        a: &Csr,
        storage: Storage,
    ) -> Result<Self, DeviceError> {
        let needed = [c"cusparseSpMV", c"cusparseSpMV_preprocess", c"cusparseCreateSlicedEll"];
        let session = Session::open(device, &needed)?;
        let (x, y) = (Buffer::<T>::zeros(device, a.rows())?, Buffer::zeros(device, a.rows())?);
        let vectors = Vectors::new(&session, &x, &y)?;
        let (arrays, matrix, algorithm) = match storage {
            Storage::Csr => {
                let arrays = Arrays::new(device, a)?;
                let matrix = arrays.describe(&session)?;
                (arrays, matrix, sys::cusparseSpMVAlg_t::CUSPARSE_SPMV_ALG_DEFAULT)
            }
            Storage::SlicedEll => {
                let (arrays, matrix) = sliced(&session, a)?;
                (arrays, matrix, sys::cusparseSpMVAlg_t::CUSPARSE_SPMV_SELL_ALG1)
            }
        };
        let work = Buffer::zeros(device, 0)?;
        let mut product = Self { matrix, vectors, algorithm, work, _arrays: arrays, session };
        product.prepare()?;
        Ok(product)
    }

    /// Allocates the work space of the product and lets cuSPARSE analyse the matrix.
    fn prepare(&mut self) -> Result<(), DeviceError> {
        let mut bytes = 0;
        // SAFETY: the descriptors are valid.
        unsafe { product!(self, cusparseSpMV_bufferSize, &raw mut bytes) }?;
        self.work = Buffer::zeros(&self.session.device, bytes)?;
        // SAFETY: see above; the work space has the requested size.
        unsafe { product!(self, cusparseSpMV_preprocess, pointer(&self.work)) }
    }

    /// y ← A x.
    pub(crate) fn multiply(
        &self,
        x: &CudaVector<T>,
        y: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        self.vectors.set(&self.session, x, y)?;
        // SAFETY: the descriptors are valid, and the vectors have as many values as rows.
        unsafe { product!(self, cusparseSpMV, pointer(&self.work)) }
    }
}

impl<T: Real> Drop for SparseProduct<T> {
    fn drop(&mut self) {
        let _ = self.session.device.synchronise();
        // SAFETY: nothing else holds the descriptor, and the queue is empty.
        let _ = unsafe { sys::cusparseDestroySpMat(self.matrix) };
    }
}

/// The matrix in slices of rows.
fn sliced<T: Real>(
    session: &Session,
    a: &Csr,
) -> Result<(Arrays<T>, sys::cusparseSpMatDescr_t), DeviceError> {
    let (mut offsets, mut columns, mut values) = (vec![0_u32], Vec::new(), Vec::new());
    for first in (0..a.rows()).step_by(SLICE) {
        let rows = first..(first + SLICE).min(a.rows());
        let length = |row: usize| a.row_start[row + 1] - a.row_start[row];
        let (width, at) = (rows.clone().map(length).max().unwrap_or(0), columns.len());
        columns.resize(at + SLICE * width, u32::MAX);
        values.resize(at + SLICE * width, T::zero());
        count(columns.len())?;
        for row in rows {
            for (k, (column, value)) in a.row(row).enumerate() {
                columns[at + SLICE * k + row - first] = column as u32;
                values[at + SLICE * k + row - first] = T::narrow(value);
            }
        }
        offsets.push(columns.len() as u32);
    }
    let device = &session.device;
    let arrays = Arrays {
        rows: count(a.rows())?,
        entries: count(a.values.len())?,
        offsets: Buffer::from_host(device, &offsets)?,
        columns: Buffer::from_host(device, &columns)?,
        values: Buffer::from_host(device, &values)?,
    };
    let mut matrix = std::ptr::null_mut();
    let rows = i64::from(arrays.rows);
    // SAFETY: the arrays have these lengths and are kept together with the descriptor.
    let status = unsafe {
        sys::cusparseCreateSlicedEll(
            &raw mut matrix,
            rows,
            rows,
            i64::from(arrays.entries),
            i64::from(count(columns.len())?),
            i64::from(count(SLICE)?),
            pointer(&arrays.offsets),
            pointer(&arrays.columns),
            pointer(&arrays.values),
            sys::cusparseIndexType_t::CUSPARSE_INDEX_32I,
            sys::cusparseIndexType_t::CUSPARSE_INDEX_32I,
            sys::cusparseIndexBase_t::CUSPARSE_INDEX_BASE_ZERO,
            data_type::<T>(),
        )
    };
    session.check(status)?;
    Ok((arrays, matrix))
}
