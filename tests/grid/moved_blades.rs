//! Cascades whose blade moves: the O-grid follows, and the blocks around it stay.
#![allow(clippy::float_cmp, reason = "blocks and partners are the same bit for bit")]

use std::sync::LazyLock;

use gridgen::backend::cpu::CpuBackend;
use gridgen::case::{Case, SolverOptions};
use gridgen::formats::{Format, MeshData, contents};
use gridgen::generate::{GridResult, open_reference};
use gridgen::grid::quality::{Quality, measure};
use gridgen::grid::{Grid, Verdict};
use gridgen::movement::{Moved, MovementError, Reference, Resident};
use support::grids::distance;

use super::cascade::partners;
use super::{assert_heights, line, make, shipped};

pub(super) type Wall = Vec<[f64; 2]>;

/// A chord that no power of two is, so that nodes of the file differ from those of the equations.
pub(super) const CHORD: f64 = 0.137;

pub(super) static MADE: LazyLock<GridResult> = LazyLock::new(|| made("compressor.toml"));

/// A shipped case of that chord, with first cells of 1e-4 chord; that of a cascade has fewer layers.
pub(super) fn settings(name: &str) -> Case {
    let chord = CHORD.to_string();
    let mut keys = vec![("geometry.chord", chord.as_str()), ("grid.first_cell", "1e-4")];
    if name == "compressor.toml" {
        keys.push(("grid.nj", "25"));
    }
    shipped(name, &keys)
}

pub(super) fn made(name: &str) -> GridResult {
    make(&settings(name)).unwrap()
}

fn reference() -> Reference {
    MADE.reference().unwrap()
}

pub(super) fn on_cpu(reference: &Reference) -> Resident<&Reference, CpuBackend> {
    Resident::new(reference, &CpuBackend).unwrap()
}

pub(super) fn moved(reference: &Reference, wall: &[[f64; 2]]) -> Moved {
    let moved = on_cpu(reference).move_to(&CpuBackend, wall).unwrap();
    assert!(moved.verdict.is_good(), "{}", moved.verdict);
    moved
}

/// The wall turned by an angle about its middle, and made thicker across its chord.
fn bent(wall: &[[f64; 2]], degrees: f64, thicker: f64) -> Wall {
    let middle = [0, 1].map(|c| wall.iter().map(|at| at[c]).sum::<f64>() / wall.len() as f64);
    let nose = wall[wall.len() / 2];
    let length = (nose[0] - wall[0][0]).hypot(nose[1] - wall[0][1]);
    let along = [0, 1].map(|c| (nose[c] - wall[0][c]) / length);
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let turned = |at: &[f64; 2]| {
        let [x, y] = [0, 1].map(|c| at[c] - middle[c]);
        let (s, n) = (x * along[0] + y * along[1], thicker * (y * along[0] - x * along[1]));
        let [x, y] = [s * along[0] - n * along[1], s * along[1] + n * along[0]];
        [middle[0] + cosine * x - sine * y, middle[1] + sine * x + cosine * y]
    };
    let mut wall: Wall = wall.iter().map(turned).collect();
    *wall.last_mut().unwrap() = wall[0];
    wall
}

/// A displacement of the wall that is smooth along it, in chords.
pub(super) fn displacement(wall: &[[f64; 2]]) -> Wall {
    let of = |[x, y]: [f64; 2]| [(3.0 * y / CHORD).sin(), (2.0 * x / CHORD).cos()];
    wall.iter().map(|at| of(*at).map(|c| c * CHORD)).collect()
}

pub(super) fn of_refs(blocks: &[Grid]) -> Vec<&Grid> {
    blocks.iter().collect()
}

#[test]
fn a_blade_that_does_not_move_leaves_every_bit_of_all_blocks() {
    let reference = reference();

    let same = moved(&reference, &reference.wall());

    assert_eq!(same.newton_iterations, 0);
    let made: Vec<Grid> = MADE.blocks().into_iter().cloned().collect();
    assert_eq!(made.len(), 4);
    assert_eq!(same.blocks(), made);
    assert_eq!(reference.blocks(), made.iter().collect::<Vec<_>>());
    assert_eq!(on_cpu(&reference).unmoved(&CpuBackend).unwrap().blocks(), made);
    let [a, b] = [&same.quality, &MADE.quality];
    let measures: [fn(&Quality) -> f64; 3] = [
        |quality| quality.max_growth_i,
        |quality| quality.p99_skewness,
        |quality| quality.mean_skewness,
    ];
    for of in measures {
        assert!((of(a) - of(b)).abs() < 1e-12, "{a:?} {b:?}");
    }
}

#[test]
fn a_blade_moves_within_its_passage_and_keeps_its_first_cells() {
    let reference = reference();
    let before = MADE.blocks();
    for (degrees, thicker) in [(1.0, 1.0), (-1.5, 1.0), (0.0, 1.1), (0.0, 0.8), (1.0, 1.05)] {
        let what = format!("{degrees} degrees, {thicker} times as thick");

        let moved = moved(&reference, &bent(&reference.wall(), degrees, thicker));

        assert_eq!((moved.quality.folded_cells, moved.parts), (0, 1), "{what}");
        assert_heights(&moved.quality, 1e-4 * CHORD, 1e-4, &what);
        let angle = moved.quality.wall_angle_error_max_deg;
        assert!(angle < 1e-6, "{what}: {angle:e}");
        // The grid went somewhere, and the other blocks stayed.
        assert!(distance(moved.grid(), before[0]) > 1e-3 * CHORD, "{what}");
        let blocks = moved.blocks();
        assert_eq!(of_refs(&blocks)[1..], before[1..], "{what}");
        let [outer, same] = [&blocks[0], before[0]].map(|grid| line(grid, grid.nj - 1));
        assert_eq!(outer, same, "{what}");
        let apart = partners(&of_refs(&blocks));
        assert!(apart.len() > 100, "{what}: {}", apart.len());
        let pitch = 0.8 * CHORD;
        assert!(apart.iter().all(|[[ax, ay], [bx, by]]| ax == bx && *by == ay + pitch), "{what}");
        // The quality is that of all blocks.
        let all = measure(&blocks[0]).with_blocks(&blocks[0], blocks[1..].iter());
        assert_eq!(moved.quality, all, "{what}");
        assert_ne!(moved.quality, measure(&blocks[0]), "{what}");
    }
}

#[test]
fn a_blade_that_leaves_its_o_grid_is_no_good_grid() {
    let reference = reference();

    let wall = bent(&reference.wall(), 12.0, 1.0);
    let moved = on_cpu(&reference).move_to(&CpuBackend, &wall).unwrap();

    assert!(!moved.verdict.is_good() && moved.parts == 16, "{} {}", moved.verdict, moved.parts);
    assert!(!matches!(moved.verdict, Verdict::BeyondLimit { .. }), "{}", moved.verdict);
    let refused = on_cpu(&reference).derivatives(&CpuBackend, &moved).err().unwrap();
    assert!(matches!(refused, MovementError::NotGood { .. }), "{refused}");
}

#[test]
fn derivatives_are_those_of_the_o_grid_forward_and_adjoint() {
    let reference = reference();

    let found = derivatives(&reference, &bent(&reference.wall(), 0.7, 1.02));

    // The outer line, which the blocks share, stays.
    let [forward] = &found[..] else { panic!("{} blocks", found.len()) };
    let outer = forward.index(0, forward.nj - 1);
    assert!(forward.x[outer..].iter().chain(&forward.y[outer..]).all(|d| *d == 0.0));
}

/// Weights of the nodes of a block in a function whose derivatives are asked for.
pub(super) fn weights(block: &Grid) -> Grid {
    let [x, y] = [0.7, 0.3].map(|f| (0..block.x.len()).map(|k| (f * k as f64).sin()).collect());
    Grid { x, y, ..block.clone() }
}

pub(super) fn product(a: &Grid, b: &Grid) -> f64 {
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    sum(&a.x, &b.x) + sum(&a.y, &b.y)
}

/// Displacements of the nodes of a grid, and of the block behind a base, for one of a wall to which a reference moves. Asserts
/// that the adjoint is their transpose and that they are central differences.
#[track_caller]
pub(super) fn derivatives(reference: &Reference, wall: &[[f64; 2]]) -> Vec<Grid> {
    let (at, by) = (moved(reference, wall), displacement(wall));
    let derivatives = on_cpu(reference).derivatives(&CpuBackend, &at).unwrap();
    let mut derivatives = derivatives.with_tolerance(1e-13);
    let (forward, _) = derivatives.derivative(&CpuBackend, &by, &[]).unwrap();
    let behind = reference.displacement_behind(&forward);
    let found: Vec<Grid> = std::iter::once(forward).chain(behind).collect();
    let mut nodes = weights(&found[0]);
    if let Some(block) = found.get(1) {
        reference.gather_behind(&weights(block), &mut nodes);
    }
    let nodes = derivatives.by_nodes(&CpuBackend, &nodes.x, &nodes.y).unwrap();
    let adjoint = derivatives.adjoint(&CpuBackend, nodes).unwrap();

    let left: f64 = found.iter().map(|block| product(block, &weights(block))).sum();
    let pairs = adjoint.wall.as_flattened().iter().zip(by.as_flattened());
    let right: f64 = pairs.map(|(a, b)| a * b).sum();
    assert!((left - right).abs() <= 1e-10 * left.abs(), "{left:e} {right:e}");
    let step = 2e-5;
    let [ahead, back] = [step, -step].map(|step| {
        let of = |(at, by): (&[f64; 2], &[f64; 2])| [0, 1].map(|c| at[c] + step * by[c]);
        moved(reference, &wall.iter().zip(&by).map(of).collect::<Wall>()).blocks()
    });
    for ((found, a), b) in found.iter().zip(&ahead).zip(&back) {
        let error = |k: usize| {
            let x = (a.x[k] - b.x[k]) / (2.0 * step) - found.x[k];
            let y = (a.y[k] - b.y[k]) / (2.0 * step) - found.y[k];
            x.hypot(y)
        };
        let worst = (0..found.x.len()).map(error).fold(0.0, f64::max);
        assert!(worst < 1e-6 * CHORD, "{worst:e}");
    }
    found
}

#[test]
fn moved_cascades_are_read_back_from_files_and_moved_again() {
    let reference = reference();
    let moved = moved(&reference, &bent(&reference.wall(), -1.0, 1.03));
    for name in ["moved.cgns", "moved.p3d"] {
        let [read, back] = read_back(name, &moved.blocks(), |wall| bent(wall, 0.5, 1.0));

        assert_eq!(read.len(), 4, "{name}");
        assert_eq!(back[1..], read[1..], "{name}");
    }
}

/// The blocks that a file of them has, which are the same, and those of the reference that the file is, when its wall moves.
#[track_caller]
pub(super) fn read_back(
    name: &str,
    blocks: &[Grid],
    bent: impl Fn(&[[f64; 2]]) -> Wall,
) -> [Vec<Grid>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mesh = MeshData::of_blocks(&of_refs(blocks));
    Format::of_path(&path).unwrap().convert(&path, &mesh, false).unwrap();

    let read = contents(&path).unwrap().grids;
    let alone = open_reference(&path, &SolverOptions::new(&[]).unwrap()).unwrap();

    for (read, own) in read.iter().zip(blocks) {
        assert_eq!((&read.x, &read.y), (&own.x, &own.y), "{name}");
    }
    let back = moved(&alone, &bent(&alone.wall()));
    assert_eq!(back.quality.folded_cells, 0, "{name}");
    [read, back.blocks()]
}

#[test]
fn a_stored_reference_of_a_cascade_has_all_blocks() {
    assert_stored(&reference(), |wall| bent(wall, 0.5, 1.0));
}

/// Asserts that a reference is the same after it was written and read, and moves alike.
#[track_caller]
pub(super) fn assert_stored(reference: &Reference, bent: impl Fn(&[[f64; 2]]) -> Wall) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reference.grd");
    reference.write(&path).unwrap();

    let read = Reference::read(&path).unwrap();

    assert_eq!(read.blocks(), reference.blocks());
    assert_eq!(read.quality(), reference.quality());
    let wall = bent(&reference.wall());
    assert_eq!(moved(&read, &wall).blocks(), moved(reference, &wall).blocks());
}

#[test]
fn the_problem_of_a_cascade_is_a_reference() {
    assert_problem(&MADE, 4);
}

/// Asserts that a problem alone gives the reference that its grid gives, up to the tolerance of the solve.
#[track_caller]
pub(super) fn assert_problem(made: &GridResult, count: usize) {
    let problem = made.case.settle().unwrap();

    let reference = problem.reference(&CpuBackend).unwrap();

    for (own, made) in reference.blocks().into_iter().zip(made.blocks()) {
        let apart = distance(own, made);
        assert!(apart < 1e-6 * CHORD, "{apart:e}");
        assert_eq!(own.boundary(), made.boundary());
    }
    assert_eq!(reference.blocks().len(), count);
}

/// Blocks that meet the O-grid at its wall, or none around which something runs, are no cascade.
#[test]
fn other_blocks_are_no_cascade() {
    let options = SolverOptions::new(&[]).unwrap();
    let blocks = MADE.blocks();
    let folded = {
        let mut block = blocks[1].clone();
        block.x[block.ni + 3] += 0.2 * CHORD;
        block
    };

    let first = Reference::of_blocks(&CpuBackend, &[blocks[1], blocks[0]], &options);
    let crossed =
        Reference::of_blocks(&CpuBackend, &[blocks[0], &folded, blocks[2], blocks[3]], &options);

    assert!(matches!(first, Err(MovementError::NoBody)));
    assert!(matches!(crossed, Err(MovementError::Reference { .. })), "{:?}", crossed.err());
}
