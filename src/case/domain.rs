//! A box around the section: section `[domain]` of a case.

use super::defaults::{REFERENCE_LENGTH, first_cell_from_y_plus};
use super::entries::Given;
use super::schema::shown;
use super::{CaseError, DomainOptions, TopologyChoice};
use crate::geometry::{BoundaryPoints, CubicSpline, Enclosure, GeometryError, turned, turning};
use crate::grid::initial::Enclosed;
use crate::grid::{BoxSide, Outside, Patch, SideKind, Topology};

/// Points of the line j = 0 above which columns of corners are multiples of four cells.
const MANY: usize = 128;

/// Distance that the layers cover for each unit of the distance of the farthest side: lines are curved.
const LONGER: f64 = 1.1;

/// Distance between section and floor or roof, in chords, below which these are near.
const NEAR: f64 = 0.2;

/// Wall units of the first cells at walls of the box.
pub(super) const WALL_Y_PLUS: &str = "domain.wall_y_plus";

/// The box that is asked for, if one is.
pub(super) fn domain(
    entries: &Given,
    topology: TopologyChoice,
) -> Result<Option<DomainOptions>, CaseError> {
    if !entries.has("domain.box") {
        let sides = [
            "domain.floor",
            "domain.roof",
            "domain.inlet",
            "domain.outlet",
            "domain.floor_curve",
            "domain.roof_curve",
        ];
        let remedy = |_: &str| "give domain.box, or leave [domain] out".into();
        return entries.refuse_given(&sides, "domain.box beside it", remedy).map(|()| None);
    }
    if !entries.places.within.is_empty() {
        let expected = "one section in a box";
        return Err(entries.refuse(
            &["domain.box"],
            expected,
            "leave [domain] out with several elements",
        ));
    }
    if topology == TopologyChoice::Half {
        let remedy = "set grid.topology = \"O\" or \"C\", or leave [domain] out";
        return Err(entries.refuse(&["domain.box"], "a whole grid in a box", remedy));
    }
    let domain: DomainOptions = entries.section("domain", &[])?;
    let domain = DomainOptions { wall_first_cell: wall_first_cell(entries)?, ..domain };
    let [length, extent] = [domain.behind(), domain.extent()];
    let fixed =
        [("grid.reach", f64::NAN), ("grid.far_field", extent), ("grid.wake_length", length)];
    for (key, follows) in fixed {
        if entries.given::<f64>(key)?.is_some_and(|given| given.to_bits() != follows.to_bits()) {
            let expected =
                format!("a case without {key}: the grid ends at the sides of domain.box");
            return Err(entries.refuse(&[key], expected, format!("leave {key} or [domain] out")));
        }
    }
    if domain.wall(0.0).is_none() {
        entries.refuse_given(
            &["domain.wall_first_cell", WALL_Y_PLUS],
            "a side that is a wall beside it",
            |key| format!("set domain.floor or another side to \"wall\", or leave {key} out"),
        )?;
    } else if entries.opens("grid.layers") {
        let remedy = "leave grid.layers out: grid.growth limits the growth from both walls";
        return Err(entries.refuse(&["grid.layers"], "a box without walls", remedy));
    }
    let [x, _] = domain.ranges();
    if length <= 0.0 || x[0] >= 0.0 {
        let found = shown(length.min(-x[0]));
        let expected =
            format!("a box that reaches ahead of the nose and behind x = 1, here by {found}");
        return Err(entries.refuse(
            &["domain.box"],
            expected,
            "give [x_min, x_max, y_min, y_max] in chords",
        ));
    }
    check_curves(entries, &domain)?;
    Ok(Some(domain))
}

/// Refuses curves that are none of x, do not begin at the inlet and end at the outlet, or meet.
fn check_curves(entries: &Given, domain: &DomainOptions) -> Result<(), CaseError> {
    let [[x0, x1], _] = domain.ranges();
    for (key, curve) in
        [("domain.floor_curve", &domain.floor_curve), ("domain.roof_curve", &domain.roof_curve)]
    {
        let Some(curve) = curve else { continue };
        let refuse = |expected: String, remedy: &str| Err(entries.refuse(&[key], expected, remedy));
        if curve.len() < 4 {
            return refuse(
                format!("four points or more, here {}", curve.len()),
                "add points between",
            );
        }
        if let Some(k) = (1..curve.len()).find(|k| curve[*k][0] <= curve[k - 1][0]) {
            let [last, next] = [k - 1, k].map(|k| shown(curve[k][0]));
            let expected =
                format!("points whose x rises, here from {last} to {next} at point {}", k + 1);
            return refuse(expected, "give the points from the inlet to the outlet, each x once");
        }
        for (end, bound) in [(curve[0], x0), (curve[curve.len() - 1], x1)] {
            if (end[0] - bound).abs() > 1e-9 {
                let expected = format!(
                    "a curve that meets the sides of domain.box, here {} in place of {}",
                    shown(end[0]),
                    shown(bound)
                );
                return refuse(expected, "end the curve at x_min and x_max of domain.box");
            }
        }
        if let Some([x, _]) = curve.iter().find(|[x, _]| {
            let [low, high] = domain.heights_at(*x);
            low >= high
        }) {
            let expected = format!("a floor below the roof, not at x = {}", shown(*x));
            return refuse(expected, "lower the floor or raise the roof");
        }
    }
    Ok(())
}

/// y at x of a line through points whose x rises.
fn interpolated(curve: &[[f64; 2]], x: f64) -> f64 {
    let k = curve.partition_point(|point| point[0] <= x).clamp(1, curve.len() - 1);
    let [[x0, y0], [x1, y1]] = [curve[k - 1], curve[k]];
    y0 + (x - x0) / (x1 - x0) * (y1 - y0)
}

/// Height of the first cells at walls of the box, where it is given, or as it follows from its wall units.
fn wall_first_cell(entries: &Given) -> Result<Option<f64>, CaseError> {
    let Some(y_plus) = entries.given(WALL_Y_PLUS)? else {
        return entries.given("domain.wall_first_cell");
    };
    if entries.has("domain.wall_first_cell") {
        return Err(entries.conflict(WALL_Y_PLUS, "domain.wall_first_cell"));
    }
    let Some(reynolds) = entries.given("grid.reynolds")? else {
        return Err(entries.incomplete(WALL_Y_PLUS, "grid.reynolds"));
    };
    let length = entries.given("grid.reference_length")?.unwrap_or(REFERENCE_LENGTH);
    Ok(Some(first_cell_from_y_plus(y_plus, reynolds, length)))
}

impl DomainOptions {
    /// Ends in x and in y.
    fn ranges(&self) -> [[f64; 2]; 2] {
        let [x0, x1, y0, y1] = self.bounds;
        [[x0, x1], [y0, y1]]
    }

    /// Distance from the edge of a section that is not turned to the outlet.
    pub(super) fn behind(&self) -> f64 {
        self.bounds[1] - 1.0
    }

    /// Distance that the layers cover at most, and at least a chord.
    pub(super) fn extent(&self) -> f64 {
        let [x0, _, mut y0, mut y1] = self.bounds;
        for [_, y] in self.floor_curve.iter().chain(&self.roof_curve).flatten() {
            (y0, y1) = (y0.min(*y), y1.max(*y));
        }
        (LONGER * y1.max(-y0).max(-x0)).max(1.0)
    }

    /// Height of the first cells at sides that are walls, where there are any.
    pub(super) fn wall(&self, first_cell: f64) -> Option<f64> {
        self.has_walls().then(|| self.wall_first_cell.unwrap_or(first_cell))
    }

    /// Whether a side is a wall.
    pub(crate) fn has_walls(&self) -> bool {
        [self.floor, self.roof, self.inlet, self.outlet].contains(&SideKind::Wall)
    }

    /// The outer line with the walls among its sides.
    pub(super) fn walled(&self, line: Enclosed, first_cell: f64) -> Enclosed {
        let wall = self
            .wall(first_cell)
            .map(|height| (height, self.sides(&line.corners).walls(line.start.len() - 1)));
        Enclosed { wall, ..line }
    }

    /// y of floor and roof at x.
    fn heights_at(&self, x: f64) -> [f64; 2] {
        let [_, [low, high]] = self.ranges();
        let at = |curve: &Option<Vec<_>>, flat| curve.as_ref().map_or(flat, |c| interpolated(c, x));
        [at(&self.floor_curve, low), at(&self.roof_curve, high)]
    }

    /// Distance in y of a point from the nearer of floor and roof.
    pub(super) fn room(&self, [x, y]: [f64; 2]) -> f64 {
        let [low, high] = self.heights_at(x);
        (y - low).min(high - y)
    }

    /// Whether floor or roof is near the section: lines then cross the gap to it at an angle, and control functions from
    /// such lines make a grid that grows by up to 200 at the floor, or folds (24 sections above the ground).
    pub(super) fn is_near(&self, topology: Topology, points: &BoundaryPoints) -> bool {
        let mut wall = topology.wall(points.x.len());
        wall.any(|i| self.room([points.x[i], points.y[i]]) < NEAR)
    }

    /// The outer line around the line j = 0, with corners in columns that are multiples of `step`.
    ///
    /// # Errors
    /// [`GeometryError::OutsideBox`], [`GeometryError::TooFewForBox`].
    pub(super) fn around(
        &self,
        topology: Topology,
        BoundaryPoints { x, y, .. }: &BoundaryPoints,
        normal: [f64; 2],
        (step, near): (usize, Option<(usize, f64)>),
    ) -> Result<Enclosed, GeometryError> {
        let [[x0, x1], _] = self.ranges();
        let inside = |i: &usize| {
            let [low, high] = self.heights_at(x[*i]);
            x0 < x[*i] && x[*i] < x1 && low < y[*i] && y[*i] < high
        };
        if let Some(i) = topology.wall(x.len()).find(|i| !inside(i)) {
            return Err(GeometryError::OutsideBox { at: [x[i], y[i]] });
        }
        let edge = [x[0], y[0]];
        let seam = turning(normal, self.room(edge));
        let ([below, above], [low, high]) = (self.heights_at(x1), self.heights_at(x0));
        let (x1, ends) = if topology.closed() {
            let end = edge[1] + seam[0] * turned(x1 - edge[0], seam[1]);
            (x1, Some([x1, end]))
        } else {
            // The last point of the cut is on the outlet but for round-off.
            (x[0], None)
        };
        let corners = [[x1, below], [x0, low], [x0, high], [x1, above]];
        let polygon = ends.into_iter().chain(corners).chain(ends).collect();
        let mut line = Enclosure::through(polygon);
        for (corner, curve) in [(0, &self.floor_curve), (2, &self.roof_curve)] {
            let Some(mut curve) = curve.clone() else { continue };
            let last = curve.len() - 1;
            if corner == 0 {
                curve.reverse();
            }
            (curve[0], curve[last]) = (corners[corner], corners[corner + 1]);
            let side = corner + usize::from(topology.closed());
            line = line.bent(side, &CubicSpline::through(&curve)?);
        }
        let sides = line.corners().len();
        // Grids of two coarser levels keep the corners.
        let step = if x.len() > MANY { 4 * step } else { step };
        let too_few = || GeometryError::TooFewForBox { ni: x.len(), corners: sides };
        let enclosed = Enclosed::new(line, topology, (x, y), step).ok_or_else(too_few)?;
        Ok(Enclosed { seam: topology.closed().then_some(seam), near, ..enclosed })
    }

    /// The sides of the box along an outer line with these corners.
    pub(crate) fn sides(&self, corners: &[usize]) -> Outside {
        let patch = |side| {
            let kind = match side {
                BoxSide::Floor => self.floor,
                BoxSide::Roof => self.roof,
                BoxSide::Inlet => self.inlet,
                BoxSide::Outlet => self.outlet,
            };
            Patch::Side(side, kind)
        };
        let open = [BoxSide::Floor, BoxSide::Inlet, BoxSide::Roof];
        let closed =
            [BoxSide::Outlet, BoxSide::Floor, BoxSide::Inlet, BoxSide::Roof, BoxSide::Outlet];
        let order = if corners.len() > open.len() + 1 { &closed[..] } else { &open };
        let sides = corners.iter().zip(order).map(|(first, side)| (*first, patch(*side))).collect();
        Outside { sides, ends: patch(BoxSide::Outlet), given: Vec::new() }
    }
}
