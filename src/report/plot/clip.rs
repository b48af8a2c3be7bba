//! Cutting lines and polygons to a window, and leaving out points nobody can see.

/// A rectangle with sides along the axes, `low ≤ high` in both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Window {
    pub(super) low: [f64; 2],
    pub(super) high: [f64; 2],
}

impl Window {
    /// The smallest window around points, those with a coordinate that is not finite left out;
    /// empty (`low > high`) without any.
    pub(super) fn around(points: impl IntoIterator<Item = [f64; 2]>) -> Self {
        let empty = Self { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] };
        let finite = points.into_iter().filter(|point| point.iter().all(|c| c.is_finite()));
        finite.fold(empty, |window, point| Self {
            low: [window.low[0].min(point[0]), window.low[1].min(point[1])],
            high: [window.high[0].max(point[0]), window.high[1].max(point[1])],
        })
    }

    pub(super) fn contains(&self, point: [f64; 2]) -> bool {
        (0..2).all(|d| self.low[d] <= point[d] && point[d] <= self.high[d])
    }

    pub(super) fn centre(&self) -> [f64; 2] {
        [0.5 * (self.low[0] + self.high[0]), 0.5 * (self.low[1] + self.high[1])]
    }

    pub(super) fn size(&self) -> [f64; 2] {
        [self.high[0] - self.low[0], self.high[1] - self.low[1]]
    }

    /// The part of a segment inside, after Liang and Barsky (1984),
    /// <https://doi.org/10.1145/357332.357333>: the segment is `a + t (b − a)`, and each side of
    /// the window bounds t from above or below.
    pub(super) fn clip_segment(&self, a: [f64; 2], b: [f64; 2]) -> Option<[[f64; 2]; 2]> {
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
        let at = |t: f64| [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])];
        (enter <= leave).then(|| [at(enter), at(leave)])
    }

    /// The pieces of a line through points that lie inside.
    pub(super) fn clip_line(
        &self,
        points: impl IntoIterator<Item = [f64; 2]>,
    ) -> Vec<Vec<[f64; 2]>> {
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
    pub(super) fn clip_polygon(&self, polygon: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let mut kept = polygon.to_vec();
        for (d, bound, sign) in [
            (0, self.low[0], 1.0),
            (0, self.high[0], -1.0),
            (1, self.low[1], 1.0),
            (1, self.high[1], -1.0),
        ] {
            kept = clip_by_side(&kept, |p| sign * (p[d] - bound));
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
            kept.push([a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]);
        }
        if distance_b >= 0.0 {
            kept.push(b);
        }
    }
    kept
}

/// Leaves out points closer than `tolerance` to the line through the rest, after Douglas and
/// Peucker (1973), <https://doi.org/10.3138/FM57-6770-U75U-7727>. The ends stay.
pub(super) fn simplify(points: &[[f64; 2]], tolerance: f64) -> Vec<[f64; 2]> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut keep = vec![false; points.len()];
    keep[0] = true;
    keep[points.len() - 1] = true;
    let mut open = vec![(0, points.len() - 1)];
    while let Some((first, last)) = open.pop() {
        let farthest = (first + 1..last)
            .map(|k| (k, distance_to_segment(points[k], points[first], points[last])))
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

fn distance_to_segment(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let along = [b[0] - a[0], b[1] - a[1]];
    let to_p = [p[0] - a[0], p[1] - a[1]];
    let length_squared = along[0] * along[0] + along[1] * along[1];
    let t = if length_squared > 0.0 {
        ((to_p[0] * along[0] + to_p[1] * along[1]) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (to_p[0] - t * along[0]).hypot(to_p[1] - t * along[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Window = Window { low: [0.0, 0.0], high: [1.0, 1.0] };

    #[test]
    fn a_segment_is_cut_at_both_sides() {
        let cut = UNIT.clip_segment([-1.0, 0.5], [3.0, 0.5]);
        assert_eq!(cut, Some([[0.0, 0.5], [1.0, 0.5]]));
    }

    #[test]
    fn a_segment_beside_the_window_vanishes() {
        assert_eq!(UNIT.clip_segment([-1.0, 0.5], [0.5, 3.0]), None);
        assert_eq!(UNIT.clip_segment([2.0, 0.0], [2.0, 1.0]), None);
        assert_eq!(UNIT.clip_segment([f64::NAN, 0.0], [2.0, 1.0]), None);
    }

    #[test]
    fn a_line_leaving_and_returning_gives_two_pieces() {
        let pieces = UNIT.clip_line([[0.5, 0.2], [2.0, 0.2], [2.0, 0.8], [0.5, 0.8], [0.2, 0.8]]);
        assert_eq!(
            pieces,
            [vec![[0.5, 0.2], [1.0, 0.2]], vec![[1.0, 0.8], [0.5, 0.8], [0.2, 0.8]]]
        );
    }

    #[test]
    fn a_polygon_around_the_window_becomes_the_window() {
        let around = [[-1.0, -1.0], [2.0, -1.0], [2.0, 2.0], [-1.0, 2.0]];
        let kept = UNIT.clip_polygon(&around);
        assert_eq!(Window::around(kept.iter().copied()), UNIT);
        assert_eq!(kept.len(), 4);
    }

    #[test]
    fn points_on_a_straight_line_are_left_out() {
        let line = [[0.0, 0.0], [1.0, 0.01], [2.0, 0.0], [3.0, 0.0], [3.0, 5.0]];
        assert_eq!(simplify(&line, 0.1), [[0.0, 0.0], [3.0, 0.0], [3.0, 5.0]]);
    }
}
