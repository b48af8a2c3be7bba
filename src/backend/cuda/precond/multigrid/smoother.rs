//! The smoother: line solves in both directions, and the factors of the lines.

use super::level::{Contents, CudaLevel};
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
        let xi_blocks = if self.kind.has_xi() { self.size.mj.div_ceil(FACTOR_THREADS) } else { 0 };
        let mut arguments = arguments![self.layout(), eta_blocks as u32, &self.operator];
        arguments.extend(arguments![&self.borders, &self.bad]);
        let shape = LaunchShape::new(eta_blocks + xi_blocks, FACTOR_THREADS as u32);
        let full = if self.kind.has_sums() { "factor_transposed" } else { "factor_full" };
        let name = self.kind.pick("factor_compact", full);
        backend.launch::<M>(Source::Pivots, name, shape, &arguments)?;
        self.make_spikes(backend)
    }

    /// Decides whether this coarse level has wall terms.
    pub(super) fn choose_borders(&self, backend: &CudaBackend, fine: &Self) -> Result<()> {
        if !self.kind.walls {
            return Ok(());
        }
        let mut arguments = arguments![self.layout(), &self.operator];
        arguments.extend(arguments![&fine.borders, &self.borders]);
        let shape = LaunchShape::new(1, COUNT_THREADS);
        backend.launch::<M>(Source::Pivots, "count_borders", shape, &arguments)?;
        self.agree_on_borders(backend)
    }

    /// Solves the eta-lines of `first`, then those of the other colour; then the xi-lines so, if
    /// there are any. Those of transposed equations in the other order: the transpose of such a sweep.
    pub(super) fn relax(&self, backend: &CudaBackend, first: usize) -> Result<()> {
        let LevelSize { mi, mj, .. } = self.size;
        let full = match self.copies {
            1 => ["relax_eta_full", "relax_xi_full"],
            _ => ["relax_eta_copies", "relax_xi_copies"],
        };
        let [eta, xi] = self.kind.pick(["relax_eta_compact", "relax_xi_compact"], full);
        let eta = if self.kind.has_sums() { "relax_eta_transposed" } else { eta };
        let colours = [first, 1 - first];
        let lines = |across: usize, colour: usize| (across + 1 - colour) / 2;
        let mut zero = self.contents.get() == Contents::Zero as u32;
        if self.kind.transposed && self.kind.has_xi() {
            self.begin_lines(backend, zero)?;
        }
        for along_xi in [self.kind.transposed, !self.kind.transposed] {
            for colour in colours.into_iter().filter(|_| !along_xi || self.kind.has_xi()) {
                if along_xi {
                    let count = lines(mj, colour);
                    self.relax_lines(backend, xi, (colour, count), xi_team::<M>(mi), zero)?;
                    self.join_lines(backend, colour, count)?;
                } else {
                    let count = lines(mi, colour);
                    self.relax_lines(backend, eta, (colour, count), eta_team::<M>(mj), zero)?;
                    // The lines of a colour stand between those of the other, across borders too.
                    self.refresh(backend)?;
                }
                zero = false;
            }
        }
        let solved = match first {
            _ if self.kind.transposed => Contents::Unknown,
            0 => Contents::SolvedOdd,
            // The first row, an even one, is not relaxed along xi where wall terms take its place.
            _ if self.kind.walls && self.kind.has_xi() => Contents::Unknown,
            _ => Contents::SolvedEven,
        };
        self.set_contents(backend, solved);
        Ok(())
    }

    /// Solves the `count` lines of a colour: every block takes `lines` lines, with one thread for
    /// each of `chunks` chunks of a line. A line that is longer is solved in segments.
    fn relax_lines(
        &self,
        backend: &CudaBackend,
        name: &'static str,
        (colour, count): (usize, usize),
        [lines, chunks]: [usize; 2],
        zero: bool,
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let mut arguments =
            arguments![self.layout(), colour as u32, lines as u32, chunks as u32, u32::from(zero)];
        arguments.extend(arguments![&self.operator, &self.f, self.u()]);
        let mut shape = LaunchShape::new(count.div_ceil(lines), (lines * chunks) as u32);
        shape.grid[2] = self.copies as u32;
        backend.launch::<M>(Source::Lines, name, shape, &arguments)
    }
}

/// Lines and chunks of a block for eta-lines of `along` points: neighbouring lines share memory sectors, so a
/// block takes several, at least as many as fill a sector of 32 bytes with blocks.
fn eta_team<M: Real>(along: usize) -> [usize; 2] {
    let (least, most) = (WARP / (4 * size_of::<M>()), line_threads::<M>());
    let chunks = along.div_ceil(line_chunk::<M>());
    let mut lines = 2 * least;
    while lines > least && lines * chunks > most {
        lines /= 2;
    }
    while lines * chunks < WARP {
        lines *= 2;
    }
    [lines, chunks.next_multiple_of(WARP / lines).min(most / lines)]
}

/// The same for xi-lines: a block takes one, or as many as fill a warp.
fn xi_team<M: Real>(along: usize) -> [usize; 2] {
    let chunks = along.div_ceil(line_chunk::<M>());
    if chunks < WARP {
        let chunks = chunks.next_power_of_two();
        return [WARP / chunks, chunks];
    }
    [1, chunks.next_multiple_of(WARP).min(line_threads::<M>())]
}
