//! Products of vectors distributed in bands, and their inner products.

use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::backend::cuda::CudaMatrix;
use gridgen::backend::{Backend, Bands, LevelSize, Product, SparseBackend};
use gridgen::sparse::EllPattern;

use super::cases::Case;
use super::factors::jacobian;
use super::ranks::{JACOBI, TRANSPORTS, cut, on_bands_of, rows};
use support::around::{Asked, VECTORS};
use support::fibers::{Transport, fibers};
use support::linear::{to_device, to_host};
use support::stencil::ten_numbers;

/// Number of consecutive products, each of which receives other columns than the one before.
const TURNS: usize = 3;

#[test]
fn a_scaled_vector_is_multiplied_across_borders() {
    // In the last case a column has more points than fit in a neighbour's memory.
    for (periodic, nodes, asked, transports) in [
        (false, (38, 9), &Asked::ALL[..], &TRANSPORTS[..]),
        (true, (38, 9), &Asked::ALL, &TRANSPORTS),
        (true, (25, 16_400), &[Asked::Sum], &[Transport::PeerMemory]),
    ] {
        let (_, data) = Case { periodic, nodes, ..JACOBI }.start();
        let (mi, mj) = (data.mi, data.mj);
        let bands = Bands::new(mi, 3, periodic).unwrap();
        let whole = jacobian(&CpuBackend, &data).unwrap();
        let start: [Vec<f64>; VECTORS] = std::array::from_fn(|turn| {
            let value = |row: usize| 1.0 + (0.3 * (row + 11 * turn) as f64).sin();
            (0..2 * mi * mj).map(value).collect()
        });
        for &asked in asked {
            let (expected, sums) = asked.repeated(&CpuBackend, &whole, &start, TURNS);
            for &transport in transports {
                let found = on_bands_of(&fibers(3), transport, &bands, |rank, backend| {
                    let rows = rows(&bands, rank, mj);
                    let part = |of: &Vec<f64>| rows.iter().map(|&row| of[row]).collect();
                    let start = start.each_ref().map(part);
                    let a = jacobian(backend, &data)?;
                    Ok((rows.clone(), asked.repeated(backend, &a, &start, TURNS)))
                });

                let what = format!("{transport:?}, {periodic}, {asked:?}");
                for (rows, (vectors, own_sums)) in found.unwrap() {
                    for (own, all) in own_sums.into_iter().zip(sums) {
                        assert!((own - all).abs() <= 1e-11 * all.abs(), "{what}: {own} for {all}");
                    }
                    for (k, (own, all)) in vectors.iter().zip(&expected).enumerate() {
                        // If the scalars are halted, z and y are undefined.
                        if asked == Asked::Halted && (k == 1 || k == 2) {
                            continue;
                        }
                        let least = if k == 2 { 1.0 } else { 0.0 };
                        for (&row, own) in rows.iter().zip(own) {
                            let difference = (own - all[row]).abs();
                            let bound = 1e-12 * all[row].abs().max(least);
                            assert!(difference <= bound, "{what}, {row}: {difference:e}");
                        }
                    }
                }
            }
        }
    }
}

/// A product with a matrix of ten numbers a point, and its entries, in bands.
#[test]
fn ten_numbers_pass_borders() {
    for (periodic, mj) in [(false, 9), (true, 9), (true, 2), (false, 1)] {
        let mi = 38;
        let skipping = |points: usize| Product { skipped: [2 * points, 0], add: false };
        let size = LevelSize { mi, mj, periodic };
        let (pattern, values) = ten_numbers::<f64>(size, 0.0);
        let bands = Bands::new(mi, 3, periodic).unwrap();
        let whole = EllMatrix::from_values(pattern, values.clone());
        let (x, mut y) = (values[..pattern.rows()].to_vec(), vec![0.0; pattern.rows()]);
        CpuBackend.multiply(&whole, &x, skipping(mi), &mut y).unwrap();
        let mut entries = CpuBackend.matrix(EllPattern::NinePoint(size)).unwrap();
        CpuBackend.entries(&whole, &mut entries).unwrap();
        for transport in TRANSPORTS {
            let found = on_bands_of(&fibers(3), transport, &bands, |rank, backend| {
                let (rows, own) = (rows(&bands, rank, mj), bands.of(rank).len());
                let cut = |values: &[f64]| cut(values, pattern.rows(), &rows);
                let part = LevelSize { mi: own, mj, periodic: false };
                let numbers = EllPattern::TenNumbers(part);
                let a = CudaMatrix::from_values(backend, numbers, &cut(&values))?;
                let mut own_y = backend.zeros(rows.len())?;
                backend.multiply(&a, &to_device(backend, &cut(&x)), skipping(own), &mut own_y)?;
                let of_own = to_host(backend, &own_y, rows.len());
                let mut of_entries = backend.matrix(EllPattern::NinePoint(part))?;
                backend.entries(&a, &mut of_entries)?;
                Ok((rows, of_own, backend.matrix_values(&of_entries)?))
            });

            for (rows, own, of_entries) in found.unwrap() {
                for (&row, own) in rows.iter().zip(own) {
                    assert!((own - y[row]).abs() < 1e-15, "{transport:?}, {periodic}, {mj}, {row}");
                }
                for (slot, found) in of_entries.chunks(rows.len()).enumerate() {
                    let expected = rows.iter().map(|row| entries.values()[slot * y.len() + row]);
                    assert!(expected.eq(found.iter().copied()), "{transport:?}, {mj}, {slot}");
                }
            }
        }
    }
}
