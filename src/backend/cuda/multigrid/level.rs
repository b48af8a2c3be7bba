//! A level in a GPU's memory. `kernels/level.cuh` says how it stands there.

use super::bands::{Joined, Part};
use super::matrix::CycleMatrix;
use super::team::Team;
use crate::backend::cuda::kernel::{Argument, Shape, Source, arguments};
use crate::backend::cuda::ranks::CLOSED;
use crate::backend::cuda::recording::Mark;
use crate::backend::cuda::{Buffer, CudaBackend};
use crate::backend::{Coarsening, DeviceError, LevelSize, Real};

/// Rows start at multiples of this many points: 128 bytes of pairs in single precision.
const ALIGNED: usize = 16;
/// Most blocks of a grid in y.
const MOST_ROWS: usize = 65_535;
/// Threads of a block at pairs of points of a row.
const ROW_THREADS: usize = 256;
/// Threads of a block of the factorisation, one a line.
const FACTOR_THREADS: usize = 32;
/// Threads of the block that counts the lines which keep wall terms.
const COUNT_THREADS: u32 = 256;
/// Beside what lies beyond the ends of the rows, that wall terms take the places of the first row:
/// `RIM_WALLS` of `kernels/common.cuh`.
const WALLS: u32 = 8;

/// How the operator is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    /// Corner blocks are ±d I and the centre is c I, as on the finest level.
    Compact,
    /// All blocks.
    Full,
}

impl Storage {
    /// Values a point before the inverse pivots of the xi-lines.
    pub(super) fn values(self) -> usize {
        match self {
            Self::Compact => 22,
            Self::Full => 40,
        }
    }

    /// The kernel of this storage.
    pub(super) fn pick(self, compact: &'static str, full: &'static str) -> &'static str {
        match self {
            Self::Compact => compact,
            Self::Full => full,
        }
    }
}

/// Values a point of V and B, between those of the storage and the inverse pivots of the xi-lines.
pub(super) const WALL_VALUES: usize = 8;

/// How a level is stored and smoothed, and whether it has wall terms.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelKind {
    pub(super) storage: Storage,
    pub(super) coarsening: Coarsening,
    pub(super) walls: bool,
}

/// What u holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Contents {
    /// A solution whose residual is zero on the even lines of the direction relaxed last.
    SolvedEven = 0,
    /// The same of the odd lines.
    SolvedOdd = 1,
    /// Anything.
    Unknown = 2,
    /// Zeros.
    Zero = 3,
}

/// One level of a hierarchy.
pub struct CudaLevel<M> {
    pub(super) size: LevelSize,
    pub(super) storage: Storage,
    /// Whether the level is smoothed along xi too.
    pub(super) has_xi: bool,
    /// Whether wall terms take the places of the first row.
    pub(super) walls: bool,
    pub(super) half: usize,
    pub(super) operator: Buffer<M>,
    pub(super) f: Buffer<M>,
    /// With a row of zeros before the first and after the last.
    pub(super) u: Buffer<M>,
    /// Right sides and solutions in f and u.
    pub(super) copies: usize,
    /// The cycle from this level down as a matrix, on the level where it is so applied.
    pub(super) matrix: Option<CycleMatrix<M>>,
    /// Whether the matrix of a finer level stands for this one.
    pub(super) covered: bool,
    /// 1 where a pivot is not finite, here or on a finer level.
    pub(super) bad: Buffer<u32>,
    /// Which borders the eta-lines have, and on coarse levels how many have one: `NO_BORDERS` and so on
    /// of `kernels/level.cuh`.
    pub(super) borders: Buffer<u32>,
    /// What a band of a level has beside, if this is one.
    pub(super) part: Option<Part<M>>,
    /// Where the bands of the level above leave what they coarsen, if they do and this is a whole
    /// level.
    pub(super) joined: Option<Box<Joined<M>>>,
    contents: Mark,
}

impl<M: Real> CudaLevel<M> {
    pub(super) fn new(
        backend: &CudaBackend,
        size: LevelSize,
        kind: LevelKind,
    ) -> Result<Self, DeviceError> {
        Self::with_width(backend, size, size.mi, kind)
    }

    /// A level in whose rows there is room for `width` points.
    pub(super) fn with_width(
        backend: &CudaBackend,
        size: LevelSize,
        width: usize,
        kind: LevelKind,
    ) -> Result<Self, DeviceError> {
        let LevelKind { storage, coarsening, walls } = kind;
        let device = &backend.device;
        // And for one more on either side.
        let half = (width.div_ceil(2) + 2).next_multiple_of(ALIGNED);
        let row = 2 * half;
        let has_xi = coarsening == Coarsening::Full;
        let xi_values = match (has_xi, size.wraps()) {
            (false, _) => 0,
            (true, false) => 4,
            (true, true) => 8,
        };
        let values = storage.values() + if walls { WALL_VALUES } else { 0 } + xi_values;
        Ok(Self {
            size,
            storage,
            has_xi,
            walls,
            half,
            operator: Buffer::zeros(device, values * row * size.mj)?,
            f: Buffer::zeros(device, 2 * row * size.mj)?,
            u: Buffer::zeros(device, 2 * row * (size.mj + 2))?,
            bad: Buffer::zeros(device, 1)?,
            borders: Buffer::zeros(device, 2)?,
            copies: 1,
            matrix: None,
            covered: false,
            part: None,
            joined: None,
            contents: Mark::new(Contents::Zero as u32),
        })
    }

    /// Address of u at j = 0.
    pub(super) fn u(&self) -> u64 {
        self.u.address_of(4 * self.half)
    }

    /// What u holds, as kernels take it: 0 or 1 for the lines solved, 2 where nothing is known.
    pub(super) fn solved(&self) -> u32 {
        self.contents.get().min(Contents::Unknown as u32)
    }

    pub(super) fn set_contents(&self, backend: &CudaBackend, contents: Contents) {
        self.contents.set(&backend.journal, contents as u32);
    }

    /// The size as kernels take it.
    pub(super) fn layout(&self) -> Vec<Argument> {
        arguments![self.size.mi as u32, self.size.mj as u32, self.half as u32]
    }

    /// The size, what lies beyond the ends of the rows, and whether there are wall terms.
    pub(super) fn rimmed_layout(&self) -> Vec<Argument> {
        let rim = match &self.part {
            Some(part) => part.rim(),
            None if self.size.wraps() => CLOSED,
            None => 0,
        };
        let mut arguments = self.layout();
        arguments.push((rim | if self.walls { WALLS } else { 0 }).into());
        arguments
    }

    /// One thread for each pair of points of a row.
    pub(super) fn point_pairs(&self) -> Shape {
        let threads = self.half.min(ROW_THREADS);
        let grid = [
            self.half.div_ceil(threads) as u32,
            self.size.mj.min(MOST_ROWS) as u32,
            self.copies as u32,
        ];
        Shape { grid, block: [threads as u32, 1, 1], shared: 0 }
    }

    /// Factors all lines.
    pub(super) fn factor(&self, backend: &CudaBackend) -> Result<(), DeviceError> {
        let eta_blocks = self.size.mi.div_ceil(FACTOR_THREADS);
        let xi_blocks = if self.has_xi { self.size.mj.div_ceil(FACTOR_THREADS) } else { 0 };
        let mut arguments = self.rimmed_layout();
        arguments.extend(arguments![eta_blocks as u32, &self.operator, &self.borders, &self.bad]);
        let shape = Shape {
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
        let mut arguments = self.rimmed_layout();
        arguments.extend(arguments![&self.operator, &fine.borders, &self.borders]);
        let shape = Shape { grid: [1, 1, 1], block: [COUNT_THREADS, 1, 1], shared: 0 };
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
        let mut arguments = self.rimmed_layout();
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

    /// Room for f and u of several right sides.
    pub(super) fn room(
        &self,
        backend: &CudaBackend,
        copies: usize,
    ) -> Result<[Buffer<M>; 2], DeviceError> {
        let (row, mj) = (2 * self.half, self.size.mj);
        Ok([
            Buffer::zeros(&backend.device, copies * 2 * row * mj)?,
            Buffer::zeros(&backend.device, copies * 2 * row * (mj + 2))?,
        ])
    }
}

/// Lines of a colour among `across`.
fn lines(across: usize, colour: usize) -> usize {
    (across + 1 - colour) / 2
}
