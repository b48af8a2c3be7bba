//! Many cases, several at a time, with the result of each in a few numbers; and how the ranks of a job share them: the
//! first hands out the cases and receives their results.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::files::OutputFiles;
use super::pipeline::run;
use super::problem::{fingerprint, identity};
use super::result::GridResult;
use crate::case::{Case, CaseFile, GridOptions, PlacedCase};
use crate::error::Error;
use crate::files::output::Output;
use crate::grid::Verdict;
use crate::grid::quality::larger;
use crate::ranks::{Channel, Failure, Job, RanksError};
use crate::report::Timing;
use crate::run::{MachinePool, Progress, RunOptions, demand, gpus_of, memory_bytes, needs_several};
use crate::{files, memory};

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
/// A case is not run again where its folder holds its results: a report on a good grid, with `strict` one without
/// findings, with the fingerprint of the same case, coordinates and sources of the program, and every file that the case
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
    if let Some(summary) = finished(case, &folder, options.strict).filter(|_| !options.force) {
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

/// The summary of an earlier run of the same case, if all its results are there and good, with `strict` also without
/// findings.
fn finished(case: &CaseFile, folder: &Path, strict: bool) -> Option<Summary> {
    // The complete results of a process that was killed are results like any other.
    Output::recover(folder).ok()?;
    let report = fs::read(folder.join(files::REPORT_FILE)).ok()?;
    let report: Value = serde_json::from_slice(&report).ok()?;
    let placed = case.settle().ok()?;
    let names = OutputFiles::of(&placed).names_if_good();
    if strict && has_findings(&placed, &report) {
        return None;
    }
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

/// Whether there are findings about the case and the grids that are reported.
fn has_findings(placed: &PlacedCase, report: &Value) -> bool {
    let Some(problem) = placed.section() else {
        return report["overset"]["findings"].as_array().is_some_and(|found| !found.is_empty());
    };
    let growth = ["max_growth_i", "max_growth_j"].map(|key| report["quality"][key].as_f64());
    !problem.findings_with(growth.map(Option::unwrap_or_default), &[]).is_empty()
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

/// The result of a case among others.
#[derive(Debug, Serialize, Deserialize)]
pub enum BatchResult {
    /// It was run.
    Run(#[serde(with = "SentSummary")] Summary),
    /// Its results were there already.
    UpToDate(#[serde(with = "SentSummary")] Summary),
    /// It could not be run.
    Failed(Failure),
    /// The batch was cancelled before its turn.
    NotRun,
}

/// The result of a run in a few numbers; those that are not finite become `null` in JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Whether the grid may be used, and if not why.
    #[serde(serialize_with = "Verdict::reported")]
    pub verdict: Verdict,
    /// The reason why the solve stopped.
    pub reason: String,
    /// Newton steps.
    pub newton_iterations: usize,
    /// Scaled rms residual reached.
    pub residual: f64,
    /// Folded cells.
    pub folded_cells: usize,
    /// Largest equiangle skewness.
    pub max_skewness: f64,
    /// Largest angle between first grid line and wall normal, in degrees.
    pub wall_angle_error_max_deg: f64,
    /// Seconds of the run.
    pub seconds: f64,
}

impl Summary {
    /// The worst of each number of several grids, and the sum of folded cells.
    fn of(grids: &[GridResult], verdict: &Verdict, timing: &Timing) -> Self {
        let most = |number: fn(&GridResult) -> f64| {
            grids.iter().map(number).reduce(larger).unwrap_or(f64::NAN)
        };
        let slowest = grids.iter().max_by_key(|made| made.newton_iterations());
        Self {
            verdict: verdict.clone(),
            reason: slowest.map_or_else(String::new, |made| made.stop.to_string()),
            newton_iterations: slowest.map_or(0, GridResult::newton_iterations),
            residual: most(GridResult::residual),
            folded_cells: grids.iter().map(|made| made.folded_cells).sum(),
            max_skewness: most(|made| made.quality.max_skewness),
            wall_angle_error_max_deg: most(|made| made.quality.wall_angle_error_max_deg),
            seconds: timing.total(),
        }
    }
}

/// A message of a thread of a rank to the first rank.
#[derive(Serialize, Deserialize)]
enum BatchMessage {
    /// It has nothing to do.
    Free,
    /// It takes no more cases.
    Leaves,
    /// The result of a case.
    Done(usize, BatchResult),
}

/// The form in which a [`Summary`] is sent.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Summary")]
struct SentSummary {
    verdict: Verdict,
    reason: String,
    newton_iterations: usize,
    #[serde(with = "bits")]
    residual: f64,
    folded_cells: usize,
    #[serde(with = "bits")]
    max_skewness: f64,
    #[serde(with = "bits")]
    wall_angle_error_max_deg: f64,
    #[serde(with = "bits")]
    seconds: f64,
}

/// Numbers as their bytes: JSON has no NaN.
mod bits {
    use bytemuck::Pod;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Pod, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        bytemuck::bytes_of(value).serialize(to)
    }

    pub(super) fn deserialize<'de, T: Pod, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        let bytes = Vec::deserialize(from)?;
        bytemuck::try_pod_read_unaligned(&bytes).map_err(D::Error::custom)
    }
}

/// Hands out cases to one thread of a rank until there are none, or the rank is lost: the case that it was
/// at work on has failed then.
fn serve(
    job: &Job,
    (rank, thread): (usize, usize),
    next: impl Fn() -> Option<usize>,
    done: impl Fn(usize, BatchResult),
) {
    let (channel, mut under_way) = (Channel::Batch(thread), None);
    let lost: RanksError = loop {
        let message = match job.receive(rank, channel) {
            Ok(message) => message,
            Err(error) => break error,
        };
        match serde_json::from_slice(&message) {
            Ok(BatchMessage::Free) => {
                under_way = next();
                job.send(rank, channel, serde_json::to_vec(&under_way).unwrap_or_default());
            }
            Ok(BatchMessage::Done(index, result)) => {
                under_way = None;
                done(index, result);
            }
            Ok(BatchMessage::Leaves) | Err(_) => return,
        }
    };
    if let Some(index) = under_way {
        done(index, BatchResult::Failed(Error::from(lost).into()));
    }
}

/// A thread of a rank that is handed cases by the first one.
struct Client<'a> {
    job: &'a Job,
    thread: usize,
}

impl Client<'_> {
    fn send(&self, message: &BatchMessage) {
        // Names, numbers and texts can always be written.
        let message = serde_json::to_vec(message).unwrap_or_default();
        self.job.send(0, Channel::Batch(self.thread), message);
    }

    /// The next case, if there is one.
    fn next(&self) -> Option<usize> {
        self.send(&BatchMessage::Free);
        let index = self.job.receive(0, Channel::Batch(self.thread)).ok()?;
        serde_json::from_slice(&index).unwrap_or_default()
    }

    fn done(&self, index: usize, result: BatchResult) {
        self.send(&BatchMessage::Done(index, result));
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        self.send(&BatchMessage::Leaves);
    }
}
