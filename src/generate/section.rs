//! The section of a case: read or made, changed as the case says; and the wall of a smooth one in
//! the frame of the grid.

use crate::case::defaults::{FLAP_RADIUS, Wall};
use crate::case::{Case, Contour, GeometryOptions};
use crate::error::Error;
use crate::geometry::{
    Airfoil, BoundaryPoints, ClosedContour, Flap, GeometryError, airfoil_from_file,
    airfoil_from_naca, contour_from_file, distribute_closed, set_edge_thickness, thickness_at,
};
use crate::grid::FAR_FIELD_CENTRE;

/// A default that cannot be kept is raised by this factor, up to an angle at which a wall is coarse.
const RELAXATION: f64 = 1.15;
const LARGEST_TURN: f64 = 45.0;

/// A body, as the case describes it.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// A section with a trailing edge.
    Airfoil(Airfoil),
    /// A smooth contour.
    Smooth(ClosedContour),
}

/// Reads or makes the body of a case and changes it as the case says, but for the angle of attack,
/// which turns the points of the wall.
///
/// # Errors
///
/// The body cannot be read or made so, at the place in the case that has to do with it.
pub fn body(case: &Case) -> Result<Body, Error> {
    made(&mut case.geometry.clone()).map_err(|error| Error::geometry(case, error))
}

/// As [`body`], with the error of the geometry alone; defaults that the section decides are put in place.
pub(super) fn made(geometry: &mut GeometryOptions) -> Result<Body, GeometryError> {
    let mut airfoil = match &geometry.contour {
        Contour::Naca(designation) => airfoil_from_naca(designation, geometry.trailing_edge)?,
        Contour::File(path) => airfoil_from_file(path)?,
        Contour::Joukowski(joukowski) => joukowski.airfoil()?,
        Contour::Section(section) => {
            return contour_from_file(&section.file, section.length).map(Body::Smooth);
        }
        Contour::WingBody(wing_body) => return wing_body.contour().map(Body::Smooth),
        Contour::Ellipse(ellipse) => return Ok(Body::Smooth(ellipse.contour())),
    };
    if let Some(thickness) = geometry.edge_thickness {
        set_edge_thickness(&mut airfoil, thickness);
    }
    if let Some(flap) = &mut geometry.flap {
        let radius = match flap.radius {
            Some(radius) => radius,
            None => FLAP_RADIUS * thickness_at(&airfoil, flap.hinge)?,
        };
        flap.radius = Some(radius);
        Flap { hinge: flap.hinge, angle: flap.angle, radius }.deflect(&mut airfoil)?;
    }
    Ok(Body::Airfoil(airfoil))
}

/// The wall of a smooth contour.
pub(super) struct SmoothWall {
    /// Its points in the frame of the grid, in which the far field is a circle about (0.5, 0).
    pub(super) points: BoundaryPoints,
    /// Largest turn in a cell that was allowed, degrees.
    pub(super) max_turn_deg: f64,
    /// What brings a point of that frame back to where the contour is.
    pub(super) shift: [f64; 2],
    /// What was repaired or changed, one sentence each.
    pub(super) notices: Vec<String>,
}

/// The wall of a smooth contour.
pub(super) fn smooth_wall(
    case: &Case,
    contour: ClosedContour,
) -> Result<SmoothWall, GeometryError> {
    let grid = &case.grid;
    let around = grid.around();
    let mut max_turn_deg =
        grid.turn(Wall { cut: false, edge: false, sharp: false, cells: around - 1 });
    let mut notices = Vec::new();
    let mut points = match distribute_closed(&contour, around, max_turn_deg) {
        Err(GeometryError::TooFewForTurns { .. }) if grid.max_turn.is_none() => {
            let relaxed = relaxed(&contour, around, max_turn_deg)?;
            max_turn_deg = relaxed.1;
            notices.push(format!(
                "cells turn by up to {max_turn_deg:.1} degrees: {} points are few for this contour",
                grid.ni
            ));
            relaxed.0
        }
        points => points?,
    };
    let shift = [0, 1].map(|c| contour.centre[c] - FAR_FIELD_CENTRE[c]);
    for (x, y) in points.x.iter_mut().zip(&mut points.y) {
        *x -= shift[0];
        *y -= shift[1];
    }
    check_reach(&points, grid.far_field)?;
    notices.extend(named(&case.geometry.contour, contour.notes));
    Ok(SmoothWall { points, max_turn_deg, shift, notices })
}

/// Refuses a body that fills half of the far field's circle.
fn check_reach(points: &BoundaryPoints, far_field: f64) -> Result<(), GeometryError> {
    let [cx, cy] = FAR_FIELD_CENTRE;
    let reach = |(x, y): (&f64, &f64)| (x - cx).hypot(y - cy);
    let least = 2.0 * points.x.iter().zip(&points.y).map(reach).fold(0.0, f64::max);
    if far_field < least {
        return Err(GeometryError::FarField { far_field, least });
    }
    Ok(())
}

/// Points under the smallest limit on the turn, above the default, that so many points can keep, and
/// that limit.
fn relaxed(
    contour: &ClosedContour,
    ni: usize,
    max_turn_deg: f64,
) -> Result<(BoundaryPoints, f64), GeometryError> {
    let mut limit = max_turn_deg;
    loop {
        limit *= RELAXATION;
        match distribute_closed(contour, ni, limit) {
            Err(GeometryError::TooFewForTurns { .. }) if limit < LARGEST_TURN => {}
            points => return points.map(|points| (points, limit)),
        }
    }
}

/// Notes with the name of the file that they are about.
pub(super) fn named(contour: &Contour, notes: Vec<String>) -> Vec<String> {
    let file = match contour {
        Contour::File(path) => path,
        Contour::Section(section) => &section.file,
        _ => return notes,
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    notes.into_iter().map(|note| format!("{name}: {note}")).collect()
}
