//! Incomplete factors of each band.

use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::backend::{Algebraic, Bands, EllipticBackend, EllipticData, Incomplete, LevelSize};
use gridgen::solver::SolverError;
use gridgen::sparse::{EllPattern, Schedule};

use super::cases::Case;
use super::ranks::{self, JACOBI, on_bands_of, rows};
use crate::rows::systems::preconditioned;
use support::fibers::{Transport, fibers};

pub fn jacobian<B: EllipticBackend>(
    backend: &B,
    data: &EllipticData,
) -> Result<B::Matrix<f64>, SolverError> {
    let (mut state, _) = backend.elliptic(data)?;
    let pattern = EllPattern::NinePoint(backend.size(&state));
    let mut f = backend.zeros(pattern.rows())?;
    let _ = backend.residual(&mut state, &mut f)?;
    let mut a = backend.matrix(pattern)?;
    backend.jacobian(&state, &mut a, None)?;
    Ok(a)
}

#[test]
fn factors_of_bands_drop_the_couplings_between_bands() {
    for periodic in [false, true] {
        let (_, data) = Case { periodic, nodes: (38, 9), ..JACOBI }.start();
        let (mi, mj) = (data.mi, data.mj);
        let bands = Bands::new(mi, 3, periodic).unwrap();
        let band_of = |row: usize| {
            let i = row / 2 % mi;
            (0..3).find(|&rank| bands.of(rank).contains(&i)).unwrap()
        };
        // On the CPU the couplings between bands are set to zero in the whole matrix.
        let whole = jacobian(&CpuBackend, &data).unwrap();
        let pattern = EllPattern::NinePoint(LevelSize { mi, mj, periodic });
        let mut values = whole.values().to_vec();
        for row in 0..pattern.rows() {
            for (at, column) in pattern.row(row) {
                // With a band on each side, couplings across a periodic seam are dropped too.
                let across = (row / 2 % mi).abs_diff(column / 2 % mi) > 1;
                if across || band_of(row) != band_of(column) {
                    values[at] = 0.0;
                }
            }
        }
        let cut = EllMatrix::from_values(pattern, values);
        let r: Vec<f64> = (0..2 * mi * mj).map(|row| (0.7 * row as f64).cos()).collect();
        for kind in [Incomplete::Dilu, Incomplete::Ilu0] {
            let factors = Algebraic::Factors { kind, schedule: Schedule::Levels, shift: 0.0 };
            let expected = preconditioned(&CpuBackend, &cut, factors, &r).unwrap();
            let found = on_bands_of(&fibers(3), Transport::Host, &bands, |rank, backend| {
                let a = jacobian(backend, &data)?;
                let rows = rows(&bands, rank, mj);
                let r = ranks::cut(&r, r.len(), &rows);
                Ok((rows, preconditioned(backend, &a, factors, &r)?))
            });

            for (rows, values) in found.unwrap() {
                for (row, value) in rows.into_iter().zip(values) {
                    let difference = (value - expected[row]).abs();
                    assert!(difference < 1e-12, "{periodic}, {kind:?}, row {row}: {difference:e}");
                }
            }
        }
    }
}
