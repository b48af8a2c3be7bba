//! Typed memory of a device.

use super::interface::{Address, Device, check_length};
use crate::backend::DeviceError;
use crate::backend::Real;
use crate::backend::cuda::launch::Argument;
use crate::backend::cuda::launch::shared::{Pointer, Reals};
use std::marker::PhantomData;
use std::sync::Arc;

/// `len` values of `T` in a device's memory, freed when dropped.
pub struct Buffer<T> {
    device: Arc<dyn Device>,
    address: Address,
    len: usize,
    values: PhantomData<T>,
}

impl<T: bytemuck::Pod> Buffer<T> {
    /// Zeros.
    pub fn zeros(device: &Arc<dyn Device>, len: usize) -> Result<Self, DeviceError> {
        let most = usize::MAX / size_of::<T>().max(1);
        if len > most {
            return Err(DeviceError::Length { there: most, asked: len });
        }
        let bytes = (len * size_of::<T>()).max(1);
        let address = device.allocate(bytes)?;
        let buffer = Self { device: device.clone(), address, len, values: PhantomData };
        device.clear(address, bytes)?;
        Ok(buffer)
    }

    /// A copy of `host`.
    pub fn from_host(device: &Arc<dyn Device>, host: &[T]) -> Result<Self, DeviceError> {
        let buffer = Self::zeros(device, host.len())?;
        buffer.upload(host)?;
        Ok(buffer)
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address of the first value.
    #[must_use]
    pub fn address(&self) -> Address {
        self.address
    }

    /// Address of value `at`.
    #[must_use]
    pub fn address_of(&self, at: usize) -> Address {
        self.address + (at * size_of::<T>()) as Address
    }

    /// All values ← host.
    ///
    /// # Errors
    /// [`DeviceError::Length`] unless both have the same length.
    pub fn upload(&self, host: &[T]) -> Result<(), DeviceError> {
        check_length(self.len, host.len())?;
        self.device.upload(bytemuck::cast_slice(host), self.address)
    }

    /// The leading values ← host.
    ///
    /// # Errors
    /// [`DeviceError::Length`] for more values than there are.
    pub fn upload_part(&self, host: &[T]) -> Result<(), DeviceError> {
        check_length(self.len, host.len().max(self.len))?;
        self.device.upload(bytemuck::cast_slice(host), self.address)
    }

    /// The leading values to the host.
    ///
    /// # Errors
    /// [`DeviceError::Length`] for more values than there are.
    pub fn download(&self, host: &mut [T]) -> Result<(), DeviceError> {
        check_length(self.len, host.len().max(self.len))?;
        self.device.download(self.address, bytemuck::cast_slice_mut(host))
    }

    /// All values ← those of another buffer on the same device.
    ///
    /// # Errors
    /// [`DeviceError::Length`] unless both have the same length.
    pub fn copy_from(&self, other: &Self) -> Result<(), DeviceError> {
        check_length(self.len, other.len)?;
        self.device.copy(other.address, self.address, self.len * size_of::<T>())
    }

    /// All values ← 0.
    pub fn clear(&self) -> Result<(), DeviceError> {
        self.device.clear(self.address, self.len * size_of::<T>())
    }
}

impl<T> From<&Buffer<T>> for Argument {
    fn from(buffer: &Buffer<T>) -> Self {
        Self::from(buffer.address)
    }
}

impl<T> From<&mut Buffer<T>> for Argument {
    fn from(buffer: &mut Buffer<T>) -> Self {
        Self::from(buffer.address)
    }
}

impl<T> From<&Buffer<T>> for Pointer<T> {
    fn from(buffer: &Buffer<T>) -> Self {
        Self::to(buffer.address)
    }
}

impl<T: Real> From<&Buffer<T>> for Pointer<Reals> {
    fn from(buffer: &Buffer<T>) -> Self {
        Self::to(buffer.address)
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.device.free(self.address);
    }
}
