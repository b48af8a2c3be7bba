//! Products of matrices by rows.

use super::pattern::{CsrPattern, Slices};
use crate::backend::cuda::algebra::CudaVector;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::ROW_CHUNK;
use crate::backend::cuda::launch::{LaunchShape, Result, Source, arguments, shared};
use crate::backend::{DeviceError, Real};
use crate::sparse::Csr;
use std::sync::Arc;

/// Most rows of a chunk: empty ones cost time too.
const CHUNK_ROWS: u32 = 2048;
/// Rows longer than this, and than eight of the mean, are a chunk of their own: among short ones a
/// few lanes would add them up.
const LONELY: u32 = 128;
/// How y ← A x is formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProductKernel {
    /// A number of lanes of a warp take a row: one thread, or a power of two up to a warp.
    Lanes(u32),
    /// A block takes consecutive rows with 2048 entries at most, whose products it keeps in shared
    /// memory; longer rows are split.
    Chunks,
    /// Rows in slices of 32, each as wide as its longest row, unless a few rows are much longer.
    Slices,
}

/// Rows of a matrix with a kernel that multiplies them.
pub(super) struct CsrRows<T> {
    pub(super) pattern: Arc<CsrPattern>,
    pub(super) values: Arc<Buffer<T>>,
    product: Product<T>,
}

/// What the kernels need in addition to the entries of the rows.
enum Product<T> {
    Lanes(u32),
    Chunks(Chunks<T>),
    Slices { slices: Slices, columns: Buffer<u32>, values: Buffer<T> },
}

impl<T: Real> CsrRows<T> {
    /// A copy of `a` whose products are formed by a kernel of this kind.
    ///
    /// # Errors
    /// If the device has too little memory, or there are too many entries.
    pub(super) fn new(backend: &CudaBackend, a: &Csr, kernel: ProductKernel) -> Result<Self> {
        if u32::try_from(a.columns.len()).is_err() {
            return Err(DeviceError::TooManyEntries { entries: a.columns.len() });
        }
        let row_start: Vec<u32> = a.row_start.iter().map(|&start| start as u32).collect();
        let pattern = CsrPattern::new(backend, &row_start, &a.columns)?;
        let values: Vec<T> = a.values.iter().map(|&value| T::narrow(value)).collect();
        let values = Buffer::from_host(&backend.device, &values)?;
        let product = match kernel {
            ProductKernel::Lanes(lanes) => Product::Lanes(lanes),
            ProductKernel::Chunks => Product::Chunks(Chunks::new(backend, &row_start)?),
            ProductKernel::Slices => {
                let length = |ends: &[u32]| ends[1] - ends[0];
                let lengths: Vec<u32> = row_start.windows(2).map(length).collect();
                let slices = Slices::of_lengths(backend, &lengths)?;
                let to_columns = Buffer::zeros(&backend.device, slices.capacity)?;
                let to_values = Buffer::zeros(&backend.device, slices.capacity)?;
                let mut arguments = arguments![slices.shared(), &pattern.row_start];
                arguments.extend(arguments![&pattern.columns, &values, &to_columns, &to_values]);
                backend.launch::<T>(Source::Csr, "fill_slices", slices.shape(), &arguments)?;
                Product::Slices { slices, columns: to_columns, values: to_values }
            }
        };
        Ok(Self { pattern: Arc::new(pattern), values: Arc::new(values), product })
    }

    pub(super) fn kernel(&self) -> ProductKernel {
        match self.product {
            Product::Lanes(lanes) => ProductKernel::Lanes(lanes),
            Product::Chunks(_) => ProductKernel::Chunks,
            Product::Slices { .. } => ProductKernel::Slices,
        }
    }

    /// y ← A x.
    pub(super) fn multiply(
        &self,
        backend: &CudaBackend,
        x: &CudaVector<T>,
        y: &CudaVector<T>,
    ) -> Result<()> {
        let CsrPattern { rows, row_start, columns, .. } = &*self.pattern;
        let own = arguments![row_start, columns, &self.values, x, y];
        let (name, shape, arguments) = match &self.product {
            Product::Lanes(lanes) => {
                let shape = LaunchShape::threads(rows * *lanes as usize);
                ("multiply_rows", shape, [arguments![*rows as u64, *lanes], own].concat())
            }
            Product::Chunks(chunks) => {
                let (parts, longer) = match &chunks.long {
                    None => (0, bytemuck::Zeroable::zeroed()),
                    Some(long) => (long.owner.len(), long.shared()),
                };
                let shape = LaunchShape::blocks(parts + chunks.count);
                let arguments = [arguments![&chunks.bounds], own, arguments![longer]].concat();
                ("multiply_chunks", shape, arguments)
            }
            Product::Slices { slices, columns, values } => {
                let arguments = arguments![slices.shared(), columns, values, x, y];
                ("multiply_slices", slices.shape(), arguments)
            }
        };
        backend.launch::<T>(Source::Csr, name, shape, &arguments)
    }
}

/// Rows in chunks, and the parts of the rows that are longer.
struct Chunks<T> {
    count: usize,
    bounds: Buffer<u32>,
    long: Option<LongRows<T>>,
}

/// Rows that are longer than a chunk, in parts as long as one.
struct LongRows<T> {
    /// First and last entry of each part.
    bounds: Buffer<u32>,
    /// Which of the long rows each part belongs to.
    owner: Buffer<u32>,
    rows: Buffer<u32>,
    /// First part of each row.
    firsts: Buffer<u32>,
    sums: Buffer<T>,
    tickets: Buffer<u32>,
}

impl<T: Real> LongRows<T> {
    fn shared(&self) -> shared::LongRows {
        shared::LongRows {
            bounds: (&self.bounds).into(),
            owner: (&self.owner).into(),
            rows: (&self.rows).into(),
            firsts: (&self.firsts).into(),
            sums: (&self.sums).into(),
            tickets: (&self.tickets).into(),
            parts: self.owner.len() as u64,
        }
    }
}

/// The tables of [`Chunks`] on the host.
#[derive(Default)]
struct Tables {
    bounds: Vec<u32>,
    part_bounds: Vec<u32>,
    owner: Vec<u32>,
    rows: Vec<u32>,
    firsts: Vec<u32>,
}

impl Tables {
    fn new(row_start: &[u32]) -> Self {
        let mut tables = Self::default();
        let rows = row_start.len() as u32 - 1;
        let mean = row_start[rows as usize] / rows.max(1);
        let lonely = LONELY.max(8 * mean);
        let mut first = 0;
        for (row, ends) in (0_u32..).zip(row_start.windows(2)) {
            let length = ends[1] - ends[0];
            let long = length > ROW_CHUNK;
            let full = ends[1] - row_start[first as usize] > ROW_CHUNK || row - first == CHUNK_ROWS;
            if (length > lonely || full) && row > first {
                tables.bounds.extend([first, row]);
                first = row;
            }
            if long {
                tables.split(row, ends[0], ends[1]);
                first = row + 1;
            } else if length > lonely {
                tables.bounds.extend([row, row + 1]);
                first = row + 1;
            }
        }
        if rows > first {
            tables.bounds.extend([first, rows]);
        }
        tables.firsts.push(tables.owner.len() as u32);
        tables
    }

    fn split(&mut self, row: u32, begin: u32, end: u32) {
        let mut from = begin;
        self.firsts.push(self.owner.len() as u32);
        while from < end {
            let to = end.min(from.saturating_add(ROW_CHUNK));
            self.part_bounds.extend([from, to]);
            self.owner.push(self.rows.len() as u32);
            from = to;
        }
        self.rows.push(row);
    }
}

impl<T: Real> Chunks<T> {
    fn new(backend: &CudaBackend, row_start: &[u32]) -> Result<Self> {
        let device = &backend.device;
        let tables = Tables::new(row_start);
        let long = if tables.rows.is_empty() {
            None
        } else {
            Some(LongRows {
                bounds: Buffer::from_host(device, &tables.part_bounds)?,
                owner: Buffer::from_host(device, &tables.owner)?,
                rows: Buffer::from_host(device, &tables.rows)?,
                firsts: Buffer::from_host(device, &tables.firsts)?,
                sums: Buffer::zeros(device, tables.owner.len())?,
                tickets: Buffer::zeros(device, tables.rows.len())?,
            })
        };
        let bounds = Buffer::from_host(device, &tables.bounds)?;
        Ok(Self { count: tables.bounds.len() / 2, bounds, long })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_hold_whole_rows_and_long_rows_are_split() {
        // Rows of 1000, 1000, 100, 0, 5000, 5 and 2048 entries.
        let starts = [0, 1000, 2000, 2100, 2100, 7100, 7105, 9153];

        let tables = Tables::new(&starts);

        assert_eq!(tables.bounds, [0, 2, 2, 4, 5, 6, 6, 7]);
        assert_eq!((tables.rows, tables.firsts), (vec![4], vec![0, 3]));
        assert_eq!(tables.part_bounds, [2100, 4148, 4148, 6196, 6196, 7100]);
        assert_eq!(tables.owner, [0, 0, 0]);
    }

    #[test]
    fn a_row_much_longer_than_the_mean_is_a_chunk_of_its_own() {
        let starts: Vec<u32> =
            (0..=101).map(|row| 2 * row + if row > 50 { 198 } else { 0 }).collect();

        let tables = Tables::new(&starts);

        assert_eq!(tables.bounds, [0, 50, 50, 51, 51, 101]);
        assert!(tables.owner.is_empty());
    }
}
