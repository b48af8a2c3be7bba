//! Families of nested grids: each grid has every other point of the next finer one.

use crate::diagnostics::errors;
use std::ops::RangeInclusive;

use super::{Grid, Topology};
use crate::geometry::vector::{angle, difference};

/// Turn of the wall, degrees, beyond which a point is a corner of a base; a nose with few points turns less.
const BASE_CORNER: f64 = 45.0;

/// Fewest nodes in i and j of a grid of a family.
const LEAST: [usize; 2] = [9, 5];

/// The hint for counts of cells that do not fit.
const MULTIPLES: &str =
    "choose ni and nj one more than a multiple, and wake a multiple, or ask for fewer grids";

errors! {
    /// A grid that cannot be halved the requested number of times.
    #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
    #[class(Input)]
    pub enum FamilyError {
        #[error(
            "a family of {grids} grids leaves out all but every {} point: {what} must be a multiple of {stride}, \
             here {cells}",
            ordinal(*stride)
        )]
        #[hint("{MULTIPLES}")]
        Divisible { grids: u32, stride: usize, what: &'static str, cells: usize },
        /// The number of cells of the coarsest grid is not a multiple of the order of the cells.
        #[error(
            "the coarsest of {grids} grids is to have cells of order {order}: {what} must be a multiple of {stride} × \
             {order}, here {cells}"
        )]
        #[hint("{MULTIPLES}")]
        Order { grids: u32, order: usize, stride: usize, what: &'static str, cells: usize },
        #[error(
            "the coarsest of {grids} grids would have {ni} × {nj} points, at least {} × {} are needed",
            LEAST[0], LEAST[1]
        )]
        #[hint("ask for fewer grids, or for a finer one to begin with")]
        TooCoarse { grids: u32, ni: usize, nj: usize },
        #[error("there is no family of cascades: every other point of its blocks is not the grid of a case")]
        #[hint("run cases with fewer points, one by one")]
        Cascade,
        /// `point`: point of the wall, from 0.
        #[error(
            "a family of {grids} grids leaves out all but every {} point, and with them the corner of the base at \
             point {point} of the wall",
            ordinal(*stride)
        )]
        #[hint("set grid.base_cells to a multiple of twice the stride, or ask for fewer grids")]
        Corner { grids: u32, stride: usize, point: usize },
    }
}

/// The English ordinal of a power of two: `2nd`, `4th`.
pub(crate) fn ordinal(n: usize) -> String {
    let ending = if n % 10 == 2 && n % 100 != 12 { "nd" } else { "th" };
    format!("{n}{ending}")
}

/// Checks that a grid of `ni` × `nj` nodes, with `base` cells on the base of a block behind it, is the finest of a family of
/// `grids` grids, each with every other point of the next finer one, wake, section and base included, and that the
/// coarsest can be divided into cells of this order. Returns the nodes of the finest from corner to corner of these.
pub(crate) fn check_family(
    topology: Topology,
    [ni, nj, base]: [usize; 3],
    grids: u32,
    order: usize,
) -> Result<usize, FamilyError> {
    // Distance between neighbouring points of the coarsest grid, in points of the finest.
    let stride = 1_usize.checked_shl(grids.saturating_sub(1));
    let stride = stride.ok_or(FamilyError::TooCoarse { grids, ni: 1, nj: 1 })?;
    let along = [("grid.ni - 1", ni - 1), ("grid.nj - 1", nj - 1)];
    let behind = [("grid.wake", topology.wake()), ("grid.base_cells", base)];
    let (coarse_ni, coarse_nj) = ((ni - 1) / stride + 1, (nj - 1) / stride + 1);
    if coarse_ni < LEAST[0] || coarse_nj < LEAST[1] {
        return Err(FamilyError::TooCoarse { grids, ni: coarse_ni, nj: coarse_nj });
    }
    match along.into_iter().chain(behind).find(|(_, cells)| cells % (stride * order) > 0) {
        Some((what, cells)) if cells % stride > 0 => {
            Err(FamilyError::Divisible { grids, stride, what, cells })
        }
        Some((what, cells)) => Err(FamilyError::Order { grids, order, stride, what, cells }),
        None => Ok(stride * order),
    }
}

/// The first corner, of a base or another, that is not among every `stride`th point of the `kept` part of the
/// line. Points are counted from the start of that part.
pub(crate) fn cut_corner(
    points: &[[f64; 2]],
    kept: &RangeInclusive<usize>,
    stride: usize,
) -> Option<usize> {
    let step = |i: usize| difference(points[i + 1], points[i]);
    let turn_deg = |i: usize| angle(step(i - 1), step(i)).abs().to_degrees();
    (1..points.len() - 1)
        .filter(|i| kept.contains(i) && !(i - kept.start()).is_multiple_of(stride))
        .find(|&i| turn_deg(i) > BASE_CORNER)
        .map(|i| i - kept.start())
}

/// Every other point of a grid that has passed `check_family`.
pub fn coarsened(grid: &Grid) -> Grid {
    let topology = match grid.topology {
        Topology::C { wake } => Topology::C { wake: wake / 2 },
        Topology::Blunt { wake } => Topology::Blunt { wake: wake / 2 },
        Topology::Behind { around } => Topology::Behind { around: around.div_ceil(2) },
        same => same,
    };
    let size = [grid.ni, grid.nj].map(|nodes| nodes.div_ceil(2));
    let mut coarse = Grid::of_nodes(topology, size, |i, j| grid.point(2 * i, 2 * j));
    // Ranges of a file need not end at nodes that stay.
    coarse.outside = grid.outside.clone().filter(|outside| outside.given.is_empty());
    for (first, _) in coarse.outside.iter_mut().flat_map(|outside| &mut outside.sides) {
        *first /= 2;
    }
    coarse
}
