//! Launches of one kernel for several members.

use crate::backend::cuda::device::{Address, Device, GRANTED};
use crate::backend::cuda::launch::shared::Pointer;
use crate::backend::cuda::launch::{Arguments, Launch, LaunchShape, Result};

/// Most blocks of a launch in z.
const MOST_BLOCKS: u32 = 65_535;

/// The arguments of members, a row each.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArgumentRows {
    pub(super) first: Address,
    /// Words from a row to the next.
    pub(super) stride: usize,
    pub(super) count: usize,
}

/// Launches the kernel of `launch` in its shape for each row; for those with a flag, unless there are none at
/// `flags`.
pub(super) fn launch_together(
    device: &dyn Device,
    launch: &Launch,
    rows: ArgumentRows,
    flags: Address,
) -> Result<()> {
    let [x, y, copies] = launch.shape.grid;
    let most = match device.room_together() {
        Some(room) if launch.shape.together && x > 1 => room as u32 / x,
        _ => MOST_BLOCKS,
    };
    let most = (most / copies.max(1)).max(1) as usize;
    for start in (0..rows.count).step_by(most) {
        let count = most.min(rows.count - start) as u32;
        let shape = LaunchShape { grid: [x, y, copies * count], ..launch.shape };
        let first = rows.first + (start * rows.stride * size_of::<u64>()) as Address;
        let flags = if flags == 0 { 0 } else { flags + (start * size_of::<u32>()) as Address };
        let (first, flags) = (Pointer::<u64>::to(first), Pointer::<u32>::to(flags));
        let arguments = (first, rows.stride as u32, copies, flags).list();
        device.launch(GRANTED, Launch { kernel: launch.kernel.grouped(), shape, arguments })?;
    }
    Ok(())
}
