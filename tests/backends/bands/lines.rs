//! Lines that pass the borders of bands.

use std::sync::Arc;

use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::backend::cuda::{CudaMatrix, Device};
use gridgen::backend::{Bands, Coarsening, LevelSize, MultigridBackend, Order, Real};
use gridgen::sparse::EllPattern;

use super::ranks::{fibers, on_bands_of, opposite};
use support::fibers::Transport;
use support::stencil::{stencil, wall_columns};

/// Rows without coupling between them, whose lines along xi let a change decay by e in
/// sixteen points.
fn lines(size: LevelSize) -> (EllPattern, Vec<f64>) {
    let (pattern, mut values) = stencil::<f64>(size);
    for row in 0..pattern.rows() {
        for (at, column) in pattern.row(row) {
            let same_line = row / 2 / size.mi == column / 2 / size.mi;
            values[at] = match (same_line, row == column, row % 2 == column % 2) {
                (false, ..) => 0.0,
                (true, true, _) => -1.0,
                (true, false, true) => 0.499,
                (true, false, false) => values[at] / 100.0,
            };
        }
    }
    (pattern, values)
}

/// The rows of a band.
fn rows_of(bands: &Bands, rank: usize, mj: usize) -> Vec<usize> {
    let (mi, columns) = (2 * bands.columns(), bands.of(rank));
    (0..mj).flat_map(|j| j * mi + 2 * columns.start..j * mi + 2 * columns.end).collect()
}

/// u after a sweep from zero on the level of a matrix.
fn swept<B: MultigridBackend, M: Real>(
    backend: &B,
    (a, columns): (&B::Matrix<f64>, Option<&B::Matrix<f64>>),
    size: LevelSize,
    right: &[f64],
) -> Vec<f64> {
    let kind = (size, Coarsening::Full);
    let mut level = backend.finest_level::<_, M>(None, kind, a, columns).unwrap();
    let mut v = backend.zeros(right.len()).unwrap();
    backend.upload(right, &mut v).unwrap();
    backend.load_right(&v, &mut level).unwrap();
    backend.smooth(&mut level, Order::Forward).unwrap();
    backend.store_solution(&level, &mut v).unwrap();
    let mut u = vec![0.0; right.len()];
    backend.download(&v, &mut u).unwrap();
    u
}

/// Largest difference of a sweep over so many bands from that over the whole level, as a share of the
/// largest value, for a matrix of lines alone.
fn difference<M: Real>(size: LevelSize, ranks: usize) -> f64 {
    difference_of::<M>(lines(size), false, size, ranks)
}

fn difference_of<M: Real>(
    system: (EllPattern, Vec<f64>),
    walls: bool,
    size: LevelSize,
    ranks: usize,
) -> f64 {
    difference_on::<M>(system, walls, size, &fibers(ranks))
}

fn difference_on<M: Real>(
    (pattern, values): (EllPattern, Vec<f64>),
    walls: bool,
    size: LevelSize,
    devices: &[Arc<dyn Device>],
) -> f64 {
    let LevelSize { mi, mj, periodic } = size;
    let ranks = devices.len();
    let right: Vec<f64> = (0..pattern.rows()).map(|row| (0.7 * row as f64).cos()).collect();
    let whole = EllMatrix::from_values(pattern.clone(), values.clone());
    let (wall_pattern, wall_values) = wall_columns::<f64>(size);
    let columns = walls.then(|| EllMatrix::from_values(wall_pattern.clone(), wall_values.clone()));
    let expected = swept::<_, M>(&CpuBackend, (&whole, columns.as_ref()), size, &right);
    let most = expected.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let bands = Bands::new(mi, ranks, periodic).unwrap();

    let found = on_bands_of(devices, Transport::PeerMemory, &bands, |rank, backend| {
        let rows = rows_of(&bands, rank, mj);
        let part = EllPattern::nine_point(bands.of(rank).len(), mj, false);
        let own = |values: &[f64]| -> Vec<f64> {
            let slots = values.chunks(pattern.rows());
            slots.flat_map(|slot| rows.iter().map(|&row| slot[row])).collect()
        };
        let a = CudaMatrix::from_values(backend, &part, &own(&values))?;
        let part = EllPattern::wall_columns(bands.of(rank).len(), mj);
        let columns = CudaMatrix::from_values(backend, &part, &own(&wall_values))?;
        let right: Vec<f64> = rows.iter().map(|&row| right[row]).collect();
        let u = swept::<_, M>(backend, (&a, walls.then_some(&columns)), size, &right);
        Ok((rows, u))
    });

    let pairs = found.unwrap().into_iter().flat_map(|(rows, u)| rows.into_iter().zip(u));
    pairs.map(|(row, u)| (u - expected[row]).abs() / most).fold(0.0, f64::max)
}

#[test]
fn a_line_in_two_pieces_is_solved_as_a_whole() {
    for mi in [61, 16] {
        let size = LevelSize { mi, mj: 9, periodic: false };

        assert!(difference::<f64>(size, 2) < 1e-12, "{mi}: {:e}", difference::<f64>(size, 2));
        assert!(difference::<f32>(size, 2) < 1e-5, "{mi}: {:e}", difference::<f32>(size, 2));
    }
}

#[test]
fn wide_pieces_are_joined_on_both_sides() {
    for periodic in [false, true] {
        let size = LevelSize { mi: 900, mj: 3, periodic };

        let difference = difference::<f64>(size, 3);

        assert!(difference < 1e-6, "{periodic}: {difference:e}");
    }
}

#[test]
fn a_sweep_over_two_bands_is_that_over_the_whole() {
    for mi in [16, 61] {
        let size = LevelSize { mi, mj: 9, periodic: false };

        for walls in [false, true] {
            let difference = difference_of::<f64>(stencil(size), walls, size, 2);

            assert!(difference < 1e-12, "{mi} {walls}: {difference:e}");
        }
    }
}

/// Of the blocks of a launch, each of which waits for its counterpart on the neighbour, one is at work at
/// a time, and the two devices begin at opposite ends: their rows are taken in one order all the same.
#[test]
fn borders_pass_however_few_blocks_are_at_work_in_any_order() {
    // More rows than a block of the exchanges has threads.
    let size = LevelSize { mi: 16, mj: 530, periodic: false };

    let difference = difference_on::<f64>(stencil(size), true, size, &opposite());

    assert!(difference < 1e-12, "{difference:e}");
}
