//! The hyperbolic march on a GPU.

use super::kernel::{Shape, Source, arguments};
use super::{Buffer, CudaBackend};
use crate::backend::DeviceError;
use crate::grid::initial::hyperbolic::{Scheme, first_layers};
use crate::grid::initial::{Fronts, InitialSettings, Marcher, Outline};

/// Threads of the one block that marches: a power of two.
const THREADS: u32 = 512;
/// Bytes of a row of the ring of kept points: two blocks and a pair.
const KEPT_ROW: u32 = 80;
/// Values of an eliminated point: a pair and two blocks, and of a segment.
const ELIMINATED: usize = 10;
const SEGMENT: usize = 3;

impl Marcher for CudaBackend {
    type Error = DeviceError;

    fn march(
        &self,
        outline: &Outline,
        settings: &InitialSettings,
        dissipation: f64,
    ) -> Result<Option<Fronts>, DeviceError> {
        let (n, nj) = (outline.columns(), outline.layers.len());
        let scheme = Scheme::of(outline.topology);
        let extra = outline.extra_heights();
        let tallest = extra.iter().copied().fold(0.0, f64::max);
        let zeros = |values: usize| Buffer::<f64>::zeros(&self.device, values);
        let fronts = zeros(2 * n * nj)?;
        let first: Vec<f64> = first_layers(outline).iter().flatten().flatten().copied().collect();
        fronts.upload_part(&first)?;
        let layers = Buffer::from_host(&self.device, outline.layers)?;
        let splay = Buffer::from_host(&self.device, &outline.splay())?;
        let extra = Buffer::from_host(&self.device, &extra)?;
        let (segments, smoothed) = (zeros(SEGMENT * n)?, zeros(n)?);
        let (eliminated, moves) = (zeros(ELIMINATED * n)?, zeros(2 * n)?);
        let bad = Buffer::<u32>::zeros(&self.device, 1)?;
        let arguments = arguments![
            n as u32,
            nj as u32,
            u32::from(!scheme.closed),
            &layers,
            &splay,
            &extra,
            tallest,
            scheme.implicit,
            scheme.step_limit,
            dissipation,
            settings.volume_smoothing,
            settings.spread,
            &fronts,
            &segments,
            &smoothed,
            &eliminated,
            &moves,
            &bad,
        ];
        let shape = Shape { grid: [1; 3], block: [THREADS, 1, 1], shared: THREADS * KEPT_ROW };
        self.launch::<f64>(Source::March, "march", shape, &arguments)?;
        let mut failed = [0];
        bad.download(&mut failed)?;
        if failed[0] != 0 {
            return Ok(None);
        }
        let mut points = vec![[0.0; 2]; n * nj];
        fronts.download(bytemuck::cast_slice_mut(&mut points))?;
        Ok(Some(Fronts { layers: points.chunks(n).map(<[_]>::to_vec).collect() }))
    }
}
