//! How a `Plot3D` file is laid out, and what stands in it.

use serde::{Deserialize, Serialize};

use crate::formats::mesh::Span;
use crate::grid::Grid;

/// IBLANK of a point that is part of the grid. A single block around one body blanks none.
const IN_THE_GRID: i32 = 1;

/// Layout of a `Plot3D` file, as in section `[output]` of a case. The default is what most programs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flavour {
    /// Coordinates a point.
    #[serde(rename = "plot3d_dimensions")]
    pub dimensions: Dimensions,
    /// Text or binary.
    #[serde(rename = "plot3d_encoding")]
    pub encoding: Encoding,
    /// Digits or bytes of a number.
    #[serde(rename = "plot3d_precision")]
    pub precision: Precision,
    /// Order of the bytes of a binary number.
    #[serde(rename = "plot3d_byte_order")]
    pub byte_order: ByteOrder,
    /// Whether the number of blocks, 1, stands before their sizes ("multi-block").
    #[serde(rename = "plot3d_block_count")]
    pub block_count: bool,
    /// Whether an IBLANK number stands for each point after the coordinates.
    #[serde(rename = "plot3d_blanking")]
    pub blanking: bool,
    /// What the second and the third index run along, with three dimensions.
    #[serde(rename = "plot3d_axes")]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u8", into = "u8")]
pub enum Dimensions {
    /// x and y.
    Two = 2,
    /// x, y and z, in at least two planes.
    Three = 3,
}

impl From<u8> for Dimensions {
    fn from(dimensions: u8) -> Self {
        if dimensions == 2 { Self::Two } else { Self::Three }
    }
}

impl From<Dimensions> for u8 {
    fn from(dimensions: Dimensions) -> Self {
        dimensions as Self
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
    /// The bytes of a number in this order.
    pub(super) fn of<const N: usize>(self, mut little_endian: [u8; N]) -> [u8; N] {
        if self == Self::Big {
            little_endian.reverse();
        }
        little_endian
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

/// Parts of a file, each a record of its own in a Fortran file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The number of blocks, where the flavour has it.
    Count,
    /// `ni nj` or `ni nj nk`.
    Size,
    /// Coordinates and blanking.
    Block,
}

/// A field of a block.
#[derive(Debug, Clone, Copy)]
pub(super) enum Field<'a> {
    /// A coordinate of the plane grid.
    Plane(&'a [f64]),
    /// The same number at so many points.
    Constant(f64, usize),
    /// The same IBLANK number at so many points.
    Blank(i32, usize),
}

/// What is written, and how.
pub(super) struct Block<'a> {
    pub(super) grid: &'a Grid,
    pub(super) span: Span,
    pub(super) flavour: Flavour,
}

impl<'a> Block<'a> {
    /// Planes of points.
    fn planes(&self) -> usize {
        match self.flavour.dimensions {
            Dimensions::Two => 1,
            Dimensions::Three => self.span.planes(),
        }
    }

    /// The fields, in the order of the file.
    pub(super) fn fields(&self) -> impl Iterator<Item = Field<'a>> + use<'a> {
        let (grid, span, planes) = (self.grid, self.span, self.planes());
        let points = grid.ni * grid.nj;
        let all = [grid.x.as_slice(), grid.y.as_slice()];
        let repeated = move |of: &'a [f64]| std::iter::repeat_n(Field::Plane(of), planes);
        let coordinates: Box<dyn Iterator<Item = Field<'a>>> =
            match (self.flavour.dimensions, self.flavour.axes) {
                (Dimensions::Two, _) => Box::new(all.into_iter().map(Field::Plane)),
                (Dimensions::Three, Axes::Ijk) => {
                    let z = (0..planes).map(move |k| Field::Constant(span.z(k), points));
                    Box::new(all.into_iter().flat_map(repeated).chain(z))
                }
                (Dimensions::Three, Axes::Fun3d) => {
                    // The lines j = const, each as often as there are planes.
                    let [x, y] = all.map(|of| of.chunks(grid.ni).flat_map(repeated));
                    let across =
                        move |_| (0..planes).map(move |k| Field::Constant(span.z(k), grid.ni));
                    Box::new(x.chain((0..grid.nj).flat_map(across)).chain(y))
                }
            };
        let blanks = self.flavour.blanking.then_some(Field::Blank(IN_THE_GRID, points * planes));
        coordinates.chain(blanks)
    }

    /// `ni nj`, or `ni nj nk`, or with FUN3D's axes `ni nk nj`.
    pub(super) fn size(&self) -> Vec<usize> {
        let (ni, nj) = (self.grid.ni, self.grid.nj);
        match (self.flavour.dimensions, self.flavour.axes) {
            (Dimensions::Two, _) => vec![ni, nj],
            (Dimensions::Three, Axes::Ijk) => vec![ni, nj, self.planes()],
            (Dimensions::Three, Axes::Fun3d) => vec![ni, self.planes(), nj],
        }
    }
}
