//! NVIDIA's cuSPARSE as a reference. The library is opened at run time.
#![allow(unsafe_code, reason = "the library's interface is C; every call's contract is kept here")]

mod product;
mod setup;
mod triangular;

use self::product::{SparseProduct, Storage};
use self::setup::IncompleteLu;
use self::triangular::{TriangularSolve, Which};
use super::{VendorWork, Work};
use cudarc::cusparse::{result, sys};
use gridgen::backend::cuda::{Buffer, CudaBackend, Device};
use gridgen::backend::{Backend, DeviceError, Real};
use gridgen::sparse::Csr;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

/// Prepares `work` with the square matrix `a`; the result performs it once a call.
pub(crate) fn work<'a, T: Real>(
    backend: &'a CudaBackend,
    work: VendorWork,
    a: &Csr,
) -> Result<Work<'a>, DeviceError> {
    let device = backend.device();
    let (mut x, mut y) = (backend.zeros::<T>(a.rows())?, backend.zeros::<T>(a.rows())?);
    backend.upload(&vec![T::one(); a.rows()], &mut x)?;
    let triangles = || {
        let lower = TriangularSolve::<T>::new(device, a, Which::UnitLower)?;
        Ok::<_, DeviceError>((lower, TriangularSolve::<T>::new(device, a, Which::Upper)?))
    };
    let product = |storage| SparseProduct::<T>::new(device, a, storage);
    Ok(match work {
        VendorWork::Product => {
            let product = product(Storage::Csr)?;
            Box::new(move || product.multiply(&x, &mut y))
        }
        VendorWork::SlicedProduct => {
            let product = product(Storage::SlicedEll)?;
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
    })
}

/// A handle of the library, bound to the queue of a device.
struct Session {
    device: Arc<dyn Device>,
    handle: sys::cusparseHandle_t,
}

impl Session {
    /// Opens the library and checks that it has these functions.
    fn open(device: &Arc<dyn Device>, needed: &[&CStr]) -> Result<Self, DeviceError> {
        // SAFETY: only looks for the library.
        let (true, Some(queue)) = (unsafe { sys::is_culib_present() }, device.queue()) else {
            return Err(failed(
                device,
                "not found: put its folder into LD_LIBRARY_PATH".to_owned(),
            ));
        };
        for name in needed {
            // SAFETY: the library is loaded; the symbol is looked up but not called.
            let found = unsafe { sys::culib().get::<*const c_void>(name.to_bytes_with_nul()) };
            if found.is_err() {
                return Err(failed(device, format!("no function {name:?} was found")));
            }
        }
        let handle = result::create().map_err(|error| failed(device, format!("{:?}", error.0)))?;
        let session = Self { device: device.clone(), handle };
        // SAFETY: the handle is valid, and the queue lives as long as the device.
        let set = unsafe { sys::cusparseSetStream(handle, queue as sys::cudaStream_t) };
        session.check(set)?;
        Ok(session)
    }

    /// Turns a status into a result.
    fn check(&self, status: sys::cusparseStatus_t) -> Result<(), DeviceError> {
        status.result().map_err(|error| failed(&self.device, format!("{:?}", error.0)))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.device.synchronise();
        // SAFETY: nothing else holds the handle, and the queue is empty.
        let _ = unsafe { sys::cusparseDestroy(self.handle) };
    }
}

/// A matrix in the layout of the library: 32-bit offsets and columns.
struct Arrays<T> {
    rows: i32,
    entries: i32,
    offsets: Buffer<u32>,
    columns: Buffer<u32>,
    values: Buffer<T>,
}

impl<T: Real> Arrays<T> {
    fn new(device: &Arc<dyn Device>, a: &Csr) -> Result<Self, DeviceError> {
        let offsets: Vec<u32> = a.row_start.iter().map(|&start| start as u32).collect();
        let values: Vec<T> = a.values.iter().map(|&value| T::narrow(value)).collect();
        Ok(Self {
            rows: count(a.rows())?,
            entries: count(values.len())?,
            offsets: Buffer::from_host(device, &offsets)?,
            columns: Buffer::from_host(device, &a.columns)?,
            values: Buffer::from_host(device, &values)?,
        })
    }

    /// Makes a descriptor of the matrix by rows.
    fn describe(&self, session: &Session) -> Result<sys::cusparseSpMatDescr_t, DeviceError> {
        let mut matrix = std::ptr::null_mut();
        let rows = i64::from(self.rows);
        // SAFETY: the arrays have these lengths and live as long as the owner of the descriptor.
        let status = unsafe {
            sys::cusparseCreateCsr(
                &raw mut matrix,
                rows,
                rows,
                i64::from(self.entries),
                pointer(&self.offsets),
                pointer(&self.columns),
                pointer(&self.values),
                sys::cusparseIndexType_t::CUSPARSE_INDEX_32I,
                sys::cusparseIndexType_t::CUSPARSE_INDEX_32I,
                sys::cusparseIndexBase_t::CUSPARSE_INDEX_BASE_ZERO,
                data_type::<T>(),
            )
        };
        session.check(status)?;
        Ok(matrix)
    }
}

/// Two vectors with as many values as a matrix has rows; their addresses are set before each use.
struct Vectors {
    x: sys::cusparseDnVecDescr_t,
    y: sys::cusparseDnVecDescr_t,
}

impl Vectors {
    fn new<T: Real>(session: &Session, x: &Buffer<T>, y: &Buffer<T>) -> Result<Self, DeviceError> {
        let mut vectors = Self { x: std::ptr::null_mut(), y: std::ptr::null_mut() };
        for (vector, values) in [(&mut vectors.x, x), (&mut vectors.y, y)] {
            let n = i64::from(count(values.len())?);
            // SAFETY: the vector has `n` values.
            let status =
                unsafe { sys::cusparseCreateDnVec(vector, n, pointer(values), data_type::<T>()) };
            session.check(status)?;
        }
        Ok(vectors)
    }

    fn set<T: Real>(
        &self,
        session: &Session,
        x: &Buffer<T>,
        y: &Buffer<T>,
    ) -> Result<(), DeviceError> {
        for (vector, values) in [(self.x, x), (self.y, y)] {
            // SAFETY: the descriptor is valid, and the vector is as long as the first ones.
            session.check(unsafe { sys::cusparseDnVecSetValues(vector, pointer(values)) })?;
        }
        Ok(())
    }
}

impl Drop for Vectors {
    fn drop(&mut self) {
        // SAFETY: nothing else holds the descriptors. The library refuses a null one, and then there is
        // nothing to free.
        unsafe {
            let _ = sys::cusparseDestroyDnVec(self.x);
            let _ = sys::cusparseDestroyDnVec(self.y);
        }
    }
}

/// A number of rows or entries in the library's 32-bit type.
fn count(n: usize) -> Result<i32, DeviceError> {
    i32::try_from(n).map_err(|_| DeviceError::TooManyEntries { entries: n })
}

fn pointer<T>(buffer: &Buffer<T>) -> *mut c_void
where
    T: bytemuck::Pod,
{
    buffer.address() as *mut c_void
}

fn data_type<T: Real>() -> sys::cudaDataType {
    if size_of::<T>() == 4 { sys::cudaDataType::CUDA_R_32F } else { sys::cudaDataType::CUDA_R_64F }
}

fn failed(device: &Arc<dyn Device>, reason: String) -> DeviceError {
    DeviceError::Call { device: device.name().to_owned(), operation: "cuSPARSE", reason }
}
