//! Preconditioners: those of ELL matrices, and multigrid.

mod factors;
mod multigrid;

pub use self::multigrid::CudaLevel;

use self::factors::CudaFactors;
use crate::backend::cuda::algebra::{CudaMatrix, Jacobi};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::preconditioner::Identity;
use crate::backend::{Algebraic, DeviceError, Preconditioner, Real, SparseMatrix};

impl<T: Real> SparseMatrix<CudaBackend, T> for CudaMatrix<T> {
    fn preconditioner(
        &self,
        backend: &CudaBackend,
        kind: Algebraic,
    ) -> Result<Box<dyn Preconditioner<CudaBackend, T, Self>>, DeviceError> {
        Ok(match kind {
            Algebraic::None => Box::new(Identity),
            Algebraic::Jacobi => Box::new(Jacobi::new(backend, self.rows())?),
            Algebraic::Factors { shift, .. } if shift != 0.0 => {
                return Err(DeviceError::NotInEll { what: "shifted factors" });
            }
            Algebraic::Factors { kind, .. } if kind.symmetric() => {
                return Err(DeviceError::NotInEll { what: kind.name() });
            }
            Algebraic::Factors { kind, schedule, .. } => {
                Box::new(CudaFactors::new(backend, self, kind, schedule)?)
            }
        })
    }
}
