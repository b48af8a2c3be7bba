//! Multigrid: exact identities on small grids, and convergence on real ones.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failing step fails the test")]

mod support;

use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::backend::{Backend, Coarsening, LevelSize, MultigridBackend, Order};
use nalgebra::{DMatrix, DVector};

use support::stencil::stencil;

/// A matrix with the structure of the grid equations.
fn matrix(size: LevelSize) -> EllMatrix<f64> {
    let (pattern, values) = stencil(size);
    EllMatrix::from_values(pattern, values)
}

fn dense(a: &EllMatrix<f64>) -> DMatrix<f64> {
    let n = a.pattern().rows();
    let mut full = DMatrix::zeros(n, n);
    for row in 0..n {
        for (column, value) in a.row(row) {
            full[(row, column)] += value;
        }
    }
    full
}

/// Linear prolongation of one dimension, m ← m / 2 points: coarse I on fine 2I + 1.
fn prolongation(m: usize, periodic: bool) -> DMatrix<f64> {
    let coarse = m / 2;
    let mut p = DMatrix::zeros(m, coarse);
    for c in 0..coarse {
        let f = 2 * c + 1;
        p[(f, c)] = 1.0;
        p[(f - 1, c)] += 0.5;
        if f + 1 < m {
            p[(f + 1, c)] += 0.5;
        } else if periodic {
            p[(0, c)] += 0.5;
        }
    }
    p
}

/// Prolongation of both dimensions and variables, in the order of the unknowns.
fn prolongation_2d(size: LevelSize, coarsening: Coarsening) -> DMatrix<f64> {
    let xi = prolongation(size.mi, size.wraps());
    let eta = match coarsening {
        Coarsening::Full => prolongation(size.mj, false),
        Coarsening::Xi => DMatrix::identity(size.mj, size.mj),
    };
    eta.kronecker(&xi).kronecker(&DMatrix::identity(2, 2))
}

/// The matrix that a linear map of level vectors stands for, by columns.
fn columns(n: usize, mut map: impl FnMut(&Vec<f64>) -> Vec<f64>) -> DMatrix<f64> {
    let mut full = DMatrix::zeros(n, n);
    for k in 0..n {
        let mut unit = vec![0.0; n];
        unit[k] = 1.0;
        full.set_column(k, &DVector::from_vec(map(&unit)));
    }
    full
}

fn small_sizes() -> [LevelSize; 4] {
    [
        LevelSize { mi: 9, mj: 7, periodic: false },
        LevelSize { mi: 8, mj: 10, periodic: false },
        LevelSize { mi: 12, mj: 7, periodic: true },
        LevelSize { mi: 20, mj: 9, periodic: true },
    ]
}

/// Solving on the coarsest level after enough sweeps inverts its operator, so the coarse operator
/// is seen through its action.
fn coarse_inverse(size: LevelSize, coarsening: Coarsening) -> DMatrix<f64> {
    let backend = CpuBackend;
    let a = matrix(size);
    let mut fine = backend.finest_level::<f64>(size, coarsening).unwrap();
    let mut coarse = backend.coarse_level::<f64>(&fine, coarsening).unwrap();
    backend.load_operator(&a, &mut fine).unwrap();
    backend.coarsen(&fine, &mut coarse).unwrap();
    assert!(backend.pivots_are_finite(&coarse).unwrap());
    let coarser = size.coarser(coarsening);
    columns(2 * coarser.mi * coarser.mj, |unit| {
        backend.load_right(unit, &mut coarse).unwrap();
        for _ in 0..200 {
            backend.smooth(&mut coarse, Order::Forward).unwrap();
            backend.smooth(&mut coarse, Order::Reverse).unwrap();
        }
        let mut z = backend.zeros(unit.len()).unwrap();
        backend.store_solution(&coarse, &mut z).unwrap();
        z
    })
}

#[test]
fn the_coarse_operator_is_the_galerkin_product() {
    for size in small_sizes() {
        for coarsening in [Coarsening::Full, Coarsening::Xi] {
            // A coarse level with an odd number of periodic points is cut, on purpose.
            if size.wraps() && !size.coarser(coarsening).wraps() {
                continue;
            }
            let p = prolongation_2d(size, coarsening);
            let scale = if coarsening == Coarsening::Full { 0.25 } else { 0.5 };
            let galerkin = p.transpose() * dense(&matrix(size)) * &p * scale;

            let inverse = coarse_inverse(size, coarsening);

            let error =
                (&galerkin * &inverse - DMatrix::identity(inverse.nrows(), inverse.nrows())).amax();
            assert!(error < 1e-10, "{size:?} {coarsening:?}: {error:e}");
        }
    }
}

#[test]
fn a_sweep_solves_every_line_exactly() {
    let backend = CpuBackend;
    for size in small_sizes() {
        let a = matrix(size);
        let full = dense(&a);
        let n = full.nrows();
        let r: Vec<f64> = (0..n).map(|k| (k as f64).sin()).collect();
        for coarsening in [Coarsening::Full, Coarsening::Xi] {
            for (order, last) in [(Order::Forward, 1), (Order::Reverse, 0)] {
                let mut level = backend.finest_level::<f64>(size, coarsening).unwrap();
                backend.load_operator(&a, &mut level).unwrap();
                backend.load_right(&r, &mut level).unwrap();

                backend.smooth(&mut level, order).unwrap();

                let mut z = backend.zeros(n).unwrap();
                backend.store_solution(&level, &mut z).unwrap();
                let residual = DVector::from_vec(r.clone()) - &full * DVector::from_vec(z);
                for k in 0..n / 2 {
                    let line = match coarsening {
                        Coarsening::Full => k / size.mi,
                        Coarsening::Xi => k % size.mi,
                    };
                    if line % 2 == last {
                        let worst = residual[2 * k].abs().max(residual[2 * k + 1].abs());
                        assert!(worst < 1e-13, "{size:?} {coarsening:?} {order:?}: {worst:e}");
                    }
                }
            }
        }
    }
}

#[test]
fn restriction_and_prolongation_are_those_of_the_galerkin_product() {
    let backend = CpuBackend;
    for size in small_sizes() {
        for coarsening in [Coarsening::Full, Coarsening::Xi] {
            let a = matrix(size);
            let mut fine = backend.finest_level::<f64>(size, coarsening).unwrap();
            let mut coarse = backend.coarse_level::<f64>(&fine, coarsening).unwrap();
            backend.load_operator(&a, &mut fine).unwrap();
            backend.coarsen(&fine, &mut coarse).unwrap();
            let n = 2 * size.mi * size.mj;
            let r: Vec<f64> = (0..n).map(|k| (0.7 * k as f64).cos()).collect();
            let p = prolongation_2d(size, coarsening);
            let scale = if coarsening == Coarsening::Full { 0.25 } else { 0.5 };

            // One sweep, then the coarse right side is R (r − A z), and one coarse sweep later the
            // fine solution has grown by P times the coarse one.
            backend.load_right(&r, &mut fine).unwrap();
            backend.smooth(&mut fine, Order::Forward).unwrap();
            let mut z = backend.zeros(n).unwrap();
            backend.store_solution(&fine, &mut z).unwrap();
            backend.restrict_residual(&mut fine, &mut coarse).unwrap();
            backend.smooth(&mut coarse, Order::Forward).unwrap();
            let coarser = size.coarser(coarsening);
            let mut correction = backend.zeros(2 * coarser.mi * coarser.mj).unwrap();
            backend.store_solution(&coarse, &mut correction).unwrap();
            backend.prolong(&coarse, &mut fine).unwrap();
            let mut corrected = backend.zeros(n).unwrap();
            backend.store_solution(&fine, &mut corrected).unwrap();

            let grown = DVector::from_vec(z.clone()) + &p * DVector::from_vec(correction.clone());
            let error = (grown - DVector::from_vec(corrected)).amax();
            assert!(error < 1e-13, "prolongation {size:?} {coarsening:?}: {error:e}");
            // The same sweep on the right side computed by dense algebra.
            let residual = DVector::from_vec(r) - dense(&a) * DVector::from_vec(z);
            let expected: DVector<f64> = p.transpose() * residual * scale;
            backend.load_right(&expected.as_slice().to_vec(), &mut coarse).unwrap();
            backend.smooth(&mut coarse, Order::Forward).unwrap();
            let mut again = backend.zeros(correction.len()).unwrap();
            backend.store_solution(&coarse, &mut again).unwrap();
            let error = (DVector::from_vec(again) - DVector::from_vec(correction)).amax();
            assert!(error < 1e-13, "restriction {size:?} {coarsening:?}: {error:e}");
        }
    }
}
