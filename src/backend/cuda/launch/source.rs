//! The files of `kernels/` and the precisions that they are compiled for.

use super::shared;
use crate::backend::Real;

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
    Patterns,
    /// Triangular factors and their solves.
    Triangular,
    /// Gaussian elimination within a pattern.
    Gauss,
    /// Solves that push along columns.
    Correlation,
    /// Matrices spread by rows.
    RowHalo,
    /// Messages between devices.
    Messages,
    /// Columns that neighbours exchange.
    Halo,
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
        Self::Patterns,
        Self::Triangular,
        Self::Gauss,
        Self::Correlation,
        Self::RowHalo,
        Self::Messages,
        Self::Halo,
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
            | Self::Patterns
            | Self::Messages => &[Width::Double],
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
            Self::Patterns => "patterns.cu",
            Self::Triangular => "triangular.cu",
            Self::Gauss => "gauss.cu",
            Self::Correlation => "correlation.cu",
            Self::RowHalo => "row_halo.cu",
            Self::Messages => "messages.cu",
            Self::Halo => "halo.cu",
        }
    }

    /// The file without its `#include` lines.
    fn body(self) -> &'static str {
        match self {
            Self::Vector => include_str!("../../../../kernels/vector.cu"),
            Self::Scalars => include_str!("../../../../kernels/scalars.cu"),
            Self::Matrix => include_str!("../../../../kernels/matrix.cu"),
            Self::Elliptic => include_str!("../../../../kernels/elliptic.cu"),
            Self::Wall => include_str!("../../../../kernels/wall.cu"),
            Self::March => include_str!("../../../../kernels/march.cu"),
            Self::Initial => include_str!("../../../../kernels/initial.cu"),
            Self::Control => include_str!("../../../../kernels/control.cu"),
            Self::Quality => include_str!("../../../../kernels/quality.cu"),
            Self::Factors => include_str!("../../../../kernels/factors.cu"),
            Self::Tiles => include_str!("../../../../kernels/tiles.cu"),
            Self::Lines => include_str!("../../../../kernels/lines.cu"),
            Self::Pivots => include_str!("../../../../kernels/pivots.cu"),
            Self::Level => include_str!("../../../../kernels/level.cu"),
            Self::Transfer => include_str!("../../../../kernels/transfer.cu"),
            Self::Bands => include_str!("../../../../kernels/bands.cu"),
            Self::Spikes => include_str!("../../../../kernels/spikes.cu"),
            Self::Csr => include_str!("../../../../kernels/csr.cu"),
            Self::Order => include_str!("../../../../kernels/order.cu"),
            Self::Patterns => include_str!("../../../../kernels/patterns.cu"),
            Self::Triangular => include_str!("../../../../kernels/triangular.cu"),
            Self::Gauss => include_str!("../../../../kernels/gauss.cu"),
            Self::Correlation => include_str!("../../../../kernels/correlation.cu"),
            Self::RowHalo => include_str!("../../../../kernels/row_halo.cu"),
            Self::Messages => include_str!("../../../../kernels/messages.cu"),
            Self::Halo => include_str!("../../../../kernels/halo.cu"),
        }
    }

    /// What the file includes.
    fn headers(self) -> &'static [&'static str] {
        const COMMON: &str = include_str!("../../../../kernels/common.cuh");
        const SLICES: &str = include_str!("../../../../kernels/slices.cuh");
        const LEVEL: &str = include_str!("../../../../kernels/level.cuh");
        const PEERS: &str = include_str!("../../../../kernels/peers.cuh");
        match self {
            Self::March => &[COMMON, include_str!("../../../../kernels/cyclic.cuh")],
            Self::Lines | Self::Pivots | Self::Level | Self::Transfer | Self::Bands => {
                &[COMMON, LEVEL]
            }
            Self::Halo | Self::Spikes => {
                &[COMMON, LEVEL, PEERS, include_str!("../../../../kernels/halo.cuh")]
            }
            Self::Csr | Self::Order | Self::Patterns | Self::Triangular => {
                &[COMMON, SLICES, include_str!("../../../../kernels/fold.cuh")]
            }
            Self::Gauss | Self::Correlation => &[COMMON, SLICES],
            Self::Scalars | Self::Messages => &[COMMON, PEERS],
            _ => &[COMMON],
        }
    }

    /// The whole text of the module: what the host shares, what the files share, then the file.
    #[must_use]
    pub fn text(self) -> String {
        let own = |text: &'static str| {
            text.lines().filter(|line| !line.starts_with("#include \"") && *line != "#pragma once")
        };
        let mut text = shared::preamble();
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
}
