//! A piece of the outer line: its keys, and the sides that it makes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::geometry::vector::distance;
use crate::geometry::{GeometryError, OuterSide};
use crate::grid::SideKind;
use crate::grid::boundary::{Name, PERIOD, Patch};

/// A piece in messages.
pub(super) const SHAPE: &str =
    "{ name = \"roof\", kind = \"wall\", points = [[4.0, 0.5], [-2.0, 0.6]] }";

/// The conditions on a piece.
pub(super) const SIDE_KINDS: &[&str] =
    &["far-field", "inlet", "outlet", "slip", "symmetry", "wall"];

/// Distance within which two ends are one point, chords.
pub(super) const SAME: f64 = 1e-9;

/// Names of other patches in the files.
const TAKEN: [&str; 9] =
    ["airfoil", "base", "farfield", "outflow", "overset", "back", "front", "frontAndBack", "fluid"];

/// Most letters of a name: formats with names of 32 letters number the ranges of a patch.
const LONGEST: usize = 24;

/// Parts into which an arc is divided for its points.
const ARC_PARTS: usize = 64;

/// The line through the points of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PieceCurve {
    /// A smooth curve.
    Spline,
    /// Straight lines with a corner at each point.
    Polyline,
}

/// A piece of the outer line, clockwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PieceOptions {
    /// Name of its patch.
    pub name: String,
    /// Condition on it.
    pub kind: SideKind,
    /// Its points, from end to end. Unit: chords.
    #[serde(default)]
    pub points: Vec<[f64; 2]>,
    /// The file that they are read from.
    #[serde(default, skip_serializing)]
    pub file: Option<PathBuf>,
    /// A point of the arc of a circle between two points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<[f64; 2]>,
    /// The line through more than two points; none is a spline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<PieceCurve>,
}

impl PieceOptions {
    /// Whether its keys fit each other; the error says which do not.
    pub(super) fn fits(&self) -> Result<(), String> {
        let Self { name, points, file, through, curve, .. } = self;
        let letters: &str = Name::of(name).into();
        if letters != name || name.len() > LONGEST {
            return Err(format!(
                "name = \"{name}\" is not 1 to {LONGEST} letters, digits or one of _ - . + :"
            ));
        }
        if TAKEN.iter().chain(&PERIOD).any(|taken| taken.eq_ignore_ascii_case(name)) {
            return Err(format!("name = \"{name}\" is that of another patch in the files"));
        }
        if points.is_empty() == file.is_none() {
            return Err("either points or file is needed".into());
        }
        if through.is_some() && (file.is_some() || points.len() != 2 || curve.is_some()) {
            return Err("through makes an arc of two points, without file and curve".into());
        }
        if file.is_some() { Ok(()) } else { self.is_line() }
    }

    /// Whether its points make a line of its kind; the error says why not.
    pub(super) fn is_line(&self) -> Result<(), String> {
        let points = &self.points;
        if !points.iter().chain(&self.through).flatten().all(|c| c.abs() < 1e6) {
            return Err("points are finite numbers below 1e6".into());
        }
        if let Some(k) = points.windows(2).position(|ends| distance(ends[0], ends[1]) <= SAME) {
            return Err(format!("points {} and {} coincide", k + 1, k + 2));
        }
        match (points.len(), self.curve) {
            (0 | 1, _) => Err("two points and more are needed".into()),
            (3, None | Some(PieceCurve::Spline)) => Err(
                "three points are too few for a smooth curve: give four and more, the ends alone and through for an arc, \
                 or curve = \"polyline\" for a corner".into(),
            ),
            _ if self.through.is_some() && self.sides().is_err() => {
                Err("through lies on the straight line between both points: leave it out".into())
            }
            _ => Ok(()),
        }
    }

    /// The sides that it has between corners.
    pub(super) fn sides(&self) -> Result<Vec<OuterSide>, GeometryError> {
        let ends = |ends: &[[f64; 2]]| OuterSide::straight([ends[0], ends[1]]);
        match (&self.points[..], self.through) {
            (&[a, b], Some(through)) => {
                let reason = "three points of an arc lie on a straight line";
                let arc = OuterSide::arc([a, b], through);
                Ok(vec![arc.ok_or(GeometryError::Contour { reason })?])
            }
            (points, _) if points.len() > 2 && self.curve != Some(PieceCurve::Polyline) => {
                Ok(vec![OuterSide::smooth(points)?])
            }
            (points, _) => Ok(points.windows(2).map(ends).collect()),
        }
    }

    /// The points that are given, or points along an arc.
    pub(super) fn outlined(&self) -> Vec<[f64; 2]> {
        let arc = self.through.and_then(|_| self.sides().ok()?.pop());
        let Some(arc) = arc else { return self.points.clone() };
        let inner = arc.points().iter().step_by(arc.points().len() / ARC_PARTS);
        inner.chain(&self.points[1..]).copied().collect()
    }

    pub(super) fn ends(&self) -> [[f64; 2]; 2] {
        [self.points[0], self.points[self.points.len() - 1]]
    }

    /// A straight piece.
    pub(super) fn straight(name: &str, kind: SideKind, ends: [[f64; 2]; 2]) -> Self {
        let (name, points) = (name.to_owned(), ends.to_vec());
        Self { name, kind, points, file: None, through: None, curve: None }
    }

    pub(super) fn patch(&self) -> Patch {
        Patch::Side(Name::of(&self.name), self.kind)
    }
}
