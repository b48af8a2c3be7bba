//! Lines that cross the borders of bands.

use std::sync::Arc;

use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::backend::cuda::{CudaMatrix, Device};
use gridgen::backend::{Bands, Coarsening, LevelSize, MultigridBackend, Order, Real, Result};
use gridgen::sparse::{EllPattern, WalledSides};

use super::ranks::{cut, on_bands_of, opposite, rows};
use support::fibers::{Transport, fibers};
use support::linear::{largest, to_device, to_host};
use support::stencil::{stencil, stencil_of_lines, ten_numbers, wall_columns};

/// The kind of work on a level.
#[derive(Debug, Clone, Copy)]
struct Work {
    coarsening: Coarsening,
    /// Whether the first row and the last row have wall terms.
    walls: [bool; 2],
    transposed: bool,
    /// Sweeps around a correction from a coarse level; otherwise one sweep.
    cycle: bool,
}

const SWEEP: Work =
    Work { coarsening: Coarsening::Full, walls: [false; 2], transposed: false, cycle: false };

impl Work {
    /// The solution u, from zero, on the level of a matrix, which is transposed first if the equations are.
    fn done<B: MultigridBackend, M: Real>(
        self,
        backend: &B,
        (a, pattern): (B::Matrix<f64>, EllPattern),
        columns: &B::Matrix<f64>,
        (size, right): (LevelSize, &[f64]),
    ) -> Result<Vec<f64>> {
        let kind = (size, self.coarsening);
        let columns = self.walls[0].then_some(columns);
        let mut t = backend.matrix(pattern)?;
        if self.transposed {
            backend.transpose(&a, &mut t)?;
        }
        let a = if self.transposed { &t } else { &a };
        let mut levels =
            vec![backend.finest_level::<_, M>(None, kind, self.transposed, a, columns)?];
        backend.factor(&levels)?;
        // The previous contents of a level must not matter.
        for scale in [-3.0, 1.0] {
            let scaled: Vec<f64> = right.iter().map(|f| scale * f).collect();
            backend.load_right(&to_device(backend, &scaled), &mut levels[0])?;
            backend.smooth(&mut levels[0], Order::Forward)?;
            if self.cycle {
                backend.smooth(&mut levels[0], Order::Forward)?;
                let coarse = backend.coarse_level(None, &levels[0], self.coarsening)?;
                levels.insert(1, coarse);
                levels.truncate(2);
                backend.factor(&levels)?;
                let (fine, coarse) = levels.split_at_mut(1);
                let (fine, coarse) = (&mut fine[0], &mut coarse[0]);
                // A W cycle: the sums of the first row are zero after a sweep, but not after a correction.
                for _ in 0..2 {
                    backend.restrict_residual(fine, coarse)?;
                    backend.smooth(coarse, Order::Forward)?;
                    backend.smooth(coarse, Order::Reverse)?;
                    backend.prolong(coarse, fine, None)?;
                }
                backend.smooth(fine, Order::Reverse)?;
            }
        }
        let mut u = backend.zeros(right.len())?;
        backend.store_solution(&levels[0], &mut u)?;
        Ok(to_host(backend, &u, right.len()))
    }
}

/// Largest difference between a sweep over bands on `ranks` ranks and one over the whole level, as a fraction
/// of the largest value, for a matrix of lines alone.
fn difference<M: Real>(size: LevelSize, ranks: usize) -> f64 {
    difference_on::<M>(stencil_of_lines(size, 0.499), SWEEP, size, &fibers(ranks))
}

/// A matrix by entries, and one by ten numbers a point if the equations are not transposed.
fn stencils(size: LevelSize, work: Work) -> impl Iterator<Item = (EllPattern, Vec<f64>)> {
    let short = (!work.transposed).then(|| ten_numbers(size, 0.0));
    std::iter::once(stencil(size)).chain(short)
}

/// Largest difference between any work over bands and over the whole level, for any matrix.
fn difference_on<M: Real>(
    (pattern, values): (EllPattern, Vec<f64>),
    work: Work,
    size: LevelSize,
    devices: &[Arc<dyn Device>],
) -> f64 {
    let LevelSize { mi, mj, periodic } = size;
    let ranks = devices.len();
    let right: Vec<f64> = (0..pattern.rows()).map(|row| (0.7 * row as f64).cos()).collect();
    let whole = EllMatrix::from_values(pattern, values.clone());
    let [below, above] = work.walls;
    let walls = WalledSides([below, above, false, false]);
    let (wall_pattern, wall_values) = wall_columns::<f64>(size, walls);
    let columns = EllMatrix::from_values(wall_pattern, wall_values.clone());
    let expected =
        work.done::<_, M>(&CpuBackend, (whole, pattern), &columns, (size, &right)).unwrap();
    let most = largest(&expected);
    let bands = Bands::new(mi, ranks, periodic).unwrap();

    let found = on_bands_of(devices, Transport::PeerMemory, &bands, |rank, backend| {
        let rows = rows(&bands, rank, mj);
        let own_size = LevelSize { mi: bands.of(rank).len(), mj, periodic: false };
        let part = match pattern {
            EllPattern::TenNumbers(_) => EllPattern::TenNumbers(own_size),
            _ => EllPattern::NinePoint(own_size),
        };
        let own = |values: &[f64]| cut(values, pattern.rows(), &rows);
        let a = CudaMatrix::from_values(backend, part, &own(&values))?;
        let walls = EllPattern::WallColumns(own_size, walls);
        let columns = CudaMatrix::from_values(backend, walls, &own(&wall_values))?;
        let right = own(&right);
        let u = work.done::<_, M>(backend, (a, part), &columns, (size, &right))?;
        Ok((rows, u))
    });

    let pairs = found.unwrap().into_iter().flat_map(|(rows, u)| rows.into_iter().zip(u));
    pairs.map(|(row, u)| (u - expected[row]).abs() / most).fold(0.0, f64::max)
}

/// Wide pieces are joined on both sides.
#[test]
fn a_line_in_pieces_has_the_solution_of_the_whole_line() {
    for (mi, mj, periodic, ranks, most) in [
        (61, 9, false, 2, 1e-12),
        (16, 9, false, 2, 1e-12),
        (900, 3, false, 3, 1e-6),
        (900, 3, true, 3, 1e-6),
    ] {
        let size = LevelSize { mi, mj, periodic };

        let [double, single] = [difference::<f64>(size, ranks), difference::<f32>(size, ranks)];

        assert!(double < most && single < 1e-5, "{size:?}: {double:e}, {single:e}");
    }
}

/// Each block of a launch waits for its counterpart on the neighbour. Only one block runs at a time, and the
/// two devices begin at opposite ends; this must not deadlock, since the rows are taken in one order.
#[test]
fn borders_pass_however_few_blocks_are_at_work_in_any_order() {
    // There are more rows than a block of the exchanges has threads.
    let size = LevelSize { mi: 16, mj: 530, periodic: false };

    for transposed in [false, true] {
        let work = Work { walls: [true, false], transposed, ..SWEEP };

        let difference = difference_on::<f64>(stencil(size), work, size, &opposite());

        assert!(difference < 1e-12, "{transposed}: {difference:e}");
    }
}

/// A cycle has sweeps, restriction (with sums of the first row) and prolongation, on coarse levels in bands
/// and on gathered ones. At this width a spike that passes a whole band is below rounding.
#[test]
fn a_cycle_over_bands_is_that_over_the_whole() {
    for (mi, mj, periodic, ranks) in
        [(98, 13, false, 2), (97, 18, false, 3), (96, 9, true, 2), (96, 20, true, 3)]
    {
        let size = LevelSize { mi, mj, periodic };
        let walls = [[false; 2], [true, false], [true; 2]].into_iter();
        let ways = walls.flat_map(|walls| [false, true].map(|transposed| (walls, transposed)));
        for (walls, transposed) in ways {
            for coarsening in [Coarsening::Full, Coarsening::Xi] {
                let work = Work { coarsening, walls, transposed, cycle: true };

                for of in stencils(size, work) {
                    let difference = difference_on::<f64>(of, work, size, &fibers(ranks));

                    assert!(difference < 1e-12, "{size:?} on {ranks}, {work:?}: {difference:e}");
                }
            }
        }
    }
}
