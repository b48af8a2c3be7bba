//! A row of blades: section `[cascade]` of a case.

use super::entries::Given;
use super::table::{SMOOTH, of_section};
use super::{CascadeOptions, Case, CaseError, DomainOptions};
use crate::geometry::vector::bounds;
use crate::geometry::{Blades, BoundaryPoints, GeometryError, PIVOT, turn_about, wall_normals};

/// Distance of the outer line of a blade's O-grid from the wall, in pitches.
pub(super) const REACH: f64 = 0.05;
/// Distance of inlet and outlet from the blade, chords.
const AHEAD: f64 = 0.4;
/// Size of the cells of the blocks, in heights of the last cells of the O-grid and in their mean length, at least; their
/// number is a multiple of this one and of the order of curved cells.
const SIZE: [f64; 2] = [1.5, 1.3];
const MULTIPLE: usize = 4;
/// Shares of the points on the upper side that are tried, in hundredths.
const SHARES: std::ops::RangeInclusive<usize> = 30..=75;

const NO_WAKE: &str = "leave {key} out: the grid around a blade is an O-grid";

/// Keys and sections that a cascade has no use for, and the remedy.
const REFUSED: [(&[&str], &str); 8] = [
    (&["domain"], "leave [domain] out: inlet and outlet are keys of [cascade]"),
    (SMOOTH, "give a section with a trailing edge, as geometry.file or points"),
    (&["grid.far_field"], "leave {key} out: cascade.inlet_x and outlet_x end the grid"),
    (&["grid.wake", "grid.wake_spacing"], NO_WAKE),
    (&["grid.wake_length"], "leave {key} out: cascade.outlet_x ends the grid"),
    (&["grid.wake_direction"], "leave {key} out: cascade.outlet_angle turns the rows"),
    (&["grid.wake_first_cell"], NO_WAKE),
    (&["grid.refine"], "leave {key} out, and raise grid.ni, nj and the cells of [cascade]"),
];

/// The box or the cascade around a section.
pub(super) type Around = (Option<DomainOptions>, Option<CascadeOptions>);

/// The cascade that is asked for, if one is.
pub(super) fn cascade(entries: &Given) -> Result<Option<CascadeOptions>, CaseError> {
    if !entries.has("cascade.pitch") {
        // The others mean nothing without it.
        let others: Vec<&str> = of_section("cascade").map(|key| key.path).collect();
        let remedy = "give cascade.pitch, or leave [cascade] out";
        return entries.refuse_given(&others, "cascade.pitch beside it", remedy).map(|()| None);
    }
    let alone = entries.places.within.is_empty();
    let remedy = "leave [cascade] out with several elements";
    entries.require(alone, &["cascade.pitch"], "one blade in a cascade", remedy)?;
    for (keys, remedy) in REFUSED {
        entries.refuse_given(keys, "a case without it: [cascade] is given", remedy)?;
    }
    let topology: String = entries.get("grid.topology")?;
    let closes = topology == "auto" || topology == "O";
    let expected = "\"O\" or \"auto\" in a cascade";
    let remedy = "leave grid.topology out: the grid around a blade is an O-grid";
    entries.require(closes, &["grid.topology"], expected, remedy)?;
    entries.section("cascade", &[]).map(Some)
}

impl CascadeOptions {
    /// Cells of the passage block across, and along the rows ahead and behind; a settled case has all of them.
    pub(crate) fn cells(&self) -> [usize; 3] {
        [self.passage_cells, self.inlet_cells, self.outlet_cells].map(Option::unwrap_or_default)
    }
}

impl Case {
    /// Turns the points of the wall as the case and the file say.
    pub(super) fn turn(&self, points: &mut BoundaryPoints) {
        turn_about(PIVOT, points, self.geometry.angle);
        turn_about([0.0; 2], points, self.geometry.in_file.angle);
    }

    /// The points of the wall, which `spaced` gives for a number of cells on the upper side. In a cascade without such a
    /// number they are shared out so that as many cells lie along both sides of a passage.
    pub(super) fn shared_out(
        &self,
        upper: Option<usize>,
        spaced: impl Fn(Option<usize>) -> Result<BoundaryPoints, GeometryError>,
    ) -> Result<BoundaryPoints, GeometryError> {
        let even = spaced(upper)?;
        if self.cascade.is_none() || upper.is_some() {
            return Ok(even);
        }
        let cells = even.line.len() - 1 - even.base_cells;
        let excess = |points: &BoundaryPoints| {
            let mut turned = points.clone();
            self.turn(&mut turned);
            let blades = self.blades(&turned.line, &wall_normals(&turned.line))?;
            blades.corners().ok().map(|(_, excess)| excess)
        };
        let tried = SHARES.filter_map(|share| spaced(Some(cells * share / 100)).ok());
        let all = std::iter::once(even.clone()).chain(tried);
        let found = all.filter_map(|points| Some((excess(&points)?, points)));
        Ok(found.min_by_key(|(excess, _)| *excess).map_or(even, |(_, points)| points))
    }

    fn blades(&self, wall: &[[f64; 2]], normals: &[[f64; 2]]) -> Option<Blades> {
        let lengths = [self.grid.reach?, self.cascade.as_ref()?.pitch];
        Some(Blades::new(wall.to_vec(), normals, lengths, self.output.curved_order))
    }

    /// Corners of the passage on the outer line; places and cells of the blocks that are not given follow from these.
    pub(super) fn settle_passage(
        &mut self,
        wall: &[[f64; 2]],
        normals: &[[f64; 2]],
        layers: &[f64],
    ) -> Result<Option<[usize; 4]>, GeometryError> {
        let Some(blades) = self.blades(wall, normals) else { return Ok(None) };
        let (nodes, _) = blades.corners()?;
        let widths = blades.widths(nodes);
        let height = layers[layers.len() - 1] - layers[layers.len() - 2];
        let size = (SIZE[0] * height).max(SIZE[1] * blades.spacing());
        let multiple = MULTIPLE.next_multiple_of(self.output.curved_order);
        let cells =
            |length: f64| ((length / size) as usize).next_multiple_of(multiple).max(2 * multiple);
        let Some(cascade) = &mut self.cascade else { return Ok(None) };
        let [[front, _], [rear, _]] = bounds(wall.iter().copied());
        let inlet = *cascade.inlet_x.get_or_insert(front - AHEAD);
        let outlet = *cascade.outlet_x.get_or_insert(rear + AHEAD);
        cascade.passage_cells.get_or_insert_with(|| cells((widths[0] * widths[1]).sqrt()));
        cascade.inlet_cells.get_or_insert_with(|| cells(front - inlet));
        cascade.outlet_cells.get_or_insert_with(|| cells(outlet - rear));
        // The outer line of the O-grid lies between.
        let least = 2.0 * self.grid.reach.unwrap_or(0.0);
        if front - inlet <= least {
            return Err(GeometryError::InletNear { x: inlet, most: front - least });
        }
        if outlet - rear <= least {
            return Err(GeometryError::OutletNear { x: outlet, least: rear + least });
        }
        Ok(Some(nodes))
    }
}
