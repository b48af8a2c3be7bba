//! Halo exchange of matrices by rows: what a product needs of other ranks.

use super::product::{CsrRows, ProductKernel};
use crate::backend::Real;
use crate::backend::cuda::algebra::CudaVector;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::Message;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::{LaunchShape, Result, Source, arguments};
use crate::sparse::{Csr, Passage, RowPart};

/// Entries of a border up to which so few blocks would take it in chunks that most of a GPU would wait.
const FEW: usize = 1 << 20;
/// Entries of a row that a lane adds up, at most.
const LANE: usize = 64;

/// Entries of x on their way between ranks, and the entries of a matrix that wait for them.
///
/// y ← A x of a rank is A_own x_own + A_beyond x_halo: the first term needs nothing of others, so that
/// messages pass while it is formed.
pub(super) struct RowHalo<T> {
    /// Own rows whose entries of x others need.
    packed: Buffer<u32>,
    /// Those entries.
    outgoing: Buffer<T>,
    sent: Vec<Message>,
    halo: Buffer<T>,
    received: Vec<Message>,
    /// Rows that need the halo.
    rows: Buffer<u32>,
    /// Their entries in its columns.
    beyond: CsrRows<T>,
    /// Their products, where they are formed before they are added.
    sums: Buffer<T>,
}

/// Lanes for the rows of a small border, as many as the mean row has entries. Many entries are read
/// fastest in chunks, and a long row is shared by blocks.
fn kernel(beyond: &Csr) -> ProductKernel {
    let (rows, entries) = (beyond.rows(), beyond.values.len());
    let lanes = entries.div_ceil(rows.max(1)).next_power_of_two().min(32);
    let longest = beyond.row_start.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
    if entries <= FEW && longest <= LANE * lanes {
        ProductKernel::Lanes(lanes as u32)
    } else {
        ProductKernel::Chunks
    }
}

impl<T: Real> RowHalo<T> {
    pub(super) fn new(backend: &CudaBackend, part: &RowPart) -> Result<Self> {
        let device = &backend.device;
        let outgoing = Buffer::zeros(device, part.packed.len())?;
        let halo = Buffer::zeros(device, part.halo.len())?;
        Ok(Self {
            packed: Buffer::from_host(device, &part.packed)?,
            sent: messages(&outgoing, &part.sent),
            outgoing,
            received: messages(&halo, &part.received),
            halo,
            rows: Buffer::from_host(device, &part.border)?,
            beyond: CsrRows::new(backend, &part.beyond, kernel(&part.beyond))?,
            sums: Buffer::zeros(device, part.border.len())?,
        })
    }

    /// Begins to send what others need of x, and to receive the halo.
    pub(super) fn start(&self, backend: &CudaBackend, x: &CudaVector<T>) -> Result<()> {
        let count = self.packed.len();
        if count > 0 {
            backend.device.fork(&mut || {
                let arguments = arguments![&self.packed, x, &self.outgoing];
                backend.for_each::<T>(Source::RowHalo, "pack_entries", count, arguments)
            })?;
        }
        match &backend.ranks {
            Some(ranks) => ranks.communicator.start_exchange(&self.sent, &self.received),
            None => Ok(()),
        }
    }

    /// y ← y + A_beyond x_halo.
    pub(super) fn add(&self, backend: &CudaBackend, y: &CudaVector<T>) -> Result<()> {
        let count = self.rows.len();
        if count == 0 {
            return Ok(());
        }
        let CsrRows { pattern, values, .. } = &self.beyond;
        if let ProductKernel::Lanes(lanes) = self.beyond.kernel() {
            let mut arguments = arguments![count as u64, lanes, &self.rows, &pattern.row_start];
            arguments.extend(arguments![&pattern.columns, values, &self.halo, y]);
            let shape = LaunchShape::threads(count * lanes as usize);
            return backend.launch::<T>(Source::RowHalo, "add_rows", shape, &arguments);
        }
        self.beyond.multiply(backend, &self.halo, &self.sums)?;
        let arguments = arguments![&self.rows, &self.sums, y];
        backend.for_each::<T>(Source::RowHalo, "add_sums", count, arguments)
    }
}

/// Pieces of a buffer for other ranks, or of them.
fn messages<T: Real>(buffer: &Buffer<T>, passages: &[Passage]) -> Vec<Message> {
    let message = |Passage { rank, places }: &Passage| Message {
        rank: *rank,
        at: buffer.address_of(places.start),
        bytes: places.len() * size_of::<T>(),
    };
    passages.iter().map(message).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix with rows of these lengths.
    fn rows(lengths: &[usize]) -> Csr {
        Csr::from_rows(lengths.iter().map(|&length| (0..length).map(|column| (column, 1.0))))
    }

    #[test]
    fn long_rows_and_large_borders_are_taken_in_chunks() {
        assert_eq!(kernel(&rows(&[1; 50])), ProductKernel::Lanes(1));
        assert_eq!(kernel(&rows(&[3, 4, 3])), ProductKernel::Lanes(4));
        assert_eq!(kernel(&rows(&[2000])), ProductKernel::Lanes(32));
        assert_eq!(kernel(&rows(&[&[1; 300][..], &[150]].concat())), ProductKernel::Chunks);
        assert_eq!(kernel(&rows(&[2049])), ProductKernel::Chunks);
        assert_eq!(kernel(&rows(&[1024; 1025])), ProductKernel::Chunks);
    }
}
