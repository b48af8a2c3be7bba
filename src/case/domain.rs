//! The outer line around the section, such as a box: section `[domain]` of a case.

use super::defaults::{REFERENCE_LENGTH, first_cell_from_y_plus};
use super::entries::Given;
use super::piece::PieceOptions;
use super::pieces::{PIECE, PieceLine, pieces};
use super::schema::shown;
use super::{CaseError, DomainOptions, TopologyChoice};
use crate::geometry::{GeometryError, encloses, turned, turning};
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
    let sides = [
        "domain.floor",
        "domain.roof",
        "domain.inlet",
        "domain.outlet",
        "domain.floor_curve",
        "domain.roof_curve",
    ];
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
        entries.refuse_given(&sides, beside, remedy)?;
        if !own {
            return Ok(None);
        }
    }
    let alone = entries.places.within.is_empty();
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
