//! Recordings of several members as one.

use super::work::{append_to, are_like};
use crate::backend::cuda::device::{Address, Buffer, Device, GRANTED, Recording, Request};
use crate::backend::cuda::launch::constants::MOST_BLOCKS;
use crate::backend::cuda::launch::shared::Pointer;
use crate::backend::cuda::launch::{Arguments, Launch, LaunchShape, Result};
use std::collections::VecDeque;
use std::sync::Arc;

/// Most recordings that are kept.
const KEPT: usize = 64;

/// Recordings of a group, those that were needed last first.
#[derive(Default)]
pub(super) struct GroupRecordings(VecDeque<GroupRecording>);

/// Launches that all members have asked for alike, each with its arguments.
struct GroupRecording {
    launches: Arc<[Launch]>,
    recording: Recording,
    /// For each place the arguments of all launches, and a flag that says that a member has it.
    rows: Buffer<u64>,
    flags: Buffer<u32>,
    /// Contents of the rows, and the number of flags that are set.
    loaded: Vec<u64>,
    flagged: usize,
}

impl GroupRecordings {
    /// Does like launches of members.
    pub(super) fn replay(
        &mut self,
        device: &Arc<dyn Device>,
        members: &[Arc<[Launch]>],
    ) -> Result<()> {
        let Some(launches) = members.first() else { return Ok(()) };
        // Few recordings, and few blocks that have nothing to do.
        let places = members.len().next_power_of_two();
        let fits = |kept: &GroupRecording| {
            kept.flags.len() == places && are_like(&kept.launches, launches)
        };
        let known = self.0.iter().position(fits).and_then(|at| self.0.remove(at));
        let make = || GroupRecording::new(device, launches, places);
        let recorded = known.map_or_else(make, Ok)?;
        self.0.truncate(KEPT - 1);
        self.0.push_front(recorded);
        self.0[0].replay(&**device, members)
    }
}

impl GroupRecording {
    /// A recording of such launches for this many places.
    fn new(device: &Arc<dyn Device>, launches: &Arc<[Launch]>, places: usize) -> Result<Self> {
        let (mut words, mut starts) = (Vec::new(), Vec::new());
        for launch in launches.iter() {
            starts.push(words.len());
            append_to(launch, &mut words);
        }
        let stride = words.len();
        let rows = Buffer::zeros(device, places * stride)?;
        let flags = Buffer::zeros(device, places)?;
        let recording = device.record(false, &mut || {
            launches.iter().zip(&starts).try_for_each(|(launch, &start)| {
                let rows = ArgumentRows { first: rows.address_of(start), stride, count: places };
                launch_together(&**device, launch, rows, Some(&flags))
            })
        })?;
        let launches = launches.clone();
        Ok(Self { launches, recording, rows, flags, loaded: Vec::new(), flagged: 0 })
    }

    fn replay(&mut self, device: &dyn Device, members: &[Arc<[Launch]>]) -> Result<()> {
        let mut rows = Vec::with_capacity(self.loaded.len());
        for launch in members.iter().flat_map(|launches| launches.iter()) {
            append_to(launch, &mut rows);
        }
        if self.loaded.get(..rows.len()) != Some(&rows[..]) {
            self.rows.upload_part(&rows)?;
            self.loaded.splice(..rows.len().min(self.loaded.len()), rows);
        }
        if self.flagged != members.len() {
            let flag = |place| u32::from(place < members.len());
            self.flags.upload(&(0..self.flags.len()).map(flag).collect::<Vec<_>>())?;
            self.flagged = members.len();
        }
        device.replay(GRANTED, &self.recording)
    }
}

/// The arguments of members, a row each.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArgumentRows {
    pub(super) first: Address,
    /// Words from a row to the next.
    pub(super) stride: usize,
    pub(super) count: usize,
}

/// Launches the kernel of `launch` in its shape for each row; for those with a flag, where there are flags.
pub(super) fn launch_together(
    device: &dyn Device,
    launch: &Launch,
    rows: ArgumentRows,
    flags: Option<&Buffer<u32>>,
) -> Result<()> {
    let [x, y, _] = launch.shape.grid;
    let most = match device.room_together() {
        Some(room) if launch.shape.together && x > 1 => (room / x as usize).max(1),
        _ => MOST_BLOCKS,
    };
    for start in (0..rows.count).step_by(most) {
        let count = most.min(rows.count - start) as u32;
        // The rows may be what the launch before writes.
        let shape = LaunchShape { grid: [x, y, count], early: false, ..launch.shape };
        let first = rows.first + (start * rows.stride * size_of::<u64>()) as Address;
        let flags = flags.map_or(Pointer::NULL, |flags| flags.at(start));
        let arguments = (Pointer::<u64>::to(first), rows.stride as u32, flags).list();
        let launch = Launch { kernel: launch.kernel.grouped(), shape, arguments };
        device.ask(GRANTED, Request::Launch(launch))?;
    }
    Ok(())
}
