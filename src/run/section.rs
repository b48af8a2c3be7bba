//! The section of a case: read or made, changed as the case says, its wall placed in the frame of
//! the grid.

use crate::case::{Case, Contour, GeometryOptions};
use crate::error::Error;
use crate::geometry::{
    Airfoil, BoundaryPoints, ClosedContour, GeometryError, SurfaceSettings, airfoil_from_file,
    airfoil_from_naca, contour_from_file, distribute, distribute_closed, set_angle,
    set_edge_thickness,
};
use crate::grid::Seam;
use crate::grid::initial::FAR_FIELD_CENTRE;

/// Largest turn of the wall in a cell where the case leaves it open, degrees, up to 257 points.
const MAX_TURN: f64 = 15.0;

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
    made(&case.geometry).map_err(|error| Error::geometry(case, error))
}

fn made(geometry: &GeometryOptions) -> Result<Body, GeometryError> {
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
    if let Some(flap) = geometry.flap {
        flap.deflect(&mut airfoil)?;
    }
    Ok(Body::Airfoil(airfoil))
}

/// The wall of a body.
pub(super) struct BodyWall {
    /// Its points in the frame of the grid, in which the far field is a circle about (0.5, 0).
    pub(super) points: BoundaryPoints,
    /// What brings a point of that frame back to where the body is.
    pub(super) shift: [f64; 2],
    /// How the line at which the grid closes is treated unless the case says so.
    pub(super) seam: Seam,
    /// What was repaired or changed, one sentence each.
    pub(super) notices: Vec<String>,
}

/// The wall of the case's body.
pub(super) fn body_wall(case: &Case) -> Result<BodyWall, GeometryError> {
    let (geometry, grid) = (&case.geometry, &case.grid);
    let finer = 256.0 / (grid.ni - 1) as f64;
    let max_turn_deg = grid.max_turn.unwrap_or(MAX_TURN * finer.min(1.0));
    match made(geometry)? {
        Body::Airfoil(airfoil) => {
            let settings = SurfaceSettings {
                ni: grid.ni,
                leading_edge_spacing: grid.leading_edge_spacing,
                trailing_edge_spacing: grid.trailing_edge_spacing,
                trailing_edge: geometry.trailing_edge,
                base_cells: grid.base_cells,
                max_turn_deg,
            };
            let mut points = distribute(&airfoil, &settings)?;
            set_angle(&mut points, geometry.angle);
            let notices = named(&geometry.contour, airfoil.notes);
            // A trailing edge or base is a corner: its line keeps its marched points.
            Ok(BodyWall { points, shift: [0.0; 2], seam: Seam::Held, notices })
        }
        Body::Smooth(contour) => {
            let mut notices = Vec::new();
            let mut points = match distribute_closed(&contour, grid.ni, max_turn_deg) {
                Err(GeometryError::TooFewForTurns { .. }) if grid.max_turn.is_none() => {
                    let relaxed = relaxed(&contour, grid.ni, max_turn_deg)?;
                    notices.push(format!(
                        "cells turn by up to {:.1} degrees: {} points are few for this contour",
                        relaxed.1, grid.ni
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
            notices.extend(named(&geometry.contour, contour.notes));
            Ok(BodyWall { points, shift, seam: Seam::Periodic, notices })
        }
    }
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
fn named(contour: &Contour, notes: Vec<String>) -> Vec<String> {
    let file = match contour {
        Contour::File(path) => path,
        Contour::Section(section) => &section.file,
        _ => return notes,
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    notes.into_iter().map(|note| format!("{name}: {note}")).collect()
}
