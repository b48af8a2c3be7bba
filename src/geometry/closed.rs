//! Smooth closed contours, without leading and trailing edge.

use super::surface::{boundary, check_points, check_turn};
use super::turning::{Turning, refined};
use super::vector::distance;
use super::{BoundaryPoints, CubicSpline, GeometryError};

/// Points repeated beyond both ends of the spline: the influence of an end condition decays by 3.7 a point.
const OVERLAP: usize = 28;
/// Samples of the direction between two points of the contour, at least.
const SAMPLES: usize = 6;
/// Samples of the direction for each cell of the wall, at least.
const SAMPLES_A_CELL: usize = 20;
/// Factor by which a limit on the turn that cannot be kept is raised, and the angle from which a wall is too coarse.
const RELAXATION: f64 = 1.15;
const LARGEST_TURN: f64 = 45.0;

/// A symmetry of a contour, or of a grid in its own frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Symmetry {
    /// About a line along x: node (ni − 1 − i, j) of a grid is at (x, −y) of node (i, j).
    UpDown,
    /// About a line along y: node (ni − 1 − i, j) of a grid is at (1 − x, y).
    LeftRight,
}

impl Symmetry {
    /// Index of the coordinate that changes its sign, and of the one that does not.
    const fn axes(self) -> [usize; 2] {
        match self {
            Self::LeftRight => [0, 1],
            Self::UpDown => [1, 0],
        }
    }

    /// The mirror image of a point across the line through `centre`.
    pub(crate) fn mirrored(self, mut point: [f64; 2], centre: [f64; 2]) -> [f64; 2] {
        let [across, _] = self.axes();
        point[across] = 2.0 * centre[across] - point[across];
        point
    }

    /// The point of the line of symmetry that is nearest to a point.
    pub(crate) fn on_line(self, mut point: [f64; 2], centre: [f64; 2]) -> [f64; 2] {
        let [across, _] = self.axes();
        point[across] = centre[across];
        point
    }
}

/// A smooth closed contour.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClosedContour {
    /// Name.
    pub name: String,
    /// Its points, clockwise, each once. A symmetric contour starts on the line of symmetry.
    pub points: Vec<[f64; 2]>,
    /// Centre of the far field about it.
    pub centre: [f64; 2],
    /// Its symmetry, if it has one.
    pub symmetry: Option<Symmetry>,
    /// Repairs made and data dropped while reading, one sentence each.
    pub notes: Vec<String>,
}

impl ClosedContour {
    /// Finds a symmetry about a line through the centre by points that lie in mirrored pairs: left–right if
    /// there is one, otherwise up–down. The contour then begins on that line, at its top or at its right end.
    ///
    /// Points closer than `tolerance` are one point.
    pub(super) fn find_symmetry(&mut self, tolerance: f64) -> Result<(), GeometryError> {
        if let Some(pairs) = self.pairs().into_iter().find(|pairs| pairs.by <= tolerance) {
            self.begin_on(&pairs)?;
            self.symmetry = Some(pairs.symmetry);
        }
        Ok(())
    }

    /// Rotates the points so that the first one, which is added if there is none, lies on the line of symmetry.
    fn begin_on(&mut self, pairs: &Pairs) -> Result<(), GeometryError> {
        let n = self.points.len();
        let [_, along] = pairs.symmetry.axes();
        // The contour crosses the line twice; both crossings are counted in half steps from point to point.
        let height = |half: usize| {
            self.points[half / 2 % n][along] + self.points[half.div_ceil(2) % n][along]
        };
        let crossings = [pairs.partner, pairs.partner + n];
        let [one, other] = crossings.map(height);
        let start = crossings[usize::from(other > one)];
        if start % 2 == 1 {
            let (curve, knots) = closed_spline(&self.points)?;
            let (a, b) = (start / 2 % n, start / 2 % n + 1);
            let between = curve.point(0.5 * (knots[a] + knots[b]));
            self.points.insert(b, pairs.symmetry.on_line(between, self.centre));
        }
        let n = self.points.len();
        self.points.rotate_left(start.div_ceil(2) % n);
        Ok(())
    }

    /// Refuses a contour without a symmetry, with the point that is farthest off the nearest one.
    pub(crate) fn check_symmetry(&self) -> Result<(), GeometryError> {
        if self.symmetry.is_some() {
            return Ok(());
        }
        let [one, other] = self.pairs();
        let Pairs { at, by, .. } = if other.by < one.by { other } else { one };
        Err(GeometryError::NotSymmetric { at, by })
    }

    fn pairs(&self) -> [Pairs; 2] {
        [Symmetry::LeftRight, Symmetry::UpDown].map(|symmetry| Pairs::of(self, symmetry))
    }

    /// Samples the curve at `pieces` points for each interval of the contour.
    ///
    /// # Errors
    /// [`GeometryError::Contour`] if no spline can be made through the contour.
    pub fn outline(&self, pieces: usize) -> Result<Vec<[f64; 2]>, GeometryError> {
        let (curve, knots) = closed_spline(&self.points)?;
        Ok(refined(&knots, pieces).into_iter().map(|s| curve.point(s)).collect())
    }
}

/// A closed cubic spline through points, and their parameters, the last one of the first point after a turn.
pub(super) fn closed_spline(points: &[[f64; 2]]) -> Result<(CubicSpline, Vec<f64>), GeometryError> {
    let n = points.len();
    if n < 3 {
        return Err(GeometryError::Contour { reason: "it has fewer than three points" });
    }
    let wrapped = (0..n + 1 + 2 * OVERLAP).map(|k| points[(k + n * OVERLAP - OVERLAP) % n]);
    let curve = CubicSpline::through(&wrapped.collect::<Vec<_>>())?;
    let knots = curve.knots[OVERLAP..=OVERLAP + n].to_vec();
    Ok((curve, knots))
}

/// Pairs of points across a line through the centre: point k, and point `partner` − k modulo their number.
struct Pairs {
    symmetry: Symmetry,
    partner: usize,
    /// The point farthest from the mirror image of its partner.
    at: [f64; 2],
    /// Its distance from that mirror image.
    by: f64,
}

impl Pairs {
    fn of(contour: &ClosedContour, symmetry: Symmetry) -> Self {
        let (points, n) = (&contour.points, contour.points.len());
        let off = |point, partner| distance(symmetry.mirrored(partner, contour.centre), point);
        let first = points.first().copied().unwrap_or_default();
        let nearer =
            |a: &usize, b: &usize| off(first, points[*a]).total_cmp(&off(first, points[*b]));
        let partner = (0..n).min_by(nearer).unwrap_or(0);
        let pair = |k: usize| (points[k], off(points[k], points[(partner + n - k) % n]));
        let worst = (0..n).map(pair).max_by(|(_, a), (_, b)| a.total_cmp(b));
        let (at, by) = worst.unwrap_or((first, f64::INFINITY));
        Self { symmetry, partner, at, by }
    }
}

/// Distributes `ni` points, the repeated one counted, over a smooth closed contour.
///
/// A closed cubic spline is made through the contour. Points are denser where it bends, so that no cell turns
/// by more than `max_turn_deg` (twice that where the contour is concave), and evenly spaced elsewhere. The
/// wall of a symmetric contour is symmetric to the last bit.
///
/// # Errors
/// [`GeometryError::WallPoints`] and [`GeometryError::Spacing`] for arguments out of range,
/// [`GeometryError::TooFewForTurns`], [`GeometryError::Contour`] if no spline can be made through the contour,
/// [`GeometryError::WallCrosses`].
pub fn distribute_closed(
    contour: &ClosedContour,
    ni: usize,
    max_turn_deg: f64,
) -> Result<BoundaryPoints, GeometryError> {
    check_points(ni)?;
    check_turn(max_turn_deg)?;
    let (curve, knots) = closed_spline(&contour.points)?;
    let pieces = (SAMPLES_A_CELL * ni).div_ceil(contour.points.len()).max(SAMPLES);
    let turning = Turning::along(refined(&knots, pieces), |s| curve.derivative(s));
    let places = turning
        .around(ni - 1, max_turn_deg.to_radians())
        .map_err(|cells| GeometryError::TooFewForTurns { ni, max_turn_deg, least: cells + 1 })?;
    let mut wall: Vec<[f64; 2]> = places.iter().map(|&s| curve.point(s)).collect();
    wall[ni - 1] = wall[0];
    if let Some(symmetry) = contour.symmetry {
        symmetrise(&mut wall, symmetry, contour.centre);
    }
    boundary(&contour.name, wall, 0)
}

/// [`distribute_closed`] with the smallest limit on the turn that `ni` points can keep, found by raising
/// `max_turn_deg` in steps of 15 %. Also returns that limit.
pub(crate) fn distribute_closed_relaxed(
    contour: &ClosedContour,
    ni: usize,
    max_turn_deg: f64,
) -> Result<(BoundaryPoints, f64), GeometryError> {
    let mut limit = max_turn_deg;
    loop {
        match distribute_closed(contour, ni, limit) {
            Err(GeometryError::TooFewForTurns { .. }) if limit < LARGEST_TURN => {
                limit *= RELAXATION;
            }
            points => return points.map(|points| (points, limit)),
        }
    }
}

/// Replaces points i and n − 1 − i by their mean, mirrored.
fn symmetrise(wall: &mut [[f64; 2]], symmetry: Symmetry, centre: [f64; 2]) {
    let [across, along] = symmetry.axes();
    let last = wall.len() - 1;
    for i in 0..=last / 2 {
        let (a, b) = (wall[i], wall[last - i]);
        // A point that is its own mirror image, such as the one at the seam, is placed on the line.
        let off = if i == 0 || i == last - i { 0.0 } else { 0.5 * (a[across] - b[across]) };
        let mean = 0.5 * (a[along] + b[along]);
        for (k, sign) in [(i, 1.0), (last - i, -1.0)] {
            wall[k][across] = centre[across] + sign * off;
            wall[k][along] = mean;
        }
    }
}
