//! Thickness, camber and trailing edge of a section, as its spline has them.

use super::{Airfoil, CubicSpline, GeometryError};

/// Points of the curve at which it is measured.
const SAMPLES: usize = 8000;
/// Stations along the chord.
const STATIONS: usize = 1000;

/// Measures of a section of unit chord. Lengths are in chords, angles in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SectionMeasures {
    /// Largest y_upper − y_lower at one x.
    pub thickness: f64,
    /// Its x.
    pub thickness_at: f64,
    /// Largest distance in y, with its sign, of (y_upper + y_lower)/2 from the straight line between
    /// the nose and the middle of the trailing edge.
    pub camber: f64,
    /// Its x.
    pub camber_at: f64,
    /// Distance of the two ends of the contour.
    pub edge_gap: f64,
    /// Angle between the two surfaces at the trailing edge; negative where they diverge.
    pub edge_angle_deg: f64,
}

impl SectionMeasures {
    /// Measures the cubic spline through the contour at 1001 equidistant x; the nose is its
    /// foremost point.
    ///
    /// # Errors
    ///
    /// [`GeometryError::Contour`] for a contour that no spline goes through.
    pub fn of(airfoil: &Airfoil) -> Result<Self, GeometryError> {
        let curve = CubicSpline::through(&airfoil.points)?;
        let at = |k: usize| curve.point(curve.length() * (k as f64 / SAMPLES as f64));
        let points: Vec<[f64; 2]> = (0..=SAMPLES).map(at).collect();
        let nose = (0..=SAMPLES)
            .min_by(|&a, &b| points[a][0].total_cmp(&points[b][0]))
            .unwrap_or(SAMPLES / 2);
        let upper: Vec<[f64; 2]> = points[..=nose].iter().rev().copied().collect();
        let (first, last) = (points[0], points[SAMPLES]);
        let edge = [0, 1].map(|c| 0.5 * (first[c] + last[c]));
        let slope = (edge[1] - points[nose][1]) / (edge[0] - points[nose][0]);

        let mut measures = Self {
            thickness: 0.0,
            thickness_at: 0.0,
            camber: 0.0,
            camber_at: 0.0,
            edge_gap: (first[0] - last[0]).hypot(first[1] - last[1]),
            edge_angle_deg: edge_angle_deg(&curve),
        };
        for k in 0..=STATIONS {
            let x = k as f64 / STATIONS as f64;
            let Some((up, low)) = ordinate(&upper, x).zip(ordinate(&points[nose..], x)) else {
                continue;
            };
            let chord_line = points[nose][1] + slope * (x - points[nose][0]);
            let camber = 0.5 * (up + low) - chord_line;
            if up - low > measures.thickness {
                (measures.thickness, measures.thickness_at) = (up - low, x);
            }
            if camber.abs() > measures.camber.abs() {
                (measures.camber, measures.camber_at) = (camber, x);
            }
        }
        Ok(measures)
    }
}

/// y of a line of points from the nose aft where it first reaches x.
fn ordinate(line: &[[f64; 2]], x: f64) -> Option<f64> {
    let k = line.windows(2).position(|w| w[0][0] <= x && x <= w[1][0])?;
    let [[x0, y0], [x1, y1]] = [line[k], line[k + 1]];
    let weight = if x1 > x0 { (x - x0) / (x1 - x0) } else { 0.0 };
    Some(y0 + weight * (y1 - y0))
}

/// Angle from the direction of the upper surface at the edge to that of the lower, both aft.
fn edge_angle_deg(curve: &CubicSpline) -> f64 {
    let [ux, uy] = curve.derivative(0.0).map(|d| -d);
    let [lx, ly] = curve.derivative(curve.length());
    (ux * ly - uy * lx).atan2(ux * lx + uy * ly).to_degrees()
}
