//! The choice of a machine for a case, which is opened and closed while other work goes on.

use super::estimate::{CROSSOVER, demand, wanted};
use super::machine::{BackendChoice, Machine, MachinePool, Opened, driver, own_gpu};
use super::options::RunOptions;
use crate::backend::{Bands, DeviceError};
use crate::case::Case;
use std::thread::JoinHandle;

impl Machine {
    /// The machine of the options, and what the user should know of the choice: with
    /// [`BackendChoice::Auto`] which it is and why.
    pub(crate) fn choose(case: &Case, options: &RunOptions) -> Result<Opened, DeviceError> {
        if let Some(job) = options.job.as_ref().filter(|job| job.size() > 1) {
            return Self::rank_of(job.clone(), options.backend, options.devices.as_deref());
        }
        if let Some(opened) = Self::faster_cpu(case, options) {
            return Ok(opened);
        }
        let left = left_open(options);
        let (machine, notice) = options.backend.open(!left, || open(case, options))?;
        let faster = left && !matches!(machine, Self::Cpu);
        let chosen = faster.then(|| {
            format!(
                "running on a GPU, which is faster from {CROSSOVER} points on: --backend cpu takes none"
            )
        });
        let notices: Vec<String> = chosen.into_iter().chain(notice).collect();
        Ok((machine, (!notices.is_empty()).then(|| notices.join("; "))))
    }

    /// The CPU, if it is left open what to take, and a GPU would be slower for the size of the case.
    pub(crate) fn faster_cpu(case: &Case, options: &RunOptions) -> Option<Opened> {
        let small = demand(case).points < CROSSOVER;
        // If there is no driver, another notice reports it.
        (left_open(options) && small && driver::present()).then(|| {
            let notice = format!(
                "running on the CPU, which is faster below {CROSSOVER} points: --backend cuda takes a GPU"
            );
            (Self::Cpu, Some(notice))
        })
    }
}

fn left_open(options: &RunOptions) -> bool {
    options.backend == BackendChoice::Auto && named_gpus(options).is_empty()
}

/// The GPUs that the options name.
fn named_gpus(options: &RunOptions) -> &[usize] {
    options.devices.as_deref().unwrap_or_default()
}

/// The GPUs of the options; if they name none, as many as help.
fn open(case: &Case, options: &RunOptions) -> Result<Opened, DeviceError> {
    let ordinals = match named_gpus(options) {
        [] => helpful(case, options)?,
        named => named.to_vec(),
    };
    if ordinals.len() > 1 {
        // Before any work: whether there are columns for all.
        Bands::new(case.grid.around() - 2, ordinals.len(), false)?;
    }
    let points = demand(case).points;
    match &options.pool {
        Some(pool) => pool.open(&ordinals, points),
        None => Machine::gpus(&ordinals, points),
    }
}

/// The first GPU, or as many as the points of the case keep busy or need for their memory. Exports use one.
fn helpful(case: &Case, options: &RunOptions) -> Result<Vec<usize>, DeviceError> {
    let demand = demand(case);
    let own = own_gpu(options.device)?;
    let memory = driver::device(own)?.memory;
    if options.export_jacobian.is_some() || wanted(demand, memory) < 2 {
        return Ok(vec![own]);
    }
    // To ask every GPU for its free memory takes a while itself.
    let gpus = driver::devices()?;
    let free = gpus.iter().filter_map(|gpu| gpu.free).min().unwrap_or(usize::MAX);
    Ok((0..wanted(demand, free).clamp(1, gpus.len().max(1))).collect())
}

/// Number of GPUs for a case and others of its size, side by side, and the least free memory of one; `None`
/// if they run on the CPU.
pub(crate) fn gpus_of(case: &Case, options: &RunOptions) -> Option<(usize, usize)> {
    let on_cpu =
        options.backend == BackendChoice::Cpu || Machine::faster_cpu(case, options).is_some();
    if on_cpu || !driver::present() {
        return None;
    }
    let gpus = match named_gpus(options) {
        [] => vec![own_gpu(options.device).ok()?],
        named => named.to_vec(),
    };
    let free = |&gpu: &usize| driver::device(gpu).ok().map(|info| info.free.unwrap_or(info.memory));
    Some((gpus.len(), gpus.iter().filter_map(free).min()?))
}

/// Whether a case is for several of these GPUs together. One that cannot be asked is no reason.
pub(crate) fn needs_several(case: &Case, gpus: &[usize]) -> bool {
    let memory = |gpu: &usize| driver::device(*gpu).map(|info| info.memory).ok();
    gpus.len() > 1
        && gpus.iter().filter_map(memory).min().is_some_and(|least| wanted(demand(case), least) > 1)
}

/// A machine that is opened while other work goes on, or that is open.
pub(crate) enum Opening {
    UnderWay(JoinHandle<Result<Opened, DeviceError>>),
    Done(Opened),
}

impl Opening {
    /// Begins to open the machine of the options for a case.
    pub(crate) fn of(case: &Case, options: &RunOptions) -> Self {
        let (case, options) = (case.clone(), options.clone());
        Self::begin(move || Machine::choose(&case, &options))
    }

    pub(crate) fn begin(
        open: impl FnOnce() -> Result<Opened, DeviceError> + Send + 'static,
    ) -> Self {
        Self::UnderWay(std::thread::spawn(open))
    }

    /// Waits until it is open.
    pub(crate) fn end(self) -> Result<Opened, DeviceError> {
        match self {
            Self::UnderWay(thread) => DeviceError::caught("opening the device", thread.join()),
            Self::Done(opened) => Ok(opened),
        }
    }
}

/// A machine that is being closed; waits for that when it is dropped.
pub(crate) struct Closing(Option<JoinHandle<()>>);

impl Closing {
    /// Keeps a machine for the next case where there is a pool, or else closes it on a thread, while other work goes
    /// on.
    pub(crate) fn or_keep(machine: Opened, pool: Option<&MachinePool>) -> Self {
        let Some(pool) = pool else {
            return Self(Some(std::thread::spawn(move || drop(machine))));
        };
        pool.keep(machine);
        Self(None)
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        // A failure there does not touch the results, which are written.
        let _ = self.0.take().map(JoinHandle::join);
    }
}
