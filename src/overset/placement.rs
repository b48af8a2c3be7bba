//! The placement of an element.

use crate::grid::Grid;

/// The placement of an element: its frame, in which its chord is 1, is scaled, rotated and translated.
///
/// ```text
/// p ↦ at + c (cos α x + sin α y, −sin α x + cos α y)
/// ```
///
/// with the chord c, the angle α, nose up, and the position `at` of the frame's origin, which is the nose of
/// a section. Lengths are in reference chords.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Placement {
    /// The chord c of the element.
    pub chord: f64,
    /// The angle α in degrees, nose up about the origin of the frame.
    pub angle: f64,
    /// Position of the origin of the frame.
    pub at: [f64; 2],
}

impl Placement {
    /// The placement that leaves an element in its frame.
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

    /// Maps the nodes of a grid in place.
    pub fn place(&self, grid: &mut Grid) {
        for (x, y) in grid.x.iter_mut().zip(&mut grid.y) {
            [*x, *y] = self.point([*x, *y]);
        }
    }
}
