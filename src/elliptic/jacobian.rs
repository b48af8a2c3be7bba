//! The Jacobian of the grid equations as a linear operator.

use crate::backend::{DeviceError, EllipticBackend, LevelSize, Product, Real};
use crate::solver::LinearOperator;
use crate::sparse::{Csr, EllPattern};

/// K = J (I − E Eᵀ) + B Eᵀ: the field Jacobian J = ∂R/∂r, whose columns of the first row of
/// points E are replaced by the wall columns B = ∂R/∂(p, q) where the wall terms are unknowns
/// (theory eq. 6). Both are ELL matrices: 13 and 2 slots a row.
pub struct GridJacobian<B: EllipticBackend, T: Real> {
    pub(super) field: B::Matrix<T>,
    pub(super) wall: Option<WallColumns<B, T>>,
    size: LevelSize,
}

/// The wall columns.
pub(super) struct WallColumns<B: EllipticBackend, T: Real> {
    pub(super) columns: B::Matrix<T>,
    /// Points in the first row: 2 `points` unknowns are wall terms.
    pub(super) points: usize,
}

impl<B: EllipticBackend, T: Real> GridJacobian<B, T> {
    /// Room for the Jacobian on unknown points of this size.
    pub(super) fn new(backend: &B, size: LevelSize, coupled: bool) -> Result<Self, DeviceError> {
        let LevelSize { mi, mj, periodic } = size;
        let field = backend.matrix(&EllPattern::nine_point(mi, mj, periodic))?;
        let wall = if coupled {
            let columns = backend.matrix(&EllPattern::wall_columns(mi, mj))?;
            Some(WallColumns { columns, points: mi })
        } else {
            None
        };
        Ok(Self { field, wall, size })
    }

    /// Evaluates the entries at the present state.
    pub(super) fn assemble(&mut self, backend: &B, state: &B::Elliptic) -> Result<(), DeviceError> {
        let columns = self.wall.as_mut().map(|wall| &mut wall.columns);
        backend.jacobian(state, &mut self.field, columns)
    }

    /// The whole operator K by rows, on the host.
    ///
    /// # Errors
    /// If the device fails.
    pub fn to_csr(&self, backend: &B) -> Result<Csr, DeviceError> {
        let LevelSize { mi, mj, periodic } = self.size;
        let pattern = EllPattern::nine_point(mi, mj, periodic);
        let field = backend.matrix_values(&self.field)?;
        let columns = match &self.wall {
            Some(wall) => backend.matrix_values(&wall.columns)?,
            None => Vec::new(),
        };
        let (rows, replaced) = (pattern.rows(), if self.wall.is_some() { 2 * mi } else { 0 });
        Ok(Csr::from_rows((0..rows).map(|row| {
            let kept = pattern.row(row).filter(|&(_, column)| column >= replaced);
            let kept = kept.map(|(at, column)| (column, field[at].widen()));
            let line = 2 * (row / 2 % mi);
            let wall = (0..if replaced > 0 { 2 } else { 0 }).map(|k| (line + k, &columns, k));
            let wall = wall.map(|(column, b, k)| (column, b[k * rows + row].widen()));
            kept.chain(wall).collect::<Vec<_>>()
        })))
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        2 * self.size.mi * self.size.mj
    }

    /// The field Jacobian J in ELL format.
    #[must_use]
    pub fn field(&self) -> &B::Matrix<T> {
        &self.field
    }
}

impl<B: EllipticBackend, T: Real> LinearOperator<B, T> for GridJacobian<B, T> {
    fn apply(
        &self,
        backend: &B,
        x: &B::Vector<T>,
        y: &mut B::Vector<T>,
    ) -> Result<(), DeviceError> {
        match &self.wall {
            None => self.field.apply(backend, x, y),
            Some(wall) => {
                let kept = Product { skip_columns: 2 * wall.points, add: false };
                backend.multiply(&self.field, x, kept, y)?;
                backend.multiply(&wall.columns, x, Product { skip_columns: 0, add: true }, y)
            }
        }
    }
}
