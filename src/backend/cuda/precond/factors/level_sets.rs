//! Level sets of rows that do not wait for each other, and the launches that go through them.

use crate::backend::DeviceError;
use crate::backend::cuda::device::{Buffer, Device};
use crate::backend::cuda::launch::shared::LevelRows;
use crate::backend::cuda::launch::{BLOCK, LaunchShape};
use std::sync::Arc;

/// Rows by level, and the launches that do one level after the other.
pub(super) struct LevelSets {
    order: Buffer<u32>,
    starts: Buffer<u32>,
    launches: Vec<Launch>,
}

/// Levels `first` to `last` (not included) in `blocks` blocks; several levels in one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Launch {
    first: u32,
    last: u32,
    blocks: usize,
}

impl LevelSets {
    /// Level sets of rows that come in this order; `waits_for(row)` yields rows that came before it.
    pub(super) fn new<I: Iterator<Item = u32>>(
        device: &Arc<dyn Device>,
        order: impl Iterator<Item = u32> + Clone,
        rows: usize,
        waits_for: impl Fn(u32) -> I,
    ) -> Result<Self, DeviceError> {
        let mut level = vec![0_u32; rows];
        let mut starts = vec![0_u32];
        for row in order.clone() {
            let own = waits_for(row).map(|other| level[other as usize] + 1).max().unwrap_or(0);
            level[row as usize] = own;
            if starts.len() < own as usize + 2 {
                starts.resize(own as usize + 2, 0);
            }
            starts[own as usize + 1] += 1;
        }
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0_u32; rows];
        for row in order {
            let at = &mut next[level[row as usize] as usize];
            sorted[*at as usize] = row;
            *at += 1;
        }
        Ok(Self {
            order: Buffer::from_host(device, &sorted)?,
            starts: Buffer::from_host(device, &starts)?,
            launches: launches(&starts),
        })
    }

    /// Shape and levels of each launch.
    pub(super) fn launches(&self) -> impl Iterator<Item = (LaunchShape, LevelRows)> + '_ {
        self.launches.iter().map(|launch| {
            let levels = LevelRows {
                order: (&self.order).into(),
                starts: (&self.starts).into(),
                first: launch.first,
                last: launch.last,
            };
            (LaunchShape::blocks(launch.blocks), levels)
        })
    }
}

/// A launch for each level of many rows, and one for each run of levels that a block does faster
/// than launches follow each other.
fn launches(starts: &[u32]) -> Vec<Launch> {
    let mut launches: Vec<Launch> = Vec::new();
    for (level, ends) in (0..).zip(starts.windows(2)) {
        let blocks = (ends[1] - ends[0]).div_ceil(BLOCK) as usize;
        match launches.last_mut() {
            Some(last) if last.blocks == 1 && blocks == 1 => last.last = level + 1,
            _ => launches.push(Launch { first: level, last: level + 1, blocks }),
        }
    }
    launches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_small_levels_share_a_launch() {
        let sizes = [1, 256, 257, 3, 1000, 2000, 256];
        let starts: Vec<u32> = std::iter::once(0)
            .chain(sizes.iter().scan(0, |sum, size| {
                *sum += size;
                Some(*sum)
            }))
            .collect();

        let found: Vec<_> = launches(&starts).iter().map(|l| (l.first, l.last, l.blocks)).collect();

        assert_eq!(found, [(0, 2, 1), (2, 3, 2), (3, 4, 1), (4, 5, 4), (5, 6, 8), (6, 7, 1)]);
    }
}
