//! The kernels of geometric multigrid that a backend offers.

use super::error::{check_length, check_lengths};
use super::{Real, Result, SparseBackend};
use crate::sparse::EllPattern;
pub use crate::sparse::LevelSize;

/// In which directions a level is coarsened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coarsening {
    /// In xi and eta; smoothed along lines of both directions.
    Full,
    /// In xi only; smoothed along eta-lines only.
    Xi,
}

impl LevelSize {
    /// Whether the level's operator reaches around the seam. A periodic row with an odd number of
    /// points has two neighbours of one colour and cannot be coarsened evenly: its level is cut
    /// there, and the Krylov method around the hierarchy makes up for the dropped couplings.
    pub fn wraps(self) -> bool {
        self.periodic && self.mi.is_multiple_of(2)
    }

    /// Refuses a level of another size, if there is one.
    pub(crate) fn check(self, level: Option<Self>) -> Result<()> {
        let level = level.unwrap_or(self);
        check_length(level.values(), self.values())?;
        check_length(level.mi, self.mi)
    }

    /// Refuses matrices of another size: one with the nine-point pattern, and that of the wall columns.
    pub(crate) fn check_matrices(self, a: EllPattern, columns: Option<EllPattern>) -> Result<()> {
        let of_grid = !matches!(a, EllPattern::WallColumns(..));
        let rows = columns.map_or(self.values(), EllPattern::rows);
        check_lengths(self.values(), [if of_grid { a.rows() } else { 0 }, rows])
    }

    /// Refuses a level that is not the next coarser one in either way.
    pub(crate) fn check_below(self, coarse: Self) -> Result<()> {
        let way = if coarse.mj == self.mj { Coarsening::Xi } else { Coarsening::Full };
        self.coarser(way).check(Some(coarse))
    }

    /// Size of the next coarser level: coarse point I lies on fine point 2I + 1.
    #[must_use]
    pub fn coarser(self, coarsening: Coarsening) -> Self {
        let mj = if coarsening == Coarsening::Full { self.mj / 2 } else { self.mj };
        Self { mi: self.mi / 2, mj, periodic: self.wraps() }
    }
}

/// The block tridiagonal form of a level's matrix: a block has the points of a column, or of the two columns that are
/// equally far from the seam where the rows close. The first row, which wall terms may take, is the last one of a
/// column here: wall terms have no pivots of their own before the points of their line are eliminated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnBlocks {
    size: LevelSize,
}

impl ColumnBlocks {
    /// Most points of a block of a level that is solved directly: on a GPU two such blocks have room in shared memory.
    pub(crate) const MOST_POINTS: usize = 32;
    /// Least rows that are eliminated in runs: of fewer the launches for runs take longer than they save.
    const LEAST_SEPARATED: usize = 16;
    pub(crate) fn of(size: LevelSize) -> Self {
        Self { size }
    }

    /// Whether the level is small enough to be solved directly, with this many unknowns at most.
    pub(crate) fn are_small(self, most: usize) -> bool {
        self.points() <= Self::MOST_POINTS && self.size.values() <= most
    }

    /// Points of a block.
    pub(crate) fn points(self) -> usize {
        self.size.mj * if self.size.wraps() { 2 } else { 1 }
    }

    /// Number of blocks.
    pub(crate) fn count(self) -> usize {
        if self.size.wraps() { self.size.mi / 2 } else { self.size.mi }
    }

    /// Rows of a run. A run that is not the last one has a separator after it, a row that belongs to none. The rows of a
    /// run are eliminated one after the other, and then the separators: about as many.
    pub(crate) fn run(self) -> usize {
        if self.count() < Self::LEAST_SEPARATED { self.count() } else { self.count().isqrt() }
    }

    /// Point `l` of block `k`.
    pub(crate) fn place(self, k: usize, l: usize) -> (usize, usize) {
        let LevelSize { mi, mj, .. } = self.size;
        (if l < mj { k } else { mi - 1 - k }, (l + 1) % mj)
    }

    /// The block of point (i, j), and its number there.
    pub(crate) fn find(self, (i, j): (usize, usize)) -> (usize, usize) {
        let LevelSize { mi, mj, .. } = self.size;
        let (count, l) = (self.count(), (j + mj - 1) % mj);
        if i < count { (i, l) } else { (mi - 1 - i, mj + l) }
    }
}

/// Order in which the two colours of lines are relaxed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Even lines, then odd lines.
    Forward,
    /// Odd lines, then even lines.
    Reverse,
}

/// A coarse level, and those below it, carry wall terms as long as tr N > 0.05 tr S for at least half
/// of the lines, with N and S the couplings of a line's second point with those after and before. On
/// coarse levels the mesh Péclet number of Q r_eta turns N round, and the pivot of the wall terms,
/// B − N V, goes through zero.
pub(crate) const SMALLEST_NORTH: f64 = 0.05;

/// Multigrid on 9-point operators with 2×2 blocks, smoothed by zebra line solves.
///
/// A level holds its operator A, the factors of its lines, a right side f and a solution u. With wall
/// terms it solves K = A (I − E Eᵀ) + B Eᵀ: the points of its first row are held at u = 0, and their
/// places in right sides and solutions belong to the wall terms d_i = (p_i, q_i), whose columns B_ij
/// reach all points of line i. Eta-lines are solved together with their own d_i, xi-lines from the second
/// row on with d held (theory section 6).
///
/// `T` is the precision of the Krylov method around it, `M` that of the hierarchy.
pub trait MultigridBackend: SparseBackend {
    /// One level.
    type Level<M: Real>: Send;

    /// Whether making all levels takes as long as a linear iteration or longer, so that the levels of a matrix are
    /// kept for matrices that are near it.
    const LASTING: bool = true;

    /// Most unknowns of a coarsest level that is solved directly: of more, an elimination in each Newton step takes
    /// longer than sweeps.
    const MOST_DIRECT: usize = 2048;

    /// Size of a level, as a whole if it is spread over several devices.
    fn level_size<M: Real>(&self, level: &Self::Level<M>) -> LevelSize;

    /// The finest level, `kept` or a new one, of this size, with the operator of a matrix with the nine-point
    /// pattern and, if it has wall terms, the columns B from one with theirs.
    ///
    /// A `transposed` level has Kᵀ = (I − E Eᵀ) Aᵀ + E Bᵀ, and its cycle is the transpose of the cycle for K: `a` is
    /// Aᵀ, `columns` has B. The first row has unknowns like the others, and its equations are the sums
    /// Σ_j B_ijᵀ u_ij along each line. Without columns it is a level of Aᵀ.
    fn finest_level<T: Real, M: Real>(
        &self,
        kept: Option<Self::Level<M>>,
        kind: (LevelSize, Coarsening),
        transposed: bool,
        a: &Self::Matrix<T>,
        columns: Option<&Self::Matrix<T>>,
    ) -> Result<Self::Level<M>>;

    /// The level below `fine`, `kept` or a new one, with A ← R A P, linear prolongation P (½ 1 ½) and
    /// restriction R = ½ Pᵀ (¼ ½ ¼) in each coarsened direction (theory eq. 12), and B ← R B in both
    /// directions.
    fn coarse_level<M: Real>(
        &self,
        kept: Option<Self::Level<M>>,
        fine: &Self::Level<M>,
        coarsening: Coarsening,
    ) -> Result<Self::Level<M>>;

    /// Factors the lines of the finest level and those below it, all together: a device is busier so. Does
    /// nothing where that was done as they were made.
    fn factor<M: Real>(&self, _levels: &[Self::Level<M>]) -> Result<()> {
        Ok(())
    }

    /// Factors the matrix of the coarsest level for [`Self::solve_coarsest`], after the lines of all levels have been
    /// factored. Some levels have no such factors, and the call leaves them as they are: those by ten numbers a point,
    /// those with walls at the ends of the xi-lines, bands, and on GPUs those with large blocks in double precision.
    fn factor_coarsest<M: Real>(&self, level: &mut Self::Level<M>) -> Result<()>;

    /// u ← A⁻¹ f, and the wall terms so, if [`Self::factor_coarsest`] has factored the level; returns whether it has.
    fn solve_coarsest<M: Real>(&self, level: &mut Self::Level<M>) -> Result<bool>;

    /// Whether the pivots of all lines are finite, on this level and on those it was coarsened
    /// from and factored with.
    fn pivots_are_finite<M: Real>(&self, level: &Self::Level<M>) -> Result<bool>;

    /// f ← r, u ← 0.
    fn load_right<T: Real, M: Real>(
        &self,
        r: &Self::Vector<T>,
        level: &mut Self::Level<M>,
    ) -> Result<()>;

    /// One sweep: block-tridiagonal solves along the eta-lines, one colour after the other, then
    /// along the xi-lines if the level has them; of transposed equations along the xi-lines first.
    fn smooth<M: Real>(&self, level: &mut Self::Level<M>, order: Order) -> Result<()>;

    /// Coarse f ← R (f − A u − B d), coarse u, d ← 0.
    fn restrict_residual<M: Real>(
        &self,
        fine: &mut Self::Level<M>,
        coarse: &mut Self::Level<M>,
    ) -> Result<()>;

    /// Fine u ← u + P coarse u, and d so along xi. The eta-lines that a sweep in the order `next` solves first, without
    /// a look at their u, may be left out.
    fn prolong<M: Real>(
        &self,
        coarse: &Self::Level<M>,
        fine: &mut Self::Level<M>,
        next: Option<Order>,
    ) -> Result<()>;

    /// z ← u.
    fn store_solution<T: Real, M: Real>(
        &self,
        level: &Self::Level<M>,
        z: &mut Self::Vector<T>,
    ) -> Result<()>;
}
