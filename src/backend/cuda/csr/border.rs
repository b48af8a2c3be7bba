//! What a rank needs of others for the product of its rows.

use super::super::kernel::{Shape, Source, arguments};
use super::super::ranks::Parcel;
use super::super::{Buffer, CudaBackend, CudaVector};
use super::CudaCsr;
use crate::backend::{CsrBackend, DeviceError, Format, Real};
use crate::sparse::{Passage, RowPart};

/// Entries of x on their way between ranks, and the entries of a matrix that wait for them.
///
/// y ← A x of a rank is A_own x_own + A_beyond x_halo: the first term needs nothing of others, so that
/// messages pass while it is formed.
pub(super) struct Border<T> {
    /// Own rows whose entries of x others need.
    packed: Buffer<u32>,
    /// Those entries.
    outgoing: Buffer<T>,
    sent: Vec<Parcel>,
    halo: Buffer<T>,
    received: Vec<Parcel>,
    /// Rows that need the halo.
    rows: Buffer<u32>,
    /// Their entries in its columns.
    beyond: CudaCsr<T>,
    /// Their products.
    sums: Buffer<T>,
}

impl<T: Real> Border<T> {
    pub(super) fn new(
        backend: &CudaBackend,
        part: &RowPart,
        format: Format,
    ) -> Result<Self, DeviceError> {
        let device = &backend.device;
        let outgoing = Buffer::zeros(device, part.packed.len())?;
        let halo = Buffer::zeros(device, part.halo.len())?;
        Ok(Self {
            packed: Buffer::from_host(device, &part.packed)?,
            sent: parcels(&outgoing, &part.sent),
            outgoing,
            received: parcels(&halo, &part.received),
            halo,
            rows: Buffer::from_host(device, &part.border)?,
            beyond: backend.csr(&part.beyond, format)?,
            sums: Buffer::zeros(device, part.border.len())?,
        })
    }

    /// Begins to send what others need of x, and to receive the halo.
    pub(super) fn start(
        &self,
        backend: &CudaBackend,
        x: &CudaVector<T>,
    ) -> Result<(), DeviceError> {
        let count = self.packed.len();
        if count > 0 {
            let arguments = arguments![count as u64, &self.packed, x, &self.outgoing];
            let shape = Shape::threads(count);
            backend.launch::<T>(Source::Rows, "pack_entries", shape, &arguments)?;
        }
        match &backend.place {
            Some(place) => place.communicator().start_exchange(&self.sent, &self.received),
            None => Ok(()),
        }
    }

    /// The halo is there for what is asked for later.
    pub(super) fn receive(&self, backend: &CudaBackend) -> Result<(), DeviceError> {
        match &backend.place {
            Some(place) => place.communicator().finish_exchange(&self.received),
            None => Ok(()),
        }
    }

    /// y ← y + A_beyond x_halo.
    pub(super) fn add(&self, backend: &CudaBackend, y: &CudaVector<T>) -> Result<(), DeviceError> {
        let count = self.rows.len();
        if count == 0 {
            return Ok(());
        }
        let CudaCsr { product, pattern, values, .. } = &self.beyond;
        product.multiply(backend, pattern, values, &self.halo, &self.sums)?;
        let arguments = arguments![count as u64, &self.rows, &self.sums, y];
        backend.launch::<T>(Source::Rows, "add_sums", Shape::threads(count), &arguments)
    }
}

/// Pieces of a buffer for other ranks, or of them.
fn parcels<T: Real>(buffer: &Buffer<T>, passages: &[Passage]) -> Vec<Parcel> {
    let parcel = |Passage { rank, places }: &Passage| Parcel {
        rank: *rank,
        at: buffer.address_of(places.start),
        bytes: places.len() * size_of::<T>(),
    };
    passages.iter().map(parcel).collect()
}
