//! Halo exchange of matrices by rows: what a product needs of other ranks.

use super::pattern::CsrPattern;
use super::product::Chunks;
use crate::backend::Real;
use crate::backend::cuda::algebra::CudaVector;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::RankMessage;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::{LaunchShape, Result, launch};
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
    outgoing: Buffer<T>,
    sent: Vec<RankMessage>,
    halo: Buffer<T>,
    received: Vec<RankMessage>,
    /// Rows that need the halo.
    rows: Buffer<u32>,
    /// Their entries in its columns.
    pattern: CsrPattern,
    values: Buffer<T>,
    sums: Sums<T>,
}

/// The way in which the products of a border are formed.
enum Sums<T> {
    /// By this number of lanes a row, and added at once.
    Lanes(u32),
    /// In chunks, before they are added.
    Chunks(Box<Chunks<T>>, Buffer<T>),
}

/// Lanes for the rows of a small border, as many as the mean row has entries. None for many entries, which
/// are read fastest in chunks, and for a long row, which is shared by blocks.
pub fn border_lanes(beyond: &Csr) -> Option<u32> {
    let (rows, entries) = (beyond.rows(), beyond.values.len());
    let lanes = entries.div_ceil(rows.max(1)).next_power_of_two().min(32);
    let longest = beyond.row_start.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
    (entries <= FEW && longest <= LANE * lanes).then_some(lanes as u32)
}

impl<T: Real> RowHalo<T> {
    pub(super) fn new(backend: &CudaBackend, part: &RowPart) -> Result<Self> {
        let device = &backend.device;
        let outgoing = Buffer::zeros(device, part.packed.len())?;
        let halo = Buffer::zeros(device, part.halo.len())?;
        let (pattern, values) = CsrPattern::with_values(backend, &part.beyond)?;
        let sums = match border_lanes(&part.beyond) {
            Some(lanes) => Sums::Lanes(lanes),
            None => Sums::Chunks(
                Box::new(Chunks::new(backend, &part.beyond.row_start)?),
                Buffer::zeros(device, part.border.len())?,
            ),
        };
        Ok(Self {
            packed: Buffer::from_host(device, &part.packed)?,
            sent: messages(&outgoing, &part.sent),
            outgoing,
            received: messages(&halo, &part.received),
            halo,
            rows: Buffer::from_host(device, &part.border)?,
            pattern,
            values,
            sums,
        })
    }

    /// Begins to send what others need of x, and to receive the halo.
    pub(super) fn start(&self, backend: &CudaBackend, x: &CudaVector<T>) -> Result<()> {
        let Some(ranks) = &backend.ranks else { return Ok(()) };
        let count = self.packed.len();
        if count > 0 {
            backend.device.fork(
                &mut || launch!(backend => gather[T; count](&self.packed, x, &self.outgoing)),
            )?;
        }
        ranks.communicator.start_exchange(&self.sent, &self.received)
    }

    /// y ← y + A_beyond x_halo.
    pub(super) fn add(&self, backend: &CudaBackend, y: &CudaVector<T>) -> Result<()> {
        let (count, pattern) = (self.rows.len(), &self.pattern);
        match &self.sums {
            _ if count == 0 => Ok(()),
            Sums::Lanes(lanes) => {
                launch!(backend => add_rows[T, LaunchShape::threads(count * *lanes as usize)](
                    count as u64, *lanes, &self.rows, &pattern.row_start, &pattern.columns,
                    &self.values, &self.halo, y))
            }
            Sums::Chunks(chunks, sums) => {
                chunks.multiply(backend, (pattern, &self.values), &self.halo, sums)?;
                launch!(backend => add_sums[T; count](&self.rows, sums, y))
            }
        }
    }
}

/// Pieces of a buffer for other ranks, or of them.
fn messages<T: Real>(buffer: &Buffer<T>, passages: &[Passage]) -> Vec<RankMessage> {
    let message = |of: &Passage| RankMessage::of(of.rank, buffer, of.places.clone());
    passages.iter().map(message).collect()
}
