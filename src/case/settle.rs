//! The second stage of a case: topology, spacings and turn that its section decides, and the points of the wall.

use super::defaults::{LEAST_FIRST_CELL, LEAST_ON_BASE, WallFacts, round_off};
use super::table::SOURCES;
use super::topology::WAKE;
use super::{Case, Contour, Frame, GeometryOptions, Place, Problem, TopologyChoice, WallPoints};
use crate::diagnostics::errors;
use crate::geometry::vector::{difference, distance, middle};
use crate::geometry::{
    Airfoil, BaseCells, BoundaryPoints, ClosedContour, GeometryError, Heights, LEAST_GAP,
    Placement, Placing, Repairs, SurfaceSettings, TrailingEdge, airfoil_from_naca,
    contour_from_file, distribute, distribute_closed, distribute_closed_relaxed, edge_gap,
    read_file, read_points, set_edge_thickness, symmetrise,
};
use crate::grid::{FAR_FIELD_CENTRE, Topology};

/// A body, as a case describes it.
#[derive(Debug, Clone, PartialEq)]
pub enum BodyContour {
    /// A section with a trailing edge.
    Airfoil(Airfoil),
    /// A smooth contour.
    Smooth(ClosedContour),
}

errors! {
    /// A section that cannot be meshed as its case says, and the place of the key that is concerned.
    #[error("{place}: {error}")]
    pub struct SectionError { place: Box<Place>, #[source] error: Box<GeometryError> }
}

impl Case {
    /// The body, changed as the case says but for the angle of attack, which turns the points of the wall.
    pub fn body(&self) -> Result<BodyContour, SectionError> {
        self.read_body(&mut self.geometry.clone()).map_err(|error| self.located(error))
    }

    /// The problem of the case, settled for its section.
    pub fn settle(&self) -> Result<Problem, SectionError> {
        let mut case = self.clone();
        let settled = self.read_body(&mut case.geometry).and_then(|body| case.settled(body));
        settled.map_err(|error| self.located(error))
    }

    /// The body of the case; a default that the section decides is put in place.
    fn read_body(&self, geometry: &mut GeometryOptions) -> Result<BodyContour, GeometryError> {
        let GeometryOptions { smooth, edge_thickness, .. } = *geometry;
        let keep_coordinates = self.grid.wall_points == WallPoints::AsGiven;
        let in_file = geometry.frame == Frame::File;
        let placing = if in_file { Placing::File } else { self.places.placing };
        let repairs = Repairs { smooth, edge_thickness, keep_coordinates, placing };
        let of_formula = |mut airfoil: Airfoil| {
            if let Some(thickness) = edge_thickness {
                set_edge_thickness(&mut airfoil, thickness);
            }
            (airfoil, Placement::NONE)
        };
        let (mut airfoil, in_file) = match &geometry.contour {
            Contour::Naca(digits) => of_formula(airfoil_from_naca(digits, geometry.trailing_edge)?),
            Contour::File(path) => read_file(path, &repairs)?,
            Contour::Points(points) => read_points(points, &repairs)?,
            Contour::Joukowski(joukowski) => of_formula(joukowski.airfoil()?),
            Contour::Section(section) => {
                geometry.in_file.chord = section.length;
                return contour_from_file(&section.file, section.length).map(BodyContour::Smooth);
            }
            Contour::WingBody(wing_body) => return wing_body.contour().map(BodyContour::Smooth),
            Contour::Ellipse(ellipse) => return Ok(BodyContour::Smooth(ellipse.contour())),
        };
        geometry.in_file = in_file;
        if let Some(flap) = &mut geometry.flap {
            flap.deflect(&mut airfoil)?;
        }
        Ok(BodyContour::Airfoil(airfoil))
    }

    fn settled(self, body: BodyContour) -> Result<Problem, GeometryError> {
        let (name, value) = ("first_cell", self.grid.first_cell);
        if value < LEAST_FIRST_CELL {
            let expected = "3.2e-10 chords or more, at which round-off allows a solve,";
            return Err(GeometryError::Spacing { name, value, expected });
        }
        let half = self.grid.topology == TopologyChoice::Half;
        let settled = match body {
            BodyContour::Airfoil(airfoil) => self.settled_around_edge(airfoil),
            BodyContour::Smooth(contour) => self.settled_around_contour(contour),
        };
        let mut settled = settled.map_err(|error| match error {
            // The case counts the points of a half.
            GeometryError::TooFewForTurns { ni, max_turn_deg, least } if half => {
                let half = |around: usize| around / 2 + 1;
                GeometryError::TooFewForTurns { ni: half(ni), max_turn_deg, least: half(least) }
            }
            error => error,
        })?;
        let (asked, floor) =
            (settled.case.newton.tolerance, round_off(settled.case.grid.first_cell));
        if floor > asked {
            settled.case.newton.tolerance = floor;
            settled.notices.push(format!(
                "newton.tolerance raised from {asked:.1e} to {floor:.1e}: round-off at this first \
                 cell allows no less"
            ));
        }
        Ok(settled)
    }

    fn settled_around_edge(mut self, mut airfoil: Airfoil) -> Result<Problem, GeometryError> {
        let (geometry, grid) = (&self.geometry, &self.grid);
        let mut trailing_edge = geometry.trailing_edge;
        let closes = self.closes(&airfoil);
        let gap = edge_gap(&airfoil.points);
        let as_given = grid.wall_points == WallPoints::AsGiven;
        if closes && trailing_edge == TrailingEdge::AsGiven && gap >= LEAST_GAP {
            let note = format!("The trailing edge, open by {gap:.1e} chord, was closed.");
            airfoil.notes.push(note);
        }
        if grid.topology == TopologyChoice::Half {
            airfoil.notes.extend(symmetrise(&mut airfoil.points));
        }
        let mut notices = geometry.contour.named(std::mem::take(&mut airfoil.notes));
        let mut wake = self.wake_behind(&airfoil, closes)?;
        self.grid.wake = wake;
        // No block among several elements, whose holes are cut in one grid each.
        let may_be_blunt = trailing_edge != TrailingEdge::Rounded && !self.places.is_element();
        let open = wake.is_some() && !closes && !as_given;
        let corner = if open { self.corner_height(&airfoil)? } else { 0.0 };
        let blunt = open && may_be_blunt && gap >= LEAST_ON_BASE * corner;
        if blunt {
            self.settle_behind(gap, corner)?;
            (trailing_edge, wake) = (TrailingEdge::Blunt, self.grid.wake);
            let most = gap / self.grid.base_cells.unwrap_or(1) as f64;
            if let Some(outflow) = self.grid.wake_first_cell.filter(|outflow| *outflow > most) {
                self.grid.wake_first_cell = Some(most);
                let note = "to fit the cells of the block behind the base";
                notices
                    .push(format!("wake_first_cell lowered from {outflow} to {most:.2e}, {note}"));
            }
        } else if open {
            trailing_edge = TrailingEdge::Wedge;
            notices.extend(may_be_blunt.then(|| {
                format!("the base, {gap:.1e} chord thick, has no room for a block of four first cells behind it")
            }));
        }
        let sharp = closes || wake.is_some();
        let cut = wake.map(|wake| wake.cells);
        let facts =
            |points| WallFacts { wake: cut, edge: true, sharp, behind: blunt, cells: points - 1 };
        let (mut points, wake, trailing_edge_spacing, seam) = if as_given {
            let (points, wake, spacing) = self.settle_as_given(&airfoil, wake)?;
            let (.., seam) = self.settle_defaults(facts(points.line.len()));
            (points, wake, spacing, seam)
        } else {
            // On each side of the middle of a base they make cells of this order.
            let even = 2 * self.output.curved_order;
            let chosen = if blunt { BaseCells::Behind } else { BaseCells::MultipleOf(even) };
            let base = (!sharp).then(|| chosen.least(trailing_edge == TrailingEdge::Rounded));
            let (ni, upper) = self.grid.settle_points(&self.places, wake, base)?;
            let given = self.grid.base_cells.filter(|_| !blunt);
            let base_cells = given.map_or(chosen, BaseCells::Exactly);
            let ([leading_edge_spacing, trailing_edge_spacing], max_turn_deg, seam) =
                self.settle_defaults(facts(ni));
            let surface = |upper| SurfaceSettings {
                ni,
                leading_edge_spacing,
                trailing_edge_spacing,
                trailing_edge,
                base_cells,
                max_turn_deg,
                corners_deg: self.geometry.corners,
                along: self.grid.along(upper),
            };
            let points = self.shared_out(upper, |upper| distribute(&airfoil, &surface(upper)))?;
            (points, wake, trailing_edge_spacing, seam)
        };
        notices.extend(self.note_on_wake());
        let heights = self.grid.heights.as_ref().map(|given| given.at(&points)).transpose()?;
        let wedge = wedge(&airfoil, &points, trailing_edge);
        notices.extend(wedge.map(|length| {
            format!(
                "the base is closed by a wedge behind it, which makes the section {:.1} % longer",
                100.0 * length
            )
        }));
        let Placement { at, chord, .. } = self.geometry.in_file;
        self.turn(&mut points);
        let in_file = self.geometry.frame == Frame::File;
        let shift = if in_file { at.map(|c| c / chord) } else { [0.0; 2] };
        let topology = match wake {
            Some(wake) => {
                let spacing = if blunt { corner } else { trailing_edge_spacing };
                points = self.with_line_behind(&airfoil, &points, wake, (blunt, spacing))?;
                let wake = wake.cells;
                if blunt { Topology::Blunt { wake } } else { Topology::C { wake } }
            }
            None => Topology::O(seam),
        };
        self.geometry.trailing_edge = trailing_edge;
        if points.base_cells > 0 {
            self.grid.base_cells = Some(points.base_cells);
        }
        Ok(Problem { wedge, ..Problem::new(self, topology, (points, heights), shift, notices)? })
    }

    /// Height of the first cells at the corners of a base.
    fn corner_height(&self, airfoil: &Airfoil) -> Result<f64, GeometryError> {
        let heights = match &self.grid.heights {
            None => return Ok(self.grid.first_cell),
            Some(Heights::Points(heights)) => heights.clone(),
            Some(heights) => {
                let line = airfoil.points.iter().rev().copied().collect();
                heights.at(&BoundaryPoints { line, base_cells: 0 })?
            }
        };
        Ok(heights[0].max(heights[heights.len() - 1]))
    }

    fn settled_around_contour(mut self, contour: ClosedContour) -> Result<Problem, GeometryError> {
        if self.grid.topology == TopologyChoice::Half {
            contour.check_symmetry()?;
        }
        let around = self.grid.around();
        let wall =
            WallFacts { wake: None, edge: false, sharp: false, behind: false, cells: around - 1 };
        let given = self.grid.max_turn.is_some();
        let (_, asked, seam) = self.settle_defaults(wall);
        let (mut points, max_turn_deg) = if given {
            (distribute_closed(&contour, around, asked)?, asked)
        } else {
            distribute_closed_relaxed(&contour, around, asked)?
        };
        let heights = self.grid.heights.as_ref().map(|given| given.at(&points)).transpose()?;
        let mut notices = Vec::new();
        if max_turn_deg > asked {
            notices.push(format!(
                "cells turn by up to {max_turn_deg:.1} degrees: {} points are few for this contour",
                self.grid.ni
            ));
        }
        let shift = [0, 1].map(|c| contour.centre[c] - FAR_FIELD_CENTRE[c]);
        points.line.iter_mut().for_each(|point| *point = difference(*point, shift));
        if self.grid.reach.is_none() && self.domain.is_none() {
            check_reach(&points.line, self.grid.far_field)?;
        }
        notices.extend(self.geometry.contour.named(contour.notes));
        self.grid.max_turn = Some(max_turn_deg);
        Problem::new(self, Topology::O(seam), (points, heights), shift, notices)
    }

    /// The error at the place in the case that has to do with it.
    fn located(&self, error: GeometryError) -> SectionError {
        let upper = matches!(&error, GeometryError::TooFewForSpacing { surface: "upper", .. });
        let points = if upper { "grid.points_upper" } else { "grid.points_lower" };
        let spaced = [points, "grid.wall_growth", "grid.clusters", "grid.max_spacing", "grid.ni"];
        let keys: &[&str] = match &error {
            GeometryError::Spacing { name: "leading_edge_spacing", .. } => {
                &["grid.leading_edge_spacing", "grid.ni"]
            }
            GeometryError::Spacing { name: "trailing_edge_spacing", .. } => {
                &["grid.trailing_edge_spacing", "grid.ni"]
            }
            GeometryError::Spacing { name: "first_cell", .. } => {
                &["grid.first_cell", "grid.y_plus"]
            }
            GeometryError::WallPoints { .. } => &["grid.ni"],
            GeometryError::BaseCells { .. } => &["grid.base_cells", "grid.ni"],
            GeometryError::CornerInSide { .. } => &["grid.base_cells", "output.curved_order"],
            GeometryError::NoBase { .. } => &["geometry.trailing_edge", "geometry.edge_thickness"],
            GeometryError::CutCrosses { .. } => &["grid.wake_direction", "grid.topology"],
            GeometryError::NoWake { .. } => &WAKE,
            GeometryError::BaseSlants { .. } => &["geometry.angle", "geometry.trailing_edge"],
            GeometryError::OutsideBox { .. } => {
                &["domain.box", "domain.piece", "domain.floor_curve", "domain.roof_curve"]
            }
            GeometryError::TooFewForBox { .. } => &["grid.ni", "domain.box", "domain.piece"],
            GeometryError::Passage { .. } => &["cascade.pitch"],
            GeometryError::InletNear { .. } => &["cascade.inlet_x", "grid.reach", "cascade.pitch"],
            GeometryError::OutletNear { .. } => {
                &["cascade.outlet_x", "grid.reach", "cascade.pitch"]
            }
            GeometryError::PassagePoints { .. } => &["grid.ni", "cascade.pitch"],
            GeometryError::CutLeaves { .. } => &["grid.wake_direction", "grid.far_field"],
            GeometryError::FlapRadius { .. } => &["geometry.flap.radius", "geometry.flap"],
            GeometryError::FarField { .. } => &["grid.far_field"],
            GeometryError::NotSymmetric { .. } => &["grid.topology"],
            GeometryError::TooFewForTurns { .. } => &["grid.max_turn", "grid.ni"],
            GeometryError::Layers { .. } => &["grid.layers", "grid.nj"],
            GeometryError::Heights { .. } => &["grid.first_cell"],
            GeometryError::TooFewForSpacing { .. } => &spaced,
            GeometryError::PointsDisagree { .. } => {
                &["grid.ni", "grid.points_upper", "grid.points_lower", "grid.wall_points"]
            }
            GeometryError::PointsOpen { .. } => &["grid.wall_points"],
            _ => &SOURCES,
        };
        SectionError { place: Box::new(self.places.of(keys)), error: Box::new(error) }
    }
}

/// Length of the wedge that closes a base, in chords.
fn wedge(airfoil: &Airfoil, wall: &BoundaryPoints, edge: TrailingEdge) -> Option<f64> {
    let base = middle(*airfoil.points.first()?, *airfoil.points.last()?);
    let length = distance(base, wall.line[0]);
    (edge == TrailingEdge::Wedge && length > 1e-6).then_some(length)
}

/// Refuses a body that fills half of the far field's circle.
fn check_reach(points: &[[f64; 2]], far_field: f64) -> Result<(), GeometryError> {
    let reach = |point: &[f64; 2]| distance(FAR_FIELD_CENTRE, *point);
    let least = 2.0 * points.iter().map(reach).fold(0.0, f64::max);
    if far_field < least {
        return Err(GeometryError::FarField { far_field, least });
    }
    Ok(())
}
