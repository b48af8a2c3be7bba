//! Smooth closed contours, without leading and trailing edge.

use super::crossing::first_crossing;
use super::turning::Turning;
use super::{BoundaryPoints, CubicSpline, GeometryError};

/// Points of the contour repeated beyond both ends, so that the spline does not know its ends: what
/// an end condition changes falls by 3.7 from point to point.
const OVERLAP: usize = 28;
/// Samples of the direction between two points of the contour, at least.
const SAMPLES: usize = 6;
/// Samples of the direction for each cell of the wall, at least.
const SAMPLES_A_CELL: usize = 20;
/// A wall of fewer points is none.
const LEAST_NI: usize = 17;

/// A symmetry of a contour that its grid is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mirror {
    /// x − `centre` changes its sign.
    LeftRight,
    /// y − `centre` changes its sign.
    UpDown,
}

/// A smooth closed contour.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedContour {
    /// Name.
    pub name: String,
    /// Its points, clockwise, each once. A symmetric contour starts on the line of symmetry.
    pub points: Vec<[f64; 2]>,
    /// Centre of the far field about it.
    pub centre: [f64; 2],
    /// Its symmetry, if it has one.
    pub mirror: Option<Mirror>,
    /// What was repaired or dropped while reading, one sentence each.
    pub notes: Vec<String>,
}

impl ClosedContour {
    /// A closed cubic spline through the points.
    fn curve(&self) -> Result<Ring, GeometryError> {
        let n = self.points.len();
        if n < 3 {
            return Err(GeometryError::Contour { reason: "it has fewer than three points" });
        }
        let wrapped =
            (0..n + 1 + 2 * OVERLAP).map(|k| self.points[(k + n * OVERLAP - OVERLAP) % n]);
        let curve = CubicSpline::through(&wrapped.collect::<Vec<_>>())?;
        let knots: Vec<f64> = (OVERLAP..=OVERLAP + n).map(|k| curve.knot(k)).collect();
        Ok(Ring { curve, knots })
    }

    /// Points of the curve, `pieces` between neighbouring points of the contour.
    ///
    /// # Errors
    ///
    /// [`GeometryError::Contour`] for a contour that no spline goes through.
    pub fn outline(&self, pieces: usize) -> Result<Vec<[f64; 2]>, GeometryError> {
        let ring = self.curve()?;
        Ok(ring.samples(pieces).into_iter().map(|s| ring.curve.point(s)).collect())
    }
}

/// A closed curve: one round of a spline.
struct Ring {
    curve: CubicSpline,
    /// Parameters of the points; the last one is a round after the first.
    knots: Vec<f64>,
}

impl Ring {
    fn samples(&self, pieces: usize) -> Vec<f64> {
        let between = |w: &[f64]| {
            let (a, b) = (w[0], w[1]);
            (0..pieces).map(move |k| a + (b - a) * (k as f64 / pieces as f64))
        };
        let end = self.knots.last().copied();
        self.knots.windows(2).flat_map(between).chain(end).collect()
    }
}

/// Distributes `ni` points, the repeated one counted, over a smooth closed contour.
///
/// A closed cubic spline goes through the contour; points gather where it bends, so that no cell
/// turns by more than `max_turn_deg`, or twice that where it is concave, and are even elsewhere. The wall of a symmetric contour is
/// symmetric to the last bit.
///
/// # Errors
///
/// [`GeometryError::WallPoints`], [`GeometryError::TooFewForTurns`], [`GeometryError::Contour`] for
/// a contour that no spline goes through, [`GeometryError::WallCrosses`].
pub fn distribute_closed(
    contour: &ClosedContour,
    ni: usize,
    max_turn_deg: f64,
) -> Result<BoundaryPoints, GeometryError> {
    let most = super::surface::MOST_NI;
    if !(LEAST_NI..=most).contains(&ni) {
        return Err(GeometryError::WallPoints { ni, least: LEAST_NI, most });
    }
    let ring = contour.curve()?;
    let pieces = (SAMPLES_A_CELL * ni).div_ceil(contour.points.len()).max(SAMPLES);
    let turning = Turning::along(ring.samples(pieces), |s| ring.curve.derivative(s));
    let places = turning
        .around(ni - 1, max_turn_deg.to_radians())
        .map_err(|cells| GeometryError::TooFewForTurns { ni, max_turn_deg, least: cells + 1 })?;
    let mut wall: Vec<[f64; 2]> = places.iter().map(|&s| ring.curve.point(s)).collect();
    wall[ni - 1] = wall[0];
    if let Some(mirror) = contour.mirror {
        symmetrise(&mut wall, mirror, contour.centre);
    }
    if let Some((k, _)) = first_crossing(&wall, false) {
        let [x, y] = wall[k];
        return Err(GeometryError::WallCrosses { airfoil: contour.name.clone(), x, y });
    }
    let (x, y) = wall.into_iter().map(|[x, y]| (x, y)).unzip();
    Ok(BoundaryPoints { x, y, base: false, wake: 0 })
}

/// Replaces points i and n − 1 − i by their mean, mirrored.
fn symmetrise(wall: &mut [[f64; 2]], mirror: Mirror, centre: [f64; 2]) {
    let across = match mirror {
        Mirror::LeftRight => 0,
        Mirror::UpDown => 1,
    };
    let along = 1 - across;
    let last = wall.len() - 1;
    for i in 0..=last / 2 {
        let (a, b) = (wall[i], wall[last - i]);
        // A point that is its own mirror image, the seam's among them, lies on the line.
        let off = if i == 0 || i == last - i { 0.0 } else { 0.5 * (a[across] - b[across]) };
        let mean = 0.5 * (a[along] + b[along]);
        for (k, sign) in [(i, 1.0), (last - i, -1.0)] {
            wall[k][across] = centre[across] + sign * off;
            wall[k][along] = mean;
        }
    }
}
