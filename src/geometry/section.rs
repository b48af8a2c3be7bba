//! Measures a section and changes it: deflects a flap, opens the edge, turns the whole.

use super::turning::refined;
use super::vector::{along, angle, between, bisect, difference, distance, middle, unit};
use super::{Airfoil, BoundaryPoints, CubicSpline, GeometryError};

/// Points of the curve at which measures are taken.
const MEASURED: usize = 8000;
/// Stations along the chord.
const STATIONS: usize = 1000;
/// Points of the contour along the bend, at least.
const BEND_POINTS: f64 = 60.0;
/// The bend ends this far ahead of the trailing edge, chords.
const END: f64 = 0.005;
/// Intervals in which the bent mid line is integrated.
const STEPS: usize = 400;
/// Intervals in which the surfaces are searched for.
const SAMPLES: usize = 4000;
/// Smallest radius of the bent mid line, in thicknesses of the section at the hinge.
const RADIUS: f64 = 1.5;
/// Point about which a section is turned and moments are taken.
pub(crate) const PIVOT: [f64; 2] = [0.25, 0.0];

/// The placement of a section: its frame, in which its chord is 1, is scaled, rotated and translated.
///
/// ```text
/// p ↦ at + c (cos α x + sin α y, −sin α x + cos α y)
/// ```
///
/// with the chord c, the angle α, nose up, and the position `at` of the frame's origin, which is the nose of
/// the section. Lengths are in reference chords, or in the unit of the section's file.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Placement {
    /// The chord c.
    pub chord: f64,
    /// The angle α in degrees, nose up about the origin of the frame.
    pub angle: f64,
    /// Position of the origin of the frame.
    pub at: [f64; 2],
}

impl Placement {
    /// The placement that leaves a section in its frame.
    pub const NONE: Self = Self { chord: 1.0, angle: 0.0, at: [0.0; 2] };

    /// Maps a point of the frame.
    pub fn point(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = self.angle.to_radians().sin_cos();
        [
            self.at[0] + self.chord * (cos * x + sin * y),
            self.at[1] + self.chord * (cos * y - sin * x),
        ]
    }

    /// Maps points of the frame.
    pub fn points(&self, points: impl IntoIterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
        points.into_iter().map(|point| self.point(point)).collect()
    }
}

/// A plain flap.
///
/// The section is turned about the hinge, which lies midway between the surfaces, and all behind it with it.
/// Around the hinge the mid line bends with the curvature κ(u) = (δ/b)(1 − cos 2πu/b) over the length b = 2 δ
/// ρ, so its direction and curvature are continuous and its smallest radius is ρ; points keep their distance
/// from it. The surfaces stay as smooth as they were, and cannot cross while ρ is larger than half the
/// thickness.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Flap {
    /// Place of the hinge, chords.
    pub hinge: f64,
    /// Deflection in degrees, trailing edge down.
    pub angle: f64,
    /// ρ in chords; `None` means 1.5 thicknesses of the section at the hinge.
    pub radius: Option<f64>,
}

/// The bent mid line.
struct Bend {
    /// Deflection δ, radians, trailing edge down.
    angle: f64,
    length: f64,
    /// Distance of its ends from the hinge, along each straight part.
    reach: f64,
    /// Points at equal steps, beginning at its start.
    points: Vec<[f64; 2]>,
}

impl Bend {
    fn new(angle: f64, radius: f64) -> Self {
        let length = 2.0 * angle.abs() * radius;
        let mut bend = Self { angle, length, reach: 0.0, points: vec![[0.0; 2]] };
        let step = length / STEPS as f64;
        let mut at = [0.0; 2];
        for k in 0..STEPS {
            let from = k as f64 * step;
            // Simpson's rule; its relative error is below 1e-14 a step.
            let [a, b, c] = [0.0, 0.5, 1.0].map(|t| bend.direction(from + t * step));
            for k in 0..2 {
                at[k] += step / 6.0 * (a[k] + 4.0 * b[k] + c[k]);
            }
            bend.points.push(at);
        }
        // The two straight parts, extended, meet at the hinge.
        bend.reach = at[1] / -angle.sin();
        bend
    }

    fn turned(&self, u: f64) -> f64 {
        let t = (u / self.length).clamp(0.0, 1.0);
        self.angle * (t - (std::f64::consts::TAU * t).sin() / std::f64::consts::TAU)
    }

    fn direction(&self, u: f64) -> [f64; 2] {
        let (sin, cos) = self.turned(u).sin_cos();
        [cos, -sin]
    }

    /// New position of the point that lies `along` behind the hinge and `up` from the mid line.
    fn carry(&self, along: f64, up: f64) -> [f64; 2] {
        if along <= -self.reach {
            return [along, up];
        }
        let u = (along + self.reach) * self.length / (2.0 * self.reach);
        let (base, [tx, ty]) = if along >= self.reach {
            let end = self.direction(self.length);
            (end.map(|c| c * along), end)
        } else {
            let t = u / self.length * STEPS as f64;
            let k = (t as usize).min(STEPS - 1);
            let (a, b) = (self.points[k], self.points[k + 1]);
            let step = self.length / STEPS as f64;
            let (da, db) = (self.direction(k as f64 * step), self.direction((k + 1) as f64 * step));
            let t = t - k as f64;
            let (s, t2) = (1.0 - t, t * t);
            // Hermite's cubic between two points with given directions.
            let at = [0, 1].map(|c| {
                s * s * (1.0 + 2.0 * t) * a[c]
                    + t2 * (3.0 - 2.0 * t) * b[c]
                    + step * s * t * (s * da[c] - t * db[c])
            });
            ([at[0] - self.reach, at[1]], self.direction(u))
        };
        [base[0] - up * ty, base[1] + up * tx]
    }
}

impl Flap {
    /// Deflects the flap of a section of unit chord. A radius that is `None` is set to its default.
    ///
    /// # Errors
    /// [`GeometryError::FlapRadius`] if the bend is too tight or too long for the section,
    /// [`GeometryError::Contour`] if no spline can be made through the contour.
    pub fn deflect(&mut self, airfoil: &mut Airfoil) -> Result<(), GeometryError> {
        let curve = CubicSpline::through(&airfoil.points)?;
        let [upper, lower] = surfaces_at(&curve, self.hinge)?;
        let thickness = upper - lower;
        let radius = *self.radius.get_or_insert(RADIUS * thickness);
        let angle = self.angle.to_radians();
        if angle.abs() < 1e-9 {
            return Ok(());
        }
        let bend = Bend::new(angle, radius);
        // A bend that begins ahead of the nose is refused below.
        let ahead = surfaces_at(&curve, (self.hinge - bend.reach).max(END))?;
        let least = 0.525 * (ahead[0] - ahead[1]).max(thickness);
        let room = self.hinge.min(1.0 - END - self.hinge);
        if radius < least || bend.reach > room {
            let most = radius * room / bend.reach;
            return Err(GeometryError::FlapRadius { radius, least, most });
        }
        let hinge = [self.hinge, 0.5 * (upper + lower)];
        let carry = |s: f64| {
            let [x, y] = curve.point(s);
            let [dx, dy] = bend.carry(x - hinge[0], y - hinge[1]);
            [hinge[0] + dx, hinge[1] + dy]
        };
        airfoil.points = self.places(&curve, &bend).into_iter().map(carry).collect();
        airfoil.notes.push(format!(
            "The flap behind x = {} was turned by {} degrees; the mid line bends with a radius of \
             {radius:.3} chords at least.",
            self.hinge, self.angle
        ));
        Ok(())
    }

    /// Parameters of the points of the contour, and of additional points where it is bent.
    fn places(&self, curve: &CubicSpline, bend: &Bend) -> Vec<f64> {
        let mut places = Vec::new();
        for pair in curve.knots.windows(2) {
            let [from, to] = [pair[0], pair[1]].map(|s| curve.point(s)[0] - self.hinge);
            let off = from.min(to) > bend.reach || from.max(to) < -bend.reach;
            let longest = 2.0 * bend.reach / BEND_POINTS;
            let pieces = if off { 1.0 } else { ((pair[1] - pair[0]) / longest).ceil().max(1.0) };
            places.extend(&refined(pair, pieces as usize)[..pieces as usize]);
        }
        places.push(curve.length());
        places
    }
}

/// Ordinates of the upper and the lower surface at x: the first and the last crossing.
fn surfaces_at(curve: &CubicSpline, x: f64) -> Result<[f64; 2], GeometryError> {
    let place = |k: usize| curve.length() * (k as f64 / SAMPLES as f64);
    let behind = |s: f64| curve.point(s)[0] > x;
    let crossings = || (0..SAMPLES).filter(|&k| behind(place(k)) != behind(place(k + 1)));
    let ordinate = |k: usize| {
        let start = behind(place(k));
        let [a, b] = bisect(place(k), place(k + 1), |s| behind(s) == start);
        curve.point(0.5 * (a + b))[1]
    };
    match (crossings().next(), crossings().next_back()) {
        (Some(first), Some(last)) => Ok([ordinate(first), ordinate(last)]),
        _ => Err(GeometryError::Contour { reason: "it has no surfaces at the hinge" }),
    }
}

/// Distance of the two ends of a contour.
pub(crate) fn edge_gap(points: &[[f64; 2]]) -> f64 {
    points.first().zip(points.last()).map_or(0.0, |(first, last)| distance(*first, *last))
}

pub(super) fn foremost(points: &[[f64; 2]]) -> usize {
    (0..points.len()).min_by(|&a, &b| points[a][0].total_cmp(&points[b][0])).unwrap_or(0)
}

/// Shears both surfaces, linearly in x, until the ends of the contour are `thickness` apart.
pub fn set_edge_thickness(airfoil: &mut Airfoil, thickness: f64) {
    let gap = edge_gap(&airfoil.points);
    airfoil.notes.push(part_surfaces(&mut airfoil.points, gap, thickness));
}

/// Shears both surfaces from a `gap` of their ends, negative if they overlap, to this `thickness`; returns a note.
pub(super) fn part_surfaces(points: &mut [[f64; 2]], gap: f64, thickness: f64) -> String {
    let note = format!("The trailing edge was made {thickness} chords thick, from {gap:.3e}.");
    let [Some(&first), Some(&last)] = [points.first(), points.last()] else { return note };
    let up = if gap < 0.0 { difference(last, first) } else { difference(first, last) };
    let direction = if gap.abs() > 1e-9 { unit(up) } else { [0.0, 1.0] };
    let nose = foremost(points);
    let front = points[nose][0];
    for (k, point) in points.iter_mut().enumerate() {
        let (side, end) = if k <= nose { (0.5, first) } else { (-0.5, last) };
        let share = (point[0] - front) / (end[0] - front);
        *point = along(*point, direction, side * (thickness - gap) * share);
    }
    note
}

/// Distances from mirrored pairs, chords: up to the first a section is symmetric, up to the second exactly so.
const SYMMETRIC: [f64; 2] = [1e-4, 1e-12];

/// Replaces points that are nearly mirrored pairs about y = 0 by exact pairs, and returns a note about it.
pub(crate) fn symmetrise(points: &mut [[f64; 2]]) -> Option<String> {
    let last = points.len() - 1;
    let pair =
        |points: &[[f64; 2]], k: usize| (points[k], [points[last - k][0], -points[last - k][1]]);
    let off = |k: usize| {
        let (a, b) = pair(points, k);
        distance(a, b)
    };
    let most = (0..=last).map(off).fold(0.0, f64::max);
    if most > SYMMETRIC[0] || most <= SYMMETRIC[1] {
        return None;
    }
    for k in 0..=last / 2 {
        let (a, b) = pair(points, k);
        let [x, y] = middle(a, b);
        (points[k], points[last - k]) = ([x, y], [x, -y]);
    }
    Some(format!(
        "The points are off mirrored pairs by up to {most:.1e} chord; half of that moved them onto such."
    ))
}

/// Turns the points nose up about a point, such as (0.25, 0).
pub fn turn_about(pivot: [f64; 2], points: &mut BoundaryPoints, angle_deg: f64) {
    if angle_deg == 0.0 {
        return;
    }
    let (sin, cos) = angle_deg.to_radians().sin_cos();
    for point in &mut points.line {
        let [dx, dy] = difference(*point, pivot);
        *point = [pivot[0] + cos * dx + sin * dy, pivot[1] - sin * dx + cos * dy];
    }
}

/// Measures of a section of unit chord. Lengths are in chords, angles in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SectionMeasures {
    /// Largest y_upper − y_lower at one x.
    pub thickness: f64,
    /// Position in x of the largest thickness.
    pub thickness_at: f64,
    /// Largest distance in y, with its sign, of (y_upper + y_lower)/2 from the straight line between
    /// the nose and the middle of the trailing edge.
    pub camber: f64,
    /// Position in x of the largest camber.
    pub camber_at: f64,
    /// Distance of the two ends of the contour.
    pub edge_gap: f64,
    /// Angle between the two surfaces at the trailing edge; negative where they diverge.
    pub edge_angle_deg: f64,
}

impl SectionMeasures {
    /// Measures the cubic spline through the contour at 1001 equidistant x. The nose is its foremost point.
    ///
    /// # Errors
    /// [`GeometryError::Contour`] if no spline can be made through the contour.
    pub fn of(airfoil: &Airfoil) -> Result<Self, GeometryError> {
        let curve = CubicSpline::through(&airfoil.points)?;
        let at = |k: usize| curve.point(curve.length() * (k as f64 / MEASURED as f64));
        let points: Vec<[f64; 2]> = (0..=MEASURED).map(at).collect();
        let nose = foremost(&points);
        let upper: Vec<[f64; 2]> = points[..=nose].iter().rev().copied().collect();
        let (first, last) = (points[0], points[MEASURED]);
        let edge = middle(first, last);
        let slope = (edge[1] - points[nose][1]) / (edge[0] - points[nose][0]);

        let mut measures = Self {
            edge_gap: distance(first, last),
            edge_angle_deg: edge_angle_deg(&curve),
            ..Self::default()
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

/// y at which a line of points, followed from the nose aft, first reaches x.
fn ordinate(line: &[[f64; 2]], x: f64) -> Option<f64> {
    let k = line.windows(2).position(|w| w[0][0] <= x && x <= w[1][0])?;
    let (from, to) = (line[k], line[k + 1]);
    let weight = if to[0] > from[0] { (x - from[0]) / (to[0] - from[0]) } else { 0.0 };
    Some(between(from, to, weight)[1])
}

/// Angle from the direction of the upper surface at the edge to that of the lower, both pointing aft.
pub(crate) fn edge_angle_deg(curve: &CubicSpline) -> f64 {
    angle(curve.derivative(0.0).map(|d| -d), curve.derivative(curve.length())).to_degrees()
}
