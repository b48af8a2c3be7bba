//! Grids: initial grids, measures of quality, sections with known solutions, the shipped cases, C-grids and
//! halves, and retries when a grid is not good.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod along;
mod angle;
mod behind;
mod c_grid;
mod cascade;
mod conformal;
mod curved;
mod domain;
mod golden;
mod half;
mod initial;
mod ladder;
mod moved_blocks;
mod near_body;
mod normal;
mod overset;
mod pieces;
mod quality;
mod rigging;
mod smooth;

use std::path::Path;

use gridgen::case::Case;
use gridgen::error::Error;
use gridgen::formats::mesh;
use gridgen::generate::{BackendChoice, GridResult, RunOptions, run};
use gridgen::grid::Grid;
use gridgen::grid::quality::Quality;
use serde_json::Value;
use support::cases::{case, make};
use support::vectors::distance;
use tempfile::TempDir;

/// A wing-body section on 257 × 49 points.
const WING_BODY: &str = "geometry.wing_body = {}\ngrid.ni = 257\ngrid.nj = 49\ngrid.first_cell = 1e-3\n\
                         grid.far_field = 10.0\n";

/// A shipped case with some keys replaced.
fn shipped(name: &str, set: &[(&str, &str)]) -> Case {
    support::cases::shipped(name, set).unwrap()
}

/// The grid of a text, which is good.
#[track_caller]
fn good(text: &str) -> GridResult {
    let made = make(&case(text)).unwrap();
    assert!(made.is_good(), "{text}: {}", made.verdict);
    made
}

/// Asserts that first cells have this height, but for a relative error.
#[track_caller]
fn assert_heights(quality: &Quality, height: f64, error: f64, what: &str) {
    for found in [quality.first_cell_min, quality.first_cell_max] {
        let off = (found / height - 1.0).abs();
        assert!(off < error, "{what}: {found:e} where {height:e} was asked");
    }
}

/// Asserts that a solve took no more Newton steps and linear iterations.
#[track_caller]
fn assert_steps(made: &GridResult, [steps, iterations]: [f64; 2], what: &str) {
    let (newton, linear) = (made.newton_iterations(), made.linear_iterations());
    assert!(newton as f64 <= steps && linear <= iterations, "{what}: {newton} {linear}");
}

/// Asserts that each node has its mirror image, within an error in distances from the origin of at least 1, at the other end
/// of its line.
#[track_caller]
fn assert_mirrored(grid: &Grid, error: f64, image: impl Fn([f64; 2]) -> [f64; 2]) {
    for (i, j) in (0..grid.nj).flat_map(|j| (0..grid.ni).map(move |i| (i, j))) {
        let (a, b) = (grid.point(i, j), image(grid.point(grid.ni - 1 - i, j)));
        let off = distance(a, b);
        assert!(off <= error * a[0].hypot(a[1]).max(1.0), "({i}, {j}): {off:e}");
    }
}

fn line(grid: &Grid, j: usize) -> Vec<[f64; 2]> {
    (0..grid.ni).map(|i| grid.point(i, j)).collect()
}

/// Grids of a case in a folder, each with half the intervals of the one before, and the result of the first.
struct Family {
    made: GridResult,
    folder: TempDir,
}

fn family(case: &Case, grids: u32) -> Result<Family, Error> {
    let folder = tempfile::tempdir().unwrap();
    let mut options = RunOptions::new(folder.path().to_path_buf());
    options.backend = BackendChoice::Cpu;
    options.grids = grids;
    let mut case = case.clone();
    (case.output.pictures, case.output.report) = (false, false);
    let made = run(&case.into(), &options, &mut ())?.into_section();
    Ok(Family { made, folder })
}

fn report(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("report.json")).unwrap()).unwrap()
}

fn read(folder: &TempDir, name: &str) -> Grid {
    mesh(&folder.path().join(name)).unwrap().grid
}
