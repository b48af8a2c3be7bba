//! Grids of several blocks whose wall moves: the O-grid around a blade of a cascade follows it within the other blocks,
//! which stay; the C-grid around a base takes its interfaces and the block between them along.
#![allow(clippy::float_cmp, reason = "blocks, partners and interfaces are the same bit for bit")]

use std::sync::LazyLock;

use gridgen::backend::cpu::CpuBackend;
use gridgen::case::SolverOptions;
use gridgen::formats::{Format, MeshData, contents};
use gridgen::generate::{GridResult, open_reference};
use gridgen::grid::quality::{Quality, interfaces, measure};
use gridgen::grid::{Grid, Verdict};
use gridgen::movement::{Moved, MovementError, Reference};
use support::grids::distance;
use support::linear::dot;
use support::moves::{moved, on_cpu};
use support::vectors;

use super::behind::across;
use super::cascade::partners;
use super::{assert_heights, case, line, make, shipped};

type Wall = Vec<[f64; 2]>;

/// A chord that no power of two is, so that nodes of the file differ from those of the equations.
pub(super) const CHORD: f64 = 0.137;

pub(super) static BLADE: LazyLock<GridResult> =
    LazyLock::new(|| made("compressor.toml", &[("grid.nj", "25")]));
static BASE: LazyLock<GridResult> = LazyLock::new(|| base("1e-10"));

/// The grid of a shipped case of that chord, with first cells of 1e-4 chord, and with some more keys.
fn made(name: &str, more: &[(&str, &str)]) -> GridResult {
    let chord = CHORD.to_string();
    let keys = [&[("geometry.chord", &*chord), ("grid.first_cell", "1e-4")], more].concat();
    make(&shipped(name, &keys)).unwrap()
}

/// The shipped flatback with fewer points, solved to this tolerance.
fn base(tolerance: &str) -> GridResult {
    let keys = [("grid.ni", "161"), ("grid.nj", "49"), ("newton.tolerance", tolerance)];
    made("du-flatback-c.toml", &keys)
}

/// The grids around the blade and around the base, and their references.
fn both() -> [(&'static GridResult, Reference); 2] {
    [&*BLADE, &*BASE].map(|made| (made, made.reference().unwrap()))
}

/// The wall turned by an angle about its middle, and made thicker across its chord.
fn bent(wall: &[[f64; 2]], degrees: f64, thicker: f64) -> Wall {
    let middle = [0, 1].map(|c| wall.iter().map(|at| at[c]).sum::<f64>() / wall.len() as f64);
    let edge = [0, 1].map(|c| 0.5 * (wall[0][c] + wall[wall.len() - 1][c]));
    let chord = vectors::less(wall[wall.len() / 2], edge);
    let along = chord.map(|c| c / chord[0].hypot(chord[1]));
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let turned = |at: &[f64; 2]| {
        let [x, y] = vectors::less(*at, middle);
        let (s, n) = (x * along[0] + y * along[1], thicker * (y * along[0] - x * along[1]));
        let [x, y] = [s * along[0] - n * along[1], s * along[1] + n * along[0]];
        [middle[0] + cosine * x - sine * y, middle[1] + sine * x + cosine * y]
    };
    wall.iter().map(turned).collect()
}

fn of_refs(blocks: &[Grid]) -> Vec<&Grid> {
    blocks.iter().collect()
}

/// Blocks around the blade keep every bit. Around the base, away with the chord and back rounds the nodes.
#[test]
fn a_wall_that_does_not_move_leaves_all_blocks() {
    let measures: [fn(&Quality) -> f64; 3] = [
        |quality| quality.mean_skewness,
        |quality| quality.p99_skewness,
        |quality| quality.max_growth_i,
    ];
    let bounds = [(0.0, 1e-12, &measures[..]), (1e-12, 1e-9, &measures[..1])];
    for ((made, reference), (way, most, measures)) in both().iter().zip(bounds) {
        let same = moved(reference, &reference.wall());

        assert_eq!(same.newton_iterations, 0);
        let unmoved = on_cpu(reference).unmoved(&CpuBackend).unwrap().blocks();
        let (same_blocks, blocks) = (same.blocks(), reference.blocks());
        assert_eq!(of_refs(&unmoved), blocks);
        assert!(way > 0.0 || of_refs(&same_blocks) == blocks && made.blocks() == blocks);
        for ((own, made), same) in blocks.into_iter().zip(made.blocks()).zip(&same_blocks) {
            assert!(distance(own, made).max(distance(own, same)) <= way * CHORD);
            assert_eq!((own.boundary(), same.boundary()), (made.boundary(), made.boundary()));
        }
        for of in measures {
            let [found, expected] = [&same.quality, &made.quality].map(of);
            assert!((found - expected).abs() < most, "{found} {expected}");
        }
    }
}

/// The blocks moved to their wall, bent, and the wall. Asserts that the grid went there, that its first cells are
/// exact, at right angles up to these degrees, and that its quality covers all blocks.
#[track_caller]
fn assert_bent(made: &GridResult, (degrees, thicker): (f64, f64), angle: f64) -> (Moved, Wall) {
    let what = format!("{degrees} degrees, {thicker} times as thick");
    let reference = made.reference().unwrap();
    let wall = bent(&reference.wall(), degrees, thicker);

    let moved = moved(&reference, &wall);

    assert_heights(&moved.quality, 1e-4 * CHORD, 1e-4, &what);
    let found = moved.quality.wall_angle_error_max_deg;
    assert!(found < angle, "{what}: {found:e}");
    assert!(distance(moved.grid(), made.blocks()[0]) > 1e-3 * CHORD, "{what}");
    let blocks = moved.blocks();
    assert_eq!(blocks.len(), made.blocks().len(), "{what}");
    let all = measure(&blocks[0]).with_blocks(&blocks[0], blocks[1..].iter());
    assert_eq!(moved.quality, all, "{what}");
    (moved, wall)
}

#[test]
fn a_blade_moves_within_its_passage_and_keeps_its_first_cells() {
    let before = BLADE.blocks();
    for way in [(1.0, 1.0), (-1.5, 1.0), (0.0, 1.1), (0.0, 0.8), (1.0, 1.05)] {
        let (moved, _) = assert_bent(&BLADE, way, 1e-6);

        let blocks = moved.blocks();
        assert_eq!(of_refs(&blocks)[1..], before[1..], "{way:?}");
        let [outer, same] = [&blocks[0], before[0]].map(|grid| line(grid, grid.nj - 1));
        assert_eq!(outer, same, "{way:?}");
        let apart = partners(&of_refs(&blocks));
        assert!(apart.len() > 100, "{way:?}: {}", apart.len());
        let pitch = 0.8 * CHORD;
        assert!(apart.iter().all(|[[ax, ay], [bx, by]]| ax == bx && *by == ay + pitch), "{way:?}");
        assert_ne!(moved.quality, measure(&blocks[0]), "{way:?}");
    }
}

#[test]
fn a_base_moves_with_its_interfaces_and_keeps_its_first_cells() {
    for way in [(-2.0, 1.0), (3.0, 1.0), (-6.0, 1.0), (0.0, 1.1), (-1.0, 0.95)] {
        let (moved, wall) = assert_bent(&BASE, way, 1e-3);

        let blocks = moved.blocks();
        let [grid, block] = &blocks[..] else { panic!("{way:?}: {} blocks", blocks.len()) };
        // The base ends at the corners of the wall, and interfaces have equal nodes on both sides.
        for (j, corner) in [(0, wall[0]), (block.nj - 1, *wall.last().unwrap())] {
            let off = vectors::distance(block.point(0, j), corner);
            assert!(off < 1e-14 * CHORD, "{way:?}: {off:e}");
        }
        let links = interfaces(&blocks);
        assert_eq!((links.len(), links.iter().all(|link| link.gap == 0.0)), (2, true), "{way:?}");
        let most = if way.1 == 1.0 { 0.4 } else { 0.8 };
        for [kink, growth] in across(grid, block) {
            assert!(kink < most, "{way:?}: {kink}");
            assert!((growth * way.1 - 1.0).abs() < 0.12, "{way:?}: {growth}");
        }
    }
}

#[test]
fn a_blade_that_leaves_its_o_grid_is_no_good_grid() {
    let reference = BLADE.reference().unwrap();

    let wall = bent(&reference.wall(), 12.0, 1.0);
    let moved = on_cpu(&reference).move_to(&CpuBackend, &wall).unwrap();

    assert!(!moved.verdict.is_good() && moved.parts == 16, "{} {}", moved.verdict, moved.parts);
    assert!(!matches!(moved.verdict, Verdict::BeyondLimit { .. }), "{}", moved.verdict);
    let refused = on_cpu(&reference).derivatives(&CpuBackend, &moved).err().unwrap();
    assert!(matches!(refused, MovementError::NotGood { .. }), "{refused}");
}

/// The O-grid alone would be its own reference, without the blocks around it.
#[test]
fn a_cascade_that_did_not_converge_is_no_reference() {
    let made = made("compressor.toml", &[("grid.nj", "25"), ("newton.max_iterations", "1")]);

    let refused = made.reference().unwrap_err();

    let expected =
        matches!(&refused, MovementError::Reference { verdict } if *verdict == made.verdict);
    assert!(expected && !made.is_good(), "{refused}");
}

#[test]
fn derivatives_of_the_blocks_that_move_are_exact_forward_and_adjoint() {
    // Central differences amplify what the tolerance leaves.
    let [of_blade, of_base] = [&*BLADE, &base("1e-12")].map(|made| {
        let reference = made.reference().unwrap();
        derivatives(&reference, &bent(&reference.wall(), 0.7, 1.02))
    });

    // The outer line, which the blocks share, stays.
    let [forward] = &of_blade[..] else { panic!("{} blocks", of_blade.len()) };
    let outer = forward.index(0, forward.nj - 1);
    assert!(forward.x[outer..].iter().chain(&forward.y[outer..]).all(|d| *d == 0.0));
    let [_, behind] = &of_base[..] else { panic!("{} blocks", of_base.len()) };
    let share = product(behind, &weights(behind));
    assert!(share.abs() > 1e-3 * CHORD, "{share:e}");
}

/// Weights of the nodes of a block in a function whose derivatives are asked for.
fn weights(block: &Grid) -> Grid {
    let [x, y] = [0.7, 0.3].map(|f| (0..block.x.len()).map(|k| (f * k as f64).sin()).collect());
    Grid { x, y, ..block.clone() }
}

fn product(a: &Grid, b: &Grid) -> f64 {
    dot(&a.x, &b.x) + dot(&a.y, &b.y)
}

/// Displacements of the nodes of a grid, and of the block behind a base, for one of a wall to which a reference moves,
/// smooth along it and in chords. Asserts that the adjoint is their transpose and that they are central differences.
#[track_caller]
fn derivatives(reference: &Reference, wall: &[[f64; 2]]) -> Vec<Grid> {
    let of = |[x, y]: &[f64; 2]| [(3.0 * y / CHORD).sin(), (2.0 * x / CHORD).cos()];
    let by: Wall = wall.iter().map(|at| of(at).map(|c| c * CHORD)).collect();
    let at = moved(reference, wall);
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
    let right = dot(adjoint.wall.as_flattened(), by.as_flattened());
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

/// The blocks of a file are those that were written. It is a reference, whose other blocks stay or follow as before.
#[test]
fn moved_blocks_are_read_back_from_files_and_moved_again() {
    let folder = tempfile::tempdir().unwrap();
    for ((_, reference), formats) in
        both().iter().zip([&["cgns", "p3d"][..], &["cgns", "p3d", "su2"]])
    {
        let blocks = moved(reference, &bent(&reference.wall(), -1.0, 1.03)).blocks();
        for format in formats {
            let path = folder.path().join(format!("moved{}.{format}", blocks.len()));
            let mesh = MeshData::of_blocks(&of_refs(&blocks));
            Format::of_path(&path).unwrap().convert(&path, &mesh, false).unwrap();

            let read = contents(&path).unwrap().grids;
            let alone = open_reference(&path, &SolverOptions::new(&[]).unwrap()).unwrap();
            let back = moved(&alone, &bent(&alone.wall(), 0.5, 1.0)).blocks();

            assert_eq!([read.len(), back.len()], [blocks.len(); 2], "{format}");
            for (read, own) in read.iter().zip(&blocks) {
                assert_eq!((&read.x, &read.y), (&own.x, &own.y), "{format}");
            }
            assert!(blocks.len() == 2 || back[1..] == read[1..], "{format}");
            assert!(interfaces(&back).iter().all(|link| link.gap == 0.0), "{format}");
        }
    }
}

#[test]
fn a_stored_reference_has_all_blocks_and_moves_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reference.grd");
    for (_, reference) in both() {
        reference.write(&path).unwrap();

        let read = Reference::read(&path).unwrap();

        assert_eq!(read.blocks(), reference.blocks());
        assert_eq!(read.quality(), reference.quality());
        let wall = bent(&reference.wall(), 0.5, 1.0);
        assert_eq!(moved(&read, &wall).blocks(), moved(&reference, &wall).blocks());
    }
}

/// A problem alone gives the reference that its grid gives, up to the tolerance of the solve.
#[test]
fn a_problem_of_several_blocks_is_a_reference() {
    for (made, count) in [(&*BLADE, 4), (&*BASE, 2)] {
        let problem = made.case.settle().unwrap();

        let reference = problem.reference(&CpuBackend).unwrap();

        for (own, made) in reference.blocks().into_iter().zip(made.blocks()) {
            let apart = distance(own, made);
            assert!(apart < 1e-6 * CHORD, "{apart:e}");
            assert_eq!(own.boundary(), made.boundary());
        }
        assert_eq!(reference.blocks().len(), count);
    }
}

/// Blocks that meet the O-grid at its wall, or none around which something runs, are no cascade.
#[test]
fn other_blocks_are_no_cascade() {
    let options = SolverOptions::new(&[]).unwrap();
    let blocks = BLADE.blocks();
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

/// The surfaces may not cross the base, which the wall points leave open.
#[test]
fn a_wall_that_crosses_its_base_is_refused() {
    let reference = BASE.reference().unwrap();
    let wall = reference.wall();
    let n = wall.len() - 1;
    let mut crossed = wall.clone();
    // The third point of the upper surface lies behind the base.
    crossed[n - 3] = [1.05 * wall[n][0], 0.5 * (wall[0][1] + wall[n][1])];
    let reversed: Wall = wall.iter().rev().copied().collect();

    let of = |wall: &Wall| on_cpu(&reference).move_to(&CpuBackend, wall).err().unwrap();

    assert!(matches!(of(&crossed), MovementError::Crosses { .. }), "{}", of(&crossed));
    assert!(matches!(of(&reversed), MovementError::Reversed), "{}", of(&reversed));
}

#[test]
fn bases_inside_a_tunnel_and_of_other_sections_move() {
    for text in [
        "naca = \"0012\"\nedge_thickness = 0.02\n[domain]\nbox = [-1.5, 3.0, -1.0, 1.0]\n\
         [grid]\nwake = 48\nnj = 49\nfirst_cell = 1e-3",
        "naca = \"4421\"\nangle = 5\nedge_thickness = 0.04\n[grid]\nnj = 65\nfirst_cell = 1e-5",
    ] {
        let text = format!("[geometry]\n{text}\ntopology = \"C\"\nni = 193\n");
        let made = make(&case(&text)).unwrap();
        let reference = made.reference().unwrap();

        let moved = moved(&reference, &vectors::twisted(&reference.wall(), 2.0));

        assert_eq!((moved.blocks().len(), moved.quality.folded_cells), (2, 0), "{text}");
        assert!(moved.newton_iterations <= 6, "{text}: {}", moved.newton_iterations);
        assert!(moved.worn.is_none(), "{text}: {:?}", moved.worn);
    }
}
