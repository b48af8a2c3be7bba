//! Gap, overlap and deflection: their definitions, and the placement that has given values.
//!
//! The slot between two elements ends at the trailing edge of the upstream one, above the surface of the
//! downstream one. Lengths are in reference chords, x along the reference chord.
//!
//! - **gap**: smallest distance of the upstream element's trailing edge from the downstream element's
//!   surface;
//! - **overlap**: distance along x from the foremost point of the downstream element back to the upstream
//!   trailing edge; negative if the edge ends ahead of that point;
//! - **deflection**: angle against x of the element's chord line, from its nose to its trailing edge;
//!   positive for a flap with the trailing edge down, and for a slat with the nose down.
//!
//! Source: A. M. O. Smith, "High-Lift Aerodynamics", J. Aircraft 12 (1975) 501–530. The figures of the 30P30N
//! use these definitions: slat 30°, gap 2.95 %, overhang −2.50 %, flap 30°, gap 1.27 %, overhang 0.25 % (S.
//! M. Klausmeyer, J. C. Lin, NASA TM-112858, 1997).

use super::zone::ElementWall;
use crate::diagnostics::errors;
use crate::geometry::Placement;
use crate::geometry::vector::{bounds, difference, distance};

/// The side of an element relative to the one that it is rigged to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RigSide {
    /// The element lies behind the other, like a flap.
    Behind,
    /// The element lies ahead of the other, like a slat.
    Ahead,
}

impl RigSide {
    /// 1 behind, −1 ahead: the sign of deflections nose down, and of movements of the downstream element.
    fn sign(self) -> f64 {
        if self == Self::Behind { 1.0 } else { -1.0 }
    }
}

/// Gap, overlap and deflection of an element relative to another.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Rigging {
    /// The side, which determines which of the two is upstream.
    pub side: RigSide,
    /// Smallest distance of the upstream trailing edge from the downstream surface.
    pub gap: f64,
    /// Distance along x of the upstream trailing edge behind the downstream leading edge.
    pub overlap: f64,
    /// Angle of the element's chord line, degrees.
    pub deflection: f64,
}

errors! {
    /// Reasons for which no placement has a rigging.
    #[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
    #[class(Input)]
    pub enum RiggingError {
        /// At this overlap the trailing edge is farther from the other element than the gap, whatever the height.
        #[error(
            "the trailing edge is {least:.5} away from the other element at this overlap, more than the gap of {gap}"
        )]
        #[hint("choose a larger gap, or an overlap nearer to 0; an overlap below minus the gap cannot be")]
        TooFar { gap: f64, least: f64 },
        #[error("the {} element has no trailing edge", if *upstream { "upstream" } else { "rigged" })]
        #[hint("place a smooth contour by `at`")]
        NoEdge { upstream: bool },
    }
}

impl Rigging {
    /// The placement of an element with this rigging. `element` is its wall in its own frame, `chord` its
    /// chord, and `other` the placed wall of the element that it is rigged to.
    ///
    /// The deflection gives the angle, the overlap x. y follows from the upper rim of the downstream element,
    /// thickened by the gap, at the x of the upstream trailing edge: at that height the edge is above the
    /// surface at exactly the distance of the gap, and nowhere nearer.
    ///
    /// # Errors
    /// [`RiggingError`].
    pub fn placement(
        &self,
        element: &ElementWall,
        chord: f64,
        other: &ElementWall,
    ) -> Result<Placement, RiggingError> {
        let upstream = if self.side == RigSide::Behind { other } else { element };
        for (wall, upstream) in [(upstream, true), (element, false)] {
            if wall.edge().is_empty() {
                return Err(RiggingError::NoEdge { upstream });
            }
        }
        let own = nose_up(element);
        let sign = self.side.sign();
        let turned = Placement { chord, angle: sign * self.deflection - own, at: [0.0; 2] };
        let wall = turned.points(element.points().iter().copied());
        let edge = turned.points(element.edge().iter().copied());
        let (edge, surface) = match self.side {
            RigSide::Behind => (other.edge().to_vec(), wall.as_slice()),
            RigSide::Ahead => (edge, other.points()),
        };
        // One of the two is fixed: the distances are measured from a fixed edge to the element's surface, or
        // from the element's edge to a fixed surface.
        let [aft, fore] = slot(&edge, surface);
        let by_overlap = aft - self.overlap - fore;
        let below: Vec<[f64; 2]> = surface.iter().map(|p| [p[0] + by_overlap, p[1]]).collect();
        let clear = edge
            .iter()
            .filter_map(|point| Some(height(&below, point[0], self.gap)? - point[1]))
            .max_by(f64::total_cmp);
        let Some(up) = clear else {
            let off = |p: &[f64; 2]| {
                below.iter().map(|q| (p[0] - q[0]).abs()).fold(f64::INFINITY, f64::min)
            };
            let least = edge.iter().map(off).fold(f64::INFINITY, f64::min);
            return Err(RiggingError::TooFar { gap: self.gap, least });
        };
        // Height by which the edge would have to rise, or the surface to sink.
        Ok(Placement { at: [sign * by_overlap, -sign * up], ..turned })
    }

    /// The rigging of a placed element relative to another; `None` without trailing edges.
    pub fn measured(side: RigSide, element: &ElementWall, other: &ElementWall) -> Option<Self> {
        let (upstream, downstream) = match side {
            RigSide::Behind => (other, element),
            RigSide::Ahead => (element, other),
        };
        if upstream.edge().is_empty() || element.edge().is_empty() {
            return None;
        }
        let off = |&point: &[f64; 2]| distance(point, downstream.nearest(point));
        let [aft, fore] = slot(upstream.edge(), downstream.points());
        Some(Self {
            side,
            gap: upstream.edge().iter().map(off).fold(f64::INFINITY, f64::min),
            overlap: aft - fore,
            deflection: side.sign() * nose_up(element),
        })
    }
}

/// Angle of the chord line against x, degrees, nose up.
fn nose_up(wall: &ElementWall) -> f64 {
    let [x, y] = difference(wall.middle_of_edge(), wall.nose());
    (-y).atan2(x).to_degrees()
}

/// x of the rearmost point of an edge, and of the foremost one of a surface.
fn slot(edge: &[[f64; 2]], surface: &[[f64; 2]]) -> [f64; 2] {
    let [[_, [aft, _]], [[fore, _], _]] = [edge, surface].map(|line| bounds(line.iter().copied()));
    [aft, fore]
}

/// The largest y at x among the points no farther than `by` from a closed wall; `None` if there are no such
/// points. The points near one segment form a rectangle with a half circle at both ends.
fn height(wall: &[[f64; 2]], x: f64, by: f64) -> Option<f64> {
    let on_circle = |centre: &[f64; 2]| {
        let squared = by * by - (x - centre[0]).powi(2);
        (squared >= 0.0).then(|| centre[1] + squared.sqrt())
    };
    let on_side = |piece: &[[f64; 2]]| {
        let [dx, dy] = difference(piece[1], piece[0]);
        let length = dx.hypot(dy);
        // The upper of the two parallel sides.
        let (nx, ny) = (-dy / length * dx.signum(), dx.abs() / length);
        let (from, to) = (piece[0][0] + by * nx, piece[1][0] + by * nx);
        let t = (x - from) / (to - from);
        let within = (0.0..=1.0).contains(&t);
        within.then(|| piece[0][1] + by * ny + t * dy)
    };
    let circles = wall.iter().filter_map(on_circle);
    circles.chain(wall.windows(2).filter_map(on_side)).max_by(f64::total_cmp)
}
