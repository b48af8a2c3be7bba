//! The surroundings of a section: its outer line, such as a box, section `[domain]` of a case, or the row of blades that
//! it is one of, section `[cascade]`.

use super::defaults::{REFERENCE_LENGTH, first_cell_from_y_plus};
use super::entries::Given;
use super::piece::PieceOptions;
use super::pieces::{PIECE, PieceLine, pieces};
use super::schema::shown;
use super::table::{BOX_KEYS, SMOOTH, of_section};
use super::{CascadeOptions, Case, CaseError, DomainOptions, TopologyChoice};
use crate::geometry::vector::bounds;
use crate::geometry::{
    Blades, BoundaryPoints, GeometryError, PIVOT, encloses, turn_about, turned, turning,
    wall_normals,
};
use crate::grid::initial::Enclosed;
use crate::grid::{Outside, SideKind, Topology};

/// Points of the line j = 0 above which columns of corners are multiples of four cells.
const MANY: usize = 128;

/// Distance that the layers cover for each unit of the distance of the farthest side: lines are curved.
const LONGER: f64 = 1.1;

/// Distance between section and floor or roof, in chords, below which these are near.
const NEAR: f64 = 0.2;

/// Wall units of the first cells at walls of the outer line.
const WALL_Y_PLUS: &str = "domain.wall_y_plus";

/// The keys of the line.
const KEYS: [&str; 2] = ["domain.box", PIECE];

/// The outer line that is asked for, if one is.
pub(super) fn domain(
    entries: &Given,
    topology: TopologyChoice,
) -> Result<Option<DomainOptions>, CaseError> {
    let own = entries.has(PIECE);
    // A fault of the outer line is corrected at the key of its pieces, if it has any, or else at that of a side.
    let either = |pieces: &'static str, sides: &'static str| if own { pieces } else { sides };
    if entries.has("domain.box") {
        if own {
            return Err(entries.conflict(PIECE, "domain.box"));
        }
    } else {
        let beside =
            either("domain.box in place of domain.piece beside it", "domain.box beside it");
        let leave = "leave {key} out: pieces have a kind and points of their own";
        let remedy = either(leave, "give domain.box, or leave [domain] out");
        entries.refuse_given(&BOX_KEYS[1..], beside, remedy)?;
        if !own {
            return Ok(None);
        }
    }
    let alone = !entries.places.is_element();
    let remedy = "leave [domain] out with several elements";
    entries.require(alone, &KEYS, "one section in a box", remedy)?;
    let whole = topology != TopologyChoice::Half;
    let remedy = "set grid.topology = \"O\" or \"C\", or leave [domain] out";
    entries.require(whole, &KEYS, "a whole grid in a box", remedy)?;
    let domain: DomainOptions = entries.section("domain", &[])?;
    let piece = if own { Some(pieces(entries, topology)?) } else { None };
    let height = "domain.wall_first_cell";
    let from_units = from_wall_units(entries, WALL_Y_PLUS, height)?;
    let wall_first_cell = from_units.or(entries.given(height)?);
    let domain = DomainOptions { wall_first_cell, piece, ..domain };
    let [length, extent] = [domain.behind(), domain.extent()];
    let fixed =
        [("grid.reach", f64::NAN), ("grid.far_field", extent), ("grid.wake_length", length)];
    for (key, follows) in fixed {
        if entries.given::<f64>(key)?.is_some_and(|given| given.to_bits() != follows.to_bits()) {
            let expected =
                format!("a case without {key}: the grid ends at the outer line of [domain]");
            return Err(entries.refuse(&[key], expected, format!("leave {key} or [domain] out")));
        }
    }
    if domain.wall(0.0).is_none() {
        let keys = [height, WALL_Y_PLUS];
        let side = either("the kind of a piece", "domain.floor or another side");
        let remedy = ["set ", side, " to \"wall\", or leave {key} out"].concat();
        entries.refuse_given(&keys, "a side that is a wall beside it", &remedy)?;
    } else if entries.opens("grid.layers") {
        let remedy = "leave grid.layers out: grid.growth limits the growth from both walls";
        return Err(entries.refuse(&["grid.layers"], "a box without walls", remedy));
    }
    let front = domain.pieces().points().fold(f64::INFINITY, |least, [x, _]| least.min(x));
    let found = shown(length.min(-front));
    let line = either("pieces that reach", "a box that reaches");
    let expected = format!("{line} ahead of the nose and behind x = 1, here by {found}");
    let remedy = either(
        "move the pieces: the section has its nose at (0, 0)",
        "give [x_min, x_max, y_min, y_max] in chords",
    );
    entries.require(length > 0.0 && front < 0.0, &KEYS, expected, remedy)?;
    check_curves(entries, &domain)?;
    Ok(Some(domain))
}

/// Refuses curves that are none of x, do not begin at the inlet and end at the outlet, or meet.
fn check_curves(entries: &Given, domain: &DomainOptions) -> Result<(), CaseError> {
    let Some([x0, x1, ..]) = domain.bounds else { return Ok(()) };
    for (key, curve) in
        [("domain.floor_curve", &domain.floor_curve), ("domain.roof_curve", &domain.roof_curve)]
    {
        let Some(curve) = curve else { continue };
        let refuse = |expected: String, remedy: &str| Err(entries.refuse(&[key], expected, remedy));
        let expected = format!("four points or more, here {}", curve.len());
        entries.require(curve.len() >= 4, &[key], expected, "add points between")?;
        if let Some(k) = (1..curve.len()).find(|k| curve[*k][0] <= curve[k - 1][0]) {
            let [last, next] = [k - 1, k].map(|k| shown(curve[k][0]));
            let expected =
                format!("points whose x rises, here from {last} to {next} at point {}", k + 1);
            return refuse(expected, "give the points from the inlet to the outlet, each x once");
        }
        for (end, bound) in [(curve[0], x0), (curve[curve.len() - 1], x1)] {
            let meets = (end[0] - bound).abs() <= 1e-9;
            let [end, bound] = [end[0], bound].map(shown);
            let expected = format!(
                "a curve that meets the sides of domain.box, here {end} in place of {bound}"
            );
            let remedy = "end the curve at x_min and x_max of domain.box";
            entries.require(meets, &[key], expected, remedy)?;
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

/// The height of first cells that follows from wall units at the key `y_plus`, given in place of `height`.
pub(super) fn from_wall_units(
    entries: &Given,
    y_plus: &str,
    height: &'static str,
) -> Result<Option<f64>, CaseError> {
    let Some(units) = entries.given(y_plus)? else { return Ok(None) };
    if entries.has(height) {
        return Err(entries.conflict(y_plus, height));
    }
    let reynolds = entries.given("grid.reynolds")?;
    let reynolds = reynolds.ok_or_else(|| entries.incomplete(y_plus, "grid.reynolds"))?;
    let length = entries.given("grid.reference_length")?.unwrap_or(REFERENCE_LENGTH);
    Ok(Some(first_cell_from_y_plus(units, reynolds, length)))
}

impl DomainOptions {
    /// The pieces of the outer line: those that are given, or the sides of the box.
    pub(super) fn pieces(&self) -> PieceLine {
        let Some([x0, x1, ..]) = self.bounds else {
            return PieceLine(self.piece.clone().unwrap_or_default());
        };
        let ([low, high], [below, above]) = (self.heights_at(x0), self.heights_at(x1));
        let corners = [[x1, below], [x0, low], [x0, high], [x1, above]];
        let side = |name, kind, from: usize, curve: &Option<Vec<[f64; 2]>>| {
            let ends = [corners[from], corners[(from + 1) % 4]];
            let mut piece = PieceOptions::straight(name, kind, ends);
            if let Some(curve) = curve.as_ref().filter(|curve| curve.len() > 1) {
                piece.points.clone_from(curve);
                // A curve is given from the inlet to the outlet.
                if ends[0][0] > ends[1][0] {
                    piece.points.reverse();
                }
                let last = curve.len() - 1;
                (piece.points[0], piece.points[last]) = (ends[0], ends[1]);
            }
            piece
        };
        PieceLine(vec![
            side("floor", self.floor, 0, &self.floor_curve),
            side("inlet", self.inlet, 1, &None),
            side("roof", self.roof, 2, &self.roof_curve),
            side("outlet", self.outlet, 3, &None),
        ])
    }

    /// Distance from the edge of a section that is not turned to the outlet.
    pub(super) fn behind(&self) -> f64 {
        self.pieces().outlet() - 1.0
    }

    /// Distance that the layers cover at most, and at least a chord.
    pub(super) fn extent(&self) -> f64 {
        let bounds = self.bounds.map(|[x0, x1, y0, y1]| [[x0, y0], [x1, y1]]);
        let all = self.pieces().points().chain(bounds.into_iter().flatten()).collect::<Vec<_>>();
        (LONGER * all.iter().map(|[x, y]| y.abs().max(-x)).fold(0.0, f64::max)).max(1.0)
    }

    /// Height of the first cells at pieces that are walls, where there are any.
    pub(super) fn wall(&self, first_cell: f64) -> Option<f64> {
        let has_walls = self.pieces().0.iter().any(|piece| piece.kind == SideKind::Wall);
        has_walls.then(|| self.wall_first_cell.unwrap_or(first_cell))
    }

    /// y of floor and roof of a box at x.
    fn heights_at(&self, x: f64) -> [f64; 2] {
        let [low, high] = self.bounds.map_or([f64::NAN; 2], |[.., low, high]| [low, high]);
        // The check of the curves refuses one that is shorter.
        let at = |curve: &Option<Vec<_>>, flat| match curve {
            Some(curve) if curve.len() > 1 => interpolated(curve, x),
            _ => flat,
        };
        [at(&self.floor_curve, low), at(&self.roof_curve, high)]
    }

    /// Whether floor or roof is near the section: lines then cross the gap to it at an angle, and control functions from
    /// such lines make a grid that grows by up to 200 at the floor, or folds (24 sections above the ground).
    pub(super) fn is_near(&self, topology: Topology, points: &[[f64; 2]]) -> bool {
        let wall = topology.wall(points.len());
        self.pieces().room(points[wall].iter().copied()) < NEAR
    }

    /// The outer line around the line j = 0, and the walls of it, with corners in columns that are multiples of `step`.
    pub(super) fn around(
        &self,
        topology: Topology,
        points: &[[f64; 2]],
        normal: [f64; 2],
        first_cell: f64,
        (step, near): (usize, Option<(usize, f64)>),
    ) -> Result<Enclosed, GeometryError> {
        let mut pieces = self.pieces();
        let (whole, mut patches) = pieces.line()?;
        let edge = points[0];
        let wall = &points[topology.wall(points.len())];
        // The ends of a cut are on the outlet.
        let ends = usize::from(!topology.closed());
        let mut inner = points[ends..points.len() - ends].iter();
        let beyond = inner.find(|point| !whole.holds(**point));
        let cut_off = || whole.points().iter().find(|point| encloses(wall, **point));
        if let Some(&at) = beyond.or_else(cut_off) {
            return Err(GeometryError::OutsideBox { at });
        }
        let seam = turning(normal, pieces.room([edge]));
        let (line, ends) = if topology.closed() {
            let height = |x: f64| edge[1] + seam[0] * turned(x - edge[0], seam[1]);
            let outside = || GeometryError::OutsideBox { at: edge };
            let (line, side) = whole.begun_at(edge[0], height).ok_or_else(outside)?;
            // From there around, to the side that the line ends in.
            let count = patches.len();
            patches.rotate_left((side + 1) % count);
            let ends = patches[patches.len() - 1];
            if line.corners().len() - 1 > patches.len() {
                patches.insert(0, ends);
            }
            (line, ends)
        } else {
            let ends = patches[patches.len() - 1];
            pieces.0.pop();
            // The last point of the cut is on the outlet but for round-off.
            let open = pieces.0.len() - 1;
            pieces.0[0].points[0][0] = edge[0];
            if let Some(end) = pieces.0[open].points.last_mut() {
                end[0] = edge[0];
            }
            (pieces.line()?.0, ends)
        };
        let sides = line.corners().len();
        // Grids of two coarser levels keep the corners.
        let step = if points.len() > MANY { 4 * step } else { step };
        let too_few = || GeometryError::TooFewForBox { ni: points.len(), corners: sides };
        let (start, corners) =
            Enclosed::places(&line, topology, points, step).ok_or_else(too_few)?;
        let sides = corners.iter().copied().zip(patches[..sides - 1].iter().copied()).collect();
        let outside = Outside { sides, ends, given: Vec::new() };
        let wall = self.wall(first_cell).map(|height| (height, outside.walls(points.len() - 1)));
        let seam = topology.closed().then_some(seam);
        Ok(Enclosed { line, start, corners, outside, seam, near, wall })
    }
}

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
    let alone = !entries.places.is_element();
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
