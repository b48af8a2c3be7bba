//! Geometry of a closed front of points.

/// The segments of a closed front: `unit[i]` and `length[i]` from point i to point i + 1.
pub(super) struct Segments {
    pub(super) unit: Vec<[f64; 2]>,
    pub(super) length: Vec<f64>,
}

impl Segments {
    pub(super) fn new(front: &[[f64; 2]]) -> Self {
        let n = front.len();
        let (mut unit, mut length) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for (i, a) in front.iter().enumerate() {
            let b = front[if i + 1 == n { 0 } else { i + 1 }];
            let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
            let d = dx.hypot(dy);
            unit.push([dx / d, dy / d]);
            length.push(d);
        }
        Self { unit, length }
    }

    pub(super) fn shortest(&self) -> f64 {
        self.length.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Unit vectors of the segments before and after point i.
    pub(super) fn around(&self, i: usize) -> ([f64; 2], [f64; 2]) {
        let before = if i == 0 { self.unit.len() - 1 } else { i - 1 };
        (self.unit[before], self.unit[i])
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
