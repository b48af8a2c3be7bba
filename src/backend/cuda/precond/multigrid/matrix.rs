//! The cycle of small levels as a matrix.
//!
//! A cycle from a zero guess is linear in its right side. On small levels it takes hundreds of
//! launches for little work, so it is done once for all unit vectors together, each a copy of
//! right side and solution, and applied as the matrix of the answers.

use super::level::{Contents, CudaLevel, CycleMatrix};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::{LaunchShape, Source, arguments};
use crate::backend::cuda::recording::CudaRecording;
use crate::backend::{DeviceError, Real};
use std::mem::swap;

impl<M: Real> CycleMatrix<M> {
    fn new(backend: &CudaBackend, levels: &[CudaLevel<M>]) -> Result<Self, DeviceError> {
        let unknowns = unknowns(&levels[0]);
        let probes = levels.iter().map(|level| level.workspace(backend, unknowns));
        Ok(Self {
            blocks: Buffer::zeros(&backend.device, unknowns * unknowns)?,
            probes: probes.collect::<Result<_, _>>()?,
            probing: CudaRecording::default(),
        })
    }

    /// Exchanges what the levels hold for the probes, or back.
    fn exchange(&mut self, levels: &mut [CudaLevel<M>], copies: usize) {
        for (level, [f, u]) in levels.iter_mut().zip(&mut self.probes) {
            swap(&mut level.f, f);
            swap(&mut level.u, u);
            level.copies = copies;
        }
    }
}

fn unknowns<M>(level: &CudaLevel<M>) -> usize {
    2 * level.size.mi * level.size.mj
}

/// Finds the matrix of `work`, the cycle through `levels`, if the first of them is small enough and
/// no larger one has a matrix.
pub(super) fn prepare<M: Real>(
    backend: &CudaBackend,
    levels: &mut [CudaLevel<M>],
    mut work: impl FnMut(&mut [CudaLevel<M>]) -> Result<(), DeviceError>,
) -> Result<(), DeviceError> {
    let n = unknowns(&levels[0]);
    if n > backend.matrix_unknowns || levels[0].covered || levels[0].part.is_some() {
        return Ok(());
    }
    let mut matrix = match levels[0].matrix.take() {
        Some(matrix) => matrix,
        None => CycleMatrix::new(backend, levels)?,
    };
    for level in &mut levels[1..] {
        level.covered = true;
    }
    matrix.exchange(levels, n);
    let found = find(backend, &mut matrix, levels, &mut work);
    matrix.exchange(levels, 1);
    found?;
    levels[0].matrix = Some(matrix);
    Ok(())
}

fn find<M: Real>(
    backend: &CudaBackend,
    matrix: &mut CycleMatrix<M>,
    levels: &mut [CudaLevel<M>],
    work: &mut impl FnMut(&mut [CudaLevel<M>]) -> Result<(), DeviceError>,
) -> Result<(), DeviceError> {
    let mut arguments = arguments![levels[0].layout()];
    arguments.extend(arguments![&levels[0].f, levels[0].u()]);
    backend.launch::<M>(Source::Transfer, "unit_vectors", levels[0].point_pairs(), &arguments)?;
    levels[0].set_contents(backend, Contents::Zero);
    backend.record(&mut matrix.probing, || work(levels))?;
    let mut arguments = arguments![levels[0].layout()];
    arguments.extend(arguments![levels[0].u(), &matrix.blocks]);
    let blocks = matrix.blocks.len() / 4;
    backend.launch::<M>(Source::Transfer, "gather_matrix", LaunchShape::threads(blocks), &arguments)
}

/// u <- matrix f, if the level has a matrix.
pub(super) fn apply<M: Real>(
    backend: &CudaBackend,
    level: &CudaLevel<M>,
) -> Result<bool, DeviceError> {
    let Some(matrix) = &level.matrix else { return Ok(false) };
    let mut arguments = arguments![level.layout()];
    arguments.extend(arguments![&matrix.blocks, &level.f, level.u()]);
    let shape = LaunchShape::threads(32 * level.size.mi * level.size.mj);
    backend.launch::<M>(Source::Transfer, "apply_matrix", shape, &arguments)?;
    level.set_contents(backend, Contents::Unknown);
    Ok(true)
}
