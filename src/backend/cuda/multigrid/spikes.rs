//! Xi-lines of levels in bands, across the borders.
//!
//! A band solves its piece of a line with the values beyond its ends as they were. What the pieces on
//! both sides of a border then have at it tells either what stands there when the whole line is
//! solved, and the spikes, made with the factors, how that changes its piece: the truncated SPIKE
//! algorithm (theory section 6).

use super::level::CudaLevel;
use crate::backend::cuda::device::Device;
use crate::backend::cuda::kernel::{Shape, Source, arguments};
use crate::backend::cuda::ranks::Halo;
use crate::backend::cuda::{Buffer, CudaBackend};
use crate::backend::{DeviceError, LevelSize, Real};
use std::sync::Arc;

/// Most points of a line that a spike reaches. The coupling along a line of c times the strength of
/// that across lets it decay by e in √(c/2) points.
const COLUMNS: usize = 256;
/// Threads of a block that makes spikes, one each, and of one that joins a line.
const SPIKE_THREADS: u32 = 32;
const JOIN_THREADS: u32 = 128;

/// The spikes of the xi-lines of a band, and what passes the borders for them.
pub(super) struct Spikes<M> {
    columns: usize,
    /// `columns` blocks for each line: those at the border before the band, then those at that after.
    blocks: Buffer<M>,
    /// Blocks in use.
    reach: Buffer<u32>,
    tips: Halo<M>,
    /// The outer columns once their pieces of lines are solved.
    solved: Halo<M>,
}

impl<M: Real> Spikes<M> {
    pub(super) fn new(device: &Arc<dyn Device>, size: LevelSize) -> Result<Self, DeviceError> {
        let LevelSize { mi, mj, .. } = size;
        let columns = mi.min(COLUMNS);
        Ok(Self {
            columns,
            blocks: Buffer::zeros(device, 4 * columns * 2 * mj)?,
            reach: Buffer::zeros(device, 2 * mj)?,
            tips: Halo::new(device, 4 * mj)?,
            solved: Halo::new(device, 2 * mj)?,
        })
    }
}

impl<M: Real> CudaLevel<M> {
    /// The spikes of a band, whose lines are factored.
    pub(super) fn make_spikes(&self, backend: &CudaBackend) -> Result<(), DeviceError> {
        let (Some(place), Some(part)) = (&backend.place, &self.part) else { return Ok(()) };
        let Some(spikes) = &part.spikes else { return Ok(()) };
        let mut arguments = self.rimmed_layout();
        arguments.extend(arguments![
            spikes.columns as u32,
            &self.operator,
            &spikes.blocks,
            &spikes.reach,
            spikes.tips.sent(),
        ]);
        let name = self.storage.pick("make_spikes_compact", "make_spikes_full");
        let blocks = (2 * self.size.mj as u32).div_ceil(SPIKE_THREADS);
        let shape = Shape { grid: [blocks, 1, 1], block: [SPIKE_THREADS, 1, 1], shared: 0 };
        backend.launch::<M>(Source::Spikes, name, shape, &arguments)?;
        spikes.tips.exchange(place, part.neighbours)
    }

    /// Makes one of the pieces of the xi-lines of a colour, `count` of them, just solved for the values
    /// that the last [`Self::refresh`] brought; and brings u beside a band.
    pub(super) fn join_lines(
        &self,
        backend: &CudaBackend,
        colour: usize,
        count: usize,
    ) -> Result<(), DeviceError> {
        let (Some(place), Some(part)) = (&backend.place, &self.part) else { return Ok(()) };
        let Some(spikes) = part.spikes.as_ref().filter(|_| count > 0) else { return Ok(()) };
        let mut own = self.rimmed_layout();
        own.extend(arguments![
            colour as u32,
            spikes.columns as u32,
            &spikes.blocks,
            &spikes.reach,
            spikes.tips.received(),
            part.solution.sent(),
            self.u(),
        ]);
        spikes.solved.pass(place, part.neighbours, |borders| {
            let arguments = [own.as_slice(), &borders].concat();
            let shape =
                Shape { grid: [count as u32, 1, 1], block: [JOIN_THREADS, 1, 1], shared: 0 };
            backend.launch::<M>(Source::Spikes, "join_lines", shape, &arguments)
        })
    }
}
