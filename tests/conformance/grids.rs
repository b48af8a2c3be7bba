//! Finished grids: smoothing, symmetry, halves, quality.

use gridgen::backend::cpu::CpuBackend;
use gridgen::case::SolverOptions;
use gridgen::grid::boundary::Side;
use gridgen::grid::initial::InitialMethod;
use gridgen::grid::quality::{Quality, measure};
use gridgen::grid::{Grid, Seam, Symmetry, Topology};
use gridgen::smooth::{SmoothSettings, smooth};

use super::{FIRST_CELL, Subject, grid_to_host, marches, random};
use support::blocks::{Block, wave};
use support::grids::{self, distance};
use support::walls::WallPoints;

/// Moves every node at random, by `by` thousandths of its coordinates.
fn disturbed(grid: &Grid, by: f64) -> Grid {
    let moved = |nodes: &[f64], seed| -> Vec<f64> {
        let noise = random::<f64>(seed, nodes.len());
        nodes.iter().zip(noise).map(|(node, noise)| node * (1.0 + 1e-3 * by * noise)).collect()
    };
    Grid { x: moved(&grid.x, 1), y: moved(&grid.y, 2), ..grid.clone() }
}

/// Grids of all shapes.
fn grids() -> Vec<Grid> {
    let grids: Vec<Grid> = marches().into_iter().map(|(grid, _)| grid).collect();
    let half = Symmetry::UpDown.half(&grids[0]);
    // The wall of a C-grid around a base is open; its nodes do not matter here.
    let blunt = Grid { topology: Topology::Blunt { wake: 24 }, ..grids[3].clone() };
    grids.into_iter().chain([half, blunt]).collect()
}

fn exact(grid: &Grid) -> (Topology, usize, usize, Vec<u64>) {
    let bits = grid.x.iter().chain(&grid.y).map(|value| value.to_bits()).collect();
    (grid.topology, grid.ni, grid.nj, bits)
}

pub fn a_smoothed_grid_is_that_of_the_cpu<S: Subject>(subject: &S) {
    let Block { ni, nj, at, .. } = Block::new([33, 25], [false; 4], [4e-3, 4e-3], wave);
    let (x, y) = at.into_iter().map(|[x, y]| (x, y)).unzip();
    let channel = Grid { topology: Topology::Rectangle, ni, nj, x, y, outside: None };
    let wall = WallPoints::naca("4412", 49);
    let section = wall.initial(InitialMethod::Hyperbolic, 17, FIRST_CELL).grid;
    let options = SolverOptions::new(&[]).unwrap();
    let below = vec![Side::Below];
    for (grid, walls) in [(&section, below), (&channel, Side::ALL.to_vec())] {
        let settings = SmoothSettings { walls, first_cell: None, slide: Vec::new() };
        let expected = smooth(&CpuBackend, grid, &settings, &options).unwrap();

        let found = smooth(subject, grid, &settings, &options).unwrap();

        assert_eq!(found.kept, expected.kept);
        for (found, expected) in found.passes.iter().zip(&expected.passes) {
            assert_eq!(found.newton_iterations, expected.newton_iterations);
            let more = found.linear_iterations - expected.linear_iterations;
            assert!(more.abs() <= 0.5, "{more} more linear iterations");
        }
        let off = distance(&found.grid, &expected.grid);
        assert!(off < 1e-9, "{off:e}");
    }
}

pub fn symmetry_is_restored_as_on_the_host<S: Subject>(subject: &S) {
    for grid in grids() {
        for symmetry in [Symmetry::UpDown, Symmetry::LeftRight] {
            let mut expected = disturbed(&grid, 1.0);
            // Nodes of a seam and a cut are their own mirror images.
            let (last, middle) = (grid.ni - 1, grid.index(grid.ni / 2, 3));
            (expected.x[last], expected.y[last]) = (expected.x[0], expected.y[0]);
            let other = grid.index(last - grid.ni / 2, 3);
            (expected.x[other], expected.y[other]) = (expected.x[middle], expected.y[middle]);
            let mut nodes = subject.take(expected.clone()).unwrap();
            symmetry.restore(&mut expected);

            subject.restore(symmetry, &mut nodes).unwrap();

            let found = grid_to_host(subject, &nodes, &expected);
            assert_eq!(exact(&found), exact(&expected), "{symmetry:?}");
        }
    }
}

pub fn a_half_is_that_of_the_host<S: Subject>(subject: &S) {
    for grid in grids().into_iter().filter(|grid| grid.ni % 2 == 1) {
        for symmetry in [Symmetry::UpDown, Symmetry::LeftRight] {
            let expected = symmetry.half(&grid);
            let whole = subject.take(grid.clone()).unwrap();

            let half = subject.half(symmetry, &whole).unwrap();

            assert_eq!(exact(&grid_to_host(subject, &half, &expected)), exact(&expected));
        }
    }
}

/// Asserts that the subject and the host measure the same to the last bit, except for sums, whose order
/// differs, and the sign of a zero determinant, which may be either.
#[track_caller]
fn check<S: Subject>(subject: &S, grid: &Grid) -> Quality {
    let expected = measure(grid);
    let found = subject.measure(&subject.take(grid.clone()).unwrap()).unwrap();

    let close = |found: f64, expected: f64| {
        let same = found.total_cmp(&expected).is_eq() || (found.is_nan() && expected.is_nan());
        assert!(same || (found / expected - 1.0).abs() < 1e-13, "{found}, not {expected}");
    };
    close(found.mean_skewness, expected.mean_skewness);
    close(found.wall_angle_error_mean_deg, expected.wall_angle_error_mean_deg);
    let waves = [&found, &expected].map(|quality| quality.waves_deg);
    assert!((waves[0] - waves[1]).abs() < 1e-9 || waves.map(f64::is_nan) == [true; 2], "{waves:?}");
    let [found_others, others] = [&found, &expected].map(|quality| {
        grids::exact(&Quality { min_jacobian: quality.min_jacobian + 0.0, ..quality.clone() })
    });
    assert_eq!(found_others, others);
    found
}

pub fn the_quality_is_that_of_the_host<S: Subject>(subject: &S) {
    for grid in grids() {
        for by in [0.0, 1e-6, 0.1, 30.0] {
            check(subject, &disturbed(&grid, by));
        }
    }
}

pub fn mirror_images_are_equally_good<S: Subject>(subject: &S) {
    let mut grid = disturbed(&grids()[0], 0.1);
    Symmetry::UpDown.restore(&mut grid);

    let [i, _] = check(subject, &grid).max_skewness_at;

    assert!(i < grid.ni / 2, "the first of two cells is named, not {i}");
}

pub fn grids_of_few_cells_are_measured<S: Subject>(subject: &S) {
    for (ni, nj) in [(2, 2), (3, 2), (2, 3), (5, 4), (102, 2)] {
        let mut grid = Grid::new(Topology::Half(Symmetry::UpDown), ni, nj);
        for k in 0..grid.x.len() {
            (grid.x[k], grid.y[k]) = ((k % ni) as f64, (k / ni) as f64);
        }
        // The cells are squares, all equal; then sheared; then without area.
        check(subject, &grid);
        for k in 0..grid.x.len() {
            grid.x[k] += 0.1 * grid.y[k] * grid.y[k] * (k % 3) as f64;
        }
        check(subject, &grid);
        grid.y.fill(0.0);
        check(subject, &grid);
    }
}

pub fn what_is_no_number_is_never_overlooked<S: Subject>(subject: &S) {
    let whole = Grid { topology: Topology::O(Seam::Held), ..grids()[1].clone() };
    for (i, j) in [(5, 4), (0, 0), (70, 1), (130, 16)] {
        let mut grid = whole.clone();
        let k = grid.index(i, j);
        grid.x[k] = f64::NAN;

        let quality = check(subject, &grid);

        assert!(quality.folded_cells > 0 && quality.max_skewness.is_nan());
    }
    // Enough cells are NaN for the percentile to be NaN.
    let mut grid = whole.clone();
    grid.y.iter_mut().step_by(7).for_each(|y| *y = f64::NAN);
    assert!(check(subject, &grid).p99_skewness.is_nan());
    // An edge has no length.
    let mut grid = whole;
    (grid.x[500], grid.y[500]) = (grid.x[501], grid.y[501]);
    assert!(check(subject, &grid).max_growth.is_infinite());
}
