//! Cyclic tridiagonal systems on a GPU: `kernels/ring.cuh`.

use super::kernel::Shape;
use super::{Buffer, CudaBackend};
use crate::backend::DeviceError;

/// Threads of a block, and most blocks: powers of two. Every block looks at what all blocks leave, a
/// thread at each.
const THREADS: usize = 128;
pub(super) const MOST_BLOCKS: usize = THREADS;

/// A launch for a ring of `n` points: a thread for each chunk, chunks a power of two.
pub(super) fn ring_shape(n: usize) -> Shape {
    let chunks = (1 << n.ilog2()).min(MOST_BLOCKS * THREADS);
    let threads = chunks.min(THREADS);
    let kept_row = ring_values(2).kept * size_of::<f64>();
    Shape {
        grid: [(chunks / threads) as u32, 1, 1],
        block: [threads as u32, 1, 1],
        shared: (threads * kept_row) as u32,
    }
}

/// Values of an eliminated point, of a kept row and of the rim of a block.
struct RingValues {
    eliminated: usize,
    kept: usize,
    rim: usize,
}

/// Those of a ring of `components` unknowns a point.
const fn ring_values(components: usize) -> RingValues {
    let (vector, matrix) = (components, components * components);
    let kept = 2 * matrix + vector;
    RingValues { eliminated: kept, kept, rim: 3 * matrix + vector + kept }
}

/// What stands between the two launches that solve a ring.
pub(super) struct Ring {
    pub(super) points: Buffer<f64>,
    pub(super) chunks: Buffer<f64>,
    pub(super) rims: Buffer<f64>,
}

impl Ring {
    /// Room for a ring of `n` points with so many unknowns each, solved in launches of a shape.
    pub(super) fn new(
        backend: &CudaBackend,
        n: usize,
        shape: Shape,
        components: usize,
    ) -> Result<Self, DeviceError> {
        let zeros = |values| Buffer::zeros(&backend.device, values);
        let values = ring_values(components);
        let (blocks, threads) = (shape.grid[0] as usize, shape.block[0] as usize);
        Ok(Self {
            points: zeros(values.eliminated * n)?,
            chunks: zeros(values.kept * blocks * threads)?,
            rims: zeros(values.rim * blocks)?,
        })
    }
}
