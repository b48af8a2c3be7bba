//! Xi-lines of levels in bands, across the borders.
//!
//! A band solves its piece of a line with the values beyond its ends as they were. What the pieces on
//! both sides of a border then have at it tells either what stands there when the whole line is
//! solved, and the spikes, made with the factors, how that changes its piece: the truncated SPIKE
//! algorithm (theory section 6).

use super::level::CudaLevel;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::launch::{LaunchShape, Source, arguments};
use crate::backend::{DeviceError, Real};

/// Threads of a block that makes spikes, one each, and of one that joins a line.
const SPIKE_THREADS: u32 = 32;
const JOIN_THREADS: u32 = 128;

impl<M: Real> CudaLevel<M> {
    /// The spikes of a band, whose lines are factored.
    pub(super) fn make_spikes(&self, backend: &CudaBackend) -> Result<(), DeviceError> {
        let (Some(ranks), Some(part)) = (&backend.ranks, &self.part) else { return Ok(()) };
        let Some(spikes) = &part.spikes else { return Ok(()) };
        let mut arguments = arguments![self.edged_layout()];
        arguments.extend(arguments![
            spikes.columns as u32,
            &self.operator,
            &spikes.blocks,
            &spikes.reach,
            spikes.tips.sent(),
        ]);
        let name = self.storage.pick("make_spikes_compact", "make_spikes_full");
        let blocks = (2 * self.size.mj as u32).div_ceil(SPIKE_THREADS);
        let shape = LaunchShape { grid: [blocks, 1, 1], block: [SPIKE_THREADS, 1, 1], shared: 0 };
        backend.launch::<M>(Source::Spikes, name, shape, &arguments)?;
        spikes.tips.exchange(ranks, part.neighbours)
    }

    /// Makes one of the pieces of the xi-lines of a colour, `count` of them, just solved for the values
    /// that the last [`Self::refresh`] brought; and brings u beside a band.
    pub(super) fn join_lines(
        &self,
        backend: &CudaBackend,
        colour: usize,
        count: usize,
    ) -> Result<(), DeviceError> {
        let (Some(ranks), Some(part)) = (&backend.ranks, &self.part) else { return Ok(()) };
        let Some(spikes) = part.spikes.as_ref().filter(|_| count > 0) else { return Ok(()) };
        let mut own = arguments![self.edged_layout()];
        own.extend(arguments![
            colour as u32,
            spikes.columns as u32,
            &spikes.blocks,
            &spikes.reach,
            spikes.tips.received(),
            part.solution.sent(),
            self.u(),
        ]);
        spikes.solved.exchange_columns(ranks, part.neighbours, |columns| {
            let arguments = [own.as_slice(), &[columns.into()]].concat();
            let shape =
                LaunchShape { grid: [count as u32, 1, 1], block: [JOIN_THREADS, 1, 1], shared: 0 };
            backend.launch::<M>(Source::Spikes, "join_lines", shape, &arguments)
        })
    }
}
