//! From columns to lines: what the ranks have in bands of columns the host of each gets in lines of all
//! columns, some lines at a time.

use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::RankMessage;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::Result;
use std::ops::Range;

/// Values of an array that a rank receives at a time, about.
const VALUES: usize = 1 << 20;

/// Arrays of a device, `[lines][stride]`, of which some columns are its own.
pub(super) struct GatheredColumns<'a> {
    /// One message each between two ranks: two at most.
    pub(super) arrays: &'a [&'a Buffer<f64>],
    pub(super) stride: usize,
    /// The first of its own columns in a line of `stride`.
    pub(super) first: usize,
    /// The columns of the whole that each rank has, by rank.
    pub(super) columns: Vec<Range<usize>>,
}

/// Ranks whose hosts get lines of all columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Receivers {
    First,
    All,
}

/// Arrays from or for another rank, whose number comes first.
pub(super) type OfRank = (usize, Vec<Buffer<f64>>);

impl CudaBackend {
    /// The first `lines` lines of the arrays with the columns of all ranks, at the receivers: `put(k, line, columns,
    /// values)` gets the values of array k in some columns of a line. All ranks must call.
    pub(super) fn gather_lines(
        &self,
        own: &GatheredColumns<'_>,
        (lines, receivers): (usize, Receivers),
        mut put: impl FnMut(usize, usize, Range<usize>, &[f64]),
    ) -> Result<()> {
        let rank = self.ranks.as_ref().map_or(0, |ranks| ranks.rank);
        let GatheredColumns { arrays, stride, first, columns } = own;
        let receives = |rank: usize| rank == 0 || receivers == Receivers::All;
        let others = || (0..columns.len()).filter(|other| *other != rank);
        let width = columns.iter().map(|columns| columns.end).max().unwrap_or(0);
        let together = (VALUES / width.max(1)).max(1);
        for start in (0..lines).step_by(together) {
            let part = start..(start + together).min(lines);
            let cut = |array: &&Buffer<f64>| {
                self.cut(array, *stride, (*first, columns[rank].len()), part.clone())
            };
            let cut = arrays.iter().map(cut).collect::<Result<Vec<_>>>()?;
            let sent: Vec<_> =
                others().filter(|other| receives(*other)).map(|other| (other, &cut[..])).collect();
            let room = |other: usize| -> Result<OfRank> {
                let values = part.len() * columns[other].len();
                let zeros = arrays.iter().map(|_| Buffer::zeros(&self.device, values));
                Ok((other, zeros.collect::<Result<_>>()?))
            };
            let mut received: Vec<_> =
                others().filter(|_| receives(rank)).map(room).collect::<Result<_>>()?;
            self.exchange_arrays(&sent, &received)?;
            if receives(rank) {
                received.push((rank, cut));
            }
            for (other, buffers) in received.iter().filter(|(other, _)| !columns[*other].is_empty())
            {
                for (k, buffer) in buffers.iter().enumerate() {
                    let values = buffer.to_host()?;
                    for (line, values) in part.clone().zip(values.chunks(columns[*other].len())) {
                        put(k, line, columns[*other].clone(), values);
                    }
                }
            }
        }
        Ok(())
    }

    /// Sends arrays to other ranks, and receives theirs; empty ones are not sent.
    pub(super) fn exchange_arrays(
        &self,
        sent: &[(usize, &[Buffer<f64>])],
        received: &[OfRank],
    ) -> Result<()> {
        let Some(ranks) = &self.ranks else { return Ok(()) };
        let messages = |rank: usize, buffers: &[Buffer<f64>]| -> Vec<RankMessage> {
            let some = buffers.iter().filter(|buffer| !buffer.is_empty());
            some.map(|buffer| RankMessage::of(rank, buffer, 0..buffer.len())).collect()
        };
        let sends: Vec<_> = sent.iter().flat_map(|(rank, of)| messages(*rank, of)).collect();
        let receives: Vec<_> = received.iter().flat_map(|(rank, of)| messages(*rank, of)).collect();
        ranks.communicator.start_exchange(&sends, &receives)?;
        ranks.communicator.finish_exchange()
    }
}
