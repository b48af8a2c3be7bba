//! Products of matrices by rows, and the halo exchange of what they need of other ranks.

use super::pattern::{CsrPattern, SlicedRows};
use crate::backend::cuda::algebra::CudaVector;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::RankMessage;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::ROW_CHUNK;
use crate::backend::cuda::launch::shared::{LongRows, Pointer};
use crate::backend::cuda::launch::{LaunchShape, Result, launch};
use crate::backend::{MatrixFormat, Real};
use crate::sparse::{Csr, Passage, RowPart};

/// Most rows of a chunk: empty ones cost time too.
const CHUNK_ROWS: usize = 2048;
/// Rows longer than this, and than eight of the mean, are a chunk of their own: among short ones a
/// few lanes would add them up.
const LONELY: usize = 128;

/// The way in which y ← A x is formed, with its data in addition to the entries of the rows.
pub(super) enum RowProduct<T> {
    /// A block takes consecutive rows with 2048 entries at most, whose products it keeps in shared
    /// memory; longer rows are split. Every matrix is read at the same rate.
    Chunks(Chunks<T>),
    /// Rows in slices of 32, each as wide as its longest row, unless a few rows are much longer.
    Slices { slices: SlicedRows, columns: Buffer<u32>, values: Buffer<T> },
}

impl<T: Real> RowProduct<T> {
    pub(super) fn new(
        backend: &CudaBackend,
        a: &Csr,
        format: MatrixFormat,
        (pattern, values): (&CsrPattern, &Buffer<T>),
    ) -> Result<Self> {
        if format == MatrixFormat::Csr {
            return Ok(Self::Chunks(Chunks::new(backend, &a.row_start)?));
        }
        let lengths: Vec<u32> =
            a.row_start.windows(2).map(|ends| (ends[1] - ends[0]) as u32).collect();
        let longest = 2 * a.columns.len() / lengths.len().max(1);
        let slices =
            SlicedRows::new(backend, Buffer::from_host(&backend.device, &lengths)?, longest)?;
        let to_columns = Buffer::zeros(&backend.device, slices.capacity)?;
        let to_values = Buffer::zeros(&backend.device, slices.capacity)?;
        launch!(backend => fill_slices[T, LaunchShape::threads(slices.rows())](slices.shared(),
            &pattern.row_start, &pattern.columns, values, &to_columns, &to_values))?;
        Ok(Self::Slices { slices, columns: to_columns, values: to_values })
    }

    /// y ← A x.
    pub(super) fn multiply(
        &self,
        backend: &CudaBackend,
        entries: (&CsrPattern, &Buffer<T>),
        x: &CudaVector<T>,
        y: &CudaVector<T>,
    ) -> Result<()> {
        match self {
            Self::Chunks(chunks) => chunks.multiply(backend, entries, x, y),
            Self::Slices { slices, columns, values } => {
                launch!(backend => multiply_slices[T, LaunchShape::threads(slices.rows())](
                    slices.shared(), columns, values, x, y))
            }
        }
    }
}

/// Rows in chunks, and the parts of the rows that are longer.
pub(super) struct Chunks<T> {
    /// Parts of longer rows and chunks: a block takes each.
    blocks: usize,
    bounds: Pointer<u32>,
    longer: LongRows,
    #[allow(dead_code, reason = "held until it is dropped")]
    memory: (Buffer<u32>, Buffer<T>, Buffer<u32>),
}

impl<T: Real> Chunks<T> {
    pub(super) fn new(backend: &CudaBackend, row_start: &[usize]) -> Result<Self> {
        let (device, of) = (&backend.device, RowChunks::new(row_start));
        let host = [&of.bounds[..], &of.part_bounds, &of.owner, &of.rows, &of.firsts];
        let (tables, [bounds, part_bounds, owner, rows, firsts]) =
            Buffer::from_several(device, host)?;
        let parts = of.owner.len();
        let (sums, tickets) =
            (Buffer::zeros(device, parts)?, Buffer::zeros(device, of.rows.len())?);
        let longer = LongRows {
            bounds: part_bounds,
            owner,
            rows,
            firsts,
            sums: (&sums).into(),
            tickets: (&tickets).into(),
            parts: parts as u64,
        };
        let blocks = parts + of.bounds.len() / 2;
        Ok(Self { blocks, bounds, longer, memory: (tables, sums, tickets) })
    }

    /// y ← A x.
    pub(super) fn multiply(
        &self,
        backend: &CudaBackend,
        (pattern, values): (&CsrPattern, &Buffer<T>),
        x: &CudaVector<T>,
        y: &CudaVector<T>,
    ) -> Result<()> {
        launch!(backend => multiply_chunks[T, LaunchShape::blocks(self.blocks)](self.bounds,
            &pattern.row_start, &pattern.columns, values, x, y, self.longer))
    }
}

/// Rows in chunks of a block each, and those that are longer than a chunk in parts as long as one.
#[derive(Debug, Default)]
pub struct RowChunks {
    /// First row of each chunk, and the row after its last.
    pub bounds: Vec<u32>,
    /// First entry of each part, and the entry after its last.
    pub part_bounds: Vec<u32>,
    /// The long row that each part belongs to.
    pub owner: Vec<u32>,
    /// The long rows.
    pub rows: Vec<u32>,
    /// First part of each long row, and the number of parts.
    pub firsts: Vec<u32>,
}

impl RowChunks {
    /// Chunks of rows with these starts, one more than there are rows.
    pub fn new(row_start: &[usize]) -> Self {
        let mut chunks = Self::default();
        let rows = row_start.len() - 1;
        let lonely = LONELY.max(8 * (row_start[rows] / rows.max(1)));
        let most = ROW_CHUNK as usize;
        let mut first = 0;
        for (row, ends) in row_start.windows(2).enumerate() {
            let length = ends[1] - ends[0];
            let full = ends[1] - row_start[first] > most || row - first == CHUNK_ROWS;
            if (length > lonely || full) && row > first {
                chunks.bounds.extend([first as u32, row as u32]);
                first = row;
            }
            if length > most {
                chunks.firsts.push(chunks.owner.len() as u32);
                for from in (ends[0]..ends[1]).step_by(most) {
                    chunks.part_bounds.extend([from as u32, ends[1].min(from + most) as u32]);
                    chunks.owner.push(chunks.rows.len() as u32);
                }
                chunks.rows.push(row as u32);
                first = row + 1;
            } else if length > lonely {
                chunks.bounds.extend([row as u32, row as u32 + 1]);
                first = row + 1;
            }
        }
        if rows > first {
            chunks.bounds.extend([first as u32, rows as u32]);
        }
        chunks.firsts.push(chunks.owner.len() as u32);
        chunks
    }
}

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
