//! Matrices for the tests.

use gridgen::backend::cpu::{CpuBackend, CsrMatrix};
use gridgen::backend::{
    Algebraic, BadPivot, Incomplete, MatrixFormat, Preconditioner, Real, SparseBackend,
    SparseMatrix,
};
use gridgen::sparse::{Csr, Schedule};
use nalgebra::DMatrix;
use proptest::prelude::*;
use support::linear::{Matrix, bad_pivot, columns};

pub(crate) use crate::rows::patterns::{difference, times};

pub(crate) const KINDS: [Incomplete; 4] =
    [Incomplete::Dilu, Incomplete::Dic, Incomplete::Ilu0, Incomplete::Ic0];

/// Schedules that apply the same M.
pub(crate) const SAME: [Schedule; 3] = [Schedule::Auto, Schedule::Levels, Schedule::SyncFree];

/// Small matrices with random patterns and large diagonals, so that no pivot vanishes; some rows have only
/// their diagonal.
pub(crate) fn random() -> impl Strategy<Value = Csr> {
    let entry = |n: usize| (0..n, 0..n, -1.0..1.0_f64);
    let entries = (1..25_usize)
        .prop_flat_map(move |n| (Just(n), proptest::collection::vec(entry(n), 0..5 * n)));
    entries.prop_map(|(n, entries)| {
        let mut dense = DMatrix::zeros(n, n);
        for (row, column, value) in entries {
            dense[(row, column)] = value;
        }
        for k in 0..n {
            dense[(k, k)] = 1.0 + dense.row(k).lp_norm(1) + dense.column(k).lp_norm(1);
        }
        Matrix::<f64>::of(n, |row, column| dense[(row, column)]).rows
    })
}

pub(crate) fn dense(a: &Csr) -> DMatrix<f64> {
    columns(a.rows(), |unit| times(a, unit))
}

/// The matrix with this value of each entry at (row, column), or without it.
pub(crate) fn changed(a: &Csr, value: impl Fn(usize, usize, f64) -> Option<f64>) -> Csr {
    let value = &value;
    let row = |row| a.row(row).filter_map(move |(c, v)| Some((c, value(row, c, v)?)));
    Csr::from_rows((0..a.rows()).map(row))
}

/// The symmetric matrix with the same entries on and left of the diagonal.
pub(crate) fn mirrored(a: &DMatrix<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(a.nrows(), a.ncols(), |i, j| a[(i.max(j), i.min(j))])
}

pub(crate) struct Factored<T: Real> {
    pub(crate) matrix: CsrMatrix<T>,
    factors: Box<dyn Preconditioner<CpuBackend, T, CsrMatrix<T>>>,
}

impl<T: Real> Factored<T> {
    /// Prepares factors of A + `shift` diag(A).
    pub(crate) fn analysed(a: &Csr, kind: Incomplete, schedule: Schedule, shift: f64) -> Self {
        let matrix = CpuBackend.csr(a, MatrixFormat::Csr).unwrap();
        let kind = Algebraic::Factors { kind, schedule, shift };
        let factors = matrix.preconditioner(&CpuBackend, kind).unwrap();
        Self { matrix, factors }
    }

    /// Factorises the matrix; returns the first unusable pivot.
    pub(crate) fn update(&mut self) -> Option<BadPivot> {
        bad_pivot(self.factors.update(&CpuBackend, &self.matrix))
    }

    /// M⁻¹ r.
    pub(crate) fn apply(&mut self, r: &[T]) -> Vec<T> {
        let mut z = vec![T::nan(); r.len()];
        self.factors.apply(&CpuBackend, &self.matrix, &r.to_vec(), &mut z).unwrap();
        z
    }
}

/// Factors of a matrix with usable pivots.
pub(crate) fn factored(a: &Csr, kind: Incomplete, schedule: Schedule) -> Factored<f64> {
    let mut factored = Factored::analysed(a, kind, schedule, 0.0);
    assert_eq!(factored.update(), None);
    factored
}

/// Convection and diffusion on a box of m³ points with seven-point differences, 3 m − 2 levels.
pub(crate) fn convection(m: usize) -> Csr {
    Csr::from_rows((0..m * m * m).map(|row| {
        let mut entries = vec![(row, 6.3)];
        for (stride, wind) in [(1, 0.4), (m, 0.2), (m * m, -0.3)] {
            let at = row / stride % m;
            entries.extend((at > 0).then(|| (row - stride, -1.0 - wind)));
            entries.extend((at + 1 < m).then(|| (row + stride, -1.0 + wind)));
        }
        entries
    }))
}
