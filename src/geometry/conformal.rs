//! Sections that are conformal images of a circle.

use std::f64::consts::TAU;

use super::closed::{ClosedContour, Mirror};
use super::{Airfoil, GeometryError};

/// Points of the contours; their splines are within 1e-11 of a circle.
const POINTS: usize = 2048;

/// An ellipse of unit chord about (0.5, 0); a circle at thickness 1.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Ellipse {
    /// Thickness, chords.
    pub thickness: f64,
}

impl Ellipse {
    /// Its contour, clockwise from (1, 0).
    #[must_use]
    pub fn contour(&self) -> ClosedContour {
        let at = |k: usize| {
            let (sin, cos) = (TAU * k as f64 / POINTS as f64).sin_cos();
            [0.5 + 0.5 * cos, -0.5 * self.thickness * sin]
        };
        ClosedContour {
            name: format!("ellipse of thickness {}", self.thickness),
            points: (0..POINTS).map(at).collect(),
            centre: [0.5, 0.0],
            mirror: Some(Mirror::UpDown),
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
    /// Thickness t, chords, but for terms of higher order: the circle's centre lies at
    /// x = −k t/(1 − k t), k = 4/(3√3).
    pub thickness: f64,
    /// Camber f, chords, but for terms of higher order: the circle's centre lies at y = 2 f.
    pub camber: f64,
}

impl Joukowski {
    /// Centre of the circle.
    #[must_use]
    pub fn centre(&self) -> [f64; 2] {
        let share = 4.0 * self.thickness / 27_f64.sqrt();
        [-share / (1.0 - share), 2.0 * self.camber]
    }

    /// Point of the image of the circle at the angle θ from the trailing edge, not yet scaled.
    fn image(&self, theta: f64) -> [f64; 2] {
        let centre = self.centre();
        let (dx, dy) = (1.0 - centre[0], -centre[1]);
        // ζ turns about the centre, starting at 1.
        let (sin, cos) = theta.sin_cos();
        let zeta = [centre[0] + cos * dx - sin * dy, centre[1] + sin * dx + cos * dy];
        let square = zeta[0] * zeta[0] + zeta[1] * zeta[1];
        [zeta[0] * (1.0 + 1.0 / square), zeta[1] * (1.0 - 1.0 / square)]
    }

    /// Its contour, moved and scaled to 0 ≤ x ≤ 1.
    ///
    /// # Errors
    ///
    /// [`GeometryError::Contour`] where thickness and camber give no section.
    pub fn airfoil(&self) -> Result<Airfoil, GeometryError> {
        let theta = |k: usize| TAU * k as f64 / POINTS as f64;
        let image: Vec<[f64; 2]> = (0..=POINTS).map(|k| self.image(theta(k))).collect();
        let front = (1..POINTS).min_by(|&a, &b| image[a][0].total_cmp(&image[b][0])).unwrap_or(1);
        // The foremost point lies between its neighbours; thirds find it.
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
        Ok(Airfoil {
            name: format!("Joukowski {} {}", self.thickness, self.camber),
            points,
            notes: Vec::new(),
        })
    }
}
