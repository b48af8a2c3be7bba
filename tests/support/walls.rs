//! Walls given by formulas, so that these tests need no geometry layer.

use std::f64::consts::{PI, TAU};

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::initial_grid;
use gridgen::geometry::open_normals;
use gridgen::grid::initial::{InitialGrid, InitialMethod, InitialSettings, Outer, Outline};
use gridgen::grid::{Seam, Topology};

/// Points of a closed wall, clockwise from the trailing edge, with outward normals. The last
/// point repeats the first.
#[derive(Clone)]
pub struct WallPoints {
    pub line: Vec<[f64; 2]>,
    pub normals: Vec<[f64; 2]>,
    pub topology: Topology,
}

/// Intervals at the trailing and at the leading edge, in chords.
pub const TRAILING: f64 = 4e-3;
pub const LEADING: f64 = 3e-3;
/// Radius of the outer circle, in chords.
pub const FAR_FIELD: f64 = 30.0;

impl WallPoints {
    /// A NACA 4-digit section with a closed edge, `ni` points, spaced by a two-sided tanh with
    /// the intervals [`TRAILING`] and [`LEADING`]. Its seam is held.
    pub fn naca(code: &str, ni: usize) -> Self {
        let digit = |range: std::ops::Range<usize>| -> f64 { code[range].parse().unwrap() };
        let section = Naca {
            camber: digit(0..1) / 100.0,
            position: digit(1..2) / 10.0,
            thickness: digit(2..4) / 100.0,
        };
        let (lower, upper) = ((ni - 1) / 2, ni - 1 - (ni - 1) / 2);
        let mut points = section.surface(-1.0, lower);
        points.reverse();
        points.pop();
        points.extend(section.surface(1.0, upper));
        points[0] = [1.0, 0.0];
        let last = points.len() - 1;
        points[last] = points[0];
        Self::from_points(points, Seam::Held)
    }

    /// An ellipse of unit chord with this thickness about (0.5, 0), with equal steps of its parameter. Its
    /// seam is periodic.
    pub fn ellipse(thickness: f64, ni: usize) -> Self {
        let at = |i: usize| {
            let (sin, cos) = (TAU * i as f64 / (ni - 1) as f64).sin_cos();
            [0.5 + 0.5 * cos, -0.5 * thickness * sin]
        };
        let mut points: Vec<[f64; 2]> = (0..ni - 1).map(at).collect();
        points.push(points[0]);
        Self::from_points(points, Seam::Periodic)
    }

    fn from_points(points: Vec<[f64; 2]>, seam: Seam) -> Self {
        let n = points.len() - 1;
        let mut normals: Vec<[f64; 2]> = (0..n)
            .map(|i| normal(points[(i + n - 1) % n], points[i], points[(i + 1) % n]))
            .collect();
        normals.push(normals[0]);
        Self { line: points, normals, topology: Topology::O(seam) }
    }

    /// The section with a straight cut of `wake` cells on each side, which grow by a constant ratio from
    /// [`TRAILING`] to an outflow at the far field.
    pub fn naca_with_wake(code: &str, ni: usize, wake: usize) -> Self {
        let section = Self::naca(code, ni - 2 * wake);
        let cut = &geometric_layers(wake + 1, TRAILING, FAR_FIELD)[1..];
        let side = || cut.iter().map(|s| [1.0 + s, 0.0]);
        let line: Vec<[f64; 2]> = side().rev().chain(section.line).chain(side()).collect();
        Self { normals: open_normals(&line), line, topology: Topology::C { wake } }
    }

    /// The settings of the default case.
    pub fn settings(&self, method: InitialMethod) -> InitialSettings {
        let [dissipation, volume_smoothing, spread] =
            if self.topology.closed() { [0.2, 0.3, 10.0] } else { [0.1, 0.05, 0.0] };
        InitialSettings { method, dissipation, volume_smoothing, spread, margin: 0 }
    }

    /// The data of an initial grid with these layers and outer boundary.
    pub fn outline<'a>(&'a self, layers: &'a [f64], outer: Outer<'a>) -> Outline<'a> {
        Outline {
            points: &self.line,
            normals: &self.normals,
            layers,
            outer,
            heights: None,
            topology: self.topology,
        }
    }

    /// The initial grid on this wall: `nj` layers, geometric from `first_cell` to [`FAR_FIELD`].
    pub fn initial(&self, method: InitialMethod, nj: usize, first_cell: f64) -> InitialGrid {
        let layers = geometric_layers(nj, first_cell, FAR_FIELD);
        let outline = self.outline(&layers, Outer::Circle(FAR_FIELD));
        initial_grid(&CpuBackend, &outline, &self.settings(method)).unwrap()
    }
}

/// Outward normal at `b` between `a` and `c`: of the parabola through the three points, or of the bisector if
/// the wall turns by more than 20°.
fn normal(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> [f64; 2] {
    let (before, after) = ([b[0] - a[0], b[1] - a[1]], [c[0] - b[0], c[1] - b[1]]);
    let (la, lb) = (before[0].hypot(before[1]), after[0].hypot(after[1]));
    let u = before.map(|d| d / la);
    let v = after.map(|d| d / lb);
    let (cross, dot) = (u[0] * v[1] - u[1] * v[0], u[0] * v[0] + u[1] * v[1]);
    let (wu, wv) = if cross.atan2(dot).abs() > PI / 9.0 { (1.0, 1.0) } else { (lb, la) };
    let mut n = [-(wu * u[1] + wv * v[1]), wu * u[0] + wv * v[0]];
    if dot < 0.0 {
        let sign = if cross < 0.0 { 1.0 } else { -1.0 };
        n = [sign * (u[0] - v[0]), sign * (u[1] - v[1])];
    }
    let length = n[0].hypot(n[1]);
    n.map(|c| c / length)
}

/// The last number that is not `above`, between one that is not and one that is.
pub(crate) fn bisected(mut low: f64, mut high: f64, above: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if above(middle) { high = middle } else { low = middle }
    }
    low
}

/// `n` distances from 0 to `end`, with the first interval `first` and a constant ratio.
pub fn geometric_layers(n: usize, first: f64, end: f64) -> Vec<f64> {
    let intervals = n - 1;
    let length = |ratio: f64| first * (intervals as f64 * ratio.ln()).exp_m1() / (ratio - 1.0);
    let low = bisected(1.0 + 1e-12, 100.0, |ratio| length(ratio) > end);
    let mut layers = vec![0.0];
    let mut interval = first;
    for j in 0..intervals {
        layers.push(layers[j] + interval);
        interval *= low;
    }
    layers
}

/// `n` points from 0 to `end` with the intervals `first` and `last` at its ends (Vinokur 1983,
/// doi:10.1016/0021-9991(83)90065-7, to first order).
fn two_sided_tanh(n: usize, first: f64, last: f64, end: f64) -> Vec<f64> {
    let ratio = (last / first).sqrt();
    let stretch = end / ((n - 1) as f64 * (first * last).sqrt());
    let low = bisected(1e-6, 200.0, |middle| middle.sinh() / middle > stretch);
    (0..n)
        .map(|k| {
            let e = k as f64 / (n - 1) as f64;
            let u = 0.5 * (1.0 + (low * (e - 0.5)).tanh() / (0.5 * low).tanh());
            end * u / (ratio + (1.0 - ratio) * u)
        })
        .collect()
}

/// Half the thickness of a NACA section of four digits with a closed edge.
pub fn half_thickness(x: f64, thickness: f64) -> f64 {
    let polynomial = 0.2969 * x.sqrt() - 0.126 * x - 0.3516 * x.powi(2) + 0.2843 * x.powi(3);
    5.0 * thickness * (polynomial - 0.1036 * x.powi(4))
}

/// A NACA 4-digit section (Jacobs, Ward and Pinkerton 1933, NACA report 460), with the
/// coefficient −0.1036 that closes the edge.
struct Naca {
    camber: f64,
    position: f64,
    thickness: f64,
}

impl Naca {
    /// Point of a surface (side 1: upper, −1: lower) at x = ½ (1 − cos β) of the camber line.
    fn point(&self, beta: f64, side: f64) -> [f64; 2] {
        let (m, p) = (self.camber, self.position);
        let x = 0.5 * (1.0 - beta.cos());
        let y = half_thickness(x, self.thickness);
        let (line, slope) = if m == 0.0 {
            (0.0, 0.0)
        } else if x < p {
            (m / (p * p) * (2.0 * p * x - x * x), 2.0 * m / (p * p) * (p - x))
        } else {
            let q = (1.0 - p) * (1.0 - p);
            (m / q * (1.0 - 2.0 * p + 2.0 * p * x - x * x), 2.0 * m / q * (p - x))
        };
        let (sin, cos) = slope.atan().sin_cos();
        [x - side * y * sin, line + side * y * cos]
    }

    /// `intervals` + 1 points of a surface from the leading to the trailing edge.
    fn surface(&self, side: f64, intervals: usize) -> Vec<[f64; 2]> {
        const FINE: usize = 4000;
        let beta = |k: f64| PI * k / FINE as f64;
        let mut arc = vec![0.0];
        for k in 1..=FINE {
            let (a, b) = (self.point(beta(k as f64 - 1.0), side), self.point(beta(k as f64), side));
            arc.push(arc[k - 1] + (b[0] - a[0]).hypot(b[1] - a[1]));
        }
        two_sided_tanh(intervals + 1, LEADING, TRAILING, arc[FINE])
            .into_iter()
            .map(|s| {
                let k = arc.partition_point(|a| *a < s).clamp(1, FINE);
                let part = (s - arc[k - 1]) / (arc[k] - arc[k - 1]);
                self.point(beta(k as f64 - 1.0 + part), side)
            })
            .collect()
    }
}

/// Distance of a point from a line through points; a closed line repeats its first point.
pub fn distance_from(line: &[[f64; 2]], [x, y]: [f64; 2]) -> f64 {
    let pieces = line.windows(2).map(|w| {
        let (dx, dy) = (w[1][0] - w[0][0], w[1][1] - w[0][1]);
        let t = ((x - w[0][0]) * dx + (y - w[0][1]) * dy) / (dx * dx + dy * dy);
        let t = t.clamp(0.0, 1.0);
        (x - w[0][0] - t * dx).hypot(y - w[0][1] - t * dy)
    });
    pieces.fold(f64::INFINITY, f64::min)
}

/// The upper side of NASA's NACA 0012, which is extended to a closed edge:
/// <https://turbmodels.larc.nasa.gov/naca0012numerics_val.html>.
pub fn nasas_naca_0012(x: f64) -> f64 {
    0.594_689_181
        * (0.298_222_773 * x.sqrt() - 0.127_125_232 * x - 0.357_907_906 * x * x
            + 0.291_984_971 * x.powi(3)
            - 0.105_174_606 * x.powi(4))
}
