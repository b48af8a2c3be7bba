//! ILU(0) by cuSPARSE.

use super::{Arrays, Session};
use cudarc::cusparse::sys;
use gridgen::backend::DeviceError;
use gridgen::backend::cuda::{Buffer, Device};
use gridgen::sparse::Csr;
use std::sync::Arc;

/// ILU(0) of a matrix, in double precision.
pub(crate) struct IncompleteLu {
    description: sys::cusparseMatDescr_t,
    levels: bool,
    given: Arrays<f64>,
    /// The factors.
    factored: Buffer<f64>,
    work: Buffer<u8>,
    session: Session,
}

impl IncompleteLu {
    /// Prepares a square matrix on `device` for elimination, with or without level information.
    pub(crate) fn new(
        device: &Arc<dyn Device>,
        a: &Csr,
        levels: bool,
    ) -> Result<Self, DeviceError> {
        let needed =
            [c"cusparseDcsrilu02_analysis", c"cusparseDcsrilu02", c"cusparseCreateMatDescr"];
        let session = Session::open(device, &needed)?;
        let given = Arrays::new(device, a)?;
        let factored = Buffer::zeros(device, a.values.len())?;
        let work = Buffer::zeros(device, 0)?;
        let mut description = std::ptr::null_mut();
        // SAFETY: makes a descriptor with the defaults, a general matrix with rows counted from zero.
        session.check(unsafe { sys::cusparseCreateMatDescr(&raw mut description) })?;
        Ok(Self { description, levels, given, factored, work, session })
    }

    /// Analysis and elimination, from scratch.
    pub(crate) fn set_up(&mut self) -> Result<(), DeviceError> {
        let device = self.session.device.clone();
        self.factored.copy_from(&self.given.values)?;
        let mut info = std::ptr::null_mut();
        // SAFETY: makes a description, which is destroyed below.
        self.session.check(unsafe { sys::cusparseCreateCsrilu02Info(&raw mut info) })?;
        let done = self.eliminate(info).and_then(|()| device.synchronise());
        // SAFETY: nothing else holds the description.
        let destroyed = unsafe { sys::cusparseDestroyCsrilu02Info(info) };
        done.and_then(|()| self.session.check(destroyed))
    }

    fn eliminate(&mut self, info: sys::csrilu02Info_t) -> Result<(), DeviceError> {
        let (rows, entries) = (self.given.rows, self.given.entries);
        let values = self.factored.address() as *mut f64;
        let offsets = self.given.offsets.address() as *const i32;
        let columns = self.given.columns.address() as *const i32;
        let policy = if self.levels {
            sys::cusparseSolvePolicy_t::CUSPARSE_SOLVE_POLICY_USE_LEVEL
        } else {
            sys::cusparseSolvePolicy_t::CUSPARSE_SOLVE_POLICY_NO_LEVEL
        };
        let (handle, description) = (self.session.handle, self.description);
        let mut bytes = 0;
        // SAFETY: the arrays have these lengths.
        let status = unsafe {
            sys::cusparseDcsrilu02_bufferSize(
                handle,
                rows,
                entries,
                description,
                values,
                offsets,
                columns,
                info,
                &raw mut bytes,
            )
        };
        self.session.check(status)?;
        if self.work.len() < bytes as usize {
            self.work = Buffer::zeros(&self.session.device, bytes as usize)?;
        }
        let room = self.work.address() as *mut std::ffi::c_void;
        // SAFETY: see above; the work space has the requested size.
        let statuses = unsafe {
            [
                sys::cusparseDcsrilu02_analysis(
                    handle,
                    rows,
                    entries,
                    description,
                    values,
                    offsets,
                    columns,
                    info,
                    policy,
                    room,
                ),
                sys::cusparseDcsrilu02(
                    handle,
                    rows,
                    entries,
                    description,
                    values,
                    offsets,
                    columns,
                    info,
                    policy,
                    room,
                ),
            ]
        };
        statuses.into_iter().try_for_each(|status| self.session.check(status))
    }
}

impl Drop for IncompleteLu {
    fn drop(&mut self) {
        let _ = self.session.device.synchronise();
        // SAFETY: nothing else holds the descriptor, and the queue is empty.
        let _ = unsafe { sys::cusparseDestroyMatDescr(self.description) };
    }
}
