//! Preconditioner of the grid Jacobian from one of its field part.

use super::GridJacobian;
use super::jacobian::WallColumns;
use crate::backend::{DeviceError, EllipticBackend, LevelSize, MultigridBackend, Product, Real};
use crate::solver::precond::{Kind, MatrixPreconditioner, MultigridSettings};
use crate::solver::{LinearOperator, Preconditioner, PreconditionerFailure, SolverError};

/// M⁻¹ ≈ J⁻¹ of the field Jacobian, extended to the coupled system K = J (I − E Eᵀ) + B Eᵀ:
///
/// z = M⁻¹ v, d = S⁻¹ Eᵀ z, z ← z − M⁻¹ B d, Eᵀ z ← d,
///
/// where S ≈ Eᵀ J⁻¹ B is replaced by a matrix that couples each line with its two neighbours
/// only, probed once an update with p or q = 1 everywhere and = ±1 by turns: the two ends of the
/// spectrum along the wall. With exact J⁻¹ and S this is K⁻¹.
pub struct GridPreconditioner<B: EllipticBackend + MultigridBackend, T: Real> {
    field: MatrixPreconditioner<B, T>,
    wall: Option<WallReduction<B, T>>,
}

/// The reduced system of the wall terms.
struct WallReduction<B: EllipticBackend + MultigridBackend, T: Real> {
    /// Factors of S.
    factors: B::Vector<T>,
    /// Answers to the probes on the leading points.
    responses: [B::Vector<T>; 4],
    terms: B::Vector<T>,
    right: B::Vector<T>,
    correction: B::Vector<T>,
}

impl<B: EllipticBackend + MultigridBackend, T: Real> WallReduction<B, T> {
    fn new(backend: &B, n: usize, points: usize) -> Result<Self, DeviceError> {
        Ok(Self {
            factors: backend.zeros(12 * points)?,
            responses: [
                backend.zeros(2 * points)?,
                backend.zeros(2 * points)?,
                backend.zeros(2 * points)?,
                backend.zeros(2 * points)?,
            ],
            terms: backend.zeros(n)?,
            right: backend.zeros(n)?,
            correction: backend.zeros(n)?,
        })
    }

    /// Probes S with unit wall terms e: z = M⁻¹ B e. With M and not J behind it, S fits the
    /// preconditioner it stands in; a correction of z changes no count.
    fn update(
        &mut self,
        backend: &B,
        field: &mut MatrixPreconditioner<B, T>,
        j: &B::Matrix<T>,
        wall: &WallColumns<B, T>,
    ) -> Result<(), SolverError> {
        for (k, response) in self.responses.iter_mut().enumerate() {
            backend.wall_probe(wall.points, k % 2, k >= 2, &mut self.terms)?;
            backend.multiply(&wall.columns, &self.terms, Product::default(), &mut self.right)?;
            field.apply(backend, j, &self.right, &mut self.correction)?;
            backend.copy_wall(wall.points, &self.correction, response)?;
        }
        let responses = self.responses.each_ref();
        match backend.factor_wall_blocks(wall.points, responses, &mut self.factors)? {
            Some(line) => Err(PreconditionerFailure::WallBlock { line }.into()),
            None => Ok(()),
        }
    }
}

impl<B: EllipticBackend + MultigridBackend, T: Real> GridPreconditioner<B, T> {
    /// A preconditioner of this kind for the field part on `size` unknown points.
    #[must_use]
    pub fn new(kind: Kind, multigrid: MultigridSettings, size: LevelSize) -> Self {
        Self { field: MatrixPreconditioner::new(kind, multigrid, size), wall: None }
    }
}

impl<B: EllipticBackend + MultigridBackend, T: Real> Preconditioner<B, T, GridJacobian<B, T>>
    for GridPreconditioner<B, T>
{
    fn update(&mut self, backend: &B, a: &GridJacobian<B, T>) -> Result<(), SolverError> {
        self.field.update(backend, &a.field)?;
        let Some(columns) = &a.wall else { return Ok(()) };
        let mut reduction = match self.wall.take() {
            Some(reduction) => reduction,
            None => WallReduction::new(backend, backend.rows(&a.field), columns.points)?,
        };
        let updated = reduction.update(backend, &mut self.field, &a.field, columns);
        self.wall = Some(reduction);
        updated
    }

    fn apply(
        &mut self,
        backend: &B,
        a: &GridJacobian<B, T>,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
    ) -> Result<(), DeviceError> {
        self.field.apply(backend, &a.field, r, z)?;
        if let (Some(wall), Some(columns)) = (&mut self.wall, &a.wall) {
            backend.solve_wall_blocks(columns.points, &wall.factors, z, &mut wall.terms)?;
            let all = Product::default();
            backend.multiply(&columns.columns, &wall.terms, all, &mut wall.right)?;
            self.field.apply(backend, &a.field, &wall.right, &mut wall.correction)?;
            backend.lincomb(z, 1.0, [(-1.0, &wall.correction)])?;
            backend.copy_wall(columns.points, &wall.terms, z)?;
        }
        Ok(())
    }

    fn apply_and_multiply(
        &mut self,
        backend: &B,
        a: &GridJacobian<B, T>,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
        y: &mut B::Vector<T>,
    ) -> Result<(), DeviceError> {
        // With wall columns the operator is more than its field part.
        if let (None, Some(diagonal)) = (&a.wall, self.field.diagonal()) {
            return backend.scale_and_multiply(&a.field, diagonal, r, z, y);
        }
        self.apply(backend, a, r, z)?;
        a.apply(backend, z, y)
    }

    fn bound(&self) -> Option<f64> {
        self.field.bound()
    }

    fn fall_back(&mut self) -> Option<&'static str> {
        self.field.fall_back()
    }
}
