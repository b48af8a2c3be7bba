//! Cyclic tridiagonal systems on a GPU: `kernels/cyclic.cuh`.

use crate::backend::DeviceError;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::LaunchShape;
use crate::backend::cuda::launch::shared::{
    BlockRow, CYCLIC_THREADS, CyclicBuffers, Eliminated, ReducedRow,
};

/// Most blocks. Every block reads what all blocks leave, a thread each: threads and blocks are powers of two.
pub(crate) const MOST_BLOCKS: usize = CYCLIC_THREADS;

/// The launch for a cyclic system of `n` points: a thread for each chunk, chunks a power of two.
pub(crate) fn cyclic_shape(n: usize) -> LaunchShape {
    let chunks = (1 << n.ilog2()).min(MOST_BLOCKS * CYCLIC_THREADS);
    let threads = chunks.min(CYCLIC_THREADS);
    let row = size_of::<ReducedRow<Matrix, Vector>>();
    LaunchShape {
        grid: [(chunks / threads) as u32, 1, 1],
        block: [threads as u32, 1, 1],
        shared: (threads * row) as u32,
    }
}

/// Matrix and vector of a system of two unknowns per point.
type Matrix = [f64; 4];
type Vector = [f64; 2];

/// Intermediate results between the two launches that solve a cyclic system.
pub(crate) struct CyclicWorkspace {
    points: Buffer<f64>,
    chunks: Buffer<f64>,
    block_rows: Buffer<f64>,
}

impl CyclicWorkspace {
    /// Memory for a cyclic system of `n` points, solved in launches of a shape, with one unknown per
    /// point.
    pub(crate) fn scalar(
        backend: &CudaBackend,
        n: usize,
        shape: LaunchShape,
    ) -> Result<Self, DeviceError> {
        Self::new::<f64, f64>(backend, n, shape)
    }

    /// The same with two unknowns per point.
    pub(crate) fn pair(
        backend: &CudaBackend,
        n: usize,
        shape: LaunchShape,
    ) -> Result<Self, DeviceError> {
        Self::new::<Matrix, Vector>(backend, n, shape)
    }

    fn new<M, V>(backend: &CudaBackend, n: usize, shape: LaunchShape) -> Result<Self, DeviceError> {
        let zeros = |bytes: usize| Buffer::zeros(&backend.device, bytes / size_of::<f64>());
        let (blocks, threads) = (shape.grid[0] as usize, shape.block[0] as usize);
        Ok(Self {
            points: zeros(size_of::<Eliminated<M, V>>() * n)?,
            chunks: zeros(size_of::<ReducedRow<M, V>>() * blocks * threads)?,
            block_rows: zeros(size_of::<BlockRow<M, V>>() * blocks)?,
        })
    }

    /// As kernels take it.
    pub(crate) fn shared(&self) -> CyclicBuffers {
        CyclicBuffers {
            points: (&self.points).into(),
            chunks: (&self.chunks).into(),
            block_rows: (&self.block_rows).into(),
        }
    }
}
