//! Typed memory of a device.

use super::interface::{Address, Device, GRANTED, Request};
use crate::backend::cuda::launch::shared::{Pointer, Reals};
use crate::backend::cuda::launch::{Argument, Result};
use crate::backend::error::{check_length, check_room};
use crate::backend::{DeviceError, Real};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// `len` values of `T` in a device's memory, freed when dropped. A copy to or from another length is
/// refused with [`DeviceError::Length`].
pub struct Buffer<T> {
    block: Arc<MemoryBlock>,
    address: Address,
    len: usize,
    values: PhantomData<T>,
}

/// A block of a device's memory, of one buffer or of several, freed with the last of them.
struct MemoryBlock {
    device: Arc<dyn Device>,
    address: Address,
    bytes: usize,
    /// Streams of other libraries that may read it.
    lent: Mutex<BTreeSet<i64>>,
}

impl MemoryBlock {
    /// Memory with its previous contents.
    fn unset(device: &Arc<dyn Device>, bytes: usize) -> Result<Self> {
        let address = device.allocate(bytes)?;
        Ok(Self { device: device.clone(), address, bytes, lent: Mutex::default() })
    }
}

impl Drop for MemoryBlock {
    fn drop(&mut self) {
        // Memory that others may read at any time is not used again.
        if self.lent.get_mut().iter().all(|&stream| self.device.share(stream, true).is_ok()) {
            self.device.free(GRANTED, self.address, self.bytes);
        }
    }
}

/// Bytes at whose multiples the buffers of a block begin, as blocks themselves do.
const ALIGNED: usize = 256;

/// Bytes of `len` values, one at least: every buffer has an address of its own.
fn bytes_of<T>(len: usize) -> usize {
    (len * size_of::<T>()).max(1)
}

impl<T: bytemuck::Pod> Buffer<T> {
    /// Zeros.
    pub fn zeros(device: &Arc<dyn Device>, len: usize) -> Result<Self> {
        let buffer = Self::unset(device, len)?;
        device.ask(GRANTED, Request::Clear { at: buffer.address, bytes: bytes_of::<T>(len) })?;
        Ok(buffer)
    }

    /// Zeros in buffers of several lengths. They share a block, which is cleared at once.
    pub(crate) fn several_zeros<const N: usize>(
        device: &Arc<dyn Device>,
        lengths: [usize; N],
    ) -> Result<[Self; N]> {
        let mut bytes = 0;
        let places = lengths.map(|len| {
            let start = bytes as Address;
            bytes += bytes_of::<T>(len).next_multiple_of(ALIGNED);
            (start, len)
        });
        let block = Arc::new(MemoryBlock::unset(device, bytes)?);
        device.ask(GRANTED, Request::Clear { at: block.address, bytes })?;
        Ok(places.map(|(start, len)| Self::of_block(&block, start, len)))
    }

    /// A copy of `host`.
    pub fn from_host(device: &Arc<dyn Device>, host: &[T]) -> Result<Self> {
        let buffer = Self::unset(device, host.len())?;
        buffer.upload(host)?;
        Ok(buffer)
    }

    /// A copy of several arrays of the host, one behind the other, and where each begins. One upload takes less time
    /// than several.
    pub(crate) fn from_several<const N: usize>(
        device: &Arc<dyn Device>,
        host: [&[T]; N],
    ) -> Result<(Self, [Pointer<T>; N])> {
        let all = Self::from_host(device, &host.concat())?;
        let mut end = 0;
        let starts = host.map(|values| {
            end += values.len();
            all.at(end - values.len())
        });
        Ok((all, starts))
    }

    /// Values that are to be set before they are read: memory with its previous contents.
    pub(crate) fn unset(device: &Arc<dyn Device>, len: usize) -> Result<Self> {
        let most = usize::MAX / size_of::<T>().max(1);
        if len > most {
            return Err(DeviceError::Length { there: most, asked: len });
        }
        Ok(Self::of_block(&Arc::new(MemoryBlock::unset(device, bytes_of::<T>(len))?), 0, len))
    }

    /// `len` values that begin `start` bytes behind the start of a block.
    fn of_block(block: &Arc<MemoryBlock>, start: Address, len: usize) -> Self {
        Self { block: block.clone(), address: block.address + start, len, values: PhantomData }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of the GPU whose memory it is; none for what is no GPU.
    pub fn ordinal(&self) -> Option<usize> {
        self.block.device.ordinal()
    }

    /// Lends the memory to another library, whose work on a stream comes after the device's so far; the device uses
    /// it again after what is queued there when the buffer is dropped. The stream has the number that DLPack gives
    /// it: 1 is the legacy default stream, 2 the calling thread's, a greater one a handle; -1 asks for no order.
    pub fn lend(&self, stream: i64) -> Result<()> {
        // Memory borrowed on another stream is often read on the default one, too.
        self.block.lent.lock().extend([stream, 1]);
        self.block.device.share(stream, false)
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
        self.upload_part(host)
    }

    /// The leading values ← host.
    pub fn upload_part(&self, host: &[T]) -> Result<()> {
        check_room(host.len(), [self.len])?;
        self.block.device.upload(GRANTED, bytemuck::cast_slice(host), self.address)
    }

    /// The leading values to the host.
    pub fn download(&self, host: &mut [T]) -> Result<()> {
        check_room(host.len(), [self.len])?;
        self.block.device.download(GRANTED, self.address, bytemuck::cast_slice_mut(host))
    }

    /// All values on the host.
    pub(crate) fn to_host(&self) -> Result<Vec<T>> {
        self.part(0..self.len)
    }

    /// One value on the host.
    pub(crate) fn get(&self, at: usize) -> Result<T> {
        Ok(self.part(at..at + 1)?[0])
    }

    /// Some values on the host.
    pub(crate) fn part(&self, places: Range<usize>) -> Result<Vec<T>> {
        check_room(places.end, [self.len])?;
        let mut host = vec![T::zeroed(); places.len()];
        let bytes = bytemuck::cast_slice_mut(&mut host);
        self.block.device.download(GRANTED, self.address_of(places.start), bytes)?;
        Ok(host)
    }

    /// All values ← those of another buffer of the same length on the same device.
    pub fn copy_from(&self, other: &Self) -> Result<()> {
        check_length(self.len, other.len)?;
        self.copy_part(0, (other, 0), self.len)
    }

    /// `len` values from `to` on ← those from `from` on of another buffer on the same device.
    pub(crate) fn copy_part(
        &self,
        to: usize,
        (other, from): (&Self, usize),
        len: usize,
    ) -> Result<()> {
        check_room(from + len, [other.len])?;
        check_room(to + len, [self.len])?;
        let (from, to) = (other.address_of(from), self.address_of(to));
        let copy = Request::Copy { from, to, bytes: len * size_of::<T>() };
        self.block.device.ask(GRANTED, copy)
    }

    /// All values ← 0.
    pub fn clear(&self) -> Result<()> {
        let bytes = self.len * size_of::<T>();
        self.block.device.ask(GRANTED, Request::Clear { at: self.address, bytes })
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

/// Idle blocks by their size. The one of the lowest address is taken first: solves of one size find theirs in the
/// same places.
#[derive(Default)]
pub(in super::super) struct Pool(Mutex<HashMap<usize, BTreeSet<Address>>>);

impl Pool {
    /// A block of this size, if there is one.
    pub(in super::super) fn take(&self, bytes: usize) -> Option<Address> {
        self.0.lock().get_mut(&bytes).and_then(BTreeSet::pop_first)
    }

    pub(in super::super) fn put(&self, at: Address, bytes: usize) {
        self.0.lock().entry(bytes).or_default().insert(at);
    }

    /// Bytes of all blocks.
    pub(in super::super) fn bytes(&self) -> usize {
        self.0.lock().iter().map(|(bytes, all)| bytes * all.len()).sum()
    }

    /// All blocks, each with its size, which it has no longer.
    pub(in super::super) fn drain(&self) -> Vec<(Address, usize)> {
        let sizes = std::mem::take(&mut *self.0.lock()).into_iter();
        sizes.flat_map(|(bytes, all)| all.into_iter().map(move |at| (at, bytes))).collect()
    }
}
