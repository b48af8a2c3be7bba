//! What a band of a level has beside its points: halos, and the spikes of its xi-lines.

use crate::backend::bands::Bands;
use crate::backend::cuda::comm::{Halo, edges};
use crate::backend::cuda::device::{Buffer, Device};
use crate::backend::{DeviceError, LevelSize, Real};
use std::sync::Arc;

/// Most points of a line that a spike reaches. The coupling along a line of c times the strength of
/// that across lets it decay by e in √(c/2) points.
const COLUMNS: usize = 256;
/// What a band of a level has beside its points.
pub(super) struct LevelBand<M> {
    pub(super) bands: Bands,
    pub(super) neighbours: [bool; 2],
    pub(super) solution: Halo<M>,
    pub(super) operator: Halo<M>,
    /// Of a level that is smoothed along xi too.
    pub(super) spikes: Option<Spikes<M>>,
}

impl<M> LevelBand<M> {
    pub(super) fn edges(&self) -> u32 {
        edges(self.neighbours)
    }

    /// The whole level.
    pub(super) fn size(&self, mj: usize) -> LevelSize {
        LevelSize { mi: self.bands.columns(), mj, periodic: self.bands.periodic() }
    }
}

/// The spikes of the xi-lines of a band, and what passes the borders for them.
pub(super) struct Spikes<M> {
    pub(super) columns: usize,
    /// `columns` blocks for each line: those at the border before the band, then those at that after.
    pub(super) blocks: Buffer<M>,
    /// Blocks in use.
    pub(super) reach: Buffer<u32>,
    pub(super) tips: Halo<M>,
    /// The outer columns once their pieces of lines are solved.
    pub(super) solved: Halo<M>,
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
