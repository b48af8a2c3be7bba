//! Geometry of a front of points.

/// The segments of a front: `unit[i]` and `length[i]` from point i to point i + 1. That of the last
/// point leads to the first one on a closed front, and repeats the one before on an open front.
pub(super) struct Segments {
    pub(super) unit: Vec<[f64; 2]>,
    pub(super) length: Vec<f64>,
    closed: bool,
}

impl Segments {
    pub(super) fn new(front: &[[f64; 2]], closed: bool) -> Self {
        let n = front.len();
        let (mut unit, mut length) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for i in 0..n {
            let (a, b) = match i + 1 {
                next if next < n => (front[i], front[next]),
                _ if closed => (front[i], front[0]),
                _ => (front[i - 1], front[i]),
            };
            let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
            let d = dx.hypot(dy);
            unit.push([dx / d, dy / d]);
            length.push(d);
        }
        Self { unit, length, closed }
    }

    pub(super) fn shortest(&self) -> f64 {
        self.length.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Number of the segment that ends at point i; the first point of an open front has its own.
    pub(super) fn before(&self, i: usize) -> usize {
        match i {
            0 if self.closed => self.unit.len() - 1,
            0 => 0,
            i => i - 1,
        }
    }

    /// Unit vectors of the segments before and after point i.
    pub(super) fn around(&self, i: usize) -> ([f64; 2], [f64; 2]) {
        (self.unit[self.before(i)], self.unit[i])
    }

    /// Outward unit bisector at point i. Where the front turns by more than 90° the sum of the
    /// two directions cancels, and their difference points along the bisector.
    pub(super) fn bisector_normal(&self, i: usize) -> [f64; 2] {
        let (u, v) = self.around(i);
        let normal = if u[0] * v[0] + u[1] * v[1] < 0.0 {
            let convex = if u[0] * v[1] - u[1] * v[0] < 0.0 { 1.0 } else { -1.0 };
            [convex * (u[0] - v[0]), convex * (u[1] - v[1])]
        } else {
            [-(u[1] + v[1]), u[0] + v[0]]
        };
        unit(normal)
    }
}

/// v/|v|.
pub(super) fn unit(v: [f64; 2]) -> [f64; 2] {
    let length = v[0].hypot(v[1]);
    [v[0] / length, v[1] / length]
}
