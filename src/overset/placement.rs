//! Where an element stands.

use crate::grid::Grid;

/// The place of an element: its frame, in which its chord is 1, scaled, turned and moved.
///
/// ```text
/// p ↦ at + c (cos α x + sin α y, −sin α x + cos α y)
/// ```
///
/// with the chord c, the angle α, nose up, and the place `at` of the frame's origin, where the nose of a
/// section is. Lengths are in reference chords.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Placement {
    /// The chord c of the element.
    pub chord: f64,
    /// The angle α in degrees, nose up about the origin of the frame.
    pub angle: f64,
    /// Where the origin of the frame is.
    pub at: [f64; 2],
}

impl Placement {
    /// The placement of an element that stays in its frame.
    pub const NONE: Self = Self { chord: 1.0, angle: 0.0, at: [0.0; 2] };

    /// Where a point of the frame is.
    pub fn point(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = self.angle.to_radians().sin_cos();
        [
            self.at[0] + self.chord * (cos * x + sin * y),
            self.at[1] + self.chord * (cos * y - sin * x),
        ]
    }

    /// Where points of the frame are.
    pub fn points(&self, points: impl IntoIterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
        points.into_iter().map(|point| self.point(point)).collect()
    }

    /// Places the nodes of a grid of the frame.
    pub fn place(&self, grid: &mut Grid) {
        for (x, y) in grid.x.iter_mut().zip(&mut grid.y) {
            [*x, *y] = self.point([*x, *y]);
        }
    }
}
