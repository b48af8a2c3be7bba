//! Many cases, several at a time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use parking_lot::Mutex;
use serde_json::Value;

use super::files::OutputFiles;
use super::pipeline::run;
use super::restart::{fingerprint, identity};
use super::shared::{BatchResult, Client, Summary, serve};
use crate::case::{Case, CaseFile, GridOptions};
use crate::files;
use crate::files::output::Output;
use crate::grid::Verdict;
use crate::memory;
use crate::run::{MachinePool, Progress, RunOptions, demand, gpus_of, memory_bytes, needs_several};

/// Most jobs of a GPU where none are named: more of them, in groups or not, take longer (docs/performance.md).
const GPU_JOBS: usize = 16;

/// Receiver of what happens in a batch, from several threads.
pub trait BatchObserver: Sync {
    /// Case `index` is done with.
    fn done(&self, index: usize, result: &BatchResult);
    /// Whether to end the batch: cases under way leave restart files, others are not begun.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Runs cases, `jobs` at a time and one at least for each GPU that the options name, and returns their results in the
/// same order.
///
/// The files of a case go to `output/<name of the case>`. Unless `threads` says otherwise each case gets its share of
/// the processor's threads. With `force` cases are run whose results are there.
///
/// The processes of a job share the cases out among them: each takes the next one as it becomes free. The
/// first has all results; of a rank that is lost it is the case that it was at work on.
///
/// GPUs that are named take whole cases, each one of its own. A case that does not fit one of them, or is
/// large enough for several, waits for the others and then has all to itself.
///
/// A case is not run again where its folder holds its results: a report on a good grid with the
/// fingerprint of the same case, coordinates and sources of the program, and every file that the case
/// asks for. A case that was interrupted, or stopped at its limit of steps, goes on from the restart
/// file in its folder.
pub fn run_batch(
    cases: &[CaseFile],
    options: &RunOptions,
    jobs: usize,
    observer: &dyn BatchObserver,
) -> Vec<BatchResult> {
    let gpus = options.devices.as_deref().unwrap_or_default();
    let jobs = jobs.max(gpus.len()).clamp(1, cases.len().max(1));
    let all = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = options.threads.unwrap_or((all / jobs).max(1));
    let device = options.job.as_ref().map_or(0, |job| job.place().local_rank);
    let pool = Arc::new(MachinePool::new(jobs.div_ceil(gpus.len().max(1))));
    let each = RunOptions {
        threads: Some(threads),
        device,
        job: None,
        pool: Some(pool.clone()),
        ..options.clone()
    };
    let job = options.job.as_deref().filter(|job| job.size() > 1);
    let order = order(cases, pool.is_grouped());
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<BatchResult>> =
        cases.iter().map(|_| Mutex::new(BatchResult::NotRun)).collect();
    let done = |index: usize, result: BatchResult| {
        observer.done(index, &result);
        *results[index].lock() = result;
    };
    let take = || {
        let next = order.get(next.fetch_add(1, Ordering::Relaxed)).copied();
        next.filter(|_| !observer.cancelled())
    };
    let for_all = Mutex::new(Vec::new());
    let work = |thread: usize| {
        let own = gpus.get(thread % gpus.len().max(1)).map(|&gpu| vec![gpu]);
        let own = RunOptions { devices: own, ..each.clone() };
        let client = job.filter(|job| !job.is_first()).map(|job| Client { job, thread });
        while !observer.cancelled()
            && let Some(index) = client.as_ref().map_or_else(take, Client::next)
        {
            // Ranks of a job take each case alone.
            let several = if job.is_some() { &[] } else { gpus };
            match (one(&cases[index], &own, several, observer), &client) {
                (Some(result), None) => done(index, result),
                (Some(result), Some(client)) => client.done(index, result),
                (None, _) => for_all.lock().push(index),
            }
        }
    };
    thread::scope(|scope| {
        let (work, take, done) = (&work, &take, &done);
        (0..jobs).for_each(|thread| drop(scope.spawn(move || work(thread))));
        if let Some(job) = job.filter(|job| job.is_first()) {
            job.tolerate_losses();
            let others = (1..job.size()).flat_map(|rank| (0..jobs).map(move |k| (rank, k)));
            others.for_each(|other| drop(scope.spawn(move || serve(job, other, take, done))));
        }
    });
    let mut for_all = for_all.into_inner();
    for_all.sort_unstable();
    // With all threads and all GPUs.
    let all = RunOptions { pool: each.pool.clone(), ..options.clone() };
    for index in for_all {
        if observer.cancelled() {
            break;
        }
        if let Some(result) = one(&cases[index], &all, &[], observer) {
            done(index, result);
        }
    }
    results.into_iter().map(Mutex::into_inner).collect()
}

/// Jobs for cases where none are named: as many as the processors or the GPUs take side by side, and as the memory has
/// room for.
pub fn default_jobs(cases: &[CaseFile], run: &RunOptions) -> usize {
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let most = |bytes: fn(&Case) -> f64| {
        let of_case = |case| elements(case).map(bytes).sum::<f64>();
        cases.iter().map(of_case).fold(0.0, f64::max)
    };
    let Some(largest) = largest(cases.iter().flat_map(elements)) else { return 1 };
    if let Some((gpus, free)) = gpus_of(largest, run) {
        let fit = free as f64 / most(|case| demand(case).bytes() as f64);
        // A job keeps a processor busy while it waits for its GPU.
        return gpus * (fit as usize).clamp(1, cores.div_ceil(gpus).min(GPU_JOBS));
    }
    let free = memory::free().map_or(f64::INFINITY, |free| free as f64);
    ((free / most(memory_bytes)) as usize).clamp(1, cores)
}

/// The cases of the elements, which are solved side by side.
fn elements(case: &CaseFile) -> impl Iterator<Item = &Case> {
    case.elements.iter().map(|element| &element.case)
}

/// The case of the grid with the most points.
fn largest<'a>(cases: impl IntoIterator<Item = &'a Case>) -> Option<&'a Case> {
    cases.into_iter().max_by_key(|case| demand(case).points)
}

/// The numbers of cases in the order in which they are begun: that in which they are given, or, where grids are
/// solved for in groups, those of one size after each other.
fn order(cases: &[CaseFile], grouped: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..cases.len()).collect();
    if grouped {
        order.sort_by_key(|&k| {
            largest(elements(&cases[k])).map(|case| {
                let GridOptions { ni, nj, topology, .. } = case.grid;
                (nj, ni, topology as u8)
            })
        });
    }
    order
}

/// The result of a case; none yet where one of its grids needs several of `gpus`.
fn one(
    case: &CaseFile,
    options: &RunOptions,
    gpus: &[usize],
    observer: &dyn BatchObserver,
) -> Option<BatchResult> {
    let folder = options.output.join(&case.name);
    if let Some(summary) = finished(case, &folder).filter(|_| !options.force) {
        return Some(BatchResult::UpToDate(summary));
    }
    if elements(case).any(|case| needs_several(case, gpus)) {
        return None;
    }
    let own = case.section().and_then(|section| restart(section, &folder));
    // Several elements refuse a restart file.
    let restart = own.filter(|_| !options.force).or(options.restart.clone());
    let options = RunOptions { output: folder, restart, ..options.clone() };
    let made = run(case, &options, &mut Quiet(observer))
        .map(|made| Summary::of(&made.elements, &made.verdict, &made.timing));
    Some(made.map_or_else(|error| BatchResult::Failed(error.into()), BatchResult::Run))
}

/// The summary of an earlier run of the same case, if all its results are there and good.
fn finished(case: &CaseFile, folder: &Path) -> Option<Summary> {
    // The complete results of a process that was killed are results like any other.
    Output::recover(folder).ok()?;
    let report = fs::read(folder.join(files::REPORT_FILE)).ok()?;
    let report: Value = serde_json::from_slice(&report).ok()?;
    let placed = case.settle().ok()?;
    let names = OutputFiles::of(&placed).names_if_good();
    let fingerprint = fingerprint(placed.case).ok()?;
    let same = report["verdict"]["good"] == true && report["fingerprint"] == fingerprint;
    let complete = names.iter().all(|name| folder.join(name).exists());
    // The report of several elements has one of each.
    let reports =
        report["elements"].as_array().map_or_else(|| vec![&report], |all| all.iter().collect());
    let most = |section: &str, key: &str| {
        reports.iter().filter_map(|report| report[section][key].as_f64()).fold(0.0, f64::max)
    };
    let summary = Summary {
        verdict: Verdict::Good,
        reason: reports.first()?["stop_reason"].as_str()?.to_owned(),
        newton_iterations: most("newton", "iterations") as usize,
        residual: most("newton", "residual"),
        folded_cells: 0,
        max_skewness: most("quality", "max_skewness"),
        wall_angle_error_max_deg: most("quality", "wall_angle_error_max_deg"),
        seconds: report["timing"]["total_seconds"].as_f64()?,
    };
    Some(summary).filter(|_| same && complete)
}

/// The restart file of this very case in its folder, if there is one that can be used.
fn restart(case: &Case, folder: &Path) -> Option<PathBuf> {
    let path = folder.join(files::RESTART_FILE);
    let there = files::restart::read(&path).ok()?.identity;
    let here = identity(&case.settle().ok()?.case).ok()?;
    (there == here).then_some(path)
}

struct Quiet<'a>(&'a dyn BatchObserver);

impl Progress for Quiet<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
