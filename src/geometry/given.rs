//! The points of a section as those of the wall.

use super::surface::{LEAST_GAP, boundary, check_base_cells, check_points, straight_base};
use super::vector::distance;
use super::{Airfoil, BoundaryPoints, GeometryError};

/// Cells on the base of points as they are given.
const BASE_CELLS: usize = 8;

/// Makes a wall of the points of the section. It begins at the trailing edge, or in the middle of a base. The base has
/// equal cells, 8 unless their number is given. A wall that `closes` has none.
pub(crate) fn wall_as_given(
    airfoil: &Airfoil,
    base_cells: Option<usize>,
    closes: bool,
) -> Result<BoundaryPoints, GeometryError> {
    let mut surfaces: Vec<[f64; 2]> = airfoil.points.iter().rev().copied().collect();
    let (Some(&lower), Some(&upper)) = (surfaces.first(), surfaces.last()) else {
        return Err(GeometryError::Contour { reason: "it has no points" });
    };
    let gap = distance(lower, upper);
    if gap == 0.0 {
        check_points(surfaces.len())?;
        return boundary(&airfoil.name, surfaces, 0);
    }
    if closes {
        let expected = "one point was expected, where the cut of a C-grid begins";
        let remedy = "choose grid.topology = \"O\"";
        return Err(GeometryError::PointsOpen { gap, expected, remedy });
    }
    if gap < LEAST_GAP {
        let expected = "one point or a base of at least 1e-5 chord was expected";
        let remedy = "make the two ends of the contour the same point";
        return Err(GeometryError::PointsOpen { gap, expected, remedy });
    }
    let cells = check_base_cells(base_cells.unwrap_or(BASE_CELLS), 2 * surfaces.len())?;
    let base = straight_base(upper, lower, cells);
    surfaces.splice(0..0, base[cells / 2..cells].iter().copied());
    surfaces.extend(&base[1..=cells / 2]);
    check_points(surfaces.len())?;
    boundary(&airfoil.name, surfaces, cells)
}
