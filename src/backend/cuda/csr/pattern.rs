//! Where the entries of a matrix by rows stand.

use crate::backend::DeviceError;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;

/// Where the entries of a square matrix stand, by rows; 32 bits an entry.
pub(super) struct CsrPattern {
    pub(super) rows: usize,
    pub(super) entries: usize,
    pub(super) row_start: Buffer<u32>,
    pub(super) columns: Buffer<u32>,
}

impl CsrPattern {
    pub(super) fn new(
        backend: &CudaBackend,
        row_start: &[u32],
        columns: &[u32],
    ) -> Result<Self, DeviceError> {
        Ok(Self {
            rows: row_start.len() - 1,
            entries: columns.len(),
            row_start: Buffer::from_host(&backend.device, row_start)?,
            columns: Buffer::from_host(&backend.device, columns)?,
        })
    }

    /// The pattern on the host.
    pub(super) fn download(&self) -> Result<(Vec<u32>, Vec<u32>), DeviceError> {
        let (mut row_start, mut columns) = (vec![0; self.rows + 1], vec![0; self.entries]);
        self.row_start.download(&mut row_start)?;
        self.columns.download(&mut columns)?;
        Ok((row_start, columns))
    }
}
