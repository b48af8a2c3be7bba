//! A level in a GPU's memory, of which `kernels/level.cuh` describes the layout; and the solution of a coarsest
//! level by inverses of runs of its columns, which takes less time than sweeps.

use crate::backend::bands::Bands;
use crate::backend::cuda::backend::{CudaBackend, HostState};
use crate::backend::cuda::comm::{Halo, PERIODIC_ROW, edges};
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::{
    BLOCK_VALUES, COMPACT_STORAGE, EDGE_COMPACT, EDGE_TRANSPOSED, EDGE_WALLS, FULL_STORAGE,
    ROW_BLOCKS, WALL_VALUES, half_row, inverse_points,
};
use crate::backend::cuda::launch::shared::{ColumnRuns, LevelLayout, Pointer};
use crate::backend::cuda::launch::{LaunchShape, Result, WARP, launch};
use crate::backend::multigrid::ColumnBlocks;
use crate::backend::{Coarsening, LevelSize, Real};
use crate::sparse::WalledSides;
use std::sync::atomic::{AtomicU32, Ordering};

/// Storage and smoothing of a level, and whether it has wall terms.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelKind {
    /// Whether a point has ten numbers, as on the finest level; else all blocks are stored.
    pub(super) compact: bool,
    pub(super) coarsening: Coarsening,
    /// The sides with columns of wall terms; the last end of the eta-lines not alone.
    pub(super) walls: WalledSides,
    /// Whether the equations are transposed: the terms do not take the places of walled rows then.
    pub(super) transposed: bool,
}

impl LevelKind {
    /// Values a point before the inverse pivots of the xi-lines, or the columns of wall terms at the ends of these.
    pub(super) fn values(self) -> usize {
        self.pick(COMPACT_STORAGE, FULL_STORAGE) + self.ends() * WALL_VALUES
    }

    /// Chooses by the storage.
    pub(super) fn pick<P>(self, compact: P, full: P) -> P {
        if self.compact { compact } else { full }
    }

    /// Number of walls at the ends of the eta-lines.
    pub(super) fn ends(self) -> usize {
        self.walls.sides().filter(|side| *side < 2).count()
    }

    /// Whether the equations of walled rows are sums along the eta-lines.
    pub(super) fn has_sums(self) -> bool {
        !self.walls.is_empty() && self.transposed
    }

    /// Whether the level is smoothed along xi too, by lines of its own.
    pub(super) fn has_xi(self) -> bool {
        self.coarsening == Coarsening::Full && !self.walls.has_beside()
    }

    /// The kind of the turned level by which one with walls at the ends of the xi-lines is smoothed along xi, and whether
    /// its rows are mirrored: there is a wall at the first end then.
    pub(super) fn turned(self) -> Option<(Self, bool)> {
        let WalledSides([below, above, before, behind]) = self.walls;
        let mirrored = behind && !before;
        let ends = if mirrored { [behind, before] } else { [before, behind] };
        let walls = WalledSides([ends[0], ends[1], below, above]);
        let turned = Self { walls, coarsening: Coarsening::Xi, ..self };
        let has = self.walls.has_beside() && self.coarsening == Coarsening::Full;
        has.then_some((turned, mirrored))
    }
}

/// The contents of u.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum LevelContents {
    /// A solution whose residual is zero on the even lines of the direction relaxed last.
    SolvedEven = 0,
    /// A solution whose residual is zero on the odd lines.
    SolvedOdd = 1,
    /// Anything.
    Unknown = 2,
    Zero = 3,
}

/// Pieces of a whole level, one from each rank.
pub(super) struct Joined<M> {
    /// This rank's piece, in which the bands of the level above leave what they coarsen.
    pub(super) piece: CudaLevel<M>,
    pub(super) all: Buffer<M>,
    /// Width of the pieces but the last.
    pub(super) width: usize,
}

/// The inverses of runs of a level's matrix, and the blocks of the elimination by which they are found.
pub(super) struct Inverse<M> {
    pub(super) runs: ColumnRuns,
    pub(super) rows: Buffer<M>,
    pub(super) values: Buffer<M>,
    /// Right side of the equations of the separators, which takes its first places.
    pub(super) right: Buffer<M>,
}

/// One level of a hierarchy.
pub struct CudaLevel<M> {
    pub(super) size: LevelSize,
    pub(super) kind: LevelKind,
    pub(super) half: usize,
    pub(super) operator: Buffer<M>,
    pub(super) f: Buffer<M>,
    /// With a row of zeros before the first and after the last.
    pub(super) u: Buffer<M>,
    /// The inverse of a coarsest level that is solved by it.
    pub(super) inverse: Option<Inverse<M>>,
    /// 1 where a pivot is not finite, here or on a finer level; the second value makes a small download of it.
    pub(super) bad: Buffer<u32>,
    /// Borders of the eta-lines, and on coarse levels the number of lines with one, for each end: `NO_BORDERS` and so
    /// on.
    pub(super) borders: Buffer<u32>,
    /// The level whose eta-lines are the xi-lines of this one, where there are walls at the ends of these.
    pub(super) turned: Option<Box<Self>>,
    /// The halos and spikes of a band, if this is one.
    pub(super) part: Option<LevelBand<M>>,
    /// The pieces of a whole level below bands.
    pub(super) joined: Option<Box<Joined<M>>>,
    pub(super) contents: HostState,
}

impl<M: Real> CudaLevel<M> {
    /// A level with memory for `width` points per row.
    pub(super) fn new(
        backend: &CudaBackend,
        size: LevelSize,
        width: usize,
        kind: LevelKind,
    ) -> Result<Self> {
        let device = &backend.device;
        let half = half_row(width);
        let row = 2 * half;
        let blocks = if kind.walls.has_beside() { 2 } else { usize::from(kind.has_xi()) };
        let xi_values = BLOCK_VALUES * blocks * (1 + usize::from(size.wraps()));
        let turned = kind.turned().map(|(kind, _)| {
            let size = LevelSize { mi: size.mj, mj: size.mi, periodic: false };
            Self::new(backend, size, size.mi, kind).map(Box::new)
        });
        let values = (kind.values() + xi_values) * row * size.mj;
        let of_points = [values, 2 * row * size.mj, 2 * row * (size.mj + 2)];
        let [operator, f, u] = Buffer::several_zeros(device, of_points)?;
        let [bad, borders] = Buffer::several_zeros(device, [2, 4])?;
        Ok(Self {
            size,
            kind,
            half,
            operator,
            f,
            u,
            bad,
            borders,
            inverse: None,
            turned: turned.transpose()?,
            part: None,
            joined: None,
            contents: AtomicU32::new(LevelContents::Zero as u32).into(),
        })
    }

    /// The first point of u.
    pub(super) fn u(&self) -> Pointer<M> {
        self.u.at(4 * self.half)
    }

    /// The contents of u for kernels: 0 or 1 for the lines solved, 2 if nothing is known.
    pub(super) fn solved(&self) -> u32 {
        self.contents.load(Ordering::Relaxed).min(LevelContents::Unknown as u32)
    }

    pub(super) fn set_contents(&self, backend: &CudaBackend, contents: LevelContents) {
        backend.set(&self.contents, contents as u32);
    }

    /// The size, what lies beyond the ends of the rows, and which equations these are.
    pub(super) fn layout(&self) -> LevelLayout {
        let LevelSize { mi, mj, .. } = self.size;
        let beyond = match &self.part {
            Some(part) => edges(part.neighbours),
            None if self.size.wraps() => PERIODIC_ROW,
            None => 0,
        };
        let walls = EDGE_WALLS * self.kind.walls.bits();
        let compact = if self.kind.compact { EDGE_COMPACT } else { 0 };
        let transposed = if self.kind.transposed { EDGE_TRANSPOSED } else { 0 };
        let edges = beyond | walls | compact | transposed;
        LevelLayout { mi: mi as u32, mj: mj as u32, half: self.half as u32, edges }
    }

    /// One thread for each point.
    pub(super) fn points(&self) -> LaunchShape {
        LaunchShape::tiles(self.size.mi, self.size.mj)
    }

    /// Makes the operator of the turned level, if there is one. All wall terms of the `finest` level stay.
    pub(super) fn turn_operator(&self, backend: &CudaBackend, finest: bool) -> Result<()> {
        let (Some(turned), Some((_, mirrored))) = (&self.turned, self.kind.turned()) else {
            return Ok(());
        };
        let borders = finest.then_some(&turned.borders);
        launch!(backend => turn_level[M, self.points()](self.layout(), &self.operator,
            turned.layout(), u32::from(mirrored), &turned.operator, borders))
    }

    /// Right side and solution of the turned level ← those of this one.
    pub(super) fn turn_values(&self, backend: &CudaBackend) -> Result<()> {
        self.turn(backend, (false, false), |level| level.f.at(0))?;
        self.turn(backend, (false, false), Self::u)
    }

    /// Values of the turned level ← those of this one, or `back`; `of_walls` those of lines along walls alone.
    pub(super) fn turn(
        &self,
        backend: &CudaBackend,
        (back, of_walls): (bool, bool),
        values: impl Fn(&Self) -> Pointer<M>,
    ) -> Result<()> {
        let (Some(turned), Some((_, mirrored))) = (&self.turned, self.kind.turned()) else {
            return Ok(());
        };
        let how = [mirrored, back, of_walls].map(u32::from);
        launch!(backend => turn_values[M, self.points()](self.layout(), turned.layout(), how,
            values(self), values(turned)))
    }
}

/// The halos of a band of a level, and the spikes of its xi-lines.
pub(super) struct LevelBand<M> {
    pub(super) bands: Bands,
    pub(super) neighbours: [bool; 2],
    pub(super) solution: Halo<M>,
    /// Spikes of a level that is smoothed along xi too.
    pub(super) spikes: Option<Spikes<M>>,
}

impl<M> LevelBand<M> {
    /// The size of the whole level.
    pub(super) fn size(&self, mj: usize) -> LevelSize {
        LevelSize { mi: self.bands.columns(), mj, periodic: self.bands.periodic() }
    }
}

/// The spikes of the xi-lines of a band, and what passes the borders for them.
pub(super) struct Spikes<M> {
    pub(super) columns: usize,
    /// `columns` blocks for each line: those at the border before the band, then those at that after.
    pub(super) blocks: Buffer<M>,
    /// Blocks in use.
    pub(super) reach: Buffer<u32>,
    pub(super) tips: Halo<M>,
    /// The outer columns once their pieces of lines are solved.
    pub(super) solved: Halo<M>,
}

impl ColumnRuns {
    fn of(columns: ColumnBlocks) -> Self {
        let [count, points, length] =
            [columns.count(), columns.points(), columns.run()].map(|number| number as u32);
        Self { count, points, length }
    }

    /// The equations of the separators, as one run.
    fn reduced(self) -> Self {
        let count = self.count / (self.length + 1);
        Self { count, length: count, ..self }
    }

    /// Number of runs.
    fn runs(self) -> usize {
        self.count.div_ceil(self.length + 1) as usize
    }

    /// Values of the blocks of all rows, and of the inverses of all runs.
    fn values(self) -> [usize; 2] {
        let [count, points, length] =
            [self.count, self.points, self.length].map(|number| number as usize);
        let block = points * points * BLOCK_VALUES;
        [ROW_BLOCKS * count * block, self.runs() * length * length * block]
    }

    /// Finds the inverse of each run.
    fn invert<M: Real>(
        self,
        backend: &CudaBackend,
        [rows, inverse]: [Pointer<M>; 2],
        bad: &Buffer<u32>,
    ) -> Result<()> {
        let threads = self.threads();
        let shape =
            LaunchShape { grid: [2, self.runs() as u32, 1], ..LaunchShape::new(1, threads) };
        launch!(backend => eliminate_columns[M, shape](self, rows, bad))?;
        let shape = LaunchShape { grid: [self.count, 2, 1], ..shape };
        launch!(backend => invert_columns[M, shape](self, rows, inverse, bad))
    }

    /// Threads of a block that holds a block of the matrix.
    fn threads(self) -> u32 {
        (self.points * self.points).next_multiple_of(WARP as u32)
    }

    /// A warp for each point.
    fn warps(self) -> LaunchShape {
        LaunchShape::threads(WARP * (self.count * self.points) as usize)
    }
}

impl<M: Real> CudaLevel<M> {
    /// Finds the inverses, if all blocks are stored, and here, and no wall terms reach all columns.
    pub(super) fn invert(&mut self, backend: &CudaBackend) -> Result<()> {
        let columns = ColumnBlocks::of(self.size);
        let other = self.kind.compact || self.kind.walls.has_beside() || self.part.is_some();
        if other || columns.points() > inverse_points::<M>() {
            return Ok(());
        }
        let runs = ColumnRuns::of(columns);
        let reduced = runs.reduced();
        let ([rows, inverses], [more_rows, inverse]) = (runs.values(), reduced.values());
        let new = || -> Result<_> {
            Ok(Inverse {
                runs,
                rows: Buffer::unset(&backend.device, rows + more_rows)?,
                values: Buffer::unset(&backend.device, inverses + inverse)?,
                right: Buffer::unset(&backend.device, self.size.values())?,
            })
        };
        let found = self.inverse.take().map_or_else(new, Ok)?;
        let shape = LaunchShape::threads(3 * rows / (ROW_BLOCKS * BLOCK_VALUES));
        launch!(backend => gather_columns[M, shape](self.layout(), &self.operator, &found.rows))?;
        runs.invert(backend, [found.rows.at(0), found.values.at(0)], &self.bad)?;
        if reduced.count > 0 {
            let to = found.rows.at(rows);
            let shape =
                LaunchShape { grid: [reduced.count, 3, 1], ..LaunchShape::new(1, runs.threads()) };
            launch!(backend => reduce_columns[M, shape](runs, &found.rows, to))?;
            reduced.invert(backend, [to, found.values.at(inverses)], &self.bad)?;
        }
        self.inverse = Some(found);
        Ok(())
    }

    /// u ← A⁻¹ f, if the inverses were found; returns whether they were.
    pub(super) fn solve(&self, backend: &CudaBackend) -> Result<bool> {
        let Some(Inverse { runs, rows, values, right }) = &self.inverse else { return Ok(false) };
        let (layout, shape, reduced) = (self.layout(), runs.warps(), runs.reduced());
        launch!(backend => apply_inverse[M, shape](layout, *runs, values, &self.f, self.u()))?;
        if reduced.count > 0 {
            let few = reduced.warps();
            launch!(backend => reduce_right[M, few](layout, *runs, rows, &self.f, self.u(), right))?;
            launch!(backend => apply_reduced[M, few](layout, *runs, values, right, self.u()))?;
            launch!(backend => correct_runs[M, shape](layout, *runs, rows, self.u()))?;
        }
        self.set_contents(backend, LevelContents::Unknown);
        Ok(true)
    }
}
