//! Nodes of a grid in a GPU's memory: all columns of it, or those of a rank and some beside them.

use crate::backend::Receivers;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::{RankContext, RankMessage};
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::{COLUMNS_HELD, COLUMNS_OPEN, COLUMNS_WRAP};
use crate::backend::cuda::launch::shared::{self, HeldColumns};
use crate::backend::cuda::launch::{LaunchShape, Result, launch};
use crate::grid::{Grid, Seam, Topology};
use std::fmt;
use std::ops::Range;

/// The columns of a grid that a device holds.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    pub(crate) topology: Topology,
    /// Columns of the whole grid.
    pub(crate) ni: usize,
    /// The first one held; −k is the column k before the seam of a closed grid.
    pub(crate) first: isize,
    /// Number of columns held.
    pub(crate) count: usize,
    /// Columns that this device owns; no other does.
    pub(crate) own: Range<usize>,
}

impl Columns {
    /// All columns, of which those of a rank are its own.
    pub(super) fn all(topology: Topology, ni: usize, ranks: Option<&RankContext>) -> Self {
        let own = ranks.map_or(0..ni, |ranks| ranks.bands.nodes(ranks.rank));
        Self { topology, ni, first: 0, count: ni, own }
    }

    /// The columns of the unknown points of a rank, and `margin` columns on either side.
    pub(super) fn band(topology: Topology, ni: usize, ranks: &RankContext, margin: usize) -> Self {
        let unknown = unknown_columns(topology, ranks.bands.of(ranks.rank));
        let mut first = unknown.start.cast_signed() - margin.cast_signed();
        let mut end = (unknown.end + margin).cast_signed();
        if !topology.closed() {
            (first, end) = (first.max(0), end.min(ni.cast_signed()));
        }
        let own = ranks.bands.nodes(ranks.rank);
        Self { topology, ni, first, count: (end - first) as usize, own }
    }

    /// Distinct columns of the whole grid.
    pub(super) fn around(&self) -> usize {
        self.topology.columns(self.ni)
    }

    /// Whether all columns of the grid are held.
    pub(super) fn is_all(&self) -> bool {
        self.first == 0 && self.count == self.ni
    }

    /// The held columns, without a column before the seam.
    pub(super) fn inside(&self) -> Range<usize> {
        let end = (self.first + self.count.cast_signed()) as usize;
        self.first.max(0) as usize..end.min(self.ni)
    }

    /// Place of a column of the grid among the held ones.
    pub(super) fn place(&self, column: usize) -> usize {
        (column.cast_signed() - self.first).cast_unsigned()
    }

    /// The distinct columns that are held, in order.
    pub(super) fn distinct(&self) -> impl Iterator<Item = usize> {
        let around = self.around();
        let first = self.first.rem_euclid(around.cast_signed()) as usize;
        (first..first + self.count).map(move |column| column % around)
    }

    /// Columns of cells that are its own: each begins at a column of nodes.
    pub(super) fn own_cells(&self) -> usize {
        self.own.len() - usize::from(self.own.end == self.ni && !self.own.is_empty())
    }

    /// The held columns as kernels take them.
    pub(super) fn held(&self) -> HeldColumns {
        let around = self.around();
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        HeldColumns {
            count: self.count as u32,
            first: self.first.rem_euclid(around.cast_signed()) as u32,
            around: around as u32,
            flags: flag(self.topology.closed() && self.is_all(), COLUMNS_WRAP)
                | flag(self.topology == Topology::O(Seam::Held), COLUMNS_HELD)
                | flag(!self.topology.closed(), COLUMNS_OPEN),
        }
    }

    /// Its own columns for kernels.
    pub(super) fn own(&self, nj: usize) -> shared::OwnColumns {
        // None of them may begin at the last column: it has no cell.
        self.some(if self.own.is_empty() { &(0..0) } else { &self.own }, nj)
    }

    /// Some of the held columns for kernels.
    pub(super) fn some(&self, own: &Range<usize>, nj: usize) -> shared::OwnColumns {
        shared::OwnColumns {
            stride: self.count as u32,
            shift: (-self.first) as u32,
            begin: own.start as u32,
            end: own.end as u32,
            ni: self.ni as u32,
            nj: nj as u32,
        }
    }
}

/// The columns of nodes of columns of unknown points.
pub(super) fn unknown_columns(topology: Topology, unknown: Range<usize>) -> Range<usize> {
    let first = usize::from(!topology.periodic());
    unknown.start + first..unknown.end + first
}

/// Nodes of a grid in a GPU's memory, `[nj][columns held]`.
pub struct CudaGrid {
    pub(crate) columns: Columns,
    pub(crate) nj: usize,
    /// The line j = 0 of the whole grid, on the host: a grid of that line alone.
    pub(crate) line: Grid,
    pub(crate) x: Buffer<f64>,
    pub(crate) y: Buffer<f64>,
}

impl fmt::Debug for CudaGrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CudaGrid").field(&self.size()).finish()
    }
}

impl CudaGrid {
    /// Nodes in i and j.
    pub fn size(&self) -> [usize; 2] {
        [self.columns.count, self.nj]
    }

    /// x and y of the nodes.
    pub fn nodes(&self) -> [&Buffer<f64>; 2] {
        [&self.x, &self.y]
    }

    /// The first arguments of kernels that look at a device's own columns.
    pub(super) fn own(&self) -> (shared::OwnColumns, &Buffer<f64>, &Buffer<f64>) {
        (self.columns.own(self.nj), &self.x, &self.y)
    }
}

/// The line j = 0 of a grid.
pub(super) fn first_line(topology: Topology, x: &[f64], y: &[f64]) -> Grid {
    Grid { topology, ni: x.len(), nj: 1, x: x.to_vec(), y: y.to_vec(), outside: None }
}

/// Values of an array that a rank receives at a time, about.
const VALUES: usize = 1 << 20;

impl CudaBackend {
    /// `columns` columns of some rows of nodes from the one at `from` on, `[rows][columns]`.
    pub(super) fn cut(
        &self,
        nodes: &Buffer<f64>,
        stride: usize,
        (from, columns): (usize, usize),
        rows: Range<usize>,
    ) -> Result<Buffer<f64>> {
        let cut = Buffer::unset(&self.device, columns * rows.len())?;
        let (first, rows) = (nodes.at(rows.start * stride), rows.len() as u32);
        launch!(self => cut_columns[f64, LaunchShape::elementwise(cut.len())](stride as u32,
            from as u32, columns as u32, rows, first, &cut))?;
        Ok(cut)
    }

    /// The columns `kept` of a grid, on the device.
    pub(super) fn cut_grid(
        &self,
        grid: &CudaGrid,
        kept: &Range<usize>,
    ) -> Result<[Buffer<f64>; 2]> {
        let place = (grid.columns.place(kept.start), kept.len());
        let cut = |nodes| self.cut(nodes, grid.columns.count, place, 0..grid.nj);
        Ok([cut(&grid.x)?, cut(&grid.y)?])
    }

    /// The columns of all ranks of at most two arrays, `[lines][stride]`, at the receivers: `put(k, line, columns,
    /// values)` gets the values of array k in some columns of a line. A rank's own are those from `first` on, and
    /// `columns` of the whole, by rank. All ranks must call.
    pub(super) fn gather_lines(
        &self,
        ranks: &RankContext,
        (arrays, (lines, stride), first): (&[&Buffer<f64>], (usize, usize), usize),
        columns: &[Range<usize>],
        receivers: Receivers,
        mut put: impl FnMut(usize, usize, Range<usize>, &[f64]),
    ) -> Result<()> {
        let rank = ranks.rank;
        let receives = |rank: usize| rank == 0 || receivers == Receivers::All;
        let others = || (0..columns.len()).filter(|other| *other != rank);
        let width = columns.iter().map(|columns| columns.end).max().unwrap_or(0);
        let together = (VALUES / width.max(1)).max(1);
        for start in (0..lines).step_by(together) {
            let part = start..(start + together).min(lines);
            let cut = |array: &&Buffer<f64>| {
                self.cut(array, stride, (first, columns[rank].len()), part.clone())
            };
            let cut = arrays.iter().map(cut).collect::<Result<Vec<_>>>()?;
            let (mut sent, mut received, mut parts) = (Vec::new(), Vec::new(), Vec::new());
            for other in others() {
                if receives(other) {
                    sent.extend(messages(other, &cut));
                }
                if receives(rank) {
                    let values = part.len() * columns[other].len();
                    let zeros = arrays.iter().map(|_| Buffer::zeros(&self.device, values));
                    let zeros = zeros.collect::<Result<Vec<_>>>()?;
                    received.extend(messages(other, &zeros));
                    parts.push((other, zeros));
                }
            }
            ranks.communicator.start_exchange(&sent, &received)?;
            ranks.communicator.finish_exchange()?;
            if receives(rank) {
                parts.push((rank, cut));
            }
            for (other, arrays) in parts.iter().filter(|(other, _)| !columns[*other].is_empty()) {
                for (k, array) in arrays.iter().enumerate() {
                    let values = array.to_host()?;
                    for (line, values) in part.clone().zip(values.chunks(columns[*other].len())) {
                        put(k, line, columns[*other].clone(), values);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Messages of arrays to another rank, or of its; an empty one is not sent.
pub(super) fn messages(rank: usize, arrays: &[Buffer<f64>]) -> impl Iterator<Item = RankMessage> {
    let some = arrays.iter().filter(|array| !array.is_empty());
    some.map(move |array| RankMessage::of(rank, array, 0..array.len()))
}
