//! Messages through the hosts' memory, between threads or processes with any devices.

use super::abort_flag::AbortFlag;
use super::communicator::{Communicator, RankMessage};
use crate::backend::DeviceError;
use crate::backend::cuda::device::{Address, Buffer, Device, GRANTED};
use crate::backend::cuda::launch::Result;
use crate::ranks::{Channel, Inbox, Job, OnFailure};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Instant;

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
