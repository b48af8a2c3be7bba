//! The shape of the grid where `auto` chooses it: a C-grid around a section with a sharp trailing edge that is turned by
//! no more than [`MOST_TURN`], else an O-grid.

use super::defaults::{ROUND_EDGE, wake_cells};
use super::entries::Given;
use super::table;
use super::{Case, CaseError, DomainOptions, TopologyChoice, WallPoints};
use crate::geometry::vector::middle;
use crate::geometry::{
    Airfoil, BoundaryPoints, CubicSpline, GeometryError, TrailingEdge, Wake, edge_angle_deg,
    with_interfaces, with_wake,
};
use crate::grid::Seam;

/// Points that a C-grid leaves for the section at least.
pub(super) const LEAST_SECTION: usize = 17;

/// Largest distance of the end of a cut from y = 0, as a share of the far field: lines are moved onto that by the
/// square of their length, which folds cells that are moved back by more than half of it.
const MOST_RISE: f64 = 0.45;

/// Largest angle of the chord line against the x axis, degrees, at which `auto` is a C-grid: the cut leaves the edge along
/// the chord and bends to the outflow. At 80 degrees the march from it folds.
const MOST_TURN: f64 = 75.0;

/// Keys of the wake of a C-grid.
pub(super) const WAKE: [&str; 5] = [
    "grid.wake",
    "grid.wake_spacing",
    "grid.wake_length",
    "grid.wake_direction",
    "grid.wake_first_cell",
];

/// Reason for which `auto` is an O-grid, and the change, if there is one, that makes it a C-grid.
#[derive(Clone, Copy)]
struct Closed(&'static str, &'static str);

const SMOOTH: Closed = Closed("the contour has no trailing edge", "");
const REACH: Closed = Closed("a grid that ends at a distance from the wall closes around it", "");
const SEAM: Closed = Closed("grid.seam is given, which C-grids do not have", ", or grid.seam");
const BASE: Closed = Closed(
    "the trailing edge has a base",
    ", or close the base by geometry.trailing_edge = \"wedge\"",
);
const TURNED: Closed = Closed("the section is turned by more than 75 degrees", "");
const ROUND: Closed = Closed("the trailing edge is round", ", or choose grid.topology = \"C\"");

impl Closed {
    fn remedy(self, key: &str) -> String {
        format!("leave {key} out{}", self.1)
    }
}

/// The shape of the grid that the keys ask for: `Auto` where the section decides.
pub(super) fn topology(entries: &Given) -> Result<TopologyChoice, CaseError> {
    use TrailingEdge::{Blunt, Rounded};
    let asked = entries.get("grid.topology")?;
    let edge = entries.given::<TrailingEdge>("geometry.trailing_edge")?;
    let thickness = entries.given("geometry.edge_thickness")?.unwrap_or(0.0);
    let closed = if asked != TopologyChoice::Auto {
        return Ok(asked);
    } else if entries.first_of(table::SMOOTH).is_some() {
        SMOOTH
    } else if entries.has("grid.reach") {
        REACH
    } else if entries.get::<Seam>("grid.seam").is_ok() {
        SEAM
    } else if edge == Some(Rounded) {
        Closed(ROUND.0, BASE.1)
    } else if edge == Some(Blunt) || (edge.is_none() && thickness > 0.0) {
        BASE
    } else {
        return Ok(asked);
    };
    let expected = format!("a C-grid; this is an O-grid, since {}", closed.0);
    entries.refuse_given(&WAKE, &expected, &closed.remedy("{key}"))?;
    Ok(TopologyChoice::O)
}

impl Case {
    /// The wake of the grid around a section whose edge `closes` in one point, or not; none of an O-grid.
    pub(super) fn wake_behind(
        &self,
        airfoil: &Airfoil,
        closes: bool,
    ) -> Result<Option<Wake>, GeometryError> {
        let grid = &self.grid;
        let closed = match grid.topology {
            TopologyChoice::O | TopologyChoice::Half => return Ok(None),
            TopologyChoice::C => return Ok(grid.wake),
            TopologyChoice::Auto if grid.reach.is_some() => REACH,
            TopologyChoice::Auto if closes && self.is_turned() => TURNED,
            TopologyChoice::Auto if closes => {
                // The angle of a round edge may lie on either side of half a turn.
                let curve = CubicSpline::through(&airfoil.points)?;
                if edge_angle_deg(&curve).abs() < ROUND_EDGE {
                    let most = grid.ni.saturating_sub(LEAST_SECTION) / 2;
                    return Ok(grid.wake.or(Some(Wake {
                        cells: wake_cells(grid.ni, most),
                        length: self.domain.as_ref().map_or(grid.far_field, DomainOptions::behind),
                        direction: 0.0,
                        end_spacing: None,
                    })));
                }
                ROUND
            }
            // Points as they are given leave no place for a wedge.
            TopologyChoice::Auto if grid.wall_points == WallPoints::AsGiven => Closed(BASE.0, ""),
            TopologyChoice::Auto => BASE,
        };
        let Some(key) = WAKE.into_iter().find(|key| self.places.has(key)) else { return Ok(None) };
        Err(GeometryError::NoWake { key, reason: closed.0, remedy: closed.remedy(key) })
    }

    /// Whether the section is turned too far for the cut of a C-grid.
    fn is_turned(&self) -> bool {
        let turn = self.geometry.angle + self.geometry.in_file.angle;
        turn.to_radians().cos() < MOST_TURN.to_radians().cos()
    }

    /// The wall, continued from cells of length `spacing` along the cut, or the interfaces to the block behind a base.
    pub(super) fn with_line_behind(
        &self,
        airfoil: &Airfoil,
        wall: &BoundaryPoints,
        mut wake: Wake,
        (blunt, spacing): (bool, f64),
    ) -> Result<BoundaryPoints, GeometryError> {
        let edge = middle(wall.line[0], wall.line[wall.line.len() - 1]);
        let mut room = f64::INFINITY;
        if let Some(domain) = &self.domain {
            let line = domain.pieces();
            (wake.length, room) = (line.outlet() - edge[0], line.room([edge]));
        }
        let line = if blunt { with_interfaces } else { with_wake };
        let points = line(&airfoil.name, wall, &wake, (spacing, room))?;
        let (y, most) = (points.line[0][1], MOST_RISE * self.grid.far_field);
        if y.abs() > most && self.domain.is_none() {
            return Err(GeometryError::CutLeaves { y, most });
        }
        Ok(points)
    }

    /// The shape of the grid of a settled case, with the reason for it if `auto` chose it.
    #[cfg(feature = "cli")]
    pub(crate) fn shape(&self) -> String {
        let asked = self.places.given.get("grid.topology").map(|given| given.value.as_str());
        let chosen = asked.is_none_or(|word| word.trim_matches(['"', '\'']) == "auto");
        let (name, reason) = match self.grid.topology {
            TopologyChoice::C => ("C-grid", "the trailing edge is sharp"),
            TopologyChoice::Half => ("half an O-grid", ""),
            _ if self.geometry.contour.is_smooth() => ("O-grid", SMOOTH.0),
            _ if self.grid.reach.is_some() => ("O-grid", REACH.0),
            _ if self.geometry.trailing_edge == TrailingEdge::Rounded => ("O-grid", ROUND.0),
            _ if self.grid.base_cells.is_some() => ("O-grid", BASE.0),
            _ if self.places.has("grid.seam") => ("O-grid", SEAM.0),
            _ if self.is_turned() => ("O-grid", TURNED.0),
            _ => ("O-grid", ROUND.0),
        };
        if chosen { format!("{name}, since {reason}") } else { name.to_owned() }
    }
}
