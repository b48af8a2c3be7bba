//! Levels in bands.
//!
//! A level is cut like the grid as long as its bands are wide and its points many; below that every
//! rank holds the whole of it and does the same work on it. The halo columns of a band are exchanged
//! after each solve of the eta-lines of a colour.
//!
//! Xi-lines pass the borders. A band solves its piece of a line with the values beyond its ends as they
//! were. The values of the pieces on both sides of a border then determine those of the whole line there,
//! and the spikes, made with the factors, how they change the piece: the truncated SPIKE algorithm
//! (theory section 6).

use super::level::{CudaLevel, Joined, LevelBand, LevelKind, Spikes};
use crate::backend::bands::Bands;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::{Halo, RankContext};
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::{
    BLOCK_VALUES, COMPACT_STORAGE, NO_BORDERS, NO_GHOSTS, SIGNED_BORDERS, WALL_VALUES,
};
use crate::backend::cuda::launch::shared::{ExchangedColumns, Pointer};
use crate::backend::cuda::launch::{LaunchShape, Result, launch};
use crate::backend::{LevelSize, Real};

/// Most points of a line that a spike reaches. The coupling along a line of c times the strength of
/// that across lets it decay by e in √(c/2) points.
const COLUMNS: usize = 256;

/// Threads of a block that makes spikes, one each, and of one that joins a line.
const SPIKE_THREADS: u32 = 32;
const JOIN_THREADS: u32 = 128;

/// Pairs of the ten numbers of a point in compact storage.
const PAIRS: usize = 5;

/// The band of a level.
pub(super) fn band<M: Real>(
    backend: &CudaBackend,
    ranks: &RankContext,
    bands: Bands,
    mj: usize,
    kind: LevelKind,
) -> Result<CudaLevel<M>> {
    let (rank, device) = (ranks.rank, &backend.device);
    let size = LevelSize { mi: bands.of(rank).len(), mj, periodic: false };
    // All ranks' bands stand alike in memory, so that they can be joined.
    let [_, widest] = bands.widths();
    let mut level = CudaLevel::new(backend, size, widest, kind)?;
    let columns = size.mi.min(COLUMNS);
    let spikes = || -> Result<Spikes<M>> {
        Ok(Spikes {
            columns,
            blocks: Buffer::zeros(device, 4 * columns * 2 * mj)?,
            reach: Buffer::zeros(device, 2 * mj)?,
            tips: Halo::new(device, 4 * mj)?,
            solved: Halo::new(device, 2 * mj)?,
        })
    };
    level.part = Some(LevelBand {
        neighbours: bands.neighbours(rank),
        bands,
        solution: Halo::new(device, 2 * mj)?,
        spikes: kind.has_xi().then(spikes).transpose()?,
    });
    Ok(level)
}

/// The level below a band: in bands too, or as a whole on every rank.
pub(super) fn below<M: Real>(
    backend: &CudaBackend,
    ranks: &RankContext,
    fine: &CudaLevel<M>,
    part: &LevelBand<M>,
    kind: LevelKind,
) -> Result<CudaLevel<M>> {
    let whole = part.size(fine.size.mj).coarser(kind.coarsening);
    let bands = part.bands.coarser().on_level();
    let [width, _] = bands.widths();
    let many = whole.mi * whole.mj > backend.gathered_points;
    let cut = many && bands.can_be_coarsened();
    let piece = band(backend, ranks, bands, whole.mj, kind)?;
    if cut {
        return Ok(piece);
    }
    let mut level = CudaLevel::new(backend, whole, whole.mi, kind)?;
    let values = piece.values(BLOCK_VALUES * piece.operator_planes());
    let all = Buffer::zeros(&backend.device, ranks.size * values)?;
    level.joined = Some(Box::new(Joined { piece, all, width }));
    Ok(level)
}

impl<M: Real> CudaLevel<M> {
    /// Planes of blocks that a whole level takes from its pieces: all but the pivots of the xi-lines.
    pub(super) fn operator_planes(&self) -> usize {
        self.kind.values() / BLOCK_VALUES
    }

    /// Counts the lines that keep wall terms on all ranks.
    pub(super) fn agree_on_borders(&self, backend: &CudaBackend) -> Result<()> {
        let (Some(ranks), Some(part)) = (&backend.ranks, &self.part) else { return Ok(()) };
        let mut borders = self.borders.to_host()?;
        for end in borders.chunks_exact_mut(2).take(self.kind.ends()) {
            let lines: u64 = ranks.numbers(end[1].into())?.iter().sum();
            let kept = lines > 0 && 2 * lines >= part.bands.columns() as u64;
            end[0] = if kept { SIGNED_BORDERS } else { NO_BORDERS };
        }
        self.borders.upload(&borders)
    }

    /// Values of this number of planes.
    fn values(&self, planes: usize) -> usize {
        planes * 2 * self.half * self.size.mj
    }

    /// The outer columns of pairs at x and y in the points of a level, `step` reals a point, and its ghost columns.
    fn columns(&self, [x, y]: [Pointer<M>; 2], step: usize) -> ExchangedColumns {
        // Points stand by parity (`kernels/level.cuh`); the first ghost column is the last place of the even ones.
        let place = |column: usize| (column % 2 * self.half + column / 2) as u32;
        let layout = self.layout();
        ExchangedColumns {
            x: Pointer::to(x.address()),
            y: Pointer::to(y.address()),
            row: (2 * step * self.half) as u64,
            step: step as u64,
            own: [0, place(self.size.mi - 1)],
            ghosts: [self.half as u32 - 1, place(self.size.mi)],
            planes: 1,
            rows: layout.mj,
            edges: layout.edges,
            ..ExchangedColumns::default()
        }
    }

    /// Receives the halo of u from the neighbours of a band.
    pub(super) fn refresh(&self, backend: &CudaBackend) -> Result<()> {
        let Some(part) = &self.part else { return Ok(()) };
        let of = self.columns([0, 1].map(|k| self.u.at(4 * self.half + k)), 2);
        backend.exchange_columns(&part.solution, part.neighbours, of)
    }

    /// Receives the halo of the operator from the neighbours of a band.
    pub(super) fn refresh_operator(&self, backend: &CudaBackend) -> Result<()> {
        let Some(part) = &self.part else { return Ok(()) };
        let points = 2 * self.half * self.size.mj;
        // Pairs at two places of each point, in planes of blocks from the first ones on.
        let pass = |places: [usize; 2], step: usize, planes: usize| -> Result<()> {
            let halo = Halo::<M>::new(&backend.device, 2 * planes * self.size.mj)?;
            let at = places.map(|place| self.operator.at(place));
            let plane = (step * points) as u64;
            let of = ExchangedColumns { plane, planes: planes as u32, ..self.columns(at, step) };
            backend.exchange_columns(&halo, part.neighbours, of)
        };
        let blocks = |values: usize, planes: usize| -> Result<()> {
            let first = values * points;
            pass([first, first + 1], BLOCK_VALUES, planes)?;
            pass([first + 2, first + 3], BLOCK_VALUES, planes)
        };
        if !self.kind.compact {
            // The pivots and borders among them are not read there.
            return blocks(0, self.operator_planes());
        }
        pass([0, 1], 2, PAIRS)?;
        (0..self.kind.ends())
            .try_for_each(|end| blocks(COMPACT_STORAGE + end * WALL_VALUES + BLOCK_VALUES, 1))
    }

    /// The residual of the column after a band, received from the neighbour; null for a whole level.
    pub(super) fn residual_beside(&self, backend: &CudaBackend) -> Result<Pointer<M>> {
        let (Some(ranks), Some(part)) = (&backend.ranks, &self.part) else {
            return Ok(Pointer::NULL);
        };
        let of = (self.layout(), &self.operator, &self.f, self.u());
        let shape = LaunchShape::threads(self.size.mj);
        part.solution.exchange_columns(
            ranks,
            part.neighbours,
            |columns| launch!(backend => exchange_residual[M, shape](of, columns)),
        )?;
        Ok(part.solution.received.at(2 * self.size.mj))
    }

    /// The level into which coarsening and restriction to this level write.
    pub(super) fn target(&self) -> &Self {
        self.joined.as_ref().map_or(self, |joined| &joined.piece)
    }

    /// `planes` planes of `each` values a point from all ranks' pieces, if this level is made of them, and u ← 0 if
    /// there is a u.
    pub(super) fn join(
        &self,
        backend: &CudaBackend,
        [each, planes]: [usize; 2],
        of: impl Fn(&Self) -> &Buffer<M>,
        u: Pointer<M>,
    ) -> Result<()> {
        let (Some(ranks), Some(joined)) = (&backend.ranks, &self.joined) else { return Ok(()) };
        let Joined { piece, all, width } = &**joined;
        let values = piece.values(each * planes);
        let bytes = values * size_of::<M>();
        ranks.communicator.all_gather(of(piece).address(), all.address(), bytes)?;
        let (width, half) = (*width as u32, piece.half as u32);
        launch!(backend => join_pieces[M, self.points()](self.layout(), width, ranks.size as u32,
            half, each as u32, planes as u32, values as u64, all, of(self), u))
    }

    /// The column of `coarse` at which this level's column 0 stands, and whether its first and last
    /// columns are neighbours.
    pub(super) fn start_in(&self, backend: &CudaBackend, coarse: &Self) -> [u32; 2] {
        match (&backend.ranks, &self.part) {
            (Some(ranks), Some(part)) if coarse.joined.is_some() => {
                let start = part.bands.of(ranks.rank).start / 2;
                [start as u32, u32::from(part.bands.periodic())]
            }
            _ => [0, u32::from(self.size.wraps())],
        }
    }

    pub(super) fn make_spikes(&self, backend: &CudaBackend) -> Result<()> {
        let Some(part) = &self.part else { return Ok(()) };
        let Some(spikes) = &part.spikes else { return Ok(()) };
        let blocks = (2 * self.size.mj).div_ceil(SPIKE_THREADS as usize);
        let shape = LaunchShape::new(blocks, SPIKE_THREADS);
        launch!(backend => make_spikes[M, shape](self.layout(), spikes.columns as u32, &self.operator,
            &spikes.blocks, &spikes.reach))?;
        // The first blocks of the spikes, as two planes of pairs.
        let (mj, [x, y]) = (self.size.mj, [0, 1].map(|k| Pointer::to(spikes.blocks.address_of(k))));
        let of = ExchangedColumns {
            x,
            y,
            plane: 2,
            row: (BLOCK_VALUES * spikes.columns) as u64,
            step: BLOCK_VALUES as u64,
            own: [0, (mj * spikes.columns) as u32],
            ghosts: [NO_GHOSTS; 2],
            planes: 2,
            rows: mj as u32,
            edges: self.layout().edges,
            ..ExchangedColumns::default()
        };
        backend.exchange_columns(&spikes.tips, part.neighbours, of)
    }

    /// Makes one of the pieces of the xi-lines of a colour, `count` of them, just solved for the values
    /// that the last [`Self::refresh`] brought; and brings u beside a band.
    pub(super) fn join_lines(
        &self,
        backend: &CudaBackend,
        colour: usize,
        count: usize,
    ) -> Result<()> {
        let (Some(ranks), Some(part)) = (&backend.ranks, &self.part) else { return Ok(()) };
        let Some(spikes) = part.spikes.as_ref().filter(|_| count > 0) else { return Ok(()) };
        let size = (self.layout(), colour as u32, spikes.columns as u32);
        let own = (size, &spikes.blocks, &spikes.reach, &spikes.tips.received);
        let own = (own, &part.solution.sent, self.u());
        spikes.solved.exchange_columns(ranks, part.neighbours, |columns| {
            launch!(backend => join_lines[M, LaunchShape::new(count, JOIN_THREADS)](own, columns))
        })
    }
}
