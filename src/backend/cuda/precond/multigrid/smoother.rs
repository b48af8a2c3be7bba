//! The smoother: line solves in both directions, and the factors of the lines.

use super::level::{CudaLevel, LevelContents};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::launch::constants::{
    BLOCK_VALUES, FACTOR_CHUNK, FACTOR_THREADS, MOST_BY_SHORT_CHUNKS, SHORT_CHUNK, line_chunk,
    line_threads,
};
use crate::backend::cuda::launch::shared::{FactoredLevel, FactoredLevels};
use crate::backend::cuda::launch::{KernelName, LaunchShape, Result, WARP, kernels, launch};
use crate::backend::{LevelSize, Real};
use crate::sparse::WalledSides;
use std::sync::atomic::Ordering;

/// Most levels of one launch that factors lines.
const MOST_FACTORED: usize = 16;
/// Most bytes of shared memory that the kernels of the smoother have besides that for segments of lines.
const OWN_SHARED: usize = 24 << 10;
/// Threads of the block that counts the lines which keep wall terms.
const COUNT_THREADS: u32 = 256;

impl<M: Real> CudaLevel<M> {
    /// Factors the lines of several levels, the coarsest of which learns whether all their pivots are finite.
    pub(super) fn factor(backend: &CudaBackend, levels: &[Self]) -> Result<()> {
        let Some(coarsest) = levels.last() else { return Ok(()) };
        let name = if coarsest.kind.has_sums() {
            kernels::factor_transposed_levels
        } else if coarsest.kind.walls.has_others() {
            kernels::factor_walled_levels
        } else {
            kernels::factor_levels
        };
        let launch = |name, levels: &[&Self], blocks: &dyn Fn(&Self) -> usize| -> Result<()> {
            for levels in levels.chunks(MOST_FACTORED) {
                let (of, first) = Self::factored(levels, blocks);
                let shape = LaunchShape::new(first, FACTOR_THREADS as u32);
                launch!(backend => (name)[M, shape](of, levels.len() as u32, &coarsest.bad))?;
            }
            Ok(())
        };
        let warps = |lines: usize| lines.div_ceil(WARP);
        let turned: Vec<&Self> =
            levels.iter().filter_map(|level| level.turned.as_deref()).collect();
        let own: Vec<&Self> = levels.iter().collect();
        Self::choose_borders(backend, &own)?;
        Self::choose_borders(backend, &turned)?;
        let all = [own, turned].concat();
        launch(name, &all, &|level| {
            let LevelSize { mi, mj, .. } = level.size;
            warps(mi) + warps(mj) * level.xi_chunks()
        })?;
        // Xi-lines of several chunks are joined, and those that close are closed.
        let unfinished =
            |level: &&Self| level.xi_chunks() > 1 || (level.kind.has_xi() && level.size.wraps());
        let unfinished: Vec<&Self> = levels.iter().filter(unfinished).collect();
        launch(kernels::finish_levels, &unfinished, &|level| warps(level.size.mj))?;
        levels.iter().try_for_each(|level| level.make_spikes(backend))
    }

    /// Chunks in which the xi-lines are factored, if the level has any: the last point of closed ones is not in them.
    fn xi_chunks(&self) -> usize {
        let open = self.size.mi - usize::from(self.size.wraps());
        if self.kind.has_xi() { open.div_ceil(FACTOR_CHUNK) } else { 0 }
    }

    /// Decides which of these levels but the first, each coarser than the one before, have wall terms.
    fn choose_borders(backend: &CudaBackend, levels: &[&Self]) -> Result<()> {
        // Ranks agree on a level before the next one.
        let most = if backend.ranks.is_some() { 2 } else { MOST_FACTORED };
        for first in (0..levels.len().saturating_sub(1)).step_by(most - 1) {
            let some = &levels[first..levels.len().min(first + most)];
            if some[0].kind.ends() > 0 {
                let shape = LaunchShape::new(1, COUNT_THREADS);
                let (of, _) = Self::factored(some, |_| 0);
                launch!(backend => count_borders[M, shape](of, some.len() as u32))?;
                some[1].agree_on_borders(backend)?;
            }
        }
        Ok(())
    }

    /// Levels as kernels take them, at most [`MOST_FACTORED`], and the blocks of all.
    fn factored(levels: &[&Self], blocks: impl Fn(&Self) -> usize) -> (FactoredLevels, usize) {
        let (mut of, mut first) = (FactoredLevels::default(), 0);
        for (of, level) in of.at.iter_mut().zip(levels) {
            *of = FactoredLevel {
                layout: level.layout(),
                first: first as u32,
                xi_chunks: level.xi_chunks() as u32,
                values: (&level.operator).into(),
                borders: (&level.borders).into(),
            };
            first += blocks(level);
        }
        (of, first)
    }

    /// Solves the eta-lines of `first`, then those of the other colour; then the xi-lines so, if
    /// there are any. Transposed equations have the other order: the transpose of such a sweep.
    pub(super) fn relax(&self, backend: &CudaBackend, first: usize) -> Result<()> {
        let Some(turned) = &self.turned else { return self.relax_own(backend, first) };
        if !self.kind.transposed {
            self.relax_own(backend, first)?;
        }
        self.turn_values(backend)?;
        turned.set_contents(backend, LevelContents::Unknown);
        turned.relax_own(backend, first)?;
        self.turn(backend, (true, false), Self::u)?;
        self.set_contents(backend, LevelContents::Unknown);
        if self.kind.transposed { self.relax_own(backend, first) } else { Ok(()) }
    }

    /// [`Self::relax`] along the lines of this level itself.
    fn relax_own(&self, backend: &CudaBackend, first: usize) -> Result<()> {
        let LevelSize { mi, mj, .. } = self.size;
        let room = backend.device.shared_memory().saturating_sub(OWN_SHARED);
        let xi = self.lines(&XI, xi_team::<M>, mi, room);
        let eta = if self.kind.has_sums() {
            LineLaunch {
                name: if self.kind.walls.has_others() {
                    kernels::relax_eta_transposed_both
                } else {
                    kernels::relax_eta_transposed
                },
                early: false,
                team: eta_team::<M>(mj, line_chunk::<M>(), room),
            }
        } else {
            self.lines(&ETA, eta_team::<M>, mj, room)
        };
        let colours = [first, 1 - first];
        let lines = |across: usize, colour: usize| (across + 1 - colour) / 2;
        let mut zero = self.contents.load(Ordering::Relaxed) == LevelContents::Zero as u32;
        if self.kind.transposed && self.kind.has_xi() {
            // Xi-lines are joined from the ghost columns of u and its own outer columns, as they were before.
            match &self.part {
                Some(part) if zero => part.solution.sent.clear()?,
                _ => self.refresh(backend)?,
            }
        }
        for along_xi in [self.kind.transposed, !self.kind.transposed] {
            for colour in colours.into_iter().filter(|_| !along_xi || self.kind.has_xi()) {
                if along_xi {
                    let count = lines(mj, colour);
                    self.relax_lines(backend, &xi, (colour, count), zero)?;
                    self.join_lines(backend, colour, count)?;
                } else {
                    let count = lines(mi, colour);
                    self.relax_lines(backend, &eta, (colour, count), zero)?;
                    // The lines of a colour stand between those of the other, across borders too.
                    self.refresh(backend)?;
                }
                zero = false;
            }
        }
        self.set_contents(backend, self.solved_after(first));
        Ok(())
    }

    /// Kernel and team for the lines of `along` points of a direction, whose segments have this room in shared memory.
    fn lines(
        &self,
        kernels: &LineKernels,
        team: impl Fn(usize, usize, usize) -> Team,
        along: usize,
        room: usize,
    ) -> LineLaunch {
        let few = self.size.mi * self.size.mj <= MOST_BY_SHORT_CHUNKS;
        let short = team(along, SHORT_CHUNK, 0);
        let of_storage = |[compact, full]: [KernelName; 2]| self.kind.pick(compact, full);
        let between = self.kind.walls.has_others();
        if few && !between && short.chunks * SHORT_CHUNK >= along {
            return LineLaunch { name: of_storage(kernels.short), early: true, team: short };
        }
        // Xi-lines with walls at their ends are eta-lines of a turned level.
        let name = if self.kind.walls.has_beside() {
            kernels::relax_eta_sides
        } else {
            of_storage(if between { kernels.between } else { kernels.long })
        };
        LineLaunch { name, early: false, team: team(along, line_chunk::<M>(), room) }
    }

    /// The contents of u after a sweep that began with the lines of `first`.
    fn solved_after(&self, first: usize) -> LevelContents {
        match first {
            _ if self.kind.transposed || self.kind.walls.has_beside() => LevelContents::Unknown,
            // Rows whose place wall terms take are not relaxed along xi.
            _ if self.kind.has_xi() && self.has_held_row(1 - first) => LevelContents::Unknown,
            0 => LevelContents::SolvedOdd,
            _ => LevelContents::SolvedEven,
        }
    }

    /// Whether wall terms take the place of a row of this colour.
    fn has_held_row(&self, colour: usize) -> bool {
        let WalledSides([below, above, ..]) = self.kind.walls;
        (below && colour == 0) || (above && (self.size.mj - 1) % 2 == colour)
    }

    /// Solves the `count` lines of a colour: every block takes `lines` lines, with one thread for
    /// each of `chunks` chunks of a line. A line that is longer is solved in segments.
    fn relax_lines(
        &self,
        backend: &CudaBackend,
        &LineLaunch { name, early, team: Team { lines, chunks, held, shared, .. } }: &LineLaunch,
        (colour, count): (usize, usize),
        zero: bool,
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let mut shape = LaunchShape::new(count.div_ceil(lines), (lines * chunks) as u32);
        shape.shared = shared as u32;
        shape.early = early;
        launch!(backend => (name)[M, shape](self.layout(), colour as u32, lines as u32,
            chunks as u32, u32::from(zero), held as u32, &self.operator, &self.f, self.u()))
    }
}

/// Kernels for the lines of a direction: by short chunks where a level has few points and these take a line in one
/// segment, for compact and full storage; by longer ones; and for levels between two walls.
struct LineKernels {
    short: [KernelName; 2],
    long: [KernelName; 2],
    between: [KernelName; 2],
}

const ETA: LineKernels = LineKernels {
    short: [kernels::relax_eta_compact_short, kernels::relax_eta_full_short],
    long: [kernels::relax_eta_compact, kernels::relax_eta_full],
    between: [kernels::relax_eta_compact_both, kernels::relax_eta_full_both],
};

const XI: LineKernels = LineKernels {
    short: [kernels::relax_xi_compact_short, kernels::relax_xi_full_short],
    long: [kernels::relax_xi_compact, kernels::relax_xi_full],
    between: [kernels::relax_xi_compact_both, kernels::relax_xi_full_both],
};

/// Kernel and team for the lines of a direction.
struct LineLaunch {
    /// The kernel.
    name: KernelName,
    /// Whether it waits for the launches before by itself.
    early: bool,
    team: Team,
}

/// The threads of a block.
struct Team {
    lines: usize,
    /// Threads of a line.
    chunks: usize,
    /// Segments of a line before its last one, and how many of them stay in shared memory.
    before_last: usize,
    held: usize,
    /// Bytes of dynamic shared memory.
    shared: usize,
}

impl Team {
    /// A team that solves lines of `along` points in segments, and holds as many of these in shared memory as there
    /// is room for. Threads that take turns along a line exchange values there, too: a pair for each point, and one
    /// more for each thread.
    fn new<M: Real>(
        (lines, chunks): (usize, usize),
        (along, chunk): (usize, usize),
        turns: bool,
        room: usize,
    ) -> Self {
        let threads = lines * chunks;
        let exchanged = if turns { 2 * threads * (chunk + 1) } else { 0 };
        // A block and a pair a point, and a pair a point of the last segment.
        let values = |held| {
            threads * chunk * if held > 0 { held * BLOCK_VALUES + 2 * (held + 1) } else { 0 }
        };
        let bytes = |held| (exchanged + values(held)) * size_of::<M>();
        let before_last = along.div_ceil(chunks * chunk).saturating_sub(1);
        let held = (1..=before_last).rev().find(|&held| bytes(held) <= room).unwrap_or(0);
        Self { lines, chunks, before_last, held, shared: bytes(held) }
    }
}

/// Lines and chunks of a block for eta-lines of `along` points: neighbouring lines share memory sectors, so that a
/// block takes as many as fill a pair of sectors of 32 bytes with pairs if it can hold them, and at least as many as fill one
/// with blocks. Short chunks are for small levels, which have to keep all multiprocessors busy: they fill one sector.
fn eta_team<M: Real>(along: usize, chunk: usize, room: usize) -> Team {
    let (least, most) = (WARP / (4 * size_of::<M>()), line_threads::<M>());
    let team = |mut lines: usize| {
        let chunks = along.div_ceil(chunk);
        while lines * chunks < WARP {
            lines *= 2;
        }
        let chunks = chunks.next_multiple_of(WARP / lines).min(most / lines);
        Team::new::<M>((lines, chunks), (along, chunk), false, room)
    };
    let widths = if chunk == SHORT_CHUNK { 1..=1 } else { 1..=2 };
    let mut teams = widths.rev().map(|power| team(least << power));
    teams.find(|team| team.held == team.before_last).unwrap_or_else(|| team(least))
}

/// Lines and chunks of a block for xi-lines: a block takes one, or as many as fill a warp.
fn xi_team<M: Real>(along: usize, chunk: usize, room: usize) -> Team {
    let chunks = along.div_ceil(chunk);
    let (lines, chunks) = if chunks < WARP {
        let chunks = chunks.next_power_of_two();
        (WARP / chunks, chunks)
    } else {
        (1, chunks.next_multiple_of(WARP).min(line_threads::<M>()))
    };
    Team::new::<M>((lines, chunks), (along, chunk), chunk != SHORT_CHUNK, room)
}
