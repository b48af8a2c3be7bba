//! Kernels by name, their launch shapes and their arguments.

use super::REDUCTION_BLOCKS;
use crate::backend::Real;
use std::ffi::c_void;

/// A file of `kernels/`, compiled as one module for each precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Sums of vectors, inner products, conversions.
    Vector,
    /// The same with scalars that stay on the device.
    Scalars,
    /// ELL matrices.
    Matrix,
    /// Residual and Jacobian of the grid equations.
    Elliptic,
    /// The reduced system of the wall terms.
    Wall,
    /// The hyperbolic march.
    March,
    /// The grid that the march leaves.
    Initial,
    /// Control functions and wall terms.
    Control,
    /// Finished grids and their quality.
    Quality,
    /// Incomplete factors by rows.
    Factors,
    /// DILU within tiles.
    Tiles,
    /// Line solves of multigrid.
    Lines,
    /// Their factors.
    Pivots,
    /// Levels of multigrid.
    Level,
    /// What passes between them.
    Transfer,
    /// Levels in bands.
    Bands,
    /// Their lines across borders.
    Spikes,
    /// Matrices by rows.
    Csr,
    /// The order of rows in triangular factors.
    Order,
    /// Patterns renumbered by colour or cut into tiles.
    Layout,
    /// Triangular factors and their solves.
    Triangular,
    /// Gaussian elimination within a pattern.
    Gauss,
    /// Solves that push along columns.
    Correlation,
    /// Matrices spread by rows.
    Rows,
    /// Messages between devices.
    Mail,
    /// Columns that neighbours exchange.
    Columns,
}

impl Source {
    /// Every file.
    pub const ALL: [Self; 26] = [
        Self::Vector,
        Self::Scalars,
        Self::Matrix,
        Self::Elliptic,
        Self::Wall,
        Self::March,
        Self::Initial,
        Self::Control,
        Self::Quality,
        Self::Factors,
        Self::Tiles,
        Self::Lines,
        Self::Pivots,
        Self::Level,
        Self::Transfer,
        Self::Bands,
        Self::Spikes,
        Self::Csr,
        Self::Order,
        Self::Layout,
        Self::Triangular,
        Self::Gauss,
        Self::Correlation,
        Self::Rows,
        Self::Mail,
        Self::Columns,
    ];

    /// The precisions it is used in: grids are made in double precision alone, and an order of rows
    /// and a message have none.
    #[must_use]
    pub fn widths(self) -> &'static [Width] {
        match self {
            Self::March
            | Self::Initial
            | Self::Control
            | Self::Quality
            | Self::Order
            | Self::Layout
            | Self::Mail => &[Width::Double],
            _ => &[Width::Single, Width::Double],
        }
    }

    /// Name of the file in `kernels/`.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Vector => "vector.cu",
            Self::Scalars => "scalars.cu",
            Self::Matrix => "matrix.cu",
            Self::Elliptic => "elliptic.cu",
            Self::Wall => "wall.cu",
            Self::March => "march.cu",
            Self::Initial => "initial.cu",
            Self::Control => "control.cu",
            Self::Quality => "quality.cu",
            Self::Factors => "factors.cu",
            Self::Tiles => "tiles.cu",
            Self::Lines => "lines.cu",
            Self::Pivots => "pivots.cu",
            Self::Level => "level.cu",
            Self::Transfer => "transfer.cu",
            Self::Bands => "bands.cu",
            Self::Spikes => "spikes.cu",
            Self::Csr => "csr.cu",
            Self::Order => "order.cu",
            Self::Layout => "layout.cu",
            Self::Triangular => "triangular.cu",
            Self::Gauss => "gauss.cu",
            Self::Correlation => "correlation.cu",
            Self::Rows => "rows.cu",
            Self::Mail => "mail.cu",
            Self::Columns => "columns.cu",
        }
    }

    /// The file without its `#include` lines.
    fn body(self) -> &'static str {
        match self {
            Self::Vector => include_str!("../../../kernels/vector.cu"),
            Self::Scalars => include_str!("../../../kernels/scalars.cu"),
            Self::Matrix => include_str!("../../../kernels/matrix.cu"),
            Self::Elliptic => include_str!("../../../kernels/elliptic.cu"),
            Self::Wall => include_str!("../../../kernels/wall.cu"),
            Self::March => include_str!("../../../kernels/march.cu"),
            Self::Initial => include_str!("../../../kernels/initial.cu"),
            Self::Control => include_str!("../../../kernels/control.cu"),
            Self::Quality => include_str!("../../../kernels/quality.cu"),
            Self::Factors => include_str!("../../../kernels/factors.cu"),
            Self::Tiles => include_str!("../../../kernels/tiles.cu"),
            Self::Lines => include_str!("../../../kernels/lines.cu"),
            Self::Pivots => include_str!("../../../kernels/pivots.cu"),
            Self::Level => include_str!("../../../kernels/level.cu"),
            Self::Transfer => include_str!("../../../kernels/transfer.cu"),
            Self::Bands => include_str!("../../../kernels/bands.cu"),
            Self::Spikes => include_str!("../../../kernels/spikes.cu"),
            Self::Csr => include_str!("../../../kernels/csr.cu"),
            Self::Order => include_str!("../../../kernels/order.cu"),
            Self::Layout => include_str!("../../../kernels/layout.cu"),
            Self::Triangular => include_str!("../../../kernels/triangular.cu"),
            Self::Gauss => include_str!("../../../kernels/gauss.cu"),
            Self::Correlation => include_str!("../../../kernels/correlation.cu"),
            Self::Rows => include_str!("../../../kernels/rows.cu"),
            Self::Mail => include_str!("../../../kernels/mail.cu"),
            Self::Columns => include_str!("../../../kernels/columns.cu"),
        }
    }

    /// What the file includes.
    fn headers(self) -> &'static [&'static str] {
        const COMMON: &str = include_str!("../../../kernels/common.cuh");
        const SLICES: &str = include_str!("../../../kernels/slices.cuh");
        const LEVEL: &str = include_str!("../../../kernels/level.cuh");
        const MAIL: &str = include_str!("../../../kernels/mail.cuh");
        match self {
            Self::March => &[COMMON, include_str!("../../../kernels/ring.cuh")],
            Self::Lines | Self::Pivots | Self::Level | Self::Transfer | Self::Bands => {
                &[COMMON, LEVEL]
            }
            Self::Columns | Self::Spikes => {
                &[COMMON, LEVEL, MAIL, include_str!("../../../kernels/columns.cuh")]
            }
            Self::Csr | Self::Order | Self::Layout | Self::Triangular => {
                &[COMMON, SLICES, include_str!("../../../kernels/fold.cuh")]
            }
            Self::Gauss | Self::Correlation => &[COMMON, SLICES],
            Self::Scalars | Self::Mail => &[COMMON, MAIL],
            _ => &[COMMON],
        }
    }

    /// The whole text of the module: what the files share, then the file.
    #[must_use]
    pub fn text(self) -> String {
        let own = |text: &'static str| {
            text.lines().filter(|line| !line.starts_with("#include \"") && *line != "#pragma once")
        };
        let mut text = String::new();
        for line in self.headers().iter().copied().flat_map(own).chain(own(self.body())) {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// Precision a module is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    /// `f32`.
    Single,
    /// `f64`.
    Double,
}

impl Width {
    /// The width of `T`.
    #[must_use]
    pub fn of<T: Real>() -> Self {
        if size_of::<T>() == 4 { Self::Single } else { Self::Double }
    }

    /// The C type.
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
pub struct Shape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
}

/// Threads of a block where a kernel does not care.
pub const BLOCK: u32 = 256;

/// Threads of a warp.
pub const WARP: usize = 32;

impl Shape {
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

/// An argument of a kernel, at most eight bytes, as it stands in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(8))]
pub struct Argument([u8; 8]);

impl Argument {
    /// Where the driver reads the value; it knows the size from the kernel.
    #[must_use]
    pub fn pointer(&self) -> *const c_void {
        self.0.as_ptr().cast()
    }

    fn of(bytes: &[u8]) -> Self {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        Self(all)
    }

    /// A scalar of type `real` in a module compiled for `T`.
    #[must_use]
    pub fn real<T: Real>(value: T) -> Self {
        Self::of(bytemuck::bytes_of(&value))
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
        vec![$($crate::backend::cuda::kernel::Argument::from($value)),*]
    };
}
pub(super) use arguments;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_holds_the_shared_part_once_and_no_include() {
        for source in Source::ALL {
            let text = source.text();

            assert_eq!(text.matches("typedef REAL real;").count(), 1, "{}", source.file());
            assert!(!text.contains("#include \"common"), "{}", source.file());
        }
    }

    #[test]
    fn arguments_keep_their_bytes() {
        assert_eq!(Argument::from(7_u32).0[..4], 7_u32.to_ne_bytes());
        assert_eq!(Argument::from(-0.5_f64).0, (-0.5_f64).to_ne_bytes());
        assert_eq!(Argument::real(0.5_f32).0[..4], 0.5_f32.to_ne_bytes());
    }
}
