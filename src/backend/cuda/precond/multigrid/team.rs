//! How the threads of a block share lines.

use crate::backend::Real;
use crate::backend::cuda::launch::shared::{line_chunk, line_threads};
use crate::backend::cuda::launch::{LaunchShape, WARP};

/// The shape of a launch of the smoother: every block takes `lines` lines, with one thread for
/// each of `chunks` chunks of a line. A line that is longer is solved in segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Team {
    pub(super) blocks: usize,
    pub(super) lines: u32,
    pub(super) chunks: u32,
}

impl Team {
    /// For `count` eta-lines of `along` points: neighbouring lines share memory sectors, so a
    /// block takes several, at least as many as fill a sector of 32 bytes with blocks.
    pub(super) fn eta<M: Real>(along: usize, count: usize) -> Self {
        let (least, most) = (WARP / (4 * size_of::<M>()), line_threads::<M>());
        let chunks = along.div_ceil(line_chunk::<M>());
        let mut lines = 2 * least;
        while lines > least && lines * chunks > most {
            lines /= 2;
        }
        while lines * chunks < WARP {
            lines *= 2;
        }
        let chunks = chunks.next_multiple_of(WARP / lines).min(most / lines);
        Self { blocks: count.div_ceil(lines), lines: lines as u32, chunks: chunks as u32 }
    }

    /// For `count` xi-lines of `along` points: a block takes one, or as many as fill a warp.
    pub(super) fn xi<M: Real>(along: usize, count: usize) -> Self {
        let chunks = along.div_ceil(line_chunk::<M>());
        let (lines, chunks) = if chunks < WARP {
            let chunks = chunks.next_power_of_two();
            (WARP / chunks, chunks)
        } else {
            (1, chunks.next_multiple_of(WARP).min(line_threads::<M>()))
        };
        Self { blocks: count.div_ceil(lines), lines: lines as u32, chunks: chunks as u32 }
    }

    pub(super) fn shape(self) -> LaunchShape {
        LaunchShape {
            grid: [self.blocks as u32, 1, 1],
            block: [self.lines * self.chunks, 1, 1],
            shared: 0,
        }
    }
}
