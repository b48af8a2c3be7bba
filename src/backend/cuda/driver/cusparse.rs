//! A product by NVIDIA's cuSPARSE, to compare with. The library is opened at run time.

use super::super::device::Device;
use super::super::{Buffer, CudaVector};
use crate::backend::{DeviceError, Real};
use crate::sparse::Csr;
use cudarc::cusparse::{result, sys};
use std::ffi::c_void;
use std::sync::Arc;

/// Version from which on a product can be prepared.
const PREPARED_FROM: i32 = 12_400;

/// y ← A x by cuSPARSE's product of a CSR matrix.
pub struct CsrProduct<T: Real> {
    device: Arc<dyn Device>,
    handle: sys::cusparseHandle_t,
    matrix: sys::cusparseSpMatDescr_t,
    x: sys::cusparseDnVecDescr_t,
    y: sys::cusparseDnVecDescr_t,
    work: Buffer<u8>,
    /// What the descriptors point to.
    arrays: (Buffer<u32>, Buffer<u32>, Buffer<T>),
}

impl<T: Real> CsrProduct<T> {
    /// A square matrix on `device`, for products of vectors of its size. Its entries must fit 31 bits.
    ///
    /// # Errors
    /// [`DeviceError::NoLibrary`] where cuSPARSE is not found.
    pub fn new(device: &Arc<dyn Device>, a: &Csr) -> Result<Self, DeviceError> {
        // SAFETY: looks for the library.
        let (true, Some(queue)) = (unsafe { sys::is_culib_present() }, device.queue()) else {
            return Err(DeviceError::NoLibrary { name: "cuSPARSE" });
        };
        let offsets: Vec<u32> = a.row_start.iter().map(|&start| start as u32).collect();
        let values: Vec<T> = a.values.iter().map(|&value| T::narrow(value)).collect();
        let arrays = (
            Buffer::from_host(device, &offsets)?,
            Buffer::from_host(device, &a.columns)?,
            Buffer::from_host(device, &values)?,
        );
        let (rows, entries) = (i64::from(a.rows() as u32), i64::from(a.values.len() as u32));
        let mut product = Self {
            device: device.clone(),
            handle: result::create().map_err(|error| failed(device, error))?,
            matrix: std::ptr::null_mut(),
            x: std::ptr::null_mut(),
            y: std::ptr::null_mut(),
            work: Buffer::zeros(device, 0)?,
            arrays,
        };
        let pointer = |address: u64| address as *mut c_void;
        let (offsets, columns, values) = &product.arrays;
        // SAFETY: the arrays have the lengths that are given and live as long as the descriptors;
        // the vectors' places are set before each product, and have room until then in the values.
        let made = unsafe {
            sys::cusparseSetStream(product.handle, queue as sys::cudaStream_t)
                .result()
                .and_then(|()| {
                    sys::cusparseCreateCsr(
                        &raw mut product.matrix,
                        rows,
                        rows,
                        entries,
                        pointer(offsets.address()),
                        pointer(columns.address()),
                        pointer(values.address()),
                        sys::cusparseIndexType_t::CUSPARSE_INDEX_32I,
                        sys::cusparseIndexType_t::CUSPARSE_INDEX_32I,
                        sys::cusparseIndexBase_t::CUSPARSE_INDEX_BASE_ZERO,
                        data_type::<T>(),
                    )
                    .result()
                })
                .and_then(|()| {
                    let values = pointer(values.address());
                    sys::cusparseCreateDnVec(&raw mut product.x, rows, values, data_type::<T>())
                        .result()
                })
                .and_then(|()| {
                    let values = pointer(values.address());
                    sys::cusparseCreateDnVec(&raw mut product.y, rows, values, data_type::<T>())
                        .result()
                })
        };
        made.map_err(|error| failed(device, error))?;
        product.prepare()?;
        Ok(product)
    }

    /// Room for the product, and what cuSPARSE finds out about the matrix beforehand.
    fn prepare(&mut self) -> Result<(), DeviceError> {
        let (one, zero) = (T::one(), T::zero());
        let (mut bytes, mut version) = (0, 0);
        // SAFETY: the descriptors are valid; scalars are on the host, the default.
        unsafe {
            sys::cusparseSpMV_bufferSize(
                self.handle,
                sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE,
                (&raw const one).cast(),
                self.matrix,
                self.x,
                (&raw const zero).cast(),
                self.y,
                data_type::<T>(),
                sys::cusparseSpMVAlg_t::CUSPARSE_SPMV_ALG_DEFAULT,
                &raw mut bytes,
            )
            .result()
            .and_then(|()| sys::cusparseGetVersion(self.handle, &raw mut version).result())
        }
        .map_err(|error| failed(&self.device, error))?;
        self.work = Buffer::zeros(&self.device, bytes)?;
        if version < PREPARED_FROM {
            return Ok(());
        }
        // SAFETY: as above; the room has the size asked for.
        unsafe {
            sys::cusparseSpMV_preprocess(
                self.handle,
                sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE,
                (&raw const one).cast(),
                self.matrix,
                self.x,
                (&raw const zero).cast(),
                self.y,
                data_type::<T>(),
                sys::cusparseSpMVAlg_t::CUSPARSE_SPMV_ALG_DEFAULT,
                self.work.address() as *mut c_void,
            )
            .result()
        }
        .map_err(|error| failed(&self.device, error))
    }

    /// y ← A x.
    ///
    /// # Errors
    /// If cuSPARSE reports one.
    pub fn multiply(&self, x: &CudaVector<T>, y: &mut CudaVector<T>) -> Result<(), DeviceError> {
        let (one, zero) = (T::one(), T::zero());
        // SAFETY: the descriptors are valid, and the vectors have as many values as rows.
        unsafe {
            sys::cusparseDnVecSetValues(self.x, x.address() as *mut c_void)
                .result()
                .and_then(|()| {
                    sys::cusparseDnVecSetValues(self.y, y.address() as *mut c_void).result()
                })
                .and_then(|()| {
                    sys::cusparseSpMV(
                        self.handle,
                        sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE,
                        (&raw const one).cast(),
                        self.matrix,
                        self.x,
                        (&raw const zero).cast(),
                        self.y,
                        data_type::<T>(),
                        sys::cusparseSpMVAlg_t::CUSPARSE_SPMV_ALG_DEFAULT,
                        self.work.address() as *mut c_void,
                    )
                    .result()
                })
        }
        .map_err(|error| failed(&self.device, error))
    }
}

impl<T: Real> Drop for CsrProduct<T> {
    fn drop(&mut self) {
        let _ = self.device.synchronise();
        // SAFETY: nothing else holds the descriptors, and the queue is empty. A null one is refused,
        // which leaves nothing to do.
        unsafe {
            let _ = sys::cusparseDestroyDnVec(self.x);
            let _ = sys::cusparseDestroyDnVec(self.y);
            let _ = sys::cusparseDestroySpMat(self.matrix);
            let _ = sys::cusparseDestroy(self.handle);
        }
    }
}

fn data_type<T: Real>() -> sys::cudaDataType {
    if size_of::<T>() == 4 { sys::cudaDataType::CUDA_R_32F } else { sys::cudaDataType::CUDA_R_64F }
}

fn failed(device: &Arc<dyn Device>, error: result::CusparseError) -> DeviceError {
    DeviceError::Call {
        device: device.name().to_owned(),
        operation: "cuSPARSE",
        reason: format!("{:?}", error.0),
    }
}
