//! A matrix by rows.

use super::factors::CsrFactors;
use super::product::{Pieces, by_rows};
use super::slices::Slices;
use crate::backend::cpu::CpuBackend;
use crate::backend::cpu::jacobi::{InverseDiagonal, Jacobi};
use crate::backend::preconditioner::Identity;
use crate::backend::{
    Algebraic, DeviceError, Format, LinearOperator, Preconditioner, Real, SparseMatrix,
};
use crate::sparse::{Csr, Pattern};
use std::sync::Arc;

/// Where the entries of a matrix stand.
#[derive(Debug)]
pub(super) struct Layout {
    row_start: Vec<usize>,
    columns: Vec<u32>,
    pieces: Pieces,
}

impl Layout {
    pub(super) fn pattern(&self) -> Pattern<'_> {
        Pattern { row_start: &self.row_start, columns: &self.columns }
    }
}

/// A matrix by rows, and in slices where they were asked for.
#[derive(Debug, Clone)]
pub struct CsrMatrix<T> {
    layout: Arc<Layout>,
    values: Vec<T>,
    slices: Option<Slices<T>>,
}

impl<T: Real> CsrMatrix<T> {
    /// A copy of `a`. With [`Format::Ell`] products use the sliced form of [`Slices`], unless its
    /// rows are so uneven that it would hold more than [`Slices::PADDED`] slots an entry: then they
    /// use the rows.
    pub(in crate::backend::cpu) fn new(a: &Csr, format: Format) -> Self {
        let values: Vec<T> = a.values.iter().map(|&value| T::narrow(value)).collect();
        let slices = match format {
            Format::Csr => None,
            Format::Ell => Slices::new(a.pattern(), &values),
        };
        let layout = Layout {
            row_start: a.row_start.clone(),
            columns: a.columns.clone(),
            pieces: Pieces::new(&a.row_start),
        };
        Self { layout: Arc::new(layout), values, slices }
    }

    pub(super) fn pattern(&self) -> Pattern<'_> {
        self.layout.pattern()
    }

    pub(super) fn values(&self) -> &[T] {
        &self.values
    }
}

impl<T: Real> LinearOperator<CpuBackend, T> for CsrMatrix<T> {
    fn apply(&self, _: &CpuBackend, x: &Vec<T>, y: &mut Vec<T>) -> Result<(), DeviceError> {
        match &self.slices {
            Some(slices) => slices.multiply(x, y),
            None => by_rows(self.pattern(), &self.layout.pieces, &self.values, x, y),
        }
        Ok(())
    }
}

impl<T: Real> SparseMatrix<CpuBackend, T> for CsrMatrix<T> {
    fn preconditioner(
        &self,
        _: &CpuBackend,
        kind: Algebraic,
    ) -> Result<Box<dyn Preconditioner<CpuBackend, T, Self>>, DeviceError> {
        Ok(match kind {
            Algebraic::None => Box::new(Identity),
            Algebraic::Jacobi => Box::new(Jacobi::new(self.pattern().rows())),
            Algebraic::Factors { kind, schedule, shift } => {
                Box::new(CsrFactors::new(self, kind, schedule, shift))
            }
        })
    }
}

impl<T: Real> InverseDiagonal<T> for CsrMatrix<T> {
    fn inverse_diagonal(&self, d: &mut [T]) -> Option<usize> {
        let pattern = self.pattern();
        let mut bad = None;
        for (row, d) in d.iter_mut().enumerate() {
            let found = pattern.row(row).binary_search(&(row as u32));
            let value = found.map_or(T::zero(), |k| self.values[pattern.row_start[row] + k]);
            *d = value.recip();
            if bad.is_none() && (value == T::zero() || !value.is_finite()) {
                bad = Some(row);
            }
        }
        bad
    }
}
