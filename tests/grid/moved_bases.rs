//! C-grids around a section with a base whose wall moves: both interfaces follow their corners, and the block between them
//! follows the interfaces.
#![allow(clippy::float_cmp, reason = "interfaces are the same bit for bit")]

use std::sync::LazyLock;

use gridgen::backend::cpu::CpuBackend;
use gridgen::generate::GridResult;
use gridgen::grid::Grid;
use gridgen::grid::quality::{interfaces, measure};
use gridgen::movement::{MovementError, Reference};
use support::grids::distance;
use support::vectors;

use super::behind::across;
use super::moved_blades::{
    CHORD, Wall, assert_problem, assert_stored, derivatives, moved, on_cpu, product, read_back,
    weights,
};
use super::{assert_heights, case, make, shipped};

static MADE: LazyLock<GridResult> = LazyLock::new(|| made(&[]));

/// The shipped flatback with fewer points, that chord and first cells of 1e-4 chord, and some more keys.
fn made(more: &[(&str, &str)]) -> GridResult {
    let keys = [("grid.ni", "161"), ("grid.nj", "49"), ("grid.first_cell", "1e-4")];
    let chord = CHORD.to_string();
    let keys = [&keys[..], &[("geometry.chord", &*chord)], more].concat();
    make(&shipped("du-flatback-c.toml", &keys)).unwrap()
}

fn reference() -> Reference {
    MADE.reference().unwrap()
}

/// The wall turned nose up about its quarter point, and made thicker across its chord.
fn bent(wall: &[[f64; 2]], degrees: f64, thicker: f64) -> Wall {
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let bend = |[x, y]: &[f64; 2]| {
        let [x, y] = [x - 0.25 * CHORD, thicker * y];
        [0.25 * CHORD + cosine * x + sine * y, cosine * y - sine * x]
    };
    wall.iter().map(bend).collect()
}

#[test]
fn a_base_that_does_not_move_leaves_both_blocks() {
    let reference = reference();

    let same = moved(&reference, &reference.wall());

    assert_eq!(same.newton_iterations, 0);
    let blocks: Vec<Grid> = reference.blocks().into_iter().cloned().collect();
    assert_eq!(on_cpu(&reference).unmoved(&CpuBackend).unwrap().blocks(), blocks);
    // Away with the chord and back rounds the nodes.
    for ((own, made), same) in blocks.iter().zip(MADE.blocks()).zip(same.blocks()) {
        assert!(distance(own, made) < 1e-12 * CHORD && distance(own, &same) < 1e-12 * CHORD);
        assert_eq!((own.boundary(), &same.boundary()), (made.boundary(), &made.boundary()));
    }
    assert!((same.quality.mean_skewness - MADE.quality.mean_skewness).abs() < 1e-9);
}

#[test]
fn a_base_moves_with_its_interfaces_and_keeps_its_first_cells() {
    let reference = reference();
    let before = MADE.blocks();
    for (degrees, thicker) in [(2.0, 1.0), (-3.0, 1.0), (6.0, 1.0), (0.0, 1.1), (1.0, 0.95)] {
        let what = format!("{degrees} degrees, {thicker} times as thick");

        let wall = bent(&reference.wall(), degrees, thicker);
        let moved = moved(&reference, &wall);

        assert_eq!((moved.quality.folded_cells, moved.parts), (0, 1), "{what}");
        assert_heights(&moved.quality, 1e-4 * CHORD, 1e-4, &what);
        let angle = moved.quality.wall_angle_error_max_deg;
        assert!(angle < 1e-3, "{what}: {angle:e}");
        assert!(distance(moved.grid(), before[0]) > 1e-3 * CHORD, "{what}");
        let blocks = moved.blocks();
        let [grid, block] = &blocks[..] else { panic!("{what}: {} blocks", blocks.len()) };
        // The base ends at the corners of the wall, and interfaces have equal nodes on both sides.
        for (j, corner) in [(0, wall[0]), (block.nj - 1, *wall.last().unwrap())] {
            let off = vectors::distance(block.point(0, j), corner);
            assert!(off < 1e-14 * CHORD, "{what}: {off:e}");
        }
        let links = interfaces(&blocks);
        assert_eq!((links.len(), links.iter().all(|link| link.gap == 0.0)), (2, true), "{what}");
        let most = if thicker == 1.0 { 0.4 } else { 0.8 };
        for [kink, growth] in across(grid, block) {
            assert!(kink < most, "{what}: {kink}");
            assert!((growth * thicker - 1.0).abs() < 0.12, "{what}: {growth}");
        }
        let all = measure(grid).with_blocks(grid, [block].into_iter());
        assert_eq!(moved.quality, all, "{what}");
    }
}

#[test]
fn derivatives_reach_the_block_behind_forward_and_adjoint() {
    // Central differences amplify what the tolerance leaves.
    let reference = made(&[("newton.tolerance", "1e-12")]).reference().unwrap();

    let found = derivatives(&reference, &bent(&reference.wall(), 0.7, 1.02));

    let [_, behind] = &found[..] else { panic!("{} blocks", found.len()) };
    let share = product(behind, &weights(behind));
    assert!(share.abs() > 1e-3 * CHORD, "{share:e}");
}

#[test]
fn moved_blocks_are_read_back_from_files_and_moved_again() {
    let reference = reference();
    let moved = moved(&reference, &bent(&reference.wall(), -1.0, 1.03));
    for name in ["moved.cgns", "moved.p3d", "moved.su2"] {
        let [_, back] = read_back(name, &moved.blocks(), |wall| bent(wall, 0.5, 1.0));

        assert_eq!(back.len(), 2, "{name}");
        assert!(interfaces(&back).iter().all(|link| link.gap == 0.0), "{name}");
    }
}

#[test]
fn a_stored_reference_of_a_base_has_both_blocks() {
    assert_stored(&reference(), |wall| bent(wall, 0.5, 1.0));
}

#[test]
fn the_problem_of_a_base_is_a_reference() {
    assert_problem(&MADE, 2);
}

/// The surfaces may not cross the base, which the wall points leave open.
#[test]
fn a_wall_that_crosses_its_base_is_refused() {
    let reference = reference();
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
