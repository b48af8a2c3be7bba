//! From columns to lines: what the ranks have in bands of columns the host of each gets in lines of all
//! columns, some lines at a time.

use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::Message;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::Result;
use std::ops::Range;

/// Values of an array that a rank receives at a time, about.
const VALUES: usize = 1 << 20;

/// Arrays of a device, `[lines][stride]`, of which some columns are its own.
pub(super) struct OwnColumns<'a> {
    /// One message each between two ranks: two at most.
    pub(super) arrays: &'a [&'a Buffer<f64>],
    pub(super) stride: usize,
    /// The first of its own columns in a line of `stride`.
    pub(super) first: usize,
    /// The columns of the whole that each rank has, by rank.
    pub(super) columns: Vec<Range<usize>>,
}

/// All `lines` for rank 0, none for the others of `ranks`.
pub(super) fn lines_of_first(ranks: usize, lines: usize) -> Vec<Range<usize>> {
    (0..ranks).map(|rank| 0..if rank == 0 { lines } else { 0 }).collect()
}

impl CudaBackend {
    /// The lines `lines[rank]` of the arrays with the columns of all ranks: `put(k, line, columns, values)` gets
    /// the values of array k in some columns of line `line` of those of this rank. All ranks must call.
    pub(super) fn gather_lines(
        &self,
        own: &OwnColumns<'_>,
        lines: &[Range<usize>],
        mut put: impl FnMut(usize, usize, Range<usize>, &[f64]),
    ) -> Result<()> {
        let rank = self.ranks.as_ref().map_or(0, |ranks| ranks.rank);
        let OwnColumns { arrays, stride, first, columns } = own;
        let width = columns.iter().map(|columns| columns.end).max().unwrap_or(0);
        let together = (VALUES / width.max(1)).max(1);
        let longest = lines.iter().map(Range::len).max().unwrap_or(0);
        for step in (0..longest).step_by(together) {
            let part = |of: usize| {
                let Range { start, end } = lines[of];
                (start + step).min(end)..(start + step + together).min(end)
            };
            let cut = |of: usize| -> Result<Vec<Buffer<f64>>> {
                let cut = |array| self.cut(array, *stride, (*first, columns[rank].len()), part(of));
                arrays.iter().copied().map(cut).collect()
            };
            let messages = |rank: usize, buffers: &[Buffer<f64>]| -> Vec<Message> {
                let message = |buffer: &Buffer<f64>| Message {
                    rank,
                    at: buffer.address(),
                    bytes: buffer.len() * size_of::<f64>(),
                };
                buffers.iter().map(message).collect()
            };
            let (mut sent, mut received) = (Vec::new(), Vec::new());
            let (mut sends, mut receives) = (Vec::new(), Vec::new());
            for other in (0..columns.len()).filter(|other| *other != rank) {
                if !part(other).is_empty() && !columns[rank].is_empty() {
                    let buffers = cut(other)?;
                    sends.extend(messages(other, &buffers));
                    sent.push(buffers);
                }
                let values = part(rank).len() * columns[other].len();
                if values > 0 {
                    let zeros = arrays.iter().map(|_| Buffer::zeros(&self.device, values));
                    let buffers: Vec<_> = zeros.collect::<Result<_>>()?;
                    receives.extend(messages(other, &buffers));
                    received.push((other, buffers));
                }
            }
            if let Some(ranks) = &self.ranks {
                ranks.communicator.start_exchange(&sends, &receives)?;
                ranks.communicator.finish_exchange()?;
            }
            if !part(rank).is_empty() && !columns[rank].is_empty() {
                received.push((rank, cut(rank)?));
            }
            for (other, buffers) in received {
                for (k, buffer) in buffers.iter().enumerate() {
                    let values = buffer.to_host()?;
                    for (line, values) in part(rank).zip(values.chunks(columns[other].len())) {
                        put(k, line - lines[rank].start, columns[other].clone(), values);
                    }
                }
            }
        }
        Ok(())
    }
}
