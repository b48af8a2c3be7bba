//! Kernels by name, their launch shapes and their arguments.

use super::shared::{BLOCK, Shared};
use super::source::{Source, Width};
use crate::backend::Real;
use std::ffi::c_void;

/// A kernel: its module and its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// File.
    pub source: Source,
    /// Precision of `real` in the file.
    pub width: Width,
    /// Name of the function.
    pub name: &'static str,
}

impl Kernel {
    /// The kernel `name` of a file for `real` = `T`.
    #[must_use]
    pub fn new<T: Real>(source: Source, name: &'static str) -> Self {
        Self { source, width: Width::of::<T>(), name }
    }
}

/// Blocks of a launch, threads of a block, and bytes of dynamic shared memory of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
}

/// Blocks of a reduction: fixed, so that sums do not depend on the GPU.
pub(crate) const REDUCTION_BLOCKS: usize = 1024;

impl LaunchShape {
    /// One thread for each of `n` items.
    #[must_use]
    pub fn threads(n: usize) -> Self {
        Self::blocks(n.div_ceil(BLOCK as usize).max(1))
    }

    /// This many blocks of [`BLOCK`] threads.
    #[must_use]
    pub fn blocks(blocks: usize) -> Self {
        Self { grid: [blocks as u32, 1, 1], block: [BLOCK, 1, 1], shared: 0 }
    }

    /// Blocks for a kernel that strides over `n` items: each thread takes several of many.
    #[must_use]
    pub fn elementwise(n: usize) -> Self {
        Self::striding(n, 8192)
    }

    /// Blocks for a kernel that reduces over `n` items.
    #[must_use]
    pub fn reduction(n: usize) -> Self {
        Self::striding(n, REDUCTION_BLOCKS)
    }

    /// A thread an item, but no more than `most` blocks.
    fn striding(n: usize, most: usize) -> Self {
        Self::blocks(n.div_ceil(BLOCK as usize).clamp(1, most))
    }
}

/// An argument of a kernel as it stands in memory: a number, an address, or a struct by value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument(Bytes);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Bytes {
    Word(u64),
    Struct(Box<[u64]>),
}

impl Argument {
    /// Where the driver reads the value; it knows the size from the kernel.
    #[must_use]
    pub fn pointer(&self) -> *const c_void {
        match &self.0 {
            Bytes::Word(word) => std::ptr::from_ref(word).cast(),
            Bytes::Struct(words) => words.as_ptr().cast(),
        }
    }

    /// A struct of fields of eight bytes each.
    #[must_use]
    pub fn words(words: &[u64]) -> Self {
        Self(Bytes::Struct(words.into()))
    }

    /// Bytes of a struct; none for a number or an address.
    #[must_use]
    pub fn struct_bytes(&self) -> Option<usize> {
        match &self.0 {
            Bytes::Word(_) => None,
            Bytes::Struct(words) => Some(size_of_val(&**words)),
        }
    }

    fn of(bytes: &[u8]) -> Self {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        Self(Bytes::Word(u64::from_ne_bytes(word)))
    }

    /// A scalar of type `real` in a module compiled for `T`.
    #[must_use]
    pub fn real<T: Real>(value: T) -> Self {
        Self::of(bytemuck::bytes_of(&value))
    }

    /// A struct of such scalars.
    pub(crate) fn reals<T: Real, const N: usize>(values: [T; N]) -> Self {
        Self::structure(bytemuck::cast_slice(&values))
    }

    fn structure(bytes: &[u8]) -> Self {
        let words = bytes.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(word)
        });
        Self(Bytes::Struct(words.collect()))
    }
}

impl<S: Shared> From<S> for Argument {
    fn from(value: S) -> Self {
        Self::structure(bytemuck::bytes_of(&value))
    }
}

macro_rules! argument_from {
    ($($from:ty),*) => { $(
        impl From<$from> for Argument {
            fn from(value: $from) -> Self {
                Self::of(&value.to_ne_bytes())
            }
        }
    )* };
}

// Addresses are u64, sizes u64, small counts and switches u32.
argument_from!(u64, u32, i32, f64);

/// A list of arguments, each turned by `Argument::from`.
macro_rules! arguments {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::backend::cuda::launch::Argument::from($value)),*]
    };
}
pub(crate) use arguments;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_keep_their_bytes() {
        assert_eq!(Argument::from(7_u32).0, Bytes::Word(7));
        assert_eq!(Argument::from(-0.5_f64).0, Bytes::Word((-0.5_f64).to_bits()));
        assert_eq!(Argument::real(0.5_f32).0, Bytes::Word(0.5_f32.to_bits().into()));
        let words = [1.0_f64.to_bits(), 2.0_f64.to_bits()];
        assert_eq!(Argument::reals([1.0, 2.0]).0, Bytes::Struct(words.into()));
    }
}
