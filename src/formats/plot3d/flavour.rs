//! How a `Plot3D` file is laid out.

use serde::{Deserialize, Serialize};

/// Layout of a `Plot3D` file. The default is what most programs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flavour {
    /// Coordinates a point.
    pub dimensions: Dimensions,
    /// Text or binary.
    pub encoding: Encoding,
    /// Digits or bytes of a number.
    pub precision: Precision,
    /// Order of the bytes of a binary number.
    pub byte_order: ByteOrder,
    /// Whether the number of blocks, 1, stands before their sizes ("multi-block").
    pub block_count: bool,
    /// Whether an IBLANK number stands for each point after the coordinates.
    pub blanking: bool,
    /// What the second and the third index run along, with three dimensions.
    pub axes: Axes,
}

impl Default for Flavour {
    fn default() -> Self {
        Self {
            dimensions: Dimensions::Three,
            encoding: Encoding::Text,
            precision: Precision::Double,
            byte_order: ByteOrder::Little,
            block_count: true,
            blanking: false,
            axes: Axes::Ijk,
        }
    }
}

impl Flavour {
    /// Text in the plane without a block count: what two-dimensional programs read.
    pub const PLANAR: Self = Self {
        dimensions: Dimensions::Two,
        encoding: Encoding::Text,
        precision: Precision::Double,
        byte_order: ByteOrder::Little,
        block_count: false,
        blanking: false,
        axes: Axes::Ijk,
    };
}

/// Coordinates a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimensions {
    /// x and y.
    Two,
    /// x, y and z, in at least two planes.
    Three,
}

/// Text or binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// Formatted text.
    Text,
    /// Unformatted Fortran records: each between its lengths in bytes as 32-bit integers.
    Fortran,
    /// The bytes alone, as C programs and Fortran streams write them.
    Stream,
}

/// Size of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// 32 bits, or 9 digits.
    Single,
    /// 64 bits, or 17 digits.
    Double,
}

/// Order of the bytes of a binary number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    pub(super) fn of_i32(self, number: i32) -> [u8; 4] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }

    pub(super) fn of_f32(self, number: f32) -> [u8; 4] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }

    pub(super) fn of_f64(self, number: f64) -> [u8; 8] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }
}

/// What the indices and coordinates of a block run along. Both are right-handed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axes {
    /// i around the body, j outward, k along the span, which is +z.
    Ijk,
    /// i around the body, j along the span, which is +y, k outward; z upward: what FUN3D expects, and
    /// Construct2D writes for it.
    Fun3d,
}
