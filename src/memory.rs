//! The memory of this machine: what does not fit is refused before it is allocated.

use sysinfo::{MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, RefreshKind, System};

/// More memory than is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} of memory are needed, {} are free", shown(*.needed), shown(*.free))]
pub struct NotEnoughMemory {
    /// Bytes that are needed, at least.
    pub needed: u64,
    /// Bytes that the machine, or the group of processes that this one is in, has free.
    pub free: u64,
}

/// Advice to the user when memory is short.
pub(crate) const HINT: &str = "end other programs, use a machine with more memory, or ask for less";

/// Bytes that need no question: asking the system takes longer than using them.
const SMALL: u64 = 1 << 26;

/// Refuses to use `needed` bytes where fewer are free. Where the system does not tell, all are.
///
/// # Errors
/// [`NotEnoughMemory`].
pub fn check(needed: u64) -> Result<(), NotEnoughMemory> {
    if needed <= SMALL {
        return Ok(());
    }
    match free() {
        Some(free) if needed > free => Err(NotEnoughMemory { needed, free }),
        _ => Ok(()),
    }
}

/// Bytes that can be used without swapping, where the system reports them. Limits on this process's group and on
/// those around it (Linux control groups) count.
pub fn free() -> Option<u64> {
    let kinds = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let mut system = System::new_with_specifics(kinds).ok()?;
    let own = sysinfo::get_current_pid().ok()?;
    let (these, nothing) = (ProcessesToUpdate::Some(&[own]), ProcessRefreshKind::nothing());
    system.refresh_processes_specifics(these, false, nothing);
    let limits = system.process(own).and_then(sysinfo::Process::cgroup_limits);
    // Pages of files that the group has read count as used, and are given back when memory runs short.
    let limited = limits.map(|limits| limits.total_memory.saturating_sub(limits.rss));
    let free = Some(system.available_memory()).filter(|free| *free > 0);
    free.map(|free| limited.map_or(free, |limit| free.min(limit)))
}

/// A number of bytes in a unit that people read.
pub(crate) fn shown(bytes: u64) -> String {
    const KIB: f64 = 1024.0;
    if (1..52_429).contains(&bytes) {
        return format!("{bytes} bytes");
    }
    let units = [(KIB.powi(3), "PiB"), (KIB.powi(2), "TiB"), (KIB, "GiB")];
    let mib = bytes as f64 / KIB.powi(2);
    let (size, unit) = units.into_iter().find(|(size, _)| mib >= *size).unwrap_or((1.0, "MiB"));
    format!("{:.1} {unit}", mib / size)
}
