//! Multigrid: exact identities on small grids, and convergence on realistic ones.

use gridgen::backend::cpu::{CpuBackend, EllMatrix, Level};
use gridgen::backend::{Coarsening, LevelSize, MultigridBackend, Order};
use gridgen::sparse::WalledSides;
use nalgebra::{DMatrix, DVector};

use support::linear::{columns, dense};
use support::stencil::{stencil, wall_columns};

/// A matrix with the structure of the grid equations.
fn matrix(size: LevelSize) -> EllMatrix<f64> {
    let (pattern, values) = stencil(size);
    EllMatrix::from_values(pattern, values)
}

fn columns_of_walls(size: LevelSize) -> EllMatrix<f64> {
    let (pattern, values) = wall_columns(size, WalledSides::SECTION);
    EllMatrix::from_values(pattern, values)
}

/// A, or with wall terms K = A (I − E Eᵀ) + B Eᵀ.
fn system(size: LevelSize, walls: bool) -> DMatrix<f64> {
    let mut full = dense(&CpuBackend, &matrix(size), 2 * size.mi * size.mj);
    if walls {
        full.columns_mut(0, 2 * size.mi).fill(0.0);
        let b = columns_of_walls(size);
        for row in 0..full.nrows() {
            for (column, value) in b.row(row) {
                full[(row, column)] += value;
            }
        }
    }
    full
}

fn loaded(size: LevelSize, coarsening: Coarsening, walls: bool) -> Level<f64> {
    let columns = walls.then(|| columns_of_walls(size));
    CpuBackend
        .finest_level(None, (size, coarsening), false, &matrix(size), columns.as_ref())
        .unwrap()
}

fn solution(level: &Level<f64>, LevelSize { mi, mj, .. }: LevelSize) -> DVector<f64> {
    let mut z = vec![0.0; 2 * mi * mj];
    CpuBackend.store_solution(level, &mut z).unwrap();
    DVector::from_vec(z)
}

const KINDS: [(Coarsening, bool); 4] = [
    (Coarsening::Full, false),
    (Coarsening::Xi, false),
    (Coarsening::Full, true),
    (Coarsening::Xi, true),
];

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

/// Prolongation in both dimensions and variables, in the order of the unknowns. Wall terms are prolonged
/// along xi, and the points whose places they take remain zero.
fn prolongation_2d(size: LevelSize, coarsening: Coarsening, walls: bool) -> DMatrix<f64> {
    let xi = prolongation(size.mi, size.wraps());
    let mut eta = match coarsening {
        Coarsening::Full => prolongation(size.mj, false),
        Coarsening::Xi => DMatrix::identity(size.mj, size.mj),
    };
    if walls {
        eta.column_mut(0).fill(0.0);
        eta[(0, 0)] = 1.0;
    }
    eta.kronecker(&xi).kronecker(&DMatrix::identity(2, 2))
}

fn small_sizes() -> [LevelSize; 4] {
    [
        LevelSize { mi: 9, mj: 7, periodic: false },
        LevelSize { mi: 8, mj: 10, periodic: false },
        LevelSize { mi: 12, mj: 7, periodic: true },
        LevelSize { mi: 20, mj: 9, periodic: true },
    ]
}

/// Solving on the coarsest level with enough sweeps inverts its operator, which makes the coarse operator
/// observable.
fn coarse_inverse(size: LevelSize, coarsening: Coarsening, walls: bool) -> DMatrix<f64> {
    let backend = CpuBackend;
    let fine = loaded(size, coarsening, walls);
    let mut coarse = backend.coarse_level(None, &fine, coarsening).unwrap();
    assert!(backend.pivots_are_finite(&coarse).unwrap());
    let coarser = size.coarser(coarsening);
    columns(2 * coarser.mi * coarser.mj, |unit| {
        backend.load_right(unit, &mut coarse).unwrap();
        for _ in 0..200 {
            backend.smooth(&mut coarse, Order::Forward).unwrap();
            backend.smooth(&mut coarse, Order::Reverse).unwrap();
        }
        solution(&coarse, coarser).as_slice().to_vec()
    })
}

/// R = ½ Pᵀ in each coarsened direction.
fn scale(coarsening: Coarsening) -> f64 {
    if coarsening == Coarsening::Full { 0.25 } else { 0.5 }
}

/// Coarse wall columns are fully weighted: R B with the sum of the weights along xi on the line's own wall
/// terms.
#[test]
fn the_coarse_operator_is_the_galerkin_product_with_the_wall_columns_in_full_weighting() {
    for (size, (coarsening, walls)) in
        small_sizes().into_iter().flat_map(|size| KINDS.map(|kind| (size, kind)))
    {
        // A coarse level with an odd number of periodic points is cut by design.
        let coarser = size.coarser(coarsening);
        if size.wraps() && !coarser.wraps() {
            continue;
        }
        let (p, n) = (prolongation_2d(size, coarsening, false), 2 * size.mi * size.mj);
        let restriction = p.transpose() * scale(coarsening);
        let mut expected = &restriction * dense(&CpuBackend, &matrix(size), n) * &p;
        if walls {
            let b = columns_of_walls(size);
            let weighted =
                restriction * DMatrix::from_fn(n, 2, |row, slot| b.row(row).nth(slot).unwrap().1);
            expected.columns_mut(0, 2 * coarser.mi).fill(0.0);
            for row in 0..expected.nrows() {
                let line = 2 * (row / 2 % coarser.mi);
                for slot in 0..2 {
                    expected[(row, line + slot)] = weighted[(row, slot)];
                }
            }
        }

        let inverse = coarse_inverse(size, coarsening, walls);

        let error =
            (expected * &inverse - DMatrix::identity(inverse.nrows(), inverse.nrows())).amax();
        let most = if walls { 1e-9 } else { 1e-10 };
        assert!(error < most, "{size:?} {coarsening:?}, {walls}: {error:e}");
    }
}

#[test]
fn a_sweep_solves_every_line_exactly() {
    let backend = CpuBackend;
    for size in small_sizes() {
        let n = 2 * size.mi * size.mj;
        let r: Vec<f64> = (0..n).map(|k| (k as f64).sin()).collect();
        for (coarsening, walls) in KINDS {
            let full = system(size, walls);
            for (order, last) in [(Order::Forward, 1), (Order::Reverse, 0)] {
                let mut level = loaded(size, coarsening, walls);
                backend.load_right(&r, &mut level).unwrap();

                backend.smooth(&mut level, order).unwrap();

                let residual = DVector::from_vec(r.clone()) - &full * solution(&level, size);
                for k in 0..n / 2 {
                    let line = match coarsening {
                        Coarsening::Full => k / size.mi,
                        Coarsening::Xi => k % size.mi,
                    };
                    // The row of the wall terms has no xi-line.
                    let solved = !(walls && coarsening == Coarsening::Full && line == 0);
                    if line % 2 == last && solved {
                        let worst = residual[2 * k].abs().max(residual[2 * k + 1].abs());
                        let at = format!("{size:?} {coarsening:?}, {walls}, {order:?}");
                        assert!(worst < 1e-13, "{at}: {worst:e}");
                    }
                }
            }
        }
    }
}

#[test]
fn restriction_and_prolongation_agree_with_the_galerkin_product() {
    let backend = CpuBackend;
    for size in small_sizes() {
        for (coarsening, walls) in KINDS {
            let mut fine = loaded(size, coarsening, walls);
            let mut coarse = backend.coarse_level(None, &fine, coarsening).unwrap();
            let n = 2 * size.mi * size.mj;
            let r: Vec<f64> = (0..n).map(|k| (0.7 * k as f64).cos()).collect();
            let p = prolongation_2d(size, coarsening, walls);
            let all = prolongation_2d(size, coarsening, false);

            // After one sweep the coarse right-hand side is R (r − A z); after one coarse sweep the fine
            // solution has grown by P times the coarse one.
            backend.load_right(&r, &mut fine).unwrap();
            backend.smooth(&mut fine, Order::Forward).unwrap();
            let z = solution(&fine, size);
            backend.restrict_residual(&mut fine, &mut coarse).unwrap();
            backend.smooth(&mut coarse, Order::Forward).unwrap();
            let coarser = size.coarser(coarsening);
            let correction = solution(&coarse, coarser);
            backend.prolong(&coarse, &mut fine, None).unwrap();

            let error = (&z + &p * &correction - solution(&fine, size)).amax();
            assert!(error < 1e-13, "prolongation {size:?} {coarsening:?}: {error:e}");
            // A sweep, on the right-hand side computed by dense algebra.
            let residual = DVector::from_vec(r) - system(size, walls) * z;
            let expected: DVector<f64> = all.transpose() * residual * scale(coarsening);
            backend.load_right(&expected.as_slice().to_vec(), &mut coarse).unwrap();
            backend.smooth(&mut coarse, Order::Forward).unwrap();
            let error = (solution(&coarse, coarser) - correction).amax();
            assert!(error < 1e-13, "restriction {size:?} {coarsening:?}: {error:e}");
        }
    }
}
