//! From an airfoil file or a NACA designation to the points of the wall.
//!
//! [`airfoil_from_file`] and [`airfoil_from_naca`] return an [`Airfoil`], [`distribute`] the
//! [`BoundaryPoints`] of its wall. A smooth contour without edges is a [`ClosedContour`], whose points
//! [`distribute_closed`] places. [`wall_normals`] gives the directions in which the grid leaves the wall.
//! Lengths are in chords.

mod closed;
mod curve;
mod enclosure;
mod error;
mod given;
mod heights;
mod naca;
mod offset;
mod passage;
mod polygon;
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
pub(crate) use given::wall_as_given;
pub use heights::{AlongWall, Cluster, Heights, SurfaceSide};
pub use naca::{NacaSection, airfoil_from_naca};
pub use offset::{OffsetLine, OffsetProjection};
pub(crate) use passage::Blades;
pub(crate) use polygon::{CORNER_DEGREES, crossings, encloses, polygon_area};
pub use polygon::{first_contact, first_crossing, open_normals, wall_normals};
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
pub use vector::Scalar;
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
