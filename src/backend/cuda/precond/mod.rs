//! Preconditioners: those of ELL matrices, and multigrid.

mod factors;
mod multigrid;

pub use self::multigrid::CudaLevel;

use self::factors::{RowFactors, TileFactors};
use crate::backend::cuda::algebra::{CudaMatrix, Jacobi};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::launch::Result;
use crate::backend::matrices::Identity;
use crate::backend::{Algebraic, Backend, DeviceError, Preconditioner, Real, SparseMatrix};
use crate::sparse::{Schedule, Structure};

impl<T: Real> SparseMatrix<CudaBackend, T> for CudaMatrix<T> {
    fn preconditioner(
        &self,
        backend: &CudaBackend,
        kind: Algebraic,
    ) -> Result<Box<dyn Preconditioner<CudaBackend, T, Self>>> {
        Ok(match kind {
            Algebraic::None => Box::new(Identity),
            Algebraic::Jacobi => Box::new(Jacobi { inverse: backend.zeros(self.pattern.rows())? }),
            Algebraic::Factors { shift, .. } if shift != 0.0 => {
                return Err(DeviceError::NotInEll { what: "shifted factors" });
            }
            Algebraic::Factors { kind, .. } if kind.symmetric() => {
                return Err(DeviceError::NotInEll { what: kind.name() });
            }
            Algebraic::Factors { kind, schedule, .. } => {
                let tiles = matches!(schedule, Schedule::Auto | Schedule::Tiles);
                match self.pattern.structure() {
                    Structure::NinePoint { mi, mj, periodic } if tiles && kind.diagonal_only() => {
                        Box::new(TileFactors::new(backend, (mi, mj), periodic)?)
                    }
                    _ => Box::new(RowFactors::new(backend, &self.pattern, kind, schedule)?),
                }
            }
        })
    }
}
