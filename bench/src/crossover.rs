//! Finds the grid size from which a run takes less time on a GPU.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::CudaBackend;
use gridgen::case::CaseFile;
use gridgen::error::Error;
use gridgen::generate::{BackendChoice, RunOptions, run};
use gridgen::internals::generate::CROSSOVER;

use super::results::points;
use super::{Results, Size, Table};

/// Sizes around the crossover, measured if none are named.
const SIZES: [Size; 7] =
    [(129, 65), (257, 129), (385, 193), (513, 257), (769, 385), (1025, 513), (2049, 1025)];

/// Name of the hidden command that runs one case to be timed.
pub const TIMED_RUN: &str = "timed-run";

/// Runs of each size on each machine, alternating; the fastest counts.
const RUNS: usize = 3;

/// Seconds of a run, measured for the whole process: from the case file to the mesh, start of the driver
/// included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Points of the grid.
    pub points: usize,
    /// On the CPU.
    pub cpu: f64,
    /// On the GPU.
    pub gpu: f64,
}

/// The table of runs on the CPU and on a GPU. Each run is a process of this program with the command [`TIMED_RUN`], which
/// calls [`timed_run`] with the case file, the folder and the device given by its arguments. Kernels are compiled before
/// the runs.
pub fn crossover(sizes: Option<&[Size]>, device: usize) -> Result<Results, DeviceError> {
    // Compiles the kernels into the cache that the runs use, and reports any error of the GPU.
    let name = CudaBackend::open(device, 0)?.device().name().to_owned();
    let columns = ["points", "on the CPU, s", "on the GPU, s", "speed-up"];
    let mut table = Table::new("", &columns);
    let mut all = Vec::new();
    for &size in sizes.unwrap_or(&SIZES) {
        let mut fastest =
            Measured { points: size.0 * size.1, cpu: f64::INFINITY, gpu: f64::INFINITY };
        // The first runs fill the system's file cache and do not count.
        for run in 0..=RUNS {
            let [cpu, gpu] = [None, Some(device)].map(|device| seconds(size, device));
            let (cpu, gpu) = (cpu?, gpu?);
            if run > 0 {
                (fastest.cpu, fastest.gpu) = (fastest.cpu.min(cpu), fastest.gpu.min(gpu));
            }
        }
        let Measured { cpu, gpu, .. } = fastest;
        let numbers = [format!("{cpu:.3}"), format!("{gpu:.3}"), format!("{:.2}", cpu / gpu)];
        table.rows.push([points(size)].into_iter().chain(numbers).collect());
        all.push(fastest);
    }
    table.title = format!(
        "Whole runs, fastest of {RUNS}: {name} is faster {}; --backend auto takes a GPU from {CROSSOVER} \
         points on",
        verdict(&all)
    );
    Ok(vec![table].into())
}

/// The run that is timed: the work of `gridgen` for a case file, on the CPU or on a GPU.
pub fn timed_run(case: &Path, output: &Path, device: Option<usize>) -> Result<(), Error> {
    let backend = if device.is_some() { BackendChoice::Cuda } else { BackendChoice::Cpu };
    let devices = device.map(|device| vec![device]);
    let mut options = RunOptions::new(output.to_path_buf());
    options.backend = backend;
    options.devices = devices;
    // The result is not used: a grid that did not converge took its time, too.
    run(&CaseFile::from_file(case, &[])?, &options, &mut ()).map(drop)
}

/// The crossover in words.
pub fn verdict(all: &[Measured]) -> String {
    match faster_from(all) {
        None => "at none of these sizes".to_owned(),
        Some(points) if points <= all.first().map_or(0, |first| first.points) => {
            "at all of these sizes".to_owned()
        }
        Some(points) => format!("from {points} points on"),
    }
}

/// Number of points above which the GPU is faster at all measured sizes, which must rise. Between two sizes
/// the ratio of the times is interpolated as a power of the number of points.
pub fn faster_from(all: &[Measured]) -> Option<usize> {
    let slower = all.iter().rposition(|at| at.gpu >= at.cpu);
    let Some(last) = slower else { return all.first().map(|first| first.points) };
    let (before, after) = (all[last], all.get(last + 1)?);
    let ratio = |at: &Measured| (at.cpu / at.gpu).ln();
    let share = ratio(&before) / (ratio(&before) - ratio(after));
    let [from, to] = [before.points, after.points].map(|points| (points as f64).ln());
    Some((from + share * (to - from)).exp().round() as usize)
}

/// Seconds of one run on the CPU, or on a GPU.
fn seconds((ni, nj): Size, device: Option<usize>) -> Result<f64, DeviceError> {
    let failed = |reason: String| DeviceError::Call {
        device: device.map_or_else(|| "the CPU".to_owned(), |device| format!("GPU {device}")),
        operation: "a run to be timed",
        reason,
    };
    let run = || -> std::io::Result<(f64, Output)> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("timed.toml");
        let case = format!(
            "[geometry]\nnaca = \"0012\"\n[grid]\ntopology = \"O\"\nni = {ni}\nnj = {nj}\n\
             [quality]\nretry = false\n\
             [output]\npictures = false\nreport = false\nformats = [\"vts\"]\n"
        );
        std::fs::write(&file, case)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(TIMED_RUN).arg(file).arg(folder.path().join("timed"));
        command.args(device.map(|device| device.to_string()));
        let started = Instant::now();
        let output = command.output()?;
        Ok((started.elapsed().as_secs_f64(), output))
    };
    let (seconds, output) = run().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        Ok(seconds)
    } else {
        Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }
}
