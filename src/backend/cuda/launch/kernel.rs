//! Kernels: their source files, their names, launch shapes and arguments.

use super::constants::{BLOCK, LEVEL_I, LEVEL_J, MOST_BLOCKS};
use super::shared::{self, Shared};
use crate::backend::Real;
use std::ffi::c_void;

/// Declares the files of `kernels/`: name, file, precisions that it is compiled for, headers that it
/// includes.
macro_rules! sources {
    ($($name:ident $file:literal $widths:ident [$($header:ident),*];)*) => {
        /// A file of `kernels/`, compiled as one module for each precision.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Source { $($name,)* }

        impl Source {
            pub const ALL: [Self; [$($file),*].len()] = [$(Self::$name),*];

            /// Name of the file in `kernels/`.
            pub fn file(self) -> &'static str {
                [$($file),*][self as usize]
            }

            /// The precisions that it is compiled for.
            pub fn widths(self) -> &'static [Width] {
                [$($widths),*][self as usize]
            }

            /// The texts of its headers and its own.
            fn parts(self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &[
                        $($header,)*
                        include_str!(concat!("../../../../kernels/", $file)),
                    ],)*
                }
            }
        }
    };
}

const BOTH: &[Width] = &[Width::Single, Width::Double];
/// Grids are made in double precision alone, and an order of rows and a message have none.
const ONE: &[Width] = &[Width::Double];

const COLUMNS: &str = include_str!("../../../../kernels/columns.cuh");
const COMMON: &str = include_str!("../../../../kernels/common.cuh");
const CYCLIC: &str = include_str!("../../../../kernels/cyclic.cuh");
const EQUATIONS: &str = include_str!("../../../../kernels/equations.cuh");
const FOLD: &str = include_str!("../../../../kernels/fold.cuh");
const HALO: &str = include_str!("../../../../kernels/halo.cuh");
const LEVEL: &str = include_str!("../../../../kernels/level.cuh");
const PEERS: &str = include_str!("../../../../kernels/peers.cuh");
const STENCIL: &str = include_str!("../../../../kernels/stencil.cuh");
const SLICES: &str = include_str!("../../../../kernels/slices.cuh");

sources! {
    Vector "vector.cu" BOTH [COMMON];
    Scalars "scalars.cu" BOTH [COMMON, PEERS, HALO, STENCIL];
    Matrix "matrix.cu" BOTH [COMMON, STENCIL];
    Elliptic "elliptic.cu" BOTH [COMMON, EQUATIONS];
    Movement "movement.cu" ONE [COMMON, COLUMNS, EQUATIONS];
    Wall "wall.cu" BOTH [COMMON];
    March "march.cu" ONE [COMMON, CYCLIC, COLUMNS];
    Initial "initial.cu" ONE [COMMON, COLUMNS];
    Control "control.cu" ONE [COMMON, COLUMNS];
    Quality "quality.cu" ONE [COMMON, COLUMNS];
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
    RowHalo "row_halo.cu" BOTH [COMMON];
    Messages "messages.cu" ONE [COMMON, PEERS];
    Halo "halo.cu" BOTH [COMMON, LEVEL, PEERS, HALO];
}

impl Source {
    /// Its whole text: what the host shares, the headers, then the file.
    pub fn text(self) -> String {
        let kept = |line: &&str| !line.starts_with("#include \"") && *line != "#pragma once";
        let lines = self.parts().iter().flat_map(|part| part.lines()).filter(kept);
        lines.fold(shared::preamble(), |text, line| text + line + "\n")
    }

    /// Its modules whose launches do the work of one device, or that of all members of a group.
    pub fn modules(self, grouped: bool) -> impl Iterator<Item = ModuleKey> {
        self.widths().iter().map(move |&width| ModuleKey { source: self, width, grouped })
    }
}

/// A file of kernels as it is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModuleKey {
    pub source: Source,
    /// Precision of `real` in the file.
    pub width: Width,
    /// Whether a launch does the work of several members of a group.
    pub grouped: bool,
}

impl ModuleKey {
    /// The modules of all files.
    pub fn all(grouped: bool) -> impl Iterator<Item = Self> {
        Source::ALL.into_iter().flat_map(move |source| source.modules(grouped))
    }

    /// Its text.
    pub fn text(self) -> String {
        let own = self.source.text();
        if self.grouped { "#define GROUPED\n".to_owned() + &own } else { own }
    }
}

/// Precision a module is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    Single,
    Double,
}

impl Width {
    pub fn of<T: Real>() -> Self {
        if size_of::<T>() == 4 { Self::Single } else { Self::Double }
    }

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
    pub module: ModuleKey,
    pub name: &'static str,
}

impl Kernel {
    pub fn new<T: Real>(source: Source, name: &'static str) -> Self {
        Self { module: ModuleKey { source, width: Width::of::<T>(), grouped: false }, name }
    }

    /// The kernel that does for all members of a group what this one does for one of them.
    pub(crate) fn grouped(self) -> Self {
        Self { module: ModuleKey { grouped: true, ..self.module }, ..self }
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

/// The same of products with inner products: as many as the 132 multiprocessors of H100 and H200 have room for.
const PRODUCT_BLOCKS: usize = 4 * 132;

impl LaunchShape {
    /// One thread for each of `n` items.
    pub fn threads(n: usize) -> Self {
        Self::blocks(n.div_ceil(BLOCK as usize).max(1))
    }

    /// Blocks of `threads` threads.
    pub fn new(blocks: usize, threads: u32) -> Self {
        Self { grid: [blocks as u32, 1, 1], block: [threads, 1, 1], shared: 0 }
    }

    /// Blocks of [`BLOCK`] threads.
    pub fn blocks(blocks: usize) -> Self {
        Self::new(blocks, BLOCK)
    }

    /// One thread for each of `mi` × `mj` points, in tiles of [`LEVEL_I`] × [`LEVEL_J`], and for each of `copies` in z.
    /// Tiles along eta are counted along x where y has no room for them (`kernels/level.cuh`).
    pub fn tiles(mi: usize, mj: usize, copies: usize) -> Self {
        let (across, up) = (mi.div_ceil(LEVEL_I), mj.div_ceil(LEVEL_J));
        let [x, y] = if up > MOST_BLOCKS { [up, across] } else { [across, up] };
        let grid = [x, y, copies].map(|count| count as u32);
        Self { grid, block: [(LEVEL_I * LEVEL_J) as u32, 1, 1], shared: 0 }
    }

    /// Blocks for a kernel that strides over `n` items: each thread takes several of many.
    pub fn elementwise(n: usize) -> Self {
        Self::striding(n, 8192)
    }

    /// Blocks for a kernel that reduces over `n` items.
    pub fn reduction(n: usize) -> Self {
        Self::striding(n, REDUCTION_BLOCKS)
    }

    /// Blocks for a product of so many points and inner products after it.
    pub fn product(points: usize) -> Self {
        Self::striding(points, PRODUCT_BLOCKS)
    }

    /// A thread an item, but no more than `most` blocks.
    fn striding(n: usize, most: usize) -> Self {
        Self::blocks(n.div_ceil(BLOCK as usize).clamp(1, most))
    }
}

/// An argument of a kernel as it stands in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// A number or an address.
    Word(u64),
    /// A struct by value, of fields of eight bytes each or filled up with zeros.
    Struct(Box<[u64]>),
}

/// A word that begins with these bytes.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_ne_bytes(word)
}

impl Argument {
    /// Where the driver reads the value; it knows the size from the kernel.
    pub fn pointer(&self) -> *const c_void {
        match self {
            Self::Word(word) => std::ptr::from_ref(word).cast(),
            Self::Struct(words) => words.as_ptr().cast(),
        }
    }

    /// A scalar of type `real` in a module compiled for `T`.
    pub fn real<T: Real>(value: T) -> Self {
        Self::Word(word(bytemuck::bytes_of(&value)))
    }

    /// A struct of such scalars.
    pub fn reals<T: Real, const N: usize>(values: [T; N]) -> Self {
        Self::Struct(bytemuck::cast_slice(&values).chunks(8).map(word).collect())
    }
}

impl<S: Shared> From<S> for Argument {
    fn from(value: S) -> Self {
        Self::Struct(bytemuck::bytes_of(&value).chunks(8).map(word).collect())
    }
}

macro_rules! argument_from {
    ($($from:ty),*) => { $(
        impl From<$from> for Argument {
            fn from(value: $from) -> Self {
                Self::Word(word(&value.to_ne_bytes()))
            }
        }
    )* };
}

// Addresses are u64, sizes u64, small counts and switches u32.
argument_from!(u64, u32, i32, f64);

/// What stands in a list of arguments: one, or several that belong together.
pub(crate) trait Listed {
    fn append(self, list: &mut Vec<Argument>);
}

impl<T> Listed for T
where
    Argument: From<T>,
{
    fn append(self, list: &mut Vec<Argument>) {
        list.push(self.into());
    }
}

impl Listed for Vec<Argument> {
    fn append(self, list: &mut Vec<Argument>) {
        list.extend(self);
    }
}

impl Listed for &[Argument] {
    fn append(self, list: &mut Vec<Argument>) {
        list.extend_from_slice(self);
    }
}

/// A list of arguments.
macro_rules! arguments {
    ($($value:expr),* $(,)?) => {{
        let mut list = Vec::with_capacity(16);
        $($crate::backend::cuda::launch::Listed::append($value, &mut list);)*
        list
    }};
}
pub(crate) use arguments;
