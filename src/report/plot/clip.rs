//! Cutting lines and polygons to a window, and leaving out points that cannot be seen.

use crate::grid::vector::{along, between, bounds, difference, distance, foot, middle};

/// A rectangle with sides along the axes, `low ≤ high` in both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// The lowest x and y.
    pub low: [f64; 2],
    /// The highest x and y.
    pub high: [f64; 2],
}

impl Window {
    /// The smallest window around points, those with a coordinate that is not finite left out;
    /// empty (`low > high`) without any.
    pub fn around(points: impl IntoIterator<Item = [f64; 2]>) -> Self {
        let is_finite = |point: &[f64; 2]| point.iter().all(|c| c.is_finite());
        let [low, high] = bounds(points.into_iter().filter(is_finite));
        Self { low, high }
    }

    pub(super) fn about(centre: [f64; 2], size: [f64; 2]) -> Self {
        let half = size.map(|side| 0.5 * side);
        Self { low: difference(centre, half), high: along(centre, half, 1.0) }
    }

    pub(super) fn contains(&self, point: [f64; 2]) -> bool {
        (0..2).all(|d| self.low[d] <= point[d] && point[d] <= self.high[d])
    }

    pub(super) fn centre(&self) -> [f64; 2] {
        middle(self.low, self.high)
    }

    pub(super) fn size(&self) -> [f64; 2] {
        difference(self.high, self.low)
    }

    /// The part of a segment inside, after Liang and Barsky (1984),
    /// <https://doi.org/10.1145/357332.357333>: the segment is `a + t (b − a)`, and each side of
    /// the window bounds t from above or below.
    pub fn clip_segment(&self, a: [f64; 2], b: [f64; 2]) -> Option<[[f64; 2]; 2]> {
        if !(a[0] + a[1] + b[0] + b[1]).is_finite() {
            return None;
        }
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for d in 0..2 {
            let step = b[d] - a[d];
            for (distance, slope) in [(a[d] - self.low[d], -step), (self.high[d] - a[d], step)] {
                if slope < 0.0 {
                    enter = enter.max(distance / slope);
                } else if slope > 0.0 {
                    leave = leave.min(distance / slope);
                } else if distance < 0.0 {
                    return None;
                }
            }
        }
        (enter <= leave).then(|| [enter, leave].map(|t| between(a, b, t)))
    }

    /// The pieces of a line through points that lie inside.
    pub fn clip_line(&self, points: impl IntoIterator<Item = [f64; 2]>) -> Vec<Vec<[f64; 2]>> {
        let mut pieces: Vec<Vec<[f64; 2]>> = Vec::new();
        let mut points = points.into_iter();
        let Some(mut a) = points.next() else { return pieces };
        for b in points {
            if let Some([from, to]) = self.clip_segment(a, b) {
                match pieces.last_mut() {
                    // A piece goes on when it ended at a point of the line, not at the window.
                    Some(piece)
                        if same(from, a) && piece.last().is_some_and(|&end| same(end, a)) =>
                    {
                        piece.push(to);
                    }
                    _ => pieces.push(vec![from, to]),
                }
            }
            a = b;
        }
        pieces
    }

    /// The part of a polygon inside, after Sutherland and Hodgman (1974),
    /// <https://doi.org/10.1145/360767.360802>.
    pub fn clip_polygon(&self, polygon: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let mut kept = polygon.to_vec();
        for d in 0..2 {
            kept = clip_by_side(&kept, |p| p[d] - self.low[d]);
            kept = clip_by_side(&kept, |p| self.high[d] - p[d]);
        }
        kept
    }
}

/// Whether two points are one, bit for bit.
fn same(a: [f64; 2], b: [f64; 2]) -> bool {
    a.map(f64::to_bits) == b.map(f64::to_bits)
}

/// Keeps the side where `distance` is not negative.
fn clip_by_side(polygon: &[[f64; 2]], distance: impl Fn([f64; 2]) -> f64) -> Vec<[f64; 2]> {
    let mut kept = Vec::with_capacity(polygon.len() + 4);
    for (k, &b) in polygon.iter().enumerate() {
        let a = polygon[(k + polygon.len() - 1) % polygon.len()];
        let (distance_a, distance_b) = (distance(a), distance(b));
        if (distance_a < 0.0) != (distance_b < 0.0) {
            let t = distance_a / (distance_a - distance_b);
            kept.push(between(a, b, t));
        }
        if distance_b >= 0.0 {
            kept.push(b);
        }
    }
    kept
}

/// Leaves out points closer than `tolerance` to the line through the rest, after Douglas and
/// Peucker (1973), <https://doi.org/10.3138/FM57-6770-U75U-7727>. The ends stay.
pub fn simplify(points: &[[f64; 2]], tolerance: f64) -> Vec<[f64; 2]> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut keep = vec![false; points.len()];
    keep[0] = true;
    keep[points.len() - 1] = true;
    let mut open = vec![(0, points.len() - 1)];
    while let Some((first, last)) = open.pop() {
        let farthest = (first + 1..last)
            .map(|k| (k, distance(points[k], foot(points[k], [points[first], points[last]]))))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((k, distance)) = farthest
            && distance > tolerance
        {
            keep[k] = true;
            open.push((first, k));
            open.push((k, last));
        }
    }
    points.iter().zip(keep).filter_map(|(&point, keep)| keep.then_some(point)).collect()
}
