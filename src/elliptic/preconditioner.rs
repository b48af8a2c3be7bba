//! Preconditioner of the grid Jacobian from one of its field part.

use super::GridJacobian;
use crate::backend::elliptic::WALL_ENTRIES;
use crate::backend::{
    EllipticBackend, Fused, LevelSize, MultigridBackend, Real, Result, SparseMatrix,
};
use crate::solver::linear::Precision;
use crate::solver::precond::{CONTRACTION, Kind, Multigrid, MultigridSettings, Preconditioners};
use crate::solver::{LinearOperator, Preconditioner, PreconditionerFailure, SolverError, present};
use crate::sparse::{Schedule, WalledSides};

/// M⁻¹ ≈ K⁻¹ of the Jacobian, K = J (I − E Eᵀ) + B Eᵀ with the field Jacobian J and the wall columns B
/// where the wall terms are unknowns, and K = J where they are not; or M⁻ᵀ ≈ K⁻ᵀ of its transpose.
///
/// Multigrid has the wall terms on its levels: an application is one cycle, for Kᵀ the transpose of the
/// cycle for K. Jacobi, DILU and ILU(0) use J alone, as does multigrid where the cycle with wall terms does
/// not contract; they are extended by the reduced system of the wall terms, to K by
///
/// z = M_J⁻¹ v, d = S⁻¹ Eᵀ z, z ← z − M_J⁻¹ B d, Eᵀ z ← d,
///
/// and to Kᵀ by
///
/// z = M_J⁻ᵀ (I − E Eᵀ) v, d = S⁻ᵀ (Eᵀ v − Bᵀ z), z ← z + M_J⁻ᵀ E d,
///
/// where S ≈ Eᵀ J⁻¹ B is replaced by a matrix that couples each line with its two neighbours
/// only, probed once an update with p or q = 1 everywhere and = ±1 by turns: the two ends of the
/// spectrum along the wall. The terms of a wall are not coupled with those of another one. With exact J⁻¹ and S this
/// is K⁻¹; the replacement is good where cells at the wall are much longer than high, and walls are far apart.
pub type GridPreconditioner<B, T> = Preconditioners<B, T, GridJacobian<B, T>>;

impl<B: EllipticBackend + MultigridBackend, T: Real> GridPreconditioner<B, T> {
    /// A preconditioner of this kind for Jacobians like the given one; incomplete factors are eliminated by this
    /// schedule. Multigrid falls back on the reduced system of the wall terms, if there are any, then on W cycles of two
    /// sweeps or more in double precision, then on ILU(0). With walls on other sides than that of the section it falls
    /// back on such W cycles alone, which have the wall terms on their levels. The others have no fall-back.
    pub fn new(
        (kind, schedule): (Kind, Schedule),
        multigrid: MultigridSettings,
        jacobian: &GridJacobian<B, T>,
    ) -> Self {
        let algebraic = kind.algebraic(schedule);
        let last = Self::first("ILU(0)", (None, false), move |backend, a| {
            let field = a.field.preconditioner(backend, algebraic)?;
            Ok(Box::new(Reduced { field, reduction: None }))
        });
        if kind != Kind::Multigrid {
            return last;
        }
        let strong = multigrid.strengthened();
        let cycle = |name, settings: MultigridSettings, (whole, lasting): (bool, bool)| {
            Self::first(name, (Some(CONTRACTION), lasting), move |_, a: &GridJacobian<B, T>| {
                Ok(match settings.precision {
                    Precision::Single => multigrid_of::<B, T, f32>(settings, a, whole),
                    Precision::Double => multigrid_of::<B, T, f64>(settings, a, whole),
                })
            })
        };
        let strong_cycle = "multigrid with W cycles in double precision";
        let mut all = cycle("multigrid", multigrid, (true, B::LASTING));
        if jacobian.walls.has_others() {
            return all.then(cycle(strong_cycle, strong, (true, false)));
        }
        if jacobian.wall.is_some() {
            let reduced = "multigrid without wall terms and their reduced system";
            all = all.then(cycle(reduced, multigrid, (false, false)));
        }
        if strong != multigrid {
            all = all.then(cycle(strong_cycle, strong, (false, false)));
        }
        all.then(last)
    }
}

/// Multigrid for a Jacobian: with the wall terms on its levels, or of the field part alone.
fn multigrid_of<B: EllipticBackend + MultigridBackend, T: Real, M: Real>(
    settings: MultigridSettings,
    a: &GridJacobian<B, T>,
    whole: bool,
) -> Box<dyn Preconditioner<B, T, GridJacobian<B, T>>> {
    let multigrid = Multigrid::<B, M>::new(settings, a.size, a.transposed);
    if whole {
        Box::new(InCycle(multigrid))
    } else {
        Box::new(Reduced { field: Box::new(multigrid), reduction: None })
    }
}

/// Multigrid with the wall terms on its levels.
struct InCycle<B: MultigridBackend, M: Real>(Multigrid<B, M>);

impl<B: EllipticBackend + MultigridBackend, T: Real, M: Real>
    Preconditioner<B, T, GridJacobian<B, T>> for InCycle<B, M>
{
    fn update(&mut self, backend: &B, a: &GridJacobian<B, T>) -> Result<(), SolverError> {
        self.0.prepare(backend, &a.field, a.wall.as_ref())
    }

    fn apply(
        &mut self,
        backend: &B,
        _: &GridJacobian<B, T>,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
    ) -> Result<()> {
        self.0.cycle(backend, r, z)
    }
}

/// A preconditioner of the field part, and the reduced system where there are wall terms.
struct Reduced<B: EllipticBackend, T: Real> {
    field: Box<dyn Preconditioner<B, T, B::Matrix<T>>>,
    reduction: Option<WallReduction<B, T>>,
}

impl<B: EllipticBackend, T: Real> Preconditioner<B, T, GridJacobian<B, T>> for Reduced<B, T> {
    fn update(&mut self, backend: &B, a: &GridJacobian<B, T>) -> Result<(), SolverError> {
        self.field.update(backend, &a.field)?;
        let Some(wall) = &a.wall else { return Ok(()) };
        let made = present(&mut self.reduction, || WallReduction::new(backend, a.size, a.walls))?;
        made.update(backend, &mut *self.field, (a, wall))
    }

    fn apply(
        &mut self,
        backend: &B,
        a: &GridJacobian<B, T>,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
    ) -> Result<()> {
        let (Some(reduction), Some(wall)) = (&mut self.reduction, &a.wall) else {
            return self.field.apply(backend, &a.field, r, z);
        };
        let WallReduction { factors, of_wall, responses, terms, right, correction } = reduction;
        let (points, [solved, ..]) = (a.size.mi, responses);
        // terms ← S⁻¹ of the values at the walls.
        let mut solve = |values: &B::Vector<T>, terms: &mut B::Vector<T>| {
            factors.iter().try_for_each(|(first, factors)| {
                backend.copy_points(points, (values, *first), (of_wall, 0))?;
                backend.solve_wall_blocks(points, factors, of_wall, solved)?;
                backend.copy_points(points, (solved, 0), (terms, *first))
            })
        };
        if a.transposed {
            backend.lincomb(None, right, 0.0, &[(1.0, r)])?;
            backend.clear_walls(a.walls, a.size, right)?;
            self.field.apply(backend, &a.field, right, z)?;
            backend.wall_sums(wall, z, correction)?;
            backend.lincomb(None, right, 0.0, &[(1.0, r), (-1.0, &*correction)])?;
            solve(right, terms)?;
            self.field.apply(backend, &a.field, terms, correction)?;
            backend.lincomb(None, z, 1.0, &[(1.0, &*correction)])
        } else {
            self.field.apply(backend, &a.field, r, z)?;
            solve(z, terms)?;
            wall.apply(backend, terms, right)?;
            self.field.apply(backend, &a.field, right, correction)?;
            backend.lincomb(None, z, 1.0, &[(-1.0, &*correction)])?;
            let mut firsts = factors.iter().map(|(first, _)| *first);
            firsts.try_for_each(|first| backend.copy_points(points, (terms, first), (z, first)))
        }
    }

    fn apply_and_multiply(
        &mut self,
        backend: &B,
        a: &GridJacobian<B, T>,
        p: &mut B::Vector<T>,
        z: &mut B::Vector<T>,
        y: &mut B::Vector<T>,
        fused: Option<Fused<'_, B, T>>,
    ) -> Result<()> {
        // With wall columns the operator is more than its field part.
        if a.wall.is_none() {
            return self.field.apply_and_multiply(backend, &a.field, p, z, y, fused);
        }
        Fused::in_sequence(fused, backend, p, [z, y], |p, z, y| {
            self.apply(backend, a, p, z)?;
            a.apply(backend, z, y)
        })
    }

    fn is_idle_when_halted(&self, backend: &B, a: &GridJacobian<B, T>) -> bool {
        a.wall.is_none() && self.field.is_idle_when_halted(backend, &a.field)
    }
}

struct WallReduction<B: EllipticBackend, T: Real> {
    /// The first point of each wall on a side of constant j, and the factors of its S, or of its Sᵀ.
    factors: Vec<(usize, B::Vector<T>)>,
    /// Values at the points of a wall: the probes, unit wall terms of one component, all 1 or ±1 by turns.
    of_wall: B::Vector<T>,
    /// Answers to the probes at the points of a wall.
    responses: [B::Vector<T>; 4],
    /// Wall terms at the points of the walls, zero elsewhere.
    terms: B::Vector<T>,
    right: B::Vector<T>,
    correction: B::Vector<T>,
}

impl<B: EllipticBackend, T: Real> WallReduction<B, T> {
    fn new(backend: &B, size: LevelSize, walls: WalledSides) -> Result<Self> {
        let LevelSize { mi: points, mj, .. } = size;
        let (n, of_wall) = (size.values(), || backend.zeros(2 * points));
        let factors = |side| -> Result<_> {
            let first = WalledSides::point(side, 0, points, mj);
            Ok((first, backend.zeros(WALL_ENTRIES * points)?))
        };
        Ok(Self {
            factors: walls.sides().filter(|side| *side < 2).map(factors).collect::<Result<_>>()?,
            of_wall: of_wall()?,
            responses: [of_wall()?, of_wall()?, of_wall()?, of_wall()?],
            terms: backend.zeros(n)?,
            right: backend.zeros(n)?,
            correction: backend.zeros(n)?,
        })
    }

    /// Probes S = Eᵀ M_J⁻¹ B with unit wall terms e, or Sᵀ = Bᵀ M_J⁻ᵀ E. With M_J and not J behind it, S fits
    /// the preconditioner that it belongs to; a correction of the answers changes no count.
    fn update(
        &mut self,
        backend: &B,
        field: &mut dyn Preconditioner<B, T, B::Matrix<T>>,
        (a, wall): (&GridJacobian<B, T>, &B::Matrix<T>),
    ) -> Result<(), SolverError> {
        let (j, points) = (&a.field, a.size.mi);
        let Self { factors, of_wall, responses, terms, right, correction } = self;
        for (first, factors) in factors {
            backend.lincomb(None, terms, 0.0, &[])?;
            for (k, response) in responses.iter_mut().enumerate() {
                backend.upload(&probe(points, k % 2, k >= 2), of_wall)?;
                backend.copy_points(points, (of_wall, 0), (terms, *first))?;
                let answer = if a.transposed {
                    field.apply(backend, j, terms, correction)?;
                    backend.wall_sums(wall, correction, right)?;
                    &*right
                } else {
                    wall.apply(backend, terms, right)?;
                    field.apply(backend, j, right, correction)?;
                    &*correction
                };
                backend.copy_points(points, (answer, *first), (response, 0))?;
            }
            if let Some(line) = backend.factor_wall_blocks(points, responses.each_ref(), factors)? {
                return Err(PreconditionerFailure::WallBlock { line }.into());
            }
        }
        Ok(())
    }
}

/// Unit wall terms of one component: 1 at every line, or ±1 by turns.
fn probe<T: Real>(points: usize, component: usize, alternating: bool) -> Vec<T> {
    let mut probe = vec![T::zero(); 2 * points];
    for (i, pair) in probe.chunks_exact_mut(2).enumerate() {
        pair[component] = if alternating && i % 2 == 1 { -T::one() } else { T::one() };
    }
    probe
}
