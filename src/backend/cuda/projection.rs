//! Gram–Schmidt whose coefficients stay on the device.

use super::kernel::{Argument, Shape, Source, arguments};
use super::{Buffer, CudaBackend, CudaVector, Reduction};
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
        let room = &mut *self.reduction();
        if room.projection.len() < first + again {
            room.projection = Buffer::zeros(&self.device, 2 * (first + again))?;
        }
        let vectors: Vec<&CudaVector<T>> = basis.iter().chain([w]).collect();
        self.products(room, w, &vectors[..order], 0)?;
        for (k, group) in basis.chunks(GROUP).enumerate() {
            let h = room.projection.address_of(GROUP * k);
            let mut arguments = arguments![w.len() as u64, w, group.len() as u32, h];
            arguments.extend(group_arguments(group.iter()));
            let shape = Shape::elementwise(w.len());
            self.launch::<T>(Source::Vector, "subtract", shape, &arguments)?;
        }
        self.products(room, w, &vectors, first)?;
        let mut host = vec![0.0; first + again];
        room.projection.download(&mut host)?;
        Ok(Projection {
            first: host[..order].to_vec(),
            again: host[first..first + order].to_vec(),
            square: host[first + order],
        })
    }

    /// Inner products of w with vectors, of all ranks, into the room from `to` on.
    fn products<T: Real>(
        &self,
        room: &Reduction,
        w: &CudaVector<T>,
        with: &[&CudaVector<T>],
        to: usize,
    ) -> Result<(), DeviceError> {
        let n = w.len();
        for (k, group) in with.chunks(GROUP).enumerate() {
            let at = to + GROUP * k;
            let result = room.projection.address_of(at);
            let mut arguments = arguments![n as u64, group.len() as u32];
            for v in group.iter().copied().chain(std::iter::repeat(w)).take(GROUP) {
                arguments.extend(arguments![w, v]);
            }
            arguments.extend(arguments![&room.partials, &room.ticket, result]);
            self.launch::<T>(Source::Vector, "dots", Shape::reduction(n), &arguments)?;
            if let Some(place) = &self.place {
                let parts = place.gather(&room.projection, at)?;
                let arguments = arguments![place.ranks() as u32, group.len() as u32, parts, result];
                let one = Shape { grid: [1; 3], block: [1; 3], shared: 0 };
                self.launch::<T>(Source::Vector, "sum_parts", one, &arguments)?;
            }
        }
        Ok(())
    }
}

/// A group of vectors as kernels take it; what is missing is not read.
fn group_arguments<'a, T: Real>(
    group: impl Iterator<Item = &'a CudaVector<T>>,
) -> impl Iterator<Item = Argument> {
    group.map(Argument::from).chain(std::iter::repeat(Argument::from(0_u64))).take(GROUP)
}
