//! Analytic grids for tests.

use gridgen::grid::quality::Quality;
use gridgen::grid::{Grid, Seam, Symmetry, Topology};

use super::linear::apart;

/// A grid with node (i, j) at `place(i, j)`.
pub fn grid_from(ni: usize, nj: usize, place: impl Fn(usize, usize) -> [f64; 2]) -> Grid {
    Grid::of_nodes(Topology::O(Seam::Periodic), [ni, nj], place)
}

/// The largest distance of the nodes of two grids in one coordinate.
pub fn distance(a: &Grid, b: &Grid) -> f64 {
    assert_eq!((a.ni, a.nj), (b.ni, b.nj));
    apart(&a.x, &b.x).max(apart(&a.y, &b.y))
}

/// An O-grid around a circle of radius 1/2 about (0.5, 0), clockwise. The heights grow by `growth`, from the
/// first height `height`. The last column repeats the first.
pub fn polar_grid(ni: usize, nj: usize, height: f64, growth: f64) -> Grid {
    let radius = |j: usize| 0.5 + height * (growth.powf(j as f64) - 1.0) / (growth - 1.0);
    grid_from(ni, nj, |i, j| {
        let angle = clockwise_angle(i, ni);
        [0.5 + radius(j) * angle.cos(), radius(j) * angle.sin()]
    })
}

/// An O-grid around a cambered Joukowski section with a cusped edge near (1, 0) and the far field at about 15
/// chords: the map z = ζ + c²/ζ of circles, the first of which passes through ζ = c, scaled to unit chord.
/// The circles turn by `twist` radians from the wall outward, which skews the cells.
pub fn joukowski_grid(ni: usize, nj: usize, twist: f64) -> Grid {
    let centre = [-0.08, 0.06];
    let c = 1.0;
    let wall_radius = f64::hypot(c - centre[0], centre[1]);
    let edge_angle = f64::atan2(-centre[1], c - centre[0]);
    grid_from(ni, nj, |i, j| {
        let s = j as f64 / (nj - 1) as f64;
        let radius = wall_radius * (1.0 + 55.0 * ((6.0 * s).exp_m1() / 6.0_f64.exp_m1()));
        let angle = edge_angle + clockwise_angle(i, ni) + twist * s * s;
        let zeta = [centre[0] + radius * angle.cos(), centre[1] + radius * angle.sin()];
        let scale = c * c / (zeta[0] * zeta[0] + zeta[1] * zeta[1]);
        let z = [zeta[0] * (1.0 + scale), zeta[1] * (1.0 - scale)];
        [0.5 + z[0] / (4.0 * c), z[1] / (4.0 * c)]
    })
}

/// A C-grid of confocal parabolas around the flat plate 0 ≤ x ≤ 1: the map z = (u + iv)², with the edge of
/// the plate at u = ±1, `wake` cells of the cut behind it, equal steps of u, and `nj` lines up to v = 2. The
/// two sides of the line j = 0 are the same points bit for bit.
pub fn parabolic_grid(ni: usize, nj: usize, wake: usize) -> Grid {
    let half = (ni - 1 - 2 * wake) as f64;
    let mut grid = grid_from(ni, nj, |i, j| {
        let u = (2 * i) as f64 - (ni - 1) as f64;
        let (u, v) = (u / half, 2.0 * j as f64 / (nj - 1) as f64);
        [u * u - v * v, 2.0 * u * v]
    });
    grid.topology = Topology::C { wake };
    grid
}

/// The upper half of an O-grid around a circle, its ends on y = 0 bit for bit.
pub fn half_grid(ni: usize, nj: usize) -> Grid {
    let mut whole = polar_grid(2 * ni - 1, nj, 0.01, 1.1);
    Symmetry::UpDown.restore(&mut whole);
    Symmetry::UpDown.half(&whole)
}

/// The angle of a point; zero at both ends of the line, bit for bit.
fn clockwise_angle(i: usize, ni: usize) -> f64 {
    -std::f64::consts::TAU * (i % (ni - 1)) as f64 / (ni - 1) as f64
}

/// The measures of a quality without its sums, whose order differs between machines. The shortest digits that
/// reproduce a number identify its bits, and NaN compares equal to NaN.
pub fn exact(quality: &Quality) -> String {
    let mut exact = quality.clone();
    (exact.mean_skewness, exact.wall_angle_error_mean_deg, exact.waves_deg) = (0.0, 0.0, 0.0);
    format!("{exact:?}")
}
