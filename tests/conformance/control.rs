//! The grid equations of an initial grid: control functions, wall terms, first guess.

use gridgen::backend::LevelSize;
use gridgen::backend::cpu::CpuBackend;
use gridgen::elliptic::EllipticSettings;
use gridgen::grid::Grid;
use gridgen::pde::control::{Base, ControlSettings, Wall};

use super::{FIRST_CELL, Subject, assert_close, marched, random, to_device, to_host};
use support::problems::{self, control};
use support::walls::WallPoints;

/// A length and a number of columns that give no smoothing.
const NONE: [f64; 2] = [0.0; 2];

/// Grids with a held and with a periodic seam, and C-grids, with numbers of columns that do not fill blocks.
fn grids() -> Vec<(Grid, Vec<[f64; 2]>)> {
    marched([
        (WallPoints::naca("4412", 66), 9),
        (WallPoints::ellipse(0.3, 43), 12),
        (WallPoints::naca("0012", 20), 4),
        (WallPoints::naca_with_wake("2412", 113, 24), 20),
        (WallPoints::naca_with_wake("4412", 34, 7), 5),
    ])
}

fn settings(base: Base, [smoothing, columns]: [f64; 2], wall: Wall) -> EllipticSettings<'static> {
    let control = ControlSettings {
        base: Some(base),
        smoothing,
        smoothing_distance: 0.01,
        smoothing_columns: Some(columns),
        clip: 0.7,
        ..control(wall)
    };
    EllipticSettings { control, ..problems::settings(wall, FIRST_CELL) }
}

/// Equations without control functions.
pub fn laplace() -> EllipticSettings<'static> {
    settings(Base::Laplace, NONE, Wall::Frozen)
}

/// The observable parts of the equations: the first guess, and the residual with this amplitude of the wall
/// terms.
fn seen<S: Subject>(
    subject: &S,
    grid: &Grid,
    normals: &[[f64; 2]],
    settings: &EllipticSettings<'_>,
    amplitude: f64,
) -> [Vec<f64>; 2] {
    let grid_there = subject.take(grid.clone()).unwrap();
    let (mut state, u) = subject.equations(&grid_there, normals, settings).unwrap();
    let rows = grid.nj - 2;
    let LevelSize { mi, .. } = LevelSize::of_grid(grid.topology, grid.ni, grid.nj);
    let n = 2 * rows * mi;
    let guess = to_host(subject, &u, n);
    let mut disturbed = guess.clone();
    if settings.control.wall == Wall::Coupled {
        for (u, noise) in disturbed.iter_mut().zip(random::<f64>(2, n / rows)) {
            *u = amplitude * noise;
        }
    }
    let mut f = subject.zeros(n).unwrap();
    subject.load_state(&mut state, &to_device(subject, &disturbed)).unwrap();
    subject.residual(&mut state, &mut f).unwrap();
    [guess, to_host(subject, &f, n)]
}

fn check<S: Subject>(subject: &S, settings: &EllipticSettings<'_>, amplitude: f64) {
    for (grid, normals) in grids() {
        let [guess, f] = seen(subject, &grid, &normals, settings, amplitude);
        let [guess_cpu, f_cpu] = seen(&CpuBackend, &grid, &normals, settings, amplitude);

        let what = format!("{} x {}, {settings:?}", grid.ni, grid.nj);
        // A device may fuse sums and products.
        assert_close(&guess, &guess_cpu, 2.0, &what);
        assert_close(&f, &f_cpu, 1e4, &what);
    }
}

pub fn control_functions_are_those_of_the_host<S: Subject>(subject: &S) {
    check(subject, &laplace(), 0.0);
    check(subject, &settings(Base::Laplace, NONE, Wall::Coupled), 0.0);
    check(subject, &settings(Base::ThomasMiddlecoff, NONE, Wall::Frozen), 0.0);
    for smoothing in [NONE, [0.02, 0.0], [0.0, 1.6], [0.2, 0.0], [0.05, 26.0]] {
        check(subject, &settings(Base::Marched, smoothing, Wall::Frozen), 0.0);
    }
}

pub fn wall_terms_are_those_of_the_host<S: Subject>(subject: &S) {
    let settings = settings(Base::Marched, [0.02, 1.6], Wall::Coupled);
    check(subject, &settings, 1.0);
    // Heights that vary threefold along the wall.
    let heights: Vec<f64> =
        (0..2000).map(|i| FIRST_CELL * (1.0 + 2.0 * f64::from(i).sin().powi(2))).collect();
    check(subject, &EllipticSettings { heights: Some(&heights), ..settings }, 1.0);
}
