//! Layout of a `Plot3D` file.

use serde::{Deserialize, Serialize};

/// Layout of a `Plot3D` file, as in section `[output]` of a case. The default is what most programs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flavour {
    /// Coordinates a point: 2, x and y, or 3, with z in at least two planes.
    #[serde(rename = "plot3d_dimensions")]
    pub dimensions: u8,
    /// Text or binary.
    #[serde(rename = "plot3d_encoding")]
    pub encoding: Encoding,
    /// Digits or bytes of a number.
    #[serde(rename = "plot3d_precision")]
    pub precision: NumberPrecision,
    /// Order of the bytes of a binary number.
    #[serde(rename = "plot3d_byte_order")]
    pub byte_order: ByteOrder,
    /// Whether the number of blocks, 1, stands before their sizes ("multi-block").
    #[serde(rename = "plot3d_block_count")]
    pub block_count: bool,
    /// Whether an IBLANK number for each point follows the coordinates.
    #[serde(rename = "plot3d_blanking")]
    pub blanking: bool,
    /// Directions of the second and the third index, with three dimensions.
    #[serde(rename = "plot3d_axes")]
    pub axes: Axes,
}

impl Default for Flavour {
    fn default() -> Self {
        Self {
            dimensions: 3,
            encoding: Encoding::Text,
            precision: NumberPrecision::Double,
            byte_order: ByteOrder::Little,
            block_count: true,
            blanking: false,
            axes: Axes::Ijk,
        }
    }
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
pub enum NumberPrecision {
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
    /// The bytes of a number in this order.
    pub(super) fn of<const N: usize>(self, mut little_endian: [u8; N]) -> [u8; N] {
        if self == Self::Big {
            little_endian.reverse();
        }
        little_endian
    }
}

/// Directions of the indices and coordinates of a block. Both are right-handed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axes {
    /// i around the body, j outward, k along the span, which is +z.
    Ijk,
    /// i around the body, j along the span, which is +y, k outward; z upward: what FUN3D expects, and
    /// Construct2D writes for it.
    Fun3d,
}
