//! Walls of sections and ellipses as the geometry layer makes them, without its splines and edges.

use std::f64::consts::{PI, TAU};

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::initial_grid;
use gridgen::geometry::{
    NacaSection, open_normals, spacing_geometric, spacing_vinokur, wall_normals,
};
use gridgen::grid::initial::{InitialGrid, InitialMethod, InitialSettings, Outer, Outline};
use gridgen::grid::{Seam, Topology};

use super::vectors::distance;

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
/// The coefficient of x⁴ in the thickness with which a section of four digits closes its edge.
const CLOSED: f64 = -0.1036;

impl WallPoints {
    /// A NACA 4-digit section with a closed edge, `ni` points, spaced by a two-sided tanh with
    /// the intervals [`TRAILING`] and [`LEADING`]. Its seam is held.
    pub fn naca(code: &str, ni: usize) -> Self {
        let section = NacaSection::named(code).unwrap();
        let (lower, upper) = ((ni - 1) / 2, ni - 1 - (ni - 1) / 2);
        let mut points = surface(&section, -1.0, lower);
        points.reverse();
        points.pop();
        points.extend(surface(&section, 1.0, upper));
        (points[0], points[ni - 1]) = ([1.0, 0.0], [1.0, 0.0]);
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
        Self { normals: wall_normals(&points), line: points, topology: Topology::O(seam) }
    }

    /// The section with a straight cut of `wake` cells on each side, which grow by a constant ratio from
    /// [`TRAILING`] to an outflow at the far field.
    pub fn naca_with_wake(code: &str, ni: usize, wake: usize) -> Self {
        let section = Self::naca(code, ni - 2 * wake);
        let cut = &spacing_geometric(wake + 1, TRAILING, FAR_FIELD).unwrap()[1..];
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
        let layers = spacing_geometric(nj, first_cell, FAR_FIELD).unwrap();
        let outline = self.outline(&layers, Outer::Circle(FAR_FIELD));
        initial_grid(&CpuBackend, &outline, &self.settings(method)).unwrap()
    }
}

/// Half the thickness of a NACA section of four digits with a closed edge.
pub fn half_thickness(x: f64, thickness: f64) -> f64 {
    let polynomial = 0.2969 * x.sqrt() - 0.126 * x - 0.3516 * x.powi(2) + 0.2843 * x.powi(3);
    5.0 * thickness * (polynomial + CLOSED * x.powi(4))
}

/// `intervals` + 1 points of a surface (side 1: upper, −1: lower) from the leading to the trailing edge, by the length
/// of a fine polygon at x = ½ (1 − cos β) of the camber line.
fn surface(section: &NacaSection, side: f64, intervals: usize) -> Vec<[f64; 2]> {
    const FINE: usize = 4000;
    let at = |k: f64| section.at(0.5 * (1.0 - (PI * k / FINE as f64).cos()), CLOSED, side);
    let mut arc = vec![0.0];
    for k in 1..=FINE {
        arc.push(arc[k - 1] + distance(at(k as f64 - 1.0), at(k as f64)));
    }
    let place = |s: f64| {
        let k = arc.partition_point(|a| *a < s).clamp(1, FINE);
        at(k as f64 - 1.0 + (s - arc[k - 1]) / (arc[k] - arc[k - 1]))
    };
    spacing_vinokur(intervals + 1, LEADING, TRAILING, arc[FINE])
        .unwrap()
        .into_iter()
        .map(place)
        .collect()
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
