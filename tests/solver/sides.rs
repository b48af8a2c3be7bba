//! Exact first cells on any sides of a block.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{Coarsening, EllipticBackend, LevelSize};
use gridgen::elliptic::{GridJacobian, GridProblem};
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::LinearSettings;
use gridgen::solver::precond::{Kind, MultigridSettings};
use gridgen::sparse::Schedule;
use support::blocks::{Block, MAPS, bend, nozzle, wave};
use support::linear::{largest, off_transpose, product, transposed};
use support::problems::{linearised, preconditioned};
use support::random::Random;

const ONE: [bool; 4] = [true, false, false, false];

/// Walls of which at least one is not that at j = 0.
const OTHERS: [[bool; 4]; 8] = [
    [false, true, false, false],
    [true, true, false, false],
    [false, false, true, false],
    [false, false, false, true],
    [true, false, true, false],
    [false, true, false, true],
    [false, false, true, true],
    [true; 4],
];

#[test]
fn walls_on_any_sides_take_few_iterations() {
    for (name, map) in MAPS {
        for (size, height) in [([65, 33], 1e-3), ([49, 65], 1e-4)] {
            let solved =
                |walls| Block::new(size, walls, [1.3 * height, height], map).solved(&CpuBackend);
            let (_, _, of_one) = solved(ONE);
            for walls in OTHERS {
                let (_, steps, linear) = solved(walls);
                let of = format!("{name}, {walls:?}, {size:?}: {steps} steps, {linear} iterations");
                assert!(steps <= 5 && linear <= 7.5, "{of}");
                assert!(linear <= of_one + 3.0, "{of} where one wall takes {of_one}");
            }
        }
    }
}

#[test]
fn a_block_seen_from_another_side_has_the_same_grid() {
    for walls in [ONE, [true, true, false, false], [true, false, true, false], [true; 4]] {
        let block = Block::new([49, 41], walls, [2e-3, 1e-3], bend);
        let (expected, ..) = block.solved(&CpuBackend);
        for (exchanged, reversed) in [(false, true), (true, false), (true, true)] {
            let seen = block.seen(exchanged, reversed);
            let (found, ..) = seen.solved(&CpuBackend);
            for (k, at) in found.iter().enumerate() {
                let there = expected[block.place(k, [seen.ni, seen.nj], exchanged, reversed)];
                let off = (at[0] - there[0]).hypot(at[1] - there[1]);
                assert!(off < 1e-9, "{walls:?}, {exchanged}, {reversed}, point {k}: {off:e}");
            }
        }
    }
}

fn on_two_walls(point: usize, size: LevelSize, walls: [bool; 4]) -> bool {
    let (i, j) = (point % size.mi, point / size.mi);
    ((walls[0] && j == 0) || (walls[1] && j + 1 == size.mj))
        && ((walls[2] && i == 0) || (walls[3] && i + 1 == size.mi))
}

#[test]
fn products_are_those_of_the_rows_and_the_transpose_has_the_columns() {
    for walls in OTHERS {
        let (problem, u) = of_block(&Block::new([9, 11], walls, [0.1, 0.08], wave));
        let both = [problem.jacobian(), &problem.transposed(&CpuBackend).unwrap()];
        let rows_of_both = both.map(|jacobian| jacobian.to_csr(&CpuBackend).unwrap());
        assert_eq!(rows_of_both[1], transposed(&rows_of_both[0]), "{walls:?}");
        for (jacobian, rows) in both.into_iter().zip(&rows_of_both) {
            let x = Random::new(1).vector(u.len());

            let y = product(jacobian, &x);

            for (row, y) in y.iter().enumerate() {
                let sum: f64 = rows.row(row).map(|(column, value)| value * x[column]).sum();
                let corner = on_two_walls(row / 2, problem.size(), walls);
                let expected = if corner { 0.0 } else { sum };
                assert!((y - expected).abs() < 1e-12, "{walls:?}, row {row}: {y} and {expected}");
            }
        }
    }
}

/// The linearised problem of a block, and its first guess.
fn of_block(block: &Block) -> (GridProblem<CpuBackend, f64>, Vec<f64>) {
    let data = block.data();
    let (_, u) = CpuBackend.elliptic(&data).unwrap();
    (linearised(&data, &u, Kind::None), u)
}

/// The even lines are relaxed last, and their equations hold then, with one border or two; so do those of the transpose.
#[test]
fn lines_with_borders_are_solved_exactly() {
    for walls in [ONE, [false, true, false, false], [true, true, false, false]] {
        for nj in [9, 41] {
            let h = 0.5 / nj as f64;
            let (problem, u) = of_block(&Block::new([7, nj], walls, [h, 0.8 * h], wave));
            for jacobian in [problem.jacobian(), &problem.transposed(&CpuBackend).unwrap()] {
                let r = Random::new(1).vector(u.len());

                let z = preconditioned((Kind::Multigrid, Coarsening::Xi), jacobian, &r);

                let kz = product(jacobian, &z);
                let even = (0..u.len()).filter(|k| (k / 2 % 5).is_multiple_of(2));
                let worst = even.map(|k| (kz[k] - r[k]).abs()).fold(0.0, f64::max);
                let most = largest(&z).max(1.0);
                assert!(worst < 1e-13 * most, "{walls:?}, {nj} points: {worst:e} of {most:e}");
            }
        }
    }
}

/// ⟨K v, w⟩ = ⟨v, Kᵀ w⟩ and ⟨M⁻¹ v, w⟩ = ⟨v, M⁻ᵀ w⟩ with walls on any sides.
#[test]
fn the_cycle_of_the_transpose_is_the_transpose_of_the_cycle() {
    for walls in OTHERS {
        for (size, height) in [([65, 34], 1e-3), ([50, 65], 1e-4), ([37, 129], 1e-2)] {
            let (problem, u) = of_block(&Block::new(size, walls, [1.3 * height, height], nozzle));
            let matrices = [problem.jacobian(), &problem.transposed(&CpuBackend).unwrap()];
            let n = u.len();
            let off = off_transpose(n, |v| product(matrices[0], v), |w| product(matrices[1], w));
            assert!(off < 1e-12, "{walls:?}, {size:?}: {off:e}");
            for coarsening in [Coarsening::Full, Coarsening::Xi] {
                let kind = (Kind::Multigrid, coarsening);
                let off = off_transpose(
                    n,
                    |v| preconditioned(kind, matrices[0], v),
                    |w| preconditioned(kind, matrices[1], w),
                );
                assert!(off < 1e-12, "{walls:?}, {size:?}, {coarsening:?}: {off:e}");
            }
        }
    }
}

/// Systems of the transpose take about as many iterations as those of the Jacobian with the same right side.
#[test]
fn the_transpose_takes_as_few_iterations() {
    let sizes = [([65, 33], 1e-3), ([49, 65], 1e-5)];
    for walls in OTHERS {
        for ((name, map), (size, height)) in
            MAPS.into_iter().flat_map(|map| sizes.map(|size| (map, size)))
        {
            let (problem, u) = of_block(&Block::new(size, walls, [1.3 * height, height], map));
            let iterations = |matrix: &GridJacobian<CpuBackend, f64>| {
                let kind = (Kind::Multigrid, Schedule::default());
                let krylov =
                    LinearSettings { method: Method::Bicgstab, max_iterations: 100, restart: 10 };
                let mut solver = matrix.linear_solver(krylov, kind, MultigridSettings::default());
                solver.update(&CpuBackend, matrix).unwrap();
                let (mut b, mut x) = (Random::new(1).vector(u.len()), vec![0.0; u.len()]);
                // Points on two walls have no equations.
                let corner = |k: &usize| on_two_walls(k / 2, problem.size(), walls);
                (0..u.len()).filter(corner).for_each(|k| b[k] = 0.0);
                let solved = solver.solve(&CpuBackend, matrix, &b, 1e-10, &mut x, &mut |_, _| ());
                solved.unwrap().iterations
            };
            let forward = iterations(problem.jacobian());
            let backward = iterations(&problem.transposed(&CpuBackend).unwrap());
            let of = format!("{name}, {walls:?}, {size:?}");
            assert!(backward <= forward + 3.0, "{of}: {backward}, {forward} forward");
        }
    }
}
