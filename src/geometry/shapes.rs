//! Sections given by formulas: ellipses, Joukowski sections, and a fuselage with a low wing.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::closed::{ClosedContour, Symmetry};
use super::vector::{along, between, distance, dot};
use super::{Airfoil, GeometryError};

/// Points of ellipses and Joukowski sections. The spline through those of a circle is within 1e-11 of it.
const POINTS: usize = 2048;

/// An ellipse of unit chord about (0.5, 0); a circle at thickness 1.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Ellipse {
    /// Thickness, chords.
    pub thickness: f64,
}

impl Ellipse {
    /// Its contour, clockwise from (1, 0).
    pub fn contour(&self) -> ClosedContour {
        let at = |k: usize| {
            let (sin, cos) = (TAU * k as f64 / POINTS as f64).sin_cos();
            [0.5 + 0.5 * cos, -0.5 * self.thickness * sin]
        };
        ClosedContour {
            name: format!("ellipse of thickness {}", self.thickness),
            points: (0..POINTS).map(at).collect(),
            centre: [0.5, 0.0],
            symmetry: Some(Symmetry::UpDown),
            notes: Vec::new(),
        }
    }
}

/// A Joukowski section of unit chord: z = ζ + 1/ζ of a circle through ζ = 1.
///
/// Source: N. Joukowsky, *Über die Konturen der Tragflächen der Drachenflieger*, Z. Flugtech.
/// Motorluftsch. 1 (1910) 281–284.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Joukowski {
    /// Thickness t, chords, up to terms of higher order: the circle's centre lies at x = −k t/(1 − k t), k =
    /// 4/(3√3).
    pub thickness: f64,
    /// Camber f, chords, up to terms of higher order: the circle's centre lies at y = 2 f.
    pub camber: f64,
}

impl Joukowski {
    /// Centre of the circle.
    pub fn centre(&self) -> [f64; 2] {
        let share = 4.0 * self.thickness / 27_f64.sqrt();
        [-share / (1.0 - share), 2.0 * self.camber]
    }

    /// Point of the image of the circle at the angle θ from the trailing edge, before scaling.
    fn image(&self, theta: f64) -> [f64; 2] {
        let centre = self.centre();
        let (dx, dy) = (1.0 - centre[0], -centre[1]);
        // ζ moves around the centre, starting at 1.
        let (sin, cos) = theta.sin_cos();
        let zeta = [centre[0] + cos * dx - sin * dy, centre[1] + sin * dx + cos * dy];
        let square = zeta[0] * zeta[0] + zeta[1] * zeta[1];
        [zeta[0] * (1.0 + 1.0 / square), zeta[1] * (1.0 - 1.0 / square)]
    }

    /// Its contour, moved and scaled to 0 ≤ x ≤ 1.
    ///
    /// # Errors
    /// [`GeometryError::Contour`] if thickness and camber give no section.
    pub fn airfoil(&self) -> Result<Airfoil, GeometryError> {
        let theta = |k: usize| TAU * k as f64 / POINTS as f64;
        let image: Vec<[f64; 2]> = (0..=POINTS).map(|k| self.image(theta(k))).collect();
        let front = (1..POINTS).min_by(|&a, &b| image[a][0].total_cmp(&image[b][0])).unwrap_or(1);
        // The foremost point lies between its neighbours; a ternary search finds it.
        let (mut a, mut b) = (theta(front - 1), theta(front + 1));
        for _ in 0..80 {
            let (c, d) = (a + (b - a) / 3.0, b - (b - a) / 3.0);
            if self.image(c)[0] < self.image(d)[0] { b = d } else { a = c }
        }
        let (left, right) = (self.image(0.5 * (a + b))[0], 2.0);
        if image.iter().any(|p| p[0] > right + 1e-9) {
            return Err(GeometryError::Contour { reason: "so much camber bends it over its edge" });
        }
        let scale = |p: &[f64; 2]| [(p[0] - left) / (right - left), p[1] / (right - left)];
        let mut points: Vec<[f64; 2]> = image.iter().map(scale).collect();
        points[0] = [1.0, 0.0];
        points[POINTS] = [1.0, 0.0];
        let name = format!("Joukowski {} {}", self.thickness, self.camber);
        Ok(Airfoil { name, points, notes: Vec::new() })
    }
}

/// Samples of an arc for each radian, and of the half section along its length.
const PER_RADIAN: f64 = 60.0;
const PER_HALF: f64 = 1200.0;

/// Section at constant x of a round fuselage with a wing on each side, symmetric about x = 0.
///
/// The fuselage is a circle about (0, 0). The wing's thickness is linear from the plane of symmetry
/// to the tip, which is a circle tangent to both surfaces; circles of the fillet radius join them to
/// the fuselage. All lengths are in one unit; the contour is divided by the reference length.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct WingBody {
    /// Length that all others are divided by.
    pub reference_length: f64,
    /// Radius of the fuselage.
    pub fuselage_radius: f64,
    /// Distance of the tip from the plane of symmetry.
    pub half_span: f64,
    /// Height of the wing's mid line in the plane of symmetry.
    pub wing_height: f64,
    /// Thickness of the wing in the plane of symmetry.
    pub root_thickness: f64,
    /// Thickness at the position where the round tip begins.
    pub tip_thickness: f64,
    /// Dihedral of the mid line, degrees.
    pub dihedral: f64,
    /// Radius of the fillets.
    pub fillet_radius: f64,
}

struct Piece {
    length: f64,
    /// The angle by which the piece turns, radians.
    turn: f64,
    /// Its points for 0 ≤ t ≤ 1.
    at: Box<dyn Fn(f64) -> [f64; 2]>,
}

impl Piece {
    fn line(a: [f64; 2], b: [f64; 2]) -> Self {
        Self { length: distance(a, b), turn: 0.0, at: Box::new(move |t| between(a, b, t)) }
    }

    /// A circular arc that begins at an angle and sweeps over another, radians.
    fn arc(centre: [f64; 2], radius: f64, from: f64, sweep: f64) -> Self {
        let sweep = (from + sweep) - from;
        let at = move |t: f64| {
            let (sin, cos) = (from + t * sweep).sin_cos();
            along(centre, [cos, sin], radius)
        };
        Self { length: radius * sweep.abs(), turn: sweep.abs(), at: Box::new(at) }
    }

    /// Points from the start of the piece on, without its end.
    fn points(&self, spacing: f64) -> Vec<[f64; 2]> {
        let n = (self.length / spacing).max(PER_RADIAN * self.turn).ceil().max(4.0) as usize;
        (0..n).map(|k| (self.at)(k as f64 / n as f64)).collect()
    }
}

/// One surface of the wing: the line n · r = c with the direction d towards the tip.
struct SurfaceLine {
    direction: [f64; 2],
    normal: [f64; 2],
    offset: f64,
}

impl SurfaceLine {
    /// Centre of the circle of radius r that touches this line and, from outside, the circle of
    /// radius R about the origin: n · q = c + r and |q| = R + r.
    fn fillet(&self, fuselage: f64, radius: f64) -> Option<[f64; 2]> {
        let height = self.offset + radius;
        let along = ((fuselage + radius).powi(2) - height * height).sqrt();
        let centre = [0, 1].map(|c| height * self.normal[c] + along * self.direction[c]);
        (centre[0] > 0.0).then_some(centre)
    }
}

impl WingBody {
    /// The contour, clockwise from the top of the fuselage.
    ///
    /// # Errors
    /// [`GeometryError::WingBody`] if the parts do not fit together.
    pub fn contour(&self) -> Result<ClosedContour, GeometryError> {
        let pieces = self.pieces()?;
        let whole: f64 = pieces.iter().map(|piece| piece.length).sum();
        let mut right: Vec<[f64; 2]> =
            pieces.iter().flat_map(|piece| piece.points(whole / PER_HALF)).collect();
        right[0] = [0.0, self.fuselage_radius];
        let bottom = [0.0, -self.fuselage_radius];
        let left = right[1..].iter().rev().map(|[x, y]| [-x, *y]);
        let points = right.iter().copied().chain([bottom]).chain(left);
        Ok(ClosedContour {
            name: "wing-body section".into(),
            points: points.map(|p| p.map(|c| c / self.reference_length)).collect(),
            centre: [0.0; 2],
            symmetry: Some(Symmetry::LeftRight),
            notes: Vec::new(),
        })
    }

    /// The right half from the top of the fuselage to its bottom.
    fn pieces(&self) -> Result<[Piece; 7], GeometryError> {
        let refuse = |reason| Err(GeometryError::WingBody { reason });
        let (fuselage, radius) = (self.fuselage_radius, self.fillet_radius);
        let (sin, cos) = self.dihedral.to_radians().sin_cos();
        let (spanwise, up) = ([cos, sin], [-sin, cos]);
        let root = [0.0, self.wing_height];
        let length = self.half_span / cos;
        let (half_root, half_tip) = (0.5 * self.root_thickness, 0.5 * self.tip_thickness);
        if self.half_span <= fuselage + radius + self.tip_thickness {
            return refuse("half_span must exceed fuselage_radius + fillet_radius + tip_thickness");
        }
        let taper = taper(half_root, half_tip, length);
        let tip_radius = half_tip / taper.cos();
        let tip = along(root, spanwise, length - tip_radius);
        let (st, ct) = taper.sin_cos();
        let surface = |side: f64| {
            let direction = [0, 1].map(|c| ct * spanwise[c] - side * st * up[c]);
            let normal = [0, 1].map(|c| side * ct * up[c] + st * spanwise[c]);
            let offset = dot(normal, along(root, up, side * half_root));
            SurfaceLine { direction, normal, offset }
        };
        let (upper, lower) = (surface(1.0), surface(-1.0));
        let (Some(fillet_up), Some(fillet_low)) =
            (upper.fillet(fuselage, radius), lower.fillet(fuselage, radius))
        else {
            return refuse(
                "the wing's surfaces must meet the fuselage: choose a wing_height nearer to 0",
            );
        };
        let (high, low) = (polar(fillet_up), polar(fillet_low));
        let touch = |surface: &SurfaceLine, centre, by: f64| along(centre, surface.normal, by);
        let (tip_high, tip_low) = (polar(upper.normal), polar(lower.normal));
        Ok([
            Piece::arc([0.0; 2], fuselage, FRAC_PI_2, high - FRAC_PI_2),
            Piece::arc(fillet_up, radius, high + PI, turn(tip_high - high)),
            Piece::line(touch(&upper, fillet_up, -radius), touch(&upper, tip, tip_radius)),
            Piece::arc(tip, tip_radius, tip_high, -turn(tip_high - tip_low)),
            Piece::line(touch(&lower, tip, tip_radius), touch(&lower, fillet_low, -radius)),
            Piece::arc(fillet_low, radius, tip_low + PI, turn(low - tip_low)),
            Piece::arc([0.0; 2], fuselage, low, -FRAC_PI_2 - low),
        ])
    }
}

/// Angle of each surface against the mid line: tan τ = (h_r − h_t)/s, s the place where the round tip begins at this τ.
fn taper(half_root: f64, half_tip: f64, length: f64) -> f64 {
    (0..60).fold(0.0_f64, |taper, _| {
        let radius = half_tip / taper.cos();
        ((half_root - half_tip) / (length - radius + radius * taper.sin())).atan()
    })
}

fn polar(v: [f64; 2]) -> f64 {
    v[1].atan2(v[0])
}

/// An angle in [0, 2π).
fn turn(angle: f64) -> f64 {
    angle.rem_euclid(TAU)
}
