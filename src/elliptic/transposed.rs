//! The transpose of the grid Jacobian, and its preconditioner.

use super::preconditioner::{WallReduction, probe};
use super::{GridJacobian, GridProblem};
use crate::backend::{EllipticBackend, LevelSize, MultigridBackend, Real, Result};
use crate::solver::linear::Precision;
use crate::solver::precond::{Form, Forms, Kind, Multigrid, MultigridSettings};
use crate::solver::{LinearOperator, Preconditioner, PreconditionerFailure, SolverError, present};
use crate::sparse::{EllPattern, Schedule};

/// Kᵀ = (I − E Eᵀ) Jᵀ + E Bᵀ of a [`GridJacobian`]: the rows of the first row of points are the sums along
/// the lines that the wall columns B give; Kᵀ = Jᵀ where the wall terms are no unknowns.
pub struct TransposedJacobian<B: EllipticBackend, T: Real> {
    /// Jᵀ, with the pattern of J.
    field: B::Matrix<T>,
    wall: Option<B::Matrix<T>>,
    size: LevelSize,
}

impl<B: EllipticBackend, T: Real> GridProblem<B, T> {
    /// Kᵀ at the present state.
    ///
    /// # Errors
    /// If the memory of the device does not suffice.
    pub fn transposed(&self, backend: &B) -> Result<TransposedJacobian<B, T>> {
        let size = self.size;
        let LevelSize { mi, mj, periodic } = size;
        let mut own = GridJacobian::new(backend, size, self.jacobian.wall.is_some())?;
        backend.jacobian(&self.state, &mut own.field, own.wall.as_mut())?;
        let mut field = backend.matrix(&EllPattern::nine_point(mi, mj, periodic))?;
        backend.transpose(&own.field, &mut field)?;
        Ok(TransposedJacobian { field, wall: own.wall, size })
    }
}

impl<B: EllipticBackend, T: Real> LinearOperator<B, T> for TransposedJacobian<B, T> {
    fn apply(&self, backend: &B, x: &B::Vector<T>, y: &mut B::Vector<T>) -> Result<()> {
        self.field.apply(backend, x, y)?;
        self.wall.as_ref().map_or(Ok(()), |wall| backend.wall_sums(wall, x, y))
    }
}

/// M⁻ᵀ ≈ K⁻ᵀ. Multigrid is the transpose of the cycle of K, wall terms and all. Where that has no finite pivot,
/// and for the other kinds, a preconditioner of Jᵀ is extended by the reduced system of the wall terms:
///
/// z = M_J⁻ᵀ (I − E Eᵀ) v, d = S⁻ᵀ (Eᵀ v − Bᵀ z), z ← z + M_J⁻ᵀ E d,
///
/// where Sᵀ ≈ Bᵀ J⁻ᵀ E is probed as for [`GridPreconditioner`](super::GridPreconditioner).
pub type TransposedPreconditioner<B, T> = Forms<B, T, TransposedJacobian<B, T>>;

impl<B: EllipticBackend + MultigridBackend, T: Real> TransposedPreconditioner<B, T> {
    /// A preconditioner of this kind for the transposed Jacobian on `size` unknown points.
    pub fn of_transpose(
        kind: (Kind, Schedule),
        multigrid: MultigridSettings,
        size: LevelSize,
    ) -> Self {
        let of_field = Forms::of_matrix(kind, multigrid, size).0.into_iter();
        let mut forms: Vec<_> = of_field.map(reduced).collect();
        if kind.0 == Kind::Multigrid {
            let whole: Box<dyn Preconditioner<B, T, TransposedJacobian<B, T>>> = match multigrid
                .precision
            {
                Precision::Single => Box::new(InCycle::<B, f32>(Multigrid::new(multigrid, size))),
                Precision::Double => Box::new(InCycle::<B, f64>(Multigrid::new(multigrid, size))),
            };
            let (name, bound) = (forms[0].name, forms[0].bound);
            forms[0].name = "multigrid without wall terms and their reduced system";
            forms.insert(0, Form { name, bound, fits: |_| true, preconditioner: whole });
        }
        Self(forms.into())
    }
}

/// Multigrid of Kᵀ with the wall terms on its levels: an application is one cycle.
struct InCycle<B: MultigridBackend, M: Real>(Multigrid<B, M>);

impl<B, T, M> Preconditioner<B, T, TransposedJacobian<B, T>> for InCycle<B, M>
where
    B: EllipticBackend + MultigridBackend,
    T: Real,
    M: Real,
{
    fn update(&mut self, backend: &B, a: &TransposedJacobian<B, T>) -> Result<(), SolverError> {
        self.0.prepare_transposed(backend, &a.field, a.wall.as_ref())
    }

    fn apply(
        &mut self,
        backend: &B,
        _: &TransposedJacobian<B, T>,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
    ) -> Result<()> {
        self.0.cycle(backend, r, z)
    }
}

/// A form of a preconditioner of Jᵀ as one of Kᵀ.
fn reduced<B: EllipticBackend, T: Real>(
    form: Form<B, T, B::Matrix<T>>,
) -> Form<B, T, TransposedJacobian<B, T>> {
    let Form { name, bound, preconditioner: field, .. } = form;
    let preconditioner = Box::new(Reduced { field, reduction: None });
    Form { name, bound, fits: |_| true, preconditioner }
}

/// A preconditioner of Jᵀ, and the reduced system where there are wall terms.
struct Reduced<B: EllipticBackend, T: Real> {
    field: Box<dyn Preconditioner<B, T, B::Matrix<T>>>,
    reduction: Option<(WallReduction<B, T>, B::Vector<T>)>,
}

impl<B: EllipticBackend, T: Real> Preconditioner<B, T, TransposedJacobian<B, T>> for Reduced<B, T> {
    fn update(&mut self, backend: &B, a: &TransposedJacobian<B, T>) -> Result<(), SolverError> {
        self.field.update(backend, &a.field)?;
        let Some(wall) = &a.wall else { return Ok(()) };
        let LevelSize { mi: points, mj, .. } = a.size;
        let (reduction, _) = present(&mut self.reduction, || -> Result<_> {
            let nothing = backend.zeros(2 * points)?;
            Ok((WallReduction::new(backend, 2 * points * mj, points)?, nothing))
        })?;
        let WallReduction { factors, probe: unit, responses, terms, right, correction } = reduction;
        backend.lincomb(None, terms, 0.0, &[])?;
        for (k, response) in responses.iter_mut().enumerate() {
            backend.upload(&probe(points, k % 2, k >= 2), unit)?;
            backend.copy_wall(points, unit, terms)?;
            self.field.apply(backend, &a.field, terms, correction)?;
            backend.wall_sums(wall, correction, right)?;
            backend.copy_wall(points, right, response)?;
        }
        match backend.factor_wall_blocks(points, responses.each_ref(), factors)? {
            Some(line) => Err(PreconditionerFailure::WallBlock { line }.into()),
            None => Ok(()),
        }
    }

    fn apply(
        &mut self,
        backend: &B,
        a: &TransposedJacobian<B, T>,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
    ) -> Result<()> {
        let (Some((reduction, nothing)), Some(wall)) = (&mut self.reduction, &a.wall) else {
            return self.field.apply(backend, &a.field, r, z);
        };
        let WallReduction { factors, terms, right, correction, .. } = reduction;
        let points = a.size.mi;
        backend.lincomb(None, right, 0.0, &[(1.0, r)])?;
        backend.copy_wall(points, nothing, right)?;
        self.field.apply(backend, &a.field, right, z)?;
        backend.wall_sums(wall, z, correction)?;
        backend.lincomb(None, right, 0.0, &[(1.0, r), (-1.0, &*correction)])?;
        backend.solve_wall_blocks(points, factors, right, terms)?;
        self.field.apply(backend, &a.field, terms, correction)?;
        backend.lincomb(None, z, 1.0, &[(1.0, &*correction)])
    }
}
