//! Sparse matrices on a backend, and preconditioners as objects.

use super::error::{check_length, check_room};
use super::{Backend, DeviceError, Fused, LevelSize, Real, Result};
use crate::diagnostics::errors;
use crate::sparse::{Csr, EllPattern, STENCIL, Schedule};

/// Storage of the entries of a matrix for products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatrixFormat {
    /// By rows.
    #[default]
    Csr,
    /// By slots, every row as wide as the longest.
    Ell,
}

/// Part of a product A x that is formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Product {
    /// Leading and trailing columns of A taken as zero.
    pub skipped: [usize; 2],
    /// y ← y + A x instead of y ← A x.
    pub add: bool,
}

/// Sparse matrices: those of the grid equations in ELL format, others by rows.
pub trait SparseBackend: Backend {
    /// A matrix in ELL format.
    type Matrix<T: Real>: SparseMatrix<Self, T>;
    /// A square matrix by rows.
    type CsrMatrix<T: Real>: SparseMatrix<Self, T>;

    /// A zero matrix with the given pattern.
    fn matrix<T: Real>(&self, pattern: EllPattern) -> Result<Self::Matrix<T>>;

    /// Values of A by slot, column-major, padding included.
    fn matrix_values<T: Real>(&self, a: &Self::Matrix<T>) -> Result<Vec<T>>;

    /// The part of y ← A x that `product` names.
    fn multiply<T: Real>(
        &self,
        a: &Self::Matrix<T>,
        x: &Self::Vector<T>,
        product: Product,
        y: &mut Self::Vector<T>,
    ) -> Result<()>;

    /// y ← A x + B x, where B holds wall columns and the `skipped` leading and trailing columns of A are taken as zero.
    fn multiply_with_walls<T: Real>(
        &self,
        a: &Self::Matrix<T>,
        b: &Self::Matrix<T>,
        x: &Self::Vector<T>,
        skipped: [usize; 2],
        y: &mut Self::Vector<T>,
    ) -> Result<()> {
        self.multiply(a, x, Product { skipped, add: false }, y)?;
        self.multiply(b, x, Product { skipped: [0; 2], add: true }, y)
    }

    /// t ← Aᵀ of a matrix with the nine-point pattern, which `t` has too: slot s of a point is the slot
    /// opposite to s of its neighbour there, transposed.
    fn transpose<T: Real>(&self, a: &Self::Matrix<T>, t: &mut Self::Matrix<T>) -> Result<()>;

    /// `entries`, a matrix with the nine-point pattern, ← the same matrix by ten numbers a point.
    fn entries<T: Real>(
        &self,
        numbers: &Self::Matrix<T>,
        entries: &mut Self::Matrix<T>,
    ) -> Result<()>;

    /// A copy of `a`, prepared for products.
    fn csr<T: Real>(&self, a: &Csr, format: MatrixFormat) -> Result<Self::CsrMatrix<T>>;
}

/// A linear map y = A x.
pub trait LinearOperator<B: Backend, T: Real> {
    /// y ← A x.
    fn apply(&self, backend: &B, x: &B::Vector<T>, y: &mut B::Vector<T>) -> Result<()>;
}

/// Refuses vectors x and y of other lengths than a product y = A x has: with wall columns, the terms of the first row
/// of points are read.
pub(super) fn check_product(a: EllPattern, x: usize, y: usize) -> Result<()> {
    match a {
        EllPattern::WallColumns(size, walls) if !walls.has_others() => {
            check_room(2 * size.mi, [x])?;
        }
        _ => check_length(x, a.rows())?,
    }
    check_length(y, a.rows())
}

/// The values by the nine-point pattern of a matrix by ten numbers a point.
pub(super) fn entries_of_ten_numbers<T: Real>(size: LevelSize, values: &[T]) -> Vec<T> {
    let rows = size.values();
    let mut found = vec![T::zero(); rows * STENCIL.len()];
    for row in 0..rows {
        let at = |slot: usize, row: usize| values[slot * rows + row];
        let (g22, d) = (at(0, row & !1), at(0, row | 1));
        let g11 = T::narrow(0.5) - g22;
        let [x_own, x_other, y_own, y_other] = [1, 2, 3, 4].map(|slot| at(slot, row));
        let of_stencil = [
            d,
            g11 - y_own,
            -y_other,
            -d,
            g22 - x_own,
            -x_other,
            -T::one(),
            g22 + x_own,
            x_other,
            -d,
            g11 + y_own,
            y_other,
            d,
        ];
        let present = EllPattern::nine_point_entries(size, row);
        for (slot, (entry, _)) in present.enumerate() {
            found[slot * rows + row] = of_stencil[entry];
        }
    }
    found
}

/// The preconditioner of the entries that ten numbers a point give.
pub(super) struct OfEntries<B: SparseBackend, T: Real> {
    entries: B::Matrix<T>,
    made: Box<dyn Preconditioner<B, T, B::Matrix<T>>>,
}

impl<B: SparseBackend, T: Real> OfEntries<B, T> {
    /// One of this kind for matrices of this size.
    pub(super) fn new(backend: &B, size: LevelSize, kind: Algebraic) -> Result<Self> {
        let entries = backend.matrix(EllPattern::NinePoint(size))?;
        Ok(Self { made: entries.preconditioner(backend, kind)?, entries })
    }
}

impl<B: SparseBackend, T: Real> Preconditioner<B, T, B::Matrix<T>> for OfEntries<B, T> {
    fn update(&mut self, backend: &B, a: &B::Matrix<T>) -> Result<(), SolverError> {
        backend.entries(a, &mut self.entries)?;
        self.made.update(backend, &self.entries)
    }

    fn apply(
        &mut self,
        backend: &B,
        _: &B::Matrix<T>,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
    ) -> Result<()> {
        self.made.apply(backend, &self.entries, r, z)
    }
}

/// An approximate inverse z = M⁻¹ r of an operator of type `A`.
pub trait Preconditioner<B: Backend, T: Real, A>: Send {
    /// Prepares for the present values of `a`.
    fn update(&mut self, backend: &B, a: &A) -> Result<(), SolverError>;

    /// z ← M⁻¹ r, with the `a` of the last update.
    fn apply(&mut self, backend: &B, a: &A, r: &B::Vector<T>, z: &mut B::Vector<T>) -> Result<()>;

    /// z ← M⁻¹ p and y ← A z, with the operations of `fused` before and after; a preconditioner that costs
    /// little compared with the product may do several of these in one pass.
    fn apply_and_multiply(
        &mut self,
        backend: &B,
        a: &A,
        p: &mut B::Vector<T>,
        z: &mut B::Vector<T>,
        y: &mut B::Vector<T>,
        fused: Option<Fused<'_, B, T>>,
    ) -> Result<()>
    where
        A: LinearOperator<B, T>,
    {
        Fused::in_sequence(fused, backend, p, [z, y], |p, z, y| {
            self.apply(backend, a, p, z)?;
            a.apply(backend, z, y)
        })
    }

    /// Whether [`Self::apply_and_multiply`] costs almost nothing while the scalars of its `fused` are halted.
    fn is_idle_when_halted(&self, _: &B, _: &A) -> bool {
        false
    }
}

/// A matrix where a backend keeps it.
pub trait SparseMatrix<B: Backend, T: Real>: LinearOperator<B, T> + Send + Sized {
    /// Analysis: the memory of a preconditioner of matrices with the pattern of this one, and the order
    /// of its rows.
    ///
    /// # Errors
    /// If the device fails, or the matrix is too large.
    fn preconditioner(
        &self,
        backend: &B,
        kind: Algebraic,
    ) -> Result<Box<dyn Preconditioner<B, T, Self>>>;
}

/// A preconditioner that is made from the entries of a matrix alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Algebraic {
    /// The identity.
    None,
    /// The inverse of the diagonal.
    Jacobi,
    /// Incomplete factors.
    Factors {
        /// Kind of the factors.
        kind: Incomplete,
        /// Order in which their rows are eliminated.
        schedule: Schedule,
        /// Shift of the matrix A + `shift` diag(A) that is factorised (Manteuffel 1980).
        shift: f64,
    },
}

impl Algebraic {
    /// The preconditioner of this name, with unshifted factors in the automatic order; `factors` reads names
    /// other than `none` and `jacobi`.
    pub fn named<E>(
        word: &str,
        factors: impl FnOnce(&str) -> std::result::Result<Incomplete, E>,
    ) -> std::result::Result<Self, E> {
        Ok(match word {
            "none" => Self::None,
            "jacobi" => Self::Jacobi,
            other => Self::Factors { kind: factors(other)?, schedule: Schedule::Auto, shift: 0.0 },
        })
    }

    /// This preconditioner with a schedule and a shift of its factors in place of the usual ones. Refuses them without
    /// factors, in the words of the command line.
    pub fn with(self, schedule: Option<Schedule>, shift: Option<f64>) -> Result<Self, String> {
        let given = shift.map(|_| "--shift").or(schedule.map(|_| "--schedule"));
        match (self, given) {
            (Self::Factors { kind, .. }, _) => {
                let (schedule, shift) = (schedule.unwrap_or_default(), shift.unwrap_or(0.0));
                Ok(Self::Factors { kind, schedule, shift })
            }
            (_, Some(option)) => {
                Err(format!("{option} is for preconditioners with factors: dilu, dic, ilu0, ic0"))
            }
            (other, None) => Ok(other),
        }
    }
}

/// Incomplete factors M = (I + L)(D + U) of A, L and U strictly triangular with the pattern of A.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Incomplete {
    /// Diagonal incomplete LU: D_i = a_ii − Σ_{j<i} a_ij a_ji / D_j over entries present on both
    /// sides, L_ij = a_ij / D_j, U_ij = a_ij, so that diag(M) = diag(A) (Pommerell 1992; Wang and
    /// Liu 2022).
    Dilu,
    /// [`Self::Dilu`] for a symmetric A, of which only the lower triangle is read; pivots must be
    /// positive.
    Dic,
    /// Gaussian elimination that drops every entry outside the pattern (Meijerink and van der Vorst
    /// 1977).
    Ilu0,
    /// [`Self::Ilu0`] for a symmetric A, of which only the lower triangle is read: M = L D Lᵀ; pivots
    /// must be positive.
    Ic0,
}

impl Incomplete {
    /// Whether it is for symmetric matrices.
    pub fn symmetric(self) -> bool {
        matches!(self, Self::Dic | Self::Ic0)
    }

    /// Whether only pivots are eliminated, and L and U have the entries of A.
    pub(super) fn diagonal_only(self) -> bool {
        matches!(self, Self::Dilu | Self::Dic)
    }

    /// Its name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dilu => "DILU",
            Self::Dic => "DIC",
            Self::Ilu0 => "ILU(0)",
            Self::Ic0 => "IC(0)",
        }
    }
}

/// A pivot that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BadPivot {
    /// Row of A.
    pub row: usize,
    /// Its value: zero, not finite, or negative where it must be positive.
    pub value: f64,
}

/// The identity.
pub(crate) struct Identity;

impl<B: Backend, T: Real, A> Preconditioner<B, T, A> for Identity {
    fn update(&mut self, _: &B, _: &A) -> Result<(), SolverError> {
        Ok(())
    }

    fn apply(&mut self, backend: &B, _: &A, r: &B::Vector<T>, z: &mut B::Vector<T>) -> Result<()> {
        backend.lincomb(None, z, 0.0, &[(1.0, r)])
    }
}

errors! {
    /// A preconditioner could not be made.
    #[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
    #[class(Unsolved)]
    pub enum PreconditionerFailure {
        #[error("{preconditioner} met a pivot that is zero or not finite in row {row}")]
        Pivot { preconditioner: &'static str, row: usize },
        /// A pivot of incomplete factors is zero, not finite, or negative where it must be positive.
        #[error("{preconditioner} met the pivot {value:e} in row {row}")]
        Factor { preconditioner: &'static str, row: usize, value: f64 },
        #[error("a line solve of the multigrid preconditioner has a singular pivot")]
        Line,
        /// The wall terms of a line, counted from the first unknown one, cannot be determined.
        #[error("the wall terms of unknown grid line {line} have a singular 2×2 block")]
        WallBlock { line: usize },
    }
}

impl PreconditionerFailure {
    /// The failure of incomplete factors with this pivot.
    pub(super) fn factor(kind: Incomplete, BadPivot { row, value }: BadPivot) -> Self {
        Self::Factor { preconditioner: kind.name(), row, value }
    }
}

errors! {
    /// A failure in a solver.
    #[derive(Debug, Clone, PartialEq, thiserror::Error)]
    #[class(Device)]
    pub enum SolverError {
        /// The device failed.
        #[error(transparent)]
        Device(#[from] DeviceError),
        /// A preconditioner could not be made.
        #[error(transparent)]
        #[hint("choose another linear.preconditioner")]
        Preconditioner(#[from] PreconditionerFailure),
    }
}
