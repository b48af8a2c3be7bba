//! The smoother: line solves in both directions, and the factors of the lines.

use super::level::{Contents, CudaLevel, Storage};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::launch::constants::{line_chunk, line_threads};
use crate::backend::cuda::launch::{LaunchShape, Result, Source, WARP, arguments};
use crate::backend::{LevelSize, Real};

/// Threads of a block of the factorisation, one a line.
const FACTOR_THREADS: usize = 32;
/// Threads of the block that counts the lines which keep wall terms.
const COUNT_THREADS: u32 = 256;

impl<M: Real> CudaLevel<M> {
    pub(super) fn factor(&self, backend: &CudaBackend) -> Result<()> {
        let eta_blocks = self.size.mi.div_ceil(FACTOR_THREADS);
        let xi_blocks = if self.has_xi { self.size.mj.div_ceil(FACTOR_THREADS) } else { 0 };
        let mut arguments = arguments![self.edged_layout(), eta_blocks as u32, &self.operator];
        arguments.extend(arguments![&self.borders, &self.bad]);
        let shape = LaunchShape::new(eta_blocks + xi_blocks, FACTOR_THREADS as u32);
        let name = self.storage.pick("factor_compact", "factor_full");
        backend.launch::<M>(Source::Pivots, name, shape, &arguments)?;
        self.make_spikes(backend)
    }

    /// Decides whether this coarse level has wall terms.
    pub(super) fn choose_borders(&self, backend: &CudaBackend, fine: &Self) -> Result<()> {
        if !self.walls {
            return Ok(());
        }
        let mut arguments = arguments![self.edged_layout(), &self.operator];
        arguments.extend(arguments![&fine.borders, &self.borders]);
        let shape = LaunchShape::new(1, COUNT_THREADS);
        backend.launch::<M>(Source::Pivots, "count_borders", shape, &arguments)?;
        self.agree_on_borders(backend)
    }

    /// Solves the eta-lines of `first`, then those of the other colour; then the xi-lines so, if
    /// there are any.
    pub(super) fn relax(&self, backend: &CudaBackend, first: usize) -> Result<()> {
        let LevelSize { mi, mj, .. } = self.size;
        let [eta, xi] = match (self.storage, self.copies) {
            (Storage::Compact, _) => ["relax_eta_compact", "relax_xi_compact"],
            (Storage::Full, 1) => ["relax_eta_full", "relax_xi_full"],
            (Storage::Full, _) => ["relax_eta_copies", "relax_xi_copies"],
        };
        let mut zero = self.contents.get() == Contents::Zero as u32;
        for colour in [first, 1 - first] {
            self.relax_lines(backend, eta, colour, Team::eta::<M>(mj, lines(mi, colour)), zero)?;
            // The lines of a colour stand between those of the other, across borders too.
            self.refresh(backend)?;
            zero = false;
        }
        if self.has_xi {
            for colour in [first, 1 - first] {
                let count = lines(mj, colour);
                self.relax_lines(backend, xi, colour, Team::xi::<M>(mi, count), false)?;
                self.join_lines(backend, colour, count)?;
            }
        }
        let solved = match first {
            0 => Contents::SolvedOdd,
            // The first row, an even one, is not relaxed along xi where wall terms take its place.
            _ if self.walls && self.has_xi => Contents::Unknown,
            _ => Contents::SolvedEven,
        };
        self.set_contents(backend, solved);
        Ok(())
    }

    fn relax_lines(
        &self,
        backend: &CudaBackend,
        name: &'static str,
        colour: usize,
        team: Team,
        zero: bool,
    ) -> Result<()> {
        if team.blocks == 0 {
            return Ok(());
        }
        let mut arguments = arguments![self.edged_layout(), colour as u32, team.lines, team.chunks];
        arguments.extend(arguments![u32::from(zero), &self.operator, &self.f, self.u()]);
        let mut shape = team.shape();
        shape.grid[2] = self.copies as u32;
        backend.launch::<M>(Source::Lines, name, shape, &arguments)
    }
}

fn lines(across: usize, colour: usize) -> usize {
    (across + 1 - colour) / 2
}

/// The shape of a launch of the smoother: every block takes `lines` lines, with one thread for
/// each of `chunks` chunks of a line. A line that is longer is solved in segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Team {
    pub(super) blocks: usize,
    pub(super) lines: u32,
    pub(super) chunks: u32,
}

impl Team {
    /// For `count` eta-lines of `along` points: neighbouring lines share memory sectors, so a
    /// block takes several, at least as many as fill a sector of 32 bytes with blocks.
    pub(super) fn eta<M: Real>(along: usize, count: usize) -> Self {
        let (least, most) = (WARP / (4 * size_of::<M>()), line_threads::<M>());
        let chunks = along.div_ceil(line_chunk::<M>());
        let mut lines = 2 * least;
        while lines > least && lines * chunks > most {
            lines /= 2;
        }
        while lines * chunks < WARP {
            lines *= 2;
        }
        let chunks = chunks.next_multiple_of(WARP / lines).min(most / lines);
        Self { blocks: count.div_ceil(lines), lines: lines as u32, chunks: chunks as u32 }
    }

    /// For `count` xi-lines of `along` points: a block takes one, or as many as fill a warp.
    pub(super) fn xi<M: Real>(along: usize, count: usize) -> Self {
        let chunks = along.div_ceil(line_chunk::<M>());
        let (lines, chunks) = if chunks < WARP {
            let chunks = chunks.next_power_of_two();
            (WARP / chunks, chunks)
        } else {
            (1, chunks.next_multiple_of(WARP).min(line_threads::<M>()))
        };
        Self { blocks: count.div_ceil(lines), lines: lines as u32, chunks: chunks as u32 }
    }

    pub(super) fn shape(self) -> LaunchShape {
        LaunchShape::new(self.blocks, self.lines * self.chunks)
    }
}
