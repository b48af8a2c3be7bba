//! Gram–Schmidt whose coefficients stay on the device.

use super::vector::CudaVector;
use crate::backend::cuda::backend::{CudaBackend, Reduction};
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::{Pointer, VectorPairs, Vectors};
use crate::backend::cuda::launch::{LaunchShape, Source, arguments};
use crate::backend::{DeviceError, Projection, Real};

/// Basis vectors that one reduction or one sum takes.
const GROUP: usize = 4;

impl CudaBackend {
    /// [`crate::backend::Backend::project`]: the host waits for both passes at once.
    pub(super) fn project_on_device<T: Real>(
        &self,
        basis: &[CudaVector<T>],
        w: &CudaVector<T>,
    ) -> Result<Projection, DeviceError> {
        let order = basis.len();
        // Groups of both passes stand in a row.
        let (first, again) = (order.next_multiple_of(GROUP), (order + 1).next_multiple_of(GROUP));
        let workspace = &mut *self.reduction();
        if workspace.projection.len() < first + again {
            workspace.projection = Buffer::zeros(&self.device, 2 * (first + again))?;
        }
        let vectors: Vec<&CudaVector<T>> = basis.iter().chain([w]).collect();
        self.products(workspace, w, &vectors[..order], 0)?;
        for (k, group) in basis.chunks(GROUP).enumerate() {
            let h = workspace.projection.address_of(GROUP * k);
            let vector = |k: usize| group.get(k).map_or(Pointer::NULL, Pointer::from);
            let vectors = Vectors { at: std::array::from_fn(vector) };
            let arguments = arguments![w.len() as u64, w, group.len() as u32, h, vectors];
            let shape = LaunchShape::elementwise(w.len());
            self.launch::<T>(Source::Vector, "subtract", shape, &arguments)?;
        }
        self.products(workspace, w, &vectors, first)?;
        let mut host = vec![0.0; first + again];
        workspace.projection.download(&mut host)?;
        Ok(Projection {
            first: host[..order].to_vec(),
            again: host[first..first + order].to_vec(),
            square: host[first + order],
        })
    }

    /// Inner products of w with vectors, of all ranks, into the workspace from `to` on.
    fn products<T: Real>(
        &self,
        workspace: &Reduction,
        w: &CudaVector<T>,
        with: &[&CudaVector<T>],
        to: usize,
    ) -> Result<(), DeviceError> {
        let n = w.len();
        for (k, group) in with.chunks(GROUP).enumerate() {
            let at = to + GROUP * k;
            let result = workspace.projection.address_of(at);
            let other = |k: usize| group.get(k).copied().unwrap_or(w);
            let pairs =
                VectorPairs { a: [w.into(); GROUP], b: std::array::from_fn(|k| other(k).into()) };
            let arguments = arguments![n as u64, group.len() as u32, pairs, workspace.out(result)];
            self.launch::<T>(Source::Vector, "dots", LaunchShape::reduction(n), &arguments)?;
            if let Some(ranks) = &self.ranks {
                let parts = ranks.gather(&workspace.projection, at)?;
                let arguments = arguments![ranks.size() as u32, group.len() as u32, parts, result];
                let one = LaunchShape { grid: [1; 3], block: [1; 3], shared: 0 };
                self.launch::<T>(Source::Vector, "sum_parts", one, &arguments)?;
            }
        }
        Ok(())
    }
}
