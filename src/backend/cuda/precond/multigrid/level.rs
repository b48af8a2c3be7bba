//! A level in a GPU's memory. `kernels/level.cuh` describes its layout.

use crate::backend::bands::Bands;
use crate::backend::cuda::backend::{CudaBackend, CudaRecording, HostState};
use crate::backend::cuda::comm::{Halo, PERIODIC_ROW, edges};
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::{
    COMPACT_STORAGE, EDGE_ABOVE, EDGE_COMPACT, EDGE_TRANSPOSED, EDGE_WALLS, FULL_STORAGE,
    WALL_VALUES, half_row,
};
use crate::backend::cuda::launch::shared::{LevelLayout, Pointer};
use crate::backend::cuda::launch::{LaunchShape, Result};
use crate::backend::{Coarsening, LevelSize, Real};

/// Storage and smoothing of a level, and whether it has wall terms.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelKind {
    /// Whether a point has ten numbers, as on the finest level; else all blocks are stored.
    pub(super) compact: bool,
    pub(super) coarsening: Coarsening,
    /// Whether there are columns of wall terms at both ends of the eta-lines: not at the last alone.
    pub(super) walls: [bool; 2],
    /// Whether the equations are transposed: the terms do not take the places of walled rows then.
    pub(super) transposed: bool,
}

impl LevelKind {
    /// Values a point before the inverse pivots of the xi-lines.
    pub(super) fn values(self) -> usize {
        self.pick(COMPACT_STORAGE, FULL_STORAGE) + self.ends() * WALL_VALUES
    }

    /// Chooses by the storage.
    pub(super) fn pick<P>(self, compact: P, full: P) -> P {
        if self.compact { compact } else { full }
    }

    /// Number of walls at the ends of the eta-lines.
    pub(super) fn ends(self) -> usize {
        self.walls.into_iter().filter(|wall| *wall).count()
    }

    /// Whether the equations of walled rows are sums along the eta-lines.
    pub(super) fn has_sums(self) -> bool {
        self.walls[0] && self.transposed
    }

    /// Whether the level is smoothed along xi too.
    pub(super) fn has_xi(self) -> bool {
        self.coarsening == Coarsening::Full
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

/// A cycle as a matrix, and the memory in which it is found.
pub(super) struct CycleMatrix<M> {
    pub(super) blocks: Buffer<M>,
    /// f and u of all unit vectors on each level.
    pub(super) probes: Vec<[Buffer<M>; 2]>,
    pub(super) probing: CudaRecording,
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
    /// Right sides and solutions in f and u.
    pub(super) copies: usize,
    /// The cycle from this level down as a matrix, on the level where it is so applied.
    pub(super) matrix: Option<CycleMatrix<M>>,
    /// Whether the matrix of a finer level covers this one.
    pub(super) covered: bool,
    /// 1 where a pivot is not finite, here or on a finer level; the second value makes a small download of it.
    pub(super) bad: Buffer<u32>,
    /// Borders of the eta-lines, and on coarse levels the number of lines with one, for each end: `NO_BORDERS` and so
    /// on.
    pub(super) borders: Buffer<u32>,
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
        let xi_values = match (kind.has_xi(), size.wraps()) {
            (false, _) => 0,
            (true, false) => 4,
            (true, true) => 8,
        };
        let values = kind.values() + xi_values;
        Ok(Self {
            size,
            kind,
            half,
            operator: Buffer::zeros(device, values * row * size.mj)?,
            f: Buffer::zeros(device, 2 * row * size.mj)?,
            u: Buffer::zeros(device, 2 * row * (size.mj + 2))?,
            bad: Buffer::zeros(device, 2)?,
            borders: Buffer::zeros(device, 4)?,
            copies: 1,
            matrix: None,
            covered: false,
            part: None,
            joined: None,
            contents: HostState::new(LevelContents::Zero as u32),
        })
    }

    /// The first point of u.
    pub(super) fn u(&self) -> Pointer<M> {
        self.u.at(4 * self.half)
    }

    /// The contents of u for kernels: 0 or 1 for the lines solved, 2 if nothing is known.
    pub(super) fn solved(&self) -> u32 {
        self.contents.get().min(LevelContents::Unknown as u32)
    }

    pub(super) fn set_contents(&self, backend: &CudaBackend, contents: LevelContents) {
        self.contents.set(&backend.capture, contents as u32);
    }

    /// The size, what lies beyond the ends of the rows, and which equations these are.
    pub(super) fn layout(&self) -> LevelLayout {
        let LevelSize { mi, mj, .. } = self.size;
        let beyond = match &self.part {
            Some(part) => edges(part.neighbours),
            None if self.size.wraps() => PERIODIC_ROW,
            None => 0,
        };
        let [below, above] = self.kind.walls;
        let walls = if below { EDGE_WALLS } else { 0 } | if above { EDGE_ABOVE } else { 0 };
        let compact = if self.kind.compact { EDGE_COMPACT } else { 0 };
        let transposed = if self.kind.transposed { EDGE_TRANSPOSED } else { 0 };
        let edges = beyond | walls | compact | transposed;
        let copies = self.copies as u32;
        LevelLayout { mi: mi as u32, mj: mj as u32, half: self.half as u32, edges, copies }
    }

    /// One thread for each point.
    pub(super) fn points(&self) -> LaunchShape {
        LaunchShape::tiles(self.size.mi, self.size.mj, self.copies)
    }

    pub(super) fn workspace(&self, backend: &CudaBackend, copies: usize) -> Result<[Buffer<M>; 2]> {
        let (row, mj) = (2 * self.half, self.size.mj);
        Ok([
            Buffer::zeros(&backend.device, copies * 2 * row * mj)?,
            Buffer::zeros(&backend.device, copies * 2 * row * (mj + 2))?,
        ])
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
