//! The smoother: line solves in both directions, and the factors of the lines.

use super::level::{Contents, CudaLevel, Storage};
use super::team::Team;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::launch::{LaunchShape, Source, arguments};
use crate::backend::{DeviceError, LevelSize, Real};

/// Threads of a block of the factorisation, one a line.
const FACTOR_THREADS: usize = 32;
/// Threads of the block that counts the lines which keep wall terms.
const COUNT_THREADS: u32 = 256;

impl<M: Real> CudaLevel<M> {
    /// Factors all lines.
    pub(super) fn factor(&self, backend: &CudaBackend) -> Result<(), DeviceError> {
        let eta_blocks = self.size.mi.div_ceil(FACTOR_THREADS);
        let xi_blocks = if self.has_xi { self.size.mj.div_ceil(FACTOR_THREADS) } else { 0 };
        let mut arguments = arguments![self.edged_layout()];
        arguments.extend(arguments![eta_blocks as u32, &self.operator, &self.borders, &self.bad]);
        let shape = LaunchShape {
            grid: [(eta_blocks + xi_blocks) as u32, 1, 1],
            block: [FACTOR_THREADS as u32, 1, 1],
            shared: 0,
        };
        let name = self.storage.pick("factor_compact", "factor_full");
        backend.launch::<M>(Source::Pivots, name, shape, &arguments)?;
        self.make_spikes(backend)
    }

    /// Decides whether this coarse level has wall terms.
    pub(super) fn choose_borders(
        &self,
        backend: &CudaBackend,
        fine: &Self,
    ) -> Result<(), DeviceError> {
        if !self.walls {
            return Ok(());
        }
        let mut arguments = arguments![self.edged_layout()];
        arguments.extend(arguments![&self.operator, &fine.borders, &self.borders]);
        let shape = LaunchShape { grid: [1, 1, 1], block: [COUNT_THREADS, 1, 1], shared: 0 };
        backend.launch::<M>(Source::Pivots, "count_borders", shape, &arguments)?;
        self.agree_on_borders(backend)
    }

    /// Solves the eta-lines of `first`, then those of the other colour; then the xi-lines so, if
    /// there are any.
    pub(super) fn relax(&self, backend: &CudaBackend, first: usize) -> Result<(), DeviceError> {
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
    ) -> Result<(), DeviceError> {
        if team.blocks == 0 {
            return Ok(());
        }
        let mut arguments = arguments![self.edged_layout()];
        arguments.extend(arguments![
            colour as u32,
            team.lines,
            team.chunks,
            u32::from(zero),
            &self.operator,
            &self.f,
            self.u(),
        ]);
        let mut shape = team.shape();
        shape.grid[2] = self.copies as u32;
        backend.launch::<M>(Source::Lines, name, shape, &arguments)
    }
}

/// Lines of a colour among `across`.
fn lines(across: usize, colour: usize) -> usize {
    (across + 1 - colour) / 2
}
