//! Solves that push known values along columns.

use super::eliminated::Eliminated;
use super::sort::{scan, slim};
use crate::backend::cuda::algebra::CudaVector;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::PushState;
use crate::backend::cuda::launch::{LaunchShape, Source, arguments};
use crate::backend::{DeviceError, Real};

/// The entries of the factors by column, and what the unknowns have been given.
pub(super) struct ColumnPushes<T> {
    starts: Buffer<u64>,
    rows: Buffer<u32>,
    source: Buffer<u32>,
    values: Buffer<T>,
    sums: Buffer<T>,
    counters: Buffer<u32>,
    tickets: Buffer<u32>,
    w: Buffer<T>,
}

impl<T: Real> ColumnPushes<T> {
    /// The pattern by columns.
    pub(super) fn new(backend: &CudaBackend, a: &Eliminated) -> Result<Self, DeviceError> {
        let (device, pattern) = (&backend.device, &a.pattern);
        let (rows, entries) = (pattern.rows, pattern.entries);
        let launch = |name, shape, arguments: Vec<_>| {
            backend.launch::<T>(Source::Correlation, name, shape, &arguments)
        };
        let counts = Buffer::<u32>::zeros(device, rows)?;
        let arguments = arguments![entries as u64, &pattern.columns, &counts];
        launch("count_columns", LaunchShape::threads(entries), arguments)?;
        let starts = scan(backend, &counts)?;
        let to_rows = Buffer::zeros(device, entries)?;
        let source = Buffer::zeros(device, entries)?;
        let arguments = arguments![
            rows as u64,
            &pattern.row_start,
            &pattern.columns,
            &starts,
            &counts,
            &to_rows,
            &source
        ];
        launch("turn_entries", LaunchShape::threads(rows), arguments)?;
        Ok(Self {
            starts,
            rows: to_rows,
            source,
            values: Buffer::zeros(device, entries)?,
            sums: Buffer::zeros(device, 2 * rows)?,
            counters: Buffer::zeros(device, 2 * rows)?,
            tickets: Buffer::zeros(device, 2)?,
            w: Buffer::zeros(device, rows)?,
        })
    }

    /// The factors' values, which stand as in the pattern that was eliminated.
    pub(super) fn take(
        &self,
        backend: &CudaBackend,
        a: &Eliminated,
        factored: &Buffer<T>,
    ) -> Result<(), DeviceError> {
        let (pattern, entries) = (&a.pattern, a.pattern.entries);
        let arguments = arguments![entries as u64, &self.source, factored, &self.values];
        let shape = LaunchShape::threads(entries);
        backend.launch::<T>(Source::Triangular, "take_values", shape, &arguments)?;
        self.sums.clear()?;
        self.tickets.clear()?;
        let arguments = arguments![
            pattern.rows as u64,
            &pattern.row_start,
            &a.split,
            &pattern.columns,
            &self.counters
        ];
        let shape = LaunchShape::threads(pattern.rows);
        backend.launch::<T>(Source::Correlation, "set_counters", shape, &arguments)
    }

    /// z ← M⁻¹ r.
    pub(super) fn solve(
        &self,
        backend: &CudaBackend,
        a: &Eliminated,
        inverse: &Buffer<T>,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<(), DeviceError> {
        let rows = a.pattern.rows;
        let state = PushState {
            inverse: inverse.into(),
            sums: (&self.sums).into(),
            counters: (&self.counters).into(),
            tickets: (&self.tickets).into(),
            w: (&self.w).into(),
        };
        let arguments = arguments![
            rows as u64,
            a.shared(),
            &self.starts,
            &self.rows,
            &self.values,
            state,
            r,
            z
        ];
        let shape = slim(2 * rows);
        backend.launch::<T>(Source::Correlation, "push_columns", shape, &arguments)
    }
}
