//! Does a polygon cross itself?

/// First pair of segments that properly cross, `(i, k)` with i < k; segment i runs from point i to
/// point i + 1.
///
/// With `closed` the segment from the last point to the first belongs to the polygon. Segments that
/// only touch (a cusp whose two sides share points) do not cross. A sweep along x keeps the work
/// near n log n for a contour: only segments that overlap in x are compared.
#[must_use]
pub(crate) fn first_crossing(points: &[[f64; 2]], closed: bool) -> Option<(usize, usize)> {
    let n = points.len();
    let count = if closed { n } else { n.saturating_sub(1) };
    let ends = |i: usize| (points[i], points[(i + 1) % n]);
    let left = |i: usize| ends(i).0[0].min(ends(i).1[0]);
    let right = |i: usize| ends(i).0[0].max(ends(i).1[0]);

    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&i, &k| left(i).total_cmp(&left(k)));
    let mut active: Vec<usize> = Vec::new();
    let mut found: Option<(usize, usize)> = None;
    for &i in &order {
        active.retain(|&k| right(k) >= left(i));
        for &k in &active {
            let pair = (i.min(k), i.max(k));
            if found.is_none_or(|f| pair < f) && cross(ends(i), ends(k)) {
                found = Some(pair);
            }
        }
        active.push(i);
    }
    found
}

/// Twice the signed area of the triangle abc, positive when counter-clockwise.
fn area2(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Whether each segment has its ends strictly on both sides of the other. Neighbours share a point,
/// so one of their areas is exactly 0 and they never count.
fn cross(s: ([f64; 2], [f64; 2]), t: ([f64; 2], [f64; 2])) -> bool {
    let straddles = |u: ([f64; 2], [f64; 2]), v: ([f64; 2], [f64; 2])| {
        let (a, b) = (area2(u.0, u.1, v.0), area2(u.0, u.1, v.1));
        (a < 0.0 && b > 0.0) || (a > 0.0 && b < 0.0)
    };
    straddles(s, t) && straddles(t, s)
}

#[cfg(test)]
mod tests {
    use super::first_crossing;

    const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];

    #[test]
    fn a_square_does_not_cross_itself() {
        assert_eq!(first_crossing(&SQUARE, true), None);
    }

    #[test]
    fn a_bow_tie_crosses_at_its_first_and_third_segment() {
        let bow_tie = [SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3]];

        assert_eq!(first_crossing(&bow_tie, false), Some((0, 2)));
    }

    #[test]
    fn the_closing_segment_counts_only_in_a_closed_polygon() {
        let points = [[0.0, 0.0], [2.0, 0.0], [1.0, -1.0], [1.0, 1.0]];
        let closing = [[1.0, -1.0], [1.0, 1.0], [0.0, 0.0], [2.0, 0.0]];

        assert_eq!(first_crossing(&points, false), Some((0, 2)));
        assert_eq!(first_crossing(&closing[1..], true), None);
        assert_eq!(
            first_crossing(&[[1.0, -1.0], [0.0, 0.5], [2.0, 0.4], [1.0, 1.0]], true),
            Some((1, 3))
        );
    }

    #[test]
    fn touching_sides_do_not_cross() {
        let cusp = [[1.0, 0.0], [0.9, 0.0], [0.0, 0.1], [0.0, -0.1], [0.9, 0.0], [1.0, 0.0]];

        assert_eq!(first_crossing(&cusp, false), None);
    }
}
