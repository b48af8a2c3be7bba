//! Typed memory of a device, and an estimate of the memory that a solve needs.

use super::interface::{Address, Device, GRANTED};
use crate::backend::cuda::launch::constants::{
    COMPACT_STORAGE, FULL_STORAGE, WALL_VALUES, half_row,
};
use crate::backend::cuda::launch::shared::{Pointer, Reals};
use crate::backend::cuda::launch::{Argument, Result};
use crate::backend::error::{check_length, check_room};
use crate::backend::{DeviceError, Real};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::Arc;

/// `len` values of `T` in a device's memory, freed when dropped. A copy to or from another length is
/// refused with [`DeviceError::Length`].
pub struct Buffer<T> {
    device: Arc<dyn Device>,
    address: Address,
    len: usize,
    /// Streams of other libraries that may read it.
    lent: Mutex<BTreeSet<i64>>,
    values: PhantomData<T>,
}

/// Bytes of so many values, one at least: every buffer has an address of its own.
fn bytes_of<T>(len: usize) -> usize {
    (len * size_of::<T>()).max(1)
}

impl<T: bytemuck::Pod> Buffer<T> {
    /// Zeros.
    pub fn zeros(device: &Arc<dyn Device>, len: usize) -> Result<Self> {
        let buffer = Self::unset(device, len)?;
        device.clear(GRANTED, buffer.address, bytes_of::<T>(len))?;
        Ok(buffer)
    }

    /// A copy of `host`.
    pub fn from_host(device: &Arc<dyn Device>, host: &[T]) -> Result<Self> {
        let buffer = Self::unset(device, host.len())?;
        buffer.upload(host)?;
        Ok(buffer)
    }

    /// What stood in the memory before.
    fn unset(device: &Arc<dyn Device>, len: usize) -> Result<Self> {
        let most = usize::MAX / size_of::<T>().max(1);
        if len > most {
            return Err(DeviceError::Length { there: most, asked: len });
        }
        let address = device.allocate(bytes_of::<T>(len))?;
        let (device, lent) = (device.clone(), Mutex::default());
        Ok(Self { device, address, len, lent, values: PhantomData })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of the GPU whose memory it is; none for what is no GPU.
    pub fn ordinal(&self) -> Option<usize> {
        self.device.ordinal()
    }

    /// Lends the memory to another library, whose work on a stream comes after the device's so far; the device uses
    /// it again after what is queued there when the buffer is dropped. The stream has the number that DLPack gives
    /// it: 1 is the legacy default stream, 2 the calling thread's, a greater one a handle; -1 asks for no order.
    pub fn lend(&self, stream: i64) -> Result<()> {
        // What was borrowed on another stream is often read on the default one, too.
        self.lent.lock().extend([stream, 1]);
        self.device.share(stream, false)
    }

    /// Address of the first value.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Address of value `at`.
    pub fn address_of(&self, at: usize) -> Address {
        self.address + (at * size_of::<T>()) as Address
    }

    /// Value `at` as kernels take it.
    pub(crate) fn at(&self, at: usize) -> Pointer<T> {
        Pointer::to(self.address_of(at))
    }

    /// All values ← host, of the same length.
    pub fn upload(&self, host: &[T]) -> Result<()> {
        check_length(self.len, host.len())?;
        self.device.upload(GRANTED, bytemuck::cast_slice(host), self.address)
    }

    /// The leading values ← host.
    pub fn upload_part(&self, host: &[T]) -> Result<()> {
        check_room(host.len(), [self.len])?;
        self.device.upload(GRANTED, bytemuck::cast_slice(host), self.address)
    }

    /// The leading values to the host.
    pub fn download(&self, host: &mut [T]) -> Result<()> {
        check_room(host.len(), [self.len])?;
        self.device.download(GRANTED, self.address, bytemuck::cast_slice_mut(host))
    }

    pub(crate) fn to_host(&self) -> Result<Vec<T>> {
        let mut host = vec![T::zeroed(); self.len];
        self.download(&mut host)?;
        Ok(host)
    }

    /// One value on the host.
    pub(crate) fn get(&self, at: usize) -> Result<T> {
        let mut host = [T::zeroed()];
        let bytes = bytemuck::cast_slice_mut(&mut host);
        self.device.download(GRANTED, self.address_of(at), bytes)?;
        Ok(host[0])
    }

    /// The last values on the host.
    pub(crate) fn last(&self, count: usize) -> Result<Vec<T>> {
        check_room(count, [self.len])?;
        let mut host = vec![T::zeroed(); count];
        let bytes = bytemuck::cast_slice_mut(&mut host);
        self.device.download(GRANTED, self.address_of(self.len - count), bytes)?;
        Ok(host)
    }

    /// All values ← those of another buffer of the same length on the same device.
    pub fn copy_from(&self, other: &Self) -> Result<()> {
        check_length(self.len, other.len)?;
        self.device.copy(GRANTED, other.address, self.address, self.len * size_of::<T>())
    }

    /// All values ← 0.
    pub fn clear(&self) -> Result<()> {
        self.device.clear(GRANTED, self.address, self.len * size_of::<T>())
    }
}

impl<T> From<&Buffer<T>> for Argument {
    fn from(buffer: &Buffer<T>) -> Self {
        Pointer::from(buffer).into()
    }
}

/// A null pointer for none.
impl<T> From<Option<&Buffer<T>>> for Argument {
    fn from(buffer: Option<&Buffer<T>>) -> Self {
        Pointer::from(buffer).into()
    }
}

impl<T> From<&Arc<Buffer<T>>> for Argument {
    fn from(buffer: &Arc<Buffer<T>>) -> Self {
        Self::from(&**buffer)
    }
}

impl<T> From<&Buffer<T>> for Pointer<T> {
    fn from(buffer: &Buffer<T>) -> Self {
        Self::to(buffer.address)
    }
}

/// Null for none.
impl<T> From<Option<&Buffer<T>>> for Pointer<T> {
    fn from(buffer: Option<&Buffer<T>>) -> Self {
        buffer.map_or(Self::NULL, Self::from)
    }
}

impl<T: Real> From<&Buffer<T>> for Pointer<Reals> {
    fn from(buffer: &Buffer<T>) -> Self {
        Self::to(buffer.address)
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        // What others may read at any time is not used again.
        if self.lent.get_mut().iter().all(|&stream| self.device.share(stream, true).is_ok()) {
            self.device.free(GRANTED, self.address, bytes_of::<T>(self.len));
        }
    }
}

/// What determines the memory that a solve needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryEstimate {
    pub points: usize,
    /// Points of a line along xi.
    pub columns: usize,
    /// Bytes of a value of the linear solve: 4 or 8.
    pub value: usize,
    pub preconditioner: PreconditionerStorage,
}

/// What a preconditioner stores per point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreconditionerStorage {
    /// A diagonal, or nothing.
    Diagonal,
    /// Incomplete factors within tiles.
    Tiles,
    /// Incomplete factors by rows, with their columns.
    Factors,
    /// A multigrid hierarchy in single precision.
    Hierarchy,
}

/// Values per point in double precision whatever the settings: nodes, control functions, decay of the
/// wall terms, weights, and the vectors of Newton's method.
const DOUBLES: usize = 8 + 8;
/// Values per point of the linear solve: field Jacobian and wall columns, right side and solution,
/// seven vectors of BiCGStab, three of the wall reduction.
const VALUES: usize = 26 + 4 + 4 + 14 + 6;
/// Memory in addition to that of the points: recordings, compiled kernels, the matrix of small levels.
const FIXED: usize = 256 << 20;

impl MemoryEstimate {
    /// Bytes of the GPU's memory.
    pub fn bytes(&self) -> usize {
        let points = self.points;
        let stored = match self.preconditioner {
            PreconditionerStorage::Diagonal => points * 2 * self.value,
            // 26 entries, and at most as many of tiles that reach over the rim.
            PreconditionerStorage::Tiles => points * 2 * 26 * self.value,
            // 26 entries of the eliminated matrix with their columns and sources, again by triangles, and
            // the products of one; pivots and intermediate vectors, and both orders of the rows.
            PreconditionerStorage::Factors => {
                points * (26 * (12 + 5 * self.value / 2) + 8 * self.value + 96)
            }
            // What is stored with wall terms, inverse pivots of xi-lines that close, right side and solution, in rows
            // that are padded.
            PreconditionerStorage::Hierarchy => {
                let (columns, rows) = (self.columns, points.div_ceil(self.columns.max(1)));
                let padded = |level: u32| 2 * half_row(columns >> level) * (rows >> level);
                let coarse = (1..).take_while(|level| columns >> level > 1 && rows >> level > 0);
                let values = |stored: usize| stored + WALL_VALUES + 8 + 4;
                let below = values(FULL_STORAGE) * coarse.map(padded).sum::<usize>();
                4 * (values(COMPACT_STORAGE) * padded(0) + below)
            }
        };
        points * (8 * DOUBLES + VALUES * self.value) + stored + FIXED
    }

    /// The share of each of several devices, which have bands of columns.
    #[must_use]
    pub fn share(self, devices: usize) -> Self {
        let part = |whole: usize| whole.div_ceil(devices.max(1));
        Self { points: part(self.points), columns: part(self.columns), ..self }
    }

    /// Refuses what does not fit the free memory of a device.
    pub(crate) fn check(&self, device: &dyn Device) -> Result<()> {
        let asked = self.bytes();
        match device.memory()? {
            Some((free, _)) if asked > free => {
                Err(DeviceError::OutOfMemory { device: device.name().to_owned(), asked, free })
            }
            _ => Ok(()),
        }
    }
}
