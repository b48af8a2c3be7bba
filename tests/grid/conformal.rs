//! Sections whose conformal grids are known: circle, ellipse and Joukowski section.
//!
//! In the limit of refinement a conformal grid solves the equations with P = Q = 0, since x and y are
//! harmonic in its coordinates.

use std::f64::consts::TAU;

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{EllipticBackend, GridBackend};
use gridgen::elliptic::{EllipticSettings, GridProblem};
use gridgen::geometry::Joukowski;
use gridgen::grid::{Grid, Seam, Topology};
use gridgen::pde::control::{Base, ControlSettings, Wall};
use gridgen::solver::krylov::Method;
use gridgen::solver::precond::Kind;
use support::grids::{distance, grid_from};
use support::problems::{NEWTON, control, newton, settings};

use super::{case, make};

/// Ratio of the outer to the inner circle, in the plane of the circle.
const RATIO: f64 = 8.0;

/// z = ζ + 1/ζ.
fn joukowski([x, y]: [f64; 2]) -> [f64; 2] {
    let square = x * x + y * y;
    [x * (1.0 + 1.0 / square), y * (1.0 - 1.0 / square)]
}

/// The image of circles about `centre`, from this smallest radius, with radii in constant ratio.
fn conformal(ni: usize, nj: usize, centre: [f64; 2], radius: f64, seam: Seam, start: f64) -> Grid {
    let grid = grid_from(ni, nj, |i, j| {
        let r = radius * RATIO.powf(j as f64 / (nj - 1) as f64);
        let (sin, cos) = (start - TAU * (i % (ni - 1)) as f64 / (ni - 1) as f64).sin_cos();
        joukowski([centre[0] + r * cos, centre[1] + r * sin])
    });
    Grid { topology: Topology::O(seam), ..grid }
}

/// Largest distance between a grid and the solution with P = Q = 0 and the same boundary; the first guess is
/// the grid with its inner nodes moved.
fn distance_of_solution(exact: &Grid) -> f64 {
    let mut start = exact.clone();
    let ends = usize::from(exact.topology == Topology::O(Seam::Held));
    for j in 1..exact.nj - 1 {
        for i in ends..exact.ni - ends {
            let k = exact.index(i, j);
            let (above, below) = (exact.point(i, j + 1), exact.point(i, j - 1));
            let wave = 0.1 * (TAU * 3.0 * i as f64 / (exact.ni - 1) as f64).sin();
            start.x[k] += wave * (above[0] - below[0]);
            start.y[k] += wave * (above[1] - below[1]);
        }
    }
    let control = ControlSettings { base: Some(Base::Laplace), ..control(Wall::Frozen) };
    let settings = EllipticSettings { control, ..settings(Wall::Frozen, 1e-3) };
    let normals = vec![[0.0; 2]; exact.ni];
    let nodes = CpuBackend.take(start.clone()).unwrap();
    let (state, mut u) = CpuBackend.equations(&nodes, &normals, &settings).unwrap();
    let mut problem = GridProblem::<_, f64>::new(&CpuBackend, state, Kind::None).unwrap();
    let way = (Method::Bicgstab, Kind::Multigrid);
    let report = newton(&CpuBackend, &mut problem, &mut u, way, &NEWTON).unwrap();
    assert!(report.stop.converged(), "{:?}", report.stop);
    distance(&problem.nodes(&CpuBackend, &u, exact.topology).unwrap(), exact)
}

fn assert_second_order(grid: impl Fn(usize, usize) -> Grid) {
    let [coarse, fine] = [1, 2].map(|k| distance_of_solution(&grid(64 * k + 1, 24 * k + 1)));
    let order = (coarse / fine).log2();
    assert!((1.7..2.4).contains(&order), "{coarse:e}, {fine:e}: order {order}");
}

#[test]
fn the_solution_about_an_ellipse_is_the_conformal_grid_to_second_order() {
    assert_second_order(|ni, nj| conformal(ni, nj, [0.0; 2], 1.5, Seam::Periodic, 0.0));
}

/// The cusp is a singular point of the map; its line is held.
#[test]
fn the_solution_about_a_joukowski_section_is_the_conformal_grid() {
    let section = Joukowski { thickness: 0.12, camber: 0.03 };
    let centre = section.centre();
    let (dx, dy) = (1.0 - centre[0], -centre[1]);
    // A slightly larger circle gives a smooth section with a round edge around the cusped one.
    let radius = 1.02 * dx.hypot(dy);
    assert_second_order(|ni, nj| conformal(ni, nj, centre, radius, Seam::Held, dy.atan2(dx)));
}

/// Equal angles and radii of one sequence, as the conformal grid has them: rays and circles.
#[test]
fn the_grid_of_a_circle_is_its_polar_grid() {
    let circle = "[geometry]\nellipse = {}\n[grid]\nni = 97\nnj = 49\nfirst_cell = 1e-3\n";

    let outcome = make(&case(circle)).unwrap();

    assert!(outcome.converged() && outcome.notices.is_empty(), "{outcome:?}");
    let grid = outcome.grid;
    for j in 0..grid.nj {
        let radius = (grid.point(0, j)[0] - 0.5).hypot(grid.point(0, j)[1]);
        for i in 0..grid.ni {
            let (sin, cos) = (TAU * i as f64 / 96.0).sin_cos();
            let [x, y] = grid.point(i, j);
            let off = (x - 0.5 - radius * cos).hypot(y + radius * sin) / radius;
            assert!(off < 1e-8, "({i}, {j}): {off:e}");
        }
    }
}
