//! Points and vectors of the plane.

/// a − b.
pub fn less(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

/// |b − a|.
pub fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (b[0] - a[0]).hypot(b[1] - a[1])
}

/// Angle from one direction to another, radians, positive to the left.
pub fn turn(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] * b[1] - a[1] * b[0]).atan2(a[0] * b[0] + a[1] * b[1])
}

/// Angle by which a line turns at each of its inner points, radians, positive to the left.
pub fn turns(line: &[[f64; 2]]) -> Vec<f64> {
    line.windows(3).map(|at| turn(less(at[1], at[0]), less(at[2], at[1]))).collect()
}

/// Angle by which a line whose last point repeats the first turns at each of its points, radians, positive to the left.
pub fn closed_turns(line: &[[f64; 2]]) -> Vec<f64> {
    turns(&[&line[line.len() - 2..line.len() - 1], line].concat())
}

/// The wall turned nose up about the quarter of its unit chord.
pub fn twisted(wall: &[[f64; 2]], degrees: f64) -> Vec<[f64; 2]> {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let turn = |&[x, y]: &[f64; 2]| [0.25 + cos * (x - 0.25) + sin * y, cos * y - sin * (x - 0.25)];
    wall.iter().map(turn).collect()
}

/// Distances from each point to the next.
pub fn lengths(line: &[[f64; 2]]) -> Vec<f64> {
    line.windows(2).map(|ends| distance(ends[0], ends[1])).collect()
}

pub fn largest_growth(lengths: &[f64]) -> f64 {
    lengths.windows(2).map(|w| (w[1] / w[0]).max(w[0] / w[1])).fold(1.0, f64::max)
}
