//! Products in every format.

use super::matrices::{convection, difference, times};
use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{LinearOperator, MatrixFormat, SparseBackend};
use gridgen::sparse::Csr;
use support::with_threads;

fn product(a: &Csr, format: MatrixFormat, x: &[f64]) -> Vec<f64> {
    let matrix = CpuBackend.csr::<f64>(a, format).unwrap();
    let mut y = vec![f64::NAN; a.rows()];
    matrix.apply(&CpuBackend, &x.to_vec(), &mut y).unwrap();
    y
}

/// Rows with no entry, with one, with few, and some with 40 000 each, as in circuits.
fn uneven() -> Csr {
    Csr::from_rows((0..40_000_usize).map(|row| {
        let length = match row % 20_000 {
            777 => 40_000,
            k if k % 3 == 0 => 0,
            k => k % 7,
        };
        (0..length).map(move |k| ((row + k) % 40_000, 1.0 / (1.0 + k as f64)))
    }))
}

#[test]
fn products_do_not_depend_on_the_threads() {
    for a in [uneven(), convection(25)] {
        let x: Vec<f64> = (0..a.rows()).map(|k| (k as f64).sin()).collect();
        for format in [MatrixFormat::Csr, MatrixFormat::Ell] {
            let with = |threads| with_threads(threads, || product(&a, format, &x));

            let y = with(1);

            assert!(difference(&y, &times(&a, &x)) < 1e-12);
            assert!(y == with(3) && y == with(8), "{format:?}");
        }
    }
}
