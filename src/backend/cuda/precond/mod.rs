//! Preconditioners: those of ELL matrices, and multigrid; and an estimate of the memory that a solve needs.

mod multigrid;

pub use self::multigrid::CudaLevel;

use crate::backend::cuda::algebra::{CudaJacobi, CudaMatrix, CudaVector, checked};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::csr::{EliminationPattern, RowFactors, Waiting};
use crate::backend::cuda::device::{Buffer, Device};
use crate::backend::cuda::launch::constants::{
    COMPACT_STORAGE, FULL_STORAGE, TILE_ENTRIES, WALL_VALUES, half_row,
};
use crate::backend::cuda::launch::{LaunchShape, Result, kernels, launch};
use crate::backend::error::{check_length, check_lengths};
use crate::backend::matrices::{Identity, OfEntries};
use crate::backend::{
    Algebraic, Backend, DeviceError, Incomplete, LevelSize, Preconditioner, Real, SolverError,
    SparseMatrix,
};
use crate::sparse::{EllPattern, Schedule, TILE};
use std::sync::Arc;

impl<T: Real> SparseMatrix<CudaBackend, T> for CudaMatrix<T> {
    fn preconditioner(
        &self,
        backend: &CudaBackend,
        kind: Algebraic,
    ) -> Result<Box<dyn Preconditioner<CudaBackend, T, Self>>> {
        if let EllPattern::TenNumbers(size) = self.pattern {
            return Ok(Box::new(OfEntries::new(backend, size, kind)?));
        }
        let size = self.nine_points()?;
        Ok(match kind {
            Algebraic::None => Box::new(Identity),
            Algebraic::Jacobi => {
                Box::new(CudaJacobi { inverse: backend.zeros(self.pattern.rows())? })
            }
            Algebraic::Factors { shift, .. } if shift != 0.0 => {
                return Err(DeviceError::NotInEll { what: "shifted factors" });
            }
            Algebraic::Factors { kind, .. } if kind.symmetric() => {
                return Err(DeviceError::NotInEll { what: kind.name() });
            }
            Algebraic::Factors { kind, schedule: Schedule::Auto | Schedule::Tiles, .. }
                if kind.diagonal_only() =>
            {
                let tiles = size.mi.div_ceil(TILE) * size.mj.div_ceil(TILE);
                let values = backend.zeros(tiles * 2 * TILE * TILE * TILE_ENTRIES)?;
                Box::new(TileFactors { size, tiles, values })
            }
            Algebraic::Factors { kind, schedule, .. } => {
                let a = Arc::new(EliminationPattern::of_ell(backend, self, schedule)?);
                let mut factors = RowFactors::new(backend, a, kind, true)?;
                // Natural order has thousands of levels: on 2049 × 513 points an iteration takes 51 ms by launches
                // and 6.5 row by row (measurements/solver-iterations.csv).
                let waiting = match schedule {
                    Schedule::Colours | Schedule::Tiles => Waiting::Launches,
                    _ => Waiting::RowByRow,
                };
                factors.prepare_launches()?;
                Box::new(EllFactors { factors, waiting, entries: self.values.len() })
            }
        })
    }
}

/// Incomplete factors of an ELL matrix, their rows sorted by level.
struct EllFactors<T> {
    factors: RowFactors<T>,
    waiting: Waiting,
    /// Values of A.
    entries: usize,
}

impl<T: Real> Preconditioner<CudaBackend, T, CudaMatrix<T>> for EllFactors<T> {
    fn update(&mut self, backend: &CudaBackend, a: &CudaMatrix<T>) -> Result<(), SolverError> {
        check_length(a.values.len(), self.entries)?;
        let bad = self.factors.factor(backend, &a.values, 0.0, self.waiting)?;
        let row = backend.first_of_all(bad.map(|bad| bad.row), 2)?;
        checked(self.factors.kind.name(), row)
    }

    fn apply(
        &mut self,
        backend: &CudaBackend,
        _: &CudaMatrix<T>,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<()> {
        self.factors.solve_triangles(backend, self.waiting, r, z)
    }
}

/// Values of a tile with a frame of one point, two a point.
const FRAME_VALUES: usize = 2 * (TILE + 2) * (TILE + 2);

/// DILU of the nine-point pattern within tiles of the points: one launch, one warp per tile.
pub(super) struct TileFactors<T> {
    size: LevelSize,
    tiles: usize,
    values: Buffer<T>,
}

impl<T: Real> TileFactors<T> {
    fn shape(&self) -> LaunchShape {
        let shared = (FRAME_VALUES * size_of::<T>()) as u32;
        LaunchShape { shared, ..LaunchShape::new(self.tiles, 32) }
    }
}

impl<T: Real> Preconditioner<CudaBackend, T, CudaMatrix<T>> for TileFactors<T> {
    fn update(&mut self, backend: &CudaBackend, a: &CudaMatrix<T>) -> Result<(), SolverError> {
        check_length(a.pattern.rows(), self.size.values())?;
        let grid = backend.grid_arguments(self.size);
        let (shape, arguments) = (self.shape(), (grid, self.tiles as u64, &a.values, &self.values));
        let bad = backend.find_first::<T>(kernels::factor_tiles, shape, arguments, 2)?;
        checked(Incomplete::Dilu.name(), bad)
    }

    fn apply(
        &mut self,
        backend: &CudaBackend,
        _: &CudaMatrix<T>,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<()> {
        check_lengths(self.size.values(), [r.len(), z.len()])?;
        let (mi, mj) = (self.size.mi as u32, self.size.mj as u32);
        launch!(backend => solve_tiles[T, self.shape()](mi, mj, self.tiles as u64, &self.values, r,
            &*z))
    }
}

/// Quantities that determine the memory that a solve needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// Unknown points.
    pub points: usize,
    /// Points of a line along xi.
    pub columns: usize,
    /// Bytes of a value of the linear solve: 4 or 8.
    pub value: usize,
    /// Storage of the preconditioner.
    pub preconditioner: PreconditionerStorage,
}

/// Storage of a preconditioner per point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreconditionerStorage {
    /// A diagonal, or nothing.
    Diagonal,
    /// Incomplete factors within tiles.
    Tiles,
    /// Incomplete factors by rows, with their columns.
    Factors,
    /// A multigrid hierarchy in single precision.
    Hierarchy,
}

/// Values per point in double precision whatever the settings: nodes, control functions, decay of the
/// wall terms, weights, and the vectors of Newton's method.
const DOUBLES: usize = 8 + 8;
/// Values per point of the linear solve beside the field Jacobian: wall columns, right side and solution, seven vectors
/// of BiCGStab, three of the wall reduction.
const VALUES: usize = 4 + 4 + 14 + 6;
/// Values per point of the field Jacobian by entries, and by ten numbers where multigrid preconditions.
const ENTRIES: usize = 26;
const NUMBERS: usize = 10;
/// Memory in addition to that of the points: recordings, compiled kernels, the matrix of small levels.
const FIXED: usize = 256 << 20;

impl MemoryEstimate {
    /// Bytes of the GPU's memory.
    pub fn bytes(&self) -> usize {
        let points = self.points;
        let (stored, field) = match self.preconditioner {
            PreconditionerStorage::Diagonal => (points * 2 * self.value, ENTRIES),
            // 26 entries, and at most as many of tiles that reach over the rim.
            PreconditionerStorage::Tiles => (points * 2 * 26 * self.value, ENTRIES),
            // 26 entries of the eliminated matrix with their columns and sources, again by triangles, and
            // the products of one; pivots and intermediate vectors, and both orders of the rows.
            PreconditionerStorage::Factors => {
                (points * (26 * (12 + 5 * self.value / 2) + 8 * self.value + 96), ENTRIES)
            }
            // Rows are padded. A point has the operator, wall terms, inverse pivots of closed xi-lines, right side and
            // solution.
            PreconditionerStorage::Hierarchy => {
                let (columns, rows) = (self.columns, points.div_ceil(self.columns.max(1)));
                let padded = |level: u32| 2 * half_row(columns >> level) * (rows >> level);
                let coarse = (1..).take_while(|level| columns >> level > 1 && rows >> level > 0);
                let values = |stored: usize| stored + WALL_VALUES + 8 + 4;
                let below = values(FULL_STORAGE) * coarse.map(padded).sum::<usize>();
                (4 * (values(COMPACT_STORAGE) * padded(0) + below), NUMBERS)
            }
        };
        points * (8 * DOUBLES + (VALUES + field) * self.value) + stored + FIXED
    }

    /// The share of each of several devices, which have bands of columns.
    #[must_use]
    pub fn share(self, devices: usize) -> Self {
        let part = |whole: usize| whole.div_ceil(devices.max(1));
        Self { points: part(self.points), columns: part(self.columns), ..self }
    }

    /// Refuses what does not fit the free memory of a device.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn check(&self, device: &dyn Device) -> Result<()> {
        let (asked, free) = (self.bytes(), device.memory()?.map_or(usize::MAX, |(free, _)| free));
        if asked <= free {
            return Ok(());
        }
        Err(DeviceError::OutOfMemory { device: device.name().to_owned(), asked, free })
    }
}
