//! Preconditioner of the grid Jacobian from one of its field part.

use super::GridJacobian;
use super::jacobian::WallColumns;
use crate::backend::{DeviceError, EllipticBackend, LevelSize, MultigridBackend, Product, Real};
use crate::solver::precond::{Kind, MatrixPreconditioner, MultigridSettings};
use crate::solver::{LinearOperator, Preconditioner, PreconditionerFailure, SolverError};

/// M⁻¹ ≈ K⁻¹ of the Jacobian, K = J (I − E Eᵀ) + B Eᵀ with the field Jacobian J and the wall columns B
/// where the wall terms are unknowns, and K = J where they are not.
///
/// Multigrid has the wall terms on its levels: an application is one cycle. Jacobi, DILU and ILU(0)
/// know J alone, and so does multigrid where the cycle with wall terms does not contract; they are
/// extended to K by the reduced system of the wall terms:
///
/// z = M_J⁻¹ v, d = S⁻¹ Eᵀ z, z ← z − M_J⁻¹ B d, Eᵀ z ← d,
///
/// where S ≈ Eᵀ J⁻¹ B is replaced by a matrix that couples each line with its two neighbours
/// only, probed once an update with p or q = 1 everywhere and = ±1 by turns: the two ends of the
/// spectrum along the wall. With exact J⁻¹ and S this is K⁻¹; the replacement is good where cells at
/// the wall are much longer than high.
pub struct GridPreconditioner<B: EllipticBackend + MultigridBackend, T: Real> {
    field: MatrixPreconditioner<B, T>,
    walls: Walls<B, T>,
}

/// Where the wall terms are solved for.
enum Walls<B: EllipticBackend + MultigridBackend, T: Real> {
    /// There are none.
    Frozen,
    /// In the field's multigrid cycle.
    InCycle,
    /// In a reduced system, once it is made.
    Reduced(Option<WallReduction<B, T>>),
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
    /// A preconditioner of this kind for the Jacobian on `size` unknown points.
    #[must_use]
    pub fn new(kind: Kind, multigrid: MultigridSettings, size: LevelSize) -> Self {
        let walls = if kind == Kind::Multigrid { Walls::Frozen } else { Walls::Reduced(None) };
        Self { field: MatrixPreconditioner::new(kind, multigrid, size), walls }
    }
}

impl<B: EllipticBackend + MultigridBackend, T: Real> Preconditioner<B, T, GridJacobian<B, T>>
    for GridPreconditioner<B, T>
{
    fn update(&mut self, backend: &B, a: &GridJacobian<B, T>) -> Result<(), SolverError> {
        let Some(columns) = &a.wall else { return self.field.update(backend, &a.field) };
        let Walls::Reduced(reduction) = &mut self.walls else {
            self.walls = Walls::InCycle;
            return self.field.update_with_walls(backend, &a.field, &columns.columns);
        };
        self.field.update(backend, &a.field)?;
        let made = match reduction.take() {
            Some(made) => made,
            None => WallReduction::new(backend, backend.rows(&a.field), columns.points)?,
        };
        reduction.insert(made).update(backend, &mut self.field, &a.field, columns)
    }

    fn apply(
        &mut self,
        backend: &B,
        a: &GridJacobian<B, T>,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
    ) -> Result<(), DeviceError> {
        self.field.apply(backend, &a.field, r, z)?;
        if let (Walls::Reduced(Some(wall)), Some(columns)) = (&mut self.walls, &a.wall) {
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
        if matches!(self.walls, Walls::InCycle) {
            self.field = self.field.renewed();
            self.walls = Walls::Reduced(None);
            return Some("multigrid without wall terms and their reduced system");
        }
        self.field.fall_back()
    }
}
