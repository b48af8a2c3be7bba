//! Kernels: their source files, their names, launch shapes and arguments.

use super::constants::BLOCK;
use super::shared::{self, Shared};
use crate::backend::Real;
use std::ffi::c_void;

/// Declares the files of `kernels/`: name, file, precisions that it is compiled for, headers that it
/// includes.
macro_rules! sources {
    ($($name:ident $file:literal $widths:ident $headers:tt;)*) => {
        /// A file of `kernels/`, compiled as one module for each precision.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Source { $($name,)* }

        impl Source {
            pub const ALL: [Self; [$($file),*].len()] = [$(Self::$name),*];

            fn entry(self) -> SourceFile {
                match self {
                    $(Self::$name => SourceFile {
                        name: $file,
                        widths: $widths,
                        headers: &$headers,
                        body: include_str!(concat!("../../../../kernels/", $file)),
                    },)*
                }
            }
        }
    };
}

struct SourceFile {
    name: &'static str,
    widths: &'static [Width],
    headers: &'static [&'static str],
    body: &'static str,
}

const BOTH: &[Width] = &[Width::Single, Width::Double];
/// Grids are made in double precision alone, and an order of rows and a message have none.
const ONE: &[Width] = &[Width::Double];

const COMMON: &str = include_str!("../../../../kernels/common.cuh");
const CYCLIC: &str = include_str!("../../../../kernels/cyclic.cuh");
const FOLD: &str = include_str!("../../../../kernels/fold.cuh");
const HALO: &str = include_str!("../../../../kernels/halo.cuh");
const LEVEL: &str = include_str!("../../../../kernels/level.cuh");
const PEERS: &str = include_str!("../../../../kernels/peers.cuh");
const SLICES: &str = include_str!("../../../../kernels/slices.cuh");

sources! {
    Vector "vector.cu" BOTH [COMMON];
    Scalars "scalars.cu" BOTH [COMMON, PEERS];
    Matrix "matrix.cu" BOTH [COMMON];
    Elliptic "elliptic.cu" BOTH [COMMON];
    Wall "wall.cu" BOTH [COMMON];
    March "march.cu" ONE [COMMON, CYCLIC];
    Initial "initial.cu" ONE [COMMON];
    Control "control.cu" ONE [COMMON];
    Quality "quality.cu" ONE [COMMON];
    Factors "factors.cu" BOTH [COMMON];
    Tiles "tiles.cu" BOTH [COMMON];
    Lines "lines.cu" BOTH [COMMON, LEVEL];
    Pivots "pivots.cu" BOTH [COMMON, LEVEL];
    Level "level.cu" BOTH [COMMON, LEVEL];
    Transfer "transfer.cu" BOTH [COMMON, LEVEL];
    Bands "bands.cu" BOTH [COMMON, LEVEL];
    Spikes "spikes.cu" BOTH [COMMON, LEVEL, PEERS, HALO];
    Csr "csr.cu" BOTH [COMMON, SLICES, FOLD];
    Order "order.cu" ONE [COMMON, SLICES, FOLD];
    Patterns "patterns.cu" ONE [COMMON, SLICES, FOLD];
    Triangular "triangular.cu" BOTH [COMMON, SLICES, FOLD];
    Gauss "gauss.cu" BOTH [COMMON, SLICES];
    Correlation "correlation.cu" BOTH [COMMON, SLICES];
    RowHalo "row_halo.cu" BOTH [COMMON];
    Messages "messages.cu" ONE [COMMON, PEERS];
    Halo "halo.cu" BOTH [COMMON, LEVEL, PEERS, HALO];
}

impl Source {
    /// The precisions that it is compiled for.
    #[must_use]
    pub fn widths(self) -> &'static [Width] {
        self.entry().widths
    }

    /// Name of the file in `kernels/`.
    #[must_use]
    pub fn file(self) -> &'static str {
        self.entry().name
    }

    /// The whole text of the module: what the host shares, the headers, then the file.
    #[must_use]
    pub fn text(self) -> String {
        let SourceFile { headers, body, .. } = self.entry();
        let mut text = shared::preamble();
        let lines = headers.iter().chain([&body]).flat_map(|part| part.lines());
        for line in lines.filter(|line| !line.starts_with("#include \"") && *line != "#pragma once")
        {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// Precision a module is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    Single,
    Double,
}

impl Width {
    #[must_use]
    pub fn of<T: Real>() -> Self {
        if size_of::<T>() == 4 { Self::Single } else { Self::Double }
    }

    #[must_use]
    pub fn c_type(self) -> &'static str {
        match self {
            Self::Single => "float",
            Self::Double => "double",
        }
    }
}

/// A kernel: its module and its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kernel {
    pub source: Source,
    /// Precision of `real` in the file.
    pub width: Width,
    pub name: &'static str,
}

impl Kernel {
    #[must_use]
    pub fn new<T: Real>(source: Source, name: &'static str) -> Self {
        Self { source, width: Width::of::<T>(), name }
    }
}

/// Blocks of a launch, threads of a block, and bytes of dynamic shared memory of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchShape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
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

    /// Blocks of `threads` threads.
    #[must_use]
    pub fn new(blocks: usize, threads: u32) -> Self {
        Self { grid: [blocks as u32, 1, 1], block: [threads, 1, 1], shared: 0 }
    }

    /// Blocks of [`BLOCK`] threads.
    #[must_use]
    pub fn blocks(blocks: usize) -> Self {
        Self::new(blocks, BLOCK)
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

/// Levels `first` to `last` (not included) in `blocks` blocks; several levels in one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LevelLaunch {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) blocks: u32,
}

/// The launches for levels that take these numbers of blocks: one for each level of several blocks, and one
/// for each run of levels of one block, which that does faster than launches follow each other.
pub(crate) fn level_launches(blocks: impl Iterator<Item = u32>) -> Vec<LevelLaunch> {
    let mut launches: Vec<LevelLaunch> = Vec::new();
    for (level, blocks) in (0..).zip(blocks) {
        match launches.last_mut() {
            Some(last) if last.blocks == 1 && blocks == 1 => last.last = level + 1,
            _ => launches.push(LevelLaunch { first: level, last: level + 1, blocks }),
        }
    }
    launches
}

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
