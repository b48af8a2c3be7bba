//! From an airfoil file or a NACA designation to the points of the wall.
//!
//! [`airfoil_from_file`] and [`airfoil_from_naca`] return an [`Airfoil`], [`distribute`] the
//! [`BoundaryPoints`] of its wall, which may also be the points of the section itself. A smooth contour without
//! edges is a [`ClosedContour`], whose points [`distribute_closed`] places. [`wall_normals`] gives the directions
//! in which the grid leaves the wall. Lengths are in chords.

mod closed;
mod curve;
mod enclosure;
mod error;
mod heights;
mod naca;
mod offset;
mod passage;
mod reader;
mod section;
mod shapes;
mod six_series;
mod smooth;
mod spacing;
mod surface;
pub(crate) mod turning;
pub(crate) mod vector;
mod wake;

pub(crate) use closed::distribute_closed_relaxed;
pub use closed::{ClosedContour, Symmetry, distribute_closed};
pub use curve::CubicSpline;
pub(crate) use curve::{chord_lengths, length_shares};
pub use enclosure::{Enclosure, OuterSide};
pub use error::{FileProblem, GeometryError};
pub use heights::{AlongWall, Cluster, Heights, SurfaceSide};
pub use naca::{NacaSection, airfoil_from_naca};
pub use offset::{OffsetLine, OffsetProjection};
pub(crate) use passage::Blades;
pub(crate) use reader::{Placing, Repairs, read_file, read_points};
pub use reader::{
    airfoil_from_bytes, airfoil_from_file, contour_from_bytes, contour_from_file, points_from_file,
};
pub use section::{Flap, Placement, SectionMeasures, set_edge_thickness, turn_about};
pub(crate) use section::{PIVOT, edge_angle_deg, edge_gap, symmetrise};
pub use shapes::{Ellipse, Joukowski, WingBody};
pub use spacing::{
    divided_first, refined_first, spacing_between, spacing_exponential, spacing_geometric,
    spacing_layered, spacing_to_walls, spacing_vinokur,
};
pub(crate) use spacing::{growth_to_walls, last_interval};
pub use surface::{BaseCells, SurfaceSettings, corners, distribute, edge_closes};
pub(crate) use surface::{LEAST_GAP, check_base_cells};
use surface::{boundary, check_points, straight_base};
use vector::distance;
pub(crate) use vector::{CORNER_DEGREES, crossings, encloses, polygon_area};
pub use vector::{Scalar, first_contact, first_crossing, open_normals, wall_normals};
pub use wake::{Wake, turned, turning, with_interfaces, with_wake};

/// The closing of the trailing edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrailingEdge {
    /// Both surfaces are sheared to meet in one point.
    Sharp,
    /// A straight base between the two ends, corners kept.
    Blunt,
    /// A smooth cap, tangent to both surfaces.
    Rounded,
    /// A solid wedge behind the base, tangent to both surfaces, that ends in a point.
    Wedge,
    /// The surfaces of a NACA section go on by their formula until they meet, scaled back to unit chord.
    Extended,
    /// A gap of at most 1e-3 chord is closed linearly, a larger one becomes a straight base.
    AsGiven,
}

/// A section contour, unit chord, leading edge at x = 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Airfoil {
    /// Name from the designation or the file's header.
    pub name: String,
    /// Contour from the upper trailing edge over the leading edge to the lower trailing edge.
    pub points: Vec<[f64; 2]>,
    /// Repairs made and data dropped while reading, one sentence each.
    pub notes: Vec<String>,
}

/// Points of the line j = 0, in the order of the grid: clockwise from the trailing edge (or the middle of the
/// base) over the lower surface, the leading edge and the upper surface back to the start. With a wake the line
/// runs from its end around the section and back to it; both sides of a cut have the same points bit for bit.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundaryPoints {
    /// The points in their order, in chords; the last one repeats the first bit for bit.
    pub line: Vec<[f64; 2]>,
    /// Cells on the base or cap of a blunt or rounded edge, 0 if the edge is a point.
    pub base_cells: usize,
}

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
