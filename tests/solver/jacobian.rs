//! The Jacobian is the derivative of the residual.
#![allow(clippy::float_cmp, reason = "rounded entries must be equal")]

use gridgen::backend::Real;
use gridgen::backend::cpu::CpuBackend;
use gridgen::grid::Seam;
use gridgen::pde::control::{Base, Wall};
use gridgen::solver::NonlinearProblem;
use nalgebra::{DMatrix, DVector};
use support::linear::{dense, product};
use support::problems::Setup;
use support::random::Random;
use support::walls::WallPoints;

const BASES: [Base; 3] = [Base::Laplace, Base::ThomasMiddlecoff, Base::Marched];
const WALLS: [Wall; 2] = [Wall::Frozen, Wall::Coupled];
const SEAMS: [Seam; 2] = [Seam::Held, Seam::Periodic];

/// Nodes of the grids. A row has points of two chunks.
const SIZE: (usize, usize) = (41, 7);

/// A section for the held seam, an ellipse for the periodic one. F is evaluated.
fn setup<T: Real>(base: Base, wall: Wall, seam: Seam) -> Setup<T> {
    let (ni, nj) = SIZE;
    let points = match seam {
        Seam::Held => WallPoints::naca("4412", ni),
        Seam::Periodic => WallPoints::ellipse(0.3, ni),
    };
    let mut setup = Setup::new(&points, nj, 1e-3, base, wall);
    // The state is away from the initial grid, where the marched base has no residual before smoothing, and
    // its wall terms are not zero.
    let (scale, mut random) = (setup.natural_steps(), Random::new(7));
    for (u, scale) in setup.u.iter_mut().zip(scale) {
        *u += 0.05 * scale * random.symmetric();
    }
    let mut f = vec![0.0; setup.n()];
    setup.problem.residual(&CpuBackend, &setup.u, &mut f).unwrap();
    setup
}

/// F at u + h d, with the row weights `kept`.
fn residual_at<T: Real>(setup: &mut Setup<T>, h: f64, d: &[f64], kept: &[f64]) -> Vec<f64> {
    let moved: Vec<f64> = setup.u.iter().zip(d).map(|(u, d)| u + h * d).collect();
    let mut f = vec![0.0; moved.len()];
    setup.problem.residual(&CpuBackend, &moved, &mut f).unwrap();
    let own = setup.row_weights(&moved);
    f.iter().zip(kept.iter().zip(own)).map(|(f, (kept, own))| f * kept / own).collect()
}

/// ∂F/∂u column by column from difference quotients. F is a polynomial of degree at most four in each
/// unknown, for which the five-point quotient is exact up to rounding.
fn quotients(setup: &mut Setup<f64>) -> DMatrix<f64> {
    let (n, scale) = (setup.n(), setup.natural_steps());
    let (mut matrix, kept) = (DMatrix::zeros(n, n), setup.row_weights(&setup.u));
    for (column, scale) in scale.into_iter().enumerate() {
        let mut d = vec![0.0; n];
        d[column] = scale;
        let [p2, p1, m1, m2] = [0.5, 0.25, -0.25, -0.5].map(|h| residual_at(setup, h, &d, &kept));
        for row in 0..n {
            let quotient = (8.0 * (p1[row] - m1[row]) - (p2[row] - m2[row])) / (12.0 * 0.25);
            matrix[(row, column)] = quotient / scale;
        }
    }
    matrix
}

fn assert_derivative(base: Base, wall: Wall, seam: Seam) {
    let mut setup = setup::<f64>(base, wall, seam);
    let n = setup.n();
    let ell = setup.problem.linearise(&CpuBackend).unwrap();
    let jacobian = dense(&CpuBackend, ell, n);
    let x = Random::new(3).vector(n);
    let expected = &jacobian * DVector::from_column_slice(&x);
    for (y, expected) in product(ell, &x).iter().zip(expected.iter()) {
        let off = (y - expected).abs();
        assert!(off < 1e-13 * expected.abs().max(1.0), "{base:?} {wall:?} {seam:?}: {off:e}");
    }

    let expected = quotients(&mut setup);

    let scale = setup.natural_steps();
    for (row, column) in (0..n).flat_map(|r| (0..n).map(move |c| (r, c))) {
        // The error of an entry is measured by the change for a natural step of the unknown.
        let error = (jacobian[(row, column)] - expected[(row, column)]) * scale[column];
        let size = scale[column].max(scale[row]);
        let case = (base, wall, seam, row, column);
        assert!(error.abs() < 1e-11 * size, "{case:?}: {error}");
    }
}

#[test]
fn every_entry_is_the_exact_difference_quotient_and_the_product_that_of_the_entries() {
    for base in BASES {
        for (wall, seam) in WALLS.into_iter().flat_map(|wall| SEAMS.map(|seam| (wall, seam))) {
            assert_derivative(base, wall, seam);
        }
    }
}

#[test]
fn single_precision_entries_are_the_rounded_ones_of_double_precision() {
    for (wall, seam) in WALLS.into_iter().zip(SEAMS) {
        let mut double = setup::<f64>(Base::Marched, wall, seam);
        let mut single = setup::<f32>(Base::Marched, wall, seam);
        let n = double.n();

        let exact = dense(&CpuBackend, double.problem.linearise(&CpuBackend).unwrap(), n);
        let rounded = dense(&CpuBackend, single.problem.linearise(&CpuBackend).unwrap(), n);

        for (exact, rounded) in exact.iter().zip(rounded.iter()) {
            assert_eq!(f64::from(f32::narrow(*exact)), *rounded);
        }
    }
}
