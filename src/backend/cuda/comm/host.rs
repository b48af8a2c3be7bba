//! A thread for each rank; the abort flag, by which a rank that fails stops all others; and messages through the hosts'
//! memory, between threads or processes with any devices.

use super::communicator::{Communicator, RankMessage};
use crate::backend::DeviceError;
use crate::backend::cuda::device::{Address, Buffer, Device, GRANTED, SharedWords, Watch};
use crate::backend::cuda::launch::Result;
use crate::backend::cuda::launch::constants::{ABORT_AWAITED, ABORT_RAISED, ABORT_TIMEOUT};
use crate::ranks::{Channel, Inbox, Job, OnFailure};
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Timeout of a wait for another rank: longer than any GPU works without a message, or a host keeps
/// its GPU waiting.
pub const RANK_TIMEOUT: Duration = Duration::from_mins(5);

/// Raised by a rank that fails, and by one whose wait for another exceeds the timeout; all ranks and
/// their kernels stop waiting then.
pub struct AbortFlag {
    raised: AtomicBool,
    /// Longest wait for another rank.
    timeout: Duration,
    /// The words that the kernels of each rank poll.
    words: Mutex<Vec<(usize, SharedWords)>>,
}

impl Default for AbortFlag {
    /// With [`RANK_TIMEOUT`].
    fn default() -> Self {
        Self::new(RANK_TIMEOUT)
    }
}

impl AbortFlag {
    /// A flag that is not raised.
    pub fn new(timeout: Duration) -> Self {
        Self { raised: AtomicBool::new(false), timeout, words: Mutex::default() }
    }

    /// Stops all ranks.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Release);
        for (_, words) in self.words.lock().iter() {
            words[ABORT_RAISED].store(1, Ordering::Release);
        }
    }

    /// Fails with [`DeviceError::OtherRank`] once the flag is raised.
    pub fn check(&self) -> Result<()> {
        if self.raised.load(Ordering::Acquire) { Err(DeviceError::OtherRank) } else { Ok(()) }
    }

    /// Checks as [`Self::check`]; a kernel whose wait exceeded the timeout raises the flag.
    fn check_kernels(&self) -> Result<()> {
        let waited = self.words.lock().iter().find_map(|(rank, words)| {
            let other = words[ABORT_AWAITED].load(Ordering::Acquire).checked_sub(1)?;
            Some(self.timed_out(*rank, Some(other as usize)))
        });
        let Some(timed_out) = waited else { return self.check() };
        self.raise();
        Err(timed_out)
    }

    /// Checks as [`Self::check`]; also fails where a rank's wait for another one, if it is known, exceeds the timeout.
    pub(super) fn check_wait(
        &self,
        since: Instant,
        rank: usize,
        other: Option<usize>,
    ) -> Result<()> {
        self.check()?;
        if since.elapsed() < self.timeout { Ok(()) } else { Err(self.timed_out(rank, other)) }
    }

    /// The error of a rank whose wait for another one exceeded the timeout.
    fn timed_out(&self, rank: usize, other: Option<usize>) -> DeviceError {
        DeviceError::RankTimeout { rank, other, waited: self.timeout }
    }

    /// Gives the kernels of a rank the timeout, and the flag when it is raised.
    pub(super) fn register(&self, rank: usize, words: SharedWords) {
        let timeout = u32::try_from(self.timeout.as_millis()).unwrap_or(u32::MAX);
        words[ABORT_TIMEOUT].store(timeout, Ordering::Release);
        let mut all = self.words.lock();
        if self.check().is_err() {
            words[ABORT_RAISED].store(1, Ordering::Release);
        }
        all.push((rank, words));
    }

    /// The words are not used from now on.
    pub(super) fn unregister(&self, words: &SharedWords) {
        self.words.lock().retain(|(_, other)| !Arc::ptr_eq(other, words));
    }
}

/// A device that launches nothing once the flag is raised. Kernels that waited for a message then have
/// continued without it: their results must not be read.
impl Watch for Arc<AbortFlag> {
    fn launching(&self) -> Result<()> {
        // The kernels that waited know why it is raised.
        self.check().or_else(|_| self.check_kernels())
    }

    fn waited(&self, _: &[u8]) -> Result<()> {
        self.check_kernels()
    }
}

/// Does `work` on `ranks` ranks, a thread each, and returns the results by rank. Where one fails the
/// abort flag stops the others, and its failure is returned: the first that is not
/// [`DeviceError::OtherRank`].
pub fn run_ranks<R, E>(
    ranks: usize,
    abort_flag: &Arc<AbortFlag>,
    work: impl Fn(usize) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E>
where
    R: Send,
    E: Send + PartialEq + From<DeviceError>,
{
    let guarded = |rank: usize| {
        let ended = catch_unwind(AssertUnwindSafe(|| work(rank)));
        if !matches!(ended, Ok(Ok(_))) {
            abort_flag.raise();
        }
        ended
    };
    let ended: Vec<_> = std::thread::scope(|scope| {
        let guarded = &guarded;
        let threads: Vec<_> = (0..ranks).map(|rank| scope.spawn(move || guarded(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(Err)).collect()
    });
    let (mut results, mut failure) = (Vec::with_capacity(ranks), None);
    let stopped = |failure: &E| *failure == DeviceError::OtherRank.into();
    for end in ended {
        match end.unwrap_or_else(|panic| resume_unwind(panic)) {
            Ok(result) => results.push(result),
            Err(error) if failure.as_ref().is_none_or(stopped) => failure = Some(error),
            Err(_) => {}
        }
    }
    failure.map_or(Ok(results), Err)
}

/// Kinds of messages, in one order each between two ranks: those of an exchange may be unfinished during
/// an all-gather.
const ALL: u8 = 0;
const ONE: u8 = 1;

/// The messages of a solve on the host, between threads of this process or with other processes of a job;
/// the abort flag that ends all waits for one, and device memory that other ranks access.
#[derive(Default)]
pub struct HostTransport {
    pub(super) ranks: usize,
    /// Messages between threads.
    inbox: Inbox,
    /// The job whose processes are the ranks, if they are not threads.
    pub(super) job: Option<Arc<Job>>,
    /// Raises the flag when a process fails.
    #[allow(dead_code, reason = "held until it is dropped")]
    watch: Option<Arc<OnFailure>>,
    /// Number of the solve among those of its job.
    solve: u32,
    pub(crate) abort_flag: Arc<AbortFlag>,
    /// Memory that other ranks access until all have left: it outlives every rank's last message.
    pub(super) windows: Mutex<Vec<Buffer<u64>>>,
}

impl HostTransport {
    /// A transport of this number of threads whose waits end when this flag is raised.
    pub fn new(abort_flag: Arc<AbortFlag>, ranks: usize) -> Self {
        Self { ranks, abort_flag, ..Self::default() }
    }

    /// A transport between the processes of a job for the solve with this number; a process that fails
    /// raises the flag.
    pub fn of_job(abort_flag: Arc<AbortFlag>, job: Arc<Job>, solve: u32) -> Self {
        let raised = Arc::downgrade(&abort_flag);
        let act: Arc<OnFailure> = Arc::new(move |_| {
            if let Some(flag) = raised.upgrade() {
                flag.raise();
            }
        });
        job.on_failure(&act);
        let (ranks, job, watch) = (job.size(), Some(job), Some(act));
        Self { ranks, job, watch, solve, abort_flag, ..Self::default() }
    }

    /// A message of each rank, by rank. Fails if the abort flag is raised, or a rank does not call within
    /// the timeout.
    pub(super) fn gather(&self, rank: usize, own: &[u8]) -> Result<Vec<Vec<u8>>> {
        (0..self.ranks).for_each(|other| self.send([rank, other], ALL, own.to_vec()));
        (0..self.ranks).map(|other| self.receive([other, rank], ALL)).collect()
    }

    fn send(&self, [from, to]: [usize; 2], kind: u8, payload: Vec<u8>) {
        let channel = Channel::Solve(self.solve, kind);
        match &self.job {
            Some(job) => job.send(to, channel, payload),
            None => self.inbox.put((from, to, channel.number()), payload),
        }
    }

    fn receive(&self, [from, to]: [usize; 2], kind: u8) -> Result<Vec<u8>> {
        let (started, channel) = (Instant::now(), Channel::Solve(self.solve, kind));
        let check = || self.abort_flag.check_wait(started, to, Some(from));
        match &self.job {
            Some(job) => job.receive_checked(from, channel, check),
            None => self.inbox.take::<DeviceError>((from, to, channel.number()), check),
        }
    }
}

/// A rank whose messages go through the host's memory.
pub(super) struct HostCommunicator {
    rank: usize,
    device: Arc<dyn Device>,
    transport: Arc<HostTransport>,
    /// Messages that the exchange under way receives.
    expected: Mutex<Vec<RankMessage>>,
}

impl HostCommunicator {
    /// A rank of those that share `transport`.
    pub(super) fn new(transport: Arc<HostTransport>, rank: usize, device: Arc<dyn Device>) -> Self {
        Self { rank, device, transport, expected: Mutex::default() }
    }
}

impl Communicator for HostCommunicator {
    fn all_gather(&self, from: Address, to: Address, bytes: usize) -> Result<()> {
        let own = self.device.read(GRANTED, from, bytes)?;
        let all = self.transport.gather(self.rank, &own)?;
        for (other, payload) in all.iter().enumerate() {
            self.device.upload(GRANTED, payload, to + (other * bytes) as Address)?;
        }
        Ok(())
    }

    fn start_exchange(&self, sent: &[RankMessage], received: &[RankMessage]) -> Result<()> {
        self.expected.lock().extend_from_slice(received);
        // The messages may have been computed on the side stream.
        self.device.join()?;
        for &RankMessage { rank, at, bytes } in sent {
            self.transport.send([self.rank, rank], ONE, self.device.read(GRANTED, at, bytes)?);
        }
        Ok(())
    }

    fn finish_exchange(&self) -> Result<()> {
        for RankMessage { rank, at, .. } in std::mem::take(&mut *self.expected.lock()) {
            let payload = self.transport.receive([rank, self.rank], ONE)?;
            self.device.upload(GRANTED, &payload, at)?;
        }
        Ok(())
    }
}
